# SPDX-License-Identifier: BSD-3-Clause
"""Checked input arrays of a mesh, with nodes, vertices and seams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx.base.arrays import distinct, distinct_numbers, plain_array
from pyop2cxx.exceptions import DataValueError, UsageError
from pyop2cxx.mesh.duplicates import first_alike
from pyop2cxx.mesh.nodes import degree_of, node_corners
from pyop2cxx.mesh.periodic import images, joined
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.data.renumber import Renumbering
    from pyop2cxx.mesh.cells import ReferenceCell
    from pyop2cxx.sets.sets import Set


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The contents of the caller's arrays.

    Attributes:
        points: Where nodes are, shape (n_nodes, gdim).
        nodes: The nodes of each cell, shape (n_cells, nodes of a cell).
        vertices: The vertices of each cell, shape (n_cells, corners).
        n_vertices: How many there are.
        vertex_of: The vertex of each node, shape (n_nodes,); -1 where a node is none. None if
            nodes are the vertices.
        images: Joined nodes in each seam, as of `periodic.images`.
        is_by_corner: Whether points were given for each corner of each cell.
    """

    points: Array
    nodes: Array
    vertices: Array
    n_vertices: int
    vertex_of: Array | None
    images: Sequence[Array]
    is_by_corner: bool

    @property
    def is_closed(self) -> bool:
        """Whether facets on two sides may be joined."""
        return self.is_by_corner or bool(self.images)


def given_arrays(
    cell: ReferenceCell,
    points: npt.ArrayLike,
    cells: npt.ArrayLike,
    periodic: Sequence[npt.ArrayLike],
    name: str,
) -> Given:
    """Check the arrays of `Mesh.from_arrays`; arguments as there."""
    where = _as_points(points, cell.name, cell.tdim, name)
    if where.ndim == 3:
        if len(periodic):
            raise UsageError(f"{name}: points for each corner say what is joined; omit periodic")
        return _by_corner(where, cells, cell, name)
    rows = _as_cells(cells, cell, len(where), name)
    corners = rows[:, : cell.n_vertices]
    to = images(periodic, len(where), name)
    if rows.shape[1] == cell.n_vertices and not to:
        _say_unused(corners, len(where), name)
        return _given(where, rows, corners, len(where), None)
    here = [np.flatnonzero(image >= 0) for image in to]
    there = [image[nodes] for image, nodes in zip(to, here, strict=True)]
    none = np.zeros(0, np.int64)
    classes = joined(len(where), np.concatenate([none, *here]), np.concatenate([none, *there]))
    used = distinct(classes[corners])
    number = np.full(len(where), -1)
    number[used] = np.arange(len(used))
    vertex_of = np.full(len(where), -1)
    vertex_of[corners] = number[classes[corners]]
    return _given(where, rows, vertex_of[corners], len(used), vertex_of, to)


def _given(
    points: Array,
    nodes: Array,
    vertices: Array,
    n_vertices: int,
    vertex_of: Array | None,
    to: Sequence[Array] = (),
    is_by_corner: bool = False,
) -> Given:
    return Given(
        points=points,
        nodes=nodes,
        vertices=vertices.astype(np.int32),
        n_vertices=n_vertices,
        vertex_of=vertex_of,
        images=to,
        is_by_corner=is_by_corner,
    )


def _by_corner(where: Array, cells: npt.ArrayLike, cell: ReferenceCell, name: str) -> Given:
    """Take points for each corner of each cell: a node is a vertex at a place."""
    given = plain_array(cells, f"{name}: cells")
    n_vertices = int(given.max(initial=-1)) + 1 if given.dtype.kind in "iu" else 0
    rows = as_rows(given, cell.n_vertices, n_vertices, f"{name}: cells")
    _check_corners(rows, cell.name, f"{name}: cells")
    degree = degree_of(cell, where.shape[1])
    if len(where) != len(rows) or not degree:
        raise DataValueError(
            f"{name}: points for each corner have shape ({len(rows)}, {cell.n_vertices}, gdim), "
            f"got {where.shape}"
        )
    # Vertices stand for a node with several corners, too, in ascending order.
    subsets = node_corners(cell, degree)
    keys = np.full((*where.shape[:2], 1 + max(map(len, subsets))), -1, np.int64)
    for k, corners in enumerate(subsets):
        keys[:, k, : len(corners)] = np.sort(rows[:, list(corners)], axis=1)
    flat = where.reshape(-1, where.shape[2])
    places = np.stack([distinct_numbers(column + 0.0)[1] for column in flat.T], axis=1)
    whole = np.concatenate([keys.reshape(len(flat), -1), places], axis=1)
    _, first, which = np.unique(whole, axis=0, return_index=True, return_inverse=True)
    nodes = which.reshape(where.shape[:2])
    at_corners = nodes[:, : cell.n_vertices]
    _check_once(at_corners, f"{name}: cells")
    vertex_of = np.full(len(first), -1)
    vertex_of[at_corners] = rows
    return _given(flat[first], nodes, rows, n_vertices, vertex_of, is_by_corner=True)


def _say_unused(rows: Array, n_vertices: int, name: str) -> None:
    n = n_vertices - len(distinct(rows))
    if n:
        runtime.logger.warning(
            "%s: %d of %d vertices belong to no cell; what is computed there stays zero, and the "
            "matrix of a form on vertices is singular",
            name,
            n,
            n_vertices,
        )


def as_mixed(
    points: npt.ArrayLike,
    cells: Mapping[str, npt.ArrayLike],
    n_corners: Mapping[str, int],
    tdim: int,
    name: str,
) -> tuple[Array, dict[str, Array]]:
    """Check points, and cells of several kinds with the given numbers of corners."""
    where = _as_points(points, "mixed", tdim, name)
    if where.ndim != 2:
        raise DataValueError(f"{name}: points have shape (n_vertices, gdim), got {where.shape}")
    rows = {}
    for kind, given in cells.items():
        what = f"{name}: {kind} cells"
        found = as_rows(given, n_corners[kind], len(where), what)
        _check_corners(found, kind, what)
        _check_once(found, what)
        rows[kind] = found.astype(np.int32)
    _say_unused(np.concatenate([part.ravel() for part in rows.values()]), len(where), name)
    return where, rows


def _as_points(points: npt.ArrayLike, kind: str, tdim: int, name: str) -> Array:
    given = plain_array(points, f"{name}: points")
    if given.dtype.kind not in "iuf":
        raise DataValueError(f"{name}: points must be real numbers, got {given.dtype}")
    dtype = np.float32 if given.dtype == np.float32 else np.float64
    found = np.array(given, dtype, order="C")  # a copy: renumbering moves the points
    if found.ndim == 1 and tdim == 1:
        found = found[:, None]
    if found.ndim not in (2, 3) or not tdim <= found.shape[-1] <= 3:
        raise DataValueError(
            f"{name}: points of {kind} cells have shape (n_vertices, gdim) with gdim "
            f"{tdim} to 3, or (n_cells, corners, gdim), got {found.shape}"
        )
    is_finite = np.isfinite(found).reshape(len(found), -1).all(axis=1)
    if not is_finite.all():
        bad = int(np.argmin(is_finite))
        raise DataValueError(f"{name}: point {bad} is not finite: {found[bad].tolist()}")
    return found


def _as_cells(cells: npt.ArrayLike, cell: ReferenceCell, n_vertices: int, name: str) -> Array:
    what = f"{name}: cells"
    given = plain_array(cells, f"{name}: cells")
    is_curved = given.ndim == 2 and degree_of(cell, given.shape[1]) == 2
    found = as_rows(given, given.shape[1] if is_curved else cell.n_vertices, n_vertices, what)
    _check_corners(found, cell.name, what)
    _check_once(found[:, : cell.n_vertices], what)
    return found.astype(np.int32)


def _check_corners(rows: Array, kind: str, what: str) -> None:
    if len(rows) == 0:
        raise DataValueError(f"{what}: there is none")
    ordered = np.sort(rows, axis=1)
    is_twice = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    if is_twice.any():
        bad = int(np.argmax(is_twice))
        raise DataValueError(
            f"{what}: cell {bad} names a vertex twice: {rows[bad].tolist()}; a {kind} has "
            f"{rows.shape[1]} different ones. A cell that closes on itself needs vertices on "
            "both sides, joined by periodic="
        )


def _check_once(rows: Array, what: str) -> None:
    """Refuse duplicate cells: cells keep the caller's numbers, so none can be left out."""
    first = first_alike(rows)
    again = np.flatnonzero(first != np.arange(len(rows)))
    if again.size:
        a, b = int(first[again[0]]), int(again[0])
        raise DataValueError(
            f"{what}: cells {a} and {b} have the same vertices: {rows[a].tolist()} and "
            f"{rows[b].tolist()}; {again.size} of {len(rows)} are given again and would count "
            "twice: take them out. If the mesh closes on itself after two cells, give points for "
            "each corner of each cell, shape (n_cells, corners, gdim)"
        )


def as_rows(rows: npt.ArrayLike, width: int, n_vertices: int, what: str) -> Array:
    """Return rows of vertices, checked: integers of shape (n, width), 0 to n_vertices - 1."""
    found = plain_array(rows, what)
    if found.size == 0:
        return np.empty((0, width), np.int32)
    if found.dtype.kind not in "iu" or found.ndim != 2 or found.shape[1] != width:
        raise DataValueError(
            f"{what}: expected integers of shape (n, {width}), got {found.dtype} of shape "
            f"{found.shape}"
        )
    if found.min() < 0 or found.max() >= n_vertices:
        is_wrong = ((found < 0) | (found >= n_vertices)).any(axis=1)
        bad = int(np.argmax(is_wrong))
        raise DataValueError(
            f"{what}: row {bad} names vertices {found[bad].tolist()}, there are 0 to "
            f"{n_vertices - 1}; is the numbering from 1?"
        )
    return found


def as_numbers(given: npt.ArrayLike, on: Set, way: Renumbering | None, what: str) -> Array:
    """Return numbers of cells, checked, as they are after a renumbering."""
    found = plain_array(given, what)
    if found.size == 0:
        found = found.astype(np.int64)
    if found.dtype.kind not in "iu" or found.ndim != 1:
        raise DataValueError(
            f"{what}: expected numbers of cells, shape (n,), got {found.dtype} of shape "
            f"{found.shape}"
        )
    if found.size and (found.min() < 0 or found.max() >= on.size):
        raise DataValueError(
            f"{what}: there is no cell {found.min() if found.min() < 0 else found.max()}; there "
            f"are 0 to {on.size - 1}"
        )
    return found if way is None else new_numbers(way, on)[found]


def new_numbers(way: Renumbering, on: Set) -> Array:
    """Return the present numbers, indexed by the given numbers."""
    numbers: Array = way.to_original(np.arange(on.size), on)
    return numbers
