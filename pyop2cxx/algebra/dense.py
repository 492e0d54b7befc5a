# SPDX-License-Identifier: BSD-3-Clause
"""Dense algebra on all elements of a Set: ``op2.dense``.

Each call is a loop with a generated kernel, which calls the dense functions of kernels. So calls
work on every backend, in chains, graphs and tables, and over processes. With ``blas="auto"`` NumPy
on the host, and cuBLAS on the backend `cuda`, take part in a measurement, and the fastest way is
kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import _core
from pyop2cxx.algebra.dense_ways import Call, carry_out
from pyop2cxx.algebra.failures import first_failed
from pyop2cxx.base.access import READ, RW, WRITE
from pyop2cxx.base.arrays import c_name, core_dtype
from pyop2cxx.base.conversions import as_number, check_held
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.globals import Global
from pyop2cxx.exceptions import (
    DataTypeError,
    DataValueError,
    DatTypeError,
    MapValueError,
    UnsupportedError,
    UsageError,
)
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.kernel.parser.dense import DTYPES, MOST, REAL
from pyop2cxx.loop.run import par_loop
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.communicators import ALONE
from pyop2cxx.runtime.frames import render
from pyop2cxx.runtime.memo import until_exit
from pyop2cxx.runtime.tracebacks import ends_traceback
from pyop2cxx.sets.sets import Subset

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.runtime.libraries import DeviceLibraries

    Scalar = int | float | complex

__all__ = ["check", "inverse", "multiply", "solve"]

_REMEDY = (
    "all other elements have their results. To get numbers instead of an error, pass info=, a Dat "
    "of int32"
)


@ends_traceback
def multiply(
    A: Dat,
    B: Dat,
    C: Dat | None = None,
    alpha: Scalar = 1.0,
    beta: Scalar = 0.0,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    subset: Subset | None = None,
    provider: str = "auto",
) -> Dat:
    """Multiply the matrices of each element: ``C = alpha A B + beta C``, as BLAS's `gemm`.

    Args:
        A: Of dim (m, k); (k, m) with `transpose_a`.
        B: Of dim (k, n), or (n, k) with `transpose_b`; or vectors, of dim (k,). Dtype of all:
            float32, float64, complex64 or complex128.
        C: The result, of dim (m, n), or (m,) for vectors. None makes a Dat.
        alpha: Factor of the product.
        beta: Factor of the former C, which is not read if the factor is 0.
        transpose_a: Whether the product has the transposes of A; not conjugated.
        transpose_b: The same for B, not for vectors.
        subset: The elements to compute; None means all.
        provider: ``"loop"``; ``"numpy"``, on the host; ``"cublas"``, on the backend `cuda` with
            ``blas="auto"``; or ``"auto"``: the loop, with ``blas="auto"`` the fastest as measured.

    Returns:
        C.

    Raises:
        DatTypeError: An operand is no Dat.
        MapValueError: The Dats, or the subset, are on another Set.
        DataTypeError: The dtype is not known to dense functions, or they differ.
        DataValueError: A dim does not match, C shares memory with an operand, or a factor does not
            fit the dtype.
        UnsupportedError: A size is beyond 64.
        UsageError: The provider does not exist, or cannot serve.

    Example:
        >>> from pyop2cxx import op2
        >>> cells = op2.Set(2)
        >>> A = op2.Dat(cells ** (2, 2), [[[1, 2], [3, 4]], [[0, 1], [1, 0]]], float)
        >>> x = op2.Dat(cells**2, [[1, 1], [5, 6]], float)
        >>> op2.dense.multiply(A, x).data_ro.tolist()
        [[3.0, 7.0], [6.0, 5.0]]
    """
    what = "dense.multiply"
    dtype = _checked(what, subset, A=A, B=B, C=C)
    m, k = _matrix(what, "A", A, transposed=transpose_a)
    is_vector = len(B.dim) == 1
    if is_vector and transpose_b:
        raise DataValueError(f"{what}: B, {B.label}, has vectors: transpose_b needs matrices")
    rows, n = (B.dim[0], 1) if is_vector else _matrix(what, "B", B, transposed=transpose_b)
    if rows != k:
        raise DataValueError(
            f"{what}: the matrices of A, {A.label}, have {k} columns, so B, {B.label}, needs {k} "
            f"rows; got dim {B.dim}{' transposed' if transpose_b else ''}"
        )
    dim = (m,) if is_vector else (m, n)
    factors = [_factor(what, *one, dtype) for one in (("alpha", alpha), ("beta", beta))]
    if factors[1] and C is None:
        raise DataValueError(f"{what}: beta={beta} needs a C to multiply; pass C, or beta=0")
    C = _result(what, "C", C, B, dim)
    _refuse_shared(what, C, A, B)
    has_beta = bool(factors[1])
    kind = "both" if has_beta else "alpha" if factors[0] != 1 else ""
    kernel = _product((m, n, k), dtype, kind, bool(transpose_a), bool(transpose_b))
    numbers = _factors(factors[0], factors[1], dtype)

    def by_loop() -> bool:
        args = C(RW if has_beta else WRITE), A(READ), B(READ)
        par_loop(
            kernel, A.set if subset is None else subset, *args, *([numbers(READ)] if kind else [])
        )
        return True

    def by_numpy() -> bool:
        left = _matrices(A).swapaxes(1, 2) if transpose_a else _matrices(A)
        right = _matrices(B).swapaxes(1, 2) if transpose_b else _matrices(B)
        with np.errstate(all="ignore"):
            found = left @ right if factors[0] == 1 else factors[0] * (left @ right)
            found = found + factors[1] * _matrices(C) if has_beta else found
        values = C.outcome(False, fresh=True)
        values[...] = found.reshape(values.shape)
        return True

    def by_cublas(libraries: DeviceLibraries) -> bool:
        assert libraries.cublas is not None
        turned = bool(transpose_a), bool(transpose_b)
        product = _core.cuda.SmallProduct(core_dtype(dtype), A.set.size, m, n, k, *turned)
        buffers = numbers.buffer, A.buffer, B.buffer, C.buffer
        libraries.cublas.multiply(libraries.device, product, *buffers, has_beta)
        C.halo_valid = not C.set.may_have_ghosts
        return True

    about = f"{what} {m}x{k} by {k}x{n}"
    carry_out(Call(about, (A, B, C), subset, by_loop, by_numpy, by_cublas), provider)
    return C


@ends_traceback
def solve(
    A: Dat,
    b: Dat,
    x: Dat | None = None,
    *,
    spd: bool = False,
    info: Dat | None = None,
    subset: Subset | None = None,
    provider: str = "auto",
) -> Dat:
    """Solve the system of each element, ``A x = b``.

    As of NumPy, the result is a new Dat, unless `x` is given; ``x=b`` solves in place, as LAPACK.
    A is not changed.

    Args:
        A: Of dim (n, n).
        b: Right-hand sides, of dim (n,) or (n, m), of the dtype of A.
        x: The result, like b; may be b. None makes a Dat.
        spd: Whether the matrices are symmetric positive definite: solved by Cholesky factors, of
            the lower triangles. Real numbers only.
        info: A Dat of int32 with one value, set as LAPACK does: 0, or the number of the first
            column without a pivot, from 1. With `info` no element is an error, and the call does
            not wait. Without, the call waits for the results.
        subset: The elements to compute; None means all.
        provider: As of `multiply`; cuBLAS does not serve.

    Returns:
        x. Elements without a solution have NaN, all others their solution.

    Raises:
        DataValueError: An element's matrix is singular, or not positive definite, or not finite:
            the first is named, with the column; `info` was not given. Or as of `multiply`.
        UsageError: `info` is missing within `op2.record`. Or as of `multiply`.
        DatTypeError, MapValueError, DataTypeError, UnsupportedError: As of `multiply`.

    Example:
        >>> from pyop2cxx import op2
        >>> cells = op2.Set(2)
        >>> A = op2.Dat(cells ** (2, 2), [[[2, 0], [0, 4]], [[0, 1], [1, 0]]], float)
        >>> b = op2.Dat(cells**2, [[2, 4], [5, 6]], float)
        >>> op2.dense.solve(A, b).data_ro.tolist()
        [[1.0, 1.0], [6.0, 5.0]]
    """
    what = "dense.solve"
    dtype = _checked(what, subset, A=A, b=b, x=x)
    n, _ = _matrix(what, "A", A, is_square=True)
    columns = 1 if len(b.dim) == 1 else b.dim[-1]
    if len(b.dim) > 2 or b.dim[0] != n or not columns <= MOST:
        raise DataValueError(
            f"{what}: A, {A.label}, has dim {A.dim}, so b needs dim ({n},), or ({n}, m) with m to "
            f"{MOST}; {b.label} has {b.dim}"
        )
    if spd and dtype.kind == "c":
        raise DataTypeError(f"{what}: spd=True is for real numbers, got {dtype}; leave it out")
    _check_info(what, A, info)
    x = b if x is b else _result(what, "x", x, b, b.dim)
    is_in_place = x is b
    _refuse_shared(what, x, A, *([] if is_in_place else [b]))
    call = f"op2_{'spd_' if spd else ''}solve({n}, {columns}, A, x)"
    kernel = _system("solve", dtype, call, x.cdim, is_in_place)
    failed = Dat(A.set, dtype=np.int32, name="info") if info is None else info

    def by_loop() -> bool:
        right = () if is_in_place else (b(READ),)
        results = x(RW if is_in_place else WRITE), failed(WRITE)
        par_loop(kernel, A.set if subset is None else subset, *results, A(READ), *right)
        return True

    def by_numpy() -> bool:
        return _by_lapack(lambda: np.linalg.solve(_matrices(A), _matrices(b)), x, failed)

    about = f"{what} {n}x{n}, {columns}{', spd' if spd else ''}"
    carry_out(Call(about, (A, b, x), subset, by_loop, None if spd else by_numpy), provider)
    if info is None:
        _refuse_singular(what, failed, A, "not positive definite" if spd else "singular")
    return x


@ends_traceback
def inverse(
    A: Dat,
    X: Dat | None = None,
    *,
    info: Dat | None = None,
    subset: Subset | None = None,
    provider: str = "auto",
) -> Dat:
    """Invert the matrix of each element.

    Args:
        A: Of dim (n, n); unchanged, unless X is A.
        X: The result, like A; may be A. None makes a Dat.
        info: As of `solve`. Matrices of up to three rows are inverted by cofactors, and their
            number is n.
        subset: The elements to compute; None means all.
        provider: As of `solve`.

    Returns:
        X. Elements without an inverse have NaN.

    Raises:
        DataValueError, UsageError, DatTypeError, MapValueError, DataTypeError, UnsupportedError: As
            of `solve`.

    Example:
        >>> from pyop2cxx import op2
        >>> A = op2.Dat(op2.Set(1) ** (2, 2), [[[2, 0], [0, 4]]], float)
        >>> op2.dense.inverse(A).data_ro.tolist()
        [[[0.5, 0.0], [0.0, 0.25]]]
    """
    what = "dense.inverse"
    dtype = _checked(what, subset, A=A, X=X)
    n, _ = _matrix(what, "A", A, is_square=True)
    _check_info(what, A, info)
    X = _result(what, "X", X, A, A.dim)
    is_in_place = X is A
    if not is_in_place:
        _refuse_shared(what, X, A)
    kernel = _system("inverse", dtype, f"op2_inverse({n}, A, x)", X.cdim, is_in_place)
    failed = Dat(A.set, dtype=np.int32, name="info") if info is None else info

    def by_loop() -> bool:
        args = (X(RW), failed(WRITE)) if is_in_place else (X(WRITE), failed(WRITE), A(READ))
        par_loop(kernel, A.set if subset is None else subset, *args)
        return True

    def by_numpy() -> bool:
        return _by_lapack(lambda: np.linalg.inv(_matrices(A)), X, failed)

    carry_out(Call(f"{what} {n}x{n}", (A, X), subset, by_loop, by_numpy), provider)
    if info is None:
        _refuse_singular(what, failed, None if is_in_place else A, "singular")
    return X


@ends_traceback
def check(info: Dat, what: str = "dense") -> None:
    """Raise the error for the first singular element, after calls with `info`.

    All processes that share the Set must call.

    Args:
        info: As given to `solve` or `inverse`.
        what: Beginning of the message, such as the name of the matrices.

    Raises:
        DataValueError: An element has no solution; the first is named, with the column.
        DatTypeError, DataTypeError: `info` is no Dat of int32 with one value.
    """
    if not isinstance(info, Dat):
        raise DatTypeError(f"dense.check: expected the Dat given as info, got {info!r}")
    _check_info("dense.check", info, info)
    why = "singular, or not positive definite with spd=True"
    _refuse_singular(what, info, None, why, "info has the numbers of all elements")


def _matrices(dat: Dat) -> Array:
    """Return the values as matrices; vectors have one column."""
    rows, columns = (*dat.dim, 1)[:2]
    found: Array = dat.data_ro.reshape(-1, rows, columns)
    return found


def _by_lapack(function: Callable[[], Array], target: Dat, info: Dat) -> bool:
    """Store a result of LAPACK; return whether no element is singular."""
    try:
        with np.errstate(all="ignore"):
            found = function()
    except np.linalg.LinAlgError:
        return False
    if not np.isfinite(found).all():
        return False
    values = target.outcome(False, fresh=True)
    values[...] = found.reshape(values.shape)
    info.outcome(False, fresh=True)[...] = 0
    return True


@until_exit(256)
def _factors(alpha: Any, beta: Any, dtype: np.dtype[Any]) -> Global:
    """Return the factors of products, which no call changes."""
    return Global(2, [alpha, beta], dtype, "factors", ALONE)


@until_exit(256)
def _product(
    sizes: tuple[int, int, int], dtype: np.dtype[Any], factors: str, turn_a: bool, turn_b: bool
) -> Kernel:
    """Return the kernel of products: made once for sizes, dtype and options."""
    m, n, k = sizes
    gemm = "op2_gemm_tn" if turn_a else "op2_gemm_nt" if turn_b else "op2_gemm"
    about = {"gemm": gemm, "is_turned": turn_a and turn_b, "factors": factors}
    about |= {"m": m, "n": n, "k": k, "type": c_name(dtype)}
    text = render("kernels/dense_multiply.c.j2", about)
    return Kernel(text, "dense_multiply", abi="2026").written_here()


@until_exit(256)
def _system(what: str, dtype: np.dtype[Any], call: str, size: int, is_in_place: bool) -> Kernel:
    """Return the kernel of systems or inverses, as `_product`."""
    about = {"what": what, "call": call, "size": size, "is_in_place": is_in_place}
    about |= {"type": c_name(dtype), "real": c_name(REAL.get(dtype.name, dtype.name))}
    text = render("kernels/dense_solve.c.j2", about)
    return Kernel(text, f"dense_{what}", abi="2026").written_here()


# Checks, before anything is changed


def _checked(what: str, subset: Any, **dats: Any) -> np.dtype[Any]:
    """Check kinds, Sets and dtypes of operands; return the dtype of kernels."""
    found: list[tuple[str, Dat]] = []
    for name, dat in dats.items():
        if dat is None and name in ("C", "x", "X"):
            continue
        if not isinstance(dat, Dat):
            raise DatTypeError(f"{what}: {name} is a Dat, got {dat!r} of type {type(dat).__name__}")
        found.append((name, dat))
    (first_name, first), *others = found
    home, dtype = first.set, first.compute
    if dtype.name not in DTYPES:
        raise DataTypeError(
            f"{what}: {first_name}, {first.label}, has dtype {dtype}; expected {', '.join(DTYPES)}"
        )
    for name, dat in others:
        if dat.set is not home:
            raise MapValueError(
                f"{what}: {first_name}, {first.label}, is on Set '{home.name}', {name}, "
                f"{dat.label}, on Set '{dat.set.name}'; all must be on the same Set"
            )
        if dat.compute != dtype:
            raise DataTypeError(
                f"{what}: {first_name}, {first.label}, has dtype {dtype}, {name}, {dat.label}, "
                f"{dat.compute}; make them of one dtype"
            )
    if subset is not None and (not isinstance(subset, Subset) or subset.superset is not home):
        raise MapValueError(f"{what}: subset is a Subset of Set '{home.name}', got {subset!r}")
    runtime.require_running(first.label, what)
    return dtype


def _matrix(
    what: str, name: str, dat: Dat, *, transposed: bool = False, is_square: bool = False
) -> tuple[int, int]:
    """Return rows and columns of the matrices of an operand."""
    expected = "(n, n)" if is_square else "of two sizes"
    if len(dat.dim) != 2 or (is_square and dat.dim[0] != dat.dim[1]):
        raise DataValueError(
            f"{what}: {name}, {dat.label}, has dim {dat.dim}; expected {expected}, matrices"
        )
    rows, columns = dat.dim[::-1] if transposed else dat.dim
    if not (1 <= rows <= MOST and 1 <= columns <= MOST):
        raise UnsupportedError(
            f"{what}: {name}, {dat.label}, has dim {dat.dim}; sizes are from 1 to {MOST}. For "
            "larger matrices: NumPy with data_ro, or op2.Mat and op2.solve"
        )
    return rows, columns


def _factor(what: str, name: str, value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a factor as a number of the dtype."""
    number = as_number(value, f"{what}: {name}")
    if number is None:
        raise DataTypeError(f"{what}: {name} is a number, got {value!r}")
    if (number.dtype.kind == "c" and dtype.kind != "c") or not np.isfinite(number):
        raise DataValueError(f"{what}: {name} is a finite number for {dtype}, got {value!r}")
    check_held(dtype, number, name, what)
    return number.astype(dtype).item()


def _result(what: str, name: str, given: Dat | None, like: Dat, dim: tuple[int, ...]) -> Dat:
    """Return the Dat for the result, a new one if none was given."""
    if given is None:
        return Dat(like.set**dim, dtype=like.compute, name=name)
    if given.dim != dim:
        raise DataValueError(f"{what}: {name}, {given.label}, has dim {given.dim}; expected {dim}")
    return given


def _refuse_shared(what: str, target: Dat, *others: Dat) -> None:
    """Refuse a result over the memory of an operand."""
    mine = target.host_values
    for other in others:
        theirs = other.host_values
        is_shared = mine is not None and theirs is not None and np.may_share_memory(mine, theirs)
        if other is target or is_shared:
            raise DataValueError(
                f"{what}: the result, {target.label}, shares memory with {other.label}, so values "
                "would be read after they were changed; give another Dat"
            )


def _check_info(what: str, A: Dat, info: Any) -> None:
    """Check the Dat for numbers of columns."""
    if info is None:
        if runtime.writes_graph:
            raise UsageError(
                f"{what}: a graph cannot wait for singular elements of {A.label}; pass info=, a "
                "Dat of int32 with one value, and call op2.dense.check(info) after submits"
            )
        return
    if not isinstance(info, Dat):
        raise DatTypeError(f"{what}: info is a Dat, got {info!r} of type {type(info).__name__}")
    if info.set is not A.set:
        raise MapValueError(
            f"{what}: info, {info.label}, is on Set '{info.set.name}', expected '{A.set.name}'"
        )
    if info.dim != (1,) or info.dtype != np.int32:
        raise DataTypeError(
            f"{what}: info, {info.label}, has dtype {info.dtype} and dim {info.dim}; expected "
            "int32 and (1,), as of op2.Dat(cells, dtype='int32')"
        )


def _refuse_singular(what: str, info: Dat, A: Dat | None, why: str, remedy: str = _REMEDY) -> None:
    """Raise the error for the first element without a pivot."""
    if runtime.static:
        return
    found = first_failed(info, *([] if A is None else [A]))
    if found is None:
        return
    of = "" if A is None else f" of {A.label}"
    if not found.is_finite:
        why = "has values that are not finite"
    else:
        why = f"is {why}: column {found.column} has no pivot"
    raise DataValueError(
        f"{what}: the matrix of element {found.element}{of} {why}{found.others()}; {remedy}"
    )
