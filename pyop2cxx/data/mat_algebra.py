# SPDX-License-Identifier: BSD-3-Clause
"""Sums and multiples of matrices with the same Sparsity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.conversions import check_held, exact_dtype, first_unfit
from pyop2cxx.data.algebra import at_device, combine_values, number_of, unfit
from pyop2cxx.exceptions import DataTypeError, DataValueError, MatTypeError, SparsityShapeError
from pyop2cxx.runtime.seams import device_algebra

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyop2cxx.base.arrays import Array


class MatAlgebra:
    """Mats as vectors. A result has the dtype of the left matrix."""

    __array_ufunc__ = None  # NumPy must leave `array_scalar * mat` to us

    def axpy(self: Any, alpha: complex, other: Any) -> None:
        """Add a multiple of another matrix: ``self += alpha * other``, on a device if there.

        Args:
            alpha: A number.
            other: A Mat of the same Sparsity.

        Raises:
            MatTypeError: The other is not a Mat.
            SparsityShapeError: The other has another Sparsity.
            DataTypeError: `alpha` is not a number, or a complex value would become real.

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
        number = self._check_addend(alpha, other, "axpy")
        if exact_dtype(self.dtype, number.dtype, other.dtype) is not None:
            sources = iter([part.stored("axpy", write=False) for part in other])
            self.become("axpy", lambda values: values + number * next(sources))
            return
        # for integers in a dtype that holds both, as in C: NumPy would refuse a negative number
        factor = number if self.dtype.kind in "iu" else number.item()
        for mine, theirs in zip(self, other, strict=True):
            theirs.allocated("axpy")
            if at_device(mine, theirs) and device_algebra().add_matrix(number, theirs, mine):
                mine.buffer.increment_version()
                continue
            source = theirs.stored("axpy", write=False)
            target = mine.stored("axpy", write=True)
            target += np.asarray(factor * source).astype(target.dtype, copy=False)

    def become(self: Any, operation: str, change: Callable[[Array], Array]) -> None:
        """Replace the values of all blocks; of none, if a value does not fit."""
        parts = tuple(self)
        with np.errstate(all="ignore"):
            found = [change(part.stored(operation, write=False)) for part in parts]
        for values in found:
            if (place := first_unfit(values, self.dtype)) is not None:
                raise unfit(self, operation, values[place], place)
        for part, values in zip(parts, found, strict=True):
            part.stored(operation, write=True)[...] = values

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
        number = number_of(factor, f"{self.label}: '*'")
        if number is None:
            return NotImplemented
        self._check_addend(number, self, "*")
        made = self.duplicate(copy=False)
        made.axpy(number, self)
        return made

    def __rmul__(self: Any, factor: Any) -> Any:
        return MatAlgebra.__mul__(self, factor)

    def __truediv__(self: Any, divisor: Any) -> Any:
        number = number_of(divisor, f"{self.label}: '/'")
        if number is None:
            return NotImplemented
        if self.dtype.kind in "iub":
            return self._quotient(number)
        value = number.item()
        return MatAlgebra.__mul__(self, 1 / value if value else _over_zero(value))

    def _quotient(self: Any, divisor: Array) -> Any:
        """Return integers divided, as C does: the inverse of an integer is not exact."""
        self._check_addend(divisor, self, "/")
        if not divisor:
            raise DataValueError(f"{self.label}: '/': an integer would be divided by zero")
        made = self.duplicate()
        if exact_dtype(self.dtype, divisor.dtype) is not None:
            made.become("/", lambda values: values / divisor)
            return made
        for part in made:
            if not (at_device(part) and device_algebra().scale_matrix("/", divisor, part)):
                values = part.stored("/", write=True)
                combine_values("/", values, values, divisor)
            else:
                part.buffer.increment_version()
        return made

    def __imul__(self: Any, factor: Any) -> Any:
        number = number_of(factor, f"{self.label}: '*'")
        if number is None:
            return NotImplemented
        self._check_addend(number, self, "*")
        if exact_dtype(self.dtype, number.dtype) is not None:
            self.become("*", lambda values: values * number)
            return self
        for part in self:
            part.allocated("*")
            if not (at_device(part) and device_algebra().scale_matrix("*", number, part)):
                values = part.stored("*", write=True)
                np.multiply(values, number.item(), out=values, casting="unsafe")
            else:
                part.buffer.increment_version()
        return self

    def __neg__(self: Any) -> Any:
        made = self.duplicate(copy=False)
        made.axpy(-1, self)
        return made

    def _check_addend(self: Any, alpha: Any, other: Any, operation: str) -> Array:
        """Return a factor as an array without dimensions, after checks of both operands."""
        if not _is_mat(other):
            raise MatTypeError(
                f"{self.label}: '{operation}' with {other!r} of type {type(other).__name__}; "
                "expected a Mat"
            )
        if other.sparsity is not self.sparsity:
            raise SparsityShapeError(
                f"{self.label}: '{operation}' with {other.label}, which has another Sparsity; make "
                "both of one Sparsity object"
            )
        number = number_of(alpha, f"{self.label}: '{operation}'")
        if number is None:
            raise DataTypeError(
                f"{self.label}: '{operation}' takes a number, got {alpha!r} of type "
                f"{type(alpha).__name__}"
            )
        if "c" in (number.dtype.kind, other.dtype.kind) and self.dtype.kind != "c":
            raise DataTypeError(
                f"{self.label} is real: '{operation}' with complex values would lose imaginary "
                "parts; make it of dtype complex128"
            )
        check_held(self.dtype, number, operation, self.label)
        return number


def _is_mat(value: object) -> bool:
    return isinstance(value, MatAlgebra)


def _over_zero(zero: Any) -> Any:
    """Return 1 / 0 for division: infinite, or NaN for complex values."""
    return complex(np.nan, np.nan) if np.iscomplexobj(zero) else np.copysign(np.inf, float(zero))
