# SPDX-License-Identifier: BSD-3-Clause
"""From recorded loops to the functions that are run in their place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pyop2cxx.base.waiting import waiting
from pyop2cxx.chain.entries import action_of
from pyop2cxx.chain.group_loop import Elsewhere, GroupLoop, Task
from pyop2cxx.chain.left_out import lines_on
from pyop2cxx.chain.own_loops import copying
from pyop2cxx.chain.periods import period_of
from pyop2cxx.chain.planned import SCHEDULED, Plan, name_of, planned
from pyop2cxx.chain.tasks import exchanges, opened_device, row, task_of
from pyop2cxx.exceptions import user_line
from pyop2cxx.loop.execute import checked_epoch, launch_of
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyop2cxx import _core
    from pyop2cxx.chain.entries import Entry, Waiting
    from pyop2cxx.chain.spares import Spares
    from pyop2cxx.data.lent import Lent
    from pyop2cxx.loop import symbolic
    from pyop2cxx.loop.parloop import ParLoop
    from pyop2cxx.loop.parts import Part

Call = Callable[[], bool | None]
"""What runs a part of a chain, and may say that values were copied between host and device."""
PASSES = (*SCHEDULED, "geometry", "recompute")
_CALL_SECONDS, _LAUNCH_SECONDS = 1e-6, 4e-6
"""A loop that does nothing, on the host and on a GPU."""
_CACHE_BYTES = 1 << 23
_CACHE_BYTES_A_SECOND, _MEMORY_BYTES_A_SECOND, _DEVICE_BYTES_A_SECOND = 1e11, 2e10, 3e12


@dataclass(frozen=True, slots=True, kw_only=True)
class StepReport:
    """One function of a chain, for reports.

    Attributes:
        loops: Numbers of the loops that it is made of.
        inverted: The numbers of the loops that are visited from their targets.
        renamed: Names of the Dats that it writes into a second buffer.
        dropped: Names of the Dats that it need not store.
        zeroed: Names of the Dats that hold zeros before it, and need not be read.
        redirected: Names of the Dats that are read where they were copied from.
        corners: Names of Maps of loops that are seen from their targets, each with that of the
            targets' own Map that its entries are taken from.
        why_no_corners: Why those of others are not.
        n_bytes: What it must move.
        lanes: Elements computed side by side in vectors; 0: one after the other.
        why_lanes: Why so many, or why none; of a loop that runs alone its own report says it.
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
    """A chain that is ready to run. It keeps no data alive but second buffers.

    Attributes:
        steps: What is called, in this order, each for as many functions as stand behind each other;
            numbers of actions that take Python, and keep data alive.
        functions: What graphs run instead, in this order: the functions, and numbers of actions;
            None where something looks at a loop.
        order: The loops and actions by the numbers that they were recorded with, as passes have put
            them. Reports and decisions number them in this order.
        names: Of the loops, in this order.
        codes: The texts of their kernels, by name.
        reports: Of the steps.
        decisions: What was tried.
        left_out: What could be done beyond the passes, and why it is not.
        eager_bytes: What the loops must move one after the other.
        is_checked: Whether one of the loops runs in debug or check mode, so that they have to run
            one after the other, too.
        n_loops: How many loops of the program it is made of.
        eager_seconds: What the loops take one after the other, modelled.
        saved_seconds: How much less that is for the steps.
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

    @cached_property
    def alone(self) -> tuple[Compiled]:
        """Nothing but this one, the same object each time."""
        return (self,)

    def run(self, queue: Sequence[Waiting]) -> None:
        """Run all steps, also if the user interrupts the program meanwhile: then they run first.

        Args:
            queue: What was recorded, or the same again.
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
    """Find out which loops become one function, and prepare all functions.

    Args:
        entries: What was recorded, in its order.
        passes: Those of `PASSES` that are looked for.
        spares: Second buffers.
    """
    loops = [None if entry.recorded is None else entry.made() for entry in entries]
    for loop in loops:
        if loop is not None:
            checked_epoch(loop)
    of_program = tuple(loops)  # without those that will stand for actions
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
    eager_bytes = sum(loop.useful_bytes for loop in loops if loop is not None)
    is_cached = eager_bytes <= _CACHE_BYTES
    n_bytes = sum(report.n_bytes for report in reports)
    eager_seconds = _modelled_seconds(len(entries), eager_bytes, is_cached=is_cached)
    seconds = _modelled_seconds(len(reports), n_bytes, is_cached=is_cached) + plan.more_seconds
    names = tuple(map(name_of, entries, plan.loops))
    shown = [None if of_program[i] is None else plan.loops[at] for at, i in enumerate(plan.order)]
    decisions = plan.schedule.decisions
    return Compiled(
        steps=rows.calls(),
        functions=tuple(functions),
        order=tuple(plan.order),
        names=names,
        codes={loop.kernel.name: loop.kernel.text for loop in shown if loop is not None},
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
    )


def _modelled_seconds(n_calls: int, n_bytes: int, *, is_cached: bool) -> float:
    """Estimate how long loops take whose kernels cost nothing."""
    device = opened_device()
    if device is not None and not device.info.is_cpu:
        return n_calls * _LAUNCH_SECONDS + n_bytes / _DEVICE_BYTES_A_SECOND
    rate = _CACHE_BYTES_A_SECOND if is_cached else _MEMORY_BYTES_A_SECOND
    return n_calls * _CALL_SECONDS + n_bytes / rate


class _Rows:
    """What a chain calls, as it grows: tasks that stand behind each other are one row."""

    def __init__(self) -> None:
        self._calls: list[Call | int] = []
        self._tasks: list[_core.GraphTask] = []
        self._lent: list[Lent] = []

    def add(self, function: Task | int, entries: Sequence[Entry], order: Sequence[int]) -> None:
        """Add a function, or an action by its number.

        Args:
            function: What runs next.
            entries: What was recorded, as passes have put it.
            order: The number that each was recorded with.
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
    """Return what runs a step, whether something looks at the loop, and what it is."""
    loops, built = plan.loops, plan.built
    number = step.loops[0]
    first = loops[number]
    if first is None or (entries[number].recorded is None and len(step.loops) == 1):
        n_bytes = 0 if first is None else first.useful_bytes
        return number, False, _report(number, n_bytes)
    if len(step.loops) == 1 and not (step.zeroed or step.dropped):
        # who compares has run the loop in check mode already
        is_checked = first._wants_checks()
        _ = launch_of(first) if is_checked else first._launched()
        is_seen = is_checked or first._run.is_watched or bool(first._effects.ghosts)
        return Task(first._prepared, first._lent), is_seen, _report(number, first.useful_bytes)
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
    """Return the loops of a function, and the place of each by its number.

    In front of those that change values in a second buffer there is one that copies them there.
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
    return loop._parts[arg]


def _first_use(
    data: int,
    step: _core.chain.Step,
    places: dict[int, int],
    built: Sequence[symbolic.Symbolic],
) -> tuple[int, int]:
    """Find an argument by the number of its data: the place of its loop, and its own.

    What is read elsewhere does not count.
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
