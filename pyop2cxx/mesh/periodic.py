# SPDX-License-Identifier: BSD-3-Clause
"""Periodic meshes: pairs of boundary facets joined to a single facet.

A periodic mesh has nodes on both sides, so each cell keeps its true shape. Vertices are joined, as
are edges and facets: by pairs, not by their vertices, because around few cells two facets may have
the same vertices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx.base.arrays import distinct_numbers, plain_array
from pyop2cxx.exceptions import DataValueError
from pyop2cxx.mesh.cells import CELLS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.mesh.cells import ReferenceCell
    from pyop2cxx.sets.maps import Map


@dataclass(frozen=True, slots=True, kw_only=True)
class Seams:
    """The seams of a periodic mesh.

    Attributes:
        corners: The nodes at the corners of each cell, a Map.
        here: Nodes of facets on a side, shape (n, corners of a facet).
        there: Nodes of the same facets on the other side, corner by corner.
    """

    corners: Map
    here: Array
    there: Array

    def pairs(self, cell: ReferenceCell, dim: int) -> tuple[Array, Array]:
        """Return the nodes of facets, or of their edges, on both sides; shape (n, corners)."""
        if dim == cell.tdim - 1:
            return self.here, self.there
        parts = np.array(CELLS[cell.facet_type].corners[dim])
        return tuple(rows[:, parts].reshape(-1, parts.shape[1]) for rows in (self.here, self.there))  # type: ignore[return-value]  # two of them


def joined(n: int, here: Array, there: Array) -> Array:
    """Number classes of entities, given pairs of equal entities.

    Args:
        n: How many entities there are.
        here: Entities, shape (n_pairs,).
        there: The equal entity of each, shape (n_pairs,).

    Returns:
        The class of each entity, shape (n,); classes go by their first entity.
    """
    least = np.arange(n)
    while True:
        lower = np.minimum(least[here], least[there])
        if (least[here] == lower).all() and (least[there] == lower).all():
            return distinct_numbers(least)[1]
        for side in (here, there):
            np.minimum.at(least, least[side], lower)
            np.minimum.at(least, side, lower)
        least = least[least]


def images(pairs: Sequence[npt.ArrayLike], n_nodes: int, name: str) -> list[Array]:
    """Return for each seam the joined node of each node, shape (n_nodes,); -1 for none.

    Raises:
        DataValueError: Pairs have another shape or numbers, or a node is joined twice in a seam.
    """
    found = []
    for i, given in enumerate(pairs):
        what = f"{name}: periodic: seam {i}"
        rows = plain_array(given, what)
        if rows.dtype.kind not in "iu" or rows.ndim != 2 or rows.shape[1] != 2 or len(rows) == 0:
            raise DataValueError(
                f"{what}: expected pairs of vertices, integers of shape (n, 2), got {rows.dtype} "
                f"of shape {rows.shape}"
            )
        if rows.min() < 0 or rows.max() >= n_nodes:
            raise DataValueError(f"{what}: vertices are 0 to {n_nodes - 1}, got {rows.max()}")
        if len(np.unique(rows[:, 0])) < len(np.unique(rows, axis=0)):
            raise DataValueError(f"{what}: a vertex of the first column is joined to two others")
        image = np.full(n_nodes, -1)
        image[rows[:, 0]] = rows[:, 1]
        found.append(image)
    return found


def seams_by_images(
    corners: Map, outer: Array, find: Callable[[Array], Array], to: Sequence[Array], name: str
) -> Seams:
    """Find the facets on both sides of seams given as pairs of nodes.

    Args:
        corners: The nodes at the corners of each cell.
        outer: Nodes of boundary facets, shape (n, corners of a facet).
        find: Returns the facet with the nodes of a row; -1 for none.
        to: As of `images`.
        name: Used in messages.

    Raises:
        DataValueError: No facet lies on a seam, or a facet is present on a single side only.
    """
    here, there = [], []
    is_outer = {int(number) for number in find(outer)}
    for i, image in enumerate(to):
        across = image[outer]
        chosen = (across >= 0).all(axis=1)
        if not chosen.any():
            raise DataValueError(f"{name}: periodic: seam {i}: no facet of the boundary lies on it")
        for row, number in zip(across[chosen], find(across[chosen]), strict=True):
            if int(number) not in is_outer:
                raise DataValueError(
                    f"{name}: periodic: seam {i}: a facet is joined to vertices {row.tolist()}, "
                    "which are no facet of the boundary; both sides must be divided alike"
                )
        here.append(outer[chosen])
        there.append(across[chosen])
    return Seams(corners=corners, here=np.concatenate(here), there=np.concatenate(there))


def seams_by_vertices(
    corners: Map, outer: Array, vertex_of: Array, points: Array, name: str
) -> Seams:
    """Find the facets on both sides of seams of a mesh with points for each corner of each cell.

    Two boundary facets are joined if they have the same vertices, and are either translates of each
    other, or turned against each other without a common node. Around two cells, boundary facets
    have the same vertices, too, but a common node.

    Args:
        corners: The nodes at the corners of each cell.
        outer: Nodes of boundary facets, shape (n, corners of a facet).
        vertex_of: The vertex of each node, shape (n_nodes,).
        points: Where nodes are, shape (n_nodes, gdim).
        name: Used in messages.

    Raises:
        DataValueError: Three facets are the same.
    """
    rows = np.take_along_axis(outer, np.argsort(vertex_of[outer], axis=1), axis=1)
    keys = vertex_of[rows]
    shape = (points[rows] - points[rows].mean(axis=1, keepdims=True)).reshape(len(rows), -1)
    size = float(np.ptp(points, axis=0).max()) or 1.0
    grid = np.rint(shape / size * 1e6 + 0.25).astype(np.int64)
    moved, n_alike = _groups(np.concatenate([keys, grid], axis=1))
    if (n_alike[moved] > 2).any():
        bad = rows[np.argmax(n_alike[moved] > 2)]
        raise DataValueError(
            f"{name}: more than two facets have vertices {vertex_of[bad].tolist()} and one shape; "
            "give vertices their own numbers on each side, and join them by periodic="
        )
    first, second = _pairs(moved, n_alike)
    rest = np.flatnonzero(n_alike[moved] == 1)
    turned = [rest[side] for side in _pairs(*_groups(keys[rest]))]
    is_apart = (rows[turned[0]] != rows[turned[1]]).all(axis=1)
    first = np.concatenate([first, turned[0][is_apart]])
    second = np.concatenate([second, turned[1][is_apart]])
    return Seams(corners=corners, here=rows[second], there=rows[first])


def _groups(keys: Array) -> tuple[Array, Array]:
    """Return the number of each row among the distinct rows, and the counts."""
    _, which, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    return which.reshape(-1), counts


def _pairs(which: Array, counts: Array) -> tuple[Array, Array]:
    """Return the first and the second of each group of two."""
    order = np.argsort(which, kind="stable")
    chosen = order[counts[which[order]] == 2]
    return chosen[::2], chosen[1::2]
