# SPDX-License-Identifier: BSD-3-Clause
"""Numbers for the memory used by the nodes of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.base.access import READ, RW
from pyop2cxx.chain.entries import span_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyop2cxx.graph.operations import Placed

_EVERYTHING = 0


def numbered(nodes: Sequence[Placed]) -> tuple[list[_core.graph.Node], Mapping[int, str]]:
    """Return the nodes without data, and the names of each number of memory for messages.

    Dats with shared memory have the same number, also if shared with a third Dat only. A node with
    unknown uses conflicts with all others.
    """
    operations = {id(one.operation): one.operation for one in nodes}  # nodes may share an operation
    uses_of = {key: list(operation.uses()) for key, operation in operations.items()}
    data = {carrier.uid: carrier for uses in uses_of.values() for carrier, _ in uses}
    numbers = _by_memory(data.values())
    names: dict[int, list[str]] = {_EVERYTHING: ["nobody knows what one of them uses"]}
    for uid, carrier in data.items():
        kind = type(carrier).__name__
        names.setdefault(numbers[uid], []).append(f"{kind} '{carrier.name}'")
    has_unknown = not all(operation.is_known for operation in operations.values())
    made = {}
    for key, operation in operations.items():
        made[key] = [(numbers[carrier.uid], int(access)) for carrier, access in uses_of[key]]
        if has_unknown:
            made[key].append((_EVERYTHING, int(READ if operation.is_known else RW)))
    symbolic = [_core.graph.Node(one.after, made[id(one.operation)]) for one in nodes]
    return symbolic, {number: " and ".join(found) for number, found in names.items()}


def _by_memory(data: Iterable[Any]) -> dict[int, int]:
    """Return a number for each object, by uid; equal for objects with overlapping memory."""
    spans = sorted((_span(carrier), carrier.uid) for carrier in data)
    numbers: dict[int, int] = {}
    number, end = _EVERYTHING, None
    for (begin, stop), uid in spans:
        if end is None or begin >= end:
            number, end = number + 1, stop
        end = max(end, stop)
        numbers[uid] = number
    return numbers


def _span(carrier: Any) -> tuple[int, int]:
    if not hasattr(carrier, "buffer"):
        return -carrier.uid, -carrier.uid + 1
    return span_of(carrier)
