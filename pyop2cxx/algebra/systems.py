# SPDX-License-Identifier: BSD-3-Clause
"""Linear systems of Mats and Dats as matrices and vectors of libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base import extras
from pyop2cxx.base.arrays import spread
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.globals import Global
from pyop2cxx.data.mats import Mat, is_same_space
from pyop2cxx.data.mixed_dats import MixedDat
from pyop2cxx.exceptions import DataTypeError, DataValueError, DatTypeError, MatTypeError
from pyop2cxx.interop import cupy
from pyop2cxx.runtime.processes import refuse_several

_NO_SOLVERS = (
    "solvers are carried over processes on Sets of op2.distribute; for others write the iteration "
    "with loops, inner and axpy, which are"
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyop2cxx.algebra.libraries import Library
    from pyop2cxx.base.arrays import Array

    Vector = Dat | MixedDat | Global
    Operator = Callable[[Any, Any], None]


def dat_of(given: Any) -> Any:
    """Return the Dat of an object with a `dat`, such as a `fem.Function`; others unchanged."""
    found = getattr(given, "dat", given)
    return found if isinstance(found, Dat) else given


def check_system(A: object, x: object, b: object) -> None:
    """Check that a matrix and vectors fit.

    Raises:
        MatTypeError: A is neither a Mat nor a function.
        DatTypeError: x or b holds no values.
        DataValueError: They do not fit, or the matrix is not square.
    """
    if not isinstance(A, Mat) and not callable(A):
        raise MatTypeError(
            f"solve: A must be a Mat or a function A(x, y), got {A!r} of type {type(A).__name__}"
        )
    for name, dat in (("x", x), ("b", b)):
        if not isinstance(dat, Dat | MixedDat | Global):
            raise DatTypeError(
                f"solve: {name} must be a Dat, a MixedDat or a Global, got {dat!r} of type "
                f"{type(dat).__name__}"
            )
        for part in dat:
            part.check_summed("solve")
            on = [] if isinstance(part, Global) else [part.dataset.set]
            if not all(one.is_distributed for one in on):
                refuse_several(on, "solve", _NO_SOLVERS)
    assert isinstance(x, Dat | MixedDat | Global)
    assert isinstance(b, Dat | MixedDat | Global)
    if isinstance(A, Mat):
        A.check_vector(x, 1, "columns")
        A.check_vector(b, 0, "rows")
        if (A.nrows, A.n_stored(0)) != (A.ncols, A.n_stored(1)):
            raise DataValueError(
                f"solve: {A.label} has {A.n_stored(0)} rows and {A.n_stored(1)} columns; only "
                "square systems can be solved"
            )
    elif not is_same_space(x.dataset, b.dataset):
        raise DataValueError(f"solve: x and b, {x.name} and {b.name}, are on different DataSets")


def check_finite(xp: Any, found: Mapping[str, Any]) -> None:
    """Refuse values that are not finite.

    Args:
        xp: NumPy, or a replacement.
        found: Arrays by their names in messages.

    Raises:
        DataValueError: An array has such a value; the first is named.
    """
    for what, values in found.items():
        # a sum is finite only if all terms are, and needs no boolean array
        with np.errstate(all="ignore"):
            total = values.sum() if values.size else 0.0
        if not xp.isfinite(total) and not xp.isfinite(values).all():
            raise DataValueError(f"solve: {what} has values that are not finite")


def is_guess_read(options: Mapping[str, Any]) -> bool:
    """Return whether a solve reads the initial x."""
    return bool(options["ksp_initial_guess_nonzero"]) and options["ksp_type"] != "preonly"


def flat(dat: Vector) -> Array:
    """Return a copy of the values of all fields, concatenated; shape (n,)."""
    return np.concatenate([part.data_ro.reshape(-1) for part in dat.split])


def right_side(A: Any, x: Vector, b: Vector, read: Callable[[Vector], Any]) -> Any:
    """Return a copy of the right-hand side, in the dtype of the solve.

    Args:
        A: A Mat, or a function.
        x: The unknown.
        b: The right-hand side.
        read: Returns a copy of the values.

    Raises:
        DataTypeError: The dtype of x does not hold the solution.
    """
    matrix = A.dtype if isinstance(A, Mat) else x.dtype
    dtype = np.result_type(matrix, b.dtype, np.float32)
    if not np.can_cast(dtype, x.dtype, "same_kind"):
        raise DataTypeError(
            f"solve: x, '{x.name}', has dtype {x.dtype.name}, but the solution has dtype {dtype}; "
            f"give x that dtype"
        )
    return read(b).astype(dtype, copy=False)


def guess_of(
    x: Vector, rhs: Any, options: Mapping[str, Any], xp: Any, read: Callable[[Vector], Any]
) -> Any:
    """Return the initial guess, an array to work on: zeros if x is not to be read.

    Args:
        x: The unknown.
        rhs: The right-hand side.
        options: As `pyop2cxx.algebra.solvers.DEFAULTS` has them.
        xp: NumPy, or a replacement.
        read: Returns a copy of the values.

    Raises:
        DataValueError: A value is not finite.
    """
    if not is_guess_read(options):
        return xp.zeros_like(rhs)
    found = read(x).astype(rhs.dtype, copy=False)
    check_finite(xp, {"x, the initial guess,": found})
    return found


def put(x: Vector, found: Any, *, on_device: bool) -> None:
    """Write a solution to a Dat, or to the fields of a MixedDat."""
    if on_device:
        cupy.put(x, found)
    else:
        spread(found, (part.data_wo for part in x.split))


def owned(A: Mat, *, on_host: bool) -> Any:
    """Return the rows and columns of owned entities as a matrix of SciPy or CuPy."""
    if (A.n_stored(0), A.n_stored(1)) == (A.nrows, A.ncols):
        return A.to_scipy() if on_host else cupy.matrix(A, write=False)
    if A.is_mixed:
        blocks = [[owned(block, on_host=on_host) for block in row] for row in A.blocks]
        name = "scipy.sparse" if on_host else "cupyx.scipy.sparse"
        return extras.load(name, "op2.solve()").bmat(blocks, format="csr")
    found = A.to_scipy() if on_host else cupy.matrix(A, write=False)
    return found.tocsr()[: A.nrows, : A.ncols]


def as_operator(A: Operator, x: Vector, b: Vector, library: Library) -> Any:
    """Wrap a function over Dats for a library, with separate Dats."""
    source, target = like(x), like(b)
    sizes = [[part.dataset.set.size * part.cdim for part in dat.split] for dat in (b, x)]

    def apply(vector: Any) -> Any:
        put(source, vector.reshape(-1), on_device=not library.on_host)
        A(source, target)
        return flat(target) if library.on_host else cupy.vector(target)

    shape = (sum(sizes[0]), sum(sizes[1]))
    return library.methods.LinearOperator(shape, matvec=apply, dtype=b.dtype)


def like(dat: Vector) -> Vector:
    """Return a Dat, MixedDat or Global of the same kind, of zeros."""
    if isinstance(dat, MixedDat):
        return MixedDat(dat.dataset, dtype=dat.dtype)
    if isinstance(dat, Global):
        return Global(dat.dim, dtype=dat.dtype)
    return Dat(dat.dataset, dtype=dat.dtype)


def has_constants(A: Any, x: Vector) -> bool:
    """Return whether a matrix times a vector of 1s is zero up to rounding.

    Args:
        A: A Mat, or a function.
        x: A vector on the DataSet of the columns.
    """
    if not isinstance(A, Mat):
        return False
    ones = like(x)
    for part in ones.split:
        part.data_wo[...] = 1
    product = flat(A * ones)
    largest = max(float(abs(block.stored("solve", write=False)).max(initial=0)) for block in A)
    precision = float(np.finfo(np.result_type(product.dtype, np.float32)).eps)
    return bool(largest > 0 and abs(product).max(initial=0) <= 1e5 * precision * largest)
