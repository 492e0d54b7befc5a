# SPDX-License-Identifier: BSD-3-Clause
"""Conjugate gradients of our own, on all threads of the host; no other library takes part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import _core
from pyop2cxx.algebra.krylov import Convergence
from pyop2cxx.data.mats import Mat
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyop2cxx.base.arrays import Array

_REASONS = {
    _core.CgEnd.max_it: "DIVERGED_MAX_IT",
    _core.CgEnd.diverged: "DIVERGED_DTOL",
    _core.CgEnd.not_a_number: "DIVERGED_NANORINF",
}


def is_possible(A: Any, x: Any, b: Any, options: Mapping[str, Any]) -> bool:
    """Say whether this system and method are among those that are solved here.

    They are: cg with none or jacobi, of one block of doubles without ghosts.
    """
    if options["ksp_type"] != "cg" or options["pc_type"] not in ("none", "jacobi"):
        return False
    if not isinstance(A, Mat) or A.is_mixed or A.sparsity.is_dense:
        return False
    is_whole = (A._n_stored(0), A._n_stored(1)) == (A.nrows, A.ncols)
    rows, columns = A.block_dims
    doubles = all(thing.dtype == np.float64 for thing in (A, x, b))
    return is_whole and rows == columns and doubles


def solve(
    A: Mat, rhs: Array, guess: Array, options: Mapping[str, Any]
) -> tuple[Array, Convergence]:
    """Solve a linear system, as `pyop2cxx.algebra.krylov.solve` does.

    Args:
        A: The matrix.
        rhs: The right-hand side, shape (n,), float64.
        guess: The initial guess, shape (n,), float64; overwritten.
        options: As `pyop2cxx.algebra.solvers.DEFAULTS` has them.

    Returns:
        The solution, and how it went. Residuals are those that the method updates.
    """
    if not options["ksp_initial_guess_nonzero"]:
        guess[:] = 0
    end, history = _core.conjugate_gradients(
        A.sparsity.rowptr,
        A.sparsity.colidx,
        A._stored("solve", write=False),
        A.block_dims[0],
        rhs,
        guess,
        rtol=options["ksp_rtol"],
        atol=options["ksp_atol"],
        divtol=options["ksp_divtol"],
        max_it=options["ksp_max_it"],
        is_jacobi=options["pc_type"] == "jacobi",
        n_threads=runtime.engine.n_threads,
    )
    reason = _REASONS.get(end, "CONVERGED_RTOL")
    if end == _core.CgEnd.converged and len(history) > 1 and history[-1] <= options["ksp_atol"]:
        reason = "CONVERGED_ATOL"
    went = Convergence(reason=reason, n_iterations=len(history) - 1, history=tuple(history))
    return guess, went
