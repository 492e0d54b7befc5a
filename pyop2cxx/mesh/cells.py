# SPDX-License-Identifier: BSD-3-Clause
"""Reference cells: how vertices, edges and facets of a cell are numbered.

As in Basix (https://docs.fenicsproject.org/basix): facet ``i`` of a simplex lies opposite to vertex
``i``; vertices of quadrilaterals and hexahedra are in tensor order, the first coordinate running
fastest, and their edges and facets in the order of their vertices. Kernels from FFCx rely on the
order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from pyop2cxx.exceptions import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

Corners: TypeAlias = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceCell:
    """A kind of cell.

    Attributes:
        name: As in UFL: "interval", "triangle", "quadrilateral", "tetrahedron", "hexahedron".
        tdim: Topological dimension.
        points: Vertices of the reference cell, ``tdim`` coordinates each.
        corners: For each dimension up to ``tdim`` the vertices of each entity.
        vtk_order: Vertex at each place of VTK's and Gmsh's order. The permutation is an involution.
        vtk_type: VTK's number of the kind of cell.
        meshio_name: meshio's name.
    """

    name: str
    tdim: int
    points: tuple[tuple[int, ...], ...]
    corners: tuple[Corners, ...]
    vtk_order: tuple[int, ...]
    vtk_type: int
    meshio_name: str
    _facet: str = field(default="", repr=False)

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return len(self.points)

    @property
    def facets(self) -> Corners:
        """The vertices of each facet."""
        return self.corners[self.tdim - 1]

    @property
    def facet_type(self) -> str:
        """The kind of the facets: "point" for an interval."""
        return self._facet


def _points(n: int) -> Corners:
    return tuple((i,) for i in range(n))


_CUBE_EDGES = (
    *((0, 1), (0, 2), (0, 4), (1, 3), (1, 5), (2, 3)),
    *((2, 6), (3, 7), (4, 5), (4, 6), (5, 7), (6, 7)),
)
_CUBE_FACES = (
    *((0, 1, 2, 3), (0, 1, 4, 5), (0, 2, 4, 6)),
    *((1, 3, 5, 7), (2, 3, 6, 7), (4, 5, 6, 7)),
)

CELLS: Mapping[str, ReferenceCell] = {
    cell.name: cell
    for cell in (
        ReferenceCell(
            name="interval",
            tdim=1,
            points=((0,), (1,)),
            corners=(_points(2), ((0, 1),)),
            vtk_order=(0, 1),
            vtk_type=3,
            meshio_name="line",
            _facet="point",
        ),
        ReferenceCell(
            name="triangle",
            tdim=2,
            points=((0, 0), (1, 0), (0, 1)),
            corners=(_points(3), ((1, 2), (0, 2), (0, 1)), ((0, 1, 2),)),
            vtk_order=(0, 1, 2),
            vtk_type=5,
            meshio_name="triangle",
            _facet="interval",
        ),
        ReferenceCell(
            name="quadrilateral",
            tdim=2,
            points=((0, 0), (1, 0), (0, 1), (1, 1)),
            corners=(_points(4), ((0, 1), (0, 2), (1, 3), (2, 3)), ((0, 1, 2, 3),)),
            vtk_order=(0, 1, 3, 2),
            vtk_type=9,
            meshio_name="quad",
            _facet="interval",
        ),
        ReferenceCell(
            name="tetrahedron",
            tdim=3,
            points=((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)),
            corners=(
                _points(4),
                ((2, 3), (1, 3), (1, 2), (0, 3), (0, 2), (0, 1)),
                ((1, 2, 3), (0, 2, 3), (0, 1, 3), (0, 1, 2)),
                ((0, 1, 2, 3),),
            ),
            vtk_order=(0, 1, 2, 3),
            vtk_type=10,
            meshio_name="tetra",
            _facet="triangle",
        ),
        ReferenceCell(
            name="hexahedron",
            tdim=3,
            points=tuple((i & 1, i >> 1 & 1, i >> 2) for i in range(8)),
            corners=(_points(8), _CUBE_EDGES, _CUBE_FACES, (tuple(range(8)),)),
            vtk_order=(0, 1, 3, 2, 4, 5, 7, 6),
            vtk_type=12,
            meshio_name="hexahedron",
            _facet="quadrilateral",
        ),
    )
}
"""The kinds of cells of a `Mesh`, by name."""


def reference_cell(name: str) -> ReferenceCell:
    """Return the kind of cell of a name.

    Args:
        name: A key of `CELLS`.

    Raises:
        UsageError: The kind does not exist.

    Example:
        >>> reference_cell("triangle").facets
        ((1, 2), (0, 2), (0, 1))
    """
    try:
        return CELLS[name]
    except (KeyError, TypeError):
        raise UsageError(f"there is no cell {name!r}; there are: {', '.join(CELLS)}") from None
