# SPDX-License-Identifier: BSD-3-Clause
"""Names imported from ``pyop2.sparsity`` by programs for PyOP2."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base import extras
from pyop2cxx.exceptions import UsageError

if TYPE_CHECKING:
    from pyop2cxx.base.arrays import Array


def get_preallocation(preallocator: Any, nrow: int) -> tuple[Array, Array]:
    """Return the numbers of entries that a PETSc matrix of type ``preallocator`` has counted.

    Args:
        preallocator: The matrix, assembled.
        nrow: Rows owned by the process.

    Returns:
        For each row the entries in columns owned by the process, and those in other columns; both
        of shape (nrow,), PETSc's integers.

    Raises:
        UsageError: The matrix is of another type.
        MissingExtraError: petsc4py is not installed.
    """
    petsc = extras.load("petsc4py.PETSc", "get_preallocation")
    if preallocator.getType() != "preallocator":
        raise UsageError(
            "get_preallocation: expected a PETSc matrix of type 'preallocator', got "
            f"'{preallocator.getType()}'"
        )
    pattern = petsc.Mat().create(comm=preallocator.getComm())
    pattern.setSizes(preallocator.getSizes())
    pattern.setType("aij")
    fill = ctypes.CDLL(petsc.__file__).MatPreallocatorPreallocate
    fill.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
    if fill(preallocator.handle, 1, pattern.handle):
        raise UsageError("get_preallocation: PETSc does not preallocate; assemble the matrix first")
    start, end = pattern.getOwnershipRangeColumn()
    first = pattern.getOwnershipRange()[0]
    counts = np.zeros((2, nrow), petsc.IntType)
    for row in range(nrow):
        columns = pattern.getRow(first + row)[0]
        counts[0, row] = np.count_nonzero((columns >= start) & (columns < end))
        counts[1, row] = len(columns) - counts[0, row]
    return counts[0], counts[1]
