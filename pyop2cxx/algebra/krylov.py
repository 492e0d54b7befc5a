# SPDX-License-Identifier: BSD-3-Clause
"""Krylov methods and preconditioners of SciPy, and of CuPy, which has the same interface."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base import extras
from pyop2cxx.exceptions import ConvergenceError, SolverOptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Convergence:
    """How a solve went.

    Attributes:
        reason: In PETSc's words, such as ``CONVERGED_RTOL`` or ``DIVERGED_MAX_IT``.
        n_iterations: Steps of the Krylov method.
        history: Norms of the residual: of the initial guess, and after each step; of gmres by SciPy
            or CuPy after each restart.
    """

    reason: str
    n_iterations: int
    history: tuple[float, ...]

    @property
    def converged(self) -> bool:
        """Whether the tolerance was reached."""
        return self.reason.startswith("CONVERGED")


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """A library that solves linear systems.

    Attributes:
        name: SciPy or CuPy, for messages.
        arrays: NumPy, or what stands for it.
        methods: Its module of Krylov methods.
    """

    name: str
    arrays: Any
    methods: Any

    def norm(self, vector: Any) -> float:
        """Return the norm of a vector."""
        return float(self.arrays.linalg.norm(vector))


def scipy(needed_for: str) -> Library:
    """Return SciPy.

    Raises:
        MissingExtraError: It is not installed.
    """
    methods = extras.load("scipy.sparse.linalg", needed_for)
    return Library(name="SciPy", arrays=np, methods=methods)


def cupy(needed_for: str) -> Library:
    """Return CuPy.

    Raises:
        MissingExtraError: It is not installed.
    """
    arrays = extras.load("cupy", needed_for)
    methods = extras.load("cupyx.scipy.sparse.linalg", needed_for)
    return Library(name="CuPy", arrays=arrays, methods=methods)


class _Diverged(Exception):
    """Leaves a Krylov method whose residual has grown too much."""


class _Monitor:
    """Residuals of a Krylov method, step by step."""

    def __init__(
        self, library: Library, operator: Any, rhs: Any, divtol: float, start: float
    ) -> None:
        self.history = [start]
        self.n_steps: int | None = None  # where it is not called after each
        self._norm = library.norm
        self._operator = operator
        self._rhs = rhs
        self._limit = divtol * max(start, library.norm(rhs))

    def __call__(self, iterate: Any) -> None:
        norm = self._norm(self._rhs - self._operator @ iterate)
        self.history.append(norm)
        if not norm <= self._limit:  # a NaN is no number below it
            raise _Diverged


def solve(
    library: Library, operator: Any, rhs: Any, guess: Any, options: Mapping[str, Any]
) -> tuple[Any, Convergence]:
    """Solve a linear system.

    Args:
        library: Where the matrix and the vectors are.
        operator: The matrix, or what stands for it.
        rhs: The right-hand side, shape (n,).
        guess: The initial guess, shape (n,); it may be overwritten.
        options: As `pyop2cxx.algebra.solvers.DEFAULTS` has them.

    Returns:
        The solution, and how it went.

    Raises:
        SolverOptionError: The library has no such method or preconditioner.
        ConvergenceError: The matrix cannot be factorised.
    """
    if not options["ksp_initial_guess_nonzero"]:
        guess[:] = 0
    start = library.norm(rhs - operator @ guess)
    if options["ksp_type"] == "preonly":
        found = preconditioner(library, operator, options["pc_type"]) @ rhs
        end = library.norm(rhs - operator @ found)
        good = options["pc_type"] != "lu" or np.isfinite(end)
        reason = "CONVERGED_ITS" if good else "DIVERGED_PC_FAILED"
        return found, Convergence(reason=reason, n_iterations=1, history=(start, end))
    rtol, atol = options["ksp_rtol"], options["ksp_atol"]
    if start <= max(rtol * library.norm(rhs), atol):
        return guess, Convergence(reason="CONVERGED_RTOL", n_iterations=0, history=(start,))
    monitor = _Monitor(library, operator, rhs, options["ksp_divtol"], start)
    method = _method(library, options["ksp_type"])
    arguments = _arguments(library, method, operator, rhs, guess, monitor, options)
    try:
        if options["ksp_type"] == "gmres" and library.arrays is np:
            found, info = _restarted(method, operator, rhs, arguments, monitor, options)
        else:
            found, info = method(operator, rhs, **arguments)
    except _Diverged:
        reason = "DIVERGED_DTOL" if np.isfinite(monitor.history[-1]) else "DIVERGED_NANORINF"
        return guess, _convergence(reason, monitor, options)
    end = library.norm(rhs - operator @ found)
    # SciPy does not look at the residual after the last step that it may take
    if info == 0 or end <= max(rtol * library.norm(rhs), atol):
        reason = "CONVERGED_ATOL" if end <= atol else "CONVERGED_RTOL"
        if monitor.history[-1] > end:  # bicgstab may stop half-way through a step
            monitor.history.append(end)
    else:
        reason = "DIVERGED_MAX_IT" if info > 0 else "DIVERGED_BREAKDOWN"
    return found, _convergence(reason, monitor, options)


def _method(library: Library, name: str) -> Callable[..., Any]:
    found: Callable[..., Any] | None = getattr(library.methods, name, None)
    if found is None:
        raise SolverOptionError(
            f"Solver: {library.name} has no {name!r}; take 'cg' or 'gmres', or package='scipy'"
        )
    return found


def _arguments(
    library: Library,
    method: Callable[..., Any],
    operator: Any,
    rhs: Any,
    guess: Any,
    monitor: _Monitor,
    options: Mapping[str, Any],
) -> dict[str, Any]:
    known = inspect.signature(method).parameters
    arguments: dict[str, Any] = {
        "x0": guess,
        "rtol" if "rtol" in known else "tol": options["ksp_rtol"],
        "atol": options["ksp_atol"],
        "maxiter": options["ksp_max_it"],
        "M": preconditioner(library, operator, options["pc_type"]),
        "callback": monitor,
    }
    if options["ksp_type"] == "gmres":
        arguments["restart"] = min(options["ksp_gmres_restart"], rhs.size)
        arguments["callback_type"] = "x"
    return arguments


def _restarted(
    method: Callable[..., Any],
    operator: Any,
    rhs: Any,
    arguments: dict[str, Any],
    monitor: _Monitor,
    options: Mapping[str, Any],
) -> tuple[Any, int]:
    """Call SciPy's gmres once for each restart: it counts these, PETSc counts steps."""
    found, left = arguments["x0"], options["ksp_max_it"]
    wanted = max(options["ksp_rtol"] * float(np.linalg.norm(rhs)), options["ksp_atol"])
    steps: list[float] = []
    # within a restart the residual is that of the preconditioned system; see SciPy's gmres
    factor = 1.0
    arguments |= {"callback": steps.append, "callback_type": "pr_norm", "maxiter": 1}
    arguments["rtol" if "rtol" in arguments else "tol"] = 0.0
    while monitor.history[-1] > wanted and left > 0 and factor > np.finfo(float).eps:
        arguments["restart"] = restart = min(arguments["restart"], left)
        found, _ = method(operator, rhs, **{**arguments, "x0": found, "atol": factor * wanted})
        n_steps = len(steps)
        steps.clear()
        left -= max(n_steps, 1)
        monitor.n_steps = (monitor.n_steps or 0) + n_steps
        if n_steps < restart:
            factor /= 4
        monitor(found)
    if monitor.history[-1] <= wanted:
        return found, 0
    return found, 1 if left <= 0 else -1


def _convergence(reason: str, monitor: _Monitor, options: Mapping[str, Any]) -> Convergence:
    n_iterations = monitor.n_steps
    if n_iterations is None:
        per_entry = options["ksp_gmres_restart"] if options["ksp_type"] == "gmres" else 1
        n_iterations = min((len(monitor.history) - 1) * per_entry, options["ksp_max_it"])
    return Convergence(reason=reason, n_iterations=n_iterations, history=tuple(monitor.history))


def preconditioner(library: Library, operator: Any, kind: str) -> Any:
    """Return what SciPy calls M: an approximation of the inverse; None for none.

    Args:
        library: Where the matrix is.
        operator: The matrix.
        kind: none, jacobi, ilu, lu or amg.

    Raises:
        SolverOptionError: The library has none of that kind.
        ConvergenceError: The matrix cannot be factorised.
        MissingExtraError: PyAMG is not installed.
    """
    if kind == "none":
        return None
    lib, xp = library.methods, library.arrays
    if kind == "jacobi":
        diagonal = operator.diagonal()
        # PETSc does the same with a diagonal entry of zero
        inverse = 1 / xp.where(diagonal == 0, 1, diagonal)
        return _operator(library, operator, lambda v: inverse * v.reshape(-1))
    if kind == "amg":
        if xp is not np:
            raise SolverOptionError(
                "Solver: PyAMG works on the host; pass package='scipy', or pc_type 'jacobi', 'ilu'"
            )
        amg = extras.load("pyamg", "pc_type 'amg'")
        return amg.smoothed_aggregation_solver(_for_pyamg(operator)).aspreconditioner()
    factorise = lib.splu if kind == "lu" else lib.spilu
    # of CuPy, this is what is factorised on the device
    how = {"fill_factor": 1} if kind == "ilu" and xp is not np else {}
    try:
        factors = factorise(operator.tocsc(), **how)
    except RuntimeError as error:
        raised = ConvergenceError(
            f"solve: pc_type {kind!r} could not factorise the matrix: {error}; is a boundary "
            "condition missing?"
        )
        raised.reason = "DIVERGED_PC_FAILED"
        raise raised from None
    return _operator(library, operator, factors.solve)


def _operator(library: Library, like: Any, apply: Callable[[Any], Any]) -> Any:
    # given a dtype it need not find out by trying
    return library.methods.LinearOperator(like.shape, matvec=apply, dtype=like.dtype)


def _for_pyamg(operator: Any) -> Any:
    """Return a matrix of the kind and with the indices, all of one width, that PyAMG works on."""
    sparse = extras.load("scipy.sparse", "pc_type 'amg'")
    found = operator.tocsr()
    width = np.int32 if found.indptr[-1] <= np.iinfo(np.int32).max else np.int64
    index = (found.indices.astype(width, copy=False), found.indptr.astype(width))
    return sparse.csr_matrix((found.data, *index), shape=found.shape)
