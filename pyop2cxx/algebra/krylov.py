# SPDX-License-Identifier: BSD-3-Clause
"""Direct solves and Krylov methods of SciPy, and of CuPy with the same interface."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.algebra.block_inverses import of_blocks
from pyop2cxx.algebra.convergence import Convergence, ended
from pyop2cxx.algebra.preconditioners import factors, of_another, preconditioner
from pyop2cxx.exceptions import SolverOptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyop2cxx.algebra.libraries import Library
    from pyop2cxx.algebra.preconditioners import Kept

_STEPS_BETWEEN = 16  # checks of the residual, at the cost of a product each
_SINGULAR = 0.1  # condition times the dtype's precision: no digit of the solution is certain
_ROUNDING = 1000  # of a direct solve: times the dtype's precision and the magnitudes of A x and b
_DIRECT = {"f": 1e-3, "F": 1e-3, "d": 1e-6, "D": 1e-6}  # of the norm of b, by dtype
_ROUNDING_OF_STEPS = 10  # the same for a Krylov method
_MOST_ROUNDING = {"f": 1e-3, "F": 1e-3, "d": 1e-8, "D": 1e-8}  # of the norm of b, by dtype


class _Diverged(Exception):
    """Leaves a Krylov method with a diverging residual."""


class _Watch:
    """Steps of a Krylov method, and residuals of some or all of them."""

    def __init__(
        self, library: Library, operator: Any, rhs: Any, start: float, options: Mapping[str, Any]
    ) -> None:
        self.history = [start]
        self.n_steps = 0
        self.n_products = 0
        self._library = library
        self._operator = operator
        self._rhs = rhs
        self.largest = max(start, library.norm(rhs))
        self._limit = options["ksp_divtol"] * self.largest
        is_shown = options["ksp_monitor"] or options["plot_convergence"]
        self._between = 1 if is_shown or options["ksp_type"] == "gmres" else _STEPS_BETWEEN
        self._seen = 0

    def __call__(self, iterate: Any) -> None:
        self.n_steps += 1
        if self.n_steps % self._between == 0:
            self.look(iterate)

    def look(self, iterate: Any) -> float:
        """Note the norm of the residual; the last norm of a step counts.

        Raises:
            _Diverged: The residual has grown too much, or is not a number.
        """
        norm = self._library.norm(self._rhs - self._operator @ iterate)
        if self._seen == self.n_steps and len(self.history) > 1:
            self.history[-1] = norm
        else:
            self.history.append(norm)
        self._seen = self.n_steps
        if not norm <= self._limit:  # also true for a NaN
            raise _Diverged
        return norm

    def is_rounding(self, found: Any) -> bool:
        """Say whether the last residual is no larger than rounding errors, and small beside b.

        For a function, with unknown rounding errors, only the size is checked.
        """
        most = _MOST_ROUNDING[self._rhs.dtype.char] * self._library.norm(self._rhs)
        if not self.history[-1] <= most:
            return False
        if not hasattr(self._operator, "indptr"):
            return True
        precision = float(np.finfo(self._rhs.dtype).eps)
        magnitude = _magnitude(self._library, self._operator, found, self._rhs)
        return self.history[-1] <= _ROUNDING_OF_STEPS * precision * magnitude

    def product(self, vector: Any) -> Any:
        """Multiply by the matrix, and count the product."""
        self.n_products += 1
        return self._operator @ vector


def solve(
    library: Library,
    operator: Any,
    rhs: Any,
    guess: Any,
    options: Mapping[str, Any],
    kept: Kept,
) -> tuple[Any, Convergence]:
    """Solve a linear system.

    Args:
        library: Where the matrix and the vectors are.
        operator: The matrix, or a linear operator.
        rhs: The right-hand side, shape (n,).
        guess: The initial guess, shape (n,); may be overwritten. Methods applied once do not read
            the guess.
        options: As `pyop2cxx.algebra.solvers.DEFAULTS` has them.
        kept: The solver's cache for the matrix.

    Returns:
        The solution, and the outcome.

    Raises:
        SolverOptionError: The library does not have the method or preconditioner.
        NotFactorised: The matrix cannot be factorised.
    """
    if options["ksp_type"] == "preonly":
        if options["pc_type"] == "lu":
            return _direct(library, operator, rhs, options, kept)
        found = _preconditioner(library, operator, options, kept) @ rhs
        norms = (library.norm(rhs), library.norm(rhs - operator @ found))
        reason = "CONVERGED_ITS" if np.isfinite(norms[1]) else "DIVERGED_NANORINF"
        return found, Convergence(reason=reason, n_iterations=1, history=norms)
    start = library.norm(rhs - operator @ guess)
    wanted = max(options["ksp_rtol"] * library.norm(rhs), options["ksp_atol"])
    if start <= wanted:
        return guess, Convergence(reason="CONVERGED_RTOL", n_iterations=0, history=(start,))
    watch = _Watch(library, operator, rhs, start, options)
    made = _preconditioner(library, options.get("P", operator), options, kept)
    if "P" in options:
        made = of_another(library, made, options["P"], rhs.dtype)
    n_left = -1
    try:
        with np.errstate(all="ignore"):  # of diverging values
            found, n_left = _iterated(library, watch, operator, rhs, guess, made, wanted, options)
    except _Diverged:
        found = guess
    reason = ended(watch.history[-1], watch.largest, wanted, options, n_left)
    if reason in ("DIVERGED_BREAKDOWN", "DIVERGED_MAX_IT") and watch.is_rounding(found):
        reason = "CONVERGED_RTOL"
    history = tuple(watch.history)
    return found, Convergence(reason=reason, n_iterations=watch.n_steps, history=history)


def _preconditioner(library: Library, operator: Any, options: Mapping[str, Any], kept: Kept) -> Any:
    blocks = options.get("blocks")
    if blocks is not None:
        return of_blocks(library, operator, blocks, kept)
    return preconditioner(library, operator, options["pc_type"], kept)


def _direct(
    library: Library, operator: Any, rhs: Any, options: Mapping[str, Any], kept: Kept
) -> tuple[Any, Convergence]:
    """Solve by factors L U, and check the residual.

    The residual must be 1e-6 (in single precision 1e-3) of the right-hand side's norm; or, unless
    the matrix is singular, rounding of ``|A| |x| + |b|``, for solutions much larger than the
    right-hand side.
    """
    made = factors(library, operator, kept)
    with np.errstate(all="ignore"):
        found = made.operator @ rhs
        residual = rhs - operator @ found
        start, end = library.norm(rhs), library.norm(residual)
        precision = float(np.finfo(found.dtype).eps)
        is_singular = made.condition * precision > _SINGULAR
        is_good = end <= max(_DIRECT[found.dtype.char] * start, options["ksp_atol"])
        if not is_good and not is_singular and end < float("inf"):
            is_good = end <= _ROUNDING * precision * _magnitude(library, operator, found, rhs)
    went = Convergence(
        reason="CONVERGED_ITS" if is_good else "DIVERGED_PC_FAILED",
        n_iterations=1,
        history=(start, end),
        is_singular=is_singular,
    )
    return found, went


def _magnitude(library: Library, operator: Any, found: Any, rhs: Any) -> float:
    """Return the norm of ``|A| |x| + |b|``, the scale of rounding errors in the residual."""
    return library.norm(abs(operator) @ abs(found) + abs(rhs))


def _iterated(
    library: Library,
    watch: _Watch,
    operator: Any,
    rhs: Any,
    guess: Any,
    made: Any,
    wanted: float,
    options: Mapping[str, Any],
) -> tuple[Any, int]:
    """Run a method, repeatedly while the residual is too large but decreases quickly.

    Returns:
        The solution, and the number of steps left: -1 if the method reports convergence.
    """
    method = _method(library, options["ksp_type"])
    known = inspect.signature(method).parameters
    arguments: dict[str, Any] = {
        "rtol" if "rtol" in known else "tol": 0.0,
        "M": made,
        "callback": watch,
    }
    if options["ksp_type"] == "gmres" and library.on_host:
        return _restarted(method, operator, rhs, guess, wanted, arguments, watch, options)
    if options["ksp_type"] == "gmres":
        arguments |= {
            "restart": min(options["ksp_gmres_restart"], rhs.size),
            "callback_type": "x",
        }
    counted = operator
    if options["ksp_type"] == "bicgstab":
        counted = library.methods.LinearOperator(
            operator.shape, matvec=watch.product, dtype=operator.dtype
        )
    found, last = guess, 2 * watch.history[0]
    while True:
        begun, watch.n_products = watch.n_steps, 0
        at_start = int(bool(found.any()))
        left = options["ksp_max_it"] - watch.n_steps
        found, info = method(counted, rhs, x0=found, atol=wanted, maxiter=left, **arguments)
        if options["ksp_type"] == "bicgstab":  # may end half-way through a step
            watch.n_steps = begun + (watch.n_products - at_start + 1) // 2
        elif options["ksp_type"] == "gmres":
            steps = (watch.n_steps - begun) * arguments["restart"]
            watch.n_steps = min(begun + steps, options["ksp_max_it"])
        end = watch.look(found)
        left = options["ksp_max_it"] - watch.n_steps
        if info != 0 or end <= wanted or not end < last / 2 or left <= 0:
            return found, -1 if info == 0 else max(left, 0) if info > 0 else 1
        last = end


def _method(library: Library, name: str) -> Callable[..., Any]:
    found: Callable[..., Any] | None = getattr(library.methods, name, None)
    if found is None:
        raise SolverOptionError(
            f"Solver: {library.name} has no {name!r}; take 'cg' or 'gmres', or package='scipy'"
        )
    return found


def _restarted(
    method: Callable[..., Any],
    operator: Any,
    rhs: Any,
    found: Any,
    wanted: float,
    arguments: dict[str, Any],
    watch: _Watch,
    options: Mapping[str, Any],
) -> tuple[Any, int]:
    """Call SciPy's gmres once for each restart: SciPy counts restarts, PETSc counts steps."""
    left, restart = options["ksp_max_it"], min(options["ksp_gmres_restart"], rhs.size)
    steps: list[float] = []
    # within a restart the residual belongs to the preconditioned system; see SciPy's gmres
    factor, end = 1.0, watch.history[0]
    arguments |= {"callback": steps.append, "callback_type": "pr_norm", "maxiter": 1}
    while end > wanted and left > 0 and factor > np.finfo(float).eps:
        restart = min(restart, left)
        found, _ = method(
            operator, rhs, x0=found, atol=factor * wanted, restart=restart, **arguments
        )
        n_steps = len(steps)
        steps.clear()
        left -= max(n_steps, 1)
        watch.n_steps += n_steps
        if n_steps < restart:
            factor /= 4
        last, end = end, watch.look(found)
        if end > last / 2 and watch.is_rounding(found):
            break
    return found, -1 if end <= wanted else max(left, 0)
