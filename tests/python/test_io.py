# SPDX-License-Identifier: BSD-3-Clause
"""Files for ParaView, read back by meshio."""

from __future__ import annotations

import doctest
import importlib
import xml.etree.ElementTree as ElementTree
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import DataTypeError, DatTypeError, UsageError
from pyop2cxx.io import TimeSeries, write_vtu, write_xdmf
from pyop2cxx.mesh import Mesh, cube_mesh, interval_mesh, square_mesh

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:meshio")

GENERATED: dict[str, Callable[[], Mesh]] = {
    "interval": lambda: interval_mesh(4),
    "triangle": lambda: square_mesh(3),
    "quadrilateral": lambda: square_mesh(3, cell="quadrilateral"),
    "tetrahedron": lambda: cube_mesh(2),
    "hexahedron": lambda: cube_mesh(2, cell="hexahedron"),
}


def fields_on(mesh: Mesh) -> dict[str, op2.Dat]:
    x = np.asarray(mesh.coordinates.data_ro).reshape(mesh.vertices.size, -1)
    return {
        "height": op2.Dat(mesh.vertices, 2 * x[:, 0]),
        "flow & more": op2.Dat(mesh.vertices**2, np.stack([x[:, 0], -x[:, 0]], 1), np.float32),
        "number": op2.Dat(mesh.cells, np.arange(mesh.cells.size, dtype=np.int32)),
    }


def read_back(path: Path) -> Any:
    return pytest.importorskip("meshio").read(path)


@pytest.mark.parametrize("suffix", ["vtu", "xdmf"])
@pytest.mark.parametrize("name", GENERATED)
def test_what_is_written_is_read(tmp_path: Path, name: str, suffix: str) -> None:
    mesh = GENERATED[name]()
    fields = fields_on(mesh)
    path = tmp_path / f"a.{suffix}"
    (write_vtu if suffix == "vtu" else write_xdmf)(path, mesh, **fields)
    found = read_back(path)
    [block] = found.cells
    assert block.type == mesh.cell.meshio_name
    rows = np.asarray(block.data)[:, list(mesh.cell.vtk_order)]
    assert np.array_equal(rows, mesh.cell_vertices.values)
    x = np.asarray(mesh.coordinates.data_ro).reshape(mesh.vertices.size, -1)
    assert np.array_equal(found.points[:, : mesh.gdim], x)
    assert not found.points[:, mesh.gdim :].any()
    assert np.array_equal(found.point_data["height"].ravel(), 2 * x[:, 0])
    flow = found.point_data["flow & more"]
    assert (flow.dtype, flow.shape) == (np.float32, (mesh.vertices.size, 3))
    assert np.array_equal(flow[:, :2], fields["flow & more"].data_ro)
    [number] = found.cell_data["number"]
    assert np.array_equal(number.ravel(), np.arange(mesh.cells.size))


@pytest.mark.parametrize("suffix", ["vtu", "xdmf"])
def test_a_renumbered_mesh_is_written_as_it_was_given(tmp_path: Path, suffix: str) -> None:
    square = square_mesh(6)
    shuffle = np.random.default_rng(0).permutation(square.vertices.size)
    points = np.empty((square.vertices.size, 2))
    points[shuffle] = square.coordinates.data_ro
    cells = shuffle[square.cell_vertices.values][::-1].copy()
    mesh = Mesh.from_arrays("triangle", points, cells, renumber=True)
    fields = {
        "x": op2.Dat(mesh.vertices, mesh.coordinates.data_ro[:, 0].copy()),
        "middle": op2.Dat(
            mesh.cells, mesh.coordinates.data_ro[mesh.cell_vertices.values].mean(axis=1)[:, 1]
        ),
    }
    write = write_vtu if suffix == "vtu" else write_xdmf
    write(tmp_path / f"a.{suffix}", mesh, **fields)
    found = read_back(tmp_path / f"a.{suffix}")
    assert np.array_equal(found.points[:, :2], points)
    assert np.array_equal(found.cells[0].data, cells)
    assert np.array_equal(found.point_data["x"].ravel(), points[:, 0])
    assert np.allclose(found.cell_data["middle"][0].ravel(), points[cells].mean(axis=1)[:, 1])
    write(tmp_path / f"b.{suffix}", mesh, numbering="mesh")
    plain = read_back(tmp_path / f"b.{suffix}")
    assert np.array_equal(plain.cells[0].data, mesh.cell_vertices.values)


@pytest.mark.parametrize("suffix", ["pvd", "xdmf"])
def test_a_series_can_be_read_after_every_step(tmp_path: Path, suffix: str) -> None:
    mesh = square_mesh(3)
    u = op2.Dat(mesh.vertices, name="u")
    path = tmp_path / f"heat.{suffix}"
    series = TimeSeries(path, mesh)
    for step in range(3):
        u.data = step
        series.write(0.5 * step, u)
        tree = ElementTree.parse(path)
        if suffix == "pvd":
            steps = list(tree.iter("DataSet"))
            times = [float(found.attrib["timestep"]) for found in steps]
            last = read_back(tmp_path / steps[-1].attrib["file"]).point_data["u"]
        else:
            times = [float(found.attrib["Value"]) for found in tree.iter("Time")]
            place = [item.text for item in tree.iter("DataItem")][-1]
            assert place is not None
            name, _, dataset = place.partition(":")
            h5py = pytest.importorskip("h5py")
            with h5py.File(tmp_path / name) as file:
                last = file[dataset][...]
        assert times == [0.5 * i for i in range(step + 1)]
        assert (last == step).all()
    assert series.times == (0.0, 0.5, 1.0)
    for wrong in (1.0, float("nan")):
        with pytest.raises(UsageError, match="times must grow"):
            series.write(wrong, u)


def test_meshio_reads_a_series_of_xdmf(tmp_path: Path) -> None:
    meshio = pytest.importorskip("meshio")
    mesh = square_mesh(2)
    u, k = op2.Dat(mesh.vertices, name="u"), op2.Dat(mesh.cells, 2.0, name="k")
    series = TimeSeries(tmp_path / "s.xdmf", mesh)
    for step in range(3):
        u.data = step
        series.write(0.5 * step, u, k)
    with meshio.xdmf.TimeSeriesReader(tmp_path / "s.xdmf") as reader:
        points, (cells,) = reader.read_points_cells()
        assert np.array_equal(points[:, :2], mesh.coordinates.data_ro)
        assert np.array_equal(cells.data, mesh.cell_vertices.values)
        found = [reader.read_data(i) for i in range(reader.num_steps)]
    assert [(time, on_points["u"].max()) for time, on_points, _ in found] == [
        (0.5 * i, i) for i in range(3)
    ]
    assert all((on_cells["k"][0] == 2).all() for _, _, on_cells in found)


def test_names_of_fields_are_free(tmp_path: Path) -> None:
    mesh = square_mesh(2)
    odd = op2.Dat(mesh.vertices, 1.0, name="path")
    other = op2.Dat(mesh.cells, 2.0, name='a "b" <c>')
    TimeSeries(tmp_path / "s.pvd", mesh).write(0.0, odd, other)
    found = read_back(tmp_path / "s_000000.vtu")
    assert set(found.point_data) == {"path"}
    assert set(found.cell_data) == {'a "b" <c>'}


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    mesh, other = square_mesh(2), square_mesh(2)
    u = op2.Dat(mesh.vertices, name="u")
    with pytest.raises(UsageError, match=r"must end in \.vtu"):
        write_vtu(tmp_path / "a.vtk", mesh, u)
    with pytest.raises(UsageError, match=r"must end in \.xdmf"):
        write_xdmf(tmp_path / "a.vtu", mesh, u)
    with pytest.raises(UsageError, match=r"\.pvd or \.xdmf"):
        TimeSeries(tmp_path / "a.vtu", mesh)
    with pytest.raises(UsageError, match="two fields are called 'u'"):
        write_vtu(tmp_path / "a.vtu", mesh, u, u=u)
    with pytest.raises(UsageError, match="field 'u' is on Set 'vertices'"):
        write_vtu(tmp_path / "a.vtu", other, u)
    with pytest.raises(UsageError, match="numbering must be"):
        write_vtu(tmp_path / "a.vtu", mesh, u, numbering="own")
    with pytest.raises(UsageError, match="expected a Mesh"):
        write_vtu(tmp_path / "a.vtu", "mesh", u)  # type: ignore[arg-type]
    with pytest.raises(DatTypeError, match="expected a Dat"):
        write_vtu(tmp_path / "a.vtu", mesh, np.ones(9))  # type: ignore[arg-type]
    with pytest.raises(DatTypeError, match="field 'v' must be a Dat"):
        write_vtu(tmp_path / "a.vtu", mesh, v=1)  # type: ignore[arg-type]
    with pytest.raises(DataTypeError, match="is complex"):
        write_vtu(tmp_path / "a.vtu", mesh, z=op2.Dat(mesh.vertices, 1j))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("module", ["series", "stored", "vtu"])
def test_examples_of_the_docstrings_hold(module: str) -> None:
    found = doctest.testmod(importlib.import_module(f"pyop2cxx.io.{module}"))
    assert (found.failed, found.attempted > 0) == (0, True)
