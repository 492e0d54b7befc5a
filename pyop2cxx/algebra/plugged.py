# SPDX-License-Identifier: BSD-3-Clause
"""Solvers of other packages, found as entry points.

A package with a `pyproject.toml` containing ::

    [project.entry-points."pyop2cxx.solvers"]
    abacus = "abacus.solver:solve"

provides ``package="abacus"`` of a `Solver`: a function ``solve(matrix, rhs, guess, options)`` with
a CSR matrix of SciPy, arrays of shape (n,), and the options of the Solver by name. The function
returns the solution, of shape (n,), and the number of iterations. The residual is computed here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.algebra.convergence import Convergence, ended
from pyop2cxx.base import plugs
from pyop2cxx.exceptions import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyop2cxx.base.arrays import Array

GROUP = "pyop2cxx.solvers"


def names() -> tuple[str, ...]:
    """Return the names of the solvers of installed packages."""
    return tuple(sorted(plugs.entry_points(GROUP)))


def solve(
    name: str, matrix: Any, rhs: Array, guess: Array, options: Mapping[str, Any]
) -> tuple[Array, Convergence]:
    """Solve a linear system by another package, and look at the residual.

    Args:
        name: Of the entry point.
        matrix: The matrix, for SciPy.
        rhs: The right-hand side, shape (n,).
        guess: The initial guess, shape (n,).
        options: As `pyop2cxx.algebra.solvers.DEFAULTS` has them.

    Returns:
        The solution, and the outcome.

    Raises:
        ConfigurationError: The target of the entry point cannot be imported, is no function, or
            returns something else.
    """
    function, of = plugs.loaded("solver", name, GROUP, plugs.entry_points(GROUP))
    if not callable(function):
        kind = type(function).__name__
        raise ConfigurationError(f"{of} is of type {kind}; name a function")
    start = float(np.linalg.norm(rhs - matrix @ guess))
    result = function(matrix, rhs, guess.copy(), dict(options))
    if not isinstance(result, tuple) or len(result) != 2 or np.shape(result[0]) != rhs.shape:
        raise ConfigurationError(
            f"{of} must return the solution, of shape {rhs.shape}, and the number of iterations; "
            f"got {result!r:.80}"
        )
    found, n_iterations = np.asarray(result[0], rhs.dtype), int(result[1])
    with np.errstate(all="ignore"):
        end = float(np.linalg.norm(rhs - matrix @ found))
    size = float(np.linalg.norm(rhs))
    wanted = max(options["ksp_rtol"] * size, options["ksp_atol"])
    n_left = options["ksp_max_it"] - n_iterations
    reason = ended(end, max(size, start), wanted, options, max(n_left, 0))
    return found, Convergence(reason=reason, n_iterations=n_iterations, history=(start, end))
