# SPDX-License-Identifier: BSD-3-Clause
"""Values on a Set in NumPy's files, followed by the numbering of the Set.

After the array of values follow an array of two digests and an array with the way back, see
`sets.origins`. Readers of the first array only, for example `numpy.load`, ignore them.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from pyop2cxx.exceptions import DataValueError
from pyop2cxx.runtime.processes import refuse_several
from pyop2cxx.sets.origins import Digests, rows_between

if TYPE_CHECKING:
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.sets.origins import Numbers


_NO_FILES = (
    "files are not carried over processes yet: write gathered() on one rank, or read before "
    "op2.distribute"
)


def save(path: str, values: Array, on: Any) -> None:
    """Write values with a row for each owned entity of a Set."""
    refuse_several([on], "save", _NO_FILES)
    digests = Digests() if on.origin is None else on.origin.now()
    order = np.zeros(0, np.int64) if on.reordering.order is None else on.reordering.order
    with open(path, "wb") as file:
        for one in (values, np.array([digests.in_use, digests.original]), order):
            np.save(file, one, allow_pickle=False)


def load(path: str, on: Any) -> tuple[Array, Numbers | None]:
    """Read values, and the row of each owned entity of a Set; None if in order.

    Raises:
        DataValueError: The file is damaged.
        StoredFileError: As `rows_between`.
    """
    refuse_several([on], "load", _NO_FILES)
    try:
        with open(path, "rb") as file:
            values = np.load(file, allow_pickle=False)
            rest = _rest(file, os.path.getsize(path))
    except (ValueError, EOFError, MemoryError, SyntaxError, OverflowError, TypeError) as error:
        raise DataValueError(f"file {path} is damaged, or no file of NumPy's: {error}") from None
    if len(rest) != 2 or values.shape[:1] != (on.size,):
        return values, None  # of another program; or as_array gives the fault
    digests, order = rest
    n = on.total_size
    if digests.shape != (2,) or (len(order) and not np.array_equal(np.sort(order), np.arange(n))):
        raise DataValueError(f"file {path}: what stands behind the values is damaged")
    there = Digests(*map(str, digests))
    rows = rows_between(there, lambda: order if len(order) else None, on, f"file {path}", on.name)
    return values, None if rows is None else rows[: on.size]


def _rest(file: BinaryIO, size: int) -> list[Array]:
    found: list[Array] = []
    while file.tell() < size and len(found) < 2:
        found.append(np.load(file, allow_pickle=False))
    return found
