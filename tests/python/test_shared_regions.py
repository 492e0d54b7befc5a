# SPDX-License-Identifier: BSD-3-Clause
"""Loops of a graph on `openmp` that share a parallel region compute what they do by themselves."""

from __future__ import annotations

import ctypes
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from abi import Context
from programs import with_program
from small_world import World, quiet_library, run_python

from pyop2cxx import op2

if TYPE_CHECKING:
    from pathlib import Path

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
    here = str(__file__).rpartition("/")[0]
    program = (
        PROGRAM.replace("HERE", here).replace("OPTIONS", options).replace("COMPILER", compiler)
    )
    ran = run_python(program, tmp_path, LD_PRELOAD=str(quiet), OMP_WAIT_POLICY="passive")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == ["True", "True"]


OPEN, COUNT = 4, 16


WORK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Team(ctypes.Structure):
    _fields_ = (("work", WORK),)


def _compiled(code: str, compiler: str, folder: Path) -> Any:
    source, library = folder / f"{compiler}.c", folder / f"{compiler}.so"
    source.write_text(code)
    subprocess.run(
        [compiler, "-fopenmp", "-shared", "-fPIC", "-o", str(library), str(source)], check=True
    )
    return ctypes.CDLL(str(library)).op2_launch_flux


@pytest.mark.parametrize(
    ("other", "is_same"), [with_program("gcc", True), with_program("clang", False)]
)
def test_a_loop_of_another_run_time_does_not_see_the_team(
    other: str, is_same: bool, tmp_path: Path
) -> None:
    with op2.backend("openmp"):
        code = next(iter(World().loop().generate().files.values()))
    opener, asked = _compiled(code, "gcc", tmp_path), _compiled(code, other, tmp_path)
    shares: list[int] = []

    def work(_: int) -> None:
        shares.append(asked(ctypes.byref(Context(n_threads=3, flags=COUNT)), 0, 0, None, 0))

    team = Team(WORK(work))
    address = ctypes.cast(ctypes.pointer(team), ctypes.c_void_p)
    opener(ctypes.byref(Context(parameters=address, n_threads=3, flags=OPEN)), 0, 0, None, 0)
    assert shares == ([1, 1, 1] if is_same else [3, 3, 3])
