# SPDX-License-Identifier: BSD-3-Clause
"""Reference cells of Basix, and the orientation of the cells of a mesh against them.

Basix gives the dofs on an edge or a face an order by the vertices of the reference cell; two cells
agree on the dofs if they agree on the order of vertices (M. Scroggs, J. Dokken, C. Richardson, G.
Wells: Construction of arbitrary order finite element degree-of-freedom maps on polygonal and
polyhedral cell meshes, ACM TOMS 48 (2022)). Simplices get their vertices in ascending order, and
then always agree. Quadrilaterals and hexahedra keep theirs, and the dofs are turned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.arrays import distinct_numbers
from pyop2cxx.exceptions import UnsupportedError
from pyop2cxx.fem._packages import basix

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyop2cxx.base.arrays import Array

DIMS: Mapping[str, int] = {
    "interval": 1,
    "triangle": 2,
    "quadrilateral": 2,
    "tetrahedron": 3,
    "hexahedron": 3,
}
"""Dimensions of the cells that are known."""
SIMPLICES = ("interval", "triangle", "tetrahedron")
_AROUND = np.array([[0, 2, 1], [1, 0, 3], [3, 3, 0], [2, 1, 2]])
"""For each corner of a quadrilateral: rotations that take it to the origin, its two neighbours."""
_QUADRATURE = {
    (0, 1): 0, (0, 2): 1, (2, 0): 2, (1, 0): 3, (3, 2): 4, (3, 1): 5, (1, 3): 6, (2, 3): 7,
}  # fmt: skip
"""How FFCx permutes quadrature points on a quadrilateral, by the lowest vertex and the lower of its
neighbours: points on the edge between them stay there, whichever cell looks."""


def basix_cell(name: str) -> Any:
    """Return Basix's type of a cell.

    Raises:
        UnsupportedError: There are no finite elements on such cells here.
    """
    if name not in DIMS:
        raise UnsupportedError(
            f"pyop2cxx.fem: there is no cell type {name!r}; there are: {', '.join(DIMS)}"
        )
    return getattr(basix.CellType, name)


def topology(name: str) -> list[list[list[int]]]:
    """Return the vertices of each vertex, edge, ... of a reference cell."""
    found: list[list[list[int]]] = basix.topology(basix_cell(name))
    return found


def numbered(corners: Array, n_vertices: int) -> tuple[Array, int]:
    """Number edges or faces; equal vertices mean the same entity.

    Args:
        corners: Their vertices, shape (n_cells, n, corners), in any order.
        n_vertices: Of the mesh.

    Returns:
        Numbers, shape (n_cells, n), ordered by vertices; and the number of entities.
    """
    ordered = np.sort(corners, axis=-1)[..., :3].astype(np.int64)  # three vertices name a face
    keys, bound = ordered[..., 0], n_vertices
    for i in range(1, ordered.shape[-1]):
        if bound > np.iinfo(np.int64).max // n_vertices:
            found, keys = distinct_numbers(keys)
            bound = len(found)
        keys, bound = keys * n_vertices + ordered[..., i], bound * n_vertices
    found, numbers = distinct_numbers(keys)
    return numbers, len(found)


def states(corners: Array) -> Array:
    """Return the orientation of an edge or face of each cell against the order of vertices.

    Args:
        corners: Vertices of one edge or face of each cell, shape (n_cells, corners), in the order
            of the reference cell; of a face four.

    Returns:
        Shape (n_cells,): of an edge 1 if reversed; of a face ``2 * rotations +
        reflection``, the bits of Basix.
    """
    n_corners = corners.shape[1]
    if n_corners == 1:
        return np.zeros(len(corners), np.uint8)
    if n_corners == 2:
        return (corners[:, 0] > corners[:, 1]).astype(np.uint8)
    rows = np.arange(len(corners))
    lowest = corners.argmin(axis=1)
    rotations, before, after = _AROUND[lowest].T
    is_reflected = corners[rows, after] > corners[rows, before]
    found: Array = (2 * rotations + is_reflected).astype(np.uint8)
    return found


def permutations(corners: Array) -> Array:
    """Return FFCx's permutations of quadrature points, the same points for both cells of a facet.

    Args:
        corners: Vertices of one facet of each cell, shape (n_cells, corners), in the order of the
            reference cell; of simplices ascending.

    Returns:
        Shape (n_cells,).
    """
    if corners.shape[1] < len(_AROUND):
        return states(corners) if corners.shape[1] == 2 else np.zeros(len(corners), np.uint8)
    rows = np.arange(len(corners))
    lowest = corners.argmin(axis=1)
    _, before, after = _AROUND[lowest].T
    next_ = np.where(corners[rows, before] < corners[rows, after], before, after)
    table = np.zeros((4, 4), np.uint8)
    for pair, number in _QUADRATURE.items():
        table[pair] = number
    found: Array = table[lowest, next_]
    return found


def turned(element: Any, cell: str, dim: int, entity: int, state: int) -> tuple[Array, Array]:
    """Return the permutation and signs of the dofs of an edge or a face.

    Args:
        element: A scalar or vector-valued element of Basix, ``basix.finite_element.FiniteElement``.
        cell: The type of cell.
        dim: Of the edge or the face.
        entity: The number of the entity in the reference cell.
        state: As of `states`.

    Returns:
        For each dof of the entity, in the order common to all cells, the local dof of the
        reference cell, and the sign.

    Raises:
        UnsupportedError: The element mixes dofs under this orientation.
    """
    # Of a hexahedron the bits of faces come before those of edges
    n_faces = len(topology(cell)[2]) if DIMS[cell] == 3 else 0
    place = 3 * entity if dim == 2 else 3 * n_faces + entity
    local = element.entity_dofs[dim][entity]
    matrix = np.eye(element.dim)
    element.T_apply(matrix.reshape(-1), element.dim, state << place)
    block = matrix[np.ix_(local, local)]
    rounded = np.rint(block)
    if not (np.allclose(block, rounded, atol=1e-9) and (np.abs(rounded).sum(axis=1) == 1).all()):
        raise UnsupportedError(
            f"pyop2cxx.fem: {element.family.name} of degree {element.degree} on a {cell} mixes "
            "dofs of an edge or a face that two cells see differently; take simplices, or another "
            "variant of the element"
        )
    source = np.abs(rounded).argmax(axis=0)
    return np.asarray(local)[source], rounded[source, np.arange(len(local))]
