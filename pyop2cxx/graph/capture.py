# SPDX-License-Identifier: BSD-3-Clause
"""``op2.record(step)``: a graph of a function's loops, ordered by data dependences."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.base.quoting import check_text
from pyop2cxx.exceptions import Op2Error, UsageError, user_line
from pyop2cxx.graph.chains import ChainOperation
from pyop2cxx.graph.graph import Graph
from pyop2cxx.graph.library_calls import Copy, Fill
from pyop2cxx.graph.looks import Looks
from pyop2cxx.graph.memory import numbered
from pyop2cxx.graph.operations import HostCall, LoopOperation, Operation, Placed, own_copy
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.recorder import Recorder
from pyop2cxx.runtime.tracebacks import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyop2cxx.chain.entries import Entry


class Capture(Recorder):
    """Takes loops instead of running them, while a function is recorded.

    Each call gets a separate place, and Globals are set now: values differ between submits.
    """

    takes_all = True

    def __init__(self, name: str) -> None:
        self.operations: list[Placed] = []
        self._name = name
        self._thread = threading.get_ident()
        self._looks = Looks(f"record: '{name}'")

    @property
    def waiting(self) -> list[str]:
        """Names of the recorded operations."""
        return [one.operation.name for one in self.operations]

    def takes(self, loop: Any) -> bool:
        """Record a loop."""
        if not self._is_own_thread():
            return False
        loop.follow_distribution()
        self._add(LoopOperation(own_copy(loop)))
        return True

    def takes_action(
        self,
        name: str,
        action: Callable[[], None],
        *uses: tuple[Any, bool],
        zeroes: bool = False,
        in_graphs: bool = True,
    ) -> bool:
        """Record an action of the library on values, for example setting them to zero."""
        if not in_graphs or not self._is_own_thread():
            return False
        written = [data for data, writes in uses if writes]
        if len(uses) == 1 and action == getattr(written[0], "zero", None):
            self._add(Fill(written[0], 0, name))
        else:
            reads = [data for data, writes in uses if not writes]
            self._add(HostCall(name, action, reads, written))
        return True

    def takes_copy(self, source: Any, target: Any, casting: str) -> bool:
        """Record a copy of the values present at each submit."""
        if not self._is_own_thread():
            return False
        self._add(Copy(source, target, casting))
        return True

    def settle(self, carrier: Any, *, write: bool) -> None:
        """Refuse an effect now that would be missing at each submit."""
        if not self._is_own_thread():
            return
        if write:
            raise UsageError(
                f"record: '{self._name}' changes {carrier.label} outside of loops, which would "
                "happen once and not at each submit; do it in a loop (after zero(), which is "
                "recorded, a kernel may add to a Global), or by then_fill() or then_host() in a "
                "graph of op2.graph()"
            )
        self._looks.note_read(carrier)

    def takes_block(self, entries: Sequence[Entry], passes: frozenset[str]) -> bool:
        """Record the loops of a chain, to be compiled together when the graph is."""
        lines = (one.recorded.line for one in entries if one.recorded)
        self._add(ChainOperation(entries, passes), next(lines, ""))
        return True

    def flush(self) -> None:
        """Refuse operations that need all loops to have run."""
        if self._is_own_thread():
            raise UsageError(
                f"record: '{self._name}' does something that all loops before it must have run "
                "for: it changes options, waits, runs a kernel of Python or a part of a loop, or "
                "submits a graph; take that out of the function"
            )

    def _is_own_thread(self) -> bool:
        return threading.get_ident() == self._thread

    def _add(self, operation: Operation, line: str = "") -> None:
        line = line or user_line()
        self._looks.note_operation(operation, line)
        self.operations.append(Placed(operation, (), line))


def record(step: Callable[[], object], *, name: str | None = None, to_save: bool = False) -> Graph:
    """Record the loops of a function, and return them as a graph.

    The function is called once, now; the loops do not run. Each loop waits for earlier loops with
    needed results: loops over other data, sums into the same values, and readers are unordered. All
    other effects of the function happen once.

    Args:
        step: A function without arguments, calling `par_loop` and ``ParLoop.compute``; ``zero``,
            and copies between Dats of equal dtype, are recorded too. The loops of a block
            ``with op2.chain():`` become a single node with the chain's functions.
        name: Name in messages and pictures; None means the function's name.
        to_save: Whether the graph is meant for `Graph.save`, to refuse unsavable nodes now.

    Raises:
        UnsupportedError: As for `Graph.save`, with `to_save`.
        UsageError: The function reads values written by the loops, before or after them, changes
            values outside of loops, or changes options.
        CompilationError: The compiler rejects a kernel.

    Example:
        >>> from pyop2cxx import op2
        >>> cells = op2.Set(2)
        >>> u, v = op2.Dat(cells, [1.0, 2.0]), op2.Dat(cells)
        >>> twice = op2.Kernel("void twice(double *v, const double *u) { *v = 2 * *u; }", "twice")
        >>> add = op2.Kernel("void add(double *u, const double *v) { *u += *v; }", "add")
        >>> def step():
        ...     op2.par_loop(twice, cells, v(op2.WRITE), u(op2.READ))
        ...     op2.par_loop(add, cells, u(op2.RW), v(op2.READ))
        >>> graph = op2.record(step)
        >>> graph.submit(2)
        >>> u.data_ro.tolist()
        [9.0, 18.0]
    """
    if not callable(step):
        raise UsageError(f"record: the first argument must be a function, got {step!r}")
    name = name or getattr(step, "__name__", None) or "recorded"
    check_text(name, "op2.record: the name")
    runtime.settle()
    capture = Capture(name)
    try:
        with runtime.recorded_by(capture):
            step()
    except Op2Error as error:
        shorten(error)
        raise error
    nodes = capture.operations
    edges = _core.graph.dependences(numbered(nodes)[0])
    placed = [
        Placed(one.operation, tuple(after), one.line)
        for one, after in zip(nodes, edges, strict=True)
    ]
    data = {d.uid: d for one in nodes for d, _ in one.operation.uses()}
    return Graph(name, placed, data, "error", to_save=to_save)
