# SPDX-License-Identifier: BSD-3-Clause
"""p-multigrid: the steps depend neither on the degree nor on the mesh."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ffcx")
ufl = importlib.import_module("ufl")

from pyop2cxx import fem, op2  # noqa: E402
from pyop2cxx.exceptions import (  # noqa: E402
    ConvergenceError,
    DataValueError,
    SolverOptionError,
    UnsupportedError,
    UsageError,
)
from pyop2cxx.fem import multigrid  # noqa: E402
from pyop2cxx.fem.multigrid import Level, Multigrid, _diagonal  # noqa: E402
from pyop2cxx.mesh import Mesh, cube_mesh, square_mesh  # noqa: E402

pytestmark = pytest.mark.usefixtures("exits")
BACKENDS = [b.name for b in op2.backends() if b.available]
PMG = {"pc_type": "pmg", "ksp_rtol": 1e-12}


class Problem:
    """Poisson's equation with a coefficient, values given on two sides, and a boundary term."""

    def __init__(self, mesh: Mesh, element: Any, dtype: Any = float) -> None:
        self.V = V = fem.FunctionSpace(mesh, element)
        self.dtype = dtype
        u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
        P1 = fem.FunctionSpace(mesh, ("P", 1))
        self.k = fem.interpolate(lambda x: 1 + x[0] ** 2, fem.Function(P1, dtype, "k"))
        self.a = self.k * ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx + ufl.inner(u, v) * ufl.ds
        load = self.k if V.dim == 1 else ufl.as_vector([self.k, *[2 * self.k] * (V.dim - 1)])
        self.L = ufl.inner(load, v) * ufl.dx
        self.bcs = [fem.DirichletBC(V, 1.0, "left"), fem.DirichletBC(V, 0.5, "right", V.dim - 1)]

    def whole(self) -> fem.Function:
        """The solution by factors of the matrix."""
        found = fem.Function(self.V, self.dtype)
        fem.solve(self.a == self.L, found, self.bcs)
        return found

    def check(self, most_steps: int, tolerance: float = 1e-10, **options: Any) -> None:
        found = fem.Function(self.V, self.dtype)
        went = fem.solve(self.a == self.L, found, self.bcs, **{**PMG, **options})
        assert went.n_iterations <= most_steps
        assert np.allclose(found.values, self.whole().values, atol=tolerance)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("element", [("Q", 3), ("Q", 4, (2,))])
def test_the_solution_is_that_of_the_matrix(element: Any, backend: str) -> None:
    with op2.backend(backend):
        Problem(square_mesh(3, cell="quadrilateral"), element).check(15)


@pytest.mark.parametrize("n", [4, 12])
@pytest.mark.parametrize("degree", [2, 3, 5, 8])
def test_steps_depend_neither_on_degree_nor_on_mesh(degree: int, n: int) -> None:
    Problem(square_mesh(n, cell="quadrilateral"), ("Q", degree)).check(15)


@pytest.mark.parametrize(
    ("cell", "element"),
    [("hexahedron", ("Q", 3)), ("tetrahedron", ("P", 2)), ("triangle", ("P", 4))],
)
def test_cells(cell: str, element: Any) -> None:
    make = square_mesh if cell == "triangle" else cube_mesh
    Problem(make(3, cell=cell), element).check(16)


def test_float32() -> None:
    problem = Problem(square_mesh(3, cell="quadrilateral"), ("Q", 3), "float32")
    problem.check(15, 1e-4, ksp_rtol=1e-5)


def test_the_cycle_is_symmetric_and_positive() -> None:
    problem = Problem(square_mesh(2, cell="quadrilateral"), ("Q", 3))
    multigrid = Multigrid(fem.Form(problem.a), problem.bcs)
    multigrid.assemble()
    n, dset = problem.V.size, problem.V.dof_set**1
    columns = []
    given = np.zeros(n, bool)
    for bc in problem.bcs:
        given[bc.dofs] = True
    for i in np.flatnonzero(~given):
        r, z = op2.Dat(dset, np.eye(n)[i]), op2.Dat(dset)
        multigrid(r, z)
        columns.append(z.data_ro[~given])
    dense = np.array(columns)
    assert np.allclose(dense, dense.T, atol=1e-12)
    assert np.linalg.eigvalsh(dense).min() > 0


@pytest.mark.parametrize("element", [("P", 2), ("P", 3, (2,))])
def test_the_diagonal_is_that_of_the_matrix(element: Any) -> None:
    problem = Problem(square_mesh(3), element)
    form = fem.Form(problem.a)
    found = fem.Function(problem.V)
    _diagonal(form).add_to(found.dat)
    assert np.allclose(found.values.reshape(-1), np.diag(fem.assemble(form).values), atol=1e-14)


def test_functions_and_conditions_are_followed() -> None:
    problem = Problem(square_mesh(4, cell="quadrilateral"), ("Q", 3))
    problem.check(15)
    fem.interpolate(lambda x: 5 - x[1], problem.k)
    problem.bcs[0].set(-2.0)
    problem.check(15)
    problem.bcs.append(fem.DirichletBC(problem.V, 0.0, np.array([problem.V.size - 1])))
    problem.check(25)  # a single dof inside of a cell


def test_levels_are_set_up_again_only_for_new_values(monkeypatch: pytest.MonkeyPatch) -> None:
    n_made: list[int] = []
    plain = Level.make_smoother

    def counted(self: Level, **options: Any) -> None:
        n_made.append(1)
        plain(self, **options)

    monkeypatch.setattr(Level, "make_smoother", counted)
    problem = Problem(square_mesh(4, cell="quadrilateral"), ("Q", 2))
    problem.check(15)
    assert len(n_made) == 2
    problem.check(15)
    assert len(n_made) == 2
    view = problem.k.dat.data
    view[:] = 3.0
    problem.check(15)
    assert len(n_made) == 4
    view[:] = 4.0  # without a word to the Dat
    problem.check(15)
    assert len(n_made) == 6
    del view
    x = problem.V.mesh.coordinates
    x.data[:] *= 1.5
    problem.check(15)
    assert len(n_made) == 8


def test_many_steps_are_replaced_by_factors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multigrid, "MOST_STEPS", 2)
    problem = Problem(square_mesh(4, cell="quadrilateral"), ("Q", 3))
    problem.check(15)
    fem.interpolate(lambda x: 1 + 1e4 * x[1], problem.k)
    problem.check(15, tolerance=1e-8)


@pytest.mark.parametrize("n", [2, 6])
def test_eigenvalues_are_those_of_the_scaled_matrix(n: int) -> None:
    problem = Problem(square_mesh(n, cell="quadrilateral"), ("Q", 2))
    levels = Multigrid(fem.Form(problem.a), problem.bcs).levels
    for level in levels:
        level.make_smoother(is_lowest=level is levels[-1])
    matrix = fem.assemble(levels[-1].form, levels[-1].bcs).values
    exact = np.linalg.eigvals(matrix / np.diag(matrix)[:, None]).real
    smallest, largest = levels[-1]._eigenvalues(200)
    assert smallest == pytest.approx(exact.min(), rel=0.02)
    assert largest == pytest.approx(exact.max(), rel=0.02)
    b = levels[-1].right.dat
    b.data[:] = np.random.default_rng(n).random(b.data.shape)
    solved = np.linalg.solve(matrix, b.data_ro)
    levels[-1].smooth(from_zero=True)
    error = levels[-1].found.values - solved
    assert 0 < error @ matrix @ error <= (multigrid.LOWEST * 1.2) ** 2 * (solved @ matrix @ solved)


class TestRefusals:
    def test_elements_and_scalars(self) -> None:
        mesh = square_mesh(2, cell="quadrilateral")
        for element in (("Q", 1), ("DQ", 2), ("RTCF", 2)):
            V = fem.FunctionSpace(mesh, element)
            u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
            f = fem.Function(V)
            with pytest.raises(UsageError, match="continuous Lagrange elements of degree 2"):
                fem.solve(ufl.inner(u, v) * ufl.dx == ufl.inner(f, v) * ufl.dx, f.copy(), **PMG)
        problem = Problem(mesh, ("Q", 2), complex)
        with pytest.raises(UnsupportedError, match="real numbers, got complex128"):
            problem.check(1)

    def test_methods(self) -> None:
        problem = Problem(square_mesh(2), ("P", 2))
        with pytest.raises(UsageError, match="for ksp_type 'cg'"):
            problem.check(1, ksp_type="gmres")
        with pytest.raises(SolverOptionError, match="there is no option 'ksp_rol'"):
            problem.check(1, ksp_rol=1)

    def test_a_form_that_is_not_positive(self) -> None:
        problem = Problem(square_mesh(2), ("P", 2))
        problem.a = -1 * problem.a
        with pytest.raises(DataValueError, match=r"entry \d+ of the diagonal.* positive definite"):
            problem.check(1)

    def test_values_that_are_not_finite(self) -> None:
        problem = Problem(square_mesh(2), ("P", 2))
        problem.L = fem.Constant(problem.V.mesh, np.nan) * problem.L
        with pytest.raises(DataValueError, match="not finite"):
            problem.check(1)
        problem = Problem(square_mesh(2), ("P", 2))
        problem.k.dat.data[3] = np.nan
        with pytest.raises(DataValueError, match="diagonal"):
            problem.check(1)

    def test_too_few_steps(self) -> None:
        problem = Problem(square_mesh(4), ("P", 3))
        with pytest.raises(ConvergenceError, match="cg with pmg did not converge"):
            problem.check(1, ksp_max_it=2)

    def test_a_load_of_zero(self) -> None:
        problem = Problem(square_mesh(2), ("P", 2))
        u = fem.interpolate(3.0, problem.V)
        zero = fem.DirichletBC(problem.V, 0.0)
        went = fem.solve(problem.a == 0 * problem.L, u, [zero], **PMG)
        assert went.n_iterations == 0
        assert not u.values.any()
