# SPDX-License-Identifier: BSD-3-Clause
"""Loops of a graph on `openmp` that share a parallel region compute what they do by themselves."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from programs import needs_program, with_program
from small_world import quiet_library, run_python

from pyop2cxx.base.folders import template_folder

PROGRAM = """
import sys
from pathlib import Path
import numpy as np
sys.path.insert(0, "HERE")
import ring
from pyop2cxx import op2

ring.N_CELLS = 3000
HOW = {"short_microseconds": 0, "thread_elements": 100}
op2.init(backend="openmp", threads=3, cc="COMPILER", **OPTIONS)
OPENER


class Ring(ring.Ring):
    def options(self, name):
        return super().options(name) | {"tuning": HOW}


def values(one):
    found = [dat.data_ro.copy() for dat in (*one.dats.values(), one.flux)]
    return [*found, one.sum.data_ro.copy(), one.least.data_ro.copy()]


random = np.random.default_rng(7)
shared, alone = 0, 0
strategies = ["owner", "colour", "scratch"]
if not op2.configuration["deterministic"]:
    strategies += ["block", "atomic"]
for strategy in strategies:
    names = list(random.choice(sorted(Ring().loops()), 8))
    by_loops, by_graph = Ring(strategy=strategy), Ring(strategy=strategy)

    def step(one=by_graph, names=names):
        one.sum.zero()
        for name in names:
            one.run(name)

    graph = op2.record(step)
    for _ in range(12):
        step(by_loops)
    for i in range(12):
        graph.submit()
        for region in graph.stats().regions:
            shared += region.loops
            alone += region.others
    for got, wanted in zip(values(by_graph), values(by_loops), strict=True):
        if strategy == "atomic":
            np.testing.assert_allclose(got, wanted, rtol=1e-12)
        else:
            np.testing.assert_array_equal(got, wanted)
    assert len(graph.stats().replays) == 1, graph.stats()
print(shared > 100, alone > 0)
"""


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return quiet_library(tmp_path_factory.mktemp("quiet"))


def run_ring(compiler: str, options: str, opener: str, quiet: Path, folder: Path) -> Any:
    program = PROGRAM.replace("OPENER", opener).replace("HERE", str(Path(__file__).parent))
    program = program.replace("OPTIONS", options).replace("COMPILER", compiler)
    return run_python(program, folder, LD_PRELOAD=str(quiet), OMP_WAIT_POLICY="passive")


@pytest.mark.parametrize(
    ("compiler", "options"),
    [
        with_program("gcc", "{}"),
        with_program("gcc", "{'deterministic': True}"),
        with_program("clang", "{}"),
    ],
)
def test_loops_in_one_region_give_the_same_bits(
    compiler: str, options: str, quiet: Path, tmp_path: Path
) -> None:
    ran = run_ring(compiler, options, "", quiet, tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == ["True", "True"]


@needs_program("gcc")
@needs_program("clang")
def test_loops_share_a_team_of_another_run_time(quiet: Path, tmp_path: Path) -> None:
    """Those of clang's OpenMP, in teams that GCC's opens: no loop asks its own run-time there."""
    library = tmp_path / "team.so"
    source = template_folder() / "host" / "team.c"
    command = ["gcc", "-fopenmp", "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run(command, check=True)
    opener = (
        "from pyop2cxx import _core\n"
        "from pyop2cxx.runtime import runtime\n"
        f"runtime.engine.open_teams_by(_core.jit.Library({str(library)!r}))\n"
    )
    ran = run_ring("clang", "{}", opener, quiet, tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == ["True", "True"]
