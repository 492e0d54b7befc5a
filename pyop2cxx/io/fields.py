# SPDX-License-Identifier: BSD-3-Clause
"""Meshes with values as plain arrays in a single numbering, for picture files."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from pyop2cxx.base.arrays import distinct
from pyop2cxx.data.dats import Dat
from pyop2cxx.exceptions import DataTypeError, DatTypeError, UsageError
from pyop2cxx.mesh.mesh import Mesh
from pyop2cxx.mesh.nodes import on_mesh, vtk_places
from pyop2cxx.mesh.topology import refuse_shared
from pyop2cxx.sets.spread import by_first, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.mesh.cells import ReferenceCell
    from pyop2cxx.sets.sets import Set

Result = TypeVar("Result")

NUMBERINGS = ("original", "mesh")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A mesh and values, in the written form.

    Attributes:
        cell: The kind of cells.
        degree: Of the geometry, 1 or 2.
        points: Shape (n_nodes, 3), float.
        cells: Nodes of each cell in VTK's order, shape (n_cells, nodes of a cell), int64.
        on_points: Values at the nodes by name, shape (n_nodes,) or (n_nodes, n).
        on_cells: The same on the cells.
    """

    cell: ReferenceCell
    degree: int
    points: Array
    cells: Array
    on_points: Mapping[str, Array]
    on_cells: Mapping[str, Array]


def show(
    mesh: Mesh,
    fields: Mapping[str, Dat],
    numbering: str,
    what: str,
    write: Callable[[Shown], Result],
) -> Result | None:
    """Collect the arrays of a mesh with values, and write them.

    If processes share the mesh, all must call, and the first writes the whole mesh.

    Args:
        mesh: The mesh.
        fields: Dats on the vertices, nodes or cells, by their names in the file. Values at vertices
            of a periodic mesh go to both sides, and middles of curved edges get the mean of the
            ends.
        numbering: "original", of the mesh's source file; or "mesh", the present numbering.
        what: The function, for messages.
        write: Takes the arrays.

    Returns:
        The result of `write`; None on all ranks but the first.

    Raises:
        UsageError: The first argument is no mesh, a Dat is on another Set or was left out of a
            renumbering, or the numbering does not exist.
        DatTypeError: A field is not a Dat.
        DataTypeError: Values are complex.
        UnsupportedError: Processes share a curved or periodic mesh, and a Dat is on the vertices.
        RanksError: Other ranks write something else.
    """
    _check_all(mesh, fields, numbering, what)
    cells, nodes = mesh.cells, mesh.nodes
    numbers = np.asarray(mesh.cell_nodes.values, np.int64)
    rows = spread(cells, nodes.global_numbers[numbers] if cells.is_distributed else numbers)
    given = {name: _on_nodes(mesh, dat) for name, dat in fields.items()}
    points = spread(*_on_nodes(mesh, mesh.coordinates))
    spreads = {name: spread(on, values) for name, (on, values) in given.items()}

    def work() -> Result:
        is_original = numbering == "original"
        numbers = rows[:]
        way = nodes.reordering.order if is_original else None
        if way is not None:
            numbers = way[numbers]
        if is_original:
            numbers = _original(cells, numbers)
        values = {
            name: _flat(_original(given[name][0], one[:]) if is_original else one[:])
            for name, one in spreads.items()
        }
        where = _original(nodes, points[:]) if is_original else points[:]
        where = where.reshape(-1, mesh.gdim)
        on_cells = {name for name, (on, _) in given.items() if on is cells}
        return write(
            Shown(
                cell=mesh.cell,
                degree=mesh.degree,
                points=np.pad(where, ((0, 0), (0, 3 - where.shape[1]))),
                cells=np.ascontiguousarray(numbers[:, vtk_places(mesh.cell, mesh.degree)]),
                on_points={name: one for name, one in values.items() if name not in on_cells},
                on_cells={name: one for name, one in values.items() if name in on_cells},
            )
        )

    comm = cells.ranks if cells.is_distributed else None
    about = f"{what} of {', '.join(fields) or 'a mesh'}"
    return by_first(comm, [rows, points, *spreads.values()], work, about)


def shown(mesh: Mesh, fields: Mapping[str, Dat], numbering: str, what: str) -> Shown:
    """Collect the arrays of a mesh with values; errors as of `show`.

    Raises:
        UnsupportedError: Processes share the mesh.
    """
    if isinstance(mesh, Mesh):
        refuse_shared(mesh.cells, what, "write a file, by write_vtu or write_xdmf")
    found = show(mesh, fields, numbering, what, lambda one: one)
    assert found is not None
    return found


def piece(mesh: Mesh, fields: Mapping[str, Dat], numbering: str, what: str) -> Shown:
    """Collect the arrays of this process's cells, with numbers in the whole mesh.

    Args:
        mesh: As of `show`.
        fields: As of `show`.
        numbering: As of `show`, of the numbers; the cells are in the present order.
        what: As of `show`.
    """
    _check_all(mesh, fields, numbering, what)
    cells, nodes = mesh.cells, mesh.nodes
    rows = np.asarray(mesh.cell_nodes.values, np.int64)
    here = distinct(rows.ravel())
    on_points: dict[str, Array] = {}
    on_cells: dict[str, Array] = {}
    for name, dat in {"": mesh.coordinates, **fields}.items():
        on, values = _on_nodes(mesh, dat, ghosts=True)
        if on is cells:
            on_cells[name] = _flat(values[: cells.size])
        else:
            on_points[name] = _flat(values[here])
    points = on_points.pop("").reshape(-1, mesh.gdim)
    numbers = [nodes.global_numbers[here], cells.global_numbers[: cells.size]]
    for values, one, on in zip(numbers, (on_points, on_cells), (nodes, cells), strict=True):
        way = on.reordering.order if numbering == "original" else None
        one[f"{'point' if on is nodes else 'cell'}_numbers"] = (
            values if way is None else way[values]
        )
    places = np.searchsorted(here, rows[:, vtk_places(mesh.cell, mesh.degree)])
    return Shown(
        cell=mesh.cell,
        degree=mesh.degree,
        points=np.pad(points, ((0, 0), (0, 3 - points.shape[1]))),
        cells=np.ascontiguousarray(places),
        on_points=on_points,
        on_cells=on_cells,
    )


def _check_all(mesh: Mesh, fields: Mapping[str, Dat], numbering: str, what: str) -> None:
    check_fields(mesh, fields, what)
    if numbering not in NUMBERINGS:
        raise UsageError(f"{what}: numbering must be 'original' or 'mesh', got {numbering!r}")


def named(dats: tuple[Dat, ...], fields: Mapping[str, Dat], what: str) -> dict[str, Dat]:
    """Return Dats by the names given, or by their own; functions as Dats on their mesh.

    Raises:
        DatTypeError: An argument is not a Dat.
        UsageError: Two Dats have the same name.
    """
    found = {name: on_mesh(dat) for name, dat in fields.items()}
    for dat in map(on_mesh, dats):
        if not isinstance(dat, Dat):
            raise DatTypeError(f"{what}: expected a Dat, got {dat!r} of type {type(dat).__name__}")
        if dat.name in found:
            raise UsageError(f"{what}: two fields are called '{dat.name}'; name them by keywords")
        found[dat.name] = dat
    return found


def check_fields(mesh: Mesh, fields: Mapping[str, Dat], what: str) -> None:
    """Check for real fields on the vertices or cells of a mesh.

    Raises:
        UsageError: The argument is no mesh, or a Dat is on another Set or was left out of a
            renumbering.
        DatTypeError: A field is not a Dat.
        DataTypeError: Values are complex.
    """
    if not isinstance(mesh, Mesh):
        raise UsageError(f"{what}: expected a Mesh, got {mesh!r} of type {type(mesh).__name__}")
    for name, dat in fields.items():
        _check(mesh, name, dat, what)


def _check(mesh: Mesh, name: str, dat: object, what: str) -> None:
    if not isinstance(dat, Dat):
        raise DatTypeError(
            f"{what}: field '{name}' must be a Dat, got {dat!r} of type {type(dat).__name__}"
        )
    if dat.dataset.set not in (mesh.vertices, mesh.nodes, mesh.cells):
        raise UsageError(
            f"{what}: field '{name}' is on Set '{dat.dataset.set.name}'; files take values on "
            f"mesh.vertices, mesh.nodes or mesh.cells of {mesh!r}"
        )
    dat.refuse_left_out()
    if dat.dtype.kind == "c":
        raise DataTypeError(f"{what}: field '{name}' is complex; write its parts as two Dats")


def _on_nodes(mesh: Mesh, dat: Dat, ghosts: bool = False) -> tuple[Set, Array]:
    """Return the Set and the values of a Dat, moved from vertices to nodes; ghosts' if asked."""
    values: Array = np.asarray(dat.data_ro_with_halos if ghosts else dat.data_ro)
    on = dat.dataset.set
    if on is mesh.vertices and on is not mesh.nodes:
        return mesh.nodes, mesh.at_nodes(values)
    return on, values


def _original(on: Set, values: Array) -> Array:
    """Return values of all entities in the original numbers."""
    order = on.reordering.order
    if order is None:
        return values
    found = np.empty_like(values)
    found[order] = values
    return found


def _flat(values: Array) -> Array:
    return values.reshape(len(values), math.prod(values.shape[1:])) if values.ndim > 2 else values


def as_components(values: Array) -> Array:
    """Return vectors of two as vectors of three, the form of vectors in picture files."""
    if values.ndim == 2 and values.shape[1] == 2:
        return np.pad(values, ((0, 0), (0, 1)))
    if values.ndim == 2 and values.shape[1] == 1:
        return values[:, 0]
    return values
