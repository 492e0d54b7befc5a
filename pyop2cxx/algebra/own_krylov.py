# SPDX-License-Identifier: BSD-3-Clause
"""Krylov methods of our own, on all threads of the host; no other library takes part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import _core
from pyop2cxx.algebra.block_inverses import KINDS
from pyop2cxx.algebra.convergence import Convergence
from pyop2cxx.algebra.preconditioners import NotFactorised
from pyop2cxx.data.mats import Mat
from pyop2cxx.exceptions import ExecutionError
from pyop2cxx.runtime import runtime
from pyop2cxx.sets.spread import agree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyop2cxx.algebra.block_inverses import Blocks
    from pyop2cxx.algebra.preconditioners import Kept
    from pyop2cxx.base.arrays import Array

METHODS = ("cg", "bicgstab", "gmres")
PRECONDITIONERS = ("none", "jacobi", "ilu", *KINDS)
_REASONS = {
    _core.KrylovEnd.max_it: "DIVERGED_MAX_IT",
    _core.KrylovEnd.diverged: "DIVERGED_DTOL",
    _core.KrylovEnd.not_a_number: "DIVERGED_NANORINF",
    _core.KrylovEnd.breakdown: "DIVERGED_BREAKDOWN",
    _core.KrylovEnd.indefinite: "DIVERGED_INDEFINITE_MAT",
}


def is_possible(A: Any, x: Any, b: Any, options: Mapping[str, Any]) -> bool:
    """Return whether a system and a method are supported by the package's own solver.

    They are: cg, bicgstab or gmres with none, jacobi, ilu, bjacobi or patch, of a Mat of doubles.
    """
    if options["ksp_type"] not in METHODS or options["pc_type"] not in PRECONDITIONERS:
        return False
    return isinstance(A, Mat) and all(thing.dtype == np.float64 for thing in (A, x, b))


def rows_of(A: Mat) -> tuple[Array, Array, Array, int] | None:
    """Return starts of rows, columns, values and the dim of blocks, all shared with a Mat.

    None for several blocks, blocks not square, rows of a Global, or ghosts.
    """
    if A.is_mixed or A.sparsity.is_dense:
        return None
    is_whole = (A.n_stored(0), A.n_stored(1)) == (A.nrows, A.ncols)
    if not is_whole or A.block_dims[0] != A.block_dims[1]:
        return None
    values = A.stored("solve", write=False)
    return A.sparsity.rowptr, A.sparsity.colidx, values, A.block_dims[0]


def solve(
    rows: tuple[Array, Array, Array, int],
    rhs: Array,
    guess: Array,
    options: Mapping[str, Any],
    kept: Kept,
    others: tuple[Any, Any] = (None, None),
    product: Any = None,
) -> tuple[Array, Convergence]:
    """Solve a linear system, as `pyop2cxx.algebra.krylov.solve` does.

    Args:
        rows: As `rows_of` returns them.
        rhs: The right-hand side, shape (n,), float64.
        guess: The initial guess, shape (n,), float64; overwritten. Ghosts stand behind.
        options: As `pyop2cxx.algebra.solvers.DEFAULTS` has them.
        kept: The solver's cache for the matrix.
        others: Of a matrix shared by processes: brings the ghosts of a vector, and adds numbers up
            over processes, both in place.
        product: In place of entries: reads a vector, and writes the product.

    Returns:
        The solution, and the outcome.

    Raises:
        NotFactorised: An incomplete factorisation meets a pivot of zero, or a block is singular.
    """
    blocks = options.get("blocks")
    inverse: Any = None if blocks is None else _of_blocks(rows, blocks, kept)
    ilu: Any = _incomplete(_owned(rows), kept) if options["pc_type"] == "ilu" else None
    end, history = _core.solve_krylov(
        *rows,
        rhs,
        guess,
        method=getattr(_core.KrylovMethod, options["ksp_type"]),
        rtol=options["ksp_rtol"],
        atol=options["ksp_atol"],
        divtol=options["ksp_divtol"],
        max_it=options["ksp_max_it"],
        restart=options["ksp_gmres_restart"],
        is_jacobi=options["pc_type"] == "jacobi",
        ilu=ilu,
        inverse=inverse,
        n_threads=runtime.engine.n_threads if product is None else 1,
        is_fused=options["fused"],
        bring=others[0],
        add_up=others[1],
        is_inverse_wide=blocks is not None and blocks.reads_ghosts,
        product=product,
    )
    reason = _REASONS.get(end, "CONVERGED_RTOL")
    if end == _core.KrylovEnd.converged and len(history) > 1 and history[-1] <= options["ksp_atol"]:
        reason = "CONVERGED_ATOL"
    return guess, Convergence(reason=reason, n_iterations=len(history) - 1, history=tuple(history))


def _owned(rows: tuple[Array, Array, Array, int]) -> tuple[Array, Array, Array, int]:
    """Return the rows without columns of ghosts."""
    offsets, columns, values, dim = rows
    chosen = columns < len(offsets) - 1
    if chosen.all():
        return rows
    before = np.append(0, np.cumsum(chosen))
    return before[offsets], columns[chosen], np.ascontiguousarray(values[chosen]), dim


def _of_blocks(
    rows: tuple[Array, Array, Array, int], blocks: Blocks, kept: Kept
) -> _core.SparseInverse:
    key, arrays = ("own", blocks.key), (rows[2], rows[1], rows[0])
    kept.agree(key, arrays, blocks.ranks)

    def make() -> _core.SparseInverse:
        made, failed = None, None
        try:
            made = blocks.inverse(blocks.complete(rows))
        except NotFactorised as error:
            failed = error
        agree(blocks.ranks, failed, "solve: the inverses of blocks")
        assert made is not None  # no rank has failed
        return _core.SparseInverse(*made, n_ghosts=blocks.n_ghosts)

    found: _core.SparseInverse = kept.get(key, arrays, make)
    return found


def _incomplete(rows: tuple[Array, Array, Array, int], kept: Kept) -> _core.IncompleteLu:
    def make() -> _core.IncompleteLu:
        try:
            return _core.IncompleteLu(*rows)
        except ExecutionError as error:
            advice = "ksp_type 'gmres' with package='scipy' exchanges rows"
            raise NotFactorised("ilu", f"{error} ({advice})") from None

    found: _core.IncompleteLu = kept.get("own ilu", (rows[2], rows[1], rows[0]), make)
    return found
