# SPDX-License-Identifier: BSD-3-Clause
"""A communicator whose processes are threads of this one, for tests of what is collective."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class InThreads:
    """One of several threads that speak as processes do."""

    def __init__(self, rank: int, barrier: Barrier, slots: list[Any]) -> None:
        self.rank = rank
        self.size = barrier.parties
        self._barrier = barrier
        self.slots = slots

    def Get_rank(self) -> int:
        return self.rank

    def allgather(self, value: Any) -> list[Any]:
        self.slots[self.rank] = value
        self._barrier.wait(timeout=30)
        found = list(self.slots)
        self._barrier.wait(timeout=30)
        return found

    def bcast(self, value: Any, root: int = 0) -> Any:
        return self.allgather(value)[root]

    def allreduce(self, value: Any, op: Any = None) -> Any:
        """Return the largest: that is all that is asked for here."""
        return max(self.allgather(value))


def in_threads(size: int, work: Callable[[InThreads], Any]) -> list[Any]:
    """Let each thread work, and return their results by rank."""
    barrier, slots = Barrier(size), [None] * size
    with ThreadPoolExecutor(size) as pool:
        return list(pool.map(work, [InThreads(rank, barrier, slots) for rank in range(size)]))
