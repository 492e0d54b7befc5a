# SPDX-License-Identifier: BSD-3-Clause
"""Helpers imported from ``pyop2.utils`` by programs for PyOP2; not used by the package."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.arrays import as_array, as_dtype
from pyop2cxx.exceptions import DataTypeError, DataValueError, UsageError
from pyop2cxx.pyop2.arguments import parse_args, parser

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike, DTypeLike

    from pyop2cxx.base.arrays import Array

    Checks = tuple[str, Any, type[Exception]]

__all__ = [
    "align",
    "as_tuple",
    "as_type",
    "flatten",
    "maybe_setflags",
    "parse_args",
    "parser",
    "tuplify",
    "uniquify",
    "validate_dtype",
    "validate_in",
    "validate_range",
    "validate_type",
    "verify_reshape",
]


def as_tuple(
    item: Any, type: Any = None, length: int | None = None, allow_none: bool = False
) -> tuple[Any, ...]:
    """Return an argument as a tuple.

    Args:
        item: An iterable other than a string; or a single item, repeated to the length; or None for
            no item.
        type: Required type of the items.
        length: How many items there must be.
        allow_none: Whether items may be None.

    Raises:
        TypeError: An item is of another type.
        ValueError: There are more or fewer.

    Example:
        >>> as_tuple(2, int, 3), as_tuple([1, 2])
        ((2, 2, 2), (1, 2))
    """
    if item is None:
        found: tuple[Any, ...] = ()
    elif isinstance(item, Iterable) and not isinstance(item, str):
        found = tuple(item)
    else:
        found = (item,) * (1 if length is None else length)
    if length is not None and len(found) != length:
        raise ValueError(f"expected {length} items, got {len(found)}: {item!r}")
    if type is not None:
        wrong = [i for i in found if not (isinstance(i, type) or (allow_none and i is None))]
        if wrong:
            raise TypeError(f"expected items of {type}, got {wrong[0]!r}")
    return found


def as_type(obj: Any, typ: Any) -> Any:
    """Return a number, or an array of numbers, as another type.

    Raises:
        TypeError: Neither a number nor an array.
    """
    if isinstance(obj, np.ndarray):
        return obj if obj.dtype == np.dtype(typ) else obj.astype(typ)
    if isinstance(obj, int | float | np.number):
        return np.dtype(typ).type(obj)
    raise TypeError(f"expected a number or an array, got {obj!r}")


def tuplify(xs: Any) -> Any:
    """Return lists, nested or not, as tuples."""
    return tuple(tuplify(x) for x in xs) if isinstance(xs, list | tuple) else xs


def flatten(iterable: Iterable[Iterable[Any]]) -> Iterator[Any]:
    """Return the items of all items, in sequence."""
    return (inner for outer in iterable for inner in outer)


def uniquify(iterable: Iterable[Any]) -> list[Any]:
    """Return the items, each once, in the order of their first use."""
    return list(dict.fromkeys(iterable))


def align(bytes: int, alignment: int = 16) -> int:
    """Return the next multiple of the alignment."""
    return -(-bytes // alignment) * alignment


def maybe_setflags(
    array: Array, write: bool | None = None, align: bool | None = None, uic: bool | None = None
) -> None:
    """Set flags of an array where they differ; foreign arrays may refuse to be asked."""
    wanted = {"write": write, "align": align, "uic": uic}
    names = {"write": "writeable", "align": "aligned", "uic": "writebackifcopy"}
    array.setflags(
        **{
            short: value
            for short, value in wanted.items()
            if value is not None and getattr(array.flags, names[short]) != value
        }
    )


def verify_reshape(
    data: ArrayLike | None,
    dtype: DTypeLike | None,
    shape: tuple[int, ...],
    allow_none: bool = False,
) -> Array:
    """Return data as an array of a dtype and shape.

    Args:
        data: An array, or any input of NumPy's array constructor; None for an empty array, if
            allowed.
        dtype: The dtype; None for the data's own.
        shape: The shape; as many values in another shape will do.
        allow_none: Whether there may be no data.

    Raises:
        DataTypeError: The dtype is not numeric.
        DataValueError: The data are missing, do not convert, or are of another number.
    """
    if data is not None:
        return as_array(data, dtype, shape, "verify_reshape")
    if not allow_none:
        raise DataValueError("verify_reshape: there are no data; pass allow_none=True if none do")
    return np.empty(0, None if dtype is None else as_dtype(dtype, "verify_reshape"))


def validate_type(*checks: Checks) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Check the types of arguments: each check is (name, type or types, exception)."""
    return _checked(checks, isinstance, "to be of type")


def validate_in(*checks: Checks) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Check arguments against allowed values: each check is (name, values, exception)."""
    return _checked(checks, lambda found, values: found in values, "to be in")


def validate_range(*checks: Checks) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Check arguments against a range: each check is (name, (least, most), exception)."""
    return _checked(checks, lambda found, ends: ends[0] <= found <= ends[1], "to be in the range")


def validate_dtype(*checks: Checks) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Check arguments for dtypes: each check is (name, None, exception)."""
    return _checked(checks, lambda found, _: _is_dtype(found), "to be a dtype")


def _is_dtype(found: Any) -> bool:
    try:
        as_dtype(found, "dtype")
    except DataTypeError:
        return False
    return True


def _checked(
    checks: tuple[Checks, ...], is_right: Callable[[Any, Any], bool], wanted: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(function)
        for name, _, _ in checks:
            if name not in signature.parameters:
                raise UsageError(f"{function.__name__}() has no parameter '{name}' to check")

        @wraps(function)
        def checked(*args: Any, **options: Any) -> Any:
            given = signature.bind(*args, **options).arguments
            for name, right, error in checks:
                found = given.get(name)
                if found is not None and not is_right(found, right):
                    raise error(
                        f"{function.__name__}(): expected '{name}' {wanted} {right}, got {found!r}"
                    )
            return function(*args, **options)

        return checked

    return decorate
