# SPDX-License-Identifier: BSD-3-Clause
"""Files of UGRID: our own, and as other programs write them by xarray."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import (
    DataTypeError,
    DataValueError,
    MeshFileError,
    UnsupportedError,
    UsageError,
)
from pyop2cxx.io import read_ugrid, to_ugrid, write_ugrid
from pyop2cxx.mesh import Mesh, cube_mesh, interval_mesh, square_mesh

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

xarray = pytest.importorskip("xarray")
pytest.importorskip("h5netcdf")

GENERATED: dict[str, Callable[[], Mesh]] = {
    "interval": lambda: interval_mesh(4),
    "triangle": lambda: square_mesh(3),
    "quadrilateral": lambda: square_mesh(3, cell="quadrilateral"),
    "tetrahedron": lambda: cube_mesh(2),
    "hexahedron": lambda: cube_mesh(2, cell="hexahedron"),
}


@pytest.mark.parametrize("renumber", [False, True])
@pytest.mark.parametrize("kind", GENERATED)
def test_a_file_read_again_has_the_mesh_and_the_values(
    kind: str, renumber: bool, tmp_path: Path
) -> None:
    mesh = GENERATED[kind]()
    x = np.asarray(mesh.coordinates.data_ro).reshape(mesh.vertices.size, -1)
    flow = op2.Dat(mesh.vertices**2, np.stack([x[:, 0], -x[:, 0]], 1), np.float32, name="flow")
    where = op2.Dat(mesh.cells, np.arange(mesh.cells.size) ** 2, np.int32, name="where")
    write_ugrid(tmp_path / "a.nc", mesh, flow, where, x0=op2.Dat(mesh.vertices, x[:, 0]))
    again, values = read_ugrid(tmp_path / "a.nc", renumber=renumber)
    assert sorted(values) == ["flow", "where", "x0"]
    assert (again.cell_type, again.gdim, again.name) == (kind, mesh.gdim, "a")
    assert np.array_equal(again.to_original(again.coordinates).reshape(x.shape), x)
    if not renumber:
        assert np.array_equal(again.cell_vertices.values, mesh.cell_vertices.values)
    for name, dat in (("flow", flow), ("where", where)):
        assert values[name].dtype == dat.dtype
        assert np.array_equal(again.to_original(values[name]), dat.data_ro)
    now = np.asarray(again.coordinates.data_ro).reshape(x.shape)[:, 0]
    assert np.array_equal(values["x0"].data_ro, now)
    assert again.cell_volumes.data_ro.sum() == pytest.approx(mesh.cell_volumes.data_ro.sum())


def test_a_renumbered_mesh_is_written_in_its_own_numbers(tmp_path: Path) -> None:
    plain = square_mesh(4)
    mesh = Mesh.from_arrays(
        "triangle", plain.coordinates.data_ro, plain.cell_vertices.values, renumber=True
    )
    number = op2.Dat(mesh.cells, np.arange(mesh.cells.size), name="number")
    back = to_ugrid(mesh, number)
    assert np.array_equal(back["mesh_face_nodes"], plain.cell_vertices.values)
    assert np.array_equal(back["number"], mesh.to_original(number))
    now = to_ugrid(mesh, number, numbering="mesh")
    assert np.array_equal(now["number"], number.data_ro)


def test_the_dataset_follows_the_convention() -> None:
    mesh = square_mesh(2, cell="quadrilateral")
    found = to_ugrid(mesh, op2.Dat(mesh.cells, 1.0, name="depth"))
    topology = found["mesh"].attrs
    assert (topology["cf_role"], topology["topology_dimension"]) == ("mesh_topology", 2)
    assert topology["node_coordinates"] == "mesh_node_x mesh_node_y"
    assert "UGRID-1.0" in found.attrs["Conventions"]
    assert found["depth"].attrs == {"mesh": "mesh", "location": "face"}
    rows = found[topology["face_node_connectivity"]]
    x, y = (found[name].values[rows] for name in topology["node_coordinates"].split())
    area = 0.5 * (x * np.roll(y, -1, 1) - y * np.roll(x, -1, 1)).sum(axis=1)
    assert np.allclose(area, 0.25)  # corners go around, anticlockwise


def foreign(**changes: Any) -> Any:
    """As a flood model may write it: from 1, with fill values, corners first, times, `lon`."""
    corners = np.array([[1, 2, 3], [1, 3, 4]], np.int32).T
    corners = np.vstack([corners, np.full((1, 2), -999, np.int32)])
    about = {
        "cf_role": "mesh_topology",
        "topology_dimension": 2,
        "node_coordinates": "lon lat",
        "face_node_connectivity": "corners",
        "face_dimension": "face",
    }
    on_faces = {"mesh": "topology", "location": "face"}
    whole = {
        "topology": ((), 0, about),
        "corners": (("corner", "face"), corners, {"start_index": 1, "_FillValue": -999}),
        "lon": ("node", [0.0, 1.0, 1.0, 0.0], {"mesh": "topology", "location": "node"}),
        "lat": ("node", [0.0, 0.0, 1.0, 1.0]),
        "level": (("time", "face"), [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], on_faces),
        "station": ("face", ["a", "b"], on_faces),
        "elsewhere": ("other", [1.0]),
    }
    return xarray.Dataset({**whole, **changes})


@pytest.mark.parametrize("form", ["dataset", "NetCDF 4", "NetCDF 3"])
def test_files_of_other_programs_are_read(form: str, tmp_path: Path) -> None:
    found: Any = foreign()
    if form != "dataset":
        found["level"].encoding["_FillValue"] = None
        path = tmp_path / "flood.nc"
        engine = "h5netcdf" if form == "NetCDF 4" else "scipy"
        found.drop_vars("station").to_netcdf(path, engine=engine)
        found = path
    mesh, values = read_ugrid(found, renumber=False)
    assert mesh.cell_vertices.values.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert mesh.coordinates.data_ro.tolist() == [[0, 0], [1, 0], [1, 1], [0, 1]]
    assert list(values) == ["level"]
    assert values["level"].data_ro.tolist() == [[1, 3, 5], [2, 4, 6]]


def test_a_time_is_chosen_by_xarray() -> None:
    _, values = read_ugrid(foreign().isel(time=-1), renumber=False)
    assert values["level"].data_ro.tolist() == [5.0, 6.0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"topology": ((), 0)}, "expected one variable with cf_role 'mesh_topology', found: none"),
        ({"twice": ((), 0, {"cf_role": "mesh_topology"})}, "found: topology, twice"),
        ({"topology": ((), 0, {"cf_role": "mesh_topology", "topology_dimension": 4})}, "names no"),
        (
            {"corners": (("corner", "face"), [[0.0, 0], [1, 2], [2, 3], [np.nan, 1]])},
            "cells of 3, 4 nodes; a mesh has cells of one kind",
        ),
        (
            {"corners": (("corner", "face"), np.arange(10).reshape(5, 2) % 4)},
            "cells of dimension 2 with 5 nodes",
        ),
    ],
)
def test_other_topologies_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(MeshFileError, match=message):
        read_ugrid(foreign(**changes))


def test_numbers_out_of_range_are_refused() -> None:
    corners = (("corner", "face"), [[0, 0], [1, 2], [2, 7]])
    with pytest.raises(DataValueError, match="7"):
        read_ugrid(foreign(corners=corners))


def test_wrong_calls_say_so(tmp_path: Path) -> None:
    mesh = square_mesh(2)
    with pytest.raises(UsageError, match=r"must end in \.nc"):
        write_ugrid(tmp_path / "a.vtu", mesh)
    with pytest.raises(DataTypeError, match="field 'wave' is complex"):
        write_ugrid(tmp_path / "a.nc", mesh, wave=op2.Dat(mesh.cells, 1.0, np.complex128))
    with pytest.raises(UsageError, match="'mesh' is a name of the mesh"):
        to_ugrid(mesh, op2.Dat(mesh.cells, name="mesh"))
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_ugrid(tmp_path / "none.nc")
    (tmp_path / "text.nc").write_text("no netCDF")
    with pytest.raises(MeshFileError, match=r"text\.nc: xarray cannot read the file"):
        read_ugrid(tmp_path / "text.nc")
    assert not list(tmp_path.glob("a.*"))
    curved = Mesh.from_arrays("interval", [0.0, 1.0, 0.5], np.array([[0, 1, 2]]))
    with pytest.raises(UnsupportedError, match="UGRID has straight cells"):
        to_ugrid(curved)


def test_truth_values_become_small_integers(tmp_path: Path) -> None:
    mesh = square_mesh(2)
    is_wet = op2.Dat(mesh.cells, True, np.bool_, name="is_wet")
    write_ugrid(tmp_path / "a.nc", mesh, is_wet)
    _, values = read_ugrid(tmp_path / "a.nc")
    assert values["is_wet"].dtype == np.int8
    assert values["is_wet"].sum() == mesh.cells.size
