# SPDX-License-Identifier: BSD-3-Clause
"""Benchmarks can be started; those that lack something say what."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pyop2cxx import op2
from pyop2cxx.base import extras

ROOT = Path(__file__).resolve().parents[2]
RUN = ROOT / "benchmarks" / "run.py"
SUITE = ROOT / "benchmarks" / "suite" / "run.py"
FEW = ["--size", "0.001", "--rounds", "1", "--seconds", "0.05", "--learn", "1"]
FEW += ["--backends", "sequential"]
COMPARE = ROOT / "benchmarks" / "compare.py"

ALL = """
import runpy, sys
from pathlib import Path
for file in sorted(Path(sys.argv[1]).glob("bench_*.py")):
    sys.argv = [str(file), "--help"]
    sys.path.insert(0, str(file.parent))
    try:
        runpy.run_path(str(file), run_name="__main__")
    except SystemExit as end:
        assert not end.code, file
        print("started", file.stem)
"""


def started(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *args], capture_output=True, text=True, check=False)


@pytest.mark.skipif(not extras.installed()["ufl"], reason="some benchmarks assemble forms")
def test_every_benchmark_can_be_started() -> None:
    done = started("-c", ALL, str(RUN.parent))
    found = sorted(file.stem for file in RUN.parent.glob("bench_*.py"))
    assert re.findall(r"^started (\w+)$", done.stdout, re.M) == found, done.stderr


def test_what_is_missing_is_said_and_the_others_run() -> None:
    done = started(str(RUN), "--list")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == len(list(RUN.parent.glob("bench_*.py")))
    assert "==> plan" in lines
    (device,) = (line for line in lines if line.startswith("==> device"))
    if "cuda" in {one.name for one in op2.backends() if one.available}:
        assert device == "==> device"
    else:
        assert re.match(r"==> device: not run, it needs backend 'cuda', which does not", device)


def test_two_trees_are_compared_by_turns(tmp_path: Path) -> None:
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    folders = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    python.write_text(f'#!/bin/sh\nexec env PYTHONPATH="{folders}" {sys.executable} "$@"\n')
    python.chmod(0o755)
    names = ("--only", "compute()", "import", "--rounds", "3")
    done = started(str(COMPARE), str(tmp_path), str(tmp_path), *names)
    assert done.returncode == 0, done.stderr
    head, *rows = done.stdout.splitlines()
    assert head.split()[:2] == ["first", "second"]
    assert [re.split(r"  +", row)[0] for row in rows] == ["latency, compute()", "latency, import"]
    for row in rows:
        ratio, low, high = map(float, re.findall(r"(\S+) \((\S+)-(\S+)\)", row)[0])
        assert low <= ratio <= high


def test_a_tree_that_is_not_built_is_named(tmp_path: Path) -> None:
    done = started(str(COMPARE), str(tmp_path), str(tmp_path))
    assert done.returncode == 1
    assert done.stderr == f"{tmp_path}: no .venv/bin/python there; run make build in it\n"


def test_an_unknown_name_is_an_error() -> None:
    done = started(str(RUN), "plam")
    assert done.returncode == 2
    assert "no benchmark is called plam: airfoil, algebra" in done.stderr


def test_make_bench_installs_what_benchmarks_import() -> None:
    """Packages that a benchmark imports come with the extras that `tools/setup.sh` names."""
    setup = (ROOT / "tools" / "setup.sh").read_text()
    (given,) = re.findall(r"^ *bench\) .*extras\+=\(([\w ]+)\) ", setup, re.M)
    text = "\n".join(file.read_text() for file in RUN.parent.glob("bench_*.py"))
    imported = set(re.findall(r"^\s*(?:import|from) (\w+)", text, re.M))
    needed = {extras.EXTRAS[name] for name in imported & set(extras.EXTRAS)}
    assert needed - {"mpi", "petsc"} <= set(given.split())  # DOLFINx's process has its own


def test_programs_of_the_suite_are_right_in_all_forms(tmp_path: Path) -> None:
    """Conservation and signs are checked by the programs themselves."""
    written = tmp_path / "suite.json"
    names = ("shallow_water", "euler", "multigrid", "hydro")
    done = started(str(SUITE), *names, *FEW, "--json", str(written))
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(written.read_text())
    assert set(found) == {"machine", "commit", "size", "load", "libraries", "rows"}
    assert [row["wrong"] for row in found["rows"]] == [""] * len(names)
    for row in found["rows"]:
        assert {"loops", "chain", "graph", "graph of a chain"} <= set(row["ms"])
        assert row["bytes"] > 0 < row["operations"]


def test_a_wrong_program_of_the_suite_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "benchmarks"
    shutil.copytree(ROOT / "benchmarks", folder)
    shutil.copytree(ROOT / "demos", tmp_path / "demos")
    euler = folder / "suite" / "euler.py"
    euler.write_text(euler.read_text().replace("rb[k] -= f;", "rb[k] -= 0.99 * f;"))
    done = started(str(folder / "suite" / "run.py"), "euler", *FEW)
    assert done.returncode == 1
    assert re.search(r"WRONG: \S+ of mass or energy lost", done.stdout)


def test_an_unknown_program_of_the_suite_is_an_error() -> None:
    done = started(str(SUITE), "eular")
    assert done.returncode == 2
    assert "there is no eular; there are airfoil, jacobi" in done.stderr
