# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons of Globals, re-evaluated on each use (for `while_`)."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from pyop2cxx.exceptions import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

_COMPARISONS = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}


class Condition:
    """A comparison of two numbers, at least one of them a Global's.

    ``bool(condition)`` compares the values of now.

    Args:
        left: A Global with a single value.
        sign: A member of ``>``, ``>=``, ``<``, ``<=``.
        right: A number or a Global with a single value.

    Raises:
        UsageError: A Global has several or complex values; or the right side is no number.

    Example:
        >>> from pyop2cxx import op2
        >>> residual = op2.Global(1, 0.5, name="residual")
        >>> is_large = residual > 0.1
        >>> is_large
        Condition(residual > 0.1)
        >>> bool(is_large)
        True
        >>> residual.data = 0.01
        >>> bool(is_large)
        False
    """

    __slots__ = ("left", "right", "sign")

    def __init__(self, left: Any, sign: str, right: Any) -> None:
        for side in (left, right):
            _check(side, sign)
        self.left = left
        self.sign = sign
        self.right = right

    @property
    def data(self) -> tuple[Any, ...]:
        """The compared Globals; tuple."""
        return tuple(side for side in (self.left, self.right) if _is_global(side))

    def bound(self, replaced: Mapping[int, Any]) -> Condition:
        """Return the same with other Globals in the places of some."""
        left, right = (
            replaced.get(getattr(side, "uid", -1), side) for side in (self.left, self.right)
        )
        return Condition(left, self.sign, right)

    def __bool__(self) -> bool:
        return bool(_COMPARISONS[self.sign](_value(self.left), _value(self.right)))

    def __str__(self) -> str:
        sides = [getattr(side, "name", side) for side in (self.left, self.right)]
        return f"{sides[0]} {self.sign} {sides[1]}"

    def __repr__(self) -> str:
        return f"Condition({self})"


def _value(side: Any) -> Any:
    return side.data_ro[0] if _is_global(side) else side


def _is_global(side: Any) -> bool:
    return getattr(side, "kind", "") == "Global"  # that module imports this one


def _check(side: Any, sign: str) -> None:
    if not _is_global(side):
        try:
            float(side)
        except (TypeError, ValueError):
            raise UsageError(
                f"'{sign}' compares a Global with a number or a Global, got {side!r}"
            ) from None
    elif side.cdim != 1 or side.dtype.kind == "c":
        raise UsageError(
            f"'{sign}' compares single real numbers; Global '{side.name}' has {side.cdim} of dtype "
            f"{side.dtype}"
        )
