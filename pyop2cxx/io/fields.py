# SPDX-License-Identifier: BSD-3-Clause
"""Meshes with values as plain arrays in a single numbering, for picture files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx.data.dats import Dat
from pyop2cxx.exceptions import DataTypeError, DatTypeError, UsageError
from pyop2cxx.mesh.mesh import Mesh
from pyop2cxx.mesh.nodes import on_mesh, vtk_places

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.mesh.cells import ReferenceCell

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


def shown(mesh: Mesh, fields: Mapping[str, Dat], numbering: str, what: str) -> Shown:
    """Collect the written arrays.

    Args:
        mesh: The mesh.
        fields: Dats on the vertices, nodes or cells, by their names in the file. Values at vertices
            of a periodic mesh go to both sides, and middles of curved edges get the mean of the
            ends.
        numbering: "original", of the mesh's source file; or "mesh", the present numbering.
        what: The function, for messages.

    Raises:
        UsageError: The first argument is no mesh, a Dat is on another Set or was left out of a
            renumbering, or the numbering does not exist.
        DatTypeError: A field is not a Dat.
        DataTypeError: Values are complex.
    """
    check_fields(mesh, fields, what)
    if numbering not in NUMBERINGS:
        raise UsageError(f"{what}: numbering must be 'original' or 'mesh', got {numbering!r}")
    is_original, nodes = numbering == "original", mesh.nodes
    rows = np.asarray(mesh.cell_nodes.values, np.int64)
    points = _values_of(mesh, mesh.coordinates, is_original).reshape(nodes.size, -1)
    if is_original:
        order = nodes.reordering.order
        rows = mesh.to_original(rows if order is None else order[rows], mesh.cells)
    given = {name: _values_of(mesh, dat, is_original) for name, dat in fields.items()}
    on_cells = {name for name, dat in fields.items() if dat.dataset.set is mesh.cells}
    return Shown(
        cell=mesh.cell,
        degree=mesh.degree,
        points=np.pad(points, ((0, 0), (0, 3 - points.shape[1]))),
        cells=np.ascontiguousarray(rows[:, vtk_places(mesh.cell, mesh.degree)]),
        on_points={name: values for name, values in given.items() if name not in on_cells},
        on_cells={name: values for name, values in given.items() if name in on_cells},
    )


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


def _values_of(mesh: Mesh, dat: Dat, is_original: bool) -> Array:
    values: Array = np.asarray(dat.data_ro)
    on = dat.dataset.set
    if on is mesh.vertices and on is not mesh.nodes:
        values, on = mesh.at_nodes(values), mesh.nodes
    if is_original:
        values = mesh.to_original(values, on)
    return values.reshape(len(values), -1) if values.ndim > 2 else values


def as_components(values: Array) -> Array:
    """Return vectors of two as vectors of three, the form of vectors in picture files."""
    if values.ndim == 2 and values.shape[1] == 2:
        return np.pad(values, ((0, 0), (0, 1)))
    if values.ndim == 2 and values.shape[1] == 1:
        return values[:, 0]
    return values
