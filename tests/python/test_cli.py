# SPDX-License-Identifier: BSD-3-Clause
"""The command line: its output, its errors and its exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pyop2cxx import __version__, op2
from pyop2cxx.reports.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def cache(tmp_path: Path) -> Iterator[Path]:
    op2.init(cache_dir=str(tmp_path / "cache"))
    yield tmp_path / "cache"
    op2.exit()


def test_info_prints_what_this_machine_offers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info"]) == 0
    printed = capsys.readouterr().out
    assert __version__ in printed
    assert "sequential" in printed
    assert "OpenMP" in printed


def test_info_as_json(capsys: pytest.CaptureFixture[str], cache: Path) -> None:
    assert main(["info", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["cache"]["on disk"]["path"] == str(cache)


def test_cache_path(capsys: pytest.CaptureFixture[str], cache: Path) -> None:
    assert main(["cache", "path"]) == 0
    assert capsys.readouterr().out == f"{cache}\n"


def test_cache_info_counts_and_clear_removes(capsys: pytest.CaptureFixture[str]) -> None:
    cells = op2.Set(4, "cells")
    a = op2.Dat(cells, name="a")
    kernel = op2.Kernel("void one(double *a) { a[0] = 1.0; }", "one")
    op2.par_loop(kernel, cells, a(op2.WRITE))

    def n_kernels() -> int:
        assert main(["cache", "info"]) == 0
        lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
        return int(lines["kernels"])

    assert n_kernels() > 0
    assert main(["cache", "clear"]) == 0
    capsys.readouterr()
    assert n_kernels() == 0


def test_a_failure_is_one_message_and_status_1(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    op2.init(cache_dir=str(tmp_path / "file"))
    assert main(["cache", "clear"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("pyop2cxx: nothing was deleted")


@pytest.mark.parametrize("arguments", [[], ["cache"], ["no-such-command"], ["info", "--yaml"]])
def test_a_wrong_command_line_is_status_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "usage: pyop2cxx" in capsys.readouterr().err


def test_the_module_runs(cache: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pyop2cxx", "cache", "path"],
        env={**os.environ, "PYOP2CXX_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{cache}\n"


GRAPHS = """
from pyop2cxx import op2
x = op2.Dat(op2.Set(3))
one = op2.Kernel("void one(double *x) { x[0] += 1; }", "one")
step = lambda: op2.par_loop(one, x.dataset.set, x(op2.RW))
op2.record(step, name="first")
op2.record(step, name="second").submit()
for i in range(16):
    op2.record(step, name="more")
"""


def test_explain_draws_graphs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, picture = tmp_path / "program.py", tmp_path / "steps.svg"
    program.write_text(GRAPHS)
    assert main(["explain", "--graph", str(picture), str(program)]) == 0
    assert "<title>first</title>" in picture.read_text()
    second = (tmp_path / "steps-2.svg").read_text()
    assert "<title>second</title>" in second
    assert "submitted once on" in second
    assert "<title>more</title>" in (tmp_path / "steps-18.svg").read_text()
    program.write_text("")
    assert main(["explain", "--graph", str(picture), str(program)]) == 1
    assert "the program has made no graph" in capsys.readouterr().err
    program.write_text(GRAPHS)
    assert main(["explain", "--graph", str(tmp_path / "no" / "steps.svg"), str(program)]) == 1
    assert "cannot write" in capsys.readouterr().err
