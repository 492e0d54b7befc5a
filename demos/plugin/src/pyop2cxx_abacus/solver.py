# SPDX-License-Identifier: BSD-3-Clause
"""The solver: the method of Gauss and Seidel, row by row."""

from typing import Any

import numpy as np


def solve(
    matrix: Any, rhs: np.ndarray, guess: np.ndarray, options: dict[str, Any]
) -> tuple[np.ndarray, int]:
    """Solve a system by sweeps over the rows.

    Args:
        matrix: A CSR matrix of SciPy, shape (n, n).
        rhs: The right-hand side, shape (n,).
        guess: The initial guess, shape (n,).
        options: Options of the Solver, for example ``ksp_rtol``.

    Returns:
        The solution, shape (n,), and the number of sweeps.
    """
    wanted = max(options["ksp_rtol"] * np.linalg.norm(rhs), options["ksp_atol"])
    diagonal = matrix.diagonal()
    for sweep in range(options["ksp_max_it"]):
        if np.linalg.norm(rhs - matrix @ guess) <= wanted:
            return guess, sweep
        for i in range(len(rhs)):
            start, end = matrix.indptr[i : i + 2]
            row = matrix.data[start:end] @ guess[matrix.indices[start:end]]
            guess[i] += (rhs[i] - row) / diagonal[i]
    return guess, options["ksp_max_it"]
