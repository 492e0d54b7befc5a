# SPDX-License-Identifier: BSD-3-Clause
"""Reductions, waits and failures of programs on several processes."""

from __future__ import annotations

import re

import pytest
from on_ranks import failure, outputs, started

from pyop2cxx.base import extras
from pyop2cxx.runtime.processes import local_place

on_ranks = pytest.mark.skipif(not extras.installed()["mpi4py"], reason="mpi4py is not installed")


def test_the_place_on_a_node_comes_from_the_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    assert local_place() == (0, 1)
    monkeypatch.setenv("MPI_LOCALRANKID", "2")
    assert local_place() == (0, 1)
    monkeypatch.setenv("MPI_LOCALNRANKS", "3")
    assert local_place() == (2, 3)


# Sets that the program shares by itself

SHARED = """
from mpi4py import MPI
comm = MPI.COMM_WORLD
rank, n = comm.rank, comm.size
cells = op2.Set(rank + 1, "cells", comm=comm)  # entities 0.. of all ranks, one after the other
first = rank * (rank + 1) // 2
x = op2.Dat(cells, np.arange(first, first + rank + 1, dtype=float) - 1, name="x")
total = n * (n + 1) // 2
every = np.arange(total) - 1.0
"""


@on_ranks
@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("backend", ["sequential", "opencl"])
def test_sums_norms_and_globals_are_of_all_ranks(n: int, backend: str) -> None:
    if backend == "opencl" and n == 4:
        pytest.skip("two ranks say the same")
    text = (
        SHARED
        + """
    op2.init(backend=sys.argv[1])
    assert x.sum() == every.sum() and x.min() == -1 and x.max() == total - 2
    assert x.norm == np.sqrt(every @ every) and x.inner(x) == x.dot(x) == every @ every
    both = op2.MixedDat([x, op2.Dat(cells, 1.0 + 0 * x.data_ro)])
    assert both.inner(both) == every @ every + total
    g, least, most = op2.Global(1, 5.0, name="g"), op2.Global(1, 99.0), op2.Global(1, -99, "int32")
    kernel = op2.Kernel('''void k(const double *x, double *g, double *l, int *m) {
        g[0] += x[0]; if (x[0] < l[0]) l[0] = x[0]; if (x[0] > m[0]) m[0] = x[0]; }''', "k")
    for _ in range(2):
        op2.par_loop(kernel, cells, x(op2.READ), g(op2.INC), least(op2.MIN), most(op2.MAX))
    assert g.data_ro[0] == 5 + 2 * every.sum() and least.data_ro[0] == -1, g.data_ro
    assert most.data_ro[0] == total - 2
    with op2.chain():
        op2.par_loop(kernel, cells, x(op2.READ), g(op2.INC), least(op2.MIN), most(op2.MAX))
    assert g.data_ro[0] == 5 + 3 * every.sum()
    x.inner_into(x, g)
    assert g.data_ro[0] == every @ every
    x.data[x.data_ro == total - 2] = np.nan
    assert np.isnan(x.max()) and np.isnan(x.min())
    assert x.global_data.shape == (total,) and cells.comm.size == n
    print("right")
    """.replace("\n    ", "\n")
    )
    text = text.replace('op2.Global(1, -99, "int32")', 'op2.Global(1, -99, "int32")')
    assert outputs(text, n, backend) == ["right"] * n


@on_ranks
def test_a_reduction_that_fails_leaves_the_global() -> None:
    text = (
        SHARED
        + """
g = op2.Global(1, 5.0, name="g")
wrong = op2.Kernel("void k(const double *x, double *g) { g[0] += unknown(x[0]); }", "k")
try:
    op2.par_loop(wrong, cells, x(op2.READ), g(op2.INC))
except Exception as error:
    print(type(error).__name__, g.data_ro[0])
"""
    )
    assert outputs(text, 2) == ["CompilationError 5.0"] * 2


REFUSED = {
    "Sparsity: Set 'cells' .* are carried": "op2.Sparsity(cells**1, [(there, there, None)])",
    "solve: Set 'cells' .* solvers are carried": "op2.solve(lambda x, y: x.copy(y), x, x)",
    "renumber: Set 'cells' .* renumber before": "op2.renumber([there], [x], coordinates=x)",
    "Mesh 'mesh': Set 'cells' .* meshes are not": """Mesh(
        op2.Map(cells, cells, 3, np.zeros((rank + 1, 3), int)),
        Geometry("triangle", x, there))""",
    "Global 'g' is of 1 processes, but the loop": """op2.par_loop(
        op2.Kernel("void k(double *g) { g[0] += 1; }", "k"), cells,
        op2.Global(1, 0.0, name="g", comm=MPI.COMM_SELF)(op2.INC))""",
    "a part of a loop cannot reduce": """op2.ParLoop(
        op2.Kernel("void k(double *g) { g[0] += 1; }", "k"), cells,
        op2.Global(1, 0.0)(op2.INC)).compute(part=cells.core_part)""",
    "Set 'cells': the communicator is of one process, but": """op2.Set(
        3, "cells", comm=MPI.COMM_SELF, halo=Mine())""",
}
MINE = """
from types import SimpleNamespace
class Mine(op2.Halo):
    comm = MPI.COMM_WORLD
    local_to_global_numbering = (0, 1, 2)
    def global_to_local_begin(self, dat, insert_mode): ...
    def global_to_local_end(self, dat, insert_mode): ...
    def local_to_global_begin(self, dat, insert_mode): ...
    def local_to_global_end(self, dat, insert_mode): ...
from pyop2cxx.exceptions import UnsupportedError
from pyop2cxx.mesh import Mesh
Geometry = lambda *args: SimpleNamespace(cell=args[0], coordinates=args[1])
there = op2.Map(cells, cells, 1, np.arange(rank + 1))
"""


@on_ranks
def test_what_is_not_carried_is_refused_by_name() -> None:
    text = (
        SHARED
        + MINE
        + f"""
for call in {list(REFUSED.values())!r}:
    try:
        eval(call)
    except UnsupportedError as error:
        print(rank, str(error).replace(chr(10), " "))
"""
    )
    found = outputs(text, 2)
    assert len(found) == 2 * len(REFUSED), found
    for wanted in REFUSED:
        assert sum(bool(re.search(wanted, line)) for line in found) == 2, (wanted, found)


@on_ranks
def test_a_rank_that_raises_ends_the_job() -> None:
    text = """
    import time
    op2.init(comm="world")
    from mpi4py import MPI
    if MPI.COMM_WORLD.rank == 1:
        raise ValueError("no such mesh")
    MPI.COMM_WORLD.recv(source=1)
    """
    found = started(text, 3)
    assert found.returncode != 0
    assert "rank 1 of 3: ValueError: no such mesh (" in found.stderr


@on_ranks
def test_reductions_of_ranks_that_disagree_are_named() -> None:
    text = (
        SHARED
        + """
op2.init(comm=comm)
x.sum() if rank == 0 else x.norm
"""
    )
    said = failure(text, 2)
    assert "RanksError: ranks disagree: rank 0 is at sum of Dat 'x'" in said
    assert "rank 1 is at sum of a dot product" in said


@on_ranks
def test_a_rank_that_waits_in_vain_says_where() -> None:
    text = (
        SHARED
        + """
op2.init(comm=comm)
import time
if rank == 0:
    x.sum()
comm.recv(source=0) if rank == 2 else time.sleep(60)
"""
    )
    said = failure(text, 3, PYOP2CXX_PATIENCE="1")
    assert "ranks wait for each other" in said
    assert "rank 0: waits in sum of Dat 'x' on Set 'cells'" in said
    assert "rank 1: computes, or has ended" in said


@on_ranks
def test_copies_of_a_program_are_warned_of() -> None:
    found = started("op2.Set(3)", 2)
    assert found.returncode == 0
    assert "2 processes run this program, each with the whole mesh" in found.stderr
    assert "processes run" not in started("op2.init(comm='self'); op2.Set(3)", 2).stderr


@on_ranks
def test_threads_are_divided_among_the_ranks_of_a_node() -> None:
    text = """
    from pyop2cxx.runtime import runtime
    print(runtime.engine.n_threads)
    """
    whole = int(outputs(text, 1, PYOP2CXX_THREADS="0")[0])
    assert outputs(text, 2, PYOP2CXX_THREADS="0") == [str(max(1, whole // 2))] * 2
    assert outputs(text, 2, PYOP2CXX_THREADS="3") == ["3"] * 2
