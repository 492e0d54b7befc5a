# SPDX-License-Identifier: BSD-3-Clause
"""Curved cells: nodes of degree two, areas, finite elements, files."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import UnsupportedError
from pyop2cxx.io import write_vtu, write_xdmf
from pyop2cxx.mesh import (
    CELLS,
    Mesh,
    box_mesh,
    cube_mesh,
    disk_mesh,
    interval_mesh,
    read,
    square_mesh,
)
from pyop2cxx.mesh.nodes import facet_nodes, from_gmsh_order, full_rows, node_corners, vtk_places
from pyop2cxx.plot import plot_values


def curved(mesh: Mesh, bend: Any = lambda x: x, **more: Any) -> Mesh:
    """The same mesh with nodes of degree two, all of them moved."""
    rows = np.asarray(mesh.cell_vertices.values)
    x = np.asarray(mesh.coordinates.data_ro).reshape(mesh.vertices.size, -1)
    subsets = node_corners(mesh.cell, 2)
    names = np.full((len(rows), len(subsets), 8), -1)
    for k, corners in enumerate(subsets):
        names[:, k, : len(corners)] = np.sort(rows[:, list(corners)], axis=1)
    _, first, nodes = np.unique(
        names.reshape(-1, 8), axis=0, return_index=True, return_inverse=True
    )
    middles = np.stack([x[rows[:, list(c)]].mean(axis=1) for c in subsets], axis=1)
    points = bend(middles.reshape(len(rows) * len(subsets), -1)[first])
    return Mesh.from_arrays(mesh.cell_type, points, nodes.reshape(len(rows), -1), **more)


def rounded(x: np.ndarray) -> np.ndarray:
    """The unit square or cube in polar coordinates: an eighth of a ring, of radii 1 and 2."""
    radius, angle = 1 + x[:, 0], x[:, 1] * np.pi / 4
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), *x.T[2:]], axis=1)


RING = 3 * np.pi / 8
SHAPES = {
    "triangle": square_mesh,
    "quadrilateral": lambda n: square_mesh(n, cell="quadrilateral"),
    "tetrahedron": lambda n: box_mesh(n, n, 1),
    "hexahedron": lambda n: box_mesh(n, n, 1, cell="hexahedron"),
}


@pytest.mark.parametrize("name", CELLS)
def test_nodes_lie_where_basix_has_them(name: str) -> None:
    basix = pytest.importorskip("basix")
    cell = CELLS[name]
    element = basix.create_element(basix.ElementFamily.P, getattr(basix.CellType, name), 2)
    middles = [np.mean([cell.points[i] for i in c], axis=0) for c in node_corners(cell, 2)]
    np.testing.assert_allclose(element.points, middles, atol=1e-14)
    for number, nodes in enumerate(facet_nodes(cell, 2)):
        assert sorted(nodes) == sorted(element.entity_closure_dofs[cell.tdim - 1][number])


@pytest.mark.parametrize("kind", [8, 9, 10, 16, 11, 12, 17])
def test_orders_of_gmsh_and_of_files_are_known(kind: int) -> None:
    gmsh = pytest.importorskip("gmsh")
    gmsh.initialize(interruptible=False)
    try:
        name, dim, _, n, local, _ = gmsh.model.mesh.getElementProperties(kind)
    finally:
        gmsh.finalize()
    by_title = {"Line": "interval", "Triangle": "triangle", "Quadrilateral": "quadrilateral"}
    cell = CELLS[by_title.get(name.split()[0]) or name.split()[0].lower()]
    points = local.reshape(n, dim)
    if cell.name not in ("triangle", "tetrahedron"):
        points = (points + 1) / 2
    rows = from_gmsh_order(cell, np.arange(n)[None])
    full = full_rows(cell, rows, points)
    assert full is not None
    found = np.empty_like(full[1][: full[0].shape[1]])
    found[vtk_places(cell, 2)] = full[1][full[0][0]]
    middles = [np.mean([cell.points[i] for i in c], axis=0) for c in node_corners(cell, 2)]
    np.testing.assert_allclose(found, middles, atol=1e-14)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("renumber", [False, True])
def test_the_area_of_a_ring_is_found_at_its_rate(name: str, renumber: bool) -> None:
    errors = []
    for n in (2, 4):
        mesh = curved(SHAPES[name](n), rounded, renumber=renumber)
        assert (mesh.degree, mesh.cell_type) == (2, name)
        assert "curved" in repr(mesh)
        assert mesh.vertices.size < mesh.nodes.size
        errors.append(abs(mesh.cell_volumes.data_ro.sum() - RING))
    assert errors[0] / errors[1] > 12  # of order four


def test_facets_have_the_nodes_of_their_sides() -> None:
    mesh = curved(square_mesh(2), rounded, facet_tags=None)
    facets = mesh.exterior_facets
    points = mesh.coordinates.data_ro[facets.nodes.values]
    radius = np.linalg.norm(points, axis=2)
    assert (np.isclose(radius, 1).all(axis=1)).sum() == 2
    assert facets.where(lambda x: np.isclose(np.hypot(*x), 2)).size == 2
    assert mesh.vertices_where(lambda x: np.isclose(np.hypot(*x), 2)).size == 3
    assert np.abs(facets.normals.data_ro.sum(axis=0)).max() < 1e-14
    with pytest.raises(UnsupportedError, match="normals of curved facets"):
        _ = curved(cube_mesh(1)).exterior_facets.normals


def test_loops_take_the_nodes() -> None:
    mesh = curved(interval_mesh(3), lambda x: x**2)
    kernel = op2.Kernel("void add(double *a, const double *x) { a[0] += x[2]; }", "add")
    total = op2.Global(1, 0.0)
    op2.par_loop(kernel, mesh.cells, total(op2.INC), mesh.coordinates(op2.READ, mesh.cell_nodes))
    assert total.data_ro[0] == pytest.approx(sum(((i + 0.5) / 3) ** 2 for i in range(3)))


@pytest.mark.parametrize("name", SHAPES)
def test_vertices_in_any_order_give_the_same_cells(name: str) -> None:
    """Kernels see the vertices of simplices in ascending order, and the nodes with them."""
    fem = pytest.importorskip("pyop2cxx.fem")
    import ufl

    plain = SHAPES[name](1)
    rows = np.array(plain.cell_vertices.values)
    turns = [(0, 1, 2, 3), (1, 0, 3, 2), (2, 0, 3, 1)] if name == "quadrilateral" else None
    turns = turns or [*permutations(range(rows.shape[1]))][:12] if name != "hexahedron" else [()]
    for turn in turns:
        cells = rows[:, list(turn)] if turn else rows
        base = Mesh.from_arrays(name, plain.coordinates.data_ro, cells)
        mesh = curved(base, rounded)
        volume = fem.assemble(fem.Constant(mesh, 1.0) * ufl.dx)
        assert volume == pytest.approx(mesh.cell_volumes.data_ro.sum(), rel=1e-13)
        x, normal = fem.SpatialCoordinate(mesh), fem.FacetNormal(mesh)
        flux = fem.assemble(ufl.dot(x, normal) * ufl.ds) / mesh.gdim
        assert flux == pytest.approx(volume, rel=1e-12)


@pytest.mark.parametrize("name", SHAPES)
def test_poisson_converges_on_curved_cells(name: str) -> None:
    fem = pytest.importorskip("pyop2cxx.fem")
    import ufl
    from ufl import dx, grad, inner

    errors = []
    for n in (3, 6):
        mesh = curved(SHAPES[name](n), rounded)
        V = fem.FunctionSpace(mesh, ("P", 2))
        x = fem.SpatialCoordinate(mesh)
        exact = ufl.sin(x[0]) * ufl.exp(x[1] / 2)
        u, v, found = ufl.TrialFunction(V), ufl.TestFunction(V), fem.Function(V)
        right = -ufl.div(grad(exact)) * v * dx
        bc = fem.DirichletBC(V, exact)
        fem.solve(inner(grad(u), grad(v)) * dx == right, found, [bc])
        errors.append(fem.error_norm(found, exact))
        jump = ufl.jump(found)
        assert fem.assemble(jump * jump * ufl.dS) < 1e-24
    assert np.log2(errors[0] / errors[1]) > 2.3


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("suffix", ["vtu", "xdmf"])
def test_files_have_the_nodes(tmp_path: Any, name: str, suffix: str) -> None:
    meshio = pytest.importorskip("meshio")
    pytest.importorskip("h5py")
    mesh = curved(SHAPES[name](2), rounded, renumber=True)
    on_nodes = op2.Dat(mesh.nodes, mesh.coordinates.data_ro[:, 0], name="x")
    ends = np.zeros(mesh.vertices.size)
    corners = mesh.cell_nodes.values[:, : mesh.cell.n_vertices]
    ends[mesh.cell_vertices.values] = mesh.coordinates.data_ro[corners][:, :, 0]
    on_vertices = op2.Dat(mesh.vertices, ends, name="ends")
    path = tmp_path / f"m.{suffix}"
    (write_vtu if suffix == "vtu" else write_xdmf)(path, mesh, on_nodes, on_vertices)
    found = read(path)
    assert (found.degree, found.vertices.size) == (2, mesh.vertices.size)
    assert found.cell_volumes.data_ro.sum() == pytest.approx(mesh.cell_volumes.data_ro.sum())
    written = meshio.read(path)
    assert written.point_data["x"].ravel() == pytest.approx(written.points[:, 0])
    at_corners = written.cells[0].data[:, : mesh.cell.n_vertices]
    there = written.point_data["ends"].ravel()
    assert there[at_corners] == pytest.approx(written.points[at_corners][:, :, 0])


def test_functions_are_shown_at_the_nodes(tmp_path: Any) -> None:
    fem = pytest.importorskip("pyop2cxx.fem")
    pytest.importorskip("matplotlib")
    mesh = curved(square_mesh(2), rounded)
    u = fem.interpolate(lambda x: x[0] + 2 * x[1], fem.FunctionSpace(mesh, ("P", 2)))
    shown = fem.on_mesh(u)
    assert shown.dataset.set is mesh.nodes
    x = mesh.coordinates.data_ro
    assert shown.data_ro.ravel() == pytest.approx(x[:, 0] + 2 * x[:, 1])
    plot_values(mesh, shown, tmp_path / "u.png")


def test_a_disk_of_gmsh_is_round(tmp_path: Any) -> None:
    gmsh = pytest.importorskip("gmsh")
    fem = pytest.importorskip("pyop2cxx.fem")
    errors: dict[int, list[float]] = {1: [], 2: []}
    gmsh.initialize(interruptible=False)
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        for size in (0.5, 0.25):
            gmsh.clear()
            gmsh.model.occ.addDisk(0, 0, 0, 1, 1)
            gmsh.model.occ.synchronize()
            gmsh.model.addPhysicalGroup(1, [1], name="rim")
            gmsh.model.addPhysicalGroup(2, [1], name="disk")
            gmsh.option.setNumber("Mesh.MeshSizeMin", size)
            gmsh.option.setNumber("Mesh.MeshSizeMax", size)
            gmsh.model.mesh.generate(2)
            gmsh.model.mesh.setOrder(2)
            gmsh.write(str(tmp_path / "disk.msh"))
            for degree in (1, 2):
                mesh = read(tmp_path / "disk.msh", degree=degree)
                one = fem.Constant(mesh, 1.0)
                errors[degree].append(abs(fem.assemble(one * fem.dx(mesh, "disk")) - np.pi))
                length = fem.assemble(one * fem.ds(mesh, "rim"))
                assert length == pytest.approx(2 * np.pi, rel=1e-3 if degree == 2 else 0.05)
    finally:
        gmsh.finalize()
    assert errors[2][0] / errors[2][1] > 8
    assert errors[2][1] < errors[1][1] / 100


def test_curved_meshes_are_not_extruded() -> None:
    with pytest.raises(UnsupportedError, match="the mesh is curved"):
        curved(disk_mesh(2)).extruded(2)


def test_a_curved_mesh_may_close_on_itself() -> None:
    fem = pytest.importorskip("pyop2cxx.fem")
    import ufl

    straight = square_mesh(3)
    x = straight.coordinates.data_ro
    left, right = (np.flatnonzero(x[:, 0] == at) for at in (0, 1))
    pairs = np.stack([right, left], axis=1)
    plain = curved(straight, lambda x: x + 0.05 * np.sin(2 * np.pi * x[:, ::-1]))
    given = np.asarray(plain.cell_nodes.values)
    where = np.asarray(plain.coordinates.data_ro)
    node_of = np.empty(straight.vertices.size, int)
    node_of[straight.cell_vertices.values] = given[:, :3]
    mesh = Mesh.from_arrays("triangle", where, given, periodic=[node_of[pairs]], renumber=True)
    assert (mesh.degree, mesh.is_periodic, mesh.vertices.size) == (2, True, 12)
    assert mesh.exterior_facets.set.size == 6
    area = fem.assemble(fem.Constant(mesh, 1.0) * ufl.dx)
    assert area == pytest.approx(plain.cell_volumes.data_ro.sum())
    assert fem.FunctionSpace(mesh, ("P", 2)).dof_set.size == 6 * 7
