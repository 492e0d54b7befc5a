# SPDX-License-Identifier: BSD-3-Clause
"""Checks before and after a loop, for debug and check mode."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.access import READ, RW
from pyop2cxx.base.conversions import largest_of
from pyop2cxx.base.moves import kind_of
from pyop2cxx.check.entry_meetings import check_entries
from pyop2cxx.check.meetings import check_races
from pyop2cxx.exceptions import (
    ExecutionError,
    KernelWarning,
    UsageError,
    user_stacklevel,
)
from pyop2cxx.loop.checks import check_maps
from pyop2cxx.loop.numberings import note_numberings, numberings_after
from pyop2cxx.loop.parts import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.loop.parts import Part
    from pyop2cxx.sets.maps import Map


class WatchedArguments:
    """Checks of values read by a loop, and of values written.

    Args:
        loop: The loop.
        debug: Whether Map entries and values are looked at.
        checked: Whether races and mismatched numberings are checked.

    Changes of Map values are always checked.
    """

    def __init__(self, loop: Any, *, debug: bool, checked: bool) -> None:
        self._loop, self._debug, self._checked = loop, debug, checked
        self._given_anew: list[tuple[Any, int]] = []
        self._infinite: dict[int, Array] = {}
        if checked and loop.kernel.core.body is None:
            _warn_of_opaque(loop, stacklevel=user_stacklevel())

    def before(self) -> None:
        """Raise if the loop must not run."""
        if self._debug:
            check_before(self._loop.kernel.shown_name, self._loop.parts)
        self._infinite = {
            part.data.uid: np.isinf(_rows(part)) for part in self._loop.parts if _is_rounded(part)
        }
        check_maps(self._loop)
        if self._checked:
            self._given_anew = numberings_after(self._loop, check=True)
            check_races(self._loop, equal_writes=self._loop.options.equal_writes)
            if self._loop.items.n > 1 and not self._loop.options.equal_writes:
                check_entries(self._loop)

    def after(self) -> None:
        """Note the written values, and raise for a NaN."""
        note_numberings(self._given_anew)
        if self._debug:
            check_after(self._loop.kernel.shown_name, self._loop.parts)
        for part in self._loop.parts:
            if _is_rounded(part):
                _check_range(self._loop.kernel.shown_name, part, self._infinite[part.data.uid])


def _is_rounded(part: Part) -> bool:
    """Say whether a part's values are rounded when they are stored."""
    if part.access is READ or part.kind is Kind.HANDLE:
        return False
    return part.compute != part.dtype and part.data.host_values is not None


def _rows(part: Part) -> Array:
    """Return the values on the host, a row for each entity or place."""
    part.data.use_on_host(_core.Use.read, "check", is_explicit=True)
    values: Array = part.data.host_values
    return values.reshape(len(values), -1) if values.size else values.reshape(0, 1)


def _check_range(kernel: str, part: Part, before: Array) -> None:
    """Raise ExecutionError for the first value that became infinite."""
    bad = np.argwhere(np.isinf(_rows(part)) & ~before)
    if bad.size == 0:
        return
    row, component = (int(i) for i in bad[0])
    kind = "place" if part.is_of_matrix else "element"
    largest = largest_of(part.dtype)
    raise ExecutionError(
        f"par_loop '{kernel}': arg {part.number}: {type(part.data).__name__} '{part.data.name}', "
        f"{kind} {row}, component {component} became infinite when it was stored: {part.dtype} "
        f"holds values up to {largest:.3g}, the kernel computes in {part.compute} ({len(bad)} "
        f"values); store {part.compute}, or scale the values"
    )


def check_before(kernel: str, parts: Sequence[Part]) -> None:
    """Check the values read by a loop, before any change.

    Raises:
        ExecutionError: A Map entry is out of range, or a value read is NaN; the message names the
            loop, the argument and the element.
    """
    for part in parts:
        for map_ in part.maps:
            _check_map(kernel, part.number, map_)
        if part.access in (READ, RW):
            _check_numbers(kernel, part, "is NaN before the loop")


def check_after(kernel: str, parts: Sequence[Part]) -> None:
    """Check the values written by a loop.

    Raises:
        ExecutionError: A value is NaN; the message names the loop, the argument and the element.
    """
    for part in parts:
        if part.access != READ:
            _check_numbers(kernel, part, "became NaN in this loop")


def _check_map(kernel: str, i: int, map_: Map) -> None:
    table = map_.current_table()
    assert table is not None  # the constructor refuses Maps without values
    try:
        _core.plan.check_range(table, map_.name, negative_allowed=False, n_threads=1)
    except UsageError as error:
        raise ExecutionError(f"par_loop '{kernel}': arg {i}: {error}") from None


def _check_numbers(kernel: str, part: Part, what: str) -> None:
    if part.kind is Kind.HANDLE:
        return
    data = part.data
    values = data.host_values
    if values is None or kind_of(values.dtype) not in "fc":
        return
    data.use_on_host(_core.Use.read, "debug", is_explicit=True)
    on_set = part.home is not None or part.is_of_matrix
    rows = values.reshape(len(values) if on_set and values.size else 1, -1)
    bad = np.flatnonzero(np.isnan(rows).any(axis=1))
    if bad.size == 0:
        return
    element = int(bad[0])
    kind = "place" if part.is_of_matrix else "element"
    where = f"{kind} {element}" if on_set else "its value"
    shown = np.array2string(rows[element], precision=6, threshold=8)
    raise ExecutionError(
        f"par_loop '{kernel}': arg {part.number}: {type(data).__name__} '{data.name}', "
        f"{where} {what}: {shown} ({bad.size} of {len(rows)} elements)"
    )


def _warn_of_opaque(loop: Any, *, stacklevel: int) -> None:
    """Warn of an opaque kernel, which check mode does not check."""
    reason = loop.kernel.opaque_reason
    warnings.warn(
        f"{loop.label}: check mode does not look into this kernel, because it is opaque "
        f"({reason}): races are found, but no wrong indices, accesses or values; write it in C "
        "that can be parsed, or try it under a sanitizer",
        KernelWarning,
        stacklevel=stacklevel,
    )
