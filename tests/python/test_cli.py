# SPDX-License-Identifier: BSD-3-Clause
"""The command line: its output, its errors and its exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pyop2cxx import __version__, _core, op2
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
    assert "call_nanoseconds 3500 nanoseconds" in printed


def test_info_as_json(capsys: pytest.CaptureFixture[str], cache: Path) -> None:
    assert main(["info", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["cache"]["on disk"]["path"] == str(cache)
    assert report["tuning"]["host"] == {
        "summary": report["tuning"]["host"]["summary"],
        **dict(_core.tuning_of_class("host").values()),
    }


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


LOOP = """
import os, signal, sys
from pyop2cxx import op2
x = op2.Dat(op2.Set(3))
op2.par_loop(op2.Kernel("void one(double *x) { x[0] += 1; }", "one"), x.dataset.set, x(op2.RW))
"""
ENDS = {
    "sys.exit(1)": "status 1;",
    "sys.exit(True)": "status 1;",
    "sys.exit(7)": "status 7;",
    "sys.exit('too coarse')": "status 1: too coarse;",
    "raise KeyError('x')": "status 1: KeyError: 'x';",
    "assert x.max() > 5, 'small'": "status 1: AssertionError: small;",
    "op2.Set(-1)": "status 1: pyop2cxx.exceptions.SizeTypeError: Set",
    "raise SystemExit(3)": "status 3;",
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("command", ["generate", "build", "explain"])
def test_a_program_that_fails_is_told_and_its_loops_are_written(
    command: str, end: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program, folder = tmp_path / "program.py", tmp_path / "loops"
    program.write_text(LOOP + end)
    output = [] if command == "explain" else ["-o", str(folder)]
    status = main([command, "--backend", "sequential", *output, str(program)])
    assert status == int(ENDS[end].split()[1].rstrip(":;"))
    printed = capsys.readouterr()
    assert f"pyop2cxx: the program ended with {ENDS[end]}" in printed.err
    if "Error" in ENDS[end]:
        assert f'File "{program}", line 6, in <module>' in printed.err
        assert "runpy" not in printed.err
    if command == "explain":
        assert "what it did before is explained all the same" in printed.err
        assert "one" in printed.out
    else:
        assert "its 1 loops are written all the same" in printed.err
        assert len(json.loads((folder / "manifest.json").read_text())["loops"]) == 1


@pytest.mark.parametrize("text", ["import sys; sys.exit(4)", "1 / 0", "def"])
def test_a_program_that_fails_before_its_first_loop(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program, folder = tmp_path / "program.py", tmp_path / "loops"
    program.write_text(text)
    assert main(["generate", "-o", str(folder), str(program)]) == 1
    said = capsys.readouterr().err
    assert "no loop was generated before, so nothing is written" in said
    assert ("status 4" if "4" in text else "Error") in said
    assert not folder.exists()
    assert main(["explain", str(program)]) == (4 if "4" in text else 1)


@pytest.mark.parametrize(
    ("end", "status", "told"),
    [
        ("os._exit(1)", 1, "the program has ended the process, with status 1, as os._exit does"),
        ("os._exit(0)", 1, "the program has ended the process, with status 0, as os._exit does"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", 139, "signal SIGSEGV has ended the program"),
        ("os.kill(os.getpid(), signal.SIGKILL)", 137, "signal SIGKILL has ended the program"),
        ("sys.exit(5)", 5, "its 1 loops are written all the same"),
        ("", 0, ""),
    ],
)
def test_a_program_that_ends_the_process_is_told(
    end: str, status: int, told: str, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(LOOP + end)
    command = ["generate", "--backend", "sequential", "-o", str(tmp_path / "loops"), str(program)]
    done = subprocess.run(
        [sys.executable, "-m", "pyop2cxx", *command], capture_output=True, text=True, check=False
    )
    assert (done.returncode, told in done.stderr) == (status, True), done.stderr
    assert (tmp_path / "loops").exists() == (end in ("", "sys.exit(5)"))


@pytest.mark.parametrize("command", ["generate", "build"])
def test_help_says_what_is_done_with_an_example(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    said = capsys.readouterr().out
    assert "Run a Python program once, with its data" in said
    assert f"  pyop2cxx {command} --backend sequential,openmp -o loops program.py mesh.msh" in said
    assert "The exit status is that of the program" in said
