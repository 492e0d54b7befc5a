# SPDX-License-Identifier: BSD-3-Clause
"""Preconditioners and factorisations, kept while the matrix has the same values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base import extras
from pyop2cxx.exceptions import SolverOptionError
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyop2cxx.algebra.libraries import Library


class NotFactorised(Exception):
    """A matrix cannot be factorised: the kind of the preconditioner, and why."""


class Kept:
    """A Solver's cache for the last matrix, valid while the values are the same.

    Values are compared, since programs may hold writeable arrays of a matrix, which count no
    version.
    """

    def __init__(self) -> None:
        # key, arrays and result: a single object, since another thread may replace the cache
        self._last: tuple[Any, tuple[Any, ...], Any] = (None, (), None)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Kept, ())  # copies keep nothing: libraries' factors cannot be copied

    def agree(self, key: Any, arrays: tuple[Any, ...], ranks: Any) -> None:
        """Forget the result unless all ranks have a valid one, so that all make another."""
        known, values, _ = self._last
        is_new = key != known or not all(map(_is_same, arrays, values))
        if runtime.processes.combined(ranks, np.array(is_new, int), "sum", "a preconditioner"):
            self._last = (None, (), None)

    def get(self, key: Any, arrays: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """Return the cached result for the arrays, made if necessary.

        Args:
            key: Other dependences: options, and the library.
            arrays: Values and index of the matrix, of NumPy or CuPy.
            make: Makes the result. The old result is freed first.
        """
        known, values, made = self._last
        if key != known or not all(map(_is_same, arrays, values)):
            self._last = (None, (), None)
            del values, made
            made = make()
            self._last = (key, tuple(one.copy() for one in arrays), made)
        return made


def _is_same(one: Any, other: Any) -> bool:
    alike = one.shape == other.shape and one.dtype == other.dtype
    return alike and bool((one == other).all())


@dataclass(frozen=True, slots=True)
class Factors:
    """A factorisation L U of a matrix.

    Attributes:
        operator: The inverse, as the library's LinearOperator.
        condition: An estimate of the condition number, independent of the scaling of rows and
            columns.
    """

    operator: Any
    condition: float


def preconditioner(library: Library, operator: Any, kind: str, kept: Kept) -> Any:
    """Return an approximate inverse, SciPy's M; None for no preconditioner.

    Args:
        library: Where the matrix is.
        operator: The matrix.
        kind: none, jacobi, ilu, lu or amg.
        kept: The solver's cache.

    Raises:
        SolverOptionError: The library does not have the kind.
        NotFactorised: The matrix cannot be factorised.
        MissingExtraError: PyAMG is not installed.
    """
    if kind == "none":
        return None
    if kind == "jacobi":
        diagonal = operator.diagonal()
        # PETSc treats a zero diagonal entry the same way
        inverse = 1 / library.arrays.where(diagonal == 0, 1, diagonal)
        return _operator(library, operator, lambda v: inverse * v.reshape(-1))
    if kind == "lu":
        return factors(library, operator, kept).operator
    make = _multigrid if kind == "amg" else _incomplete
    return kept.get((library.name, kind), arrays_of(operator), lambda: make(library, operator))


def of_another(library: Library, made: Any, matrix: Any, dtype: Any) -> Any:
    """Return a preconditioner that computes in the dtype of its matrix, for other vectors.

    Args:
        library: Where the matrix is.
        made: The preconditioner.
        matrix: The matrix.
        dtype: Of the vectors.
    """

    def apply(v: Any) -> Any:
        return made.matvec(v.reshape(-1).astype(matrix.dtype)).astype(dtype)

    return library.methods.LinearOperator(matrix.shape, matvec=apply, dtype=dtype)


def factors(library: Library, operator: Any, kept: Kept) -> Factors:
    """Return the factors L U of a matrix.

    Args:
        library: Where the matrix is.
        operator: The matrix.
        kept: The solver's cache.

    Raises:
        NotFactorised: The matrix cannot be factorised.
    """

    def make() -> Factors:
        matrix = operator.tocsc()
        made = _factorised(library.methods.splu, matrix, "lu")
        inverse = _operator(library, operator, made.solve)
        return Factors(inverse, _condition(library, matrix, made.solve))

    found: Factors = kept.get((library.name, "lu"), arrays_of(operator), make)
    return found


def arrays_of(operator: Any) -> tuple[Any, Any, Any]:
    """Return values and index of a matrix of compressed rows."""
    return operator.data, operator.indices, operator.indptr


def _incomplete(library: Library, operator: Any) -> Any:
    # CuPy factorises an incomplete LU with fill factor 1 on the device
    how = {} if library.on_host else {"fill_factor": 1}
    made = _factorised(library.methods.spilu, operator.tocsc(), "ilu", **how)
    return _operator(library, operator, made.solve)


def _factorised(factorise: Callable[..., Any], matrix: Any, kind: str, **how: Any) -> Any:
    try:
        return factorise(matrix, **how)
    except RuntimeError as error:
        raise NotFactorised(kind, str(error)) from None


def _condition(library: Library, matrix: Any, solve: Callable[[Any], Any]) -> float:
    """Estimate the condition of a matrix from the factors, by two solves.

    Skeel's condition is the largest value of ``|inverse(A)| |A| w / w`` for weights w of the
    unknowns. Here w is the inverse sum of each column, of rows scaled to unit sums. The first
    right-hand side finds null spaces near constants, the second finds others.
    """
    xp = library.arrays
    magnitudes = abs(matrix)
    real = magnitudes.dtype
    rows = magnitudes @ xp.ones(matrix.shape[0], real)
    columns = magnitudes.T @ (1 / xp.where(rows == 0, 1, rows))
    weights = 1 / xp.where(columns == 0, 1, columns)
    sides = magnitudes @ weights
    signs = np.random.default_rng(1).choice([-1.0, 1.0], matrix.shape[0])
    largest = 0.0
    for right in (sides, sides * xp.asarray(signs, real)):
        with np.errstate(all="ignore"):
            found = float((abs(solve(right.astype(matrix.dtype))) / weights).max())
        largest = max(largest, found) if np.isfinite(found) else float("inf")
    return largest


def _operator(library: Library, like: Any, apply: Callable[[Any], Any]) -> Any:
    # a given dtype saves a trial product
    return library.methods.LinearOperator(like.shape, matvec=apply, dtype=like.dtype)


def _multigrid(library: Library, operator: Any) -> Any:
    if not library.on_host:
        raise SolverOptionError(
            "Solver: PyAMG works on the host; pass package='scipy', or pc_type 'jacobi', 'ilu'"
        )
    amg = extras.load("pyamg", "pc_type 'amg'")
    return amg.smoothed_aggregation_solver(_for_pyamg(operator)).aspreconditioner()


def _for_pyamg(operator: Any) -> Any:
    """Return a matrix in the format and with the index width required by PyAMG."""
    sparse = extras.load("scipy.sparse", "pc_type 'amg'")
    found = operator.tocsr()
    width = np.int32 if found.indptr[-1] <= np.iinfo(np.int32).max else np.int64
    index = (found.indices.astype(width, copy=False), found.indptr.astype(width))
    return sparse.csr_matrix((found.data, *index), shape=found.shape)
