# SPDX-License-Identifier: BSD-3-Clause
"""Solves of matrices with rows shared by processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.algebra import krylov, libraries, own_krylov, petsc_ksp
from pyop2cxx.algebra.block_inverses import KINDS
from pyop2cxx.algebra.convergence import of_zero
from pyop2cxx.algebra.systems import flat, guess_of, like, put, right_side
from pyop2cxx.base.blocks import scalar_places
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.mats import Mat
from pyop2cxx.exceptions import DataValueError, SolverOptionError, UnsupportedError
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyop2cxx.algebra.convergence import Convergence
    from pyop2cxx.algebra.preconditioners import Kept
    from pyop2cxx.base.arrays import Array

    Rows = tuple[Array, Array, Array, int]


def are_shared(x: Any) -> bool:
    """Say whether processes share the values of a Dat, a MixedDat or a Global."""
    return any(isinstance(one, Dat) and one.dataset.set.is_distributed for one in x.split)


def chosen(
    package: str, A: Any, x: Any, b: Any, options: Mapping[str, Any]
) -> Callable[..., tuple[Any, Convergence]]:
    """Return the solver for a package.

    Raises:
        SolverOptionError: The package has none.
        UnsupportedError: Equal bits on any number of processes were asked for.
    """
    if not isinstance(A, Mat):
        _check_function(A, x, b, options)
        return _of_function
    A.refuse_bits("solve")
    if package == "scipy" and options["pc_type"] in KINDS:
        raise SolverOptionError(
            f"Solver: over processes pc_type {options['pc_type']!r} is for package 'own', with cg, "
            "gmres or bicgstab, and a Mat of float64"
        )
    if package == "petsc" and not A.is_mixed:
        return _by_petsc
    if package not in ("own", "scipy"):
        raise SolverOptionError(
            f"Solver: package {package!r} is not carried over processes yet; take 'own' (cg, gmres "
            f"or bicgstab with {', '.join(own_krylov.PRECONDITIONERS)}), or 'scipy', which gathers "
            "the system, or 'petsc' for a matrix that is not mixed"
        )
    return _by_own if package == "own" else _gathered


def _check_function(A: Any, x: Any, b: Any, options: Mapping[str, Any]) -> None:
    is_known = options["ksp_type"] in own_krylov.METHODS and options["package"] in ("auto", "own")
    if not is_known or {x.dtype, b.dtype} != {np.dtype(np.float64)}:
        raise SolverOptionError(
            "Solver: over processes a function is for package 'own', with ksp_type 'cg', 'gmres' "
            f"or 'bicgstab', and Dats of float64; got {options['package']!r}, "
            f"{options['ksp_type']!r}, {x.dtype} and {b.dtype}"
        )
    if runtime.same_on_ranks:
        raise UnsupportedError(
            "solve: over processes the sums of a solver are of each process first, and "
            "deterministic='ranks' was asked for; take deterministic=True"
        )


@dataclass(slots=True, eq=False)
class Vector:
    """A field of a vector of the solve: owned values, then ghosts. Exchanged as a Dat is.

    Attributes:
        set: The Set.
        cdim: Values of an entity.
        name: Name in messages.
        uid: Identifies exchanges.
        rows: Shape (set.total_size, cdim), float64.
        dtype: Of the values.
    """

    set: Any
    cdim: int
    name: str
    uid: int
    rows: Array
    dtype: np.dtype[Any]

    def all_rows(self) -> Array:
        """Return all values."""
        return self.rows

    def note_exchange(self, *, valid: bool) -> None:
        """Ghosts are brought before each product."""


class Ghosts:
    """Brings the ghosts of vectors: owned values of all fields, then ghosts of all fields.

    Args:
        dsets: The DataSets of the fields.
        what: The solve, for messages.
    """

    def __init__(self, dsets: Sequence[Any], what: str) -> None:
        self._what = what
        self._fields = [
            Vector(
                set=dset.set,
                cdim=dset.cdim,
                name=f"x of {dset.set.name}",
                uid=runtime.next_uid(),
                rows=np.empty((dset.set.total_size, dset.cdim)),
                dtype=np.dtype(np.float64),
            )
            for dset in dsets
        ]
        self._messages = dsets[0].set.halo.messages
        self.n_owned = [field.set.size * field.cdim for field in self._fields]
        self.n_ghosts = [
            field.rows.size - n for field, n in zip(self._fields, self.n_owned, strict=True)
        ]

    def bring(self, vector: Array) -> None:
        """Give the ghosts their owners' values, in place."""
        if len(self._fields) == 1:
            self._fields[0].rows = vector.reshape(-1, self._fields[0].cdim)
            self._messages.begin(self._fields, self._what)
            self._messages.end()
            return
        at = 0
        for field, n in zip(self._fields, self.n_owned, strict=True):
            field.rows.reshape(-1)[:n] = vector[at : at + n]
            at += n
        self._messages.begin(self._fields, self._what)
        self._messages.end()
        for field, n in zip(self._fields, self.n_owned, strict=True):
            ghosts = field.rows.reshape(-1)[n:]
            vector[at : at + ghosts.size] = ghosts
            at += ghosts.size


def _by_own(
    A: Any, x: Any, b: Any, options: Mapping[str, Any], kept: Kept
) -> tuple[Any, Convergence]:
    """Solve by the package's own methods, on all processes."""
    ghosts = Ghosts(tuple(A.sparsity.dsets[1]), f"a product with {A.label}")
    rhs = right_side(A, x, b, flat)
    rows = _rows_of(A)
    found = np.zeros(rhs.size + sum(ghosts.n_ghosts))
    found[: rhs.size] = guess_of(x, rhs, options, np, flat)
    add_up = _sums_over(x, {"b": rhs, A.label: rows[2]})
    if not _is_any(add_up, rhs):
        return rhs, of_zero()
    found, went = own_krylov.solve(rows, rhs, found, options, kept, (ghosts.bring, add_up))
    return found[: rhs.size], went


def _by_petsc(
    A: Any, x: Any, b: Any, options: Mapping[str, Any], kept: Kept
) -> tuple[Any, Convergence]:
    rhs = right_side(A, x, b, flat)
    found = guess_of(x, rhs, options, np, flat)
    add_up = _sums_over(x, {"b": rhs, A.label: _rows_of(A)[2]})
    if not _is_any(add_up, rhs):
        return rhs, of_zero()
    return petsc_ksp.solve(A, None, rhs, found, options, kept)


def _of_function(
    A: Any, x: Any, b: Any, options: Mapping[str, Any], kept: Kept
) -> tuple[Any, Convergence]:
    """Solve with a function of Dats in place of a matrix."""
    rhs = right_side(A, x, b, flat)
    found = guess_of(x, rhs, options, np, flat)
    add_up = _sums_over(x, {"b": rhs})
    if not _is_any(add_up, rhs):
        return rhs, of_zero()
    source, target = like(x), like(b)

    def product(v: Array, out: Array) -> None:
        put(source, v, on_device=False)
        A(source, target)
        out[:] = flat(target)

    nothing = np.zeros(0)
    rows = np.zeros(rhs.size + 1, np.int64), nothing.astype(np.int32), nothing, 1
    return own_krylov.solve(rows, rhs, found, options, kept, (None, add_up), product)


def _sums_over(x: Any, values: Mapping[str, Array]) -> Callable[[Array], None]:
    """Return a function for sums over the processes that share a vector, in place.

    Raises:
        DataValueError: Of some process values are not finite.
    """
    comm = x.split[0].dataset.set.ranks

    def add_up(sums: Array) -> None:
        sums[:] = runtime.processes.combined(comm, sums, "sum", "solve")

    wrong = np.array([float(not np.isfinite(one).all()) for one in values.values()])
    add_up(wrong)
    for n, name in zip(wrong, values, strict=True):
        if n:
            raise DataValueError(f"solve: {name} has values that are not finite")
    return add_up


def _is_any(add_up: Callable[[Array], None], values: Array) -> bool:
    count = np.array([float(values.any())])
    add_up(count)
    return bool(count[0])


def _rows_of(A: Any) -> Rows:
    """Return starts of owned rows, columns, values, and the dim of blocks."""
    if not A.is_mixed and A.block_dims[0] == A.block_dims[1]:
        offsets = A.sparsity.rowptr[: A.nblock_rows + 1]
        n = int(offsets[-1])
        return offsets, A.sparsity.colidx[:n], A.stored("solve", write=False)[:n], A.block_dims[0]
    first = np.cumsum([0, *(block.ncols for block in A[0])])
    ghosts = first[-1] + np.cumsum([0, *(block.n_stored(1) - block.ncols for block in A[0])])
    rows, columns, values, at = [], [], [], 0
    for row in A.blocks:
        for j, block in enumerate(row):
            i, k, some = _scalars(block)
            is_ghost = k >= block.ncols
            rows.append(at + i)
            columns.append(np.where(is_ghost, k - block.ncols + ghosts[j], k + first[j]))
            values.append(some)
        at += row[0].nrows
    all_rows, all_columns = np.concatenate(rows), np.concatenate(columns)
    order = np.lexsort((all_columns, all_rows))
    offsets = np.searchsorted(all_rows[order], np.arange(at + 1)).astype(np.int64)
    return offsets, all_columns[order], np.concatenate(values)[order], 1


def _scalars(block: Any) -> tuple[Array, Array, Array]:
    """Return row, column and value of each scalar in owned rows."""
    offsets = block.sparsity.rowptr[: block.nblock_rows + 1]
    n = int(offsets[-1])
    values = block.stored("solve", write=False)[:n]
    rows = np.repeat(np.arange(block.nblock_rows), np.diff(offsets))
    columns = block.sparsity.colidx[:n].astype(np.int64)
    return *scalar_places(rows, columns, block.block_dims), values.reshape(-1)


def _gathered(
    A: Any, x: Any, b: Any, options: Mapping[str, Any], kept: Kept
) -> tuple[Any, Convergence]:
    """Solve by SciPy in the first process, which gathers the system."""
    comm = A.split[0].comm
    matrix = A.gathered()
    rhs = right_side(A, x, b, _whole)
    guess = guess_of(x, rhs, options, np, _whole)
    outcome: tuple[Any, Exception | None] = None, None
    if comm.rank == 0:
        try:
            outcome = _by_scipy(matrix, rhs, guess, options, kept), None
        except Exception as error:  # all processes raise
            outcome = None, error
    solved, failed = comm.bcast(outcome)
    if failed is not None:
        raise failed
    found, went = solved
    mine, at = [], 0
    for part in x.split:
        on = part.dataset.set
        n = on.global_size * part.cdim
        rows = found[at : at + n].reshape(-1, part.cdim)
        mine.append(rows[on.global_numbers[: on.size]].reshape(-1))
        at += n
    return np.concatenate(mine), went


def _whole(dat: Any) -> Array:
    return np.concatenate([part.gathered().reshape(-1) for part in dat.split])


def _by_scipy(
    matrix: Any, rhs: Array, guess: Array, options: Mapping[str, Any], kept: Kept
) -> tuple[Any, Convergence]:
    if not (np.isfinite(rhs).all() and np.isfinite(matrix.data).all()):
        raise DataValueError("solve: A or b has values that are not finite")
    if not rhs.any():
        return rhs, of_zero()
    library = libraries.scipy("op2.solve()")
    with libraries.one_blas_thread():
        return krylov.solve(library, matrix, rhs, guess, options, kept)
