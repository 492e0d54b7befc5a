# SPDX-License-Identifier: BSD-3-Clause
"""Conversion of users' input to names, dims, dtypes and arrays."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from itertools import accumulate
from math import prod
from numbers import Integral, Number
from operator import mul
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.conversions import as_number, first_unfit, range_of, require_unmasked
from pyop2cxx.base.extras import load
from pyop2cxx.base.moves import DTYPES as DTYPES
from pyop2cxx.base.moves import HALVES, OF_CORE, is_movable, kind_of, move_between
from pyop2cxx.base.moves import address_of as address_of
from pyop2cxx.base.quoting import check_text
from pyop2cxx.exceptions import (
    DataTypeError,
    DataValueError,
    DimTypeError,
    NameTypeError,
    OutOfMemoryError,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

    Array: TypeAlias = NDArray[Any]

MOST_INT32 = 2**31 - 1
"""The largest arity, and the most values of an entity."""

MOST_INT64 = 2**63 - 1
"""The most entities of a Set."""

_CACHE_LINE = 64  # bytes; as wide as the widest vectors
_PAGE = 4096  # bytes

_NATIVE = frozenset(OF_CORE) - {np.dtype(np.float16)}


def is_integer(value: object) -> TypeGuard[int]:
    """Say whether a value is an integer, of Python or of NumPy, and not a truth value."""
    return type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool))


def several(given: Any) -> tuple[Any, ...]:
    """Return a number or several as a tuple; a string counts as one."""
    # the first isinstance of an abstract class asks all subclasses: a tenth of a millisecond
    is_one = isinstance(given, int | str)
    is_several = isinstance(given, tuple | list) or (not is_one and isinstance(given, Iterable))
    return tuple(given) if is_several else (given,)


def as_name(name: object, kind: str, default: str) -> str:
    """Return the name of an object.

    Args:
        name: The user's name, None for the default.
        kind: The class, for the message.
        default: The default name.

    Raises:
        NameTypeError: The name is not a string, or cannot be held by UTF-8 or C.
    """
    if name is None or name == "":
        return default
    if not isinstance(name, str):
        raise NameTypeError(
            f"{kind}: the name must be a string, got {name!r} of type {type(name).__name__}"
        )
    return check_text(name, f"{kind}: the name", NameTypeError)


def as_dim(dim: object, kind: str) -> tuple[int, ...]:
    """Return a dimension as a tuple.

    Args:
        dim: An integer or several; zero is allowed.
        kind: The class, for the message.

    Raises:
        DimTypeError: Not an integer or a tuple of integers, an entry is negative, or an entity has
            more values than int32 can count.
    """
    entries = several(dim)
    if not all(is_integer(entry) and entry >= 0 for entry in entries):
        raise DimTypeError(
            f"{kind}: the dim must be an integer or a tuple of integers, none negative, got {dim!r}"
        )
    found = tuple(int(entry) for entry in entries)
    if prod(found) > MOST_INT32:
        raise DimTypeError(
            f"{kind}: a dim of {dim!r} is more than {MOST_INT32} values; make it the size of a Set"
        )
    return found


def as_zeros(shape: tuple[int, ...], dtype: np.dtype[Any], what: str) -> Array:
    """Return an array of zeros.

    Args:
        shape: Shape of the array.
        dtype: Dtype of the array.
        what: The object, for the message.

    Raises:
        OutOfMemoryError: There is not as much memory.
    """
    try:
        return _aligned(np.zeros, shape, dtype)
    except (MemoryError, ValueError) as error:  # NumPy's for more than an address space
        raise _too_large(shape, dtype, what) from error


def as_copy(values: Array, what: str) -> Array:
    """Return a copy of an array.

    Args:
        values: The array.
        what: The object of the copy, for the message.

    Raises:
        OutOfMemoryError: There is not as much memory.
    """
    try:
        return _copied(values, values.dtype)
    except MemoryError as error:
        raise _too_large(values.shape, values.dtype, what) from error


def _copied(values: Array, dtype: np.dtype[Any]) -> Array:
    found = _aligned(np.empty, values.shape, dtype)
    if is_movable(values):
        move_between(found, values).assign("unsafe", 1)
    else:
        found[...] = values
    return found


class _Memory(np.ndarray[tuple[int], np.dtype[np.uint8]]):
    """The bytes of an array aligned to a cache line, with a few bytes more."""


def _aligned(make: Callable[..., Array], shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return an array aligned to a cache line, the best alignment for the widest vectors.

    NumPy places large arrays 16 bytes behind a page. Arrays smaller than a page are left to NumPy,
    and stay in the nearest cache; arrays of bfloat16 are, too.

    Args:
        make: `numpy.zeros` or `numpy.empty`.
        shape: Shape of the array.
        dtype: Dtype of the array.
    """
    n_bytes = prod(shape) * dtype.itemsize
    if n_bytes < _PAGE or dtype.kind == "V":  # bfloat16 is in no buffer of Python's
        return make(shape, dtype)
    memory = make(n_bytes + _CACHE_LINE, np.uint8).view(_Memory)
    begin = -address_of(memory) % _CACHE_LINE
    values = memory[begin : begin + n_bytes].view(dtype).reshape(shape)
    # NumPy lets views hold the owner of the memory, but looks no further than a memoryview
    return np.asarray(memoryview(values))  # type: ignore[arg-type]  # an array is a buffer


def _is_aligned(values: Array) -> bool:
    base = values.base
    return isinstance(base, memoryview) and isinstance(base.obj, _Memory)


def owner_of(values: Array) -> object:
    """Return the object held by views of an array: the array, or the owner of the memory."""
    return values if values.base is None or _is_aligned(values) else values.base


def is_own_memory(owner: object) -> bool:
    """Return whether a result of `owner_of` is an array in NumPy's own memory."""
    return isinstance(owner, np.ndarray) and (owner.flags.owndata or _is_aligned(owner))


def is_shared(holder: dict[str, Any]) -> bool:
    """Say whether others hold the memory of the array ``holder["host_values"]``.

    Memory of a file or of another library counts as held.
    """
    if not is_own_memory(owner_of(holder["host_values"])):
        return True
    return n_holders(holder) > n_holders({"host_values": np.zeros(1)})


def n_holders(holder: dict[str, Any]) -> int:
    """Return the number of references to the owner of the array ``holder["host_values"]``."""
    owner = owner_of(holder["host_values"])
    return sys.getrefcount(owner)


def _too_large(shape: tuple[int, ...], dtype: np.dtype[Any], what: str) -> OutOfMemoryError:
    n_bytes = prod(shape) * dtype.itemsize
    return OutOfMemoryError(
        f"{what} needs {n_bytes} bytes for {prod(shape)} values of {dtype.name}, which the "
        "host does not have; make its Set or its dim smaller"
    )


def core_dtype(dtype: np.dtype[Any] | str) -> _core.DType:
    """Return the core's name for a dtype; for bool the name of uint8."""
    if isinstance(dtype, str):
        return _core.dtype_from_name(dtype)
    # NumPy builds a dtype's name anew each time, in a score of calls
    found = OF_CORE.get(dtype)
    return _core.dtype_from_name(dtype.name) if found is None else found


def c_name(dtype: np.dtype[Any] | str) -> str:
    """Return the C type of values of a dtype."""
    return _core.c_name_of(core_dtype(dtype))


def as_dtype(dtype: DTypeLike, what: str, *, is_memory: bool = False) -> np.dtype[Any]:
    """Return a dtype supported by kernels.

    Args:
        dtype: Any value accepted by NumPy as a dtype.
        what: The object, for the message: ``Dat 'q'``.
        is_memory: Dtypes of memory alone are accepted, too: those in `HALVES`.

    Raises:
        DataTypeError: Not a dtype, or missing in `DTYPES`.
        MissingExtraError: bfloat16 needs ml_dtypes, which is not installed.
    """
    if isinstance(dtype, str) and dtype == "bfloat16":
        dtype = load("ml_dtypes", f"{what}: dtype bfloat16").bfloat16
    try:
        found = np.dtype(dtype)
    except TypeError:
        raise DataTypeError(
            f"{what}: {dtype!r} is not a dtype; there are: {', '.join(DTYPES)}"
        ) from None
    if found.name in HALVES:
        if not is_memory:
            raise DataTypeError(
                f"{what}: {found.name} is a dtype of memory, for Dats whose kernels see wider "
                "numbers: Dat(..., dtype, compute='float32'); take float32 here"
            )
        OF_CORE.setdefault(found, _core.dtype_from_name(found.name))
    elif found not in _NATIVE and found.newbyteorder("=") not in _NATIVE:
        raise DataTypeError(
            f"{what}: kernels cannot work on dtype {found.name}; there are: {', '.join(DTYPES)}"
        )
    native: np.dtype[Any] = found if found.isnative else found.newbyteorder("=")
    return native


def checked_compute(
    compute: DTypeLike | None, dtype: np.dtype[Any], what: str
) -> np.dtype[Any] | None:
    """Return the dtype that kernels see of values stored in another one; None if it is the same.

    Args:
        compute: As given by the user.
        dtype: The dtype of the values in memory.
        what: The object, for the message.

    Raises:
        DataTypeError: Kernels do not support the dtype, or values would not pass through it
            unchanged: it is narrower than `dtype`, or of another kind.
    """
    if compute is None and dtype.name in HALVES:
        raise DataTypeError(
            f"{what}: {dtype.name} is a dtype of memory, and kernels see wider numbers: pass "
            "compute='float32' or compute='float64'"
        )
    if compute is None:
        return None
    found = as_dtype(compute, f"{what}: compute")
    if found == dtype:
        return None
    if kind_of(dtype) not in "fc" or found.kind != kind_of(dtype):
        raise DataTypeError(
            f"{what}: compute must be of the kind of the values in memory, real or complex "
            f"floating-point numbers; got compute {found.name} for dtype {dtype.name}"
        )
    if found.itemsize < dtype.itemsize:
        raise DataTypeError(
            f"{what}: compute {found.name} is narrower than dtype {dtype.name}, so that loops "
            f"would lose digits of what is stored; exchange them: dtype {found.name}, compute "
            f"{dtype.name}"
        )
    return found


def as_array(
    data: ArrayLike,
    dtype: DTypeLike | None,
    shape: tuple[int, ...],
    what: str,
    casting: str = "fitting",
) -> Array:
    """Return data as an array usable in C: the user's own memory if suitable, else a copy.

    Suitable memory has the right dtype and is contiguous in C order, aligned and writeable.

    Args:
        data: An array, or any input of NumPy's array constructor.
        dtype: The dtype wanted; None for the data's own.
        shape: The wanted shape; data of another shape with equal size are taken in C order, unless
            the values of an entity would be scattered: see `require_order`.
        what: The object, for the message: ``Dat 'q' on Set 'cells'``.
        casting: Which values convert, a member of `CASTINGS`.

    Returns:
        Shape `shape`; shares memory with suitable `data`.

    Raises:
        DataTypeError: The dtype is missing in `DTYPES`.
        DataValueError: The data are not numbers, do not convert or are of another number.
    """
    wanted = None if dtype is None else as_dtype(dtype, what, is_memory=True)
    found = _converted(data, wanted, what, casting)
    if wanted is None:
        as_dtype(found.dtype, what, is_memory=True)  # raises if unsupported by kernels
    count = prod(shape)
    if found.size != count:
        raise DataValueError(
            f"{what}: expected {count} values (shape {shape}), "
            f"got {found.size} (shape {found.shape})"
        )
    require_order(found.shape, shape, what)
    if not (found.flags.carray and found.dtype.isnative):
        native = found.dtype.newbyteorder("=")
        found = np.require(found, dtype=native, requirements=("C", "A", "W"))
    return found.reshape(shape)


def is_under_pyop2() -> bool:
    """Return whether the program imports the package as ``pyop2``, after its `install`."""
    return getattr(sys.modules.get("pyop2"), "takes_c_order", False) is True


def require_order(given: tuple[int, ...], shape: tuple[int, ...], what: str) -> None:
    """Refuse values with the entities on the last axis instead of the first.

    In C order they would be mixed up: (2, 5) for (5, 2) is a transpose. Accepted are flat values,
    and values whose first axes together count the entities, as on a grid; and everything in a
    program that imports the package as ``pyop2``.

    Args:
        given: The shape of the values; as many as `shape` has.
        shape: The shape wanted: entities first.
        what: The object, for the message.

    Raises:
        DataValueError: The entities are last.
    """
    axes, n = [length for length in given if length != 1], shape[0] if len(shape) > 1 else 1
    if len(axes) < 2 or n in (0, 1) or axes[-1] != n or n in accumulate(axes, mul):
        return
    if is_under_pyop2():
        return  # such programs rely on C order
    raise DataValueError(
        f"{what}: expected shape {shape}, got shape {given}, in which the last axis counts what "
        "the first one should; pass its transpose, or reshape it if the values are in this order"
    )


def as_values(data: ArrayLike, dtype: DTypeLike | None, shape: tuple[int, ...], what: str) -> Array:
    """Return data as `as_array` does; a single number stands for all values.

    Raises:
        DataTypeError, DataValueError: As `as_array`.
        OutOfMemoryError: There is not as much memory as the values need.
    """
    # the common case first: isinstance of Number asks all subclasses once
    is_number = not isinstance(data, np.ndarray | list) and isinstance(data, Number | np.generic)
    if not is_number or prod(shape) == 1:
        return as_array(data, dtype, shape, what)
    number = as_array(data, dtype, (), what)
    found: Array = as_zeros(shape, number.dtype, what)
    found[...] = number
    return found


def refuse_gradients(data: object, what: str) -> None:
    """Refuse a tensor with gradients.

    Raises:
        DataValueError: The tensor requires gradients.
    """
    if getattr(data, "requires_grad", False) is True:
        raise DataValueError(
            f"{what}: the tensor requires gradients, which loops do not follow; pass "
            "tensor.detach(), which is the same memory"
        )


def plain_array(data: Any, what: str, *advice: str) -> Array:
    """Return data as an array of NumPy's, without a copy where possible.

    Every array given by a program comes in through here.

    Args:
        data: An array of any library in host memory, or any input of NumPy's array constructor.
        what: The object, for messages.
        *advice: For masked values, as of `require_unmasked`.

    Raises:
        DataValueError: Values are masked; or a tensor requires gradients, not followed by loops.
    """
    refuse_gradients(data, what)
    require_unmasked(data, what, *advice)
    only_dlpack = hasattr(data, "__dlpack__") and not hasattr(data, "__array__")
    found: Array = np.from_dlpack(data) if only_dlpack else np.asanyarray(data)
    if type(found) is not np.ndarray:
        require_unmasked(found, what, *advice)  # the result of `__array__`
        found = np.asarray(found)
    return found


def checked_copying(copy: object, what: str) -> bool | None:
    """Return a checked `copy` argument of a constructor.

    Raises:
        DataValueError: Not True, False or None.
    """
    if copy is None or isinstance(copy, bool):
        return copy
    raise DataValueError(f"{what}: copy must be True, False or None, got {copy!r}")


def why_copied(data: Any, values: Array) -> str:
    """Return why an array made of data does not share their memory; empty: shared.

    Args:
        data: As `plain_array` takes them.
        values: The array made of the data.
    """
    if not isinstance(data, np.ndarray) and not hasattr(data, "__dlpack__"):
        return f"a {type(data).__name__} is no array whose memory could be used"
    given = plain_array(data, "")
    if np.may_share_memory(given, values) or values.size == 0:
        return ""
    if given.dtype != values.dtype:
        return f"it is of dtype {given.dtype}, not {values.dtype}"
    if not given.flags.c_contiguous:
        return "it is not contiguous in C order"
    return "it is read-only" if not given.flags.writeable else "it is not aligned"


def refuse_copy(data: Any, values: Array, copy: bool | None, what: str) -> Array:
    """Return values made of data, as a copy if requested.

    Args:
        data: As `plain_array` takes them.
        values: The array made of the data.
        copy: True for separate memory, False for the data's memory, None for either.
        what: The object, for the message.

    Raises:
        DataValueError: A copy is not wanted, but necessary.
    """
    if copy is False and (reason := why_copied(data, values)):
        raise DataValueError(
            f"{what}: copy=False, but the data cannot be used in place: {reason}; pass an array "
            f"of dtype {values.dtype}, contiguous in C order, aligned and writeable"
        )
    if copy and not why_copied(data, values):
        return as_copy(values, what)
    return values


def _numbers_of(found: Array, what: str) -> Array:
    """Return Python objects as numbers, in NumPy's dtype for them."""
    numbers = [as_number(value, what) for value in found.flat]
    for value, number in zip(found.flat, numbers, strict=True):
        if number is None:
            raise ValueError(f"there is no number in the place of {value!r}")
    kept: Array = np.array([number.item() for number in numbers if number is not None])
    return kept.reshape(found.shape)


def _converted(data: ArrayLike, dtype: np.dtype[Any] | None, what: str, casting: str) -> Array:
    try:
        found = plain_array(data, what)
        if found.dtype.kind == "O":
            found = _numbers_of(found, what)
        if dtype is None or found.dtype == dtype:
            return found
        loss = _loss(found, dtype, casting)
        if not loss:
            return _copied(found, dtype)
    except DataValueError:
        raise
    except (ValueError, TypeError, OverflowError, RuntimeError, BufferError) as error:
        loss = str(error)
    kind = "numbers" if dtype is None else dtype.name
    raise DataValueError(f"{what}: the data do not convert to {kind}: {loss}")


def _loss(found: Array, dtype: np.dtype[Any], casting: str) -> str:
    """Return the loss of a conversion beyond what is accepted; empty: none."""
    if found.dtype.kind == "c" and dtype.kind != "c":
        return "they are complex; pass their real part"
    if dtype.kind == "b" and casting == "fitting":  # all but zero is true
        return ""
    place = first_unfit(found, dtype, casting)
    if place is None:
        return ""
    if casting == "exact":
        return f"the value {found[place]} at {list(place)} loses digits, or is out of its range"
    if kind_of(dtype) in "fc" or found.size == 1:
        return _beyond(found[place], dtype)
    return _beyond(f"values from {found.min()} to {found.max()}", dtype)


def _beyond(value: object, dtype: np.dtype[Any]) -> str:
    return f"it holds {range_of(dtype)}, got {value}; change the values, or take a wider dtype"


def as_numpy(values: Array, dtype: DTypeLike | None, copy: bool | None, what: str) -> Array:
    """Answer NumPy's ``__array__`` protocol for an object with the given values.

    Raises:
        DataValueError: Another dtype is wanted, but no copy.
    """
    if dtype is not None and values.dtype != np.dtype(dtype):
        if copy is False:
            raise DataValueError(f"{what}: dtype {values.dtype} to {dtype} needs a copy")
        return values.astype(dtype)
    return values.copy() if copy else values


def spread(values: Any, fields: Iterable[Any]) -> None:
    """Copy a flat array into other arrays, of any shapes and the same total size.

    Args:
        values: Of NumPy or CuPy.
        fields: Arrays of the same library, filled one after the other.
    """
    begin = 0
    for field in fields:
        field[...] = values[begin : begin + field.size].reshape(field.shape)
        begin += field.size


def distinct(values: Array) -> Array:
    """Return the different numbers of an array, ascending.

    Like `np.unique`, but without loading ``numpy.ma``: a tenth of the time to a first matrix.

    Args:
        values: Of any shape.

    Returns:
        Shape (n_different,).
    """
    ordered = np.sort(values, axis=None)
    return ordered[_begins(ordered)]


def distinct_numbers(values: Array) -> tuple[Array, Array]:
    """Return the different numbers of an array, ascending, and the index of each value.

    Args:
        values: Of any shape.

    Returns:
        Shape (n_different,); and int64 indices into the first, of the shape of `values`.
    """
    flat = values.reshape(-1)
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    begins = _begins(ordered)
    numbers = np.empty(len(flat), np.int64)
    numbers[order] = np.cumsum(begins) - 1
    return ordered[begins], numbers.reshape(values.shape)


def _begins(ordered: Array) -> Array:
    """Say where another number begins."""
    begins = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
    return begins
