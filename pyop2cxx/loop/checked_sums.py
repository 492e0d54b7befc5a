# SPDX-License-Identifier: BSD-3-Clause
"""What a loop adds up over its elements, watched: no share is wrong, but the sum does not fit.

Each share is added up a second time, as a number of type double: one that differs from the first
sum by as much as the integer type holds shows that this went beyond its ends. Of real numbers the
second sum tells whether all shares were finite.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.access import INC
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.globals import Global
from pyop2cxx.data.mixed_dats import MixedDat
from pyop2cxx.data.views import DatView
from pyop2cxx.runtime.communicators import ALONE

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.loop.parts import Part

_MOST = 1 << 50  # elements


class WrongSum(NamedTuple):
    """A sum that does not fit.

    Attributes:
        part: Where the loop adds it up.
        row: The entity that it is on; 0 of a Global.
        component: Which of the values there.
        value: What the sum is; of real numbers infinity.
    """

    part: Part
    row: int
    component: int
    value: float


class Sums:
    """The sums of a loop that are watched while it runs.

    Args:
        loop: The loop.
        kinds: Of dtypes: ``"i"`` for signed integers, ``"f"`` for real numbers.

    Attributes:
        numbers: The arguments that are sums.
        args: Arguments for the second sums, in this order.
    """

    def __init__(self, loop: Any, kinds: str) -> None:
        self._parts = [part for part in loop._parts if _is_sum(part, kinds)]
        self.numbers = tuple(dict.fromkeys(part.number for part in self._parts))
        # arguments over one memory share their second sum, too
        self._totals: dict[int, Any] = {}
        for part in self._parts:
            if part.owner._uid not in self._totals:
                self._totals[part.owner._uid] = _second(part.owner)
        self.args = tuple(self._second_arg(loop.args[number]) for number in self.numbers)
        self._before: list[Array] = []

    def _second_arg(self, arg: Any) -> Any:
        data = arg.data
        if isinstance(data, MixedDat):
            total: Any = MixedDat([self._totals[field._uid] for field in data.split])
        elif isinstance(data, DatView):
            total = DatView(self._totals[data.parent._uid], data._index)
        else:
            total = self._totals[data._uid]
        return replace(arg, data=total)

    def begin(self) -> None:
        """Note the values as they are, before the loop runs."""
        self._before = [_values(part).copy() for part in self._parts]
        for total in self._totals.values():
            total._on_host(_core.Use.write, "check", is_explicit=True)
            total._values[...] = 0
            total._buffer.increment_version()

    def wrong(self) -> WrongSum | None:
        """Return a sum that does not fit, after the loop has run."""
        for part, before in zip(self._parts, self._before, strict=True):
            added = _values(replace(part, data=self._totals[part.owner._uid]))
            where = _unfit(before, _values(part), added)
            if not where.any():
                continue
            row, component = np.unravel_index(int(np.argmax(where)), where.shape)
            value = float(before[row, component]) + float(added[row, component])
            if before.dtype.kind == "f":
                value = np.inf
            return WrongSum(part, int(row), int(component), value)
        return None


def _is_sum(part: Part, kinds: str) -> bool:
    is_carrier = type(part.data) in (Dat, DatView, Global) and not part.is_of_matrix
    return part.access == INC and is_carrier and part.dtype.kind in kinds


def _second(owner: Any) -> Any:
    """Return what holds the second sum: zeros of the same shape."""
    if isinstance(owner, Global):
        return Global(owner.dim, dtype=np.float64, name="op2_total", comm=ALONE)
    total = Dat(owner.dataset, dtype=np.float64, name="op2_total")
    total._allocated("check")
    return total


def _values(part: Part) -> Array:
    """Return the values of a part on the host, in shape (entities, values on each)."""
    owner = part.owner
    owner._on_host(_core.Use.read, "check", is_explicit=True)
    n = 1 if isinstance(owner, Global) else len(owner._values)
    rows: Array = owner._values.reshape(n, owner.cdim)
    return rows[:, part.component : part.component + part.dim]


def _unfit(before: Array, after: Array, added: Array) -> Array:
    if before.dtype.kind == "f":
        where: Array = np.isfinite(before) & ~np.isfinite(after) & (added == 0)
        return where
    half = 2.0 ** (8 * before.dtype.itemsize - 1)
    # what was cut off is a multiple of twice as much, which no rounding of the total hides
    where = np.abs(before.astype(np.float64) + added - after.astype(np.float64)) >= half
    return where


def first_element(is_wrong: Callable[[int], bool]) -> int:
    """Return an element whose share makes a sum wrong that was right without it.

    Args:
        is_wrong: Whether the sum is, if only elements up to one number count. With none it is not,
            with all it is.

    Returns:
        Its number; -1 if the sum is not wrong each time, as that of real numbers added up in
        another order may be.
    """
    right, wrong = -1, 1
    while not is_wrong(wrong):
        right, wrong = wrong, 2 * wrong
        if wrong > _MOST:
            return -1
    while wrong - right > 1:
        middle = (right + wrong) // 2
        right, wrong = (right, middle) if is_wrong(middle) else (middle, wrong)
    return wrong


def are_finite(loop: Any) -> bool:
    """Whether all sums of real numbers are finite; false, too, if theirs is beyond all numbers."""
    for part in loop._parts:
        if not _is_sum(part, "f"):
            continue
        with np.errstate(all="ignore"):
            if not np.isfinite(np.add.reduce(_values(part), axis=None)):
                return False
    return True
