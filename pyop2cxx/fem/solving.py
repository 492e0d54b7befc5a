# SPDX-License-Identifier: BSD-3-Clause
"""Linear and nonlinear problems, and norms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.algebra.solvers import Solver
from pyop2cxx.exceptions import ConvergenceError, UsageError
from pyop2cxx.fem._packages import ufl
from pyop2cxx.fem.assembly import (
    assemble,
    assembled_again,
    compiled,
    is_zero,
    right_side,
)
from pyop2cxx.fem.domain import Domain
from pyop2cxx.fem.functions import Function, check_function
from pyop2cxx.fem.held import checked, held_of
from pyop2cxx.fem.loops import Form, compile_first
from pyop2cxx.fem.multigrid import solve_by_multigrid
from pyop2cxx.fem.stand_ins import form_of
from pyop2cxx.fem.values import shown
from pyop2cxx.runtime.tracebacks import ends_traceback

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyop2cxx.algebra.convergence import Convergence
    from pyop2cxx.fem.conditions import DirichletBC

DIRECT: Mapping[str, Any] = {"ksp_type": "preonly", "pc_type": "lu"}
"""The options of `pyop2cxx.op2.solve` where none are given."""


@dataclass(frozen=True)
class NewtonHistory:
    """Convergence history of Newton's method.

    Attributes:
        residuals: Norms of the residual: at the start, and after each step.
    """

    residuals: tuple[float, ...]

    @property
    def n_iterations(self) -> int:
        """Number of steps."""
        return len(self.residuals) - 1


@ends_traceback
def solve(
    equation: Any,
    u: Function,
    bcs: Sequence[DirichletBC] = (),
    *,
    J: Any = None,
    rtol: float = 1e-9,
    atol: float = 1e-10,
    max_it: int = 25,
    **options: Any,
) -> Convergence | NewtonHistory:
    """Solve a linear problem ``a == L``, or by Newton's method a nonlinear one ``F == 0``.

    Args:
        equation: Two forms, of rank 2 and 1; or the residual, of rank 1 and a function of ``u``,
            and 0.
        u: The solution; of a nonlinear problem, and of iterative solvers, also the first guess.
        bcs: Boundary conditions.
        J: The Jacobian of the residual; None means ``ufl.derivative(F, u)``.
        rtol: Newton's method stops when the residual, divided by the residual at the start, is
            smaller,
        atol: or when the residual itself is smaller.
        max_it: Most steps of Newton's method.
        **options: Of `pyop2cxx.op2.solve`; a sparse LU factorisation if there are none. Of linear
            problems also ``pc_type="pmg"``, p-multigrid: conjugate gradients without a matrix of
            the space, for symmetric positive definite forms and continuous Lagrange elements of
            degree 2 or more.

    Returns:
        The history of convergence.

    Raises:
        UsageError: The equation is of another kind, or u of another space.
        ConvergenceError: The method did not converge; u has the last values.
    """
    if not isinstance(equation, ufl.equation.Equation):
        raise UsageError("solve: expected an equation of UFL's, a == L or F == 0")
    if not isinstance(u, Function):
        raise UsageError(f"solve: expected a Function, got {type(u).__name__}")
    options = options or dict(DIRECT)
    _check_conditions(bcs, u)
    left = compiled(equation.lhs, u.dat.compute)
    if is_zero(equation.rhs) and left.rank != 2:
        return _newton(left, u, bcs, J, (rtol, atol, max_it), options)
    if left.rank != 2:
        raise UsageError(
            f"solve: expected a == L with trial and test functions in a, or F == 0; got a form of "
            f"rank {left.rank} on the left"
        )
    right = right_side(equation.rhs, left, "solve")
    check_function(u, left.spaces[1], "solve: the solution is of the space of trial functions")
    if options.get("pc_type") == "pmg":
        with left.lock:
            return solve_by_multigrid(left, right, u, bcs, options)
    with left.lock:  # held while the tensors, kept for the next call, are in use
        kept = (
            left.derived("matrix", left.tensor),
            left.derived("vector", lambda: _right_side(left)),
        )
        matrix, vector = assembled_again(left, right, bcs, *kept)
        # the solver keeps factors while the matrix is the same
        solver: Solver = left.derived("solver", Solver)
        solver.update_parameters(Solver(**options).parameters)
        solver.solve(matrix, u.dat, vector.dat)
        assert solver.convergence is not None  # set by solve
        return solver.convergence


def _check_conditions(bcs: Sequence[DirichletBC], u: Function) -> None:
    for bc in checked(bcs):
        if bc.space.dof_set is not u.space.dof_set:
            raise UsageError(
                f"solve: {bc!r} is of another space than '{u.name}', of {u.space}; it would hold "
                "nothing"
            )


def _newton(
    residual: Form,
    u: Function,
    bcs: Sequence[DirichletBC],
    J: Any,
    tolerances: tuple[float, float, int],
    options: dict[str, Any],
) -> NewtonHistory:
    rtol, atol, max_it = tolerances
    if residual.rank != 1:
        raise UsageError(
            "solve: in F == 0, F has a test function and no trial function, so rank 1; got a form "
            f"of rank {residual.rank}"
        )
    check_function(u, residual.spaces[0], "solve: the solution is of the space of test functions")
    if u not in residual.coefficients:
        raise UsageError(
            f"solve: F == 0 is to be solved for '{u.name}', which is not in F; the functions in F "
            f"are {residual.coefficients}"
        )
    jacobian = _jacobian(residual, u) if J is None else compiled(J, u.dat.compute)
    if any(one.dof_set is not u.space.dof_set for one in jacobian.spaces) or jacobian.rank != 2:
        raise UsageError(
            f"solve: J is a bilinear form of the space of '{u.name}', got one of rank "
            f"{jacobian.rank} of {', '.join(map(str, jacobian.spaces)) or 'no space'}"
        )
    held, own = held_of(u.space, bcs)
    held.put(u, held.values_of(own))
    step, vector = residual.derived("vectors", lambda: _two_functions(u))
    matrix = None if J is not None else jacobian.derived("matrix", jacobian.tensor)
    if matrix is not None:
        compile_first((residual, vector.dat), (jacobian, matrix))
    norms: list[float] = []
    solver = Solver(**options)
    while True:
        vector = assemble(residual, (), vector)
        held.put(vector)
        norms.append(vector.dat.norm)
        if norms[-1] <= max(rtol * norms[0], atol):
            return NewtonHistory(tuple(norms))
        if len(norms) > max_it or not np.isfinite(norms[-1]):
            error = ConvergenceError(
                f"solve: Newton's method made {len(norms) - 1} steps, and the residual went from "
                f"{norms[0]:.3e} to {norms[-1]:.3e}; a better first guess or smaller loads may help"
            )
            error.reason = "DIVERGED_MAX_IT" if np.isfinite(norms[-1]) else "DIVERGED_NANORINF"
            raise error
        matrix = assemble(jacobian, bcs, matrix)
        step.dat.zero()
        solver.solve(matrix, step.dat, vector.dat)
        u.dat.axpy(-1.0, step.dat)


def _jacobian(residual: Form, u: Function) -> Form:
    """Return the derivative of a residual, kept for each function."""
    derive = partial(ufl.derivative, residual.form, u)
    found: Form = residual.derived(("jacobian", u), lambda: compiled(derive(), u.dat.compute))
    return found


def _right_side(left: Form) -> Function:
    """Return a function for right-hand sides of a bilinear form."""
    return Function(left.spaces[0], left.dtype, "b")


def _two_functions(u: Function) -> tuple[Function, Function]:
    """Return functions for steps and residuals of Newton's method."""
    return Function(u.space, u.dat.compute, "step"), Function(u.space, u.dat.compute, "residual")


def norm(expression: Any, kind: str = "L2", degree: int | None = None) -> float:
    """Return the norm of a function or of an expression of UFL's with functions in it.

    Args:
        expression: A function, or an expression of functions.
        kind: ``"L2"``, ``"H1"``, ``"H10"`` (of the gradient alone), ``"Hdiv"`` or ``"Hcurl"``.
        degree: Of polynomials with exact quadrature; None means UFL's estimate.

    Raises:
        UsageError: The kind of norm does not exist.
    """
    squares = {
        "L2": (ufl.inner,),
        "H1": (ufl.inner, _of(ufl.grad)),
        "H10": (_of(ufl.grad),),
        "Hdiv": (ufl.inner, _of(ufl.div)),
        "Hcurl": (ufl.inner, _of(ufl.curl)),
    }
    if kind not in squares:
        raise UsageError(f"norm: there is no norm {kind!r}; there are: {', '.join(squares)}")

    def form(of: Any) -> Form:
        measure = ufl.dx if degree is None else ufl.dx(degree=degree)
        return Form(sum(square(of, of) for square in squares[kind]) * measure)

    if isinstance(_checked_expression(expression, "norm"), ufl.constantvalue.Zero):
        return 0.0  # UFL gives zeros no mesh
    if not ufl.domain.extract_domains(expression):
        raise UsageError(
            f"norm: {shown(expression)} is of no mesh; take a fem.Constant(mesh, value)"
        )
    domain = _domain_of(expression)
    square = (
        form(expression)
        if domain is None
        else form_of(expression, domain, ("norm", kind, degree), form)
    )
    return float(np.sqrt(max(np.real(assemble(square)), 0.0)))


def _checked_expression(given: Any, what: str) -> Any:
    """Return an argument as an expression of UFL's."""
    if not isinstance(given, ufl.core.expr.Expr):
        raise UsageError(
            f"{what}: expected a Function or an expression of UFL's, got {shown(given)}; a "
            "function of coordinates is interpolated first, or written with SpatialCoordinate"
        )
    return given


def _domain_of(expression: Any) -> Domain | None:
    """Return the mesh of an expression; None for meshes of other packages."""
    domains = ufl.domain.extract_domains(ufl.as_ufl(expression))
    found = domains[0].ufl_cargo() if len(domains) == 1 else None
    return found if isinstance(found, Domain) else None


def _of(derivative: Any) -> Any:
    return lambda f, g: ufl.inner(derivative(f), derivative(g))


def error_norm(u: Function, exact: Any, kind: str = "L2", degree: int | None = None) -> float:
    """Return the norm of the difference of a function and an exact solution.

    Args:
        u: The function.
        exact: An expression of UFL's, of ``fem.SpatialCoordinate(mesh)`` for instance.
        kind: As of `norm`.
        degree: Of the quadrature; None means three more than twice the element's degree.

    Raises:
        UsageError: The kind of norm does not exist.
    """
    if not isinstance(u, Function):
        raise UsageError(f"error_norm: expected a Function, got {type(u).__name__}")
    if not isinstance(exact, int | float | complex):
        _checked_expression(exact, "error_norm")
    shape = getattr(exact, "ufl_shape", ())
    if shape != u.ufl_shape:
        raise UsageError(f"error_norm: expected an expression of shape {u.ufl_shape}, got {shape}")
    chosen = 2 * u.space.element.embedded_superdegree + 3 if degree is None else degree
    return norm(u - exact, kind, chosen)
