# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyop2cxx.exceptions import ConfigurationError
from pyop2cxx.runtime.options import OPTIONS, Configuration


def backends() -> tuple[str, ...]:
    return ("abacus", "sequential")


@pytest.fixture
def options(monkeypatch: pytest.MonkeyPatch) -> Configuration:
    for option in OPTIONS:
        monkeypatch.delenv(option.variable, raising=False)
    return Configuration(backends)


def test_it_is_a_dictionary(options: Configuration) -> None:
    assert dict(options) == {option.name: option.default for option in OPTIONS}
    assert len(options) == len(OPTIONS)
    assert "threads" in options
    assert options.get("threads") == 0
    assert repr(options) == f"Configuration({dict(options)!r})"


def test_the_table_is_sound() -> None:
    for option in OPTIONS:
        assert type(option.default) is option.type
        assert option.help.endswith(".")
        assert option.variable == f"PYOP2CXX_{option.name.upper()}"
        assert not option.choices or option.default in (*option.choices, False)
    assert len({option.name for option in OPTIONS}) == len(OPTIONS)


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("backend", "abacus", "abacus"),
        ("debug", True, True),
        ("threads", np.int64(3), 3),
        ("log_level", "info", "INFO"),
        ("log_level", 10, "DEBUG"),
        ("log_level", "10", "DEBUG"),
        ("cache_dir", Path("/a/b"), "/a/b"),
        ("cache_dir", "~/b", str(Path.home() / "b")),
        ("cache_dir", Path("~/b"), str(Path.home() / "b")),
        ("cflags", "-DA='b c'", "-DA='b c'"),
    ],
)
def test_right_values(options: Configuration, name: str, value: Any, kept: Any) -> None:
    options[name] = value
    assert options[name] == kept
    assert type(options[name]) is type(kept)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("backend", "cloud", "no value 'cloud'; there are: 'abacus', 'sequential'"),
        ("backend", 1, "must be a string, got 1 of type int"),
        ("strict", 1, "must be True or False, got 1 of type int"),
        ("threads", "2", "must be an integer, got '2' of type str"),
        ("threads", True, "must be an integer, got True of type bool"),
        ("threads", 2.0, "must be an integer"),
        ("threads", -1, "must not be negative, got -1"),
        ("log_level", "LOUD", "there are: 'DEBUG', 'INFO'"),
        ("log_level", 17, "there are: 'DEBUG', 'INFO'"),
        ("cflags", "-DA='b", 'as a shell does, got "-DA=\'b": No closing quotation'),
        ("ldflags", "'", "as a shell does"),
        ("cache_dir", None, "must be a string, got None"),
    ],
)
def test_wrong_values(options: Configuration, name: str, value: Any, message: str) -> None:
    before = dict(options)
    with pytest.raises(ConfigurationError, match=f"'{name}' .*{message}"):
        options[name] = value
    assert dict(options) == before


def test_an_unknown_option_lists_those_there_are(options: Configuration) -> None:
    for use in (
        lambda: options["thread"],
        lambda: options.check_names(["threads", "thread"]),
        lambda: options.__delitem__("thread"),
    ):
        with pytest.raises(RuntimeError, match=r"unknown option 'thread'; there are: backend, .*d"):
            use()
    with pytest.raises(ConfigurationError, match="cannot be deleted"):
        del options["threads"]


def test_other_options_are_the_programs_own(options: Configuration) -> None:
    with pytest.warns(UserWarning, match=r"unknown option 'mine'; there are: .*nothing here reads"):
        options.reconfigure(mine=(1, 2), threads=3)
    assert (options["mine"], options["threads"]) == ((1, 2), 3)
    assert "mine" not in set(options)
    options.reset()
    with pytest.raises(ConfigurationError, match="unknown option 'mine'"):
        options["mine"]


def test_all_or_nothing(options: Configuration) -> None:
    for change in (options.reconfigure, options.update):
        with pytest.raises(ConfigurationError):
            change(threads=2, debug="yes")
        assert options["threads"] == 0
    options.update({"threads": 2}, debug=True)
    assert (options["threads"], options["debug"]) == (2, True)


def test_reset_returns_to_the_environment(options: Configuration) -> None:
    options.reconfigure(threads=2, debug=True)
    options.reset({"PYOP2CXX_THREADS": "5"})
    assert (options["threads"], options["debug"]) == (5, False)


@pytest.mark.parametrize(
    ("variable", "text", "name", "value"),
    [
        ("PYOP2CXX_BACKEND", "abacus", "backend", "abacus"),
        ("PYOP2CXX_DEBUG", "1", "debug", True),
        ("PYOP2CXX_DEBUG", "Off", "debug", False),
        ("PYOP2CXX_STATIC", "true", "static", True),
        ("PYOP2CXX_THREADS", "4", "threads", 4),
        ("PYOP2CXX_CC", "gcc-12", "cc", "gcc-12"),
        ("PYOP2CXX_LOG_LEVEL", "debug", "log_level", "DEBUG"),
        ("PYOP2CXX_LOG_LEVEL", "20", "log_level", "INFO"),
    ],
)
def test_the_environment(
    monkeypatch: pytest.MonkeyPatch, variable: str, text: str, name: str, value: Any
) -> None:
    monkeypatch.delenv("PYOP2CXX_BACKEND", raising=False)  # it would be none of these backends
    monkeypatch.setenv(variable, text)
    assert Configuration(backends)[name] == value


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("PYOP2CXX_BACKEND", "cloud"),
        ("PYOP2CXX_DEBUG", "maybe"),
        ("PYOP2CXX_THREADS", "two"),
        ("PYOP2CXX_THREADS", "-2"),
        ("PYOP2CXX_LOG_LEVEL", "LOUD"),
        ("PYOP2CXX_CXXFLAGS", "'-O1"),
    ],
)
def test_a_wrong_variable_is_named(options: Configuration, variable: str, text: str) -> None:
    options["threads"] = 3
    with pytest.raises(ConfigurationError, match=f"environment variable {variable}: .*{text}"):
        options.reset({variable: text})
    assert options["threads"] == 3


def test_changes_are_told_once_and_only_if_there_are_any(options: Configuration) -> None:
    told: list[frozenset[str]] = []
    options.on_change = told.append
    options.reconfigure(threads=2, debug=True)
    options.reconfigure(threads=2)
    options["threads"] = 3
    assert told == [{"threads", "debug"}, {"threads"}]


@pytest.mark.pyop2
def test_options_of_pyop2_are_kept() -> None:
    options = Configuration()
    assert (options["type_check"], options["simd_width"]) == (True, 4)
    options.reconfigure(type_check=False, compiler="gnu")
    assert (options["type_check"], options["compiler"]) == (False, "gnu")
    assert "type_check" not in set(options)
    with pytest.raises(ConfigurationError, match="'type_check' must be True or False"):
        options["type_check"] = "no"
    options.reset()
    assert options["type_check"] is True


def test_debug_was_a_level_once() -> None:
    options = Configuration()
    for level, wanted in ((0, False), (3, True)):
        options["debug"] = level
        assert options["debug"] is wanted
    with pytest.raises(ConfigurationError):
        options["debug"] = "illegal"
