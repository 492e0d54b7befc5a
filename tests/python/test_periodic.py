# SPDX-License-Identifier: BSD-3-Clause
"""Meshes that close on themselves: facets, cells, finite elements, files and pictures."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import MapValueError, UnsupportedError, UsageError
from pyop2cxx.io import write_vtu
from pyop2cxx.mesh import (
    Mesh,
    box_mesh,
    cube_mesh,
    interval_mesh,
    read,
    rectangle_mesh,
    square_mesh,
)
from pyop2cxx.mesh.periodic import joined
from pyop2cxx.plot import plot_mesh, plot_values

WRAPPED = [[0, 1, 2, 3], [1, 0, 3, 2]]
CORNERS = np.array([[[x, y] for y in (0, 1) for x in (a, a + 0.5)] for a in (0.0, 0.5)])


def test_classes_of_chains_go_by_their_first_member() -> None:
    assert joined(6, np.array([5, 3, 1]), np.array([3, 1, 4])).tolist() == [0, 1, 2, 1, 1, 1]
    assert joined(3, np.zeros(0, int), np.zeros(0, int)).tolist() == [0, 1, 2]


@pytest.mark.parametrize("renumber", [False, True])
def test_two_cells_around_have_two_facets_between_them(renumber: bool) -> None:
    by_corner = Mesh.from_arrays("quadrilateral", CORNERS, WRAPPED, renumber=renumber)
    points = [[0, 0], [0.5, 0], [1, 0], [0, 1], [0.5, 1], [1, 1]]
    cells = [[0, 1, 3, 4], [1, 2, 4, 5]]
    tags = {"seam": [[5, 2]], "floor": [[0, 1], [1, 2]]}
    by_pairs = Mesh.from_arrays(
        "quadrilateral",
        points,
        cells,
        periodic=[[[2, 0], [5, 3]]],
        facet_tags=tags,
        renumber=renumber,
    )
    made = rectangle_mesh(2, 1, cell="quadrilateral", periodic="x")
    for mesh in (by_corner, by_pairs, made):
        assert (mesh.vertices.size, mesh.nodes.size, mesh.facets.set.size) == (4, 6, 6)
        assert (mesh.interior_facets.set.size, mesh.exterior_facets.set.size) == (2, 4)
        assert mesh.interior_facets.cells.values.tolist() == [[0, 1], [0, 1]]
        assert mesh.cell_volumes.data_ro.tolist() == [0.5, 0.5]
        assert np.abs(mesh.exterior_facets.normals.data_ro[:, 1]).tolist() == [0.5] * 4
        normals = np.abs(mesh.interior_facets.normals.data_ro).tolist()
        assert normals == [[1.0, 0.0], [1.0, 0.0]]
    assert [*by_pairs.interior_facets.tags] == ["seam"]
    assert by_pairs.exterior_facets.tags["floor"].size == 2
    assert by_pairs.vertices_of("floor").size == 2


def _box(cell: str, n: int, periodic: str | bool) -> Mesh:
    if cell == "interval":
        return interval_mesh(n, periodic=periodic)
    if cell in ("triangle", "quadrilateral"):
        return square_mesh(n, cell=cell, periodic=periodic)
    return cube_mesh(n, cell=cell, periodic=periodic)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize(
    ("cell", "periodic"),
    [
        ("interval", "x"),
        *((cell, axes) for cell in ("triangle", "quadrilateral") for axes in ("x", "y", "xy")),
        *((cell, axes) for cell in ("tetrahedron", "hexahedron") for axes in ("x", "yz", "xyz")),
    ],
)
def test_entities_of_a_closed_box_are_counted(cell: str, n: int, periodic: str) -> None:
    """Euler's characteristic of a torus is 0, and so is that of a circle times anything."""
    mesh = _box(cell, n, periodic)
    dim = mesh.tdim
    counts = [mesh.vertices.size, mesh.cells.size]
    counts[1:1] = [mesh.edges.set.size] if dim > 1 else []
    counts[2:2] = [mesh.facets.set.size] if dim == 3 else []
    assert sum((-1) ** d * count for d, count in enumerate(counts)) == 0
    is_open = [axis not in periodic for axis in "xyz"[:dim]]
    assert mesh.vertices.size == np.prod([n + one for one in is_open])
    per_side = n ** (dim - 1) * (2 if cell == "tetrahedron" else 1)
    assert mesh.exterior_facets.set.size == 2 * per_side * sum(is_open)
    assert mesh.cell_volumes.data_ro.sum() == pytest.approx(1.0)
    flux = np.zeros((mesh.cells.size, dim))
    for facets, signs in ((mesh.exterior_facets, (1,)), (mesh.interior_facets, (1, -1))):
        for k, sign in enumerate(signs):
            normals = facets.normals.data_ro.reshape(-1, dim)
            np.add.at(flux, facets.cells.values[:, k], sign * normals)
    np.testing.assert_allclose(flux, 0, atol=1e-14)


def test_a_turned_side_is_joined() -> None:
    """A Moebius strip of three cells: its boundary is one line of six facets."""
    points = np.array([[x, y] for x in range(4) for y in range(2)], float)
    cells = np.array([[2 * i, 2 * i + 2, 2 * i + 1, 2 * i + 3] for i in range(3)])
    strip = Mesh.from_arrays("quadrilateral", points, cells, periodic=[[[6, 1], [7, 0]]])
    assert (strip.exterior_facets.set.size, strip.interior_facets.set.size) == (6, 3)
    rows = np.where(cells == 6, 1, np.where(cells == 7, 0, cells))
    same = Mesh.from_arrays("quadrilateral", points[cells], rows)
    assert (same.exterior_facets.set.size, same.interior_facets.set.size) == (6, 3)


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("cell", ["triangle", "quadrilateral"])
def test_wrapped_cells_without_points_on_both_sides_are_refused(n: int, cell: str) -> None:
    """Never a number of facets, or an area, that is wrong."""
    points = [[i / n, j] for j in (0, 1) for i in range(n)]
    boxes = np.array([[i, (i + 1) % n, n + i, n + (i + 1) % n] for i in range(n)])
    rows = boxes if cell == "quadrilateral" else boxes[:, [[0, 1, 3], [0, 3, 2]]].reshape(-1, 3)
    for look in ("cell_volumes", "interior_facets", "exterior_facets"):
        with pytest.raises(UsageError, match="closes on itself"):
            getattr(Mesh.from_arrays(cell, points, rows), look)


def test_loops_take_the_nodes() -> None:
    mesh = rectangle_mesh(3, 2, cell="quadrilateral", periodic="xy")
    kernel = op2.Kernel(
        "void add(double *a, const double *x) { a[0] += (x[2] - x[0]) * (x[5] - x[1]); }", "add"
    )
    area = op2.Global(1, 0.0)
    op2.par_loop(kernel, mesh.cells, area(op2.INC), mesh.coordinates(op2.READ, mesh.cell_nodes))
    assert area.data_ro[0] == pytest.approx(1.0)
    with pytest.raises(MapValueError):
        mesh.coordinates(op2.READ, mesh.cell_vertices)


def test_parts_are_found_on_both_sides() -> None:
    mesh = square_mesh(4, periodic="x")
    assert mesh.vertices_where(lambda x: x[0] == 1).size == 5
    assert mesh.exterior_facets.where(lambda x: x[1] == 0).size == 4
    assert mesh.exterior_facets.vertices_of("top").size == 4


def test_files_and_pictures_have_both_sides(tmp_path: Any) -> None:
    meshio = pytest.importorskip("meshio")
    pytest.importorskip("matplotlib")
    mesh = square_mesh(3, cell="quadrilateral", periodic="xy")
    heights = op2.Dat(mesh.vertices, np.arange(9.0), name="h")
    write_vtu(tmp_path / "m.vtu", mesh, heights)
    found = read(tmp_path / "m.vtu")
    assert (found.vertices.size, found.cell_volumes.data_ro.sum()) == (16, pytest.approx(1.0))
    written = meshio.read(tmp_path / "m.vtu")
    for side in (0, 1):
        values = written.point_data["h"].ravel()[written.points[:, 0] == side]
        assert values.tolist() == [0.0, 3.0, 6.0, 0.0]
    plot_mesh(mesh, tmp_path / "m.png")
    plot_values(mesh, heights, tmp_path / "h.png")
    solid = cube_mesh(2, periodic="x")
    plot_values(solid, op2.Dat(solid.vertices, 1.0), tmp_path / "s.png")
    ring = interval_mesh(3, periodic=True)
    plot_values(ring, op2.Dat(ring.vertices, 1.0), tmp_path / "r.png")
    plot_values(ring, op2.Dat(ring.cells, 1.0), tmp_path / "r.png")


def test_closed_meshes_are_not_extruded() -> None:
    with pytest.raises(UnsupportedError, match="the mesh is periodic"):
        square_mesh(3, periodic="x").extruded(2)


@pytest.mark.parametrize("wrong", ["z", "xx", 3, "yx "])
def test_directions_that_a_mesh_does_not_have_are_refused(wrong: Any) -> None:
    with pytest.raises(UsageError, match="periodic is True, False or directions of 'xy'"):
        square_mesh(3, periodic=wrong)


# Finite elements


@pytest.mark.parametrize(
    ("cell", "steps", "degree"),
    [
        ("interval", (6, 12), 3),
        ("triangle", (6, 12), 2),
        ("triangle", (5, 10), 3),
        ("quadrilateral", (5, 10), 3),
        ("tetrahedron", (2, 4), 2),
        ("hexahedron", (3, 6), 1),
    ],
)
def test_a_wave_is_found_at_its_rate(cell: str, steps: tuple[int, int], degree: int) -> None:
    fem = pytest.importorskip("pyop2cxx.fem")
    import ufl
    from ufl import dx, grad, inner

    errors = []
    for n in steps:
        mesh = _box(cell, n, True)
        V = fem.FunctionSpace(mesh, ("P", degree))
        x = fem.SpatialCoordinate(mesh)
        exact = ufl.cos(2 * pi * x[0] + 0.3)
        for i in range(1, mesh.gdim):
            exact = exact * (1 + ufl.sin(2 * pi * x[i]) / 2)
        u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
        found = fem.Function(V)
        right = (exact - ufl.div(grad(exact))) * v * dx
        fem.solve(inner(grad(u), grad(v)) * dx + u * v * dx == right, found)
        errors.append(fem.error_norm(found, exact))
        if cell != "tetrahedron":
            assert V.dof_set.size == (degree * n) ** mesh.tdim
    assert np.log2(errors[0] / errors[1]) > degree + 0.4


@pytest.mark.parametrize("cell", ["triangle", "quadrilateral"])
def test_a_wave_goes_around_by_fluxes(cell: str) -> None:
    """Discontinuous elements take their fluxes through the seam; nothing is lost there."""
    fem = pytest.importorskip("pyop2cxx.fem")
    import ufl
    from ufl import dS, dx, grad

    errors = []
    for n in (2, 4, 8):
        V = fem.FunctionSpace(_box(cell, n, "xy"), ("DG", 2))
        x, normal = fem.SpatialCoordinate(V.mesh), fem.FacetNormal(V.mesh)
        wind = ufl.as_vector([1.0, 0.5])
        out = 0.5 * (ufl.dot(wind, normal) + abs(ufl.dot(wind, normal)))

        def moved(w: Any, test: Any, wind: Any = wind, out: Any = out) -> Any:
            flux = out("+") * w("+") - out("-") * w("-")
            return w * ufl.dot(wind, grad(test)) * dx - flux * ufl.jump(test) * dS

        w, test = fem.interpolate(1.0, V), ufl.TestFunction(V)
        assert np.abs(fem.assemble(moved(w, test)).values).max() < 1e-13
        w = fem.interpolate(ufl.sin(2 * pi * (x[0] + x[1])), V)
        assert abs(fem.assemble(moved(w, test)).values.sum()) < 1e-13
        change = fem.interpolate(ufl.cos(2 * pi * (x[0] + x[1])), V)
        errors.append(abs(fem.assemble(moved(w, change)) + 1.5 * pi))
    assert errors[2] < errors[1] / 6


def test_one_cell_around_is_refused_by_finite_elements() -> None:
    fem = pytest.importorskip("pyop2cxx.fem")
    with pytest.raises(UnsupportedError, match="cell 0 has a vertex twice"):
        fem.FunctionSpace(rectangle_mesh(1, 3, periodic="x"), ("P", 1))
    wrapped = Mesh.from_arrays("interval", [0.0, 1.0, 2.0], [[0, 1], [1, 2], [2, 0]])
    with pytest.raises(UsageError, match="closes on itself"):
        fem.FunctionSpace(wrapped, ("P", 1))


@pytest.mark.parametrize("family", ["RT", "N1curl"])
@pytest.mark.parametrize("cell", ["triangle", "quadrilateral"])
@pytest.mark.parametrize("n", [2, 3])
def test_fluxes_are_continuous_through_the_seam(family: str, cell: str, n: int) -> None:
    fem = pytest.importorskip("pyop2cxx.fem")
    import ufl

    V = fem.FunctionSpace(_box(cell, n, "xy"), (family, 1))
    u, normal = fem.Function(V), fem.FacetNormal(V.mesh)
    u.dat.data[:] = np.random.default_rng(1).random(u.dat.data.shape)
    direction = normal if family == "RT" else ufl.as_vector([-normal[1], normal[0]])
    value = ufl.dot(u, direction)
    jump = value("+") + value("-")
    assert fem.assemble(jump * jump * ufl.dS) < 1e-24
    assert fem.assemble(value("+") ** 2 * ufl.dS) > 1e-3


def test_conditions_hold_on_closed_meshes() -> None:
    fem = pytest.importorskip("pyop2cxx.fem")
    mesh = box_mesh(2, 3, 2, periodic="xz")
    V = fem.FunctionSpace(mesh, ("P", 2))
    assert fem.DirichletBC(V, 0.0, "bottom").dofs.size == 16
    assert fem.DirichletBC(V, 0.0).dofs.size == 32
    u = fem.interpolate(lambda x: x[1], V)
    assert fem.on_mesh(u).data_ro.shape[0] == mesh.vertices.size == 16
