# SPDX-License-Identifier: BSD-3-Clause
"""Overflow checks for sums over elements.

Each share is summed a second time, as double: if the sums differ by the range of the integer type
or more, the first has overflowed. For real numbers the second sum shows whether all shares were
finite.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.access import INC
from pyop2cxx.base.moves import kind_of
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.globals import Global
from pyop2cxx.data.mat_values import MatValues
from pyop2cxx.data.mixed_dats import MixedDat
from pyop2cxx.data.views import DatView
from pyop2cxx.runtime.communicators import ALONE

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.loop.parts import Part

WHOLE, REAL = "i", "fc"
"""Kinds of dtypes: signed integers; real and complex numbers."""

_MOST = 1 << 50  # elements


class WrongSum(NamedTuple):
    """A sum with an overflow.

    Attributes:
        number: Index of the summing argument.
        data: The object with the sum.
        where: The entity, or the entry of a matrix, for messages.
        component: Index of the value at the place.
        value: The exact sum; infinity for real and complex numbers.
    """

    number: int
    data: Any
    where: str
    component: int
    value: float


class _Sum(NamedTuple):
    """Sums of a loop: the values of a part, or of a whole block of a matrix.

    Attributes:
        part: The part.
        data: The object with the sums.
        total: The object with the second sums.
    """

    part: Part
    data: Any
    total: Any

    def values(self) -> Array:
        """Return the values on the host, in shape (entities, values on each)."""
        return _values(self.part, self.data)

    def added(self) -> Array:
        """Return the second sums in the same shape."""
        return _values(self.part, self.total)

    def where(self, row: int) -> str:
        """Say where a row of the values is."""
        part = self.part
        if part.is_of_matrix:
            sparsity = self.data.sparsity
            at = int(np.searchsorted(sparsity.rowptr, row, side="right")) - 1
            return f" in the entry of row {at} and column {int(sparsity.colidx[row])}"
        return "" if part.home is None else f" at entity {row} of Set '{part.home.name}'"


class Sums:
    """The watched sums of a loop.

    Args:
        loop: The loop.
        kinds: Of dtypes: `WHOLE` for signed integers, `REAL` for real and complex numbers.

    Attributes:
        numbers: Indices of the summing arguments.
        args: Arguments for the second sums, in the same order.
    """

    def __init__(self, loop: Any, kinds: str) -> None:
        parts = [part for part in loop.parts if _is_sum(part, kinds)]
        self.numbers = tuple(dict.fromkeys(part.number for part in parts))
        # arguments with the same memory share a second sum, too
        self._totals: dict[int, Any] = {}
        for part in parts:
            self._add_total(part.owner)
        self.args = tuple(self._second_arg(loop.args[number]) for number in self.numbers)
        self._sums = [_Sum(part, part.owner, self._totals[part.owner.uid]) for part in parts]
        self._before: list[Array] = []

    def _add_total(self, owner: Any) -> None:
        if owner.uid in self._totals:
            return
        if not isinstance(owner, MatValues):
            self._totals[owner.uid] = _second(owner)
            return
        whole = owner if owner.whole is None else owner.whole() or owner
        dtype = _dtype_of_second(owner)
        total = self._totals[whole.uid] = type(whole)(whole.sparsity, dtype, "op2_total")
        for block, second in zip(whole, total, strict=True):
            self._totals[block.uid] = second

    def _second_arg(self, arg: Any) -> Any:
        data = arg.data
        if isinstance(data, MatValues):
            return arg.of(self._totals[data.uid])
        if isinstance(data, MixedDat):
            total: Any = MixedDat([self._totals[field.uid] for field in data.split])
        elif isinstance(data, DatView):
            total = DatView(self._totals[data.parent.uid], data.index)
        else:
            total = self._totals[data.uid]
        return replace(arg, data=total)

    def begin(self) -> None:
        """Note the values as they are, before the loop runs."""
        self._before = [one.values().copy() for one in self._sums]
        for total in self._totals.values():
            for block in total if isinstance(total, MatValues) else (total,):
                block.use_on_host(_core.Use.write, "check", is_explicit=True)
                block.host_values[...] = 0
                block.buffer.increment_version()

    def wrong(self) -> WrongSum | None:
        """Return a sum with an overflow after a run; None if all fit."""
        for one, before in zip(self._sums, self._before, strict=True):
            added = one.added()
            wrong = _unfit(before, one.values(), added)
            if not wrong.any():
                continue
            row, component = (int(i) for i in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
            value = np.inf
            if before.dtype.kind in WHOLE:
                value = float(before[row, component]) + float(added[row, component])
            return WrongSum(one.part.number, one.data, one.where(row), component, value)
        return None


def _is_sum(part: Part, kinds: str) -> bool:
    is_carrier = isinstance(part.data, MatValues) or type(part.data) in (Dat, DatView, Global)
    return part.access == INC and is_carrier and kind_of(part.dtype) in kinds


def _dtype_of_second(owner: Any) -> type:
    return np.complex128 if owner.dtype.kind == "c" else np.float64


def _second(owner: Any) -> Any:
    """Return an object for the second sum: zeros of the same shape."""
    dtype = _dtype_of_second(owner)
    if isinstance(owner, Global):
        return Global(owner.dim, dtype=dtype, name="op2_total", comm=ALONE)
    total = Dat(owner.dataset, dtype=dtype, name="op2_total")
    total.allocated("check")
    return total


def _values(part: Part, owner: Any) -> Array:
    """Return an owner's values of a part on the host, in shape (entities, values on each)."""
    owner.use_on_host(_core.Use.read, "check", is_explicit=True)
    if part.is_of_matrix:
        entries: Array = owner.host_values.reshape(len(owner.host_values), owner.cdim)
        return entries
    n = 1 if isinstance(owner, Global) else len(owner.host_values)
    rows: Array = owner.host_values.reshape(n, owner.cdim)
    return rows[:, part.component : part.component + part.dim]


def _unfit(before: Array, after: Array, added: Array) -> Array:
    if kind_of(before.dtype) in REAL:
        where: Array = np.isfinite(before) & ~np.isfinite(after) & (added == 0)
        return where
    half = 2.0 ** (8 * before.dtype.itemsize - 1)
    # the lost part is a multiple of twice as much, more than any rounding of the total
    where = np.abs(before.astype(np.float64) + added - after.astype(np.float64)) >= half
    return where


def first_element(is_wrong: Callable[[int], bool]) -> int:
    """Return the element whose share makes a sum wrong.

    Args:
        is_wrong: Returns whether the sum of all elements up to a number is wrong: false for none,
            true for all.

    Returns:
        Index of the element; -1 if the sum is not wrong each time, possible for real numbers added
        in another order.
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
    """Whether all sums of real or complex numbers are; false, too, if theirs is beyond all."""
    for part in loop.parts:
        if not _is_sum(part, REAL):
            continue
        with np.errstate(all="ignore"):
            if not np.isfinite(np.add.reduce(_values(part, part.owner), axis=None)):
                return False
    return True
