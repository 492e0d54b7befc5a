# SPDX-License-Identifier: BSD-3-Clause
"""Compilation of recorded loops to the functions run in their place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pyop2cxx import _core
from pyop2cxx.base.waiting import waiting
from pyop2cxx.chain.candidate import Candidate
from pyop2cxx.chain.entries import action_of
from pyop2cxx.chain.group_loop import Elsewhere, GroupLoop, Task
from pyop2cxx.chain.own_loops import copying
from pyop2cxx.chain.periods import period_of
from pyop2cxx.chain.schedule import SCHEDULED, Plan, loops_of, name_of, planned
from pyop2cxx.chain.tasks import exchanges, machine, row, task_of
from pyop2cxx.chain.unapplied import lines_on
from pyop2cxx.exceptions import user_line
from pyop2cxx.loop.execute import checked_epoch, launch_of
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyop2cxx.chain.entries import Entry, Waiting
    from pyop2cxx.chain.rename import Spares
    from pyop2cxx.data.lent import Lent
    from pyop2cxx.loop import symbolic
    from pyop2cxx.loop.parloop import ParLoop
    from pyop2cxx.loop.parts import Part

Call = Callable[[], bool | None]
"""Runs a part of a chain; may return whether values were copied between host and device."""
PASSES = (*SCHEDULED, "geometry", "recompute")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepReport:
    """A function of a chain, for reports.

    Attributes:
        loops: Indices of the loops.
        inverted: Indices of the loops visited from their targets.
        renamed: Names of the Dats written into a second buffer.
        dropped: Names of the Dats not stored.
        zeroed: Names of the Dats known to hold zeros before, and not read.
        redirected: Names of the copied Dats, read from their sources instead.
        corners: Pairs of names of Maps: the Map of a loop visited from targets, and the targets'
            own Map supplying the entries.
        why_no_corners: Reasons for Maps without a pair.
        n_bytes: Bytes moved, at least.
        lanes: Elements computed side by side in vectors; 0: no vectors.
        why_lanes: Reason for the number of lanes; empty for a loop that runs alone and has a report
            of its own.
    """

    loops: tuple[int, ...]
    inverted: tuple[int, ...]
    renamed: tuple[str, ...]
    dropped: tuple[str, ...]
    zeroed: tuple[str, ...]
    redirected: tuple[str, ...]
    corners: tuple[tuple[str, str], ...]
    why_no_corners: tuple[str, ...]
    n_bytes: int
    lanes: int
    why_lanes: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Compiled:
    """A chain ready to run. Only second buffers are kept alive.

    Attributes:
        steps: Calls in order, each for a row of adjacent functions; or indices of actions in
            Python, with their data kept alive.
        functions: Functions for graphs, in order, and indices of actions; None for a loop under
            debug or check mode.
        order: Recorded indices of the loops and actions in the order chosen by passes, used by
            reports and decisions.
        names: Names of the loops, in the same order.
        codes: The texts of their kernels, by name.
        reports: Of the steps.
        decisions: Decisions of the passes.
        left_out: Optimisations beyond the passes, with the reasons why they are not applied.
        eager_bytes: Bytes moved by the loops in sequence.
        is_checked: Whether a loop runs in debug or check mode, so the loops must also run in
            sequence.
        n_loops: Number of the program's loops in the chain.
        eager_seconds: Modelled time of the loops in sequence.
        saved_seconds: Modelled time saved by the steps.
        block_seconds: Modelled cost of recording a block.
        record_seconds: Modelled cost of recording the loops of a block.
    """

    steps: tuple[Call | int, ...]
    functions: tuple[Task | int | None, ...]
    order: tuple[int, ...]
    names: tuple[str, ...]
    codes: dict[str, str]
    reports: tuple[StepReport, ...]
    decisions: tuple[_core.chain.Decision, ...]
    left_out: tuple[str, ...]
    eager_bytes: int
    is_checked: bool
    n_loops: int
    eager_seconds: float
    saved_seconds: float
    block_seconds: float
    record_seconds: float

    @cached_property
    def key(self) -> str:
        """Digest of the loops and of the functions made of them, without sizes; str."""
        functions = [(one.loops, one.lanes, one.inverted) for one in self.reports]
        about = (self.names, sorted(self.codes.items()), functions, self.order)
        return str(_core.digest(repr(about)))

    @cached_property
    def alone(self) -> tuple[Compiled]:
        """The chain alone, the same tuple each time."""
        return (self,)

    def run(self, queue: Sequence[Waiting]) -> None:
        """Run all steps, also if the user interrupts the program meanwhile: then they run first.

        Args:
            queue: The recorded queue, or an equal queue.
        """
        steps = iter(self.steps)
        try:
            self._run(steps, queue)
        except KeyboardInterrupt:
            self._run(steps, queue)
            raise

    @staticmethod
    def _run(steps: Iterator[Call | int], queue: Sequence[Waiting]) -> None:
        for step in steps:
            if isinstance(step, int):
                action_of(queue[step])()
            elif step():
                runtime.coherence.attribute(user_line())


def compiled(entries: Sequence[Entry], passes: frozenset[str], spares: Spares) -> Compiled:
    """Decide how loops are grouped into functions, and prepare all functions.

    Args:
        entries: The recorded entries, in order.
        passes: Subset of `PASSES` to apply.
        spares: Second buffers.
    """
    loops = [None if entry.recorded is None else Candidate(entry.made()) for entry in entries]
    for one in loops:
        if one is not None:
            checked_epoch(one.loop)
    of_program = tuple(loops)  # without the loops that will replace actions
    keys = [entry.key for entry in entries]
    period = period_of(keys)
    plan = planned(entries, loops, passes, [i // period for i in range(len(keys))])
    entries = [entries[i] for i in plan.order]
    rows, functions, reports = _Rows(), [], []
    with waiting("compiling a chain") as say:
        for n, step in enumerate(plan.schedule.steps, 1):
            say(f"compiling {n} of {len(plan.schedule.steps)}")
            function, is_seen, report = _prepared(
                step, entries, plan, spares, has_geometry="geometry" in passes
            )
            rows.add(function, entries, plan.order)
            is_task = not is_seen and not (isinstance(function, Task) and function.trades)
            function = plan.order[function] if isinstance(function, int) else function
            functions.append(function if is_task else None)
            reports.append(report)
    eager_bytes = sum(loop.useful_bytes for loop in loops_of(loops) if loop is not None)
    n_bytes, numbers = sum(report.n_bytes for report in reports), machine()
    eager_seconds = _modelled_seconds(len(entries), eager_bytes, eager_bytes)
    seconds = _modelled_seconds(len(reports), n_bytes, eager_bytes) + plan.more_seconds
    names = tuple(map(name_of, entries, plan.loops))
    shown = [
        None if of_program[i] is None else plan.candidates[at] for at, i in enumerate(plan.order)
    ]
    decisions = plan.schedule.decisions
    return Compiled(
        steps=rows.calls(),
        functions=tuple(functions),
        order=tuple(plan.order),
        names=names,
        codes={o.loop.kernel.name: o.loop.kernel.text for o in shown if o is not None},
        reports=tuple(reports),
        decisions=tuple(decisions),
        left_out=lines_on(keys, shown, reports, names, decisions, plan.tried),
        eager_bytes=eager_bytes,
        is_checked=any(
            entry.recorded is not None and entry.recorded.is_checked for entry in entries
        ),
        n_loops=sum(entry.recorded is not None for entry in entries),
        eager_seconds=eager_seconds,
        saved_seconds=eager_seconds - seconds,
        block_seconds=1e-9 * numbers["recorded_block_nanoseconds"],
        record_seconds=1e-9 * numbers["recorded_loop_nanoseconds"] * len(names),
    )


def _modelled_seconds(n_calls: int, n_bytes: int, eager_bytes: int) -> float:
    """Estimate the time of loops with kernels of no cost, in seconds.

    Args:
        n_calls: Number of functions.
        n_bytes: Bytes moved by the functions.
        eager_bytes: Bytes moved by the loops one after the other. Caches hold few of them.
    """
    numbers = machine()
    is_cached = eager_bytes <= numbers["cached_bytes"]
    rate = numbers["cache_rate" if is_cached else "memory_rate"]
    return 1e-9 * (n_calls * numbers["call_nanoseconds"] + n_bytes / rate)


class _Rows:
    """The calls of a chain, built step by step: adjacent tasks form a row."""

    def __init__(self) -> None:
        self._calls: list[Call | int] = []
        self._tasks: list[_core.GraphTask] = []
        self._lent: list[Lent] = []

    def add(self, function: Task | int, entries: Sequence[Entry], order: Sequence[int]) -> None:
        """Add a function, or the index of an action.

        Args:
            function: The next function.
            entries: The entries, in the order chosen by passes.
            order: Recorded index of each entry.
        """
        if isinstance(function, Task):
            self._tasks += [function.prepared, *exchanges(function.exchanged)]
            self._lent += function.lent
            if function.trades:
                self._end_row()
                self._calls += function.trades
            return
        found = task_of(entries[function])
        if found is None:
            self._end_row()
            self._calls.append(order[function])
            return
        self._tasks.append(found[0])
        self._lent.append(found[1])

    def calls(self) -> tuple[Call | int, ...]:
        """Return all."""
        self._end_row()
        return tuple(self._calls)

    def _end_row(self) -> None:
        if self._tasks:
            lent = self._lent if runtime.device is not None else ()
            self._calls.append(row(self._tasks, lent))
            self._tasks, self._lent = [], []


def _prepared(
    step: _core.chain.Step,
    entries: Sequence[Entry],
    plan: Plan,
    spares: Spares,
    *,
    has_geometry: bool,
) -> tuple[Task | int, bool, StepReport]:
    """Return the function of a step, whether debug or check mode watches, and the report."""
    loops, built = plan.loops, plan.built
    number = step.loops[0]
    first = loops[number]
    if first is None or (entries[number].recorded is None and len(step.loops) == 1):
        n_bytes = 0 if first is None else first.useful_bytes
        return number, False, _report(number, n_bytes)
    if len(step.loops) == 1 and not (step.zeroed or step.dropped):
        # a comparing chain has run the loop in check mode already
        is_checked = first.wants_checks()
        if is_checked:
            launch_of(first)
        elif first.epoch != runtime.epoch:
            first.prepare()
        is_seen = is_checked or first.bound_run.is_watched
        return Task(first.prepared, first.lent), is_seen, _report(number, first.useful_bytes)
    members, places = _members(step, loops, spares)
    group = GroupLoop(
        members,
        [places[step.loops[place]] for place in step.inverted],
        [(places[one.loop], one.arg) for one in step.renamed],
        [_first_use(data, step, places, built) for data in step.dropped],
        [_first_use(data, step, places, built) for data in step.zeroed],
        [
            Elsewhere(
                places[one.loop],
                one.arg,
                _part_of(loops[one.source_loop], one.source_arg).data,
                one.from_second,
            )
            for one in step.redirected
        ],
        spares,
        has_geometry=has_geometry,
    )
    function, choice = group.launched(), group.choice
    report = StepReport(
        loops=tuple(step.loops),
        inverted=tuple(step.loops[place] for place in step.inverted),
        renamed=group.renamed,
        dropped=group.dropped,
        zeroed=group.zeroed,
        redirected=group.redirected,
        corners=group.corners,
        why_no_corners=group.why_no_corners,
        n_bytes=group.useful_bytes,
        lanes=choice.options.lanes,
        why_lanes=choice.why_lanes,
    )
    return function, False, report


def _members(
    step: _core.chain.Step, loops: Sequence[ParLoop | None], spares: Spares
) -> tuple[list[ParLoop], dict[int, int]]:
    """Return the loops of a function, and the place of each by index.

    A copy to the second buffer precedes a loop that changes values there.
    """
    members: list[ParLoop] = []
    places: dict[int, int] = {}
    for i in step.loops:
        for one in step.renamed:
            if one.loop == i and one.changes:
                dat = _part_of(loops[i], one.arg).data
                members.append(copying(dat, spares.of(dat)))
        loop = loops[i]
        assert loop is not None, "an action runs alone"
        places[i] = len(members)
        members.append(loop)
    return members, places


def _part_of(loop: ParLoop | None, arg: int) -> Part:
    assert loop is not None, "what is copied is an argument of a loop"
    return loop.parts[arg]


def _first_use(
    data: int,
    step: _core.chain.Step,
    places: dict[int, int],
    built: Sequence[symbolic.Symbolic],
) -> tuple[int, int]:
    """Find an argument by the index of the data; return the places of loop and argument.

    Redirected arguments do not count.
    """
    elsewhere = {(one.loop, one.arg) for one in step.redirected}
    for i in step.loops:
        for k, alias in enumerate(built[i].aliases):
            if alias.data == data and (i, k) not in elsewhere:
                return places[i], k
    raise AssertionError(f"no argument has the data {data}")


def _report(loop: int, n_bytes: int) -> StepReport:
    return StepReport(
        loops=(loop,),
        inverted=(),
        renamed=(),
        dropped=(),
        zeroed=(),
        redirected=(),
        corners=(),
        why_no_corners=(),
        n_bytes=n_bytes,
        lanes=0,
        why_lanes="",
    )
