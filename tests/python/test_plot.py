# SPDX-License-Identifier: BSD-3-Clause
"""Pictures: what is in them, and what cannot be drawn."""

from __future__ import annotations

import doctest
import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import (
    DataValueError,
    DatTypeError,
    SparsityTypeError,
    UnsupportedError,
    UsageError,
)
from pyop2cxx.mesh import Mesh, cube_mesh, disk_mesh, interval_mesh, square_mesh
from pyop2cxx.plot import (
    plot_colours,
    plot_mesh,
    plot_numbering,
    plot_partition,
    plot_sparsity,
    plot_values,
)
from pyop2cxx.plot.canvas import polygons
from pyop2cxx.plot.numberings import colours_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytest.importorskip("matplotlib")


def pixels(path: Path) -> np.ndarray:
    image = importlib.import_module("matplotlib.image").imread(path)
    return np.asarray(image)[:, :, :3]


MESHES: dict[str, Callable[[], Mesh]] = {
    "triangles": lambda: disk_mesh(5),
    "quadrilaterals": lambda: square_mesh(5, cell="quadrilateral"),
    "tetrahedra": lambda: cube_mesh(2),
    "hexahedra": lambda: cube_mesh(2, cell="hexahedron"),
    "a surface": lambda: Mesh.from_arrays(
        "triangle",
        [[0, 0, 0], [1, 0, 0.2], [1, 1, 0.5], [0, 1, 0]],
        [[0, 1, 2], [0, 2, 3]],
    ),
}


@pytest.mark.parametrize("draw", [plot_mesh, plot_numbering, plot_colours])
@pytest.mark.parametrize("name", MESHES)
def test_meshes_are_drawn(tmp_path: Path, name: str, draw: Callable[..., Any]) -> None:
    mesh = MESHES[name]()
    draw(mesh, tmp_path / "a.png")
    found = pixels(tmp_path / "a.png")
    assert (found < 0.99).any(axis=2).mean() > 0.15
    assert [file.name for file in tmp_path.iterdir()] == ["a.png"]


@pytest.mark.parametrize("name", MESHES)
@pytest.mark.parametrize("where", ["vertices", "cells"])
def test_values_are_drawn_in_their_colours(tmp_path: Path, name: str, where: str) -> None:
    mesh = MESHES[name]()
    on = getattr(mesh, where)
    dark, bright = (tmp_path / f"{i}.png" for i in range(2))
    values = op2.Dat(on, np.linspace(0.0, 1.0, on.size), name="u")
    figure = plot_values(mesh, values, dark, label="metres", cmap="gray")
    assert figure.axes[0].get_title() == "u"
    assert figure.axes[1].get_ylabel() == "metres"
    values.data = 1 - values.data_ro
    plot_values(mesh, values, bright, label="metres", cmap="gray")
    changed = np.abs(pixels(bright) - pixels(dark)).max(axis=2) > 0.05
    assert changed.mean() > 0.05


def test_components_and_magnitudes() -> None:
    mesh = square_mesh(2)
    flow = op2.Dat(mesh.cells**2, [[3.0, -4.0]] * 8, name="flow")
    shown = [
        plot_values(mesh, flow, component=i).axes[0].collections[0].get_array().tolist()
        for i in (None, 0, 1)
    ]
    assert shown == [[5.0] * 8, [3.0] * 8, [-4.0] * 8]
    with pytest.raises(UsageError, match="components 0 to 1, got 2"):
        plot_values(mesh, flow, component=2)


def test_arrows_point_where_values_do() -> None:
    mesh = square_mesh(60)
    turning = mesh.coordinates.data_ro[:, ::-1] * [-1, 1]
    for on, values in ((mesh.vertices, turning), (mesh.cells, np.tile([1.0, 2.0], (7200, 1)))):
        figure = plot_values(mesh, op2.Dat(on**2, values, name="flow"), arrows=True)
        arrows = figure.axes[0].collections[-1]
        assert 300 < arrows.N <= 484
        if on is mesh.vertices:
            np.testing.assert_array_equal(arrows.U, -arrows.XY[:, 1])
            np.testing.assert_array_equal(arrows.V, arrows.XY[:, 0])
        else:
            assert np.ptp(arrows.XY, axis=0) == pytest.approx(0.95, abs=0.05)
            assert (arrows.V == 2).all()
    with pytest.raises(UsageError, match="two components on a flat mesh; Dat 'u' has 1 in 2-D"):
        plot_values(mesh, op2.Dat(mesh.vertices, name="u"), arrows=True)


def test_a_displacement_moves_what_is_drawn() -> None:
    for mesh, on in ((square_mesh(4), "cells"), (cube_mesh(2), "vertices")):
        values = op2.Dat(getattr(mesh, on), 1.0)
        shift = op2.Dat(mesh.vertices**mesh.gdim, 3.0, name="shift")
        plane = plot_values(mesh, values, displacement=shift).axes[0]
        assert 2.9 < plane.get_xlim()[0] < plane.get_xlim()[1] < 4.1
        assert mesh.coordinates.max().tolist() == [1.0] * mesh.gdim
        with pytest.raises(UsageError, match=r"a real Dat on mesh\.vertices with . values each"):
            plot_values(mesh, values, displacement=values)
    line = interval_mesh(2)
    moved = plot_values(line, op2.Dat(line.vertices, 1.0), displacement=op2.Dat(line.vertices, 2.0))
    assert moved.axes[0].lines[0].get_xdata().tolist() == [2.0, 2.5, 3.0]


@pytest.mark.parametrize("name", ["triangle", "tetrahedron", "hexahedron"])
def test_solid_meshes_are_cut_open(name: str) -> None:
    mesh = square_mesh(4) if name == "triangle" else cube_mesh(4, cell=name)
    values = op2.Dat(mesh.cells, np.arange(mesh.cells.size, dtype=float))

    def half(x: np.ndarray) -> np.ndarray:
        return x[0] > 0.5

    assert _areas(mesh, None) == pytest.approx(1 if mesh.tdim == 2 else 6)
    assert _areas(mesh, half) == pytest.approx(0.5 if mesh.tdim == 2 else 4)
    _, cells = polygons(mesh, half)
    corners = mesh.coordinates.data_ro[mesh.cell_vertices.values[cells]]
    assert (corners[..., 0].mean(axis=1) > 0.5).all()
    plot_values(mesh, values, where=half)
    with pytest.raises(DataValueError, match="truth values; got shape"):
        plot_values(mesh, values, where=lambda x: x[0])


def _areas(mesh: Mesh, where: Any) -> float:
    rows, _ = polygons(mesh, where)
    x = mesh.coordinates.data_ro[rows]
    x = x if mesh.gdim == 3 else np.pad(x, [(0, 0), (0, 0), (0, 1)])
    fans = (np.cross(x[:, i] - x[:, 0], x[:, i + 1] - x[:, 0]) for i in range(1, rows.shape[1] - 1))
    return sum(float(np.linalg.norm(fan, axis=1).sum()) / 2 for fan in fans)


def test_intervals_give_lines() -> None:
    mesh = interval_mesh(4)
    u = op2.Dat(mesh.vertices, [0.0, 1, 4, 9, 16], name="u")
    [line] = plot_values(mesh, u).axes[0].lines
    assert line.get_ydata().tolist() == [0, 1, 4, 9, 16]
    steps = plot_values(mesh, op2.Dat(mesh.cells, [1.0, 2, 3, 4])).axes[0].patches[0]
    assert steps.get_data().values.tolist() == [1, 2, 3, 4]
    with pytest.raises(UnsupportedError, match="no polygons"):
        plot_mesh(mesh)


def test_partitions_are_drawn_and_their_cut_is_counted(tmp_path: Path) -> None:
    mesh = cube_mesh(4, cell="hexahedron")
    x = mesh.coordinates.data_ro[mesh.cell_vertices.values].mean(axis=1)
    plane = plot_partition(mesh, (x[:, 0] > 0.5).astype(int), tmp_path / "a.png").axes[0]
    assert plane.get_title() == "2 parts of 64 cells, 16 facets between them"
    assert np.unique(plane.collections[0].get_array()).tolist() == [0, 1]
    assert "4 parts of 64 cells, 48 facets" in plot_partition(mesh, 4).axes[0].get_title()
    for wrong in (0, 65, np.zeros(3, int), np.full(64, -1), np.zeros(64)):
        with pytest.raises(DataValueError, match="plot_partition: expected"):
            plot_partition(mesh, wrong)


def test_cells_of_one_colour_share_no_vertex() -> None:
    mesh = disk_mesh(6)
    colours = colours_of(mesh)
    for colour in range(colours.max() + 1):
        rows = mesh.cell_vertices.values[colours == colour]
        assert rows.size == np.unique(rows).size


def test_a_sparsity_is_drawn(tmp_path: Path) -> None:
    mesh = square_mesh(4)
    c2v, nodes = mesh.cell_vertices, mesh.vertices**1
    mat = op2.Mat(op2.Sparsity((nodes, nodes), [(c2v, c2v, None)]))
    image = plot_sparsity(mat, tmp_path / "a.png").axes[0].images[0].get_array()
    assert (image.filled(0) > 0).sum() == mat.sparsity.nz
    assert (tmp_path / "a.png").exists()
    larger = square_mesh(40)
    c2v, nodes = larger.cell_vertices, larger.vertices**1
    sparsity = op2.Sparsity((nodes, nodes), [(c2v, c2v, None)])
    counts = plot_sparsity(sparsity).axes[0].images[0].get_array()
    assert counts.shape == (1000, 1000)
    assert counts.sum() == sparsity.nz


def test_pictures_go_where_the_caller_wants_them() -> None:
    figure = importlib.import_module("matplotlib.figure").Figure()
    plane = figure.add_subplot()
    assert plot_mesh(square_mesh(2), axes=plane) is figure
    assert len(plane.collections) == 1
    with pytest.raises(UsageError, match="needs projection='3d'"):
        plot_mesh(cube_mesh(1), axes=plane)


def test_what_cannot_be_drawn_is_refused() -> None:
    mesh, other = square_mesh(2), square_mesh(2)
    with pytest.raises(UsageError, match="expected a Mesh"):
        plot_mesh("mesh")  # type: ignore[arg-type]
    with pytest.raises(DatTypeError, match="expected a Dat"):
        plot_values(mesh, np.ones(9))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="must be on mesh"):
        plot_values(mesh, op2.Dat(other.cells))
    with pytest.raises(UsageError, match="complex"):
        plot_values(mesh, op2.Dat(mesh.cells, 1j))
    with pytest.raises(SparsityTypeError, match="expected a Sparsity or a Mat"):
        plot_sparsity(mesh)  # type: ignore[arg-type]


@pytest.mark.parametrize("module", ["matrices", "numberings", "on_meshes"])
def test_examples_of_the_docstrings_hold(module: str) -> None:
    found = doctest.testmod(importlib.import_module(f"pyop2cxx.plot.{module}"))
    assert (found.failed, found.attempted > 0) == (0, True)
