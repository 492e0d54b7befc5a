# SPDX-License-Identifier: BSD-3-Clause
"""Sizes of cells and normals of facets, for finite volumes."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx.mesh.nodes import SIMPLICES, node_corners

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.mesh.cells import ReferenceCell

_PARTS = (1, 1, 2, 6)
"""How many simplices are as large as the unit cube, by dimension."""
_FLAT = 1e-16
"""Squared sine of the smallest angle between a cell's middle and a facet."""


def volumes(cell: ReferenceCell, nodes: Array, degree: int = 1) -> Array:
    """Return length, area or volume of each cell, shape (n_cells,).

    Args:
        cell: The kind of the cells.
        nodes: Where their nodes are, shape (n_cells, nodes of a cell, gdim).
        degree: Of the geometry; of curved cells on surfaces the area is approximate.
    """
    if degree == 1 and cell.name in SIMPLICES:
        return _size_of(nodes[:, 1:] - nodes[:, :1]) / _PARTS[cell.tdim]
    found = np.zeros(len(nodes))
    for point, weight in _rule(cell, degree):
        slopes = _slopes(cell, point) if degree == 1 else _curved_slopes(cell, point)
        found += weight * _size_of(np.einsum("vt,cvd->ctd", slopes, nodes))
    return found


def _rule(cell: ReferenceCell, degree: int) -> Iterator[tuple[Array, float]]:
    """Yield points and weights for exact integrals of the Jacobian of cells."""
    n = degree + 1 if cell.name not in SIMPLICES else 3
    roots, weights = np.polynomial.legendre.leggauss(n)
    for places in product(range(n), repeat=cell.tdim):
        at, weight = (roots[[*places]] + 1) / 2, float(np.prod(weights[[*places]] / 2))
        if cell.name in SIMPLICES:  # for the unit cube, collapsed to a simplex
            left = 1.0
            for k in range(cell.tdim):
                at[k], weight, left = at[k] * left, weight * left, left * (1 - at[k])
        yield at, weight


def _size_of(directions: Array) -> Array:
    """Return the sizes of boxes spanned by vectors; shape (n,), from shape (n, tdim, gdim)."""
    if directions.shape[1] == directions.shape[2]:
        return np.asarray(abs(np.linalg.det(directions)))
    return np.asarray(np.sqrt(np.linalg.det(directions @ directions.transpose(0, 2, 1))))


def _slopes(cell: ReferenceCell, point: Array) -> Array:
    """Return the derivatives of a box's shape functions at a point, shape (vertices, tdim)."""
    where = np.array(cell.points)
    factors = np.where(where == 1, point, 1 - point)
    signs = np.where(where == 1, 1.0, -1.0)
    columns = [signs[:, k] * np.delete(factors, k, axis=1).prod(axis=1) for k in range(cell.tdim)]
    return np.stack(columns, axis=1)


def _curved_slopes(cell: ReferenceCell, point: Array) -> Array:
    """Return the derivatives of the shape functions of degree two, shape (nodes, tdim)."""
    nodes = node_corners(cell, 2)
    if cell.name in SIMPLICES:
        at = np.concatenate([[1 - point.sum()], point])
        slopes = np.concatenate([-np.ones((1, cell.tdim)), np.eye(cell.tdim)])
        return np.array(
            [
                (4 * at[n[0]] - 1) * slopes[n[0]]
                if len(n) == 1
                else 4 * (at[n[0]] * slopes[n[1]] + at[n[1]] * slopes[n[0]])
                for n in nodes
            ]
        )
    where = np.array([np.mean([cell.points[i] for i in n], axis=0) for n in nodes])
    left = 1 - point
    values = np.stack([left * (left - point), 4 * point * left, point * (point - left)])
    derived = np.stack([4 * point - 3, 4 - 8 * point, 4 * point - 1])
    place, axes = np.rint(2 * where).astype(np.int64), np.arange(cell.tdim)
    factors, slopes = values[place, axes], derived[place, axes]
    columns = [slopes[:, k] * np.delete(factors, k, axis=1).prod(axis=1) for k in axes]
    return np.stack(columns, axis=1)


def first_fold(facets: Array, middles: Array) -> int:
    """Return the first facet with both cells on the same side; -1 if there is none.

    Cells without a volume lie on neither side.

    Args:
        facets: Where the vertices of facets are, shape (n, vertices of a facet, gdim).
        middles: The middles of the two cells of each, shape (n, 2, gdim); for meshes with equal
            dimensions of cells and space.
    """
    n_corners, gdim = facets.shape[1:]
    corners = [facets[:, k].T for k in range(n_corners)]
    centre = sum(corners) / n_corners
    ends = [middles[:, k].T - centre for k in (0, 1)]
    if gdim == 1:
        normal = np.ones_like(centre)
    elif gdim == 2:
        along = corners[1] - corners[0]
        normal = np.stack([along[1], -along[0]])
    else:  # for quadrilaterals from the diagonals
        a, b = corners[-1] - corners[0], corners[-2] - corners[1 if n_corners == 4 else 0]
        normal = np.stack([a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)])
    first, second = ((normal * end).sum(axis=0) for end in ends)
    lengths = np.sqrt((ends[0] ** 2).sum(axis=0) * (ends[1] ** 2).sum(axis=0))
    sizes = (normal**2).sum(axis=0) * lengths
    is_folded = first * second > _FLAT * sizes
    return int(np.argmax(is_folded)) if is_folded.any() else -1


def normals(facets: Array, middles: Array) -> Array:
    """Return facet normals scaled by facet area; shape (n, gdim).

    Args:
        facets: Where their vertices are, shape (n, vertices of a facet, gdim); quadrilaterals in
            tensor order.
        middles: The middle of the cell behind each normal, shape (n, gdim).
    """
    n_corners, gdim = facets.shape[1:]
    outward = facets.mean(axis=1) - middles
    if n_corners == 1:
        return np.asarray(outward / np.linalg.norm(outward, axis=1, keepdims=True))
    along = facets[:, 1] - facets[:, 0]
    if n_corners == 2 and gdim == 3:  # of a surface: tangential to the surface
        length2 = (along**2).sum(axis=1, keepdims=True)
        across = outward - (outward * along).sum(axis=1, keepdims=True) / length2 * along
        return np.asarray(across * np.sqrt(length2) / np.linalg.norm(across, axis=1, keepdims=True))
    if n_corners == 2:
        found = np.stack([along[:, 1], -along[:, 0]], axis=1)
    elif n_corners == 3:
        found = 0.5 * np.cross(along, facets[:, 2] - facets[:, 0])
    else:  # half the product of the diagonals, even if the vertices are not in a plane
        found = 0.5 * np.cross(facets[:, 3] - facets[:, 0], facets[:, 2] - facets[:, 1])
    inward = (found * outward).sum(axis=1) < 0
    found[inward] *= -1
    return np.asarray(found)
