# SPDX-License-Identifier: BSD-3-Clause
"""Comparison of a chain with the same loops run in sequence from the same values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.conversions import eps_of
from pyop2cxx.base.moves import kind_of
from pyop2cxx.chain.compile import PASSES
from pyop2cxx.chain.report import described
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.views import DatView
from pyop2cxx.exceptions import ChainError
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.chain.compile import Compiled, StepReport
    from pyop2cxx.chain.entries import Entry
    from pyop2cxx.data.carrier import DataCarrier


@dataclass(frozen=True, slots=True)
class Difference:
    """The first differing value.

    Attributes:
        place: Index of the value in the array.
        n: How many differ.
        allowed: Allowed distance in the component.
    """

    place: tuple[int, ...]
    n: int
    allowed: float


def run_compared(chain: Compiled, entries: Sequence[Entry]) -> None:
    """Run the loops in sequence, then the chain from the same values, and compare.

    The loops run first, so check mode reports a mistake before the chain runs. Afterwards all
    values come from the chain.

    Args:
        chain: The compiled entries.
        entries: The recorded entries.

    Raises:
        ChainError: The chain gives other values than the loops.
        ExecutionError: A loop is stopped by check mode, or by the check for NaNs of ``debug``.
    """
    written = each_once(data for entry in entries for data, writes in entry.touched() if writes)
    before = [read_all(data).copy() for data in written]
    magnitude = largest(each_once(data for entry in entries for data, _ in entry.touched()))
    with runtime.at_once():
        for entry in entries:
            entry.run()
        expected = [read_all(data).copy() for data in written]
        for data, values in zip(written, before, strict=True):
            restore(data, values)
        chain.run(entries)
        for data, start, wanted in zip(written, before, expected, strict=True):
            found = difference(read_all(data), wanted, start, magnitude)
            if found is not None:
                raise _error(chain, entries, data, wanted, found)


def each_once(carriers: Iterable[DataCarrier]) -> list[DataCarrier]:
    """Return objects with their own memory: views of a component are replaced by their Dats."""
    found: dict[int, DataCarrier] = {}
    for one in carriers:
        whole = one.parent if isinstance(one, DatView) else one
        found.setdefault(whole.uid, whole)
    return list(found.values())


def read_all(data: DataCarrier) -> Array:
    """Return all values on the host, brought there if necessary."""
    data.use_on_host(_core.Use.read, "chain", is_explicit=True)
    return data.host_array("chain")


def restore(data: DataCarrier, values: Array) -> None:
    """Put values back, by the host."""
    data.use_on_host(_core.Use.write, "chain", is_explicit=True)
    data.host_array("chain")[...] = values
    data.buffer.increment_version()


def largest(carriers: Iterable[DataCarrier]) -> float:
    """Return the largest finite magnitude of all floating-point values."""
    return max((magnitude_of(read_all(data)) for data in carriers), default=0.0)


def magnitude_of(values: Array) -> float:
    """Return the largest finite magnitude of floating-point values."""
    if kind_of(values.dtype) not in "fc" or values.size == 0:
        return 0.0
    size = np.abs(values)
    return float(np.max(size, where=np.isfinite(size), initial=0.0))


def difference(found: Array, wanted: Array, before: Array, magnitude: float) -> Difference | None:
    """Compare two results.

    Integers must be equal. Sums of floating-point numbers may be reordered: half of the digits must
    agree, relative to the largest value of the same data. Where sums cancel, values may be rounding
    errors only: they may differ by the rounding of the largest number in the chain.

    Args:
        found: The chain's.
        wanted: The loops'.
        before: Values before the run.
        magnitude: Largest number in the chain.
    """
    if kind_of(wanted.dtype) not in "fc":
        allowed, differs = 0.0, found != wanted
    else:
        eps = eps_of(wanted.dtype)
        scale = max(magnitude_of(wanted), magnitude_of(before))
        allowed = float(np.sqrt(eps)) * scale + 64 * eps * magnitude
        with np.errstate(invalid="ignore", over="ignore"):
            is_near = np.abs(found - wanted) <= allowed
        is_same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
        differs = ~(is_near | is_same)
    n = int(np.count_nonzero(differs))
    if n == 0:
        return None
    first = np.unravel_index(int(np.argmax(differs)), differs.shape)
    return Difference(tuple(map(int, first)), n, allowed)


def _error(
    chain: Compiled,
    entries: Sequence[Entry],
    data: DataCarrier,
    wanted: Array,
    where: Difference,
) -> ChainError:
    value, expected = read_all(data)[where.place], wanted[where.place]
    is_on_set = isinstance(data, Dat)
    element = where.place[0] if is_on_set else -1
    inner = where.place[1:] if is_on_set else where.place
    component = int(np.ravel_multi_index(inner, wanted.shape[-len(inner) :])) if inner else 0
    steps = _writers(chain, entries, data)
    passes = _applied(chain, steps)
    shown = f"element {element}, component {component}" if is_on_set else f"component {component}"
    error = ChainError(
        f"chain of {' + '.join(chain.names)}: {data.label}, {shown}: the chain computes {value}, "
        f"its loops one after the other {expected} ({where.n} of {wanted.size} values differ by "
        f"more than {where.allowed:.1e}); written by "
        f"{', '.join(repr(described(step, chain.names)) for step in steps)}; passes applied: "
        f"{', '.join(passes) or 'none'}. Either a kernel does what its accesses do not say, or "
        "a pass is wrong; op2.chain(passes=...) without one of them shows which"
    )
    error.loops, error.data, error.passes = chain.names, data.name, passes
    error.element, error.component = element, component
    error.value, error.expected = value, expected
    return error


def _writers(chain: Compiled, entries: Sequence[Entry], data: DataCarrier) -> list[StepReport]:
    """Return the functions writing an object, or a view of the object."""
    numbers = {
        i
        for i, number in enumerate(chain.order)
        if any(writes and one.buffer is data.buffer for one, writes in entries[number].touched())
    }
    return [step for step in chain.reports if numbers.intersection(step.loops)]


def _applied(chain: Compiled, steps: Iterable[StepReport]) -> tuple[str, ...]:
    members = {i for step in steps for i in step.loops}
    found = {one.passed for one in chain.decisions if one.applied and members & {*one.loops}}
    found |= {"geometry" for step in steps if step.corners}
    return tuple(name for name in PASSES if name in found)
