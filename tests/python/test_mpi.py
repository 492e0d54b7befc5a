# SPDX-License-Identifier: BSD-3-Clause
"""The names that programs for PyOP2 import from ``pyop2.mpi``."""

from __future__ import annotations

from typing import Any

import pytest
from thread_comm import InThreads, in_threads

from pyop2cxx import op2
from pyop2cxx.pyop2 import mpi


def test_pyop2s_helpers() -> None:
    comm = op2.COMM_WORLD

    @op2.collective
    def double(x: int, *, more: int = 0) -> int:
        return 2 * x + more

    assert mpi.internal_comm(comm, None) is comm
    assert mpi.compilation_comm(comm, None) is comm
    assert not mpi.is_pyop2_comm(comm)
    with mpi.temp_internal_comm(comm) as inner:
        assert inner is comm
    assert mpi.safe_noncollective(comm, double, 2, more=1) == 5
    with pytest.raises(mpi.PyOP2CommError, match="root=1"):
        mpi.safe_noncollective(comm, double, 2, root=1)


@pytest.mark.parametrize("root", [0, 1])
def test_one_of_several_calls_and_all_know(root: int) -> None:
    calls: list[int] = []

    def work(comm: InThreads, wanted: str) -> str:
        calls.append(comm.rank)
        if wanted == "error":
            raise KeyError(wanted)
        return wanted

    def ask(comm: InThreads, wanted: str) -> Any:
        try:
            return mpi.safe_noncollective(comm, work, comm, wanted, root=root)
        except KeyError as error:
            return error.args

    assert in_threads(2, lambda comm: ask(comm, "result")) == ["result"] * 2
    assert in_threads(2, lambda comm: ask(comm, "error")) == [("error",)] * 2
    assert calls == [root] * 2
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = mpi.nothing
