# SPDX-License-Identifier: BSD-3-Clause
"""Places of blocks and scalars in matrices stored by rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pyop2cxx.base.arrays import Array


def row_of_each(rowptr: Array) -> Array:
    """Return the row of each entry, int64.

    Args:
        rowptr: First entry of each row, and the number of all entries.
    """
    return np.repeat(np.arange(len(rowptr) - 1), np.diff(rowptr))


def scalar_places(rows: Array, columns: Array, dims: tuple[int, int]) -> tuple[Array, Array]:
    """Return row and column of each scalar of blocks, one block after the other.

    Args:
        rows: Row of each block, int64.
        columns: Column of each block, int64.
        dims: Rows and columns of a block.
    """
    n_rows, n_columns = dims
    at_rows = rows[:, None, None] * n_rows + np.arange(n_rows)[:, None]
    at_columns = columns[:, None, None] * n_columns + np.arange(n_columns)
    i, j = np.broadcast_arrays(at_rows, at_columns)
    return i.reshape(-1), j.reshape(-1)
