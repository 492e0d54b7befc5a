# SPDX-License-Identifier: BSD-3-Clause
"""Chains as nodes of graphs: loops that are compiled together, and then run many times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyop2cxx.base.access import READ, WRITE
from pyop2cxx.chain.compiled import compiled
from pyop2cxx.chain.entries import Entry, Recorded
from pyop2cxx.chain.recorder import ChainState
from pyop2cxx.exceptions import UsageError
from pyop2cxx.graph.operations import Operation, own_copy, uses_of, with_data
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyop2cxx.base.access import Access
    from pyop2cxx.graph.operations import Replaced
    from pyop2cxx.loop.parloop import ParLoop


class ChainOperation(Operation):
    """Loops of a chain.

    Args:
        entries: What the chain recorded, in its order.
        passes: What the chain looks for.
    """

    def __init__(self, entries: Sequence[Entry], passes: frozenset[str]) -> None:
        self._entries = [_own(entry) for entry in entries]
        self._passes = passes
        names = [e.name if e.recorded is None else e.recorded.name for e in entries]
        self.name = f"chain of {' + '.join(names)}"

    def uses(self) -> Iterator[tuple[Any, Access]]:
        """What its loops and actions use."""
        for entry in self._entries:
            if entry.loop is None:
                for data, writes in entry.uses:
                    yield data, WRITE if writes else READ
                continue
            yield from uses_of(entry.loop)

    def bound(self, replaced: Replaced) -> Operation:
        """Return the same chain of loops over other data."""
        if not self._is_met(replaced):
            return self
        return ChainOperation([_bound(entry, replaced) for entry in self._entries], self._passes)

    @property
    def loops(self) -> list[ParLoop]:
        """Its loops."""
        return [entry.loop for entry in self._entries if entry.loop is not None]

    def prepared(self) -> Callable[[int], None]:
        """Compile the chain, and return what runs it some times.

        Raises:
            CompilationError: The compiler rejects a kernel.
        """
        entries = self._entries
        chain = compiled(entries, self._passes, runtime.of(ChainState).spares)

        def run(n: int) -> None:
            for _ in range(n):
                chain.run(entries)

        return run


def _own(entry: Entry) -> Entry:
    """Return an entry with a loop that belongs to the graph alone."""
    if entry.recorded is None:
        return entry
    loop = own_copy(entry.made())
    return Entry(Recorded(loop), loop.args, loop)


def _bound(entry: Entry, replaced: Replaced) -> Entry:
    if entry.loop is None:
        if any(data._uid in replaced for data, _ in entry.uses):
            raise UsageError(
                f"graph: '{entry.name}' in a chain cannot be bound to other data; do it outside of "
                "the chain"
            )
        return entry
    loop = with_data(entry.loop, replaced)
    return Entry(Recorded(loop), loop.args, loop)
