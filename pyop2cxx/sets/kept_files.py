# SPDX-License-Identifier: BSD-3-Clause
"""Values on a Set in NumPy's files, followed by the numbering of the Set.

After the array of values follow an array of two digests and an array with the way back, see
`sets.origins`. Readers of the first array only, for example `numpy.load`, ignore them.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from pyop2cxx.base.files import replacing
from pyop2cxx.exceptions import DataValueError
from pyop2cxx.runtime.processes import refuse_several
from pyop2cxx.sets.origins import Digests, rows_between
from pyop2cxx.sets.spread import by_first, spread

if TYPE_CHECKING:
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.sets.origins import Numbers
    from pyop2cxx.sets.spread import Spread


_NO_FILES = "files carry Sets shared by op2.distribute; share the mesh so, or write dat.gathered()"


def save(path: str, values: Array, on: Any) -> None:
    """Write values with a row for each owned entity of a Set; the first process writes all."""
    if not on.is_distributed:
        refuse_several([on], "save", _NO_FILES)
    whole = spread(on, values)
    comm = on.ranks if on.is_distributed else None
    by_first(comm, [whole], partial(_save, path, whole, on), f"save of values on '{on.name}'")


def _save(path: str, values: Array | Spread, on: Any) -> None:
    digests = Digests() if on.origin is None else on.origin.now()
    order = np.zeros(0, np.int64) if on.reordering.order is None else on.reordering.order
    with replacing(path) as temporary, temporary.open("wb") as file:
        for one in (values[:], np.array([digests.in_use, digests.original]), order):
            np.save(file, one, allow_pickle=False)


def load(path: str, on: Any) -> tuple[Array, Numbers | None]:
    """Read values, and the row of each owned entity of a Set; None if in order.

    Raises:
        DataValueError: The file is damaged.
        StoredFileError: As `rows_between`.
    """
    if not on.is_distributed:
        refuse_several([on], "load", _NO_FILES)
    n = on.global_size if on.is_distributed else on.size
    numbers = on.global_numbers[: on.size] if on.is_distributed else None
    try:
        with open(path, "rb") as file:
            values = np.load(file, allow_pickle=False)
            rest = _rest(file, os.path.getsize(path))
    except (ValueError, EOFError, MemoryError, SyntaxError, OverflowError, TypeError) as error:
        raise DataValueError(f"file {path} is damaged, or no file of NumPy's: {error}") from None
    if len(rest) != 2 or values.shape[:1] != (n,):
        return values, numbers  # of another program; or as_array gives the fault
    digests, order = rest
    n = n if on.is_distributed else on.total_size
    if digests.shape != (2,) or (len(order) and not np.array_equal(np.sort(order), np.arange(n))):
        raise DataValueError(f"file {path}: what stands behind the values is damaged")
    there = Digests(*map(str, digests))
    rows = rows_between(there, lambda: order if len(order) else None, on, f"file {path}", on.name)
    if numbers is not None:
        return values, numbers if rows is None else rows[numbers]
    return values, None if rows is None else rows[: on.size]


def _rest(file: BinaryIO, size: int) -> list[Array]:
    found: list[Array] = []
    while file.tell() < size and len(found) < 2:
        found.append(np.load(file, allow_pickle=False))
    return found
