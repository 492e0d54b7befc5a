# SPDX-License-Identifier: BSD-3-Clause
"""What copy.copy, copy.deepcopy and pickle make of meshes, spaces, functions and conditions."""

from __future__ import annotations

import copy
import importlib
import os
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("ffcx")
ufl = importlib.import_module("ufl")
basix_ufl = importlib.import_module("basix.ufl")

from pyop2cxx import fem, op2  # noqa: E402
from pyop2cxx.exceptions import UsageError  # noqa: E402
from pyop2cxx.mesh import Mesh, square_mesh  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def _leave_no_options() -> Iterator[None]:
    yield
    op2.exit()


def pickled(one: Any) -> Any:
    return pickle.loads(pickle.dumps(one))


def tagged(*, renumber: bool = False) -> Mesh:
    """A square whose cells and sides have names."""
    plain = square_mesh(4)
    sides = plain.exterior_facets
    rows = {tag: sides.vertices.values[part.indices] for tag, part in sides.tags.items()}
    return Mesh.from_arrays(
        "triangle",
        plain.coordinates.data_ro,
        plain.cell_vertices.values[::-1],
        cell_tags={"low": np.flatnonzero(np.arange(32) >= 16)},
        facet_tags=rows,
        renumber=renumber,
        name="plate",
    )


HOW = pytest.mark.parametrize("how", [copy.deepcopy, pickled], ids=["deepcopy", "pickle"])
USED = pytest.mark.parametrize("is_used", [False, True], ids=["new", "used"])
RENUMBERED = pytest.mark.parametrize("renumber", [False, True], ids=["given", "renumbered"])


def use(mesh: Mesh) -> None:
    """Let a mesh find all that it finds when first asked for."""
    assert mesh.facets
    assert mesh.edges
    assert mesh.exterior_facets.normals
    assert mesh.interior_facets
    assert mesh.cell_volumes
    assert mesh.facet_tags


@HOW
@USED
@RENUMBERED
def test_a_mesh_is_copied_with_its_tags(
    how: Callable[[Any], Any], is_used: bool, renumber: bool
) -> None:
    mesh = tagged(renumber=renumber)
    if is_used:
        use(mesh)
    again = how(mesh)
    assert repr(again) == repr(mesh)
    assert again.cells is not mesh.cells
    assert again.cell_vertices.iterset is again.cells
    assert again.coordinates.dataset.set is again.vertices
    for tags, others in (
        (mesh.cell_tags, again.cell_tags),
        (mesh.facet_tags, again.facet_tags),
        (mesh.exterior_facets.tags, again.exterior_facets.tags),
    ):
        assert list(tags) == list(others)
        for tag in tags:
            np.testing.assert_array_equal(tags[tag].indices, others[tag].indices)
    assert again.exterior_facets.tags["left"].superset is again.exterior_facets.set
    assert again.cell_tags["low"].superset is again.cells
    np.testing.assert_array_equal(again.cell_facets.values, mesh.cell_facets.values)
    np.testing.assert_array_equal(again.cell_volumes.data_ro, mesh.cell_volumes.data_ro)
    normals = mesh.exterior_facets.normals.data_ro
    np.testing.assert_array_equal(again.exterior_facets.normals.data_ro, normals)
    edges = mesh.facets.vertices.values
    np.testing.assert_array_equal(again.facets.find(edges), np.arange(len(edges)))
    assert again.facets.cells_of(3) == mesh.facets.cells_of(3)
    given = mesh.to_original(mesh.coordinates)
    np.testing.assert_array_equal(again.to_original(again.coordinates), given)


@HOW
def test_the_way_back_of_a_renumbering_is_copied(how: Callable[[Any], Any]) -> None:
    mesh = tagged(renumber=True)
    given = mesh.to_original(mesh.coordinates)
    again = how(mesh)
    again.renumbering.undo()
    np.testing.assert_array_equal(again.coordinates.data_ro, given)
    assert not np.array_equal(mesh.coordinates.data_ro, given)
    total = op2.Dat(again.vertices, name="total")
    kernel = op2.Kernel("void count(double *n) { n[0] += 1; n[1] += 1; n[2] += 1; }", "count")
    op2.par_loop(kernel, again.cells, total(op2.INC, again.cell_vertices))
    assert total.sum() == 96


ELEMENTS: dict[str, Any] = {
    "P1": ("P", 1),
    "P2 vector": ("P", 2, (2,)),
    "tensor": ("P", 1, (2, 2)),
    "symmetric tensor": basix_ufl.element("P", "triangle", 1, shape=(2, 2), symmetry=True),
    "DG0": ("DG", 0),
    "DG2": ("DG", 2),
    "RT": ("RT", 1),
    "N1curl": ("N1curl", 2),
    "CR": ("CR", 1),
    "Regge": ("Regge", 1),
    "another variant": basix_ufl.element(
        *("P", "triangle", 3),
        lagrange_variant=importlib.import_module("basix").LagrangeVariant.equispaced,
    ),
    "quadrature": basix_ufl.quadrature_element("triangle", degree=3),
    "vector of quadrature": basix_ufl.quadrature_element("triangle", value_shape=(2,), degree=2),
    "Taylor-Hood": [("P", 2, (2,)), ("P", 1)],
    "mixed Poisson": [("RT", 1), ("DG", 0)],
}


@HOW
@pytest.mark.parametrize("name", ELEMENTS)
def test_spaces_and_functions_are_copied_with_their_numbering(
    how: Callable[[Any], Any], name: str
) -> None:
    mesh = tagged(renumber=True)
    V = fem.FunctionSpace(mesh, ELEMENTS[name])
    u = fem.Function(V, name="speed")
    u.dat.data[...] = np.random.default_rng(0).random(u.dat.data.shape)
    W, w, dat, grid, dofs = how((V, u, u.dat, mesh, V.dof_set))
    assert W.element == V.element
    assert (W.mesh, w.space, w.dat, W.dof_set) == (grid, W, dat, dofs)
    assert (dat.dataset.set, W.cell_dofs.iterset, W.cell_dofs.toset) == (dofs, grid.cells, dofs)
    assert w.name == "speed"
    np.testing.assert_array_equal(w.values, u.values)
    np.testing.assert_array_equal(W.cell_dofs.values, V.cell_dofs.values)
    assert fem.FunctionSpace(grid, ELEMENTS[name]).dof_set is dofs
    x, y = ufl.SpatialCoordinate(mesh), ufl.SpatialCoordinate(grid)
    expected = fem.assemble((1 + x[0]) * ufl.inner(u, u) * ufl.dx(degree=3))
    assert fem.assemble((1 + y[0]) * ufl.inner(w, w) * ufl.dx(degree=3)) == pytest.approx(expected)


@HOW
def test_a_mesh_that_was_left_out_of_a_renumbering_is_not_copied(
    how: Callable[[Any], Any],
) -> None:
    mesh = tagged()
    V = fem.FunctionSpace(mesh, ("P", 2))
    u = fem.interpolate(lambda x: x[0] + 10 * x[1], V)
    op2.renumber([V.cell_dofs], [u.dat], method="rcm")  # of the cells, too
    with pytest.raises(UsageError, match="Map 'cell_vertices' was left out"):
        how(u)


@HOW
def test_what_is_pickled_together_stays_together(how: Callable[[Any], Any]) -> None:
    mesh = tagged()
    V = fem.FunctionSpace(mesh, ("P", 1))
    u, v = fem.interpolate(1.0, V), fem.interpolate(2.0, V)
    k = fem.Constant(V, [3.0, 4.0])
    bc = fem.DirichletBC(V, 5.0, "left")
    on_facets = op2.Dat(mesh.exterior_facets.set, 1.0)
    both, number, data, held, dat, grid = how(([u, v, u], k, k.data, bc, on_facets, mesh))
    assert both[0] is both[2]
    assert both[0].space is both[1].space is held.space
    assert both[0].space.mesh is grid
    assert number.data is data
    assert dat.dataset.set is grid.exterior_facets.set
    np.testing.assert_array_equal(number.value, [3.0, 4.0])
    total = ufl.dot(number, number) * both[0] * both[1] * ufl.dx
    assert fem.assemble(total) == pytest.approx(50.0)
    data.data[:] = 0.0
    assert fem.assemble(total) == 0.0
    p, q = ufl.TrialFunction(held.space), ufl.TestFunction(held.space)
    fem.solve(ufl.inner(ufl.grad(p), ufl.grad(q)) * ufl.dx == 0, both[0], [held])
    np.testing.assert_allclose(both[0].values, 5.0)
    np.testing.assert_array_equal(u.values, 1.0)


def test_parts_of_a_mixed_space_stay_its_parts() -> None:
    W = fem.FunctionSpace(tagged(), [("P", 2, (2,)), ("P", 1)])
    bc = fem.DirichletBC(W.sub(0), (1.0, 2.0), "left")
    again, held, part = pickled((W, bc, W.parts[1]))
    assert held.space is again
    w = fem.Function(again)
    held.apply(w)
    assert w.values.sum() == 3.0 * 9
    assert again.parts[1].dof_set is part.dof_set


def test_a_shallow_copy_shares_memory_and_is_another_function() -> None:
    V = fem.FunctionSpace(tagged(), ("P", 1))
    u, k = fem.interpolate(1.0, V), fem.Constant(V, 2.0)
    w, m = copy.copy(u), copy.copy(k)
    assert (w.space, w.dat, m.data) == (V, u.dat, k.data)
    assert w != u
    assert m != k
    k.value = 3.0
    assert fem.assemble(m * w * u * ufl.dx) == pytest.approx(3.0)
    W = copy.copy(V)
    assert (W.dof_set, W.cell_dofs, W.mesh) == (V.dof_set, V.cell_dofs, V.mesh)
    assert W == V
    other = copy.copy(V.mesh)
    assert other.cells is V.mesh.cells
    held = copy.copy(fem.DirichletBC(V, 1.0))
    assert held.space is V


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_dtypes_and_layouts_are_kept(dtype: str) -> None:
    V = fem.FunctionSpace(tagged(), ("P", 1, (2,)))
    u = fem.Function(V, dat=op2.Dat(V.dof_set**2, dtype=dtype, layout="soa", name="u"))
    fem.interpolate((1.0, 2.0), u)
    w = pickled(u)
    assert (w.dat.dtype, w.dat.layout) == (dtype, "soa")
    np.testing.assert_array_equal(w.values, u.values)
    assert pickled(fem.Constant(V, 1.0, dtype)).data.dtype == dtype


def refused() -> dict[str, tuple[Any, str]]:
    mesh = tagged()
    V = fem.FunctionSpace(mesh, ("P", 1))
    u, p, q = fem.Function(V), ufl.TrialFunction(V), ufl.TestFunction(V)
    write_again = "write the form again"
    parts = [basix_ufl.element("P", "triangle", 1), basix_ufl.element("bubble", "triangle", 3)]
    custom = fem.FunctionSpace(mesh, basix_ufl.enriched_element(parts))
    custom_message = "a space of the element custom .* make the element and the space again"
    return {
        "Form": (fem.Form(u * q * ufl.dx), write_again),
        "UFL's form": (u * q * ufl.dx, "pickle their functions, constants and spaces"),
        "coordinates": (ufl.SpatialCoordinate(mesh), "expressions of coordinates, can neither"),
        "action": (fem.action(p * q * ufl.dx), "make another one of its form"),
        "custom": (custom, custom_message),
        "in a mixed space": (
            *(fem.FunctionSpace(mesh, basix_ufl.mixed_element([custom.element, parts[0]])),),
            custom_message,
        ),
        "function": (fem.Function(custom), custom_message),
    }


@HOW
@pytest.mark.parametrize("name", refused())
def test_what_cannot_be_copied_says_so(how: Callable[[Any], Any], name: str) -> None:
    one, message = refused()[name]
    with pytest.raises(UsageError, match=message):
        how(one)
    with pytest.raises(UsageError, match=message):
        how({"within": [one]})


def test_forms_are_copied_shallow() -> None:
    V = fem.FunctionSpace(tagged(), ("P", 1))
    form = fem.Form(ufl.TestFunction(V) * ufl.dx)
    np.testing.assert_array_equal(fem.assemble(copy.copy(form)).values, fem.assemble(form).values)


def test_nothing_is_pickled_twice() -> None:
    """Functions of one space hold their values, and what they share is there once."""
    mesh = square_mesh(20)
    use(mesh)
    V = fem.FunctionSpace(mesh, ("P", 2))
    us = [fem.Function(V) for _ in range(4)]
    for u in us:
        u.dat.data[:] = 1.0
    alone, more = len(pickle.dumps(us[0])), len(pickle.dumps(us))
    assert more - alone < 3 * (V.size * 8 + 500)
    way = tagged(renumber=True).renumbering
    assert way is not None
    assert len(pickle.dumps(way.orders)) > 0
    n_orders = sum(order.nbytes for order in way.orders.values())
    held = pickle.dumps(way)
    without = pickle.dumps({**way.__getstate__(), "orders": None})
    assert len(held) - len(without) < n_orders + 500


PROGRAM = """
import pickle, sys
import numpy as np
import ufl
from pyop2cxx import fem
with open(sys.argv[1], "rb") as file:
    u, bc, mesh, k = pickle.load(file)
V = u.space
assert V.mesh is mesh and bc.space is V
p, q = ufl.TrialFunction(V), ufl.TestFunction(V)
found = fem.Function(V)
fem.solve(ufl.inner(ufl.grad(p), ufl.grad(q)) * ufl.dx == k * u * q * ufl.dx, found, [bc])
area = fem.assemble(1 * fem.dx(mesh, "low"))
with open(sys.argv[1], "wb") as file:
    pickle.dump((found, area), file)
"""


def test_another_process_goes_on(tmp_path: Path) -> None:
    mesh = tagged(renumber=True)
    V = fem.FunctionSpace(mesh, ("P", 2))
    u, k = fem.interpolate(lambda x: x[0], V), fem.Constant(V, 2.0)
    bc = fem.DirichletBC(V, lambda x: x[1], ["left", "top"])
    file = tmp_path / "problem.pickle"
    file.write_bytes(pickle.dumps((u, bc, mesh, k)))
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", PROGRAM, str(file)], check=True, env=path)
    found, area = pickle.loads(file.read_bytes())
    p, q = ufl.TrialFunction(V), ufl.TestFunction(V)
    expected = fem.Function(V)
    fem.solve(ufl.inner(ufl.grad(p), ufl.grad(q)) * ufl.dx == k * u * q * ufl.dx, expected, [bc])
    np.testing.assert_allclose(found.values, expected.values, atol=1e-12)
    assert area == pytest.approx(fem.assemble(1 * fem.dx(mesh, "low")))
