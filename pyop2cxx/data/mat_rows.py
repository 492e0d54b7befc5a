# SPDX-License-Identifier: BSD-3-Clause
"""Changes of single rows of a matrix: in NumPy, or where the values are on a device there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.seams import change_places

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.data.mat_values import MatValues


def places_of_rows(mat: MatValues, rows: Array) -> Array:
    """Return the places of rows, row after row.

    Args:
        mat: The matrix.
        rows: Numbers of entities.
    """
    offset = mat.sparsity.rowptr
    counts = offset[rows + 1] - offset[rows]
    starts = np.repeat(offset[rows] - np.cumsum(counts) + counts, counts)
    found: Array = starts + np.arange(counts.sum())
    return found


def put(
    mat: MatValues,
    places: Array,
    offsets: Iterable[int],
    value: Any,
    member: str,
    key: Any = None,
) -> None:
    """Set values of a matrix.

    Args:
        mat: The matrix, not mixed.
        places: Each once.
        offsets: Indices of the values at each place.
        value: The value.
        member: Name of the caller, for messages and the ledger of copies.
        key: Identifies the places; None means their digest.
    """
    if _is_on_device(mat):
        change_places(mat, places, tuple(offsets), value, "=", key)
        return
    flat = mat._stored(member, write=True).reshape(-1, mat.cdim)
    for offset in offsets:
        flat[places, offset] = value


def add(mat: MatValues, places: Array, offsets: Iterable[int], value: Any, member: str) -> None:
    """Add to values of a matrix; arguments as for `put`."""
    if _is_on_device(mat):
        change_places(mat, places, tuple(offsets), value, "+=")
        return
    flat = mat._stored(member, write=True).reshape(-1, mat.cdim)
    for offset in offsets:
        flat[places, offset] += value  # each place occurs once


def _is_on_device(mat: MatValues) -> bool:
    """Return whether the values are valid on the device of loops."""
    if runtime.static or runtime.device is None:
        return False
    return mat.residence in ("device", "both")
