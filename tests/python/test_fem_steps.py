# SPDX-License-Identifier: BSD-3-Clause
"""Steps over time with forms: into the same tensors, conditions applied, forms compiled at once."""

from __future__ import annotations

import doctest
import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("ffcx")
ufl = importlib.import_module("ufl")

from pyop2cxx import fem, op2  # noqa: E402
from pyop2cxx.exceptions import DataValueError, DatTypeError, ToolchainError, UsageError  # noqa: E402
from pyop2cxx.fem import assembly, conditions  # noqa: E402
from pyop2cxx.mesh import Mesh, square_mesh  # noqa: E402
from pyop2cxx.runtime import runtime  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BACKENDS = [b.name for b in op2.backends() if b.available]


@pytest.fixture(autouse=True)
def _leave_no_options() -> Iterator[None]:
    yield
    op2.exit()


class Problem:
    """A problem that is not symmetric, with conditions on two sides."""

    def __init__(self, element: Any = ("P", 1), dtype: Any = float) -> None:
        self.mesh: Mesh = square_mesh(3)
        self.V = V = fem.FunctionSpace(self.mesh, element)
        u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
        self.f = fem.interpolate(lambda x: 1 + x[0], fem.Function(V, dtype, "f"))
        wind = ufl.as_vector([1.0, 2.0])
        self.a = (ufl.inner(ufl.grad(u), ufl.grad(v)) + ufl.dot(wind, ufl.grad(u)) * v) * ufl.dx
        self.a += u * v * ufl.ds
        self.L = self.f * v * ufl.dx
        self.bcs = [
            fem.DirichletBC(V, lambda x: 2 + x[1], "left"),
            fem.DirichletBC(V, -1.0, "right"),
        ]


@pytest.fixture
def problem() -> Problem:
    return Problem()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_system_is_assembled_into_the_same_tensors(problem: Problem, backend: str) -> None:
    with op2.backend(backend):
        A, b = fem.assemble_system(problem.a, problem.L, problem.bcs)
        entries, values = A.to_scipy().toarray(), b.values.copy()
        A.zero()
        fem.interpolate(9.0, b)
        for _ in range(2):
            again = fem.assemble_system(problem.a, problem.L, problem.bcs, tensors=(A, b))
            assert again == (A, b)
            np.testing.assert_array_equal(A.to_scipy().toarray(), entries)
            np.testing.assert_array_equal(b.values, values)
        problem.f.dat.data[:] *= 2
        fresh = fem.assemble_system(problem.a, problem.L, problem.bcs)
        fem.assemble_system(problem.a, problem.L, problem.bcs, tensors=(A, b))
        np.testing.assert_array_equal(b.values, fresh[1].values)


def test_one_of_the_tensors_may_be_new(problem: Problem) -> None:
    A, b = fem.assemble_system(problem.a, problem.L, problem.bcs)
    found = fem.assemble_system(problem.a, problem.L, problem.bcs, tensors=(A, None))
    assert found[0] is A
    assert found[1] is not b
    np.testing.assert_array_equal(found[1].values, b.values)
    found = fem.assemble_system(problem.a, problem.L, problem.bcs, tensors=[None, b])
    assert found[1] is b


def test_tensors_that_do_not_fit_are_refused_and_keep_their_values(problem: Problem) -> None:
    A, b = fem.assemble_system(problem.a, problem.L, problem.bcs)
    before = A.to_scipy().toarray(), b.values.copy()
    other = Problem()
    c = fem.assemble(other.L)
    wrong: list[tuple[Any, str]] = [
        ((A, c), r"of its space: expected a Function of .*P.*, got 'b'"),
        ((A, b.dat), r"expected a Function of .*, got Dat"),
        ((b, A), "assembled to a Mat of its Sparsity"),
        ((fem.assemble(other.a), b), "assembled to a Mat of its Sparsity"),
        ((A, fem.Function(problem.V, np.float32)), "has dtype float64, but 'u' has float32"),
    ]
    for tensors, message in wrong:
        with pytest.raises(DatTypeError, match=message):
            fem.assemble_system(problem.a, problem.L, problem.bcs, tensors=tensors)
    for tensors in (A, (A,), (A, b, b), None):
        with pytest.raises(UsageError, match=r"a matrix and a vector, \(A, b\)"):
            fem.assemble_system(problem.a, problem.L, problem.bcs, tensors=tensors)
    with pytest.raises(UsageError, match="'f' is in the form, so that it cannot be assembled to"):
        fem.assemble_system(problem.a, problem.L, tensors=(A, problem.f))
    with pytest.raises(UsageError, match="'f' is in the form"):
        fem.assemble(problem.L, tensor=problem.f)
    with pytest.raises(DatTypeError, match="without arguments is a number"):
        fem.assemble(problem.f * ufl.dx, tensor=b)
    with pytest.raises(UsageError, match="sequence of DirichletBC"):
        fem.assemble_system(problem.a, problem.L, [1], tensors=(A, b))
    np.testing.assert_array_equal(A.to_scipy().toarray(), before[0])
    np.testing.assert_array_equal(b.values, before[1])
    assert problem.f.values.any()


def test_complex_values_of_conditions_are_refused_before(problem: Problem) -> None:
    A, b = fem.assemble_system(problem.a, problem.L, problem.bcs)
    before = A.to_scipy().toarray(), b.values.copy()
    bcs = [fem.DirichletBC(problem.V, 1j, "left")]
    for act in (
        lambda: fem.assemble_system(problem.a, problem.L, bcs, tensors=(A, b)),
        lambda: fem.assemble(problem.L, bcs, b),
        lambda: bcs[0].apply(b),
    ):
        with pytest.raises(DataValueError, match="'b': its values are float64, got complex ones"):
            act()
    with pytest.raises(DataValueError, match="got complex ones"):
        fem.lift(b, problem.a, bcs)
    np.testing.assert_array_equal(A.to_scipy().toarray(), before[0])
    np.testing.assert_array_equal(b.values, before[1])


def test_systems_of_single_precision_are_assembled_again() -> None:
    problem = Problem(dtype=np.float32)
    forms = (problem.a, problem.L, problem.bcs)
    A, b = fem.assemble_system(*forms, dtype=np.float32)
    assert (A.dtype, b.dat.dtype) == (np.float32, np.float32)
    entries, values = A.to_scipy().toarray(), b.values.copy()
    fem.assemble_system(*forms, dtype=np.float32, tensors=(A, b))
    np.testing.assert_array_equal(A.to_scipy().toarray(), entries)
    np.testing.assert_array_equal(b.values, values)
    np.testing.assert_allclose(by_steps(problem, None, 1.0), values, atol=1e-5)


def test_sides_of_different_spaces_are_refused(problem: Problem) -> None:
    other = ufl.TestFunction(fem.FunctionSpace(problem.mesh, ("P", 2)))
    with pytest.raises(UsageError, match=r"both sides are of one space; these are of .*P.*1.*2"):
        fem.assemble_system(problem.a, other * ufl.dx)


def by_steps(problem: Problem, x0: fem.Function | None, scale: float) -> np.ndarray:
    b = fem.assemble(problem.L)
    fem.lift(b, problem.a, problem.bcs, x0, scale)
    for bc in problem.bcs:
        bc.apply(b, x0, scale)
    return b.values


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("element", [("P", 1), ("P", 2)])
def test_lifting_in_steps_is_that_of_a_system(element: Any, backend: str) -> None:
    problem = Problem(element)
    with op2.backend(backend):
        b = fem.assemble_system(problem.a, problem.L, problem.bcs)[1]
        np.testing.assert_allclose(by_steps(problem, None, 1.0), b.values, atol=1e-14)


@pytest.mark.parametrize("scale", [1.0, -1.0, 0.5, 0.0])
@pytest.mark.parametrize("has_x0", [False, True])
def test_lifting_knows_a_guess_and_a_scale(problem: Problem, has_x0: bool, scale: float) -> None:
    matrix = fem.assemble(problem.a).to_scipy().toarray()
    held, g = np.zeros(problem.V.size, bool), np.zeros(problem.V.size)
    for bc in problem.bcs:
        held[bc.dofs], g[bc.dofs] = True, bc.values
    x0 = fem.interpolate(lambda x: 3 * x[0] - x[1], problem.V) if has_x0 else None
    change = np.where(held, g - (x0.values if x0 else 0), 0)
    expected = fem.assemble(problem.L).values - scale * matrix @ change
    expected[held] = scale * change[held]
    np.testing.assert_allclose(by_steps(problem, x0, scale), expected, atol=1e-13)


def test_a_step_of_newton_ends_at_the_given_values(problem: Problem) -> None:
    """J dx = b - A x0 with lifted conditions leads from any guess to the solution at once."""
    found = fem.Function(problem.V)
    fem.solve(problem.a == problem.L, found, problem.bcs)
    x0 = fem.interpolate(5.0, problem.V)
    b = fem.assemble(problem.L)
    b.dat.data[:] -= fem.assemble(ufl.action(problem.a, x0)).values
    fem.lift(b, problem.a, problem.bcs, x0)
    for bc in problem.bcs:
        bc.apply(b, x0)
    step = fem.Function(problem.V)
    A = fem.assemble(problem.a, problem.bcs)
    op2.solve(A, step.dat, b.dat, ksp_type="preonly", pc_type="lu")
    np.testing.assert_allclose(x0.values + step.values, found.values, atol=1e-12)


def test_lifting_between_two_spaces() -> None:
    """Rows and columns are of different spaces; conditions are of either."""
    mesh = square_mesh(2)
    V, Q = fem.FunctionSpace(mesh, ("P", 2)), fem.FunctionSpace(mesh, ("P", 1))
    a = ufl.TrialFunction(V).dx(0) * ufl.TestFunction(Q) * ufl.dx
    bc = fem.DirichletBC(V, lambda x: 1 + x[1], "left")
    b, g = fem.Function(Q), fem.Function(V)
    bc.apply(g)
    fem.lift(b, a, [bc])
    np.testing.assert_allclose(b.values, -fem.assemble(a).to_scipy() @ g.values, atol=1e-14)
    with pytest.raises(DatTypeError, match=r"DirichletBC\.apply: expected a Function of"):
        bc.apply(b)


def test_conditions_are_applied_to_parts_of_mixed_spaces() -> None:
    W = fem.FunctionSpace(square_mesh(2), [("P", 1, (2,)), ("P", 1)])
    w = fem.Function(W)
    fem.DirichletBC(W.sub(1), 3.0).apply(w)
    fem.DirichletBC(W.sub(0), (1.0, 2.0), "left").apply(w)
    velocity, pressure = w.split()
    assert (velocity.values.sum(), pressure.values.sum()) == (9.0, 24.0)


def test_what_conditions_cannot_be_applied_to_is_refused(problem: Problem) -> None:
    bc, u = problem.bcs[0], fem.Function(problem.V)
    other = fem.Function(fem.FunctionSpace(problem.mesh, ("P", 2)))
    for wrong in (other, u.dat, u.values, None):
        with pytest.raises(DatTypeError, match=r"DirichletBC\.apply: expected a Function of"):
            bc.apply(wrong)
        if wrong is not None:
            with pytest.raises(DatTypeError, match=r"DirichletBC\.apply: x0: expected a Function"):
                bc.apply(u, wrong)
            with pytest.raises(DatTypeError, match="lift: x0: expected a Function"):
                fem.lift(u, problem.a, problem.bcs, wrong)
    assert not u.values.any()
    with pytest.raises(UsageError, match="lift: expected a bilinear form, got one of rank 1"):
        fem.lift(u, problem.L, problem.bcs)
    with pytest.raises(DatTypeError, match="lift: a linear form is assembled to a Function"):
        fem.lift(other, problem.a, problem.bcs)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_same_again_compiles_nothing_and_makes_no_loop(
    problem: Problem, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    with op2.backend(backend):
        tensors = fem.assemble_system(problem.a, problem.L, problem.bcs)
        make = op2.ParLoop.__init__

        def noted(self: Any, kernel: Any, *args: Any, **options: Any) -> None:
            made.append(kernel.name)
            make(self, kernel, *args, **options)

        monkeypatch.setattr(op2.ParLoop, "__init__", noted)
        for _ in range(3):
            fem.assemble_system(problem.a, problem.L, problem.bcs, tensors=tensors)
    assert made == []


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many loops were compiled at once, each time that this was asked for."""
    counts: list[int] = []
    together = importlib.import_module("pyop2cxx.pipeline.together")
    old = together._compile_at_once

    def noted(group: Any) -> None:
        counts.append(len(group))
        old(group)

    monkeypatch.setattr(together, "_compile_at_once", noted)
    return counts


def test_loops_of_a_problem_are_compiled_at_once(
    problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two integrals of the matrix, one of the vector."""
    op2.init(backend="sequential", cache_dir=str(tmp_path))
    counts = counted(monkeypatch)
    fem.assemble_system(problem.a, problem.L, problem.bcs)
    assert counts == [3]


def test_forms_are_compiled_at_once_before_they_are_assembled(
    problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    op2.init(backend="sequential", cache_dir=str(tmp_path))
    counts = counted(monkeypatch)
    M = problem.f**2 * ufl.dx
    forms = fem.compile_together(problem.a, problem.L, M, bcs=problem.bcs)
    assert [form.rank for form in forms] == [2, 1, 0]
    assert forms[0] is fem.compiled(problem.a)
    assert counts == [4]
    n_compiles = runtime.engine.service.statistics().n_compiles
    fem.assemble_system(problem.a, problem.L, problem.bcs)
    assert fem.assemble(M) == pytest.approx(7 / 3)
    fem.compile_together(*forms, bcs=problem.bcs)
    assert counts == [4]
    # loops of the package's own lift given values and set them
    assert runtime.engine.service.statistics().n_compiles - n_compiles <= 2


def test_newtons_loops_and_those_of_an_operator_are_compiled_at_once(
    problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    op2.init(backend="sequential", cache_dir=str(tmp_path))
    counts = counted(monkeypatch)
    u, v = fem.Function(problem.V), ufl.TestFunction(problem.V)
    F = (1 + u**2) * ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx - v * ufl.ds
    fem.solve(F == 0, u, problem.bcs)
    assert counts == [3]
    fem.action(problem.a)
    assert counts == [3, 2]


def test_loops_that_wait_are_not_compiled_before(
    problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chain may make one function of several."""
    op2.init(backend="sequential", cache_dir=str(tmp_path))
    expected = fem.assemble(Problem().L).values
    counts = counted(monkeypatch)
    b = fem.Function(problem.V)
    with op2.chain():
        fem.assemble(problem.L + problem.f * ufl.TestFunction(problem.V) * ufl.ds, tensor=b)
    assert counts == []
    assert b.values.sum() > expected.sum()


def test_check_mode_compiles_nothing_before(
    problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    b = fem.assemble_system(problem.a, problem.L, problem.bcs)[1]
    op2.init(backend="sequential", cache_dir=str(tmp_path), check=True)
    counts = counted(monkeypatch)
    again = fem.assemble_system(problem.a, problem.L, problem.bcs)[1]
    np.testing.assert_allclose(again.values, b.values, atol=1e-14)
    assert counts == []


def test_a_compiler_that_is_missing_is_an_error_of_the_loop(
    problem: Problem, tmp_path: Path
) -> None:
    cache, compiler = str(tmp_path / "cache"), str(tmp_path / "no_compiler")
    op2.init(backend="sequential", cache_dir=cache, cc=compiler)
    with pytest.raises(ToolchainError, match=r"par_loop .*no_compiler"):
        fem.assemble(problem.a)


@pytest.mark.parametrize("module", [assembly, conditions])
def test_documented_examples_run(module: Any) -> None:
    assert doctest.testmod(module).failed == 0
