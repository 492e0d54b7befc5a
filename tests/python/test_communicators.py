# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

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
def test_several_processes_are_refused(make: Any) -> None:
    with pytest.raises(UnsupportedError, match="2 processes"):
        make(SimpleNamespace(rank=0, size=2))
    with pytest.raises(communicators.PyOP2CommError, match="expected a communicator"):
        make(3)


def test_there_is_nothing_else() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = communicators.nothing
