# SPDX-License-Identifier: BSD-3-Clause
"""How large cells are, and where facets look: what finite volumes need of a mesh."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.mesh.cells import ReferenceCell

_GAUSS = (0.5 - 0.5 / 3**0.5, 0.5 + 0.5 / 3**0.5)
"""Two points in each direction integrate the Jacobian of quadrilaterals and hexahedra exactly."""
_SIMPLICES = {"interval": 1, "triangle": 2, "tetrahedron": 6}
"""How many of them are as large as the unit cube."""


def volumes(cell: ReferenceCell, corners: Array) -> Array:
    """Return length, area or volume of each cell, shape (n_cells,).

    Args:
        cell: The kind of the cells.
        corners: Where their vertices are, shape (n_cells, vertices of a cell, gdim).
    """
    if cell.name in _SIMPLICES:
        return _size_of(corners[:, 1:] - corners[:, :1]) / _SIMPLICES[cell.name]
    points = [*product(_GAUSS, repeat=cell.tdim)]
    sizes = (_size_of(np.einsum("vt,cvd->ctd", _slopes(cell, p), corners)) for p in points)
    found: Array = sum(sizes, np.zeros(len(corners))) / len(points)
    return found


def _size_of(directions: Array) -> Array:
    """Return the sizes of the boxes that vectors span, shape (n,), of shape (n, tdim, gdim)."""
    if directions.shape[1] == directions.shape[2]:
        return np.asarray(abs(np.linalg.det(directions)))
    return np.asarray(np.sqrt(np.linalg.det(directions @ directions.transpose(0, 2, 1))))


def _slopes(cell: ReferenceCell, point: tuple[float, ...]) -> Array:
    """Return the derivatives of a box's shape functions at a point, shape (vertices, tdim)."""
    where, at = np.array(cell.points), np.array(point)
    factors = np.where(where == 1, at, 1 - at)
    signs = np.where(where == 1, 1.0, -1.0)
    columns = [signs[:, k] * np.delete(factors, k, axis=1).prod(axis=1) for k in range(cell.tdim)]
    return np.stack(columns, axis=1)


def normals(facets: Array, middles: Array) -> Array:
    """Return vectors that stand on facets, each as long as its facet is large, shape (n, gdim).

    Args:
        facets: Where their vertices are, shape (n, vertices of a facet, gdim); quadrilaterals in
            tensor order.
        middles: The middle of the cell that each vector leads away from, shape (n, gdim).
    """
    n_corners, gdim = facets.shape[1:]
    outward = facets.mean(axis=1) - middles
    if n_corners == 1:
        return np.asarray(outward / np.linalg.norm(outward, axis=1, keepdims=True))
    along = facets[:, 1] - facets[:, 0]
    if n_corners == 2 and gdim == 3:  # of a surface: within it
        length2 = (along**2).sum(axis=1, keepdims=True)
        across = outward - (outward * along).sum(axis=1, keepdims=True) / length2 * along
        return np.asarray(across * np.sqrt(length2) / np.linalg.norm(across, axis=1, keepdims=True))
    if n_corners == 2:
        found = np.stack([along[:, 1], -along[:, 0]], axis=1)
    elif n_corners == 3:
        found = 0.5 * np.cross(along, facets[:, 2] - facets[:, 0])
    else:  # half the product of the diagonals, also where the four do not lie in a plane
        found = 0.5 * np.cross(facets[:, 3] - facets[:, 0], facets[:, 2] - facets[:, 1])
    inward = (found * outward).sum(axis=1) < 0
    found[inward] *= -1
    return np.asarray(found)
