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
_OVER_PROCESSES = {"amg": "gamg", "ilu": "bjacobi", "lu": "redundant"}
_DIRECT = 1e-6


def solve(
    A: Mat, operator: Any, rhs: Array, guess: Array, options: Mapping[str, Any], kept: Kept
) -> tuple[Array, Convergence]:
    """Solve a linear system, as `pyop2cxx.algebra.krylov.solve` does.

    Args:
        A: The matrix.
        operator: The same for SciPy; None if processes share the rows.
        rhs: The right-hand side, shape (n,).
        guess: The initial guess, shape (n,); overwritten.
        options: As `pyop2cxx.algebra.solvers.DEFAULTS` has them.
        kept: The solver's cache for the matrix: the KSP, with the preconditioner.

    Returns:
        The solution, and the outcome.
    """
    petsc = extras.load("petsc4py.PETSc", "package 'petsc'")
    key = ("petsc", options["ksp_type"], options["pc_type"])
    is_shared = operator is None
    comm = A.comm if is_shared else petsc.COMM_SELF
    arrays = _arrays_of(A) if is_shared else arrays_of(operator)
    if is_shared:
        kept.agree(key, arrays, comm)
    ksp = kept.get(key, arrays, lambda: _made(petsc, A, options, comm))
    ksp.setTolerances(
        options["ksp_rtol"], options["ksp_atol"], options["ksp_divtol"], options["ksp_max_it"]
    )
    if options["ksp_type"] == "gmres":
        ksp.setGMRESRestart(options["ksp_gmres_restart"])
    ksp.setInitialGuessNonzero(is_guess_read(options))
    ksp.setConvergenceHistory(reset=True)
    vectors = [petsc.Vec().createWithArray(one, comm=comm) for one in (rhs, guess)]

    def residual() -> float:
        if not is_shared:
            with np.errstate(all="ignore"):
                return float(np.linalg.norm(rhs - operator @ guess))
        found = vectors[0].duplicate()
        ksp.getOperators()[0].mult(vectors[1], found)
        found.aypx(-1, vectors[0])
        return float(found.norm())

    start = residual()
    ksp.solve(*vectors)
    end = residual()
    length = float(vectors[0].norm() if is_shared else np.linalg.norm(rhs))
    for vector in vectors:
        vector.destroy()
    norms = [float(norm) for norm in ksp.getConvergenceHistory()][1:-1]
    went = Convergence(
        reason=_reason(petsc, ksp.getConvergedReason(), end, start, length, options),
        n_iterations=ksp.getIterationNumber(),
        history=(start, *norms, end),
    )
    return guess, went


def _arrays_of(A: Mat) -> tuple[Array, ...]:
    return A.stored("solve", write=False), A.sparsity.colidx, A.sparsity.rowptr


def _made(petsc: Any, A: Mat, options: Mapping[str, Any], comm: Any) -> Any:
    ksp = petsc.KSP().create(comm=comm)
    ksp.setOperators(A.handle)
    ksp.setType(_METHODS.get(options["ksp_type"], options["ksp_type"]))
    known = _PRECONDITIONERS if comm.size == 1 else _OVER_PROCESSES
    ksp.getPC().setType(known.get(options["pc_type"], options["pc_type"]))
    if options["ksp_type"] in ("gmres", "bicgstab"):  # as elsewhere: original residuals
        ksp.setPCSide(petsc.PC.Side.RIGHT)
    if options["ksp_type"] != "preonly":
        ksp.setNormType(petsc.KSP.NormType.UNPRECONDITIONED)
    return ksp


def _reason(
    petsc: Any, code: int, end: float, start: float, norm: float, options: Mapping[str, Any]
) -> str:
    """Return the name of PETSc's reason, unless the residual shows a failure."""
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
