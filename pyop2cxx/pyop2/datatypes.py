# SPDX-License-Identifier: BSD-3-Clause
"""Names imported from ``pyop2.datatypes`` by programs for PyOP2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.arrays import as_dtype, c_name
from pyop2cxx.data.handles import OpaqueType as OpaqueType  # as in PyOP2
from pyop2cxx.exceptions import DataTypeError

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

IntType = np.dtype(np.int32)
"""Dtype of Maps, unless the target Set needs int64; and C's PetscInt."""
ScalarType = np.dtype(np.float64)
"""Default dtype of Dats and Mats; and C's PetscScalar."""
RealType = np.dtype(np.float64)
"""C's PetscReal."""


def as_numpy_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """Return a dtype supported by kernels.

    Raises:
        DataTypeError: Not a dtype, or not supported by kernels.
    """
    return as_dtype(dtype, "as_numpy_dtype")


def as_cstr(dtype: DTypeLike) -> str:
    """Return the C type of a dtype.

    Example:
        >>> as_cstr(np.float64), as_cstr("uint8")
        ('double', 'unsigned char')
    """
    return c_name(as_numpy_dtype(dtype))


def as_ctypes(dtype: DTypeLike) -> Any:
    """Return the type of ctypes for a dtype.

    Raises:
        DataTypeError: The dtype is complex.
    """
    found = as_numpy_dtype(dtype)
    if found.kind == "c":
        raise DataTypeError(f"as_ctypes: ctypes has no type for {found.name}")
    return np.ctypeslib.as_ctypes_type(found)


def dtype_limits(dtype: DTypeLike) -> tuple[Any, Any]:
    """Return the lowest and the highest finite number of a dtype.

    Raises:
        DataTypeError: The dtype is complex.
    """
    found = as_numpy_dtype(dtype)
    if found.kind == "c":
        raise DataTypeError(f"dtype_limits: numbers of {found.name} have no order")
    if found.kind == "b":
        return False, True
    limits: Any = np.finfo(found) if found.kind == "f" else np.iinfo(found)
    return limits.min, limits.max
