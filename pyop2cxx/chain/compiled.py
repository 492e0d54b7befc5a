# SPDX-License-Identifier: BSD-3-Clause
"""From recorded loops to the functions that are run in their place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.base.access import READ
from pyop2cxx.base.waiting import waiting
from pyop2cxx.chain.group_loop import Elsewhere, GroupLoop, Task
from pyop2cxx.chain.spares import can_trade
from pyop2cxx.data.ghosts import REDUCED
from pyop2cxx.loop import symbolic
from pyop2cxx.loop.execute import checked_epoch, launch_of
from pyop2cxx.loop.parts import Kind, Part
from pyop2cxx.pipeline import flow
from pyop2cxx.runtime import runtime
from pyop2cxx.sets.sets import Subset

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyop2cxx.chain.entries import Entry
    from pyop2cxx.chain.spares import Spares
    from pyop2cxx.data.carrier import DataCarrier
    from pyop2cxx.loop.parloop import ParLoop
    from pyop2cxx.pipeline.request import Request

PASSES = ("fuse", "invert", "rename", "drop", "copy", "zero")
_CALL_SECONDS = 1e-6
"""A loop that does nothing, on the host."""
_CACHE_BYTES = 1 << 23
_CACHE_BYTES_A_SECOND, _MEMORY_BYTES_A_SECOND = 1e11, 2e10


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
    n_bytes: int
    lanes: int
    why_lanes: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Compiled:
    """A chain that is ready to run. It keeps no data alive but second buffers.

    Attributes:
        steps: What is called, in this order; numbers of actions, which keep data alive.
        tasks: What graphs run instead; None for actions, and where something looks at a loop.
        names: Of the loops.
        reports: Of the steps.
        decisions: What was tried.
        eager_bytes: What the loops must move one after the other.
        is_checked: Whether one of the loops runs in debug or check mode, so that they have to run
            one after the other, too.
        eager_seconds: What the loops take one after the other on the host, modelled.
        saved_seconds: How much less that is for the steps.
    """

    steps: tuple[Callable[[], object] | int, ...]
    tasks: tuple[Task | None, ...]
    names: tuple[str, ...]
    reports: tuple[StepReport, ...]
    decisions: tuple[_core.chain.Decision, ...]
    eager_bytes: int
    is_checked: bool
    eager_seconds: float
    saved_seconds: float

    def run(self, entries: Sequence[Entry]) -> None:
        """Run all steps.

        Args:
            entries: What was recorded, or the same again.
        """
        for step in self.steps:
            call = entries[step].action if isinstance(step, int) else step
            assert call is not None
            call()


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
    chain, built = _numbered(entries, loops)
    # on the host a Global is set to zero, and added up, in no time
    total = "zero" in passes and runtime.device is not None
    schedule = _core.chain.schedule(
        chain=chain,
        passes=_core.chain.Passes(**{name: name in passes for name in PASSES}, total=total),
        pinned=_pinned(loops, built),
    )
    steps: list[Callable[[], object] | int] = []
    tasks = []
    reports = []
    with waiting("compiling a chain") as say:
        for n, step in enumerate(schedule.steps, 1):
            say(f"compiling {n} of {len(schedule.steps)}")
            call, task, report = _prepared(step, loops, built, spares)
            steps.append(call)
            tasks.append(task)
            reports.append(report)
    n_loops = sum(loop is not None for loop in loops)
    eager_bytes = sum(loop.useful_bytes for loop in loops if loop is not None)
    is_cached = eager_bytes <= _CACHE_BYTES
    eager_seconds = _modelled_seconds(n_loops, eager_bytes, is_cached=is_cached)
    n_functions = sum(loops[report.loops[0]] is not None for report in reports)
    n_bytes = sum(report.n_bytes for report in reports)
    seconds = _modelled_seconds(n_functions, n_bytes, is_cached=is_cached)
    return Compiled(
        steps=tuple(steps),
        tasks=tuple(tasks),
        names=tuple(entry.recorded.name if entry.recorded else entry.name for entry in entries),
        reports=tuple(reports),
        decisions=tuple(schedule.decisions),
        eager_bytes=eager_bytes,
        is_checked=any(
            entry.recorded is not None and entry.recorded.is_checked for entry in entries
        ),
        eager_seconds=eager_seconds,
        saved_seconds=eager_seconds - seconds,
    )


def _modelled_seconds(n_loops: int, n_bytes: int, *, is_cached: bool) -> float:
    """Estimate how long loops on the host take whose kernels cost nothing."""
    rate = _CACHE_BYTES_A_SECOND if is_cached else _MEMORY_BYTES_A_SECOND
    return n_loops * _CALL_SECONDS + n_bytes / rate


def _prepared(
    step: _core.chain.Step,
    loops: Sequence[ParLoop | None],
    built: Sequence[symbolic.Symbolic],
    spares: Spares,
) -> tuple[Callable[[], object] | int, Task | None, StepReport]:
    """Return what runs a step, what a graph runs instead, and what it is."""
    number = step.loops[0]
    first = loops[number]
    if first is None:
        return number, None, _report(number, 0)
    if len(step.loops) == 1 and not (step.zeroed or step.dropped):
        # who compares has run the loop in check mode already
        is_checked = first._wants_checks()
        run = launch_of(first) if is_checked else first._launched()
        is_seen = is_checked or first._run.is_watched or bool(first._effects.ghosts)
        task = None if is_seen else Task(first._prepared, first._lent)
        return run, task, _report(number, first.useful_bytes)
    members = [loop for loop in (loops[i] for i in step.loops) if loop is not None]
    places = {i: place for place, i in enumerate(step.loops)}
    group = GroupLoop(
        members,
        step.inverted,
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
    )
    (call, task), choice = group.launched(), group.choice
    report = StepReport(
        loops=tuple(step.loops),
        inverted=tuple(step.loops[place] for place in step.inverted),
        renamed=group.renamed,
        dropped=group.dropped,
        zeroed=group.zeroed,
        redirected=group.redirected,
        n_bytes=group.useful_bytes,
        lanes=choice.options.lanes,
        why_lanes=choice.why_lanes,
    )
    return call, task, report


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


def _numbered(
    entries: Sequence[Entry], loops: Sequence[ParLoop | None]
) -> tuple[list[_core.chain.Entry], list[symbolic.Symbolic]]:
    """Number all loops together, and say of each whether it may join others."""
    built = symbolic.build_together(
        [
            symbolic.Member(None, [_used(carrier) for carrier, _ in entry.uses], None)
            if loop is None
            else symbolic.Member(loop.kernel, loop._parts, loop._items)
            for entry, loop in zip(entries, loops, strict=True)
        ]
    )
    alone = ["" if loop is None else _why_alone(loop) for loop in loops]
    lanes = [
        0 if loop is None or why else _lanes(loop) for loop, why in zip(loops, alone, strict=True)
    ]
    most = max(lanes, default=0)
    found = []
    for i, (entry, loop, one) in enumerate(zip(entries, loops, built, strict=True)):
        if loop is None:
            writes = [is_written for _, is_written in entry.uses]
            uses = list(zip(one.aliases, writes, strict=True))
            found.append(_core.chain.action(uses, entry.zeroes))
        else:
            asks = most > 0 and lanes[i] == 0 and not alone[i]
            found.append(
                _core.chain.Entry(
                    loop=one.loop,
                    why_alone=alone[i],
                    why_no_invert=alone[i] or _why_no_invert(loop),
                    n_bytes=loop.useful_bytes,
                    why_no_join=alone[i] or _why_no_join(loop, one),
                    entry_bytes=loop._facts.widths(one)[1],
                    is_empty=loop._items.n == 0,
                    lanes=lanes[i],
                    why_no_lanes=_why_no_lanes(loop, most) if asks else "",
                    why_no_columns=_why_no_columns(loop, most) if most and not alone[i] else "",
                )
            )
    return found, built


def _pinned(loops: Sequence[ParLoop | None], built: Sequence[symbolic.Symbolic]) -> list[int]:
    """Return the Dats whose memory on the host others hold, so that it has to stay theirs."""
    if runtime.device is not None:
        return []
    return sorted(
        {
            alias.data
            for loop, one in zip(loops, built, strict=True)
            if loop is not None
            for part, alias in zip(loop._parts, one.aliases, strict=True)
            if part.kind is Kind.ROWS and not can_trade(part.data)
        }
    )


def _used(carrier: DataCarrier) -> Part:
    """Return what an action uses as an argument, to be numbered."""
    found: Any = carrier
    dim: int = found.cdim
    return Part(
        number=0,
        kind=Kind.TOTAL,
        data=carrier,
        access=READ,
        dim=dim,
        stride=carrier._stride,
        component=carrier._component,
        n_scalars=dim,
    )


def _why_alone(loop: ParLoop) -> str:
    """Say why a loop is no part of others' functions; empty: it may be."""
    if isinstance(loop.iterset, Subset) or loop._items.extruded:
        return "it visits a part of its Set, or the cells of columns"
    if loop.kernel.core.body is None:
        return f"its kernel is passed on as it is written: {loop.kernel.opaque_reason}"
    if loop.kernel.core.headers or loop.kernel.core.options or loop.kernel.core.ldargs:
        return "its kernel has headers or compiler options of its own"
    if len(loop._parts) != len(loop.args):
        return "it takes a MixedDat"
    if loop._strategy not in (None, "owner") or loop._lanes or loop._tuning:
        return "its strategy, its lanes or its tuning were asked for"
    sets = [loop.iterset, *(part.home for part in loop._parts if part.home is not None)]
    if any(one.size != one.total_size for one in sets):
        return "a Set of its has ghosts"
    return ""


def _lanes(loop: ParLoop) -> int:
    """Return how many elements of a loop alone are computed side by side; 0: one by one."""
    choice = flow.choose(_request(loop))
    return choice.options.lanes if choice.strategy != "owner" or choice.options.by_slot else 0


def _request(loop: ParLoop) -> Request:
    return flow.here(loop._current_request())


def _why_no_lanes(loop: ParLoop, lanes: int) -> str:
    """Say why as many elements of a loop cannot be computed side by side; empty: they can."""
    if loop._lanes == 0:
        return "lanes=0 was asked for"
    request = _request(loop)
    return flow.why_not_on_lanes(lanes, flow.choose(request).strategy, request)


def _why_no_columns(loop: ParLoop, lanes: int) -> str:
    """Say why as many of the targets that a loop adds to cannot be; empty: they can, or are not."""
    if loop._lanes == 0:
        return "lanes=0 was asked for"
    request = _request(loop)
    return flow.why_not("owner", request) or flow.why_not_on_lanes(lanes, "owner", request)


def _why_no_invert(loop: ParLoop) -> str:
    """Say why a loop is not visited from its targets: the rule for single loops decides.

    On processors what the sums need not move is less than what computing twice costs
    (docs/performance.md).
    """
    added = [part.map_ for part in loop._parts if part.access in REDUCED]
    if any(m is not None and loop._items.n * m.arity < m.toset.size for m in added):
        return "it adds to few of its targets"
    choice = flow.choose(_request(loop))
    if choice.strategy == "owner":
        return ""
    return f"alone it runs by strategy '{choice.strategy}': {choice.why}"


def _why_no_join(loop: ParLoop, built: symbolic.Symbolic) -> str:
    """Say why a loop is not visited from its targets where these are visited for another loop.

    Few elements, such as those at a boundary, are no reason then: without this loop the sums could
    stay in registers. But a kernel that is called for many targets of an element costs too much.
    """
    request, n_slots = _request(loop), built.loop.n_slots()
    if n_slots > dict(request.options.tuning.values())["owner_slots"]:
        return f"its kernel would be called {n_slots} times for each element"
    return flow.why_not("owner", request)


def _report(loop: int, n_bytes: int) -> StepReport:
    return StepReport(
        loops=(loop,),
        inverted=(),
        renamed=(),
        dropped=(),
        zeroed=(),
        redirected=(),
        n_bytes=n_bytes,
        lanes=0,
        why_lanes="",
    )
