# SPDX-License-Identifier: BSD-3-Clause
"""UGRID: meshes and values in netCDF files, as datasets of xarray.

Convention: UGRID 1.0, https://ugrid-conventions.github.io/ugrid-conventions
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyop2cxx.base import extras
from pyop2cxx.base.files import as_path, replacing
from pyop2cxx.data.dats import Dat
from pyop2cxx.exceptions import MeshFileError, UnsupportedError, UsageError
from pyop2cxx.io.fields import Shown, named, show, shown
from pyop2cxx.mesh.cells import CELLS
from pyop2cxx.mesh.mesh import Mesh
from pyop2cxx.mesh.nodes import vtk_places

if TYPE_CHECKING:
    from pyop2cxx.base.arrays import Array

_CELLS = ("", "edge", "face", "volume")
"""UGRID's name of the cells, by topological dimension."""
_AXES = ("x", "y", "z")


def to_ugrid(mesh: Mesh, *dats: Dat, numbering: str = "original", **fields: Dat) -> Any:
    """Return a mesh with values as a dataset of xarray, by the convention UGRID 1.0.

    Values are copied. Tags have no place in UGRID. A periodic mesh is cut open, with points on
    both sides.

    Args:
        mesh: The mesh.
        *dats: Dats on the vertices or cells, stored by name; or functions, by `fem.on_mesh`.
        numbering: "original", of the mesh's source file; or "mesh", the present numbering.
        **fields: More Dats, by the names in the dataset.

    Returns:
        An ``xarray.Dataset`` with the topology in the variable ``mesh``.

    Raises:
        UsageError: A Dat is on another Set, or two have the same name.
        DatTypeError: An argument is not a Dat.
        DataTypeError: Values are complex.
        UnsupportedError: The mesh is curved.
        MissingExtraError: xarray is not installed.
    """
    what = "to_ugrid"
    return _dataset(mesh, shown(mesh, named(dats, fields, what), numbering, what), what)


def write_ugrid(
    path: str | os.PathLike[str],
    mesh: Mesh,
    *dats: Dat,
    numbering: str = "original",
    **fields: Dat,
) -> None:
    """Write a mesh with values as a netCDF file, by the convention UGRID; whole or not at all.

    Args:
        path: The file, ending in .nc.
        mesh: The mesh.
        *dats: As of `to_ugrid`.
        numbering: As of `to_ugrid`.
        **fields: As of `to_ugrid`.

    Raises:
        UsageError: The path has another ending; or as of `to_ugrid`.
        DatTypeError, DataTypeError, UnsupportedError: As of `to_ugrid`.
        MissingExtraError: xarray or h5netcdf is not installed.
        OSError: The file cannot be written.

    Example:
        >>> import tempfile
        >>> from pyop2cxx import op2
        >>> from pyop2cxx.mesh import square_mesh
        >>> mesh = square_mesh(2)
        >>> depth = op2.Dat(mesh.cells, 3.0, name="depth")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_ugrid(f"{folder}/a.nc", mesh, depth)
        ...     again, values = read_ugrid(f"{folder}/a.nc")
        >>> again, values["depth"].sum()
        (Mesh('a': 8 triangles, 9 vertices, 2-D), 24.0)
    """
    if as_path(path).suffix != ".nc":
        raise UsageError(f"write_ugrid: the file must end in .nc, got {os.fspath(path)!r}")
    extras.load("h5netcdf", "write_ugrid()")
    what, whole = "write_ugrid", named(dats, fields, "write_ugrid")
    show(mesh, whole, numbering, what, lambda found: _write(path, _dataset(mesh, found, what)))


def _write(path: str | os.PathLike[str], found: Any) -> None:
    for variable in found.variables.values():
        variable.encoding["_FillValue"] = None
    with replacing(path) as temporary:
        found.to_netcdf(temporary, engine="h5netcdf")


def read_ugrid(
    source: str | os.PathLike[str] | Any, *, renumber: bool = True, name: str | None = None
) -> tuple[Mesh, dict[str, Dat]]:
    """Read a mesh, and the values on vertices and cells, from a netCDF file with UGRID.

    Args:
        source: The file; or an ``xarray.Dataset``, for example a single time of a longer file.
        renumber: Whether cells and vertices are renumbered for locality. Values follow.
        name: Name of the mesh in messages; by default the name of the file.

    Returns:
        The mesh; and for each variable with a ``location`` on the mesh a Dat. Further dimensions of
        a variable become the dim of the Dat.

    Raises:
        FileNotFoundError: The file does not exist.
        MeshFileError: The file is no netCDF file, has no topology or several, or cells of other
            kinds or of several kinds.
        DataValueError: The contents are inconsistent.
        MissingExtraError: xarray or h5netcdf is not installed.
    """
    xarray = extras.load("xarray", "read_ugrid()")
    if isinstance(source, xarray.Dataset):
        return _read(source, "read_ugrid", renumber, name or "mesh")
    place = as_path(source)
    if not place.is_file():
        raise FileNotFoundError(f"read_ugrid: there is no file {os.fspath(source)!r}")
    extras.load("h5netcdf", "read_ugrid()")
    try:
        file = xarray.open_dataset(place, decode_times=False)
    except (OSError, ValueError) as error:
        raise MeshFileError(f"{place}: xarray cannot read the file: {error}") from None
    with file:
        return _read(file, f"{place}", renumber, name or place.stem)


def _dataset(mesh: Mesh, found: Shown, what: str) -> Any:
    xarray = extras.load("xarray", f"{what}()")
    if found.degree > 1:
        raise UnsupportedError(f"{what}: UGRID has straight cells, and {mesh!r} has curved ones")
    cells = _CELLS[mesh.tdim]
    places = {"node": "mesh_nodes", cells: f"mesh_{cells}s"}
    axes = [f"mesh_node_{axis}" for axis in _AXES[: mesh.gdim]]
    rows = f"mesh_{cells}_nodes"
    about = {
        "cf_role": "mesh_topology",
        "topology_dimension": mesh.tdim,
        "node_coordinates": " ".join(axes),
        f"{cells}_node_connectivity": rows,
        f"{cells}_dimension": places[cells],
    }
    ends = {"cf_role": f"{cells}_node_connectivity", "start_index": 0}
    variables: dict[str, Any] = {
        "mesh": ((), np.int32(0), about),
        rows: ((places[cells], f"mesh_{cells}_corners"), found.cells, ends),
    }
    for location, values in (("node", found.on_points), (cells, found.on_cells)):
        on_mesh = {"mesh": "mesh", "location": location}
        for name, field in values.items():
            if name in variables or name in axes:
                raise UsageError(f"{what}: '{name}' is a name of the mesh; give a keyword")
            dims = (places[location], *(f"{name}_{i}" for i in range(1, field.ndim)))
            stored = field.astype(np.int8) if field.dtype.kind == "b" else field  # no bool there
            variables[name] = (dims, stored, on_mesh)
    points = {axis: (places["node"], found.points[:, i]) for i, axis in enumerate(axes)}
    return xarray.Dataset(variables, points, {"Conventions": "CF-1.8 UGRID-1.0"})


class _Grid(NamedTuple):
    """The topology of a dataset.

    Attributes:
        name: The variable.
        tdim: The topological dimension.
        dims: Dimensions of nodes and of cells, by location.
        axes: Names of the coordinates.
        points: Shape (n_nodes, gdim).
        rows: Nodes of each cell, from 0, shape (n_cells, corners).
    """

    name: str
    tdim: int
    dims: dict[str, str]
    axes: list[str]
    points: Array
    rows: Array


def _read(found: Any, what: str, renumber: bool, name: str) -> tuple[Mesh, dict[str, Dat]]:
    grid = _grid(found, what)
    kind = next(
        (c for c in CELLS.values() if (c.tdim, c.n_vertices) == (grid.tdim, grid.rows.shape[1])),
        None,
    )
    if kind is None:
        raise MeshFileError(
            f"{what}: cells of dimension {grid.tdim} with {grid.rows.shape[1]} nodes; a mesh has "
            f"cells of one kind: {', '.join(CELLS)}"
        )
    rows = grid.rows[:, np.argsort(vtk_places(kind, 1))]
    mesh = Mesh.from_arrays(kind.name, grid.points, rows, renumber=renumber, name=name)
    sets = {"node": mesh.vertices, _CELLS[grid.tdim]: mesh.cells}
    fields = {}
    for key, variable in found.data_vars.items():
        location = variable.attrs.get("location")
        is_field = variable.attrs.get("mesh") == grid.name and variable.dtype.kind in "biuf"
        if not is_field or location not in sets or key in grid.axes:
            continue
        values = variable.transpose(grid.dims[location], ...).values
        order = sets[location].reordering.order
        values = values if order is None else values[order]
        on = sets[location] ** (values.shape[1:] or 1)
        fields[str(key)] = Dat(on, np.ascontiguousarray(values), name=str(key))
    return mesh, fields


def _grid(found: Any, what: str) -> _Grid:
    """Return the only topology of a dataset."""
    names = [
        key for key, one in found.variables.items() if one.attrs.get("cf_role") == "mesh_topology"
    ]
    if len(names) != 1:
        raise MeshFileError(
            f"{what}: expected one variable with cf_role 'mesh_topology', found: "
            f"{', '.join(map(str, names)) or 'none'}"
        )
    about = found.variables[names[0]].attrs
    tdim = int(about.get("topology_dimension", 0))
    cells = _CELLS[tdim] if 0 < tdim < len(_CELLS) else ""
    needed = ["node_coordinates", f"{cells}_node_connectivity"]
    keys = [key for attr in needed for key in str(about.get(attr, attr)).split()]
    missing = [key for key in keys if key not in found.variables]
    if not cells or missing:
        raise MeshFileError(
            f"{what}: '{names[0]}' of topology_dimension {tdim} names no "
            f"{' and no '.join(missing) or 'cells'} in the file"
        )
    axes = [found.variables[key] for key in keys[:-1]]
    rows = found.variables[keys[-1]]
    along = str(about.get(f"{cells}_dimension", rows.dims[0]))
    numbers = rows.values if rows.dims[0] == along else rows.values.T
    return _Grid(
        str(names[0]),
        tdim,
        {"node": axes[0].dims[0], cells: along},
        keys[:-1],
        np.stack([np.asarray(axis.values, np.float64) for axis in axes], axis=1),
        _numbers(numbers, rows, what),
    )


def _numbers(values: Array, variable: Any, what: str) -> Array:
    """Return nodes of each cell from 0, for cells with equally many nodes."""
    fill = variable.attrs.get("_FillValue")
    is_there = ~np.isnan(values) if values.dtype.kind == "f" else np.ones(values.shape, np.bool_)
    if fill is not None:
        is_there &= values != fill
    widths = np.unique(is_there.sum(axis=1))
    if len(widths) > 1:
        raise MeshFileError(
            f"{what}: cells of {', '.join(map(str, widths))} nodes; a mesh has cells of one kind"
        )
    width = int(widths[0]) if len(widths) else values.shape[1]
    return values[:, :width].astype(np.int64) - int(variable.attrs.get("start_index", 0))
