# SPDX-License-Identifier: BSD-3-Clause
"""Chains as nodes of graphs: loops compiled together, and run many times."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pyop2cxx.base.access import READ, WRITE
from pyop2cxx.chain.compile import compiled
from pyop2cxx.chain.entries import Entry, Overwritten, Recorded
from pyop2cxx.chain.group_loop import Task
from pyop2cxx.chain.recorder import ChainState
from pyop2cxx.chain.tasks import exchanges
from pyop2cxx.exceptions import UsageError
from pyop2cxx.graph.library_calls import Fill
from pyop2cxx.graph.operations import Operation, own_copy, stale_ghosts, uses_of, with_data
from pyop2cxx.loop.execute import note_assembly
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyop2cxx import _core
    from pyop2cxx.base.access import Access
    from pyop2cxx.chain.compile import Compiled
    from pyop2cxx.data.lent import Lent
    from pyop2cxx.graph.operations import Replaced
    from pyop2cxx.loop.parloop import ParLoop


class ChainOperation(Operation):
    """Loops of a chain.

    Args:
        entries: The recorded entries, in order.
        passes: Passes of the chain.

    Attributes:
        passes: As given.
    """

    def __init__(self, entries: Sequence[Entry], passes: frozenset[str]) -> None:
        self._entries = [_own(entry) for entry in entries]
        self.passes = passes
        names = [e.name if e.recorded is None else e.recorded.name for e in entries]
        self.name = f"chain of {' + '.join(names)}"
        self._chain: Compiled | None = None
        self._fills: list[Fill] = []

    def uses(self) -> Iterator[tuple[Any, Access]]:
        """Uses of the loops and actions."""
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
        return ChainOperation([_bound(entry, replaced) for entry in self._entries], self.passes)

    @property
    def entries(self) -> Sequence[Entry]:
        """The entries, in order."""
        return self._entries

    @property
    def loops(self) -> list[ParLoop]:
        """The loops."""
        return [entry.loop for entry in self._entries if entry.loop is not None]

    def tasks(self) -> Sequence[_core.GraphTask] | None:
        """Compile the chain, and return the functions, and tasks for zeroing.

        A function with second buffers is followed by tasks to exchange each with the Dat's own
        buffer.

        Raises:
            CompilationError: The compiler rejects a kernel.
        """
        chain = self._chain = compiled(self._entries, self.passes, runtime.of(ChainState).spares)
        if runtime.on_chain is not None:
            runtime.on_chain(chain, self._entries, self.passes)
        self._fills = []
        found: list[_core.GraphTask] = []
        for one in chain.functions:
            if isinstance(one, Task):
                found += [one.prepared, *exchanges(one.exchanged)]
                continue
            if one is not None and isinstance(self._entries[one], Overwritten):
                continue
            fill = None if one is None else _fill(self._entries[one])
            made = fill.task() if fill is not None else None
            if fill is None or made is None:
                return None
            self._fills.append(fill)
            found.append(made)
        return found or None

    @property
    def dropped(self) -> set[str]:
        """Names of the Dats not stored by the compiled chain; set of str."""
        assert self._chain is not None, "tasks() is asked first"
        return {name for report in self._chain.reports for name in report.dropped}

    def notes(self) -> Iterator[Callable[[], None]]:
        """Notes of zeroing, of ghosts out of date, and of assembled matrices."""
        for fill in self._fills:
            yield from fill.notes()
        for loop in self.loops:
            yield from stale_ghosts(loop)
        for arg in self._assembled():
            yield partial(note_assembly, arg)

    def _assembled(self) -> Iterator[Any]:
        """The matrix arguments."""
        for entry in self._entries:
            if entry.recorded is not None:
                yield from (entry.args[i] for i in entry.recorded.assembled)

    def lent(self) -> Iterator[Lent]:
        """Lent memory of the functions, and of zeroing."""
        assert self._chain is not None
        for one in self._chain.functions:
            if isinstance(one, Task):
                yield from one.lent
        for fill in self._fills:
            yield from fill.lent()

    def prepared(self) -> Callable[[int], None]:
        """Return a callable running the chain n times, if a step needs Python."""
        entries, chain = self._entries, self._chain
        assert chain is not None, "tasks() is asked first"

        def run(n: int) -> None:
            for _ in range(n):
                chain.run(entries)
            for arg in self._assembled():
                note_assembly(arg)

        return run


def _fill(entry: Entry) -> Fill | None:
    """Return the fill of an action, if all values of a single object are set to zero."""
    if not entry.zeroes or len(entry.uses) != 1:
        return None
    return Fill(entry.uses[0][0], 0)


def _own(entry: Entry) -> Entry:
    """Return an entry with a loop owned by the graph."""
    if entry.recorded is None:
        return entry
    loop = own_copy(entry.made())
    return Entry(Recorded(loop), loop.args, loop)


def _bound(entry: Entry, replaced: Replaced) -> Entry:
    if entry.loop is None:
        if any(data.uid in replaced for data, _ in entry.uses):
            raise UsageError(
                f"graph: '{entry.name}' in a chain cannot be bound to other data; do it outside of "
                "the chain"
            )
        return entry
    loop = with_data(entry.loop, replaced)
    return Entry(Recorded(loop), loop.args, loop)
