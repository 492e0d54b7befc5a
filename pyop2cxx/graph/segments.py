# SPDX-License-Identifier: BSD-3-Clause
"""From nodes to what is called one after the other at a submit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.exceptions import UnsupportedError, user_line
from pyop2cxx.graph.chains import ChainOperation
from pyop2cxx.graph.operations import HostCall, Inner, LoopOperation, Placed, While
from pyop2cxx.loop.execute import check_frozen
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pyop2cxx.data.conditions import Condition
    from pyop2cxx.graph.operations import Operation
    from pyop2cxx.loop.parloop import ParLoop

_BATCH = 64
"""After so many passes an interrupt from the keyboard is looked for."""


class Program:
    """Nodes that are ready to run, in an order in which each is behind those that it waits for.

    Args:
        segments: What is called, with how often it is to run.
        loops: All loops, those of inner segments too.
        n_inner: Segments inside of these.
    """

    def __init__(
        self, segments: Sequence[Callable[[int], None]], loops: Sequence[ParLoop], n_inner: int
    ) -> None:
        self._segments = tuple(segments)
        self.loops = tuple(loops)
        self._frozen_checks = [(loop._effects, loop.args, loop._what) for loop in loops]
        self.n_segments = len(segments) + n_inner

    def check_frozen(self) -> None:
        """Raise if a Dat's frozen halo was promised another access."""
        for effects, args, what in self._frozen_checks:
            check_frozen(effects, args, what)

    @property
    def native(self) -> tuple[int, ...]:
        """Addresses of what the driver of a device replays, one for each piece it recorded."""
        return tuple(
            address for segment in self._segments for address in getattr(segment, "native", ())
        )

    @property
    def trials(self) -> tuple[_core.graph.ReplayTrial, ...]:
        """What was measured of each piece that a device could replay as one."""
        return tuple(
            trial for segment in self._segments for trial in getattr(segment, "trials", ())
        )

    def run(self, n: int) -> None:
        """Run everything, n times."""
        if len(self._segments) == 1:
            self._segments[0](n)
            return
        for _ in range(n):
            for segment in self._segments:
                segment(1)


def prepared(nodes: Iterable[Placed]) -> Program:
    """Compile and bind all loops of some nodes.

    Raises:
        CompilationError: The compiler rejects a kernel.
        StaticModeError: Under ``init(static=True)``.
    """
    maker = _Maker()
    maker.add(nodes)
    maker.end_sequence()
    return Program(maker.segments, list(maker.loops.values()), maker.n_inner)


class _Maker:
    def __init__(self) -> None:
        self.segments: list[Callable[[int], None]] = []
        self.loops: dict[int, ParLoop] = {}
        self.n_inner = 0
        self._steps: list[_core.graph.Step] = []
        self._in_steps: list[Operation] = []
        self._tasks: dict[int, Any] = {}  # of operations

    def add(self, nodes: Iterable[Placed]) -> None:
        places: dict[int, int] = {}  # of nodes, among the steps since the last call on the host
        for number, one in enumerate(nodes):
            operation = one.operation
            after = [places[before] for before in one.after if before in places]
            if self._is_step(operation):
                places[number] = len(self._steps)
                self._steps.append(self._step(operation, after))
                continue
            places.clear()
            self.end_sequence()
            if isinstance(operation, Inner):
                self.add(operation.body)
                self.end_sequence()
            elif isinstance(operation, LoopOperation):
                self._note([operation.loop])
                self.segments.append(_Watched(operation.loop))
            elif isinstance(operation, While):
                body = prepared(operation.body)
                self.n_inner += body.n_segments
                self._note(body.loops)
                self.segments.append(_Passes(operation.condition, body, operation.most))
            elif isinstance(operation, ChainOperation):
                self._note(operation.loops)
                self.segments.append(operation.prepared())
            elif isinstance(operation, HostCall):
                self.segments.append(_Calls(operation.call))
            else:
                raise UnsupportedError(f"graph: '{operation.name}' is no kind of node")

    def _note(self, loops: Iterable[ParLoop]) -> None:
        """Remember loops that others run, to be checked with all others before a submit."""
        self.loops |= {id(loop): loop for loop in loops}

    def end_sequence(self) -> None:
        if self._steps:
            self.segments.append(_Piece(self._steps, self._in_steps))
            self._steps, self._in_steps = [], []

    def _step(self, operation: Operation, after: Sequence[int]) -> _core.graph.Step:
        if isinstance(operation, Inner):
            inner = [self._step(one.operation, one.after) for one in operation.body]
            return _core.graph.Step(after, inner)
        if isinstance(operation, LoopOperation):
            self._note([operation.loop])
        self._in_steps.append(operation)
        return _core.graph.Step(after, self._tasks[id(operation)])

    def _is_step(self, operation: Operation) -> bool:
        """Say whether an operation runs without Python, and get its task."""
        if isinstance(operation, Inner):
            return all([self._is_step(one.operation) for one in operation.body])
        if id(operation) not in self._tasks:
            self._tasks[id(operation)] = operation.task()
        return self._tasks[id(operation)] is not None


class _Piece:
    """Operations that run without Python between them.

    Args:
        steps: Their tasks with their order.
        operations: The same, those within other graphs, too.
    """

    def __init__(self, steps: Sequence[_core.graph.Step], operations: Sequence[Operation]) -> None:
        self._graph = _core.graph.LoopGraph(steps)
        each = {id(operation): operation for operation in operations}.values()
        lent = {id(one): one for operation in each for one in operation.lent()}
        self._lent = tuple(lent.values())
        self._notes = [note for operation in each for note in operation.notes()]

    @property
    def native(self) -> tuple[int, ...]:
        """Address of the recording that the last run enqueued, if there is one."""
        address = self._graph.native
        return (address,) if address else ()

    @property
    def trials(self) -> tuple[_core.graph.ReplayTrial, ...]:
        """What was measured of replaying them as one, if anything was."""
        trial = self._graph.trial
        return (trial,) if trial.as_one else ()

    def __call__(self, n: int) -> None:
        has_copied = False
        for first in range(0, n, _BATCH):
            has_copied |= self._graph.submit(min(_BATCH, n - first))
        if has_copied:
            runtime.coherence.attribute(user_line())
        for arrays in self._lent:
            if arrays:
                arrays.recall()
        for note in self._notes:
            note()


class _Watched:
    """A loop that something looks at: it runs alone, by way of Python."""

    def __init__(self, loop: ParLoop) -> None:
        self._loop = loop

    def __call__(self, n: int) -> None:
        for _ in range(n):
            self._loop._run.once(self._loop.args)


class _Calls:
    """A function on the host."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call

    def __call__(self, n: int) -> None:
        for _ in range(n):
            self._call()


class _Passes:
    """Nodes that run again as long as a condition holds."""

    def __init__(self, condition: Condition, body: Program, most: int) -> None:
        self._condition = condition
        self._body = body
        self._most = most

    @property
    def native(self) -> tuple[int, ...]:
        """Addresses of what is replayed in each pass."""
        return self._body.native

    @property
    def trials(self) -> tuple[_core.graph.ReplayTrial, ...]:
        """What was measured of the pieces of a pass."""
        return self._body.trials

    def __call__(self, n: int) -> None:
        for _ in range(n):
            for _ in range(self._most):
                if not self._condition:
                    break
                self._body.run(1)
