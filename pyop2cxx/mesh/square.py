# SPDX-License-Identifier: BSD-3-Clause
"""The unit square cut into triangles: the small mesh of the examples and the tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx.exceptions import UsageError
from pyop2cxx.mesh.generate import rectangle_mesh
from pyop2cxx.mesh.mesh import Mesh

if TYPE_CHECKING:
    from pyop2cxx.mesh.airfoil import FloatArray, IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class SquareMesh:
    """Triangles of the unit square.

    Attributes:
        x: Vertex coordinates, shape (n_vertices, 2), float64, row by row from (0, 0).
        cell2vertex: Corners counter-clockwise, shape (n_cells, 3), int32.
        facet2vertex: Ends of the facets on the boundary, the square to their left, shape
            (n_facets, 2), int32.
        facet2cell: The cell inside each boundary facet, shape (n_facets,), int32.
    """

    x: FloatArray
    cell2vertex: IntArray
    facet2vertex: IntArray
    facet2cell: IntArray

    def __repr__(self) -> str:
        sizes = f"{len(self.cell2vertex)} triangles, {len(self.x)} vertices"
        return f"SquareMesh({sizes}, {len(self.facet2cell)} facets of the boundary)"

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return len(self.x)

    @property
    def n_cells(self) -> int:
        """Number of triangles."""
        return len(self.cell2vertex)

    @property
    def n_facets(self) -> int:
        """Number of boundary facets."""
        return len(self.facet2vertex)

    def to_mesh(self) -> Mesh:
        """Make a `Mesh` of the arrays, with the facet tag "boundary".

        Example:
            >>> square_arrays(2).to_mesh().exterior_facets.tags["boundary"].size
            8
        """
        return Mesh.from_arrays(
            "triangle",
            self.x,
            self.cell2vertex,
            facet_tags={"boundary": self.facet2vertex},
            name="unit_square_mesh",
        )


def unit_square_mesh(nx: int, ny: int | None = None) -> Mesh:
    """Divide the unit square into triangles; see `rectangle_mesh`.

    Args:
        nx: Squares in x, each of two triangles.
        ny: Squares in y; None means as many.

    Returns:
        A mesh with the facet tags "left", "right", "bottom", "top".

    Raises:
        UsageError: A number is not positive.

    Example:
        >>> unit_square_mesh(4, 2).cells.size
        16
    """
    return rectangle_mesh(nx, nx if ny is None else ny)


def square_arrays(n: int) -> SquareMesh:
    """Cut the unit square into n x n squares, each along the rising diagonal.

    Args:
        n: Squares a side.

    Returns:
        A mesh of ``2 * n * n`` triangles and ``4 * n`` boundary facets.

    Raises:
        UsageError: n is not positive.

    Example:
        >>> mesh = square_arrays(4)
        >>> mesh.n_vertices, mesh.n_cells, mesh.n_facets
        (25, 32, 16)
    """
    if n < 1:
        raise UsageError(f"square_arrays: n must be at least 1, got {n}")
    ticks = np.linspace(0.0, 1.0, n + 1)
    x = np.stack([np.tile(ticks, n + 1), np.repeat(ticks, n + 1)], 1)
    vertex = np.arange((n + 1) ** 2, dtype=np.int32).reshape(n + 1, n + 1)
    low_left, low_right = vertex[:-1, :-1], vertex[:-1, 1:]
    top_left, top_right = vertex[1:, :-1], vertex[1:, 1:]
    below = np.stack([low_left, low_right, top_right], -1)
    above = np.stack([low_left, top_right, top_left], -1)
    cell = np.arange(2 * n * n, dtype=np.int32).reshape(n, n, 2)
    bottom = np.stack([vertex[0, :-1], vertex[0, 1:]], 1)
    right = np.stack([vertex[:-1, -1], vertex[1:, -1]], 1)
    top = np.stack([vertex[-1, 1:], vertex[-1, :-1]], 1)[::-1]
    left = np.stack([vertex[1:, 0], vertex[:-1, 0]], 1)[::-1]
    inside = [cell[0, :, 0], cell[:, -1, 0], cell[-1, ::-1, 1], cell[::-1, 0, 1]]
    return SquareMesh(
        x=x,
        cell2vertex=np.stack([below, above], 2).reshape(-1, 3),
        facet2vertex=np.concatenate([bottom, right, top, left]),
        facet2cell=np.concatenate(inside),
    )
