# SPDX-License-Identifier: BSD-3-Clause
"""Matrices with the rows or the columns of a Global, as PETSc's Python matrices around the values.

PyOP2's programs reach for the values: `dat` or `global_` of a matrix's Python context.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class DatMatPayload:
    """A matrix with a single row or a single column, with the values of a Dat.

    Args:
        dat: The Dat.
        is_row: Whether the Dat is a row.

    Attributes:
        dat: The Dat.
    """

    def __init__(self, dat: Any, is_row: bool) -> None:
        self.dat = dat
        self._is_row = is_row

    def __getitem__(self, key: Any) -> Any:
        shape = (1, -1) if self._is_row else (-1, 1)
        return self.dat.data_ro.reshape(shape)[key]

    def zeroEntries(self, mat: Any) -> None:
        """Set all entries to zero."""
        self.dat.zero()

    def mult(self, mat: Any, x: Any, y: Any) -> None:
        """Compute ``y = A x``."""
        self._multiply(x, y, is_row=self._is_row)

    def multTranspose(self, mat: Any, x: Any, y: Any) -> None:
        """Compute ``y = A^T x``."""
        self._multiply(x, y, is_row=not self._is_row)

    def multTransposeAdd(self, mat: Any, x: Any, y: Any, z: Any) -> None:
        """Compute ``z = y + A^T x``."""
        before = y.copy()
        self._multiply(x, z, is_row=not self._is_row)
        z.axpy(1, before)

    def multAdd(self, mat: Any, x: Any, y: Any, z: Any) -> None:
        """Compute ``z = y + A x``."""
        before = y.copy()
        self._multiply(x, z, is_row=self._is_row)
        z.axpy(1, before)

    def _multiply(self, x: Any, y: Any, *, is_row: bool) -> None:
        with self.dat.vec_ro as values:
            if is_row:
                y.set(values.dot(x))
            else:
                scale = x.sum()
                values.copy(y)
                y.scale(scale)


class GlobalMatPayload:
    """A matrix of a Global's rows and columns, with the value of a Global.

    Attributes:
        global_: The Global.
    """

    def __init__(self, global_: Any) -> None:
        self.global_ = global_

    def __getitem__(self, key: Any) -> Any:
        return self.global_.data_ro.reshape(1, 1)[key]

    def zeroEntries(self, mat: Any) -> None:
        """Set the entry to zero."""
        self.global_.zero()

    def getDiagonal(self, mat: Any, result: Any) -> None:
        """Copy the entry into a vector."""
        result.set(float(np.real(self.global_.data_ro[0])))

    def mult(self, mat: Any, x: Any, y: Any) -> None:
        """Compute ``y = A x``."""
        x.copy(y)
        y.scale(self.global_.data_ro[0])

    multTranspose = mult

    def multTransposeAdd(self, mat: Any, x: Any, y: Any, z: Any) -> None:
        """Compute ``z = y + A^T x``."""
        before = y.copy()
        self.mult(mat, x, z)
        z.axpy(1, before)

    multAdd = multTransposeAdd
