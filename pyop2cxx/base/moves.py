# SPDX-License-Identifier: BSD-3-Clause
"""Values moved by the core: between dtypes, layouts and lists of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

DTYPES = (
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)
"""The dtypes supported by kernels."""

HALVES = ("float16", "bfloat16")
"""The dtypes of memory alone, of 16 bits: kernels see wider numbers."""

OF_CORE = {np.dtype(n): _core.dtype_from_name(n) for n in (*DTYPES, "float16", "bool")}
"""The core's names; bool: a byte, uint8 in C. bfloat16 is added when first met."""


def kind_of(dtype: np.dtype[Any]) -> str:
    """Return NumPy's letter of a dtype's kind; "f" for bfloat16, the dtype of another package."""
    return "f" if dtype.kind == "V" and dtype.name == "bfloat16" else dtype.kind


def seen_flat(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype that loops over bare scalars see: float32 of those of 16 bits."""
    is_half = dtype.itemsize == 2 and dtype.kind in "fV"
    return np.dtype(np.float32) if is_half else dtype


def in_words(array: Array) -> Array:
    """Return an array in a dtype that buffers have: bfloat16, which none has, as words."""
    return array.view(np.uint16) if array.dtype.kind == "V" else array


def address_of(array: Array) -> int:
    """Return where an array's first value lies."""
    return int(in_words(array).__array_interface__["data"][0])


def move_between(target: Array, source: Array, rows: Array | None = None) -> _core.Move:
    """Return an assignment of an array to another of equal shape, not yet carried out.

    Args:
        target: In the machine's byte order, of a dtype in `DTYPES` or bool.
        source: The same; both contiguous, or of a single axis, or of two axes.
        rows: The rows moved, as integers; None for all.
    """
    n = 1 if source.ndim == 0 else len(source)
    dim = source.size // n if n else 1
    return _core.Move(_side(target, dim), _side(source, dim), n, dim, rows)


def _side(values: Array, dim: int) -> tuple[_core.DType, bool, int, int, int]:
    """Return dtype, address, and the bytes between rows and between items of a row."""
    dtype = values.dtype
    if values.flags.c_contiguous:
        row, item = dim * dtype.itemsize, dtype.itemsize
    else:
        row, item = values.strides[0], values.strides[-1]
    return OF_CORE[dtype], dtype.kind == "b", address_of(values), row, item


def is_movable(values: Array) -> bool:
    """Say whether `move_between` takes an array."""
    return values.dtype in OF_CORE and (values.flags.c_contiguous or 0 < values.ndim < 3)


def first_unfit_row(
    values: Array, dtype: np.dtype[Any], casting: str, n_threads: int, rows: Array | None = None
) -> int | None:
    """Return the number of the first row with a value not representable in a dtype; else None.

    Args:
        values: As the source of `move_between`.
        dtype: A member of `DTYPES`, or bool.
        casting: A member of `pyop2cxx.base.conversions.CASTINGS`.
        n_threads: Of the check.
        rows: The rows looked at; None for all. The result counts them.
    """
    n = 1 if values.ndim == 0 else len(values)
    dim = values.size // n if n else 1
    target = OF_CORE[dtype], dtype.kind == "b", 0, 0, 0  # only the dtype is looked at
    found = _core.Move(target, _side(values, dim), n, dim, rows).first_unfit(casting, n_threads)
    return None if found < 0 else int(found)
