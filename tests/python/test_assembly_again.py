# SPDX-License-Identifier: BSD-3-Clause
"""Assembling the same form again: nothing is made anew, and nothing is stale or kept alive."""

from __future__ import annotations

import gc
import importlib
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("ffcx")
ufl = importlib.import_module("ufl")

from pyop2cxx import fem, op2  # noqa: E402
from pyop2cxx.fem import loops  # noqa: E402
from pyop2cxx.loop.parloop import ParLoop  # noqa: E402
from pyop2cxx.mesh import square_mesh  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator


class Problem:
    """Forms on a small mesh."""

    def __init__(self) -> None:
        self.mesh = square_mesh(3)
        self.V = V = fem.FunctionSpace(self.mesh, ("P", 1))
        u, self.v = ufl.TrialFunction(V), ufl.TestFunction(V)
        self.w = fem.interpolate(lambda x: 1 + x[0], V)
        self.k = fem.Constant(self.mesh, 1.0)
        self.a = self.k * ufl.inner(ufl.grad(u), ufl.grad(self.v)) * ufl.dx
        self.L = self.k * self.w * self.v * ufl.dx
        self.M = self.w * ufl.dx + self.w * fem.ds(self.mesh, "left")


@pytest.fixture
def problem() -> Problem:
    return Problem()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of loops that are made."""
    names: list[str] = []
    make = ParLoop.__init__

    def noted(self: ParLoop, kernel: Any, *args: Any, **options: Any) -> None:
        names.append(kernel.name)
        make(self, kernel, *args, **options)

    monkeypatch.setattr(ParLoop, "__init__", noted)
    yield names
    op2.exit()


def test_the_same_again_makes_no_loop(problem: Problem, made: list[str]) -> None:
    bcs = [fem.DirichletBC(problem.V, 0.0)]
    matrix, vector = fem.assemble(problem.a, bcs), fem.assemble(problem.L, bcs)
    before, entries = vector.values.copy(), np.array(matrix.values)
    number = fem.assemble(problem.M)
    assert made
    made.clear()
    for _ in range(2):
        assert fem.assemble(problem.a, bcs, matrix) is matrix
        assert fem.assemble(problem.L, bcs, vector) is vector
        assert fem.assemble(problem.M) == number == pytest.approx(2.5)
        np.testing.assert_array_equal(vector.values, before)
        np.testing.assert_array_equal(matrix.values, entries)
    assert made == []


def test_values_may_change_between(problem: Problem) -> None:
    vector, number = fem.assemble(problem.L), fem.assemble(problem.M)
    before = vector.values.copy()
    problem.k.value = 3.0
    np.testing.assert_allclose(fem.assemble(problem.L, (), vector).values, 3 * before)
    problem.w.dat.data[:] *= 2
    np.testing.assert_allclose(fem.assemble(problem.L, (), vector).values, 6 * before)
    assert fem.assemble(problem.M) == pytest.approx(2 * number)


def test_data_of_functions_may_be_replaced(problem: Problem) -> None:
    number = fem.assemble(problem.M)
    old = problem.w.dat
    problem.w.dat = op2.Dat(old.dataset, 3 * np.array(old.data_ro), name="w")
    assert fem.assemble(problem.M) == pytest.approx(3 * number)


def test_conditions_may_change_between(problem: Problem) -> None:
    matrix = fem.assemble(problem.a, [fem.DirichletBC(problem.V, 0.0, "left")])
    free = fem.assemble(problem.a, (), matrix).to_scipy()
    assert abs(free.sum(axis=1)).max() < 1e-12
    right = [fem.DirichletBC(problem.V, 0.0, "right")]
    held = fem.assemble(problem.a, right, matrix).to_scipy().toarray()
    for dof in right[0].dofs:
        np.testing.assert_array_equal(held[dof], np.eye(len(held))[dof])


def test_what_is_lifted_may_change_between(problem: Problem) -> None:
    zero = fem.Constant(problem.mesh, 0.0) * problem.v * ufl.dx
    for value in (1.0, -2.0):
        bc = fem.DirichletBC(problem.V, value)
        found = fem.Function(problem.V)
        fem.solve(problem.a == zero, found, [bc])
        np.testing.assert_allclose(found.values, value)


def test_tensors_are_not_kept_alive(problem: Problem) -> None:
    for form in (problem.a, problem.L):
        tensor = fem.assemble(form)
        carrier = tensor if isinstance(tensor, op2.Mat) else tensor.dat
        gone = weakref.ref(carrier)
        del tensor, carrier
        gc.collect()
        assert gone() is None


def test_a_linear_problem_again_makes_no_loop(problem: Problem, made: list[str]) -> None:
    u, v = ufl.TrialFunction(problem.V), ufl.TestFunction(problem.V)
    old = fem.interpolate(1.0, problem.V)
    heat = u * v * ufl.dx + problem.a == old * v * ufl.dx
    bc = fem.DirichletBC(problem.V, 0.0, "left")
    for step in range(1, 4):
        problem.k.value = bc_value = float(step)
        bc.set(bc_value)
        fem.solve(heat, old, [bc])
        assert old.values.max() == pytest.approx(step)  # from the left, as the rest follows
        assert bool(made) == (step == 1)
        made.clear()
    fresh = fem.Function(problem.V)
    before = old.values.copy()
    matrix, vector = fem.assemble_system(heat.lhs, heat.rhs, [bc])
    op2.solve(matrix, fresh.dat, vector.dat, ksp_type="preonly", pc_type="lu")
    fem.solve(heat, old, [bc])
    np.testing.assert_allclose(old.values, fresh.values)
    assert abs(old.values - before).max() > 0.01


def test_newton_again_makes_no_loop(problem: Problem, made: list[str]) -> None:
    z = fem.Function(problem.V)
    F = ufl.inner((1 + z**2) * ufl.grad(z), ufl.grad(problem.v)) * ufl.dx - problem.L
    bcs = [fem.DirichletBC(problem.V, 0.0)]
    first = fem.solve(F == 0, z, bcs)
    values = z.values.copy()
    made.clear()
    z.dat.zero()
    assert fem.solve(F == 0, z, bcs).residuals == first.residuals
    np.testing.assert_array_equal(z.values, values)
    assert made == []
    problem.k.value = 2.0  # another load
    z.dat.zero()
    fem.solve(F == 0, z, bcs)
    assert z.values.max() > 1.5 * values.max()


def test_newton_for_two_unknowns_of_one_form(problem: Problem) -> None:
    """The derivative is by the function that is asked for."""
    y, z = fem.Function(problem.V, name="y"), fem.Function(problem.V, name="z")
    F = (2 * y + z - 6) * problem.v * ufl.dx
    fem.solve(F == 0, y)
    np.testing.assert_allclose(y.values, 3)
    y.dat.data[:] = 1.0
    fem.solve(F == 0, z)
    np.testing.assert_allclose(z.values, 4)


def test_an_operator_again_makes_no_loop(problem: Problem, made: list[str]) -> None:
    operator = fem.action(problem.a, [fem.DirichletBC(problem.V, 0.0, "left")])
    x = op2.Dat(problem.V.dof_set, np.arange(16.0))
    y = op2.Dat(problem.V.dof_set)
    operator(x, y)
    before = np.array(y.data_ro)
    made.clear()
    x.data[:] *= 2
    operator(x, y)
    np.testing.assert_allclose(y.data_ro, 2 * before)
    assert made == []


def test_expressions_again_make_no_loop(problem: Problem, made: list[str]) -> None:
    V, t, x = problem.V, fem.Constant(problem.mesh, 1.0), fem.SpatialCoordinate(problem.mesh)
    g, u, bc = t * x[0], fem.Function(V), fem.DirichletBC(V, 0.0, "right")
    fine = fem.Function(fem.FunctionSpace(problem.mesh, ("P", 2)))
    for step in range(1, 4):
        t.value = step
        bc.set(g)
        np.testing.assert_allclose(bc.values, step)
        fem.interpolate(t * x[1] + problem.w, u)  # written anew in each step
        np.testing.assert_allclose(u.values, step * V.dof_coordinates[:, 1] + problem.w.values)
        fem.interpolate(u, fine)
        assert fem.error_norm(fine, t * x[1] + 1 + x[0]) < 1e-13
        assert fem.norm(t * u, "H10") == pytest.approx(step * np.sqrt(step**2 + 1))
        assert bool(made) == (step == 1)
        made.clear()


def test_expressions_of_other_functions_are_not_compiled_again(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem.w.dat.data[:] = 3.0
    for step in range(1, 4):
        f, k = fem.interpolate(step, problem.V), fem.Constant(problem.mesh, step)
        found = fem.interpolate(k * f + problem.w, problem.V)
        assert found.values.tolist() == [pytest.approx(step**2 + 3)] * 16
        assert fem.error_norm(found, k * f) == pytest.approx(3.0)
        monkeypatch.setattr(loops, "compile_form", None)


def test_an_expression_of_one_function_twice_is_not_that_of_two(problem: Problem) -> None:
    V = problem.V
    one, two = fem.interpolate(1.0, V), fem.interpolate(2.0, V)
    for f, g, expected in ((one, two, 5.0), (two, one, 4.0), (one, one, 3.0), (two, two, 6.0)):
        assert fem.interpolate(f + 2 * g, V).values.tolist() == [expected] * 16
    assert fem.norm(one - two) == pytest.approx(1.0)
    assert fem.norm(two - two) == 0.0
    wide = fem.interpolate(2.0, fem.FunctionSpace(problem.mesh, ("DG", 0)))
    assert fem.norm(one - wide) == pytest.approx(1.0)


def test_expressions_do_not_keep_functions_alive(problem: Problem) -> None:
    f = fem.interpolate(1.0, problem.V)
    fem.interpolate(2 * f, problem.V)
    fem.norm(f)
    gone = weakref.ref(f.dat)
    del f
    gc.collect()
    assert gone() is None


def test_it_goes_on_after_exit(problem: Problem) -> None:
    vector, number = fem.assemble(problem.L), fem.assemble(problem.M)
    before = vector.values.copy()
    twice = fem.interpolate(2 * problem.w, problem.V).values.copy()
    op2.exit()
    op2.init(backend="sequential")
    np.testing.assert_array_equal(fem.interpolate(2 * problem.w, problem.V).values, twice)
    np.testing.assert_allclose(fem.assemble(problem.L, (), vector).values, before)
    assert fem.assemble(problem.M) == pytest.approx(number)
    op2.exit()


def test_threads_do_not_mix_their_numbers(problem: Problem) -> None:
    number = fem.assemble(problem.M)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: fem.assemble(problem.M), range(40)))
    assert found == [pytest.approx(number)] * 40
