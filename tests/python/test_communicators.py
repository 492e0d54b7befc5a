# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import re
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from pyop2cxx import op2
from pyop2cxx.base import extras
from pyop2cxx.exceptions import UnsupportedError, UsageError
from pyop2cxx.runtime import communicators

HAS_MPI = extras.installed()["mpi4py"]


def test_there_is_a_world_of_one_process() -> None:
    for comm in (op2.COMM_WORLD, communicators.COMM_SELF, op2.MPI.COMM_WORLD, op2.Set(2).comm):
        assert (comm.rank, comm.size) == (0, 1)
        assert comm.allreduce(3) == 3
    assert op2.Set(2, comm=op2.COMM_WORLD).comm == op2.COMM_WORLD
    assert op2.Global(1, 0.0, comm=op2.COMM_WORLD).comm == op2.COMM_WORLD


def test_one_process() -> None:
    comm = communicators.OneProcess()
    assert (comm.Get_rank(), comm.Get_size()) == (0, 1)
    assert comm.Dup() == comm
    assert len({comm, communicators.OneProcess()}) == 1
    assert [comm.bcast(2), comm.allreduce(2), comm.reduce(2)] == [2, 2, 2]
    assert comm.gather(2) == comm.allgather(2) == [2]
    comm.barrier()
    comm.Free()
    with pytest.raises(UsageError, match="root=1"):
        comm.bcast(2, root=1)
    assert repr(comm) == "OneProcess()"


@pytest.mark.skipif(HAS_MPI, reason="mpi4py is installed")
def test_mpi4py_is_taken_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    world = SimpleNamespace(rank=1, size=2)
    package, module = ModuleType("mpi4py"), ModuleType("mpi4py.MPI")
    module.COMM_WORLD = world  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mpi4py", package)
    monkeypatch.setitem(sys.modules, "mpi4py.MPI", module)
    assert communicators.MPI is module
    assert op2.COMM_WORLD is world


@pytest.mark.parametrize("make", [lambda c: op2.Set(1, comm=c), lambda c: op2.Global(1, comm=c)])
def test_what_is_no_communicator_is_refused(make: Any) -> None:
    assert make(SimpleNamespace(rank=0, size=2)).comm.size == 2
    with pytest.raises(communicators.PyOP2CommError, match="expected a communicator"):
        make(3)


@pytest.fixture
def two_processes(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """MPI as mpi4py shows it to one of two processes."""
    package, module = ModuleType("mpi4py"), ModuleType("mpi4py.MPI")
    module.COMM_WORLD = SimpleNamespace(rank=0, size=2)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mpi4py", package)
    monkeypatch.setitem(sys.modules, "mpi4py.MPI", module)
    return SimpleNamespace(rank=0, size=1)  # COMM_SELF


def uses(comm: Any) -> dict[str, Any]:
    """What is of one process where several work on one mesh, by what the message says."""
    cells = op2.Set(3, "cells", comm=comm)
    x, g = op2.Dat(cells, [3.0, 4.0, 0.0], name="x"), op2.Global(1, 0.0, name="g", comm=comm)
    add = op2.Kernel("void add(double *g) { g[0] += 1; }", "add")
    both = op2.MixedDat([x, op2.Dat(cells)])
    itself = op2.Map(cells, cells, 1, [0, 1, 2])
    mat = op2.Mat(op2.Sparsity(cells**1, [(itself, itself, None)]), name="m")
    return {
        "Set 'cells': 'comm'": lambda: cells.comm,
        "Global 'g': 'comm'": lambda: g.comm,
        "Global 'g': 'INC'": lambda: op2.par_loop(add, cells, g(op2.INC)),
        "Global 'g': 'MIN'": lambda: op2.par_loop(add, cells, g(op2.MIN)),
        "Dat 'x' on Set 'cells': 'norm'": lambda: x.norm,
        "Dat 'x' on Set 'cells': 'inner'": lambda: both.inner(both),
        "Dat 'x' on Set 'cells': 'dot'": lambda: x.dot(x),
        "Dat 'x' on Set 'cells': 'inner_into'": lambda: x.inner_into(x, g),
        "Mat 'm': 'INC'": lambda: mat(op2.INC, (itself, itself)),
        "Dat 'x' on Set 'cells': 'solve'": lambda: op2.solve(lambda x, y: x.copy(y), x, x),
    }


@pytest.mark.parametrize("use", sorted(uses(None)))
def test_sums_of_one_of_several_processes_are_refused(use: str, two_processes: Any) -> None:
    with pytest.raises(
        UnsupportedError, match=rf"^{re.escape(use)} would be .* but MPI runs 2\. Say .*"
    ):
        uses(None)[use]()
    if "solve" not in use:  # which needs SciPy
        uses(two_processes)[use]()


@pytest.mark.usefixtures("two_processes")
def test_what_each_of_several_processes_may_do() -> None:
    cells = op2.Set(3)
    x, g = op2.Dat(cells, [3.0, 4.0, 0.0]), op2.Global(1, 2.0)
    kernel = op2.Kernel("void k(double *x, const double *g) { x[0] *= g[0]; }", "k")
    op2.par_loop(kernel, cells, x(op2.RW), g(op2.READ))
    op2.par_loop(kernel, cells, x(op2.RW), g(op2.READ), check=True)
    x += 1
    assert x.data_ro.tolist() == [13, 17, 1]


def test_there_is_nothing_else() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = communicators.nothing
