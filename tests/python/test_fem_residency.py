# SPDX-License-Identifier: BSD-3-Clause
"""Boundary conditions stay where the data are: no copy between host and device on each call."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import ufl

from pyop2cxx import fem, op2
from pyop2cxx.exceptions import DataValueError, UsageError
from pyop2cxx.mesh import rectangle_mesh

if TYPE_CHECKING:
    from collections.abc import Iterator

SHAPES: tuple[Any, ...] = (("P", 1), ("P", 2), ("P", 1, (2,)))


@pytest.fixture
def ended() -> Iterator[None]:
    yield
    op2.configuration["strict_residency"] = False
    op2.exit()


def forbid_copies() -> None:
    """Refuse implicit copies from now on; those before sent meshes and functions once."""
    op2.configuration["strict_residency"] = True
    op2.transfers.clear()


def allow_copies() -> None:
    op2.configuration["strict_residency"] = False
    implicit = [row for row in op2.transfers.report() if not row.explicit]
    values = [str(row) for row in implicit if row.what not in ("a Map", "a plan")]
    assert values == []
    assert sum(row.count for row in implicit) <= 24  # Maps and plans are sent once


class Problem:
    """A Poisson problem with values given on two sides."""

    def __init__(self, element: Any) -> None:
        self.V = fem.FunctionSpace(rectangle_mesh(6, 5), element)
        u, v = ufl.TrialFunction(self.V), ufl.TestFunction(self.V)
        self.f = fem.Function(self.V)
        self.f.dat.data[...] = 1.5
        self.a = ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx + ufl.inner(u, v) * ufl.dx
        self.L = ufl.inner(self.f, v) * ufl.dx
        self.bcs = [fem.DirichletBC(self.V, 2.0, "left"), fem.DirichletBC(self.V, -1.0, "right")]


@pytest.mark.parametrize("element", SHAPES)
def test_a_hundred_assemblies_copy_nothing(ended: None, element: Any) -> None:
    op2.init(backend="opencl")
    problem = Problem(element)
    A, b = fem.assemble_system(problem.a, problem.L, problem.bcs)
    c, D = fem.assemble(problem.L, problem.bcs), fem.assemble(problem.a, problem.bcs)
    forbid_copies()
    for _ in range(100):
        fem.assemble_system(problem.a, problem.L, problem.bcs, tensors=(A, b))
        fem.assemble(problem.L, problem.bcs, c)
        fem.assemble(problem.a, problem.bcs, D)
    allow_copies()
    got = {"A": A, "D": D, "b": b.dat, "c": c.dat}
    for one in got.values():
        one.to_host()
    values = A.to_scipy().toarray(), D.to_scipy().toarray(), b.values.copy(), c.values.copy()
    op2.exit()
    op2.init(backend="sequential")
    host = Problem(element)
    A, b = fem.assemble_system(host.a, host.L, host.bcs)
    c, D = fem.assemble(host.L, host.bcs), fem.assemble(host.a, host.bcs)
    wanted = A.to_scipy().toarray(), D.to_scipy().toarray(), b.values, c.values
    for one, other in zip(values, wanted, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-13)


def test_newton_copies_what_the_solver_on_the_host_needs(ended: None) -> None:
    """No library solves on OpenCL's devices: matrix, residual and step travel, nothing else."""
    op2.init(backend="opencl")
    problem = Problem(("P", 1))
    u, v = fem.Function(problem.V), ufl.TestFunction(problem.V)
    F = (ufl.inner(ufl.grad(u), ufl.grad(v)) + (u**3 - 40) * v) * ufl.dx
    options = {"ksp_type": "cg", "pc_type": "jacobi", "ksp_rtol": 1e-12}
    first = fem.solve(F == 0, u, problem.bcs, **options)
    assert first.n_iterations >= 5
    u.dat.zero()
    op2.transfers.clear()
    history = fem.solve(F == 0, u, problem.bcs, **options)
    assert history.n_iterations == first.n_iterations
    implicit = [row for row in op2.transfers.report() if not row.explicit]
    assert {row.what.split("'")[1] for row in implicit} == {"A", "residual", "step"}
    assert all(row.count == history.n_iterations for row in implicit)


@pytest.mark.parametrize("backend", ["sequential", "opencl"])
def test_values_that_change_between_assemblies_are_seen(ended: None, backend: str) -> None:
    op2.init(backend=backend)
    problem = Problem(("P", 1))
    left, right = problem.bcs
    b = fem.assemble(problem.L, problem.bcs)
    for step in range(4):
        left.set(float(step))
        right.values[...] = -step  # in place
        fem.assemble(problem.L, problem.bcs, b)
        assert (b.values[left.dofs] == step).all()
        assert (b.values[right.dofs] == -step).all()
    # new conditions on the same dofs
    fem.assemble(problem.L, [fem.DirichletBC(problem.V, 9.0, "left")], b)
    assert (b.values[left.dofs] == 9).all()
    # of two that meet, the last one counts
    whole = fem.DirichletBC(problem.V, 5.0)
    fem.assemble(problem.L, [left, whole], b)
    assert (b.values[whole.dofs] == 5).all()
    fem.assemble(problem.L, [whole, left], b)
    assert (b.values[left.dofs] == 3).all()


@pytest.mark.parametrize("backend", ["sequential", "opencl"])
def test_lifting_into_other_vectors_leaves_earlier_ones(ended: None, backend: str) -> None:
    op2.init(backend=backend)
    problem = Problem(("P", 2))
    A, b = fem.assemble_system(problem.a, problem.L, problem.bcs)
    before = b.values.copy()
    for _ in range(3):
        other = fem.assemble_system(problem.a, problem.L, problem.bcs, tensors=(A, None))[1]
        np.testing.assert_allclose(other.values, before, rtol=1e-13)
    np.testing.assert_array_equal(b.values, before)
    lifted = fem.assemble(problem.L)
    fem.lift(lifted, problem.a, problem.bcs)
    for bc in problem.bcs:
        bc.apply(lifted)
    np.testing.assert_allclose(lifted.values, before, atol=1e-13)


@pytest.mark.parametrize("backend", ["sequential", "opencl"])
def test_what_is_dropped_dies_before_the_end_of_the_program(ended: None, backend: str) -> None:
    op2.init(backend=backend)

    def used() -> list[weakref.ref[Any]]:
        problem = Problem(("P", 1))
        A, b = fem.assemble_system(problem.a, problem.L, problem.bcs)
        fem.solve(problem.a == problem.L, fem.Function(problem.V), problem.bcs)
        mesh = problem.V.mesh
        kept = (mesh, mesh.coordinates, problem.V, problem.f, A, b, fem.compiled(problem.a))
        return [weakref.ref(one) for one in kept]

    found = [one for _ in range(5) for one in used()]
    gc.collect()
    assert [one() for one in found if one() is not None] == []


def test_wrong_conditions_leave_the_tensor_as_it_is(ended: None) -> None:
    op2.init(backend="sequential")
    problem = Problem(("P", 1))
    A, b = fem.assemble_system(problem.a, problem.L, problem.bcs)
    before = A.to_scipy().toarray(), b.values.copy()
    wrong: list[Any] = [problem.bcs[0], [*problem.bcs, "left"]]
    for bcs in wrong:
        with pytest.raises(UsageError, match="bcs are a sequence of DirichletBC"):
            fem.assemble(problem.a, bcs, A)
        with pytest.raises(UsageError, match="bcs are a sequence of DirichletBC"):
            fem.assemble(problem.L, bcs, b)
    np.testing.assert_array_equal(A.to_scipy().toarray(), before[0])
    np.testing.assert_array_equal(b.values, before[1])


def test_a_diagonal_that_the_dtype_does_not_hold_is_refused(ended: None) -> None:
    op2.init(backend="sequential")
    problem = Problem(("P", 1))
    with pytest.raises(DataValueError):
        fem.assemble(problem.a, problem.bcs, diagonal=1j)  # type: ignore[arg-type]


@pytest.mark.parametrize("backend", ["sequential", "opencl"])
@pytest.mark.parametrize("scale", [1.0, -2.0])
def test_a_start_may_be_of_another_precision(ended: None, backend: str, scale: float) -> None:
    op2.init(backend=backend)
    problem = Problem(("P", 1))
    (bc, _), b = problem.bcs, fem.Function(problem.V)
    start = fem.Function(problem.V, np.float32)
    start.dat.data[...] = 0.5
    bc.apply(b, start, scale)
    assert (b.values[bc.dofs] == scale * 1.5).all()
    bc.apply(b, start.copy(), 1.0)
    assert (b.values[bc.dofs] == 1.5).all()
