# SPDX-License-Identifier: BSD-3-Clause
"""Duplicate elements and nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx.base.arrays import distinct_numbers

if TYPE_CHECKING:
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.mesh.topology import Numbers

_ODD = np.uint64(0x9E3779B97F4A7C15)
_DIGITS = 1e12
"""Nodes closer than the size of the mesh over so large a number coincide."""


def first_alike(rows: Array) -> Numbers:
    """Return for each element the first with the same vertices, in any order.

    Args:
        rows: Vertices of each element, shape (n, corners).

    Returns:
        Shape (n,), int64; ``i`` at place ``i`` if no earlier element has the same vertices.
    """
    found = np.arange(len(rows))
    keys, which = distinct_numbers(_sums(rows))
    if len(keys) == len(rows):
        return found
    # Equal sums are a necessary condition only, so rows are compared.
    suspects = np.flatnonzero(np.bincount(which)[which] > 1)
    ordered = np.sort(rows[suspects], axis=1)
    _, first, same = np.unique(ordered, axis=0, return_index=True, return_inverse=True)
    found[suspects] = suspects[first[same.reshape(-1)]]
    return found


def _sums(rows: Array) -> Array:
    """Return a number for each row, independent of the order in the row."""
    mixed = (rows.astype(np.uint64) + np.uint64(1)) * _ODD
    mixed ^= mixed >> np.uint64(29)
    mixed *= _ODD
    return np.asarray((mixed ^ (mixed >> np.uint64(32))).sum(axis=1, dtype=np.uint64))


def first_there(points: Array) -> Numbers:
    """Return for each node the first at the same place.

    Args:
        points: Where nodes are, shape (n, gdim).

    Returns:
        Shape (n,), int64; ``i`` at place ``i`` if no earlier node is there.
    """
    low = points.min(axis=0)
    size = float((points.max(axis=0) - low).max()) or 1.0
    places = np.rint((points - low) * (_DIGITS / size)).astype(np.int64)
    found = np.arange(len(points))
    key = np.zeros(len(points), np.uint64)
    for column in places.T:
        key = (key ^ column.astype(np.uint64)) * _ODD
        key ^= key >> np.uint64(32)
    keys, which = distinct_numbers(key)
    if len(keys) == len(points):
        return found
    suspects = np.flatnonzero(np.bincount(which)[which] > 1)
    _, first, same = np.unique(places[suspects], axis=0, return_index=True, return_inverse=True)
    found[suspects] = suspects[first[same.reshape(-1)]]
    return found
