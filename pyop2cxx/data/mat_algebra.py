# SPDX-License-Identifier: BSD-3-Clause
"""Sums and multiples of matrices of one Sparsity."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np

from pyop2cxx.base.arrays import MOST_INT64
from pyop2cxx.base.conversions import check_held
from pyop2cxx.data.algebra import at_device, combine_values
from pyop2cxx.exceptions import DataTypeError, DataValueError, MatTypeError, SparsityShapeError
from pyop2cxx.runtime.seams import matrix_sums


class MatAlgebra:
    """What a Mat can do as a vector. A result has the dtype of its left matrix."""

    __array_ufunc__ = None  # NumPy must leave `array_scalar * mat` to us

    def axpy(self: Any, alpha: complex, other: Any) -> None:
        """Add a multiple of another matrix: ``self += alpha * other``; on a device if it is there.

        Args:
            alpha: A number.
            other: A Mat of the same Sparsity.

        Raises:
            MatTypeError: The other is not a Mat.
            SparsityShapeError: It has another Sparsity.
            DataTypeError: `alpha` is not a number, or values are complex and these are real.

        Example:
            >>> from pyop2cxx import op2
            >>> nodes = op2.Set(2)
            >>> same = op2.Map(nodes, nodes, 1, [0, 1])
            >>> sparsity = op2.Sparsity((nodes, nodes), [(same, same, None)])
            >>> mass, stiffness = op2.Mat(sparsity), op2.Mat(sparsity)
            >>> mass.set_local_diagonal_entries([0, 1], 1.0)
            >>> stiffness.set_local_diagonal_entries([0, 1], 4.0)
            >>> (mass + 0.5 * stiffness).values.tolist()
            [[3.0, 0.0], [0.0, 3.0]]
        """
        self._check_addend(alpha, other, "axpy")
        for mine, theirs in zip(self, other, strict=True):
            theirs._allocated("axpy")
            if at_device(mine, theirs) and matrix_sums().axpy(alpha, theirs, mine):
                mine._buffer.increment_version()
                continue
            source = theirs._stored("axpy", write=False)
            target = mine._stored("axpy", write=True)
            # of integers in a type that holds both, as C does: NumPy would refuse a negative number
            factor = np.asarray(alpha) if target.dtype.kind in "iu" else alpha
            target += np.asarray(factor * source).astype(target.dtype, copy=False)

    def __add__(self: Any, other: Any) -> Any:
        if not _is_mat(other):
            return NotImplemented
        self._check_addend(1, other, "+")
        made = self.duplicate()
        made.axpy(1, other)
        return made

    def __sub__(self: Any, other: Any) -> Any:
        if not _is_mat(other):
            return NotImplemented
        self._check_addend(-1, other, "-")
        made = self.duplicate()
        made.axpy(-1, other)
        return made

    def __iadd__(self: Any, other: Any) -> Any:
        if not _is_mat(other):
            return NotImplemented
        self.axpy(1, other)
        return self

    def __isub__(self: Any, other: Any) -> Any:
        if not _is_mat(other):
            return NotImplemented
        self.axpy(-1, other)
        return self

    def __mul__(self: Any, factor: Any) -> Any:
        if not _is_number(factor):
            return NotImplemented
        self._check_addend(factor, self, "*")
        made = self.duplicate(copy=False)
        made.axpy(factor, self)
        return made

    def __rmul__(self: Any, factor: Any) -> Any:
        return MatAlgebra.__mul__(self, factor)

    def __truediv__(self: Any, divisor: Any) -> Any:
        if not _is_number(divisor):
            return NotImplemented
        if self.dtype.kind in "iu":
            return self._quotient(divisor)
        return MatAlgebra.__mul__(self, 1 / divisor if divisor else _over_zero(divisor))

    def _quotient(self: Any, divisor: Any) -> Any:
        """Return integers divided, as C does: the inverse of an integer is not exact."""
        self._check_addend(divisor, self, "/")
        if not divisor:
            raise DataValueError(f"{self._what}: '/': an integer would be divided by zero")
        made = self.duplicate()
        for part in made:
            if not (at_device(part) and matrix_sums().scale("/", divisor, part)):
                values = part._stored("/", write=True)
                combine_values("/", values, values, np.asarray(divisor))
            else:
                part._buffer.increment_version()
        return made

    def __imul__(self: Any, factor: Any) -> Any:
        if not _is_number(factor):
            return NotImplemented
        self._check_addend(factor, self, "*")
        for part in self:
            part._allocated("*")
            if not (at_device(part) and matrix_sums().scale("*", factor, part)):
                values = part._stored("*", write=True)
                np.multiply(values, factor, out=values, casting="unsafe")
            else:
                part._buffer.increment_version()
        return self

    def __neg__(self: Any) -> Any:
        made = self.duplicate(copy=False)
        made.axpy(-1, self)
        return made

    def _check_addend(self: Any, alpha: Any, other: Any, operation: str) -> None:
        if not _is_mat(other):
            raise MatTypeError(
                f"{self._what}: '{operation}' with {other!r} of type {type(other).__name__}; "
                "expected a Mat"
            )
        if other.sparsity is not self.sparsity:
            raise SparsityShapeError(
                f"{self._what}: '{operation}' with {other._what}, which has another Sparsity; make "
                "both of one Sparsity object"
            )
        if not _is_number(alpha):
            raise DataTypeError(
                f"{self._what}: '{operation}' takes a number, got {alpha!r} of type "
                f"{type(alpha).__name__}"
            )
        is_complex = np.asarray(alpha).dtype.kind == "c" or other.dtype.kind == "c"
        if is_complex and self.dtype.kind != "c":
            raise DataTypeError(
                f"{self._what} is real: '{operation}' with complex values would lose imaginary "
                "parts; make it of dtype complex128"
            )
        check_held(self.dtype, np.asarray(alpha), operation, self._what)


def _is_mat(value: object) -> bool:
    return isinstance(value, MatAlgebra)


def _over_zero(zero: Any) -> Any:
    """Return 1 / 0 as values are divided: infinite, or no number where it is complex."""
    return complex(np.nan, np.nan) if np.iscomplexobj(zero) else np.copysign(np.inf, float(zero))


def _is_number(value: object) -> bool:
    is_wide = isinstance(value, int) and not -MOST_INT64 <= value <= MOST_INT64
    return isinstance(value, Number | np.number) and not is_wide
