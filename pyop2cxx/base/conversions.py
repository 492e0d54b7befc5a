# SPDX-License-Identifier: BSD-3-Clause
"""Values representable in another dtype; digits are rounded, and cut off for integers."""

from __future__ import annotations

import operator
import sys
from functools import lru_cache
from numbers import Number
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.moves import OF_CORE, first_unfit_row, kind_of
from pyop2cxx.exceptions import DataTypeError, DataValueError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

CASTINGS = ("fitting", "exact", "unsafe")
"""Values of `casting` in `Dat.copy`: numbers in range, numbers with all digits, all numbers."""

_SUMS = ("+", "-", "axpy", "maxpy")
_ENDS_OF_FLOATS = {  # values from there on round to infinity
    **dict.fromkeys(("float32", "complex64"), 3.4028235677973366e38),
    **{"float16": 65520.0, "bfloat16": 3.396177529230460e38},
}


class Limits(NamedTuple):
    """Values of a dtype representable in another.

    Attributes:
        low: The lowest.
        end: Above the highest: the first value that does not fit.
        is_open: Infinities and NaNs fit, too, and values below `low` are the negated values above
            `end`.
    """

    low: int | float
    end: int | float
    is_open: bool


def limits(source: np.dtype[Any], target: np.dtype[Any]) -> Limits | None:
    """Return the values of a dtype representable in another; None for all of them.

    Complex numbers are never real: conversions refuse them for any value.
    """
    if np.can_cast(source, target, "safe") or (source.kind == "c" != target.kind):
        return None
    if kind_of(target) in "fc":
        end = _ENDS_OF_FLOATS.get(target.name)
        holds_all = kind_of(source) not in "fc" and target.name != "float16"
        return None if holds_all or end is None else Limits(-end, end, is_open=True)
    low, high = (0, 1) if target.kind == "b" else _range(target)
    if source.kind in "iu":
        least, most = _range(source)
        return Limits(max(low, least), min(high, most) + 1, is_open=False)
    return Limits(float(low), float(high + 1), is_open=False)


def common_dtype(*dtypes: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype for combining values: C's, but narrow integers count as int64."""
    return _common_of(dtypes)


@lru_cache(maxsize=256)
def _common_of(dtypes: tuple[np.dtype[Any], ...]) -> np.dtype[Any]:
    known = [_core.dtype_from_name("uint8" if d.kind == "b" else d.name) for d in dtypes]
    found = _core.common_dtype(known[0], known[0])
    for dtype in known[1:]:
        found = _core.common_dtype(found, dtype)
    return np.dtype(found.name)


def exact_dtype(target: np.dtype[Any], *operands: np.dtype[Any]) -> np.dtype[Any] | None:
    """Return an intermediate dtype for results not representable in a target dtype; else None.

    Integers wrap where they are combined with integers, as in C and in NumPy. Real results for
    integers, and all results for truth values, are computed first and converted afterwards.

    Args:
        target: Dtype of the target values.
        operands: Dtypes of the operands.
    """
    if target.kind not in "iub":
        return None
    found = common_dtype(target, *operands)
    if found.kind in "iu" and target.kind != "b":
        return None
    return np.empty(0, found).real.dtype


def as_number(value: object, what: str) -> Array | None:
    """Return a number of any library as an array without dimensions.

    Integers of up to 64 bits keep all digits. Numbers of other types, for example fractions,
    decimals or scalars of an array library, become integers if whole, else the nearest float64.

    Args:
        value: Anything.
        what: The object and the operation, for the message.

    Returns:
        A value of dtype int64, uint64 or of a real or complex dtype supported by kernels; None for
        an object other than a single number.

    Raises:
        DataTypeError: A number without a value, for example masked.
        DataValueError: A number beyond the range of float64.
    """
    if isinstance(value, str | bytes) or getattr(value, "ndim", False):
        return None
    require_unmasked(value, what)
    try:
        found = np.array(_plain(value))
    except OverflowError:
        raise DataValueError(
            f"{what}: a number of type {type(value).__name__} is beyond the range of float64, "
            f"{range_of(np.dtype(float))}"
        ) from None
    except (TypeError, ValueError) as error:
        if not isinstance(value, Number):
            return None
        raise DataTypeError(f"{what}: {value!r} has no value as a number: {error}") from None
    return _usual(found, what) if kind_of(found.dtype) in "biufc" else None


def _plain(value: Any) -> Any:
    """Return a number of Python's or NumPy's; other objects may stay unchanged."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        return _plain(value.item())
    if isinstance(value, np.ndarray | np.generic | float | complex):
        return value
    if callable(getattr(value, "item", None)):  # an array of another library
        return value.item()
    if hasattr(value, "__index__"):
        whole = operator.index(value)
        return whole if -(2**63) <= whole < 2**64 else float(whole)
    if not hasattr(value, "__float__"):
        return complex(value) if hasattr(value, "__complex__") else None
    try:
        real = float(value)
    except TypeError:
        if not hasattr(value, "__complex__"):
            raise
        return complex(value)
    if np.isinf(real) and value != real:
        raise OverflowError
    is_whole = isinstance(value, Number) and np.isfinite(real) and int(value) == value  # type: ignore[call-overload]
    return _plain(int(value)) if is_whole else real


def _usual(found: Array, what: str) -> Array:
    """Return a number in a dtype supported by kernels, in the machine's byte order."""
    kind, n_bytes = kind_of(found.dtype), found.dtype.itemsize
    if kind == "b":
        return found.astype(np.int64)
    if kind == "f" and n_bytes == 2:
        return found.astype(np.float32)
    wide = {"f": 8, "c": 16}.get(kind, n_bytes)
    if n_bytes <= wide:
        return found.astype(found.dtype.newbyteorder("="), copy=False)
    with np.errstate(over="ignore"):
        narrow = found.astype(f"{kind}{wide}")
    if np.isfinite(found) and not np.isfinite(narrow):
        raise DataValueError(f"{what}: {found} is beyond the range of float64")
    return narrow


def require_unmasked(
    data: object, what: str, advice: str = "data.filled(value), with a value for what is missing"
) -> None:
    """Refuse masked values: arrays of C have no place for a mask.

    Args:
        data: Anything; of lists the entries are looked at.
        what: The object, for the message.
        advice: The recommended argument, for the message.

    Raises:
        DataValueError: A value is masked.
    """
    masked = sys.modules.get("numpy.ma")  # loading the module takes a while
    if masked is None:
        return
    if isinstance(data, list | tuple):
        for entry in data:
            if isinstance(entry, list | tuple | np.ndarray):
                require_unmasked(entry, what, advice)
        return
    if not isinstance(data, masked.MaskedArray) or not (mask := masked.getmaskarray(data)).any():
        return
    place = [int(i) for i in np.unravel_index(int(mask.argmax()), mask.shape)]
    raise DataValueError(
        f"{what}: {int(mask.sum())} of {mask.size} values are masked, the first at {place}; a mask "
        f"is not kept, pass {advice}"
    )


def first_unfit(
    values: Array, target: np.dtype[Any], casting: str = "fitting", n_threads: int = 1
) -> tuple[int, ...] | None:
    """Return the index of the first value not representable in a dtype; None if all are.

    Complex numbers are never real, and texts no numbers: conversions refuse them for any value.
    """
    is_safe = casting == "fitting" and np.can_cast(values.dtype, target, "safe")
    if values.size == 0 or casting == "unsafe" or is_safe:
        return None
    if kind_of(values.dtype) not in "biufc" or (values.dtype.kind == "c" != target.kind):
        return None
    if values.dtype not in OF_CORE:  # of more digits, or of another machine
        with np.errstate(over="ignore"):
            near = values.astype(_nearest(values.dtype))
        beyond = np.isfinite(values) & ~np.isfinite(near)
        if beyond.any():
            return tuple(int(i) for i in np.unravel_index(int(beyond.argmax()), beyond.shape))
        values = near
    place = first_unfit_row(np.ascontiguousarray(values).reshape(-1), target, casting, n_threads)
    if place is None:
        return None
    return tuple(int(i) for i in np.unravel_index(place, values.shape))


def _nearest(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of kernels nearest to another."""
    if dtype.kind == "V":
        return np.dtype(np.float32)
    n_bytes = min(dtype.itemsize, 16 if dtype.kind == "c" else 8)
    return np.dtype(f"{dtype.kind}{n_bytes}")


def holds(target: np.dtype[Any], number: Array) -> bool:
    """Return whether a dtype holds a number, an array of a single value; complex by its real part.

    A complex number becomes its real part in real values.
    """
    known = limits(number.dtype if target.kind == "c" else number.real.dtype, target)
    if known is None:
        return True
    value = number.item()
    parts = (value.real, value.imag) if target.kind == "c" else (value.real,)
    if known.is_open:
        return all(not np.isfinite(part) or abs(part) < known.end for part in parts)
    return all(known.low <= part < known.end for part in parts)


def check_held(target: np.dtype[Any], number: Array, operation: str, what: str) -> None:
    """Check that a dtype holds a number combined with values.

    A summand may also be representable once negated: an unsigned Dat can be decremented.

    Args:
        target: The dtype of the values.
        number: An array of a single value.
        operation: The operation with the number: ``+``, ``axpy``.
        what: The object, for the message.

    Raises:
        DataValueError: The number does not fit, so results would be wrong.
    """
    if number.dtype == target or target.kind == "b" or holds(target, number):
        return
    if operation in _SUMS and holds(target, np.negative(number)):
        return
    raise DataValueError(
        f"{what}: '{operation}' with {number.item()}, but {target.name} holds {range_of(target)}; "
        "take a wider dtype, or write a loop that converts it"
    )


def range_of(dtype: np.dtype[Any]) -> str:
    """Return the range of a dtype, for messages."""
    if dtype.kind in "iu":
        low, high = _range(dtype)
        return f"{low} to {high}"
    end = largest_of(dtype)
    return f"{-end:.7g} to {end:.7g}"


def largest_of(dtype: np.dtype[Any]) -> float:
    """Return the largest finite number of a real or complex dtype."""
    return float.fromhex("0x1.fep127") if dtype.kind == "V" else float(np.finfo(dtype).max)


def eps_of(dtype: np.dtype[Any]) -> float:
    """Return the distance from 1 to the next number of a real or complex dtype."""
    return 2.0**-7 if dtype.kind == "V" else float(np.finfo(dtype).eps)


def check_casting(casting: object, what: str) -> None:
    """Check the `casting` of a copy.

    Raises:
        DataValueError: Not a member of `CASTINGS`.
    """
    if casting not in CASTINGS:
        raise DataValueError(
            f"{what}: casting must be one of {', '.join(map(repr, CASTINGS))}, got {casting!r}"
        )


def _range(dtype: np.dtype[Any]) -> tuple[int, int]:
    found = np.iinfo(dtype)
    return int(found.min), int(found.max)
