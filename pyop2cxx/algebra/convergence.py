# SPDX-License-Identifier: BSD-3-Clause
"""Outcomes of solves, and advice if they did not converge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyop2cxx.exceptions import ConvergenceError
from pyop2cxx.runtime.showing import Shown

if TYPE_CHECKING:
    from collections.abc import Mapping

DRIFT = 10.0
"""How many times the tolerance the residual ``b - A x`` may be at the end of a library's method.

Methods update the residual at each step, and rounding lets the updated residual drift from the true
residual.
"""

_CONSTANTS = (
    "The matrix times a vector of ones is zero: constants are a null space, as in a problem with "
    "Neumann conditions alone. Hold one value by a DirichletBC or by zero_rows; or ask for a mean "
    "of zero by a Global as Lagrange multiplier; or take 'cg' with a right-hand side whose sum is "
    "zero"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Convergence(Shown):
    """The outcome of a solve.

    Attributes:
        reason: PETSc's name of the reason, as ``CONVERGED_RTOL`` or ``DIVERGED_MAX_IT``.
        n_iterations: Steps of the Krylov method.
        history: Norms of the residual, from the initial guess to the final ``b - A x``. Between
            them, package own has a norm for each step. SciPy and CuPy have a norm for every 16
            steps, to save products, or for each step under ``ksp_monitor`` or ``plot_convergence``;
            gmres has a norm for each restart.
        is_singular: Whether a factorised matrix is singular to the precision of the dtype, with
            many solutions.
    """

    reason: str
    n_iterations: int
    history: tuple[float, ...]
    is_singular: bool = False

    def as_table(self) -> tuple[str, list[tuple[str, str]]]:
        """Return a title and rows, for notebooks, which draw the history as a curve."""
        norms = f"{self.history[0]:.3e}, {self.history[-1]:.3e}" if self.history else "unknown"
        rows = [("iterations", str(self.n_iterations)), ("residual at first, at last", norms)]
        return f"Convergence: {self.reason}", rows

    @property
    def converged(self) -> bool:
        """Whether the tolerance was reached."""
        return self.reason.startswith("CONVERGED")


def of_zero() -> Convergence:
    """Return how a solve with a right-hand side of zeros went: the solution is zero."""
    return Convergence(reason="CONVERGED_ATOL", n_iterations=0, history=(0.0,))


def ended(end: float, start: float, wanted: float, options: Mapping[str, Any], n_left: int) -> str:
    """Return the reason for the end of a library's Krylov method.

    Args:
        end: Norm of ``b - A x`` at the end.
        start: The larger of the norms of ``b`` and of the first residual.
        wanted: The wanted norm.
        options: As `pyop2cxx.algebra.solvers.DEFAULTS` has them.
        n_left: Steps left; -1 if the method reports convergence.
    """
    if end <= options["ksp_atol"]:
        return "CONVERGED_ATOL"
    if end <= (DRIFT if n_left < 0 else 1.0) * wanted:
        return "CONVERGED_RTOL"
    if not end < float("inf"):
        return "DIVERGED_NANORINF"
    if end > options["ksp_divtol"] * start:
        return "DIVERGED_DTOL"
    return "DIVERGED_MAX_IT" if n_left == 0 else "DIVERGED_BREAKDOWN"


def not_converged(went: Convergence, options: Mapping[str, Any], *, has_constants: bool) -> Any:
    """Return the error for a failed solve, with advice.

    Args:
        went: Outcome of the solve.
        options: As `pyop2cxx.algebra.solvers.DEFAULTS` has them.
        has_constants: Whether the matrix times a vector of 1s is zero.
    """
    relative = went.history[-1] / went.history[0] if went.history and went.history[0] else 1.0
    error = ConvergenceError(
        f"solve: {options['ksp_type']} with {options['pc_type']} did not converge: {went.reason} "
        f"after {went.n_iterations} iterations, residual {went.history[-1]:.3e}, {relative:.1e} of "
        f"that at the start; x is unchanged. {_advice(went, options, has_constants)}, or pass "
        "error_on_nonconvergence=False to keep what was found"
    )
    error.reason, error.history = went.reason, went.history
    return error


def not_factorised(kind: str, why: str, *, has_constants: bool = False) -> ConvergenceError:
    """Return the error for a matrix without a factorisation.

    Args:
        kind: Of the preconditioner.
        why: The fault found.
        has_constants: As of `not_converged`.
    """
    advice = _CONSTANTS if has_constants else "Is a boundary condition missing?"
    raised = ConvergenceError(
        f"solve: pc_type {kind!r} could not factorise the matrix: {why}; x is unchanged. {advice}"
    )
    raised.reason = "DIVERGED_PC_FAILED"
    return raised


def _advice(went: Convergence, options: Mapping[str, Any], has_constants: bool) -> str:
    if has_constants:
        return _CONSTANTS
    if went.reason == "DIVERGED_PC_FAILED":
        found = "is" if went.is_singular else "may be"
        return (
            f"The matrix {found} singular, as far as its dtype can tell: is a boundary condition "
            "missing, or one value of a pressure whose flow is given all around? Hold it"
        )
    if went.reason == "DIVERGED_INDEFINITE_MAT":
        return "The matrix is not symmetric and definite, as cg needs: take 'gmres' or 'bicgstab'"
    if went.reason == "DIVERGED_BREAKDOWN":
        return (
            "The residual does not fall further: take a larger ksp_rtol, ksp_type 'gmres', or "
            "another pc_type"
        )
    if (options["ksp_type"], options["pc_type"], options["package"]) == ("cg", "ilu", "scipy"):
        return "SciPy's ilu is not symmetric, as cg needs: take package 'own', or 'gmres'"
    return "Allow more iterations (ksp_max_it), take another ksp_type or pc_type"
