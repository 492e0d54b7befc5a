# SPDX-License-Identifier: BSD-3-Clause
"""Data of a graph by name, with the inputs and outputs of a submit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyop2cxx.base.access import READ, WRITE
from pyop2cxx.graph.library_calls import Copy, Fill, Scan
from pyop2cxx.graph.operations import Inner, LoopOperation, While

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyop2cxx.graph.operations import Operation, Placed


def data_of(nodes: Iterable[Placed]) -> dict[str, Any]:
    """Return the data of nodes, in the order of first use, by unique names."""
    found: dict[str, Any] = {}
    for data in _used(nodes).values():
        name, number = data.name, 2
        while name in found:
            name, number = f"{data.name}_{number}", number + 1
        found[name] = data
    return found


def changed_by(nodes: Iterable[Placed]) -> set[int]:
    """Return the uids of data changed by nodes."""
    return {data.uid for one in nodes for data, access in one.operation.uses() if access != READ}


def needed_by(nodes: Iterable[Placed]) -> set[int]:
    """Return the uids of data with values needed before nodes run.

    Data overwritten as a whole by the first using node are not needed.
    """
    met: set[int] = set()
    needed: set[int] = set()
    _look(nodes, met, needed)
    return needed


def _used(nodes: Iterable[Placed]) -> dict[int, Any]:
    return {data.uid: data for one in nodes for data, _ in one.operation.uses()}


def _look(nodes: Iterable[Placed], met: set[int], needed: set[int]) -> None:
    for one in nodes:
        operation = one.operation
        if isinstance(operation, Inner) and operation.shown is None:
            _look(operation.body, met, needed)
            continue
        if isinstance(operation, While):  # may run no pass
            needed.update(data.uid for data in operation.condition.data if data.uid not in met)
            inside = set(met)
            _look(operation.body, inside, needed)
            changed = changed_by(operation.body)
            needed |= changed - met
            met |= changed
            continue
        uses = [data.uid for data, _ in operation.uses()]
        made = _set_whole(operation)
        needed.update(uid for uid in uses if uid not in met and uid not in made)
        met.update(uses)


def _set_whole(operation: Operation) -> set[int]:
    """Return the uids of data overwritten by an operation without being read."""
    if isinstance(operation, (Copy, Fill, Scan)):
        made = {operation.target.uid}
        return made if getattr(operation, "source", None) is not operation.target else set()
    if isinstance(operation, Inner):
        uses = [*operation.uses()]
        read = {data.uid for data, access in uses if access == READ}
        return {data.uid for data, access in uses if access == WRITE} - read
    if not isinstance(operation, LoopOperation):
        return set()
    loop = operation.loop
    accesses: dict[int, set[bool]] = {}
    for part in loop.parts:
        is_whole = part.access == WRITE and not part.maps and part.home is loop.iterset
        accesses.setdefault(part.data.uid, set()).add(is_whole and not part.stride)
    return {uid for uid, whole in accesses.items() if whole == {True}}
