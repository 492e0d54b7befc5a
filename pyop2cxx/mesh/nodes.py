# SPDX-License-Identifier: BSD-3-Clause
"""Nodes of cells of degree two, with curved sides.

A node lies, on the reference cell, in the middle of corners: a single corner at a vertex, two on an
edge, four on a face of a box. The corners identify the node, in any order of nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.mesh.cells import Corners, ReferenceCell

SIMPLICES = ("interval", "triangle", "tetrahedron")

# Behind the corners, in VTK's order: corners are VTK's, too.
_VTK: Mapping[str, Corners] = {
    "interval": ((0, 1),),
    "triangle": ((0, 1), (1, 2), (0, 2)),
    "quadrilateral": ((0, 1), (1, 2), (2, 3), (0, 3), (0, 1, 2, 3)),
    "tetrahedron": ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3)),
    "hexahedron": (
        *((0, 1), (1, 2), (2, 3), (0, 3), (4, 5), (5, 6)),
        *((6, 7), (4, 7), (0, 4), (1, 5), (2, 6), (3, 7)),
        *((0, 3, 4, 7), (1, 2, 5, 6), (0, 1, 4, 5), (2, 3, 6, 7), (0, 1, 2, 3), (4, 5, 6, 7)),
        tuple(range(8)),
    ),
}
# The same in Gmsh's order, where different.
_GMSH: Mapping[str, Corners] = {
    "tetrahedron": ((0, 1), (1, 2), (0, 2), (0, 3), (2, 3), (1, 3)),
    "hexahedron": (
        *((0, 1), (0, 3), (0, 4), (1, 2), (1, 5), (2, 3)),
        *((2, 6), (3, 7), (4, 5), (4, 7), (5, 6), (6, 7)),
        *((0, 1, 2, 3), (0, 1, 4, 5), (0, 3, 4, 7), (1, 2, 5, 6), (2, 3, 6, 7), (4, 5, 6, 7)),
        tuple(range(8)),
    ),
}
VTK_TYPES: Mapping[str, int] = {
    "interval": 21,
    "triangle": 22,
    "quadrilateral": 28,
    "tetrahedron": 24,
    "hexahedron": 29,
}
"""VTK's numbers of cells of degree two."""


def node_corners(cell: ReferenceCell, degree: int) -> Corners:
    """Return the corners around each node of a reference cell, in Basix's order.

    Args:
        cell: The kind of cell.
        degree: Of the geometry, 1 or 2.
    """
    n_dims = 1 if degree == 1 else 2 if cell.name in SIMPLICES else cell.tdim + 1
    return tuple(corners for dim in range(n_dims) for corners in cell.corners[dim])


def facet_nodes(cell: ReferenceCell, degree: int) -> Array:
    """Return the nodes of each facet in a cell; int, shape (n_facets, n)."""
    nodes = [set(corners) for corners in node_corners(cell, degree)]
    rows = [[k for k, one in enumerate(nodes) if one <= {*facet}] for facet in cell.facets]
    return np.array(rows)


def degree_of(cell: ReferenceCell, n_nodes: int) -> int:
    """Return the degree of cells with so many nodes; 0 if there is none."""
    degrees = {len(node_corners(cell, degree)): degree for degree in (1, 2)}
    return degrees.get(n_nodes, 0)


def vtk_places(cell: ReferenceCell, degree: int) -> list[int]:
    """Return the node at each place of VTK's order."""
    places = list(cell.vtk_order)
    if degree == 1:
        return places
    nodes = {frozenset(corners): k for k, corners in enumerate(node_corners(cell, degree))}
    middles = (frozenset(places[i] for i in corners) for corners in _VTK[cell.name])
    return places + [nodes[corners] for corners in middles]


def from_gmsh_order(cell: ReferenceCell, rows: Array) -> Array:
    """Return the nodes of elements in VTK's order, given in Gmsh's; shape (n, nodes)."""
    more = rows.shape[1] - cell.n_vertices
    if cell.name not in _GMSH or not 0 < more <= len(_GMSH[cell.name]):
        return rows
    there = _GMSH[cell.name][:more]
    order = [there.index(corners) for corners in _VTK[cell.name] if corners in there]
    return np.concatenate([rows[:, : cell.n_vertices], rows[:, cell.n_vertices :][:, order]], 1)


def full_rows(cell: ReferenceCell, rows: Array, points: Array) -> tuple[Array, Array] | None:
    """Return elements of degree one or two with complete nodes, in VTK's order.

    Boxes may lack nodes in the middle of faces and of the cell ("quad8", "hexahedron20"). The shape
    of the cell is defined without them, and gives their places.

    Args:
        cell: The kind of cell.
        rows: Nodes of each element, shape (n, nodes).
        points: Where nodes are, shape (n_points, gdim).

    Returns:
        Rows and points, with missing nodes appended; None for elements of a higher degree.
    """
    n, edges = rows.shape[1], len(cell.corners[1])
    if degree_of(cell, n):
        return rows, points
    if cell.name in SIMPLICES or n != cell.n_vertices + edges:
        return None
    at, found = cell.n_vertices, [rows]
    more: list[Array] = []
    for corners in _VTK[cell.name][edges:]:
        middles = [
            at + k for k, edge in enumerate(_VTK[cell.name][:edges]) if {*edge} <= {*corners}
        ]
        # The shape functions in the middle of a face, and of a hexahedron: their sum is 1.
        weight = 0.5 if len(middles) == 4 else 0.25
        of_corners = (1 - weight * len(middles)) / len(corners)
        place = weight * points[rows[:, middles]].sum(axis=1)
        place += of_corners * points[rows[:, list(corners)]].sum(axis=1)
        found.append(len(points) + len(rows) * len(more) + np.arange(len(rows))[:, None])
        more.append(place)
    return np.concatenate(found, axis=1), np.concatenate([points, *more])


def on_mesh(given: Any) -> Any:
    """Return the Dat of a `fem.Function` for pictures and files; other objects unchanged."""
    return given.on_mesh() if hasattr(given, "on_mesh") else given
