# SPDX-License-Identifier: BSD-3-Clause
"""Arrays with rows on several ranks, for files: the first rank writes, the others send their rows.

The first rank asks for a slab at a time, so no rank needs room for a whole array.
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pyop2cxx.exceptions import RanksError
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.sets.entities import Entities

    Result = TypeVar("Result")


class Spread:
    """An array with rows on several ranks. On the first rank slices are arrays, within `by_first`.

    Args:
        comm: The communicator.
        n: How many rows the whole array has.
        numbers: The numbers of this rank's rows in the whole array, int64; no rank has the same.
        rows: The rows, shape (len(numbers), ...).
    """

    def __init__(self, comm: Any, n: int, numbers: Array, rows: Array) -> None:
        order = np.argsort(numbers, kind="stable")
        self._comm = comm
        self._numbers, self._rows = numbers[order], rows[order]
        self.dtype = rows.dtype
        self.shape = (n, *rows.shape[1:])
        self.place = 0

    @property
    def nbytes(self) -> int:
        """Bytes of the whole array."""
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    def __getitem__(self, rows: slice) -> Array:
        """Return some of the whole array's rows: on the first rank, while the others `give`."""
        begin, end, _ = rows.indices(self.shape[0])
        self._comm.bcast((self.place, begin, end))
        found = np.empty((max(end - begin, 0), *self.shape[1:]), self.dtype)
        for numbers, values in self._comm.gather(self._slab(begin, end)):
            found[numbers] = values
        return found

    def give(self, begin: int, end: int) -> None:
        """Send the own rows of a slab to the first rank."""
        self._comm.gather(self._slab(begin, end))

    def _slab(self, begin: int, end: int) -> tuple[Array, Array]:
        first, last = np.searchsorted(self._numbers, (begin, end))
        return self._numbers[first:last] - begin, self._rows[first:last]


def spread(on: Entities, rows: Array) -> Array | Spread:
    """Return rows of the owned entities as an array of the whole Set; all ranks must call.

    Args:
        on: The Set. If no other process shares the Set, the rows are returned.
        rows: A row for each owned entity.
    """
    if not on.is_distributed:
        return rows
    return Spread(on.ranks, on.global_size, on.global_numbers[: on.size], rows)


def by_first(
    comm: Any, parts: Sequence[Any], work: Callable[[], Result], what: str
) -> Result | None:
    """Do work on the first rank, with the rows of all; errors of the work are raised on all ranks.

    Args:
        comm: The communicator, or None: this process does the work alone.
        parts: Arrays, and Spreads used by the work, in the same order on all ranks.
        work: The work.
        what: The work for messages, equal on all ranks.

    Returns:
        On the first rank the result of the work; on others None.

    Raises:
        RanksError: Other ranks do something else.
    """
    if comm is None:
        return work()
    runtime.processes.combined(comm, np.zeros(1), "sum", what)
    spreads = [part for part in parts if isinstance(part, Spread)]
    for place, part in enumerate(spreads):
        part.place = place
    if comm.rank:
        while isinstance(asked := comm.bcast(None), tuple):
            spreads[asked[0]].give(*asked[1:])
        if asked is not None:
            raise asked
        return None
    failed: BaseException | None = None
    try:
        return work()
    except BaseException as error:
        failed = error
        raise
    finally:
        comm.bcast(_sent(failed, what))


def agree(comm: Any, failed: Exception | None, what: str) -> None:
    """Raise if a rank has failed: its own error there, and a RanksError on the others.

    Args:
        comm: The communicator, or None for this process alone.
        failed: The error of this rank.
        what: The work for messages, equal on all ranks.
    """
    n_failed = runtime.processes.combined(comm, np.array(failed is not None, int), "sum", what)
    if failed is not None:
        raise failed
    if n_failed:
        raise RanksError(f"{what}: another rank has failed, so nothing was changed")


def _sent(failed: BaseException | None, what: str) -> Any:
    """Return an error as the other ranks can raise it."""
    if failed is None:
        return None
    try:
        pickle.loads(pickle.dumps(failed))
    except Exception:
        failed = None
    is_usual = isinstance(failed, Exception)
    return failed if is_usual else RanksError(f"{what}: the first rank has failed")
