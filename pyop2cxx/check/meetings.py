# SPDX-License-Identifier: BSD-3-Clause
"""Races, found from the Maps before a loop runs: two elements use a value, and at least one writes.

The result is the same for all backends: values of racing elements depend on the order of elements
in any strategy.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.access import INC, MAX, MIN, READ, RW, WRITE
from pyop2cxx.exceptions import CheckError
from pyop2cxx.loop.numberings import rows_of
from pyop2cxx.loop.parts import Kind
from pyop2cxx.loop.symbolic import aliases

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from pyop2cxx.loop.parts import Part
    from pyop2cxx.sets.maps import Map

    Numbers = npt.NDArray[np.int64]

_SUMMED = (INC, MIN, MAX)


def check_races(loop: Any, *, equal_writes: bool) -> None:
    """Check that no two elements of a loop race, and no element races with itself.

    Args:
        loop: The loop.
        equal_writes: The user guarantees equal values from racing writes.

    Raises:
        CheckError: Two elements race; the message names both.
    """
    if loop.items.n < 1:
        return
    parts: Sequence[Part] = loop.parts
    memory = aliases(parts)[1]
    for part in parts:
        is_set = part.home is not None and part.access in (RW, WRITE)
        if is_set and part.map_ is not None and not equal_writes:
            _check_own(loop, part, part.map_)
    if loop.items.n < 2:
        return
    for i, j in itertools.combinations(range(len(parts)), 2):
        if memory[i] == memory[j] and _can_race(parts[i], parts[j]):
            _check_pair(loop, parts[i], parts[j], equal_writes=equal_writes)


def _can_race(one: Part, other: Part) -> bool:
    accesses = {one.access, other.access}
    if accesses == {READ} or (len(accesses) == 1 and one.access in _SUMMED):
        return False
    return not any(part.is_of_matrix or part.kind is Kind.HANDLE for part in (one, other))


def _check_own(loop: Any, part: Part, map_: Map) -> None:
    """RW or WRITE through a Map: found once for each Map, while unchanged.

    Cells of a column are visited from the bottom up, on all backends: uses of the column's values
    are no race.
    """
    if map_.is_of_columns:
        return
    table = map_.current_table()
    key = (
        None if table is None else table.version,
        loop.iterset.uid,
        loop.options.iteration_region,
    )
    if key not in map_.meetings:
        map_.meetings.clear()
        rows = rows_of(loop, map_)
        map_.meetings[key] = first_meeting(rows) or first_repetition(rows)
    found = map_.meetings[key]
    if found is None:
        return
    first, second, target = found
    access = part.access.name
    advice = (
        "pass it with INC, or if they write equal values say so: par_loop(..., equal_writes=True)"
        if part.access == WRITE
        else "pass it with INC, MIN or MAX, or read one Dat and write another"
    )
    place = f"entity {target} of Set '{map_.toset.name}'"
    one, two = number_of(loop, first), number_of(loop, second)
    what = (
        f"elements {one} and {two} both {access} {place} through Map '{map_.name}', so the result "
        "depends on their order"
        if first != second
        else f"element {one} has {place} twice in its row of Map '{map_.name}' to {access}, and "
        "what it writes for one of the two is lost"
    )
    raise race(loop, part.number, two, f"{what}; {advice}")


def number_of(loop: Any, item: int) -> int:
    """Return the number of an item in the whole Set; for extruded Sets, the item."""
    if loop.items.extruded:
        return item
    return int(loop.iterset.ground.number_of(loop.iterset.indices[item]))


def first_meeting(rows: Numbers) -> tuple[int, int, int] | None:
    """Return two elements with a common target, and the target; the earliest complete pair.

    Args:
        rows: Targets of each element, shape (n, arity); negative if there is none.
    """
    lowest, highest, at = _users(rows)
    meets = np.flatnonzero(highest > lowest)
    if not meets.size:
        return None
    first = meets[np.argmin(highest[meets])]
    return int(lowest[first]), int(highest[first]), int(at + first)


def first_repetition(rows: Numbers) -> tuple[int, int, int] | None:
    """Return the first element with a repeated target in its row, twice, and the target.

    Args:
        rows: As of `first_meeting`.
    """
    ordered = np.sort(rows, axis=1)
    repeats = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    found = np.argwhere(repeats)
    if not found.size:
        return None
    element, slot = found[0]
    return int(element), int(element), int(ordered[element, slot])


def _users(rows: Numbers) -> tuple[Numbers, Numbers, int]:
    """Return the first and the last element of each target, and the first target."""
    elements = np.repeat(np.arange(len(rows), dtype=np.int64), rows.shape[1])
    targets = rows.reshape(-1)
    known = targets >= 0
    elements, targets = elements[known], targets[known]
    at = int(targets.min()) if targets.size else 0
    n = int(targets.max()) - at + 1 if targets.size else 0
    lowest = np.full(n, np.iinfo(np.int64).max, dtype=np.int64)
    highest = np.full(n, -1, dtype=np.int64)
    # elements ascend, so the last stored is the highest, and in reverse the lowest
    highest[targets - at] = elements
    lowest[targets[::-1] - at] = elements[::-1]
    return lowest, highest, at


def _check_pair(loop: Any, one: Part, other: Part, *, equal_writes: bool) -> None:
    if Kind.TOTAL in (one.kind, other.kind):
        _refuse_pair(loop, one, other, 0, 1)
    if equal_writes and {one.access, other.access} == {WRITE}:
        return
    same_rows = _same_rows(one, other)
    if same_rows is None:
        return  # different components
    rows = [_units(loop, part, whole=not same_rows) for part in (one, other)]
    lowest, highest, at = _users(rows[0])
    elements = np.repeat(np.arange(len(rows[1]), dtype=np.int64), rows[1].shape[1])
    targets = rows[1].reshape(-1) - at
    shared = (targets >= 0) & (targets < len(lowest))
    elements, targets = elements[shared], targets[shared]
    meets = (highest[targets] >= 0) & (
        (lowest[targets] != elements) | (highest[targets] != elements)
    )
    found = np.flatnonzero(meets)
    if not found.size:
        return
    k = int(found[0])
    element, target = int(elements[k]), int(targets[k])
    met = int(lowest[target])
    _refuse_pair(loop, one, other, int(highest[target]) if met == element else met, element)


def _refuse_pair(loop: Any, one: Part, other: Part, first: int, second: int) -> None:
    first, second = number_of(loop, first), number_of(loop, second)
    element = second
    if one.access == READ:
        one, other, first, second = other, one, second, first
    both = f"{type(one.data).__name__} '{one.data.name}'"
    if one.data is not other.data:
        both += f", which shares memory with argument {other.number}, {type(other.data).__name__}"
        both += f" '{other.data.name}',"
    raise race(
        loop,
        one.number,
        element,
        f"{both} is used with {one.access.name} by element {first} and, as argument "
        f"{other.number}, with {other.access.name} by element {second} at the same place, so the "
        "result depends on their order; write into a Dat of its own, and copy it back after the "
        "loop",
    )


def _same_rows(one: Part, other: Part) -> bool | None:
    """Whether rows can be compared by number; None if they have no value in common."""
    (dim, stride, component), (dim_b, stride_b, component_b) = one.layout, other.layout
    width, width_b = stride or dim, stride_b or dim_b
    is_elsewhere = one.buffer.address != other.buffer.address
    if is_elsewhere or width != width_b or one.dtype != other.dtype:
        return False
    is_apart = component + dim <= component_b or component_b + dim_b <= component
    return None if is_apart else True


def _units(loop: Any, part: Part, *, whole: bool) -> Numbers:
    """The rows used by elements; `whole`: the bytes, to compare different layouts."""
    rows = rows_of(loop, part.map_)
    if not whole:
        return rows
    dim, stride, component = part.layout
    size = part.dtype.itemsize
    begin = part.buffer.address + (rows * (stride or dim) + component) * size
    found: Numbers = (begin[:, :, None] + np.arange(dim * size)).reshape(len(rows), -1)
    return found


def race(loop: Any, argument: int, element: int, message: str) -> CheckError:
    """Return the error that names the racing elements."""
    error = CheckError(f"{loop.label}: arg {argument}: {message}. Nothing was written by this loop")
    error.loop, error.argument, error.element, error.check = (
        loop.kernel.shown_name,
        argument,
        element,
        "races",
    )
    return error
