# SPDX-License-Identifier: BSD-3-Clause
"""Conversion of users' numbers and functions of coordinates to arrays of a needed shape."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.arrays import as_array, plain_array
from pyop2cxx.exceptions import DataValueError, UsageError
from pyop2cxx.fem._packages import ufl

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyop2cxx.base.arrays import Array

_OF_CALLS = (TypeError, ValueError, IndexError)
"""Errors of functions that were written for one point, or for other dimensions."""


def numbers(given: Any, dtype: np.dtype[Any], what: str) -> Array:
    """Return numbers as an array of a dtype, which may share memory.

    Args:
        given: Numbers of any kind, in arrays or sequences of any shape.
        dtype: As wanted.
        what: Begins messages.

    Raises:
        DataValueError: Not numbers, or outside the range of the dtype.
    """
    try:
        found = plain_array(given, what)
    except UsageError:
        raise
    except (TypeError, ValueError) as error:  # rows of several lengths, for instance
        raise DataValueError(f"{what}: expected numbers, got {shown(given)}: {error}") from None
    has_symbols = found.dtype.kind == "O" and any(map(_is_symbol, found.flat))
    if found.dtype.kind not in "biufcO" or has_symbols:
        raise DataValueError(f"{what}: expected numbers, got {shown(given)}")
    return as_array(found, dtype, found.shape, what)


def number(given: Any, what: str) -> float | complex:
    """Return a single number, real where that is enough.

    Args:
        given: A number of any kind.
        what: Begins messages.

    Raises:
        DataValueError: Not a number.
    """
    found = constants(given, (), np.dtype(complex), what)[0].item()
    return complex(found) if found.imag else float(found.real)


def _is_symbol(one: Any) -> bool:
    """Say whether an object is an expression of UFL's without a value; float() would not end."""
    known = ufl.constantvalue.ScalarValue | ufl.constantvalue.Zero
    return isinstance(one, ufl.core.expr.Expr) and not isinstance(one, known)


def constants(given: Any, shape: tuple[int, ...], dtype: np.dtype[Any], what: str) -> Array:
    """Return a number for each component, flat.

    Args:
        given: A number for all of them; or an array of the shape, or flat.
        shape: Of the values; empty for scalars.
        dtype: As wanted.
        what: Begins messages.

    Raises:
        DataValueError: Not numbers, or of another shape.
    """
    found, size = numbers(given, dtype, what), prod(shape)
    if found.shape not in ((), (1,), (size,), shape):
        raise DataValueError(f"{what}: expected {_wanted(shape)}, got {shown(given)}")
    return np.broadcast_to(found.reshape(-1), (size,))


def called(
    given: Callable[[Array], Any],
    points: Array,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    what: str,
) -> Array:
    """Return the values of a function of coordinates.

    Args:
        given: Takes coordinates of all points, shape (gdim, n), and returns an array of shape
            ``(*shape, n)``, or with flat components; or constants for all points; or a sequence
            of components, each with n values or constant.
        points: Shape (n, gdim).
        shape: Of a value; empty for scalars.
        dtype: Of values.
        what: Begins messages.

    Returns:
        Shape (n, components).

    Raises:
        DataValueError: The result has another shape.
        UsageError: The function failed, with an error typical of functions for a single point.
    """
    n, size = len(points), prod(shape)
    found = answer(given, points, what)
    is_sequence = isinstance(found, list | tuple)
    if is_sequence:
        found = _stacked(found, len(shape), n, what)
    values = numbers(found, dtype, f"{what}: what the function of coordinates returns")
    # n values of a scalar, and as many components, look alike; a sequence has components
    is_constant = values.shape in (shape, (size,)) and (is_sequence or (n,) not in (shape, (size,)))
    if values.shape in ((), (1,)) or is_constant:
        values = values.reshape(-1, 1)
    elif values.shape in ((size, n), (*shape, n), (size, 1)):
        values = values.reshape(size, values.shape[-1])
    else:
        raise DataValueError(_wrong_shape(values.shape, points, shape, what))
    rows: Array = np.broadcast_to(values, (size, n)).T
    return rows


def answer(given: Callable[[Array], Any], points: Array, what: str) -> Any:
    """Call a user's function of coordinates.

    Args:
        given: The function.
        points: Shape (n, gdim).
        what: Begins messages.

    Raises:
        DataValueError: The function returns no values.
        UsageError: The function failed, with an error typical of functions for a single point.
            Errors of other kinds are the user's own, and pass.
    """
    try:
        found = given(np.array(points.T))  # a copy, which the function may change
    except _OF_CALLS as error:
        raise UsageError(
            f"{what}: the function of coordinates raised {type(error).__name__}: {error}. It is "
            f"called once, with coordinates of all points, shape {points.T.shape}, so x[0] is an "
            "array: choose by numpy.where(x[0] < 1, a, b), and take numpy's sin, exp, ..."
        ) from error
    if found is None:
        raise DataValueError(
            f"{what}: the function of coordinates returns None; is 'return' there?"
        )
    if isinstance(found, ufl.core.expr.Expr):
        raise DataValueError(
            f"{what}: the function of coordinates returns an expression of UFL's; pass the "
            "expression itself, of fem.SpatialCoordinate(mesh)"
        )
    return found


def _stacked(found: Sequence[Any], rank: int, n: int, what: str) -> Array:
    """Return components as an array; if a component has n values, constants are repeated.

    Args:
        found: Components; those of a tensor by rows, or flat.
        rank: Of the value.
        n: The number of points.
        what: Begins messages.

    Raises:
        DataValueError: A component is neither constant nor has n values.
    """

    def stacked(parts: Sequence[Any], rank: int) -> tuple[Array, bool]:
        arrays, varies = [], []
        for part in parts:
            is_row = isinstance(part, list | tuple) and rank > 1
            array, is_varying = (
                stacked(part, rank - 1) if is_row else (plain_array(part, what), False)
            )
            is_varying |= not is_row and array.shape[-1:] == (n,)
            if rank == 1 and array.ndim and not is_varying:
                raise ValueError(f"{n} values are needed")
            arrays.append(array)
            varies.append(is_varying)
        if any(varies):
            pairs = zip(arrays, varies, strict=True)
            arrays = [a if is_varying else a[..., None] for a, is_varying in pairs]
        return np.stack(np.broadcast_arrays(*arrays)) if arrays else np.empty(0), any(varies)

    try:
        return stacked(found, rank)[0]
    except UsageError:
        raise
    except (TypeError, ValueError) as error:
        shapes = ", ".join(str(np.shape(part)) for part in found)
        raise DataValueError(
            f"{what}: the function of coordinates returns components of shapes {shapes}; each is a "
            f"number, or has a value for each of the {n} points ({error})"
        ) from None


def _wrong_shape(got: tuple[int, ...], points: Array, shape: tuple[int, ...], what: str) -> str:
    n, size = len(points), prod(shape)
    hint = ""
    if got == (n, size):
        hint = "; components come first: return the transpose"
    elif got == (n,):
        hint = f"; return a sequence of the {size} components, numbers or arrays of {n} values"
    return (
        f"{what}: for coordinates of shape {points.T.shape} the function returns an array of shape "
        f"{(*shape, n)}, or {_wanted(shape)} for all points; got shape {got}{hint}"
    )


def _wanted(shape: tuple[int, ...]) -> str:
    return f"{prod(shape)} numbers, of shape {shape}" if shape else "a number"


def shown(given: Any) -> str:
    """Return a short text for something of any size."""
    shape = getattr(given, "shape", None)
    if isinstance(shape, tuple) and prod(shape) > 4:
        return f"{type(given).__name__} of shape {shape}"
    text = repr(given)
    return f"{text if len(text) <= 60 else text[:57] + '...'} of type {type(given).__name__}"
