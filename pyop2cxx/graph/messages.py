# SPDX-License-Identifier: BSD-3-Clause
"""Messages between processes as nodes of a graph.

Ghosts are brought before a loop that reads them, if they are out of date there. A Global reduced
over processes keeps the part of each process, and the parts are added up where the sum is read, or
at the end of a submit. So a sum that is overwritten before anybody reads it is never sent.

All decisions follow from the nodes and from facts equal on all processes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.access import INC, READ, RW, Access
from pyop2cxx.data.ghosts import READING
from pyop2cxx.data.globals import Global
from pyop2cxx.graph.chain_parts import Zeros, without_stores
from pyop2cxx.graph.chains import ChainOperation
from pyop2cxx.graph.library_calls import Copy, Fill
from pyop2cxx.graph.operations import HostCall, Inner, LoopOperation, Operation, Placed
from pyop2cxx.loop.execute import is_apart, ready
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pyop2cxx.chain.entries import Entry
    from pyop2cxx.data.dats import Dat
    from pyop2cxx.data.lent import Lent
    from pyop2cxx.loop.parloop import ParLoop


class Bring(HostCall):
    """Ghosts get the values of their owners.

    Args:
        dats: Dats on Sets of a distributed mesh, each once.
        what: The first loop that needs them, for messages.
    """

    def __init__(self, dats: Sequence[Dat], what: str) -> None:
        self._dats, self._what = tuple(dats), what
        self._messages: Any = dats[0].set.halo.messages
        names = ", ".join(dat.name for dat in dats)
        super().__init__(f"bring {names}", self._now, [], dats)
        self._uses = [(dat, RW) for dat in dats]

    def _now(self) -> None:
        self._messages.begin(self._dats, self._what)
        self._messages.end()

    def tasks(self) -> Sequence[_core.GraphTask] | None:
        """Return the tasks of packing, moving and unpacking; None if the host has to take part."""
        tasks: Sequence[_core.GraphTask] | None = self._messages.tasks(self._dats, self._what)
        return tasks

    def lent(self) -> Iterator[Lent]:
        """Lent memory of the Dats."""
        yield from self._messages.lent(self._dats, self._what)

    def around(self, core: Operation) -> list[Operation]:
        """Return the same in two halves, with an operation meanwhile."""
        begin = HostCall(
            f"begin to {self.name}",
            partial(self._messages.begin, self._dats, self._what),
            [],
            self._dats,
        )
        return [begin, core, HostCall(self.name, self._messages.end, [], self._dats)]


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """A Global with the part of each process.

    Attributes:
        carrier: The Global.
        access: INC, MIN or MAX.
        messages: Of the mesh that loops reduce it over.
    """

    carrier: Global
    access: Access
    messages: Any


class Total(HostCall):
    """A Global gets the sum, minimum or maximum over processes.

    Args:
        of: The Global, with the part of the process.
    """

    def __init__(self, of: Reduced) -> None:
        self._of = of
        carrier = of.carrier
        super().__init__(f"total of {carrier.name}", self._now, [carrier], [carrier])

    def task(self) -> _core.GraphTask | None:
        """Return the sum by a library of the device; None if the host has to take part."""
        of, found = self._of, None
        if of.access == INC and runtime.device is not None:
            found = of.messages.transports.total(of.carrier)
        return found

    def run(self) -> None:
        """Add the parts up now."""
        task = self.task()
        if task is None:
            self._now()
        else:
            _core.TaskRow([task]).run()

    def lent(self) -> Iterator[Lent]:
        """Lent memory of the Global."""
        yield self._of.carrier.lent_out

    def _now(self) -> None:
        found, operation = self._of.carrier, self._of.access.name.lower().replace("inc", "sum")
        found.data[...] = runtime.processes.combined(
            self._of.messages.comm,
            np.array(found.data_ro),
            operation,
            f"{found.label} of a graph",
        )


class PartOfLoop(LoopOperation):
    """The part of a process of a loop: messages are other nodes.

    Args:
        loop: The loop.
        phase: The core reads no ghosts, and may run before they are there.
    """

    def __init__(self, loop: ParLoop, phase: _core.Phase = _core.Phase.all) -> None:
        super().__init__(loop)
        self.phase = phase
        if phase != _core.Phase.all:
            self.name += f" ({phase.name})"

    def task(self) -> _core.GraphTask | None:
        """Return the loop, compiled and bound."""
        task: _core.PreparedLoop = ready(self.loop).prepared
        if self.phase == _core.Phase.all:
            return task
        return _core.graph.PhaseTask(task, self.phase)

    def notes(self) -> Iterator[Callable[[], None]]:
        """Mark Mats as assembled."""
        if self.loop.effects.assembled and self.phase != _core.Phase.core:
            yield partial(self.loop.bound_run.note_assembly, self.loop.args)


class _Uses(Operation):
    """An entry of a chain without a loop."""

    def __init__(self, name: str, uses: Iterable[tuple[Any, bool]]) -> None:
        self.name = name
        self._uses = [(data, RW if writes else READ) for data, writes in uses]

    def uses(self) -> Iterator[tuple[Any, Access]]:
        """The uses given."""
        yield from self._uses


@dataclass(slots=True)
class _State:
    """Facts that hold at a point of a graph.

    Attributes:
        stale: Uids of the Dats with ghosts out of date.
        parts: Globals with the part of each process, by uid.
        zeros: Uids of Globals known to be 0.
    """

    stale: set[int]
    parts: dict[int, Reduced] = field(default_factory=dict)
    zeros: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Nodes with messages among them.

    Attributes:
        nodes: The nodes, flat, each behind its dependencies.
        begin: Called before all runs of a submit.
        end: Called after all runs of a submit.
    """

    nodes: Sequence[Placed]
    begin: Callable[[], None]
    end: Callable[[], None]


def planned(nodes: Sequence[Placed]) -> Plan | None:
    """Return nodes with messages among them; None if no loop needs any.

    A graph may be submitted several times at once, so a run begins as the run before ends: ghosts
    up to date at the beginning are those up to date at the end.
    """
    flat = [*_flattened(nodes)]
    if not any(_is_shared(one.operation) for one in flat):
        return None
    dats = {dat.uid: dat for one in flat for dat in _ghosted(one.operation)}
    stale: set[int] = set()
    parts: dict[int, Reduced] = {}
    is_final = False
    while True:
        walk = _Walk(_State(set(stale), dict(parts)), dats, saves_stores=is_final)
        walk.over(flat)
        if is_final:
            break
        is_final = walk.state.stale <= stale and walk.state.parts.keys() <= parts.keys()
        stale |= walk.state.stale
        parts |= walk.state.parts
    fresh = [dat for uid, dat in dats.items() if uid in walk.needed and uid not in stale]
    starts = [parts[uid] for uid in walk.continued if uid in parts]
    return Plan(
        _ordered(walk.found),
        partial(_begin, fresh, starts),
        partial(_end, [*dats.values()], walk.state.stale, [*map(Total, walk.state.parts.values())]),
    )


def _begin(fresh: Sequence[Dat], starts: Sequence[Reduced]) -> None:
    """Bring ghosts that the nodes expect to be up to date, and let one process keep the sums."""
    dats = [dat for dat in fresh if not dat.halo_valid]
    if dats:
        Bring(dats, "the first run of a graph").call()
    for one in starts:
        if one.access == INC and one.messages.comm.rank:
            one.carrier.data[...] = 0


def _end(dats: Sequence[Dat], stale: set[int], totals: Sequence[Total]) -> None:
    """Note which ghosts are up to date, and add the parts of Globals up."""
    for dat in dats:
        dat.halo_valid = dat.uid not in stale
    for total in totals:
        total.run()


class _Walk:
    """Puts messages among nodes, in the order of a run.

    Args:
        state: At the beginning; changed.
        dats: All Dats with ghosts, by uid.
        saves_stores: Whether parts of chains are compiled to find unneeded stores.

    Attributes:
        state: As given.
        found: The nodes of before with their numbers there, and messages with -1.
        needed: Uids of the Dats whose ghosts are read before anything writes or brings them.
        continued: Uids of the Globals with parts from before the beginning.
    """

    def __init__(self, state: _State, dats: dict[int, Dat], *, saves_stores: bool) -> None:
        self.state = state
        self._saves_stores = saves_stores
        self.found: list[tuple[int, Placed]] = []
        self.needed: set[int] = set()
        self.continued: set[int] = set()
        self._dats = dats
        self._met: set[int] = set()
        self._overwritten: set[int] = set()
        self._number, self._line = -1, ""

    def over(self, nodes: Iterable[Placed]) -> None:
        """Visit all nodes."""
        for self._number, one in enumerate(nodes):
            self._line = one.line
            self._visit(one)

    def _visit(self, one: Placed) -> None:
        operation = one.operation
        if isinstance(operation, LoopOperation) and _is_local(operation.loop):
            self._loop(operation.loop)
            self._part(operation.loop, one)
            return
        if isinstance(operation, ChainOperation):
            self._chain(operation, one)
            return
        if isinstance(operation, Fill):
            self._set(operation.target, is_zero=operation.value == 0)
        elif isinstance(operation, Copy):
            self._read(operation.source)
            self._set(operation.target)
            if operation.source.uid in self.state.stale:
                self.state.stale.add(operation.target.uid)
        else:
            self._unknown(operation)
        self._keep(one)

    def _part(self, loop: ParLoop, one: Placed) -> None:
        """Add a loop: in two phases, if ghosts are brought just before."""
        brought = self.found[-1][1].operation if self.found else None
        items = loop.items
        can_part = 0 < items.n_boundary < items.n
        if not (can_part and isinstance(brought, Bring) and brought.tasks() is None):
            self._keep(Placed(PartOfLoop(loop), one.after, one.line))
            return
        self.found.pop()
        core, boundary = (PartOfLoop(loop, p) for p in (_core.Phase.core, _core.Phase.boundary))
        for operation in brought.around(core):
            place = Placed(operation, one.after if operation is core else (), one.line)
            self.found.append((self._number if operation is core else -1, place))
        self._keep(Placed(boundary, one.after, one.line))

    def _chain(self, chain: ChainOperation, one: Placed) -> None:
        """Divide a chain where messages come between, into chains that are compiled apart."""
        together: list[Entry] = []
        found, self.found = self.found, []
        zeros = Zeros(chain.entries)

        def end(*, is_last: bool = False) -> None:
            if not together:
                return
            held = [] if is_last or not self._saves_stores else zeros.known
            part, begin = without_stores(together, held, chain.passes)
            found.append((self._number, Placed(part, one.after, one.line)))
            together[:] = begin

        for entry in chain.entries:
            if entry.loop is not None:
                self._loop(entry.loop)
            elif entry.zeroes:
                for carrier, _ in entry.uses:
                    self._set(carrier, is_zero=True)
            else:
                self._unknown(_Uses(entry.name, entry.uses))
            if self.found:
                end()
                found += self.found
                self.found = []
            together.append(entry)
            zeros.follow(entry)
        end(is_last=True)
        self.found = found

    def _loop(self, loop: ParLoop) -> None:
        self._bring(loop)
        reduced = {loop.args[i].data.uid: access for i, access in loop.effects.reduced}
        for part in loop.parts:
            carrier = part.data
            if not isinstance(carrier, Global):
                continue
            if carrier.uid in reduced:
                messages = loop.iterset.ground.halo.messages
                self._reduce(Reduced(carrier, reduced[carrier.uid], messages))
            else:
                self._read(carrier)
                self.state.zeros -= set() if part.access == READ else {carrier.uid}
        for i in loop.effects.written:
            written = {dat.exchanged.uid for dat in _split(loop.args[i])} & self._dats.keys()
            self._met |= written
            self.state.stale |= written

    def _bring(self, loop: ParLoop) -> None:
        """Bring the ghosts that a loop reads, if out of date: all in one message."""
        brought: dict[int, Dat] = {}
        for i, k, access in loop.effects.ghosts:
            dat = _split(loop.args[i])[k].exchanged
            if access not in READING:
                continue
            if dat.uid in self.state.stale:
                brought[dat.uid] = dat
            elif dat.uid not in self._met:
                self.needed.add(dat.uid)
        if brought:
            self._add(Bring([*brought.values()], loop.label))
            self.state.stale -= brought.keys()
            self._met |= brought.keys()

    def _reduce(self, new: Reduced) -> None:
        """Note that each process has a part from now on."""
        carrier, uid = new.carrier, new.carrier.uid
        held = self.state.parts.get(uid)
        if held is not None and held.access == new.access:
            if uid not in self._overwritten:
                self.continued.add(uid)
            return
        self._read(carrier)
        if new.access == INC and uid not in self.state.zeros and new.messages.comm.rank:
            self._add(Fill(carrier, 0, f"leave {carrier.name} to rank 0"))
        self.state.parts[uid] = new
        self.state.zeros.discard(uid)
        self._overwritten.add(uid)

    def _read(self, carrier: Any) -> None:
        """Add the parts of a Global up before it is read."""
        held = self.state.parts.pop(carrier.uid, None)
        if held is not None:
            if carrier.uid not in self._overwritten:
                self.continued.add(carrier.uid)
            self._overwritten.add(carrier.uid)
            self._add(Total(held))

    def _set(self, carrier: Any, *, is_zero: bool = False) -> None:
        """Note that all values are overwritten, by the same on all processes."""
        uid = carrier.uid
        self._met.add(uid)
        self._overwritten.add(uid)
        self.state.stale.discard(uid)
        self.state.parts.pop(uid, None)
        (self.state.zeros.add if is_zero else self.state.zeros.discard)(uid)

    def _unknown(self, operation: Operation) -> None:
        """Be ready for anything: a function, repeated nodes, a chain, or a loop that is watched."""
        names = {data.uid for data, _ in operation.uses()} if operation.is_known else None
        for held in [*self.state.parts.values()]:
            if names is None or held.carrier.uid in names:
                self._read(held.carrier)
        dats = [dat for dat in self._dats.values() if names is None or dat.uid in names]
        stale = frozenset(self.state.stale)
        if dats:
            note = HostCall("note ghosts", partial(_note, dats, stale), [], dats)
            self._add(note)
        uids = {dat.uid for dat in dats}
        self.needed |= uids - self._met - stale
        self._met |= uids
        self.state.stale |= uids
        self.state.zeros -= self.state.zeros if names is None else names

    def _add(self, operation: Operation) -> None:
        self.found.append((-1, Placed(operation, (), self._line)))

    def _keep(self, one: Placed) -> None:
        self.found.append((self._number, one))


def _note(dats: Sequence[Dat], stale: frozenset[int]) -> None:
    for dat in dats:
        dat.halo_valid = dat.uid not in stale


def _is_shared(operation: Operation) -> bool:
    """Say whether a loop, of this node itself, needs messages."""
    loops = [ready(operation.loop)] if isinstance(operation, LoopOperation) else []
    if isinstance(operation, ChainOperation):
        loops = operation.loops
    each = (loop.effects for loop in loops)
    return any(one.ghosts or one.reduced or one.again for one in each)


def _is_local(loop: ParLoop) -> bool:
    """Say whether a loop can run apart from its messages."""
    if ready(loop).bound_run.is_watched or loop.wants_checks() or loop.effects.exact:
        return False
    return is_apart(loop.effects, loop.args)


def _split(arg: Any) -> Sequence[Any]:
    """Return the Dats of an argument."""
    found: Sequence[Any] = arg.data.split
    return found


def _ghosted(operation: Operation) -> Iterator[Dat]:
    """Yield the Dats of a node with ghosts that `op2.distribute` made."""
    for data, _ in operation.uses():
        for dat in getattr(data, "split", ()):
            on = getattr(dat, "set", None)
            if hasattr(getattr(on, "halo", None), "messages"):
                yield dat.exchanged


def _flattened(nodes: Iterable[Placed], first: int = 0) -> Iterator[Placed]:
    """Yield nodes, with the nodes of inner graphs in their places, numbered anew."""
    ends: list[tuple[int, ...]] = []  # the last nodes of each given node
    starts = first
    for one in nodes:
        after = tuple(number for before in one.after for number in ends[before])
        if isinstance(one.operation, Inner):
            inner = [*_flattened(one.operation.body, starts)]
            for node in inner:
                yield Placed(node.operation, (*after, *node.after), node.line)
            ends.append((*after, *range(starts, starts + len(inner))))
            starts += len(inner)
            continue
        yield Placed(one.operation, after, one.line)
        ends.append((starts,))
        starts += 1


def _ordered(found: Sequence[tuple[int, Placed]]) -> list[Placed]:
    """Return nodes with their dependencies: those of before, by data, and messages in one order."""
    places: dict[int, int] = {}
    writers: dict[object, int] = {}
    readers: dict[object, list[int]] = {}
    last = -1
    made: list[Placed] = []
    for place, (number, one) in enumerate(found):
        after = {places[before] for before in one.after}
        uses = [*_uses_of(one.operation)]
        for key, access in uses:
            if key in writers:
                after.add(writers[key])
            if access != READ:
                after.update(readers.pop(key, ()))
        for key, access in uses:
            if access != READ:
                writers[key] = place
            else:
                readers.setdefault(key, []).append(place)
        if number < 0:
            if last >= 0:
                after.add(last)
            last = place
        else:
            places[number] = place
        made.append(Placed(one.operation, tuple(sorted(after)), one.line))
    return made


def _uses_of(operation: Operation) -> Iterator[tuple[object, Access]]:
    """Yield the uses of a node: of the owned values, and of the ghosts, of each object."""
    is_core = isinstance(operation, PartOfLoop) and operation.phase == _core.Phase.core
    for data, access in operation.uses():
        yield data.uid, READ if isinstance(operation, Bring) else access
        if not is_core:
            yield ("ghosts", data.uid), access
