# SPDX-License-Identifier: BSD-3-Clause
"""The parser of programs, and what `op2.init` takes of what it finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import ConfigurationError
from pyop2cxx.pyop2 import utils

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def left() -> Iterator[None]:
    yield
    op2.exit()


def test_only_what_was_given_is_found() -> None:
    assert utils.parse_args([]) == {}
    given = utils.parse_args(["-b", "openmp", "-d", "2", "-l", "info", "--threads", "3"])
    assert given == {"backend": "openmp", "debug": 2, "log_level": "INFO", "threads": 3}
    op2.init(**given)
    assert op2.configuration["backend"] == "openmp"
    assert op2.configuration["debug"] is True


def test_levels_have_other_names() -> None:
    op2.init(**utils.parse_args(["-l", "warn"]))
    assert op2.configuration["log_level"] == "WARNING"
    op2.init(log_level="FATAL")
    assert op2.configuration["log_level"] == "CRITICAL"


def test_options_of_the_program_may_be_handed_to_init() -> None:
    parser = utils.parser(description="A demo.", group=True)
    parser.add_argument("-m", "--mesh", default="small")
    parser.add_argument("--no-advection", action="store_false", dest="advection")
    own = parser.add_argument_group("own")
    own.add_argument("-p", "--profile", action="store_true")
    given = vars(parser.parse_args(["--abi", "2013", "-m", "large"]))
    assert given == {"mesh": "large", "advection": True, "profile": False, "abi": "2013"}
    op2.init(**given)
    assert op2.configuration["abi"] == "2013"
    assert "mesh" not in dict(op2.configuration)
    with pytest.raises(ConfigurationError, match="unknown option 'meshes'"):
        op2.init(meshes="large")


def test_they_are_forgotten_at_exit() -> None:
    parser = utils.parser()
    parser.add_argument("--mesh")
    given = vars(parser.parse_args([]))
    op2.init(**given)
    op2.exit()
    with pytest.raises(ConfigurationError, match="unknown option 'mesh'"):
        op2.init(**given)


def test_a_program_cannot_hide_an_option_of_ours() -> None:
    """What it declares under one of our names is ours, and checked."""
    parser = utils.parser()
    parser.add_argument("--cache_dir", type=int, default=3)
    with pytest.raises(ConfigurationError, match="'cache_dir' must be a string"):
        op2.init(**vars(parser.parse_args([])))


@pytest.mark.parametrize("line", [["-b", "abacus"], ["--abi", "1999"], ["-l", "LOUD"], ["-d", "x"]])
def test_wrong_values_end_the_program(line: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        utils.parse_args(line)
    assert "invalid" in capsys.readouterr().err


def test_help_shows_our_options_apart(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        utils.parse_args(["--help"], "A demo\nof two lines.", group=True)
    shown = capsys.readouterr().out
    assert "A demo\nof two lines." in shown
    assert "pyop2cxx:\n  backend and configuration" in shown
    assert "-b, --backend" in shown or "-b {" in shown
