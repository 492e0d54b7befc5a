# SPDX-License-Identifier: BSD-3-Clause
"""Segments of a graph: callables run in sequence at a submit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.exceptions import UnsupportedError
from pyop2cxx.graph.chains import ChainOperation
from pyop2cxx.graph.messages import planned
from pyop2cxx.graph.operations import HostCall, Inner, LoopOperation, Placed, While
from pyop2cxx.graph.passes import Passes
from pyop2cxx.graph.pieces import Piece, Program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pyop2cxx.graph.operations import Operation
    from pyop2cxx.loop.parloop import ParLoop


def prepared(nodes: Sequence[Placed]) -> Program:
    """Compile and bind all loops of some nodes.

    Raises:
        CompilationError: The compiler rejects a kernel.
        StaticModeError: Under ``init(static=True)``.
    """
    maker, plan = _Maker(), planned(nodes)
    maker.add(nodes if plan is None else plan.nodes)
    maker.end_sequence()
    return Program(maker.segments, list(maker.loops.values()), maker.n_inner, plan)


class _Maker:
    def __init__(self) -> None:
        self.segments: list[Callable[[int], None]] = []
        self.loops: dict[int, ParLoop] = {}
        self.n_inner = 0
        self._steps: list[_core.graph.Step] = []
        self._in_steps: list[Operation] = []
        self._tasks: dict[int, Any] = {}  # by operation

    def add(self, nodes: Iterable[Placed]) -> None:
        places: dict[int, int] = {}  # of nodes, in the steps since the last host call
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
                self.segments.append(Passes(operation.condition, body, operation.most))
            elif isinstance(operation, ChainOperation):
                self._note(operation.loops)
                self.segments.append(operation.prepared())
            elif isinstance(operation, HostCall):
                self.segments.append(_Calls(operation.call))
            else:
                raise UnsupportedError(f"graph: '{operation.name}' is no kind of node")

    def _note(self, loops: Iterable[ParLoop]) -> None:
        """Remember loops run by others, for checks before a submit."""
        self.loops |= {id(loop): loop for loop in loops}

    def end_sequence(self) -> None:
        if self._steps:
            self.segments.append(Piece(self._steps, self._in_steps))
            self._steps, self._in_steps = [], []

    def _step(self, operation: Operation, after: Sequence[int]) -> _core.graph.Step:
        if isinstance(operation, Inner):
            inner = [self._step(one.operation, one.after) for one in operation.body]
            return _core.graph.Step(after, inner)
        if isinstance(operation, LoopOperation):
            self._note([operation.loop])
        elif isinstance(operation, ChainOperation):
            self._note(operation.loops)
        self._in_steps.append(operation)
        first, *rest = self._tasks[id(operation)]
        if not rest:
            return _core.graph.Step(after, first)
        behind = [_core.graph.Step([number], task) for number, task in enumerate(rest)]
        return _core.graph.Step(after, [_core.graph.Step([], first), *behind])

    def _is_step(self, operation: Operation) -> bool:
        """Return whether an operation runs without Python, and get the task."""
        if isinstance(operation, Inner):
            return all([self._is_step(one.operation) for one in operation.body])
        if id(operation) not in self._tasks:
            self._tasks[id(operation)] = operation.tasks()
        return self._tasks[id(operation)] is not None


class _Watched:
    """A loop inspected by checks: runs alone, in Python."""

    def __init__(self, loop: ParLoop) -> None:
        self._loop = loop

    def __call__(self, n: int) -> None:
        for _ in range(n):
            self._loop.bound_run.once(self._loop.args)


class _Calls:
    """A function on the host."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call

    def __call__(self, n: int) -> None:
        for _ in range(n):
            self._call()
