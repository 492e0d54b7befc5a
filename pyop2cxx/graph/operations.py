# SPDX-License-Identifier: BSD-3-Clause
"""What the nodes of a graph do: loops, calls on the host, and loops around other nodes."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pyop2cxx.base.access import READ, WRITE
from pyop2cxx.exceptions import UsageError
from pyop2cxx.runtime import runtime

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
    """What one node does.

    Attributes:
        name: What messages and pictures call it.
        is_known: Whether `uses` is all that it reads and writes.
    """

    name: str
    is_known: bool = True

    def uses(self) -> Iterator[tuple[Any, Access]]:
        """What it reads and writes."""
        raise NotImplementedError

    def bound(self, replaced: Replaced) -> Operation:
        """Return the same with other data; itself if it uses none of what is replaced.

        Raises:
            UsageError: It cannot be made with other data.
        """
        raise NotImplementedError

    def task(self) -> _core.GraphTask | None:
        """Return what carries it out where loops run, without Python; None if that takes Python.

        What stands behind each other and has a task is one piece, which a GPU can replay as one.
        """
        return None

    def tasks(self) -> Sequence[_core.GraphTask] | None:
        """Return what carries it out, if that is several tasks, one after the other."""
        task = self.task()
        return None if task is None else (task,)

    def notes(self) -> Iterator[Callable[[], None]]:
        """What is called after a submit that ran the task."""
        return iter(())

    def lent(self) -> Iterator[Lent]:
        """What a device's task takes from arrays that the program holds."""
        return iter(())

    def _is_met(self, replaced: Replaced) -> bool:
        return any(data._uid in replaced for data, _ in self.uses())


class LoopOperation(Operation):
    """A parallel loop that belongs to the graph alone.

    Args:
        loop: The loop.
    """

    def __init__(self, loop: ParLoop) -> None:
        self.loop = loop
        self.name = loop.kernel.shown_name
        for part in loop._parts:
            if hasattr(part.data, "_allocated"):
                part.data._allocated("graph")

    def uses(self) -> Iterator[tuple[Any, Access]]:
        """What the arguments and the kernel's Consts say."""
        yield from uses_of(self.loop)

    def bound(self, replaced: Replaced) -> Operation:
        """Return the loop with other data."""
        return LoopOperation(with_data(self.loop, replaced)) if self._is_met(replaced) else self

    def task(self) -> _core.GraphTask | None:
        """Return the loop, compiled and bound; None if something looks at it when it runs."""
        loop = self.loop
        if loop._epoch != runtime.epoch:
            loop._prepare()
        is_seen = loop._run.is_watched or loop._wants_checks() or loop._effects.ghosts
        return None if is_seen else loop._prepared

    def notes(self) -> Iterator[Callable[[], None]]:
        """Mark ghosts that are out of date, and Mats that were assembled."""
        loop = self.loop
        for i in loop._effects.written:
            for dat in _fields(loop.args[i]):
                if dat.dataset.set.halo is not None:
                    yield partial(setattr, dat, "halo_valid", False)
        if loop._effects.assembled:
            yield partial(loop._run.note_assembly, loop.args)

    def lent(self) -> Iterator[Lent]:
        """Those of its arguments and Consts."""
        yield from self.loop._lent


def _fields(arg: Any) -> Iterable[Any]:
    """Return the Dats that an argument is made of."""
    found: Iterable[Any] = arg.data.split
    return found


def own_copy(loop: ParLoop) -> ParLoop:
    """Return a loop that is not touched by what the program does to the given one."""
    found = copy.copy(loop)
    found._epoch = -1
    return found


def uses_of(loop: ParLoop) -> Iterator[tuple[Any, Access]]:
    """What a loop reads and writes: its arguments, and the Consts that its kernel names."""
    for part in loop._parts:
        yield part.data, part.access
    for constant in loop._symbolic().constants:
        yield constant, READ


def with_data(loop: ParLoop, replaced: Replaced) -> ParLoop:
    """Return a loop of its own, with other data in the places of some."""
    found = own_copy(loop)
    for i, arg in enumerate(loop.args):
        data: Any = arg.data
        if data._uid in replaced:
            found.replace_data(i, replaced[data._uid])
    return found


class HostCall(Operation):
    """A function that is called between loops, on the host.

    Args:
        name: Used in messages.
        call: The function.
        reads: What it reads; with `writes` None if nobody knows.
        writes: What it writes.
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
        """What was said when the node was made."""
        yield from self._uses

    def bound(self, replaced: Replaced) -> Operation:
        """Return the call, if it uses none of the data."""
        if self.is_known and not self._is_met(replaced):
            return self
        raise UsageError(
            f"graph: node '{self.name}' calls a function of the program, which cannot be bound "
            "to other data; write the function so that it asks for the Dat of this submit"
        )


@dataclass(frozen=True, slots=True)
class Placed:
    """An operation and its place in a graph.

    Attributes:
        operation: What the node does.
        after: Numbers of the nodes that it waits for.
        line: Where the program wrote it.
    """

    operation: Operation
    after: tuple[int, ...]
    line: str


def bound_nodes(nodes: Sequence[Placed], replaced: Replaced) -> list[Placed]:
    """Return nodes with other data; those that share an operation share the new one, too."""
    operations = {id(one.operation): one.operation for one in nodes}
    new = {key: operation.bound(replaced) for key, operation in operations.items()}
    return [Placed(new[id(one.operation)], one.after, one.line) for one in nodes]


class While(Operation):
    """Nodes that are run again as long as a condition holds.

    Args:
        condition: Looked at before each pass.
        body: The nodes, each behind those that it waits for.
        most: So many passes at most.
    """

    def __init__(self, condition: Condition, body: Sequence[Placed], most: int) -> None:
        self.name = f"while {condition}"
        self.condition = condition
        self.body = tuple(body)
        self.most = most
        self.is_known = all(one.operation.is_known for one in body)

    def uses(self) -> Iterator[tuple[Any, Access]]:
        """What the condition and the body use."""
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
    """All nodes of another graph, as one node.

    Args:
        name: Of that graph.
        body: Its nodes.
    """

    def __init__(self, name: str, body: Sequence[Placed]) -> None:
        self.name = name
        self.body = tuple(body)
        self.is_known = all(one.operation.is_known for one in body)

    def uses(self) -> Iterator[tuple[Any, Access]]:
        """What its nodes use."""
        for one in self.body:
            yield from one.operation.uses()

    def bound(self, replaced: Replaced) -> Operation:
        """Return the same with bound nodes."""
        if not self._is_met(replaced):
            return self
        return Inner(self.name, bound_nodes(self.body, replaced))
