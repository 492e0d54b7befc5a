# SPDX-License-Identifier: BSD-3-Clause
"""Meshes of columns: their numbers, coordinates, tags, and the flat meshes they become."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import DataValueError, UsageError
from pyop2cxx.mesh import Mesh, cube_mesh, disk_mesh, interval_mesh, square_mesh

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyop2cxx.mesh import ExtrudedMesh

BASES: dict[str, Callable[[], Mesh]] = {
    "interval": lambda: interval_mesh(3),
    "triangle": lambda: square_mesh(2),
    "quadrilateral": lambda: square_mesh(2, cell="quadrilateral"),
}


def lines(mesh: ExtrudedMesh[Mesh]) -> list[tuple[float, ...]]:
    """What a loop over all cells sees: the coordinates of the vertices of each."""
    arity, dim = mesh.cell_vertices.arity, mesh.coordinates.cdim
    most = int((mesh.columns.layers_array[:, 1]).max())
    seen = op2.Dat(mesh.base.cells ** (most * arity * dim), np.nan)
    count = op2.Dat(mesh.base.cells, 0, np.int32)
    kernel = op2.Kernel(
        f"""
        void see(double *seen, int *count, const double *x) {{
            for (int i = 0; i < {arity * dim}; ++i) seen[count[0] * {arity * dim} + i] = x[i];
            count[0] += 1;
        }}
        """,
        "see",
    )
    x = mesh.coordinates(op2.READ, mesh.cell_vertices)
    op2.par_loop(kernel, mesh.columns, seen(op2.RW), count(op2.RW), x)
    rows = seen.data_ro.reshape(-1, arity * dim)
    return [tuple(row) for row in rows if not np.isnan(row).any()]


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("continuous", [True, False])
def test_a_cell_stands_on_the_one_below(name: str, continuous: bool) -> None:
    base = BASES[name]()
    mesh = base.extruded(4, lambda x, s: 2 * s + x[0], continuous=continuous)
    cells = np.array(lines(mesh)).reshape(base.cells.size, 4, 2, -1, base.gdim + 1)
    below = base.coordinates.data_ro.reshape(-1, base.gdim)[base.cell_vertices.values]
    assert np.array_equal(
        cells[..., :-1], np.broadcast_to(below[:, None, None], (*cells.shape[:-1], base.gdim))
    )
    rising = np.arange(4)[:, None, None] / 2 + np.array([[0.0], [0.5]])
    assert np.allclose(cells[..., -1], rising + below[:, None, None, :, 0])
    n_lines = base.vertices.size if continuous else base.cell_vertices.values.size
    assert (mesh.vertices.size, mesh.n_cells) == (5 * n_lines, 4 * base.cells.size)


@pytest.mark.parametrize("name", BASES)
def test_the_flat_mesh_has_the_volume_and_the_tags(name: str) -> None:
    base = BASES[name]()
    n = base.cells.size
    base = Mesh.from_arrays(
        base.cell_type,
        base.coordinates.data_ro,
        base.cell_vertices.values,
        cell_tags={"first": [0]},
        facet_tags={
            tag: base.exterior_facets.vertices.values[part.indices]
            for tag, part in base.exterior_facets.tags.items()
        },
    )
    mesh = base.extruded(3, lambda x, s: s * (1 + x[0]))
    flat = mesh.to_mesh()
    per_cell = 3 if name == "triangle" else 1
    assert (flat.cells.size, flat.vertices.size) == (3 * n * per_cell, mesh.vertices.size)
    assert np.array_equal(flat.coordinates.data_ro, mesh.coordinates.data_ro)
    assert flat.cell_tags["first"].indices.tolist() == list(range(3 * per_cell))
    tags = flat.exterior_facets.tags
    assert set(tags) == {"lower", "upper", *base.exterior_facets.tags}
    assert sum(part.size for part in tags.values()) == flat.exterior_facets.set.size
    x = flat.coordinates.data_ro
    assert not x[flat.exterior_facets.vertices_of("lower").indices, -1].any()
    assert not x[flat.exterior_facets.vertices_of("left").indices, 0].any()
    corners = x[flat.cell_vertices.values]
    if name == "triangle":
        volumes = np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6
        assert (volumes > 0).all()
        assert np.isclose(volumes.sum(), 1.5)
    for tag, part in mesh.vertex_tags.items():
        assert np.array_equal(part.indices, flat.exterior_facets.vertices_of(tag).indices), tag


def test_columns_of_different_depth_share_the_levels_they_have() -> None:
    base = interval_mesh(3)
    mesh = base.extruded([[0, 2], [1, 2], [1, 4]], [0.0, 1.0, 3.0, 4.0, 5.0])
    assert [mesh.levels[mesh.base_vertices == v].tolist() for v in range(4)] == [
        [0, 1, 2],
        [0, 1, 2],
        [1, 2, 3, 4],
        [1, 2, 3, 4],
    ]
    heights = [(row[1], row[5]) for row in lines(mesh)]
    assert heights == [(0, 1), (1, 3), (1, 3), (1, 3), (3, 4), (4, 5)]
    assert mesh.vertex_tags["lower"].size == 5
    assert "3 columns of 1 to 3 quadrilateral cells, 14 vertices, 2-D" in repr(mesh)
    assert mesh.to_mesh().cells.size == 6


def test_columns_with_vertices_of_their_own() -> None:
    mesh = interval_mesh(2).extruded([1, 3], lambda x, s: 3 * s, continuous=False)
    assert [(row[1], row[5]) for row in lines(mesh)] == [(0, 3), (0, 1), (1, 2), (2, 3)]
    assert mesh.vertices.size == 2 * 2 + 2 * 4
    assert mesh.vertex_tags["right"].size == 4
    with pytest.raises(UsageError, match="continuous=True"):
        mesh.to_mesh()


@pytest.mark.parametrize("name", ["triangle", "quadrilateral"])
def test_loops_over_sides_bottom_and_top(name: str) -> None:
    mesh = square_mesh(3, cell=name).extruded(2, lambda x, s: s)
    area = op2.Global(1, 0.0)
    side = op2.Kernel(
        """
        void add(double *area, const double *x) {
            area[0] += fabs(x[8] - x[2]) * (fabs(x[3] - x[0]) + fabs(x[4] - x[1]));
        }
        """,
        "add",
    )
    x = mesh.coordinates(op2.READ, mesh.sides.vertices)
    op2.par_loop(side, mesh.sides.set, area(op2.INC), x)
    assert np.isclose(area.data[0], 4)
    area.data[0] = 0
    op2.par_loop(side, mesh.sides.tags["left"], area(op2.INC), x)
    assert np.isclose(area.data[0], 1)
    highest = op2.Global(1, -1.0)
    kernel = op2.Kernel("void top(double *z, const double *x) { z[0] = fmax(z[0], x[2]); }", "top")
    x = mesh.coordinates(op2.READ, mesh.cell_vertices)
    for region, height in ((op2.ON_BOTTOM, 0.0), (op2.ON_TOP, 0.5)):
        op2.par_loop(kernel, mesh.columns, highest(op2.MAX), x, iteration_region=region)
        assert highest.data[0] == height
    part = mesh.columns(0, 1)
    count = op2.Global(1, 0, np.int32)
    op2.par_loop(op2.Kernel("void n(int *n) { n[0] += 1; }", "n"), part, count(op2.INC))
    assert count.data[0] == 4


def test_forms_take_the_flat_mesh() -> None:
    for package in ("basix", "ffcx", "ufl"):
        pytest.importorskip(package)
    import ufl

    from pyop2cxx import fem

    flat = disk_mesh(2).extruded(2, lambda x, s: s * (2 + x[0])).to_mesh()
    V = fem.FunctionSpace(flat, ("Lagrange", 1))
    one = fem.Function(V)
    one.dat.data[:] = 1
    volume = fem.assemble(one * ufl.dx)
    rim = 0.5 * 12 * np.sin(np.pi / 6)
    assert np.isclose(float(volume), 2 * rim)


@pytest.mark.parametrize(
    ("layers", "more", "message"),
    [
        (0, {}, "column 0 has cells 0 to -1"),
        ([1, 2], {}, r"shape \(8,\).*got int64 of shape \(2,\)"),
        (1.5, {}, "got float64"),
        ([[0, 1]] * 7 + [[2, 2]], {}, "column 7 has cells 2 to 1"),
        ([[-1, 1]] * 8, {}, "column 0 has cells -1 to 0"),
    ],
)
def test_wrong_layers(layers: Any, more: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        square_mesh(2).extruded(layers, **more)


def test_wrong_levels_and_cells() -> None:
    base = square_mesh(2)
    with pytest.raises(DataValueError, match=r"there are 3 levels.* got an array of shape"):
        base.extruded(2, [0.0, 1.0])
    with pytest.raises(DataValueError, match="returns 27 real heights"):
        base.extruded(2, lambda x, s: s[:3])
    with pytest.raises(DataValueError, match="the height of vertex 0 is nan"):
        base.extruded(2, lambda x, s: s * np.nan)
    with pytest.raises(UsageError, match="got tetrahedron cells in 3"):
        cube_mesh(1).extruded(2)
    with pytest.raises(UsageError, match="vertices of no cell"):
        interval_mesh(2).extruded([[0, 1], [3, 4]]).to_mesh()


@pytest.mark.parametrize("cell", ["triangle", "quadrilateral"])
def test_tags_of_facets_inside_are_kept_above_them(cell: str) -> None:
    plain = square_mesh(4, cell=cell)
    inner = plain.interior_facets
    middle = inner.vertices.values[inner.where(lambda x: x[0] == 0.5).indices]
    side = plain.exterior_facets.vertices.values[plain.exterior_facets.tags["left"].indices]
    mesh = Mesh.from_arrays(
        cell,
        plain.coordinates.data_ro,
        plain.cell_vertices.values,
        facet_tags={"both": np.concatenate([middle, side]), "middle": middle},
    )
    columns = mesh.extruded(2)
    assert {name: part.size for name, part in columns.vertex_tags.items()} == {
        **{"lower": 25, "upper": 25, "both": 30, "middle": 15}
    }
    flat = columns.to_mesh()
    n = 16 if cell == "triangle" else 8
    assert (flat.facet_tags["middle"].size, flat.facet_tags["both"].size) == (n, 2 * n)
    assert [*columns.sides.tags] == ["both"]


@pytest.mark.parametrize("backend", ["sequential", "openmp", "opencl"])
@pytest.mark.parametrize("layers", [3, [1, 4, 2, 2, 3, 1, 1, 5], [[0, 2], [1, 4]] * 4])
@pytest.mark.usefixtures("exits")
def test_cells_are_visited_up_and_down(backend: str, layers: Any) -> None:
    op2.init(backend=backend)
    base = square_mesh(2)
    sea = base.extruded(layers, continuous=False)
    given = np.asarray(layers)
    depth = given[:, 1] - given[:, 0] if given.ndim == 2 else np.broadcast_to(given, 8)
    assert sea.cells.size == sea.n_cells == depth.sum()
    order = np.concatenate([np.arange(n) for n in depth])
    first = np.repeat(np.cumsum(depth) - depth, depth)
    visited = op2.Dat(sea.cells, dtype=np.int32)
    low = op2.Dat(sea.cells)
    text = """
    void visit(int *count, int *order, double *low, const double *x) {
      order[0] = count[0]++;
      low[0] = x[2];
    }
    """
    kernel = op2.Kernel(text, "visit")
    for maps, expected in (
        (sea, order),
        (sea.from_top, np.repeat(depth, depth) - 1 - order),
    ):
        count = op2.Dat(base.cells, dtype=np.int32)
        arguments = (visited(op2.WRITE, maps.column_cells), low(op2.WRITE, maps.column_cells))
        x = sea.coordinates(op2.READ, maps.cell_vertices)
        op2.par_loop(kernel, sea.columns, count(op2.RW), *arguments, x)
        assert count.data.tolist() == depth.tolist()
        assert visited.data.tolist() == expected.tolist()
        heights = sea.coordinates.data[sea.cell_vertices.values[:, 0], 2]  # of the lowest cells
        assert np.allclose(low.data[first], np.repeat(heights, depth))


@pytest.mark.parametrize("cell", ["triangle", "quadrilateral"])
def test_forms_take_extruded_meshes(cell: str) -> None:
    ufl = pytest.importorskip("ufl")
    from pyop2cxx import fem

    sea = square_mesh(3, cell=cell).extruded(4, lambda x, s: s * (1 + x[0]))
    V = fem.FunctionSpace(sea, ("P", 1))
    assert V.mesh is sea.flat
    assert fem.FunctionSpace(sea, ("P", 1)).dof_set is V.dof_set
    x = ufl.SpatialCoordinate(sea)
    volume, floor, wall = (
        float(fem.assemble(one * measure))
        for one, measure in (
            (1, ufl.dx(domain=sea)),
            (x[0], fem.ds(sea, "lower")),
            (1, fem.ds(sea, "right")),
        )
    )
    assert np.allclose([volume, floor, wall], [1.5, 0.5, 2.0])
    exact = 1 + x[0] + 2 * x[1] - x[2]
    u, v, found = ufl.TrialFunction(V), ufl.TestFunction(V), fem.Function(V)
    bcs = [fem.DirichletBC(V, exact, tag) for tag in ("lower", "upper", "left", "right")]
    fem.solve(ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx == flux(ufl, fem, sea, v), found, bcs)
    assert float(fem.assemble((found - exact) ** 2 * ufl.dx)) < 1e-20
    values = fem.on_mesh(found).data_ro
    points = sea.coordinates.data_ro
    assert np.allclose(values, 1 + points[:, 0] + 2 * points[:, 1] - points[:, 2])


def flux(ufl: Any, fem: Any, sea: Any, v: Any) -> Any:
    """What leaves through the sides without a condition, of a linear function."""
    n = ufl.FacetNormal(sea)
    return ufl.dot(ufl.as_vector([1.0, 2.0, -1.0]), n) * v * fem.ds(sea)


def test_forms_say_why_columns_cannot_be_joined() -> None:
    pytest.importorskip("ufl")
    from pyop2cxx import fem

    sea = square_mesh(2).extruded(2, continuous=False)
    with pytest.raises(UsageError, match="to_mesh joins columns; extrude with continuous=True"):
        fem.FunctionSpace(sea, ("P", 1))
