# SPDX-License-Identifier: BSD-3-Clause
"""Operations of nodes: loops, calls on the host, and repetitions of other nodes."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pyop2cxx.base.access import READ, WRITE
from pyop2cxx.exceptions import UsageError
from pyop2cxx.loop.execute import ready

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pyop2cxx import _core
    from pyop2cxx.base.access import Access
    from pyop2cxx.data.carrier import DataCarrier
    from pyop2cxx.data.conditions import Condition
    from pyop2cxx.data.lent import Lent
    from pyop2cxx.loop.parloop import ParLoop

    Replaced = Mapping[int, Any]
    """What is used instead of an object, by the object's number."""


class Operation:
    """Operation of a node.

    Attributes:
        name: Name in messages and pictures.
        is_known: Whether `uses` lists all reads and writes.
    """

    name: str
    is_known: bool = True

    def uses(self) -> Iterator[tuple[Any, Access]]:
        """Data read or written, with the access."""
        raise NotImplementedError

    def bound(self, replaced: Replaced) -> Operation:
        """Return the operation with other data; the same object if no data are replaced.

        Raises:
            UsageError: The operation cannot be made with other data.
        """
        raise NotImplementedError

    def task(self) -> _core.GraphTask | None:
        """Return the task without Python, for the device of loops; None if Python is needed.

        Adjacent operations with tasks form a piece, possibly replayed by a GPU as a unit.
        """
        return None

    def tasks(self) -> Sequence[_core.GraphTask] | None:
        """Return the tasks of the operation, if there are several, in order."""
        task = self.task()
        return None if task is None else (task,)

    def notes(self) -> Iterator[Callable[[], None]]:
        """Callables for after a submit of the task."""
        return iter(())

    def lent(self) -> Iterator[Lent]:
        """Memory of the program's arrays taken over by a device's task."""
        return iter(())

    def _is_met(self, replaced: Replaced) -> bool:
        return any(data.uid in replaced for data, _ in self.uses())


class LoopOperation(Operation):
    """A parallel loop owned by the graph.

    Args:
        loop: The loop.
    """

    def __init__(self, loop: ParLoop) -> None:
        self.loop = loop
        self.name = loop.kernel.shown_name
        for part in loop.parts:
            if hasattr(part.data, "allocated"):
                part.data.allocated("graph")

    def uses(self) -> Iterator[tuple[Any, Access]]:
        """Uses by the arguments, and the kernel's Consts."""
        yield from uses_of(self.loop)

    def bound(self, replaced: Replaced) -> Operation:
        """Return the loop with other data."""
        return LoopOperation(with_data(self.loop, replaced)) if self._is_met(replaced) else self

    def task(self) -> _core.GraphTask | None:
        """Return the loop, compiled and bound; None if checks inspect the loop at run time."""
        loop = ready(self.loop)
        effects = loop.effects
        over_ranks = effects.ghosts or effects.reduced or effects.again or effects.exact
        is_seen = loop.bound_run.is_watched or loop.wants_checks() or over_ranks
        return None if is_seen else loop.prepared

    def notes(self) -> Iterator[Callable[[], None]]:
        """Mark ghosts as out of date, and Mats as assembled."""
        loop = self.loop
        yield from stale_ghosts(loop)
        if loop.effects.assembled:
            yield partial(loop.bound_run.note_assembly, loop.args)

    def lent(self) -> Iterator[Lent]:
        """Lent memory of the arguments and Consts."""
        yield from self.loop.lent


def stale_ghosts(loop: ParLoop) -> Iterator[Callable[[], None]]:
    """Yield notes for the Dats whose ghosts are out of date after a loop."""
    for i in loop.effects.written:
        fields: Iterable[Any] = loop.args[i].data.split
        for dat in fields:
            if dat.dataset.set.halo is not None:
                yield partial(setattr, dat, "halo_valid", False)


def own_copy(loop: ParLoop) -> ParLoop:
    """Return a loop independent of the program's changes to the given loop."""
    found = copy.copy(loop)
    found.epoch = -1
    return found


def uses_of(loop: ParLoop) -> Iterator[tuple[Any, Access]]:
    """Data read and written by a loop: arguments, and Consts named in the kernel."""
    for part in loop.parts:
        yield part.data, part.access
    for constant in loop.symbolic().constants:
        yield constant, READ


def with_data(loop: ParLoop, replaced: Replaced) -> ParLoop:
    """Return an independent loop, with some data replaced."""
    found = own_copy(loop)
    for i, arg in enumerate(loop.args):
        data: Any = arg.data
        if data.uid in replaced:
            found.replace_data(i, replaced[data.uid])
    return found


class HostCall(Operation):
    """A function called between loops, on the host.

    Args:
        name: Used in messages.
        call: The function.
        reads: Data read; with `writes` None if unknown.
        writes: Data written.
    """

    def __init__(
        self,
        name: str,
        call: Callable[[], object],
        reads: Sequence[DataCarrier] | None,
        writes: Sequence[DataCarrier] | None,
    ) -> None:
        self.name = name
        self.call = call
        self.is_known = reads is not None or writes is not None
        self._uses = [(data, READ) for data in reads or ()]
        self._uses += [(data, WRITE) for data in writes or ()]

    def uses(self) -> Iterator[tuple[Any, Access]]:
        """The uses given at construction."""
        yield from self._uses

    def bound(self, replaced: Replaced) -> Operation:
        """Return the same call, if no data of the call are replaced."""
        if self.is_known and not self._is_met(replaced):
            return self
        raise UsageError(
            f"graph: node '{self.name}' calls a function of the program, which cannot be bound "
            "to other data; write the function so that it asks for the Dat of this submit"
        )


@dataclass(frozen=True, slots=True)
class Placed:
    """An operation, placed in a graph.

    Attributes:
        operation: Operation of the node.
        after: Numbers of the nodes to wait for.
        line: Line of the program.
    """

    operation: Operation
    after: tuple[int, ...]
    line: str


def bound_nodes(nodes: Sequence[Placed], replaced: Replaced) -> list[Placed]:
    """Return nodes with other data; shared operations stay shared."""
    operations = {id(one.operation): one.operation for one in nodes}
    new = {key: operation.bound(replaced) for key, operation in operations.items()}
    return [Placed(new[id(one.operation)], one.after, one.line) for one in nodes]


class While(Operation):
    """Nodes repeated as long as a condition holds.

    Args:
        condition: Looked at before each pass.
        body: The nodes, each behind its dependencies.
        most: So many passes at most.
    """

    def __init__(self, condition: Condition, body: Sequence[Placed], most: int) -> None:
        self.name = f"while {condition}"
        self.condition = condition
        self.body = tuple(body)
        self.most = most
        self.is_known = all(one.operation.is_known for one in body)

    def uses(self) -> Iterator[tuple[Any, Access]]:
        """Uses of the condition and the body."""
        for data in self.condition.data:
            yield data, READ
        for one in self.body:
            yield from one.operation.uses()

    def bound(self, replaced: Replaced) -> Operation:
        """Return the same around bound nodes."""
        if not self._is_met(replaced):
            return self
        body = bound_nodes(self.body, replaced)
        return While(self.condition.bound(replaced), body, self.most)


class Inner(Operation):
    """All nodes of another graph, as a single node.

    Args:
        name: Name of the other graph.
        body: Nodes of the other graph.
        shown: Objects used, each with the access, if all others belong to the nodes alone; None:
            none do.
    """

    def __init__(
        self,
        name: str,
        body: Sequence[Placed],
        shown: Sequence[tuple[Any, Access]] | None = None,
    ) -> None:
        self.name = name
        self.body = tuple(body)
        self.shown = None if shown is None else tuple(shown)
        self.is_known = all(one.operation.is_known for one in body)

    def uses(self) -> Iterator[tuple[Any, Access]]:
        """Uses of the nodes."""
        if self.shown is not None:
            yield from self.shown
            return
        for one in self.body:
            yield from one.operation.uses()

    def bound(self, replaced: Replaced) -> Operation:
        """Return the same with bound nodes."""
        if not self._is_met(replaced):
            return self
        shown = self.shown
        if shown is not None:
            shown = tuple((replaced.get(data.uid, data), access) for data, access in shown)
        return Inner(self.name, bound_nodes(self.body, replaced), shown)
