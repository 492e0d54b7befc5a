# SPDX-License-Identifier: BSD-3-Clause
"""Changes of single rows of a matrix: in NumPy, or where the values are on a device there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.seams import matrix_rows

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


@dataclass(frozen=True, slots=True)
class Places:
    """Values of a matrix that are set together.

    Attributes:
        blocks: Numbers of the blocks, each at most once.
        offsets: Indices of the values within each block.
        at: Indices into all values of the matrix, int64, shape (len(offsets) * len(blocks),).
        key: Identifies the places of a Sparsity; None means the digest of `blocks`.
    """

    blocks: Array
    offsets: tuple[int, ...]
    at: Array
    key: Any = None

    @staticmethod
    def of(mat: MatValues, blocks: Array, offsets: Iterable[int], key: Any = None) -> Places:
        """Return the values at some offsets of some blocks of a matrix."""
        chosen = tuple(offsets)
        at = [blocks * mat.cdim + offset for offset in chosen]
        return Places(blocks, chosen, np.concatenate([np.empty(0, np.int64), *at]), key)


def put(mat: MatValues, changes: Iterable[tuple[Places, Any]], member: str) -> None:
    """Set values of a matrix, in the order given.

    Args:
        mat: The matrix, not mixed.
        changes: Places, and the value for all of each.
        member: Name of the caller, for messages and the ledger of copies.
    """
    if _is_on_device(mat):
        for places, value in changes:
            matrix_rows().change(mat, places.blocks, places.offsets, value, "=", places.key)
        return
    flat = mat.stored(member, write=True).reshape(-1)
    for places, value in changes:
        flat[places.at] = value


def add(mat: MatValues, places: Array, offsets: Iterable[int], value: Any, member: str) -> None:
    """Add to values of a matrix; arguments as for `put`."""
    if _is_on_device(mat):
        matrix_rows().change(mat, places, tuple(offsets), value, "+=")
        return
    flat = mat.stored(member, write=True).reshape(-1, mat.cdim)
    for offset in offsets:
        flat[places, offset] += value  # each place occurs once


def _is_on_device(mat: MatValues) -> bool:
    """Return whether the values are valid on the device of loops."""
    if runtime.static or runtime.device is None:
        return False
    return mat.residence in ("device", "both")
