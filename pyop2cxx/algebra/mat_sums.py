# SPDX-License-Identifier: BSD-3-Clause
"""Sums of matrices on a device: their values as Dats over the same memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyop2cxx.algebra import on_devices
from pyop2cxx.algebra.on_devices import Flat
from pyop2cxx.sets.sets import Set

if TYPE_CHECKING:
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.data.mat_values import MatValues


def axpy(alpha: Array, x: MatValues, y: MatValues) -> bool:
    """Compute ``y += alpha * x`` where the values are.

    Args:
        alpha: A number, without dimensions.
        x: A matrix, not mixed.
        y: A matrix of the same Sparsity; may be `x`.

    Returns:
        Whether possible; if not, nothing is changed.
    """
    scalars = _scalars(x)
    source, target = Flat(x, scalars), Flat(y, scalars)
    return on_devices.axpy(alpha, source, target if x is not y else source, whole=True)


def scale(op: str, alpha: Array, x: MatValues) -> bool:
    """Compute ``x *= alpha`` or ``x /= alpha`` where the values are; result as of `axpy`.

    Args:
        op: ``*`` or ``/``.
        alpha: A number, without dimensions; not zero, where integers are divided.
        x: A matrix, not mixed.
    """
    values = Flat(x, _scalars(x))
    return on_devices.combine(op, values, values, alpha, whole=True)


def _scalars(mat: MatValues) -> Set:
    return Set(len(mat.sparsity.colidx) * mat.cdim, "values of a matrix")
