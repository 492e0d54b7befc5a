# SPDX-License-Identifier: BSD-3-Clause
"""Meshes of simple shapes, with names for the parts of their boundaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pyop2cxx.base.arrays import is_integer
from pyop2cxx.base.waiting import waiting
from pyop2cxx.exceptions import UsageError
from pyop2cxx.mesh.mesh import Mesh

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    IntArray: TypeAlias = npt.NDArray[np.int64]

_SIDES = (("left", "right"), ("bottom", "top"), ("front", "back"))
# Kuhn's division: six tetrahedra around the diagonal from corner 0 to corner 7, for each order of
# the three edges on a path between them. Odd orders are turned, for positive volumes.
_TETS = ((0, 1, 3, 7), (0, 5, 1, 7), (0, 3, 2, 7), (0, 2, 6, 7), (0, 4, 5, 7), (0, 6, 4, 7))


def interval_mesh(
    n: int, start: float = 0.0, end: float = 1.0, *, periodic: str | bool = False
) -> Mesh:
    """Divide an interval.

    Args:
        n: The number of cells.
        start: Lower end, tagged "left".
        end: Upper end, tagged "right".
        periodic: Whether both ends are a single vertex: True or "x". Then there are no tags.

    Raises:
        UsageError: n is not positive, or the interval is empty.

    Example:
        >>> interval_mesh(4).coordinates.data_ro.tolist()
        [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    return _grid("interval_mesh", (n,), (start,), (end,), "interval", periodic)


def square_mesh(n: int, *, cell: str = "triangle", periodic: str | bool = False) -> Mesh:
    """Divide the unit square.

    Args:
        n: Squares per side; each becomes a quadrilateral or two triangles.
        cell: "triangle" or "quadrilateral".
        periodic: Periodic directions: "x", "y", "xy"; True means all. Opposite sides are then
            joined, and have no tags. Finite elements need two cells around.

    Returns:
        A mesh with the facet tags "left", "right", "bottom", "top".

    Raises:
        UsageError: n is not positive, or the cell does not exist.

    Example:
        >>> square_mesh(4)
        Mesh('square_mesh': 32 triangles, 25 vertices, 2-D, tags: left, right, bottom, top)
    """
    return _grid("square_mesh", (n, n), (0.0, 0.0), (1.0, 1.0), cell, periodic)


def rectangle_mesh(
    nx: int,
    ny: int,
    low: Sequence[float] = (0.0, 0.0),
    high: Sequence[float] = (1.0, 1.0),
    *,
    cell: str = "triangle",
    periodic: str | bool = False,
) -> Mesh:
    """Divide a rectangle; see `square_mesh`.

    Args:
        nx: Rectangles in x.
        ny: Rectangles in y.
        low: The lower left corner.
        high: The upper right corner.
        cell: "triangle" or "quadrilateral".
        periodic: As of `square_mesh`.

    Raises:
        UsageError: A number is not positive, the rectangle is empty, or the cell does not exist.

    Example:
        >>> rectangle_mesh(4, 2, high=(2.0, 1.0), cell="quadrilateral").cells.size
        8
    """
    return _grid("rectangle_mesh", (nx, ny), low, high, cell, periodic)


def cube_mesh(n: int, *, cell: str = "tetrahedron", periodic: str | bool = False) -> Mesh:
    """Divide the unit cube.

    Args:
        n: Cubes per side; each becomes a hexahedron or six tetrahedra.
        cell: "tetrahedron" or "hexahedron".
        periodic: Periodic directions of "xyz"; see `square_mesh`.

    Returns:
        A mesh with the facet tags "left", "right" (x), "bottom", "top" (y), "front", "back" (z).

    Raises:
        UsageError: n is not positive, or the cell does not exist.

    Example:
        >>> cube_mesh(2).cells.size, cube_mesh(2, cell="hexahedron").cells.size
        (48, 8)
    """
    return _grid("cube_mesh", (n, n, n), (0.0, 0.0, 0.0), (1.0, 1.0, 1.0), cell, periodic)


def box_mesh(
    nx: int,
    ny: int,
    nz: int,
    low: Sequence[float] = (0.0, 0.0, 0.0),
    high: Sequence[float] = (1.0, 1.0, 1.0),
    *,
    cell: str = "tetrahedron",
    periodic: str | bool = False,
) -> Mesh:
    """Divide a box; see `cube_mesh`.

    Args:
        nx: Boxes in x.
        ny: Boxes in y.
        nz: Boxes in z.
        low: The corner with the least coordinates.
        high: The corner with the greatest coordinates.
        cell: "tetrahedron" or "hexahedron".
        periodic: As of `cube_mesh`.

    Raises:
        UsageError: A number is not positive, the box is empty, or the cell does not exist.

    Example:
        >>> box_mesh(4, 1, 1, high=(4.0, 1.0, 1.0)).exterior_facets.tags["right"].size
        2
    """
    return _grid("box_mesh", (nx, ny, nz), low, high, cell, periodic)


def disk_mesh(n: int, radius: float = 1.0) -> Mesh:
    """Divide a disk around the origin into triangles, in rings of equal width.

    Args:
        n: The number of rings; ring ``i`` has ``6 * i`` vertices.
        radius: Radius of the disk.

    Returns:
        A mesh of ``6 * n * n`` triangles with the facet tag "rim".

    Raises:
        UsageError: n or the radius is not positive.

    Example:
        >>> disk_mesh(3).cells.size, disk_mesh(3).exterior_facets.tags["rim"].size
        (54, 18)
    """
    _check_counts("disk_mesh", (n,))
    if not radius > 0 or not np.isfinite(radius):
        raise UsageError(f"disk_mesh: the radius must be positive and finite, got {radius!r}")
    points, cells = [np.zeros((1, 2))], []
    for ring in range(1, n + 1):
        angle = np.arange(6 * ring) * (np.pi / (3 * ring))
        points.append(np.stack([np.cos(angle), np.sin(angle)], 1) * (radius * ring / n))
        cells.append(_ring_cells(ring))
    rim = _ring(n, np.arange(6 * n))
    return Mesh.from_arrays(
        "triangle",
        np.concatenate(points),
        np.concatenate(cells),
        facet_tags={"rim": np.stack([rim, np.roll(rim, -1)], 1)},
        name="disk_mesh",
    )


def _ring(ring: int, places: IntArray) -> IntArray:
    """Numbers of the vertices at places of a ring; ring 0 is the centre."""
    if ring == 0:
        return np.zeros_like(places)
    return 1 + 3 * ring * (ring - 1) + places % (6 * ring)


def _ring_cells(ring: int) -> IntArray:
    """Triangles between a ring and the next inner ring; int, shape (6 * (2 * ring - 1), 3)."""
    sector, step = np.divmod(np.arange(6 * ring), ring)
    outside = sector * ring + step
    inside = sector * (ring - 1) + step
    outward = np.stack([_ring(ring - 1, inside), _ring(ring, outside), _ring(ring, outside + 1)], 1)
    between = step < ring - 1
    inward = np.stack(
        [_ring(ring - 1, inside), _ring(ring, outside + 1), _ring(ring - 1, inside + 1)], 1
    )
    return np.concatenate([outward, inward[between]])


def _grid(
    what: str,
    counts: Sequence[int],
    low: Sequence[float],
    high: Sequence[float],
    cell: str,
    periodic: str | bool,
) -> Mesh:
    """Return a mesh of an axis-aligned box in as many dimensions as there are counts."""
    dim = len(counts)
    _check_counts(what, counts)
    kinds = (("interval",), ("triangle", "quadrilateral"), ("tetrahedron", "hexahedron"))[dim - 1]
    if cell not in kinds:
        raise UsageError(f"{what}: there is no cell {cell!r}; there are: {', '.join(kinds)}")
    if (
        len(low) != dim
        or len(high) != dim
        or not all(a < b for a, b in zip(low, high, strict=True))
    ):
        raise UsageError(
            f"{what}: low and high must be {dim} numbers each, low below high; got {tuple(low)} "
            f"and {tuple(high)}"
        )
    closed = _closed_axes(what, periodic, dim)
    ticks = [np.linspace(a, b, n + 1) for a, b, n in zip(low, high, counts, strict=True)]
    with waiting(f"{what}: making {' x '.join(map(str, counts))} boxes"):
        # Axes of arrays are reversed: the first coordinate runs fastest.
        points = np.stack([axis.ravel() for axis in _mesh_axes(ticks)], 1)
        vertex = np.arange(len(points)).reshape([n + 1 for n in reversed(counts)])
        cells = _cut(_corners(vertex), cell)
        sides = {
            name: _facets_of(vertex.take([at], axis=dim - 1 - axis).squeeze(dim - 1 - axis), cell)
            for axis in range(dim)
            if axis not in closed
            for name, at in zip(_SIDES[axis], (0, -1), strict=True)
        }
        ends = [vertex.take([-1, 0], axis=dim - 1 - axis) for axis in closed]
        seams = [
            np.moveaxis(end, dim - 1 - axis, -1).reshape(-1, 2)
            for axis, end in zip(closed, ends, strict=True)
        ]
    return Mesh.from_arrays(cell, points, cells, facet_tags=sides, periodic=seams, name=what)


def _closed_axes(what: str, periodic: str | bool, dim: int) -> list[int]:
    """Return the periodic directions of a mesh."""
    axes = "xyz"[:dim]
    given = (axes if periodic else "") if isinstance(periodic, bool) else periodic
    if not isinstance(given, str) or {*given} - {*axes} or len({*given}) < len(given):
        raise UsageError(
            f"{what}: periodic is True, False or directions of {axes!r}, got {periodic!r}"
        )
    return sorted(map(axes.index, given))


def _check_counts(what: str, counts: Sequence[int]) -> None:
    for n in counts:
        if not is_integer(n) or n < 1:
            raise UsageError(f"{what}: numbers of cells must be positive integers, got {n!r}")


def _mesh_axes(ticks: list[npt.NDArray[np.float64]]) -> list[npt.NDArray[np.float64]]:
    return list(reversed(np.meshgrid(*reversed(ticks), indexing="ij")))


def _corners(vertex: IntArray) -> IntArray:
    """The corners of each box of a grid in tensor order, shape (n_boxes, 2 ** dim)."""
    dim = vertex.ndim
    columns = []
    for corner in range(2**dim):
        shifts = [corner >> axis & 1 for axis in reversed(range(dim))]
        at = tuple(slice(s, n - 1 + s) for s, n in zip(shifts, vertex.shape, strict=True))
        columns.append(vertex[at].ravel())
    return np.stack(columns, 1)


def _cut(corners: IntArray, cell: str) -> IntArray:
    """Cut boxes into cells; the cells of a box are consecutive."""
    if cell == "triangle":
        return corners[:, [0, 1, 3, 0, 3, 2]].reshape(-1, 3)
    if cell == "tetrahedron":
        return corners[:, [corner for tet in _TETS for corner in tet]].reshape(-1, 4)
    return corners


def _facets_of(side: IntArray, cell: str) -> IntArray:
    """Rows of vertices of the facets on a side of the box."""
    if side.ndim == 0:
        return side.reshape(1, 1)
    boxes = _corners(side)
    return boxes[:, [0, 1, 3, 0, 3, 2]].reshape(-1, 3) if cell == "tetrahedron" else boxes
