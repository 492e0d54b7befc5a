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
from pyop2cxx.data.ghosts import READING, REDUCED
from pyop2cxx.data.globals import Global
from pyop2cxx.graph.library_calls import Copy, Fill
from pyop2cxx.graph.operations import HostCall, Inner, LoopOperation, Operation, Placed
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

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
    """The part of a process of a loop: messages are other nodes."""

    def task(self) -> _core.GraphTask | None:
        """Return the loop, compiled and bound."""
        task: _core.GraphTask = _ready(self.loop).prepared
        return task

    def notes(self) -> Iterator[Callable[[], None]]:
        """Mark Mats as assembled."""
        if self.loop.effects.assembled:
            yield partial(self.loop.bound_run.note_assembly, self.loop.args)


@dataclass(slots=True)
class _State:
    """Facts that hold at a point of a graph.

    Attributes:
        stale: Dats with ghosts out of date, by uid; None instead of a set: all may be.
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
    while True:
        walk = _Walk(_State(set(stale), dict(parts)), dats)
        walk.over(flat)
        if walk.state.stale <= stale and walk.state.parts.keys() <= parts.keys():
            break
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

    Attributes:
        state: As given.
        found: The nodes of before with their numbers there, and messages with -1.
        needed: Uids of the Dats whose ghosts are read before anything writes or brings them.
        continued: Uids of the Globals with parts from before the beginning.
    """

    def __init__(self, state: _State, dats: dict[int, Dat]) -> None:
        self.state = state
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
            self._keep(Placed(PartOfLoop(operation.loop), one.after, one.line))
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
    if not isinstance(operation, LoopOperation):
        return False
    effects = _ready(operation.loop).effects
    return bool(effects.ghosts or effects.reduced or effects.again)


def _is_local(loop: ParLoop) -> bool:
    """Say whether a loop can run apart from its messages."""
    if _ready(loop).bound_run.is_watched or loop.wants_checks() or loop.effects.exact:
        return False
    ghosts = ((access, _split(loop.args[i])[k]) for i, k, access in loop.effects.ghosts)
    return all(
        access not in REDUCED and hasattr(dat.set.halo, "messages") for access, dat in ghosts
    )


def _ready(loop: ParLoop) -> ParLoop:
    """Return a loop, prepared: its effects are those of now."""
    if loop.epoch != runtime.epoch:
        loop.prepare()
    return loop


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
    writers: dict[int, int] = {}
    readers: dict[int, list[int]] = {}
    last = -1
    made: list[Placed] = []
    for place, (number, one) in enumerate(found):
        after = {places[before] for before in one.after}
        for data, access in one.operation.uses():
            if data.uid in writers:
                after.add(writers[data.uid])
            if access != READ:
                after.update(readers.pop(data.uid, ()))
        for data, access in one.operation.uses():
            if access != READ:
                writers[data.uid] = place
            else:
                readers.setdefault(data.uid, []).append(place)
        if number < 0:
            if last >= 0:
                after.add(last)
            last = place
        else:
            places[number] = place
        made.append(Placed(one.operation, tuple(sorted(after)), one.line))
    return made
