# SPDX-License-Identifier: BSD-3-Clause
"""Linear systems solved by PETSc, through petsc4py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.algebra.convergence import Convergence, ended
from pyop2cxx.algebra.preconditioners import arrays_of
from pyop2cxx.algebra.systems import is_guess_read
from pyop2cxx.base import extras

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyop2cxx.algebra.preconditioners import Kept
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.data.mats import Mat

_METHODS = {"bicgstab": "bcgs"}
_PRECONDITIONERS = {"amg": "gamg"}
_DIRECT = 1e-6


def solve(
    A: Mat, operator: Any, rhs: Array, guess: Array, options: Mapping[str, Any], kept: Kept
) -> tuple[Array, Convergence]:
    """Solve a linear system, as `pyop2cxx.algebra.krylov.solve` does.

    Args:
        A: The matrix.
        operator: The same for SciPy.
        rhs: The right-hand side, shape (n,).
        guess: The initial guess, shape (n,); overwritten.
        options: As `pyop2cxx.algebra.solvers.DEFAULTS` has them.
        kept: The solver's cache for the matrix: the KSP, with the preconditioner.

    Returns:
        The solution, and the outcome.
    """
    petsc = extras.load("petsc4py.PETSc", "package 'petsc'")
    key = ("petsc", options["ksp_type"], options["pc_type"])
    ksp = kept.get(key, arrays_of(operator), lambda: _made(petsc, A, options))
    ksp.setTolerances(
        options["ksp_rtol"], options["ksp_atol"], options["ksp_divtol"], options["ksp_max_it"]
    )
    if options["ksp_type"] == "gmres":
        ksp.setGMRESRestart(options["ksp_gmres_restart"])
    ksp.setInitialGuessNonzero(is_guess_read(options))
    ksp.setConvergenceHistory(reset=True)
    start = float(np.linalg.norm(rhs - operator @ guess))
    vectors = [petsc.Vec().createWithArray(one, comm=petsc.COMM_SELF) for one in (rhs, guess)]
    ksp.solve(*vectors)
    for vector in vectors:
        vector.destroy()
    with np.errstate(all="ignore"):
        end = float(np.linalg.norm(rhs - operator @ guess))
    norms = [float(norm) for norm in ksp.getConvergenceHistory()][1:-1]
    went = Convergence(
        reason=_reason(petsc, ksp.getConvergedReason(), end, start, rhs, options),
        n_iterations=ksp.getIterationNumber(),
        history=(start, *norms, end),
    )
    return guess, went


def _made(petsc: Any, A: Mat, options: Mapping[str, Any]) -> Any:
    ksp = petsc.KSP().create(comm=petsc.COMM_SELF)
    ksp.setOperators(A.handle)
    ksp.setType(_METHODS.get(options["ksp_type"], options["ksp_type"]))
    ksp.getPC().setType(_PRECONDITIONERS.get(options["pc_type"], options["pc_type"]))
    if options["ksp_type"] in ("gmres", "bicgstab"):  # as elsewhere: original residuals
        ksp.setPCSide(petsc.PC.Side.RIGHT)
    if options["ksp_type"] != "preonly":
        ksp.setNormType(petsc.KSP.NormType.UNPRECONDITIONED)
    return ksp


def _reason(
    petsc: Any, code: int, end: float, start: float, rhs: Array, options: Mapping[str, Any]
) -> str:
    """Return the name of PETSc's reason, unless the residual shows a failure."""
    norm = float(np.linalg.norm(rhs))
    if code > 0 and (options["ksp_type"], options["pc_type"]) == ("preonly", "lu"):
        is_good = end <= max(_DIRECT * norm, options["ksp_atol"])
        return "CONVERGED_ITS" if is_good else "DIVERGED_PC_FAILED"
    if code > 0 and options["ksp_type"] != "preonly":
        wanted = max(options["ksp_rtol"] * norm, options["ksp_atol"])
        said = ended(end, max(start, norm), wanted, options, -1)
        if said.startswith("DIVERGED"):
            return said
    names = vars(petsc.KSP.ConvergedReason).items()
    found = [n for n, v in names if v == code and n.startswith(("CONVERGED", "DIVERGED"))]
    return found[0] if found else ("CONVERGED" if code > 0 else "DIVERGED")
