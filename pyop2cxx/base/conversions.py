# SPDX-License-Identifier: BSD-3-Clause
"""Which values another dtype holds; digits are rounded, and cut off where it has integers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyop2cxx.exceptions import DataValueError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

CASTINGS = ("fitting", "unsafe")
"""What `Dat.copy` takes for its `casting`."""

_SUMS = ("+", "-", "axpy", "maxpy")
_ENDS_OF_FLOATS = {4: 3.4028235677973366e38}  # from here on they round to infinity


class Limits(NamedTuple):
    """Values of one dtype that another one holds.

    Attributes:
        low: The lowest.
        end: Above the highest: the first that does not fit.
        is_open: Infinities and NaNs fit, too, and values below `low` are those above `end` negated.
    """

    low: int | float
    end: int | float
    is_open: bool


def limits(source: np.dtype[Any], target: np.dtype[Any]) -> Limits | None:
    """Return which values of one dtype another one holds; None if it holds all of them.

    Real numbers hold no complex ones: who converts refuses these whatever their values.
    """
    if np.can_cast(source, target, "safe") or (source.kind == "c" != target.kind):
        return None
    if target.kind in "fc":
        end = _ENDS_OF_FLOATS.get(target.itemsize // (2 if target.kind == "c" else 1))
        return None if source.kind not in "fc" or end is None else Limits(-end, end, is_open=True)
    low, high = (0, 1) if target.kind == "b" else _range(target)
    if source.kind in "iu":
        least, most = _range(source)
        return Limits(max(low, least), min(high, most) + 1, is_open=False)
    return Limits(float(low), float(high + 1), is_open=False)


def first_unfit(values: Array, target: np.dtype[Any]) -> tuple[int, ...] | None:
    """Return the index of the first value that a dtype does not hold; None if it holds all."""
    known = limits(values.dtype, target)
    if known is None or values.size == 0:
        return None
    unfit = _unfit(values, known)
    if not unfit.any():
        return None
    return tuple(int(i) for i in np.unravel_index(int(unfit.argmax()), unfit.shape))


def holds(target: np.dtype[Any], number: Array) -> bool:
    """Say whether a dtype holds a number, an array of one value; of a complex one, its real part.

    That is what becomes of a complex number where values are real.
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
    """Check that a dtype holds a number that values are changed by.

    What is added may also be what is held once it is negated: an unsigned Dat can lose one.

    Args:
        target: The dtype of the values.
        number: An array of one value.
        operation: What is done with it: ``+``, ``axpy``.
        what: The object, for the message.

    Raises:
        DataValueError: It does not, so that results would be others than the operation says.
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
    """Return which numbers a dtype holds, for messages."""
    if dtype.kind in "iu":
        low, high = _range(dtype)
        return f"{low} to {high}"
    end = np.finfo(dtype).max
    return f"{-end:.7g} to {end:.7g}"


def check_casting(casting: object, what: str) -> None:
    """Check the `casting` of a copy.

    Raises:
        DataValueError: It is none of `CASTINGS`.
    """
    if casting not in CASTINGS:
        raise DataValueError(
            f"{what}: casting must be one of {', '.join(map(repr, CASTINGS))}, got {casting!r}"
        )


def _unfit(values: Array, known: Limits) -> Array:
    if values.dtype.kind == "c":
        found: Array = _unfit(values.real, known) | _unfit(values.imag, known)
    elif known.is_open:
        found = np.isfinite(values) & (np.abs(values) >= known.end)
    elif values.dtype.kind in "iu":
        found = (values < known.low) | (values > known.end - 1)
    else:
        found = ~((values >= known.low) & (values < known.end))  # a NaN does not fit either
    return found


def _range(dtype: np.dtype[Any]) -> tuple[int, int]:
    found = np.iinfo(dtype)
    return int(found.min), int(found.max)
