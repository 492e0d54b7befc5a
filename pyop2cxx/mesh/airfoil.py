# SPDX-License-Identifier: BSD-3-Clause
"""The C-mesh of quadrilaterals around a NACA0012 section, used by the airfoil demo.

The square root maps the outside of the section and its wake cut to a half plane. There the mesh is
a uniform grid of ``3 * n_around`` columns and ``n_away`` rows, whose bottom row follows the mapped
section in its middle third and the two sides of the wake in the outer thirds. Squaring the grid
gives the physical mesh.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pyop2cxx.exceptions import UsageError
from pyop2cxx.mesh.cells import reference_cell
from pyop2cxx.mesh.mesh import Mesh

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int32]

WALL = 1
FAR_FIELD = 2

# Thickness polynomial of the section over sqrt(c), c, c^2, c^3, c^4, with the chord scaled to close
# the section at c = 1, and the nose radius for the branch point of the root.
_THICKNESS_SCALE = 0.594689181
_THICKNESS = (0.298222773, 0.127125232, 0.357907906, 0.291984971, 0.105174696)
_BRANCH_POINT = 0.0077
_HALF_WIDTH = 3.0
_HEIGHT = 3.0
_SECTION_POINTS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class AirfoilMesh:
    """A mesh of quadrilateral cells with interior edges and boundary edges.

    An edge's flux is subtracted from the first cell and added to the second, so the order of the
    columns carries the orientation.

    Attributes:
        x: Node coordinates, shape (n_nodes, 2), float64.
        cell2node: Corners in cyclic order, shape (n_cells, 4), int32.
        edge2node: Ends of interior edges, shape (n_edges, 2), int32.
        edge2cell: Cells beside interior edges, shape (n_edges, 2), int32.
        bedge2node: Ends of boundary edges, shape (n_bedges, 2), int32.
        bedge2cell: The cell inside a boundary edge, shape (n_bedges,), int32.
        bound: `WALL` or `FAR_FIELD` of each boundary edge, shape (n_bedges,), int32.
    """

    x: FloatArray
    cell2node: IntArray
    edge2node: IntArray
    edge2cell: IntArray
    bedge2node: IntArray
    bedge2cell: IntArray
    bound: IntArray

    def __repr__(self) -> str:
        sizes = f"{len(self.cell2node)} cells, {len(self.x)} nodes, {len(self.edge2node)} edges"
        return f"AirfoilMesh({sizes}, {len(self.bound)} edges of the boundary)"

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.x)

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.cell2node)

    @property
    def n_edges(self) -> int:
        """Number of interior edges."""
        return len(self.edge2node)

    @property
    def n_bedges(self) -> int:
        """Number of boundary edges."""
        return len(self.bound)

    def arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """The arrays by name, in the order of the attributes."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def to_mesh(self) -> Mesh:
        """Make a `Mesh` of the arrays, with the facet tags "wall" and "far field".

        Both sides of the cut behind the section have separate nodes here, at the same places; the
        `Mesh` joins them, so cells on both sides are neighbours.

        Example:
            >>> mesh = airfoil_arrays(8, 4).to_mesh()
            >>> mesh.cells.size, mesh.exterior_facets.tags["wall"].size
            (96, 8)
        """
        _, first, place = np.unique(self.x, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first)
        number = np.empty_like(order)
        number[order] = np.arange(len(order))
        vertex = number[place.reshape(-1)]
        corners = self.cell2node[:, list(reference_cell("quadrilateral").vtk_order)]
        return Mesh.from_arrays(
            "quadrilateral",
            self.x[first[order]],
            vertex[corners],
            facet_tags={
                "wall": vertex[self.bedge2node[self.bound == WALL]],
                "far field": vertex[self.bedge2node[self.bound == FAR_FIELD]],
            },
            name="airfoil_mesh",
        )


def airfoil_mesh(n_around: int, n_away: int, *, shuffle: int | None = None) -> Mesh:
    """Generate the mesh around the section, with the facet tags "wall" and "far field".

    Args:
        n_around: As of `airfoil_arrays`.
        n_away: As of `airfoil_arrays`.
        shuffle: As of `airfoil_arrays`.

    Returns:
        A mesh with ``3 * n_around * n_away`` quadrilaterals.

    Raises:
        UsageError: A count is too small to form the mesh.

    Example:
        >>> airfoil_mesh(8, 4).cells.size
        96
    """
    return airfoil_arrays(n_around, n_away, shuffle=shuffle).to_mesh()


def airfoil_arrays(n_around: int, n_away: int, *, shuffle: int | None = None) -> AirfoilMesh:
    """Generate the arrays of the mesh around the section.

    Coordinates are rounded to six decimals, so runs from the arrays and runs from the text format
    see the same bits.

    Args:
        n_around: Cells along the section; the mesh has three times as many columns.
        n_away: Rows of cells from the section to the far field.
        shuffle: Seed of a random renumbering of nodes, cells and edges; None keeps the natural
            order.

    Returns:
        A mesh with ``3 * n_around * n_away`` cells.

    Raises:
        UsageError: A count is too small to form the mesh.

    Example:
        >>> mesh = airfoil_arrays(40, 50)
        >>> mesh.n_cells, mesh.n_edges, mesh.n_bedges
        (6000, 11870, 260)
    """
    if n_around < 2 or n_away < 2:
        raise UsageError(
            f"airfoil_arrays: n_around and n_away must be at least 2, got {n_around} and {n_away}"
        )
    n_columns = 3 * n_around
    node = _numbered(n_away + 1, n_columns + 1)
    cell = _numbered(n_away, n_columns)
    edges = _interior_edges(n_around, node, cell)
    bedges = _boundary_edges(n_around, node, cell)
    corners = np.stack([node[:-1, :-1], node[:-1, 1:], node[1:, 1:], node[1:, :-1]], -1)
    mesh = AirfoilMesh(
        x=_rounded(_coordinates(n_around, n_away)),
        cell2node=corners.reshape(-1, 4),
        edge2node=np.ascontiguousarray(edges[:, :2]),
        edge2cell=np.ascontiguousarray(edges[:, 2:]),
        bedge2node=np.ascontiguousarray(bedges[:, :2]),
        bedge2cell=np.ascontiguousarray(bedges[:, 2]),
        bound=np.ascontiguousarray(bedges[:, 3]),
    )
    return mesh if shuffle is None else shuffle_mesh(mesh, shuffle)


def shuffle_mesh(mesh: AirfoilMesh, seed: int) -> AirfoilMesh:
    """Renumber nodes, cells and interior edges at random: the worst case for locality.

    Args:
        mesh: The mesh to renumber; unchanged.
        seed: Seed of the permutations.

    Returns:
        The same mesh in another numbering.

    Example:
        >>> mesh = airfoil_arrays(4, 3)
        >>> sorted(shuffle_mesh(mesh, 1).x[:, 0].tolist()) == sorted(mesh.x[:, 0].tolist())
        True
    """
    random = np.random.default_rng(seed)
    new_node, new_cell, old_edge = (
        random.permutation(n).astype(np.int32) for n in (mesh.n_nodes, mesh.n_cells, mesh.n_edges)
    )
    x = np.empty_like(mesh.x)
    x[new_node] = mesh.x
    cell2node = np.empty_like(mesh.cell2node)
    cell2node[new_cell] = new_node[mesh.cell2node]
    return AirfoilMesh(
        x=x,
        cell2node=cell2node,
        edge2node=new_node[mesh.edge2node][old_edge],
        edge2cell=new_cell[mesh.edge2cell][old_edge],
        bedge2node=new_node[mesh.bedge2node],
        bedge2cell=new_cell[mesh.bedge2cell],
        bound=mesh.bound,
    )


def free_stream() -> FloatArray:
    """The undisturbed flow: density, momentum and energy per volume at Mach 0.4, shape (4,).

    The constants are single-precision literals widened to double, as in the kernels.

    Example:
        >>> free_stream().shape
        (4,)
    """
    gam, mach = (float(np.float32(value)) for value in (1.4, 0.4))
    speed = np.sqrt(gam) * mach
    return np.array([1.0, speed, 0.0, 1.0 / (gam - 1.0) + 0.5 * speed**2])


def _numbered(n_rows: int, n_columns: int) -> IntArray:
    return np.arange(n_rows * n_columns, dtype=np.int32).reshape(n_rows, n_columns)


def _interior_edges(n_around: int, node: IntArray, cell: IntArray) -> IntArray:
    """Rows (node, node, cell, cell), shape (n_edges, 4), in the order of their cells."""
    n_away, n_columns = cell.shape
    # Per cell the edge across the wake cut, the upper side and the right side, where they exist.
    slots = np.full((n_away, n_columns, 3, 4), -1, np.int32)
    below, above = node[0, :n_around], node[0, 1 : n_around + 1]
    across_cut = cell[0, ::-1][:n_around]
    slots[0, :n_around, 0] = np.stack([below, above, across_cut, cell[0, :n_around]], -1)
    slots[:-1, :, 1] = np.stack([node[1:-1, :-1], node[1:-1, 1:], cell[:-1], cell[1:]], -1)
    slots[:, :-1, 2] = np.stack([node[:-1, 1:-1], node[1:, 1:-1], cell[:, 1:], cell[:, :-1]], -1)
    edges = slots.reshape(-1, 4)
    return edges[edges[:, 0] >= 0]


def _boundary_edges(n_around: int, node: IntArray, cell: IntArray) -> IntArray:
    """Rows (node, node, cell, bound), shape (n_bedges, 4): section, outflow, top, outflow."""
    n_away, n_columns = cell.shape
    first, last = n_around, 2 * n_around

    def side(start: IntArray, end: IntArray, inside: IntArray, bound: int) -> IntArray:
        return np.stack([start, end, inside, np.full(len(inside), bound, np.int32)], 1)

    section = slice(first, last)
    wall = side(node[0, first + 1 : last + 1], node[0, section], cell[0, section], WALL)
    east = side(node[1:, n_columns], node[:-1, n_columns], cell[:, n_columns - 1], FAR_FIELD)
    top = side(node[n_away, :-1], node[n_away, 1:], cell[n_away - 1], FAR_FIELD)
    west = side(node[:-1, 0], node[1:, 0], cell[:, 0], FAR_FIELD)
    return np.concatenate([wall, east, top[::-1], west[::-1]])


def _coordinates(n_around: int, n_away: int) -> FloatArray:
    """Node coordinates before rounding, shape (n_nodes, 2), row by row from the section."""
    section = _mapped_section()
    xi = np.linspace(-_HALF_WIDTH, _HALF_WIDTH, 3 * n_around + 1)
    bottom = np.zeros_like(xi)
    on_section = slice(n_around + 1, 2 * n_around)
    bottom[on_section] = _not_a_knot(section.real, section.imag, xi[on_section])
    fraction = np.arange(n_away + 1)[:, None] / n_away
    eta = bottom[None, :] + fraction * (_HEIGHT - bottom[None, :])
    eta[-1] = _HEIGHT
    z = (xi[None, :] + 1j * eta) ** 2
    return np.stack([z.real.ravel(), z.imag.ravel()], 1)


def _mapped_section() -> npt.NDArray[np.complex128]:
    """The section in the mapped plane, from the lower trailing edge over the nose to the upper."""
    chord = np.sin(np.linspace(0, np.pi / 2, _SECTION_POINTS)) ** 2
    a0, a1, a2, a3, a4 = _THICKNESS
    polynomial = a0 * np.sqrt(chord) - a1 * chord - a2 * chord**2 + a3 * chord**3 - a4 * chord**4
    thickness = _THICKNESS_SCALE * polynomial
    thickness[-1] = 0.0
    upper = np.sqrt((chord - _BRANCH_POINT) + 1j * thickness)
    return np.concatenate([-np.conj(upper[::-1]), upper[1:]])


def _not_a_knot(knots: FloatArray, values: FloatArray, x: FloatArray) -> FloatArray:
    """Evaluate the not-a-knot cubic spline; written out, to keep the bits."""
    n = len(knots)
    h = np.diff(knots)
    slope = np.diff(values) / h
    matrix = np.zeros((n, n))
    rhs = np.zeros(n)
    i = np.arange(1, n - 1)
    matrix[i, i - 1], matrix[i, i], matrix[i, i + 1] = h[:-1], 2 * (h[:-1] + h[1:]), h[1:]
    rhs[1:-1] = 6 * np.diff(slope)
    matrix[0, :3] = h[1], -(h[0] + h[1]), h[0]
    matrix[-1, -3:] = h[-1], -(h[-2] + h[-1]), h[-2]
    second = np.linalg.solve(matrix, rhs)
    k = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, n - 2)
    t = x - knots[k]
    linear = slope[k] - h[k] * (2 * second[k] + second[k + 1]) / 6
    cubic = (second[k + 1] - second[k]) / (6 * h[k])
    result: FloatArray = values[k] + t * (linear + t * (second[k] / 2 + t * cubic))
    return result


def _rounded(x: FloatArray) -> FloatArray:
    """The doubles a "%f" text file gives back, without negative zeros."""
    return np.rint(x * 1e6) / 1e6 + 0.0
