# SPDX-License-Identifier: BSD-3-Clause
"""What users write in UFL about meshes, spaces and zero, and how objects show themselves there."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("ffcx")
ufl = importlib.import_module("ufl")
basix_ufl = importlib.import_module("basix.ufl")

from pyop2cxx import fem, op2  # noqa: E402
from pyop2cxx.exceptions import UsageError  # noqa: E402
from pyop2cxx.mesh import cube_mesh, square_mesh  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _leave_no_options() -> Iterator[None]:
    yield
    op2.exit()


MESH = square_mesh(3)
V = fem.FunctionSpace(MESH, ("P", 1))
U, W = ufl.TrialFunction(V), ufl.TestFunction(V)
stiffness = ufl.inner(ufl.grad(U), ufl.grad(W)) * ufl.dx


# A mesh in UFL


QUANTITIES: dict[str, float] = {
    "SpatialCoordinate": 2 / 3,
    "CellDiameter": 2 / 9,
    "CellVolume": (1 / 18) ** 2,
    "Circumradius": 1 / 18,
    "MinCellEdgeLength": 1 / 9,
    "MaxCellEdgeLength": 2 / 9,
    "Jacobian": 1 / 3,
    "JacobianInverse": 27.0,
    "JacobianDeterminant": 1 / 81,
    "FacetNormal": 4.0,
    "FacetArea": 4 / 9,
}
"""Of a square of 3 x 3, the integral of the square, over the boundary if they are of facets."""


@pytest.mark.parametrize("name", QUANTITIES)
def test_what_ufl_knows_of_cells_takes_a_mesh(name: str) -> None:
    quantity = getattr(ufl, name)(MESH)
    measure = ufl.ds if name.startswith("Facet") else ufl.dx
    found = fem.assemble(ufl.inner(quantity, quantity) * measure(degree=4))
    assert found == pytest.approx(QUANTITIES[name])
    own = getattr(ufl, name)(V)
    assert fem.assemble(ufl.inner(quantity - own, quantity - own) * measure) < 1e-25


@pytest.mark.parametrize(
    "measure",
    [
        *(ufl.dx(MESH), ufl.dx(domain=MESH), ufl.dx(MESH, degree=2), ufl.dx(domain=MESH, degree=3)),
        *(ufl.Measure("dx", MESH), ufl.Measure("dx", domain=MESH), fem.dx(MESH), fem.dx(V)),
        fem.dx(fem.Function(V)),
    ],
)
def test_measures_take_a_mesh(measure: Any) -> None:
    assert fem.assemble(1 * measure) == pytest.approx(1.0)
    assert fem.assemble(ufl.as_ufl(0) * measure) == 0.0


def test_measures_of_facets_take_a_mesh() -> None:
    for measure in (ufl.ds(MESH), ufl.Measure("ds", MESH), ufl.ds(domain=MESH), fem.ds(V)):
        assert fem.assemble(1 * measure) == pytest.approx(4.0)
    inside = 4.0 + 3 * 2**0.5  # lines of the grid, and diagonals
    for measure in (ufl.dS(MESH), ufl.Measure("dS", domain=MESH), fem.dS(MESH)):
        assert fem.assemble(1 * measure) == pytest.approx(inside)


def test_a_mesh_is_one_for_both_ways() -> None:
    for mesh in (MESH, V, fem.Function(V)):
        assert fem.SpatialCoordinate(mesh) == ufl.SpatialCoordinate(MESH)
        assert fem.FacetNormal(mesh) == ufl.FacetNormal(MESH)
        assert fem.Constant(mesh, 1.0).ufl_domain() == MESH.ufl_domain()
    solid = cube_mesh(1)
    assert fem.assemble(ufl.SpatialCoordinate(solid)[2] * ufl.dx) == pytest.approx(0.5)
    with pytest.raises(UsageError, match=r"a mesh has cell_type, .*; this int has no cell_type"):
        fem.SpatialCoordinate(3)


@pytest.mark.parametrize(
    ("form", "message"),
    [
        (ufl.Coefficient(V) * ufl.dx, r"expected a fem\.Function in the form, got w_\d+ of type"),
        (ufl.Constant(MESH) * ufl.dx, r"expected a fem\.Constant in the form, got c_\d+ of type"),
        (
            ufl.TestFunction(ufl.FunctionSpace(MESH.ufl_domain(), V.element)) * ufl.dx,
            r"expected a fem\.FunctionSpace in the form, got .* of type ufl\.functionspace",
        ),
        (ufl.Cofunction(V.dual()) + W * ufl.dx, r"expected a fem\.Function in the form, got w_\d+"),
        (W, r"expected a form, got Argument; integrate an expression by '\* ufl.dx'"),
        (stiffness == W * ufl.dx, "expected a form, got Equation"),
    ],
)
def test_objects_of_ufl_alone_are_named(form: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        fem.assemble(form)
    assert len(str(caught.value)) < 300


# Zero


ZEROS: dict[str, Any] = {
    "0": 0,
    "0.0": 0.0,
    "0j": 0j,
    "NumPy's 0": np.float64(0),
    "UFL's 0": ufl.as_ufl(0),
    "an empty form": ufl.Form([]),
    "rhs of a form without one": ufl.rhs(stiffness),
    "ZeroBaseForm": ufl.ZeroBaseForm((W,)),
    "0 * v * dx of a mesh": 0 * W * ufl.dx(MESH),
    "two of them": 0 * W * ufl.dx(MESH) + 0 * W * ufl.ds(MESH),
    "a constant": fem.Constant(MESH, 0.0) * W * ufl.dx,
    "v - v": W * ufl.dx - W * ufl.dx,
    "a derivative that vanishes": ufl.div(ufl.grad(W)) * ufl.dx,
    "a functional derivative": ufl.derivative(fem.Function(V) * ufl.dx, fem.Function(V), W),
}


@pytest.mark.parametrize("name", ZEROS)
def test_a_right_side_may_be_zero(name: str) -> None:
    bc = fem.DirichletBC(V, 1.0)
    L = ZEROS[name]
    matrix, vector = fem.assemble_system(stiffness, L, [bc])
    expected = fem.assemble_system(stiffness, fem.Constant(MESH, 0.0) * W * ufl.dx, [bc])[1].values
    np.testing.assert_allclose(vector.values, expected, atol=1e-15)
    fem.interpolate(3.0, vector)
    fem.assemble_system(stiffness, L, [bc], tensors=(matrix, vector))
    np.testing.assert_allclose(vector.values, expected, atol=1e-15)


@pytest.mark.parametrize("name", [n for n in ZEROS if n not in ("UFL's 0", "NumPy's 0", "0j")])
def test_a_problem_may_have_nothing_on_the_right(name: str) -> None:
    u, right = fem.Function(V), ZEROS[name]
    fem.solve(stiffness == right, u, [fem.DirichletBC(V, 2.0)])
    np.testing.assert_allclose(u.values, 2.0)


@pytest.mark.parametrize(
    "name", [n for n, one in ZEROS.items() if isinstance(one, ufl.form.BaseForm)]
)
def test_a_form_of_nothing_is_assembled_to_zero(name: str) -> None:
    found = fem.assemble(ZEROS[name])
    values = found.values if isinstance(found, fem.Function) else found
    np.testing.assert_allclose(values, 0.0, atol=1e-15)


def test_other_right_sides_say_what_is_expected() -> None:
    u = fem.Function(V)
    for wrong in (1, 2.5):
        with pytest.raises(UsageError, match="expected a form, got"):
            fem.solve(stiffness == wrong, u)
    with pytest.raises(UsageError, match="expected a linear form on the right, got one of rank 2"):
        fem.solve(stiffness == stiffness, u)
    with pytest.raises(UsageError, match=r"got a form of rank 1 on the left"):
        fem.solve(W * ufl.dx == stiffness, u)
    with pytest.raises(UsageError, match=r"solve: the solution is of the space of trial functions"):
        fem.solve(stiffness == 0, fem.Function(fem.FunctionSpace(MESH, ("P", 2))))


def test_zero_of_no_mesh_has_values_and_a_norm() -> None:
    u = fem.interpolate(5.0, V)
    np.testing.assert_array_equal(fem.interpolate(ufl.zero(), u).values, 0.0)
    np.testing.assert_array_equal(fem.DirichletBC(V, ufl.zero()).values, 0.0)
    assert fem.norm(ufl.zero()) == 0.0
    assert fem.norm(0 * u) == 0.0


def vanishing() -> dict[str, Any]:
    f, g = fem.Function(V), fem.Function(V)
    D = fem.FunctionSpace(MESH, ("DG", 0))
    p, q = ufl.TrialFunction(D), ufl.TestFunction(D)
    return {
        "a derivative by another function": ufl.derivative(f * W * ufl.dx, g, U),
        "the same on facets": ufl.derivative(f * W * ufl.ds, g, U),
        "ZeroBaseForm": ufl.ZeroBaseForm((W, U)),
        "constants": ufl.inner(ufl.grad(p), ufl.grad(q)) * ufl.dx,
        "second derivatives": ufl.div(ufl.grad(U)) * W * ufl.dx,
        "on facets": ufl.div(ufl.grad(U)) * W * ufl.ds,
        "u - u": U * W * ufl.dx - U * W * ufl.dx,
    }


@pytest.mark.parametrize("name", vanishing())
def test_a_matrix_whose_every_integral_vanishes_is_zero(name: str) -> None:
    form = fem.Form(vanishing()[name])
    matrix = fem.assemble(form)
    n = form.spaces[0].size
    assert matrix.to_scipy().shape == (n, n)
    assert not matrix.to_scipy().toarray().any()
    again = fem.assemble(form, tensor=matrix)
    assert again is matrix
    bc = fem.DirichletBC(form.spaces[0], 1.0, np.arange(form.spaces[0].dof_set.size) == 0)
    held = fem.assemble(form, [bc], matrix).to_scipy().toarray()
    assert (held[0, 0], np.abs(held).sum()) == (1.0, 1.0)
    b = fem.Function(form.spaces[0])
    fem.lift(b, form, [bc])
    assert not b.values.any()
    product = fem.action(form, [bc]) @ np.full(n, 3.0)
    np.testing.assert_array_equal(product, np.where(np.arange(n) == 0, 3.0, 0.0))
    _, vector = fem.assemble_system(form, 0, [bc])
    np.testing.assert_array_equal(vector.values, np.where(np.arange(n) == 0, 1.0, 0.0))


def test_a_matrix_that_vanishes_can_be_added_to() -> None:
    f = fem.Function(V)
    zero = fem.Form(ufl.derivative(f * W * ufl.dx, fem.Function(V), U))
    mass = fem.assemble(U * W * ufl.dx)
    matrix = zero.tensor()
    loop = fem.Form(U * W * ufl.dx).loops(matrix)[0]
    loop.compute()
    np.testing.assert_allclose(matrix.to_scipy().toarray(), mass.to_scipy().toarray())


# Messages


def test_forms_that_are_not_linear_say_how_equations_are_solved() -> None:
    for form in (U**2 * W * ufl.dx, W * W * ufl.dx, ufl.sin(U) * W * ufl.dx, (U + 1) * W * ufl.dx):
        with pytest.raises(UsageError, match=r"linear in its trial.*fem\.solve\(F == 0, u\)"):
            fem.assemble(form)
    with pytest.raises(UsageError, match=r"fem\.solve\(F == 0, u\)"):
        fem.solve(U**2 * W * ufl.dx == 0, fem.Function(V))


def test_newton_says_what_an_equation_lacks() -> None:
    u, other = fem.Function(V, name="u"), fem.Function(V, name="other")
    with pytest.raises(UsageError, match=r"F has a test function and no trial.* of rank 0"):
        fem.solve(u * ufl.dx == 0, u)
    with pytest.raises(UsageError, match=r"to be solved for 'u', which is not in F; .*'other'"):
        fem.solve(other * W * ufl.dx == 0, u)
    Q = ufl.TestFunction(fem.FunctionSpace(MESH, ("P", 2)))
    with pytest.raises(UsageError, match=r"space of test functions: expected .*2.*, got 'u' of"):
        fem.solve(u * Q * ufl.dx == 0, u)


def test_solve_refuses_what_would_hold_nothing_and_jacobians_of_others() -> None:
    u, Q = fem.Function(V, name="u"), fem.FunctionSpace(MESH, ("P", 2))
    other = fem.DirichletBC(Q, 0.0)
    p, q = ufl.TrialFunction(Q), ufl.TestFunction(Q)
    F = (u**2 - 4) * W * ufl.dx
    for equation in (stiffness == 0, F == 0):
        with pytest.raises(UsageError, match=r"DirichletBC: .* is of another space than 'u', of"):
            fem.solve(equation, u, [other])
        with pytest.raises(UsageError, match=r"write \[bc\]"):
            fem.solve(equation, u, other)
        with pytest.raises(UsageError, match="sequence of DirichletBC, got int in it"):
            fem.solve(equation, u, [1])
    for J in (p * q * ufl.dx, W * ufl.dx, u * ufl.dx):
        with pytest.raises(UsageError, match="J is a bilinear form of the space of 'u', got one"):
            fem.solve(F == 0, u, J=J)
    fem.interpolate(1.0, u)
    fem.solve(F == 0, u, J=2 * u * U * W * ufl.dx)
    np.testing.assert_allclose(u.values, 2.0)


def test_norms_are_of_expressions() -> None:
    u, vector = fem.interpolate(2.0, V), ufl.SpatialCoordinate(MESH)
    assert fem.error_norm(u, 1) == pytest.approx(1.0)
    assert fem.error_norm(u, fem.Constant(MESH, 2.0)) < 1e-12
    for wrong in (lambda x: x[0], "u", None, u.dat, u.values, [1.0]):
        with pytest.raises(UsageError, match=r"norm: expected a Function or an expression of UFL"):
            fem.norm(wrong)
        with pytest.raises(UsageError, match=r"error_norm: expected a Function or an expression"):
            fem.error_norm(u, wrong)
    with pytest.raises(UsageError, match=r"is of no mesh; take a fem\.Constant"):
        fem.norm(ufl.as_ufl(2))
    with pytest.raises(
        UsageError, match=r"error_norm: expected an expression of shape \(\), got \(2,"
    ):
        fem.error_norm(u, vector)
    with pytest.raises(UsageError, match="error_norm: expected a Function, got Sum"):
        fem.error_norm(u + 1, u)


SPACES: dict[str, Any] = {
    "('P', 2)": ("P", 2),
    "('P', 2, (2,))": ("P", 2, (2,)),
    "('DG', 0)": ("DG", 0),
    "('RT', 1)": ("RT", 1),
    "('P', 1, (2, 2))": ("P", 1, (2, 2)),
    "[('P', 2, (2,)), ('P', 1)]": [("P", 2, (2,)), ("P", 1)],
    "('quadrature', 2)": basix_ufl.quadrature_element("triangle", degree=2),
}


@pytest.mark.parametrize("name", SPACES)
def test_spaces_and_functions_show_themselves_in_short(name: str) -> None:
    space = fem.FunctionSpace(MESH, SPACES[name])
    about = f"FunctionSpace({name}, triangle, {space.dof_set.size} dofs of dim {space.dim})"
    assert (repr(space), str(space)) == (f"<{about}>", about)
    u = fem.Function(space, name="speed")
    assert repr(u) == f"<Function 'speed' of {about}, float64>"
    if name.startswith("('P"):
        same = fem.FunctionSpace(MESH, importlib.import_module("ast").literal_eval(name))
        assert same.dof_set is space.dof_set
    for one in (u, space, fem.Constant(MESH, np.eye(2)), fem.Form(ufl.inner(u, u) * ufl.dx)):
        assert len(repr(one)) < 150
        assert "Mesh(" not in repr(one)


def test_functions_of_one_name_are_two() -> None:
    """UFL sorts and tells apart by texts what has no rule of its own."""
    u, v = fem.interpolate(2.0, V), fem.interpolate(3.0, V)
    assert repr(u) == repr(v)
    assert u != v
    assert len({u, v}) == 2
    assert fem.assemble(u**2 * v * ufl.dx) == pytest.approx(12.0)
    before = hash(u)
    u.dat = op2.Dat(u.dat.dataset, np.full(16, 5.0), name="other")
    assert hash(u) == before
    assert fem.assemble(u**2 * v * ufl.dx) == pytest.approx(75.0)


def test_constants_of_one_value_are_two() -> None:
    k, m = fem.Constant(MESH, 2.0), fem.Constant(MESH, 2.0)
    assert repr(k) != repr(m)
    assert k != m
    form = fem.Form(k * m**2 * ufl.dx(MESH))
    m.value = 3.0
    assert fem.assemble(form) == pytest.approx(18.0)
    assert repr(k) == repr(k)
    signatures = {
        (a * b**2 * ufl.dx(MESH)).signature()
        for a, b in ((fem.Constant(MESH, x), fem.Constant(MESH, y)) for x, y in ((1, 2), (2, 1)))
    }
    assert len(signatures) == 1  # so that values do not decide what is compiled


def test_spaces_of_one_size_are_two() -> None:
    other = fem.FunctionSpace(square_mesh(3), ("P", 1))
    assert repr(other) == repr(V)
    assert other != V
    u, w = fem.Function(V), fem.Function(other)
    assert ufl.TestFunction(V) != ufl.TestFunction(other)
    assert u != w


def test_names_in_a_form_are_those_of_functions() -> None:
    speed = fem.Function(V, name="speed")
    assert "speed" in str(speed * W * ufl.dx)
    with pytest.raises(UsageError, match="'speed' of FunctionSpace"):
        fem.solve(stiffness == 0, fem.Function(fem.FunctionSpace(MESH, ("DG", 0)), name="speed"))
