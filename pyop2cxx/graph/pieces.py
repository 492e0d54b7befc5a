# SPDX-License-Identifier: BSD-3-Clause
"""Pieces of a graph called in sequence at a submit, with their measurements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyop2cxx import _core
from pyop2cxx.data.lent import recall
from pyop2cxx.exceptions import user_line
from pyop2cxx.loop.execute import check_frozen
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.tuned_file import of_trial, size_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyop2cxx.graph.messages import Plan
    from pyop2cxx.graph.operations import Operation
    from pyop2cxx.loop.parloop import ParLoop

BY_HOST, BY_DEVICE, UNDECIDED = "by the host", "by the device", "undecided"

_MOST_NAMED = 4
_BATCH = 64
"""After so many passes an interrupt from the keyboard is looked for."""


_MOST_LOOKS = 64
"""After so many submits nobody asks whether a measurement has ended."""
_KIND = "replay"
_WAYS = {
    "alone": _core.graph.Way.alone,
    "as_one": _core.graph.Way.as_one,
    "side_by_side": _core.graph.Way.side_by_side,
    "several": _core.graph.Way.several,
}


def _key(steps: Sequence[_core.graph.Step], operations: Sequence[Operation]) -> tuple[str, int]:
    """Return a digest of a piece without sizes, and the bits of all elements."""
    loops = [loop for operation in operations for loop in getattr(operation, "loops", ())]
    loops += [one.loop for one in operations if hasattr(one, "loop")]
    about = [
        len(steps),
        *((type(one).__name__, one.name) for one in operations),
        *(loop.symbolic().loop.signature() for loop in loops),
    ]
    return str(_core.digest(repr(about))), size_of(sum(loop.items.n for loop in loops))


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """Repetitions of a ``while_`` by host or device, with measurements.

    Attributes:
        condition: The condition of a pass.
        host_ms: Milliseconds of a pass in the host's loop; None if not measured.
        device_ms: Milliseconds of a pass repeated by the device; None if not measured.
        kept: The chosen way: ``"by the host"`` or ``"by the device"``; ``"undecided"`` during the
            measurement.
        why: Reason why the device cannot repeat the body; empty if possible.
    """

    condition: str
    host_ms: float | None
    device_ms: float | None
    kept: str
    why: str

    def __str__(self) -> str:
        times = {BY_HOST: self.host_ms, BY_DEVICE: self.device_ms}
        found = [f"{who} {ms:.4f} ms a pass" for who, ms in times.items() if ms is not None]
        why = f" ({self.why})" if self.why else ""
        return f"while {self.condition}: {', '.join([*found, f'kept: {self.kept}'])}{why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Regions:
    """Parallel regions of ``openmp`` shared by several loops of a piece.

    Attributes:
        regions: How many a submit opens.
        loops: Loops inside carried out by a team of threads.
        others: Loops, fills and copies inside carried out by a single thread.
        why: Why there are none; empty if there are some.
    """

    regions: int
    loops: int
    others: int
    why: str

    def __str__(self) -> str:
        if self.why:
            return f"each loop in a parallel region of its own: {self.why}"
        others = f", and {self.others} that one thread does" if self.others else ""
        return f"{self.loops} loops in {self.regions} parallel regions{others}"


class Piece:
    """Operations run without Python in between.

    Args:
        steps: Their tasks with their order.
        operations: The operations, including operations of inner graphs.

    Attributes:
        steps: As given.
        name: Description of the piece.
    """

    def __init__(self, steps: Sequence[_core.graph.Step], operations: Sequence[Operation]) -> None:
        self.steps = tuple(steps)
        runtime.engine.ready_teams(runtime.engine.backend(runtime.backend))
        self._graph = _core.graph.LoopGraph(steps)
        self.key, self.size = _key(steps, operations)
        each = {id(operation): operation for operation in operations}.values()
        lent = {id(one): one for operation in each for one in operation.lent()}
        self._lent = tuple(lent.values())
        names = list(dict.fromkeys(operation.name for operation in each))
        self.name = ", ".join(names[:_MOST_NAMED]) + (", ..." if len(names) > _MOST_NAMED else "")
        self._notes = [note for operation in each for note in operation.notes()]
        self._n_looks = 0
        self._noted: dict[str, float] = {}
        self._learn()

    def _learn(self) -> None:
        """Take measurements of an earlier process."""
        known = runtime.engine.tuned.trial(runtime.backend, _KIND, self.key, self.size)
        if known:
            self._graph.learn([(_WAYS[way], 1e3 * us) for way, us in known.items() if way in _WAYS])
            self._noted = known

    def _note(self) -> None:
        """Note the measurements once decided, also if more are decided later."""
        self._n_looks += 1
        trial = self._graph.trial
        if trial.kept == _core.graph.Way.undecided:
            return
        found = {way: trial.shortest(kind) for way, kind in _WAYS.items()}
        us = {way: 1e-3 * took for way, took in found.items() if took}
        if us and us.keys() != self._noted.keys():
            self._noted = us
            entry = of_trial(_KIND, self.key, self.size, self.name, us, us.get("alone", 0.0))
            runtime.engine.tuned.note(runtime.backend, entry)

    @property
    def native(self) -> tuple[int, ...]:
        """Address of the recording enqueued by the last run, if any; tuple of int."""
        address = self._graph.native
        return (address,) if address else ()

    @property
    def trials(self) -> tuple[_core.graph.ReplayTrial, ...]:
        """Measurement of running the piece as a unit, if any; tuple."""
        trial = self._graph.trial
        return (trial,) if trial.shortest(_core.graph.Way.as_one) else ()

    @property
    def not_replayed(self) -> tuple[str, ...]:
        """Reason why the last run was not replayed; empty if replayed, or measured slower."""
        why = self._graph.why_not
        return (f"{self.name}: {why}",) if why else ()

    @property
    def regions(self) -> tuple[Regions, ...]:
        """Shared parallel regions of the last run; empty without teams of threads."""
        report = self._graph.report
        if not (report.n_regions or report.why):
            return ()
        found = Regions(
            regions=report.n_regions,
            loops=report.n_shared,
            others=report.n_alone,
            why=report.why,
        )
        return (found,)

    def __call__(self, n: int) -> None:
        """Run them, n times."""
        has_copied = False
        for first in range(0, n, _BATCH):
            has_copied |= self._graph.submit(min(_BATCH, n - first))
            if self._n_looks < _MOST_LOOKS:
                self._note()
        self.finish(has_copied)

    def finish(self, has_copied: bool) -> None:
        """Do the work in Python after a run of the tasks.

        Args:
            has_copied: Whether values were copied between host and devices.
        """
        if has_copied:
            runtime.coherence.attribute(user_line())
        recall(self._lent)
        for note in self._notes:
            note()


class Program:
    """Nodes ready to run, each behind its dependencies.

    Args:
        segments: Callables taking the number of runs.
        loops: All loops, including loops of inner segments.
        n_inner: Number of inner segments.
        plan: Messages of other processes around all runs; None: there are none.
    """

    def __init__(
        self,
        segments: Sequence[Callable[[int], None]],
        loops: Sequence[ParLoop],
        n_inner: int,
        plan: Plan | None = None,
    ) -> None:
        self._plan = plan
        self._segments = tuple(segments)
        self.loops = tuple(loops)
        self._frozen_checks = [(loop.effects, loop.args, loop.label) for loop in loops]
        self.n_segments = len(segments) + n_inner

    def check_frozen(self) -> None:
        """Raise if a Dat's frozen halo was promised another access."""
        for effects, args, what in self._frozen_checks:
            check_frozen(effects, args, what)

    @property
    def native(self) -> tuple[int, ...]:
        """Addresses of pieces recorded by a device's driver; tuple of int."""
        return tuple(
            address for segment in self._segments for address in getattr(segment, "native", ())
        )

    @property
    def trials(self) -> tuple[_core.graph.ReplayTrial, ...]:
        """Measurements of pieces that could run as a unit; tuple."""
        return tuple(
            trial for segment in self._segments for trial in getattr(segment, "trials", ())
        )

    @property
    def not_replayed(self) -> tuple[str, ...]:
        """Why pieces were not replayed."""
        return tuple(
            why for segment in self._segments for why in getattr(segment, "not_replayed", ())
        )

    @property
    def regions(self) -> tuple[Regions, ...]:
        """Shared parallel regions of each piece with teams of threads; tuple."""
        return tuple(one for segment in self._segments for one in getattr(segment, "regions", ()))

    @property
    def repeats(self) -> tuple[Repeats, ...]:
        """Repetitions of each ``while_`` by host or device; tuple."""
        return tuple(one for segment in self._segments for one in getattr(segment, "repeats", ()))

    @property
    def only_piece(self) -> Piece | None:
        """The only piece; None for several pieces, or if a step or the plan needs Python."""
        if self._plan is not None:
            return None
        first = self._segments[0] if len(self._segments) == 1 else None
        return first if isinstance(first, Piece) else None

    def run(self, n: int) -> None:
        """Run everything, n times."""
        if self._plan is not None:
            self._plan.begin()
        self._run(n)
        if self._plan is not None:
            self._plan.end()

    def _run(self, n: int) -> None:
        if len(self._segments) == 1:
            self._segments[0](n)
            return
        for _ in range(n):
            for segment in self._segments:
                segment(1)
