# SPDX-License-Identifier: BSD-3-Clause
"""Where loops run if nobody says so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from small_world import run_python

from pyop2cxx import op2
from pyop2cxx.exceptions import CompilationError
from pyop2cxx.reports import machine
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from pathlib import Path

# As where a distribution has split OpenMP's library from its compiler.
NO_OPENMP = """#!/bin/sh
for word in "$@"; do
  if [ "$word" = -fopenmp ]; then
    echo "cc: fatal error: cannot read spec file 'libgomp.spec'" >&2
    exit 1
  fi
done
exec cc "$@"
"""


@pytest.fixture(autouse=True)
def _nobody_says_so(exits: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYOP2CXX_BACKEND", raising=False)
    op2.exit()


@pytest.fixture
def cc_without_openmp(tmp_path: Path) -> str:
    path = tmp_path / "old-cc"
    path.write_text(NO_OPENMP)
    path.chmod(0o755)
    return str(path)


def doubled() -> list[float]:
    cells = op2.Set(3)
    x = op2.Dat(cells, [1.0, 2.0, 3.0])
    op2.par_loop(op2.Kernel("void twice(double *x) { x[0] *= 2; }", "twice"), cells, x(op2.RW))
    return list(map(float, x.data_ro))


def test_loops_run_on_all_cores() -> None:
    assert op2.configuration["backend"] == ""
    assert doubled() == [2.0, 4.0, 6.0]
    assert [kind[1] for kind, _ in runtime.engine.timings] == ["openmp"]


def test_without_openmp_they_run_on_one(cc_without_openmp: str) -> None:
    op2.init(cc=cc_without_openmp, cache_dir=str(cc_without_openmp) + "-cache")
    assert doubled() == [2.0, 4.0, 6.0]
    assert [kind[1] for kind, _ in runtime.engine.timings] == ["sequential"]
    lines = machine.as_text(machine.collect()).splitlines()
    assert any("available, the default, one core" in line for line in lines)
    assert any("libgomp.spec" in line for line in lines)
    op2.init(cc="cc")
    assert runtime.backend == "openmp"


def test_who_asks_for_openmp_gets_it_or_an_error(cc_without_openmp: str) -> None:
    op2.init(cc=cc_without_openmp, backend="openmp", cache_dir=str(cc_without_openmp) + "-cache")
    with pytest.raises(CompilationError, match=r"libgomp\.spec"):
        doubled()


def test_the_program_and_the_environment_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    op2.init(backend="sequential")
    assert runtime.backend == "sequential"
    op2.init(backend="")
    assert runtime.backend == "openmp"
    monkeypatch.setenv("PYOP2CXX_BACKEND", "sequential")
    op2.exit()
    assert runtime.backend == "sequential"


def test_text_alone_needs_no_compiler() -> None:
    op2.init(static=True, cc="no-such-cc")
    assert runtime.backend == "openmp"


def test_bits_do_not_depend_on_how_many_threads_were_there(tmp_path: Path) -> None:
    """One thread that does the work of a team adds up in the same parts."""
    program = """
import json
import numpy as np
from pyop2cxx import op2

op2.init(backend="openmp", threads=3)
n = 40_000
x = op2.Dat(op2.Set(n), np.random.default_rng(1).random(n))
sums = []
for short in (0, 10**9, 0):
    for _ in range(5):
        total = op2.Global(1, 0.0)
        kernel = op2.Kernel("void add(double *x, double *s) { s[0] += x[0]; }", "add")
        args = x(op2.READ), total(op2.INC)
        tuning = {"short_microseconds": short, "thread_elements": 700}
        op2.par_loop(kernel, x.dataset.set, *args, tuning=tuning)
        sums.append(total.data_ro[0])
print(json.dumps(sums))
"""
    ran = run_python(program, tmp_path)
    assert ran.stderr == ""
    sums = json.loads(ran.stdout)
    assert np.unique(sums).size == 1


def test_small_loops_leave_the_threads_of_the_team(tmp_path: Path) -> None:
    """A loop on part of the threads would end the rest, and the next loop would start new ones."""
    program = """
import os
from pyop2cxx import op2

op2.init(backend="openmp", threads=8, tuning={"thread_elements": 100, "short_microseconds": 0})
kernel = op2.Kernel("void twice(double *x) { x[0] *= 2; }", "twice")
def loop(n):
    x = op2.Dat(op2.Set(n), 1.0)
    return op2.ParLoop(kernel, x.dataset.set, x(op2.RW))
large, *small = [loop(n) for n in (10_000, 50, 250, 500)]
large.compute()
threads = set(os.listdir("/proc/self/task"))
for one in (*small, large, *small, large):
    one.compute()
print(len(threads) >= 8, threads == set(os.listdir("/proc/self/task")))
"""
    ran = run_python(program, tmp_path)
    assert ran.stdout.split() == ["True", "True"], ran.stdout + ran.stderr
