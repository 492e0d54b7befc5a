# SPDX-License-Identifier: BSD-3-Clause
"""The names that programs for PyOP2 import from ``pyop2.datatypes``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.arrays import as_dtype, c_name
from pyop2cxx.data.handles import OpaqueType as OpaqueType  # PyOP2 has it here
from pyop2cxx.exceptions import DataTypeError

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

IntType = np.dtype(np.int32)
"""What Maps hold, unless their target Set needs int64; and C's PetscInt."""
ScalarType = np.dtype(np.float64)
"""What Dats and Mats hold by default; and C's PetscScalar."""
RealType = np.dtype(np.float64)
"""C's PetscReal."""


def as_numpy_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """Return a dtype that kernels can work on.

    Raises:
        DataTypeError: It is not a dtype, or none that kernels can work on.
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
        DataTypeError: It is complex.
    """
    found = as_numpy_dtype(dtype)
    if found.kind == "c":
        raise DataTypeError(f"as_ctypes: ctypes has no type for {found.name}")
    return np.ctypeslib.as_ctypes_type(found)


def dtype_limits(dtype: DTypeLike) -> tuple[Any, Any]:
    """Return the lowest and the highest finite number of a dtype.

    Raises:
        DataTypeError: It is complex.
    """
    found = as_numpy_dtype(dtype)
    if found.kind == "c":
        raise DataTypeError(f"dtype_limits: numbers of {found.name} have no order")
    if found.kind == "b":
        return False, True
    limits: Any = np.finfo(found) if found.kind == "f" else np.iinfo(found)
    return limits.min, limits.max
