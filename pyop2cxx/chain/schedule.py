# SPDX-License-Identifier: BSD-3-Clause
"""The plan of a chain: the grouping of loops into functions, and their order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.base.access import READ
from pyop2cxx.chain.candidate import Candidate, Visited
from pyop2cxx.chain.own_loops import zeroing
from pyop2cxx.chain.recompute import gained_seconds, lines_on, seconds_of, ways
from pyop2cxx.chain.rename import can_trade
from pyop2cxx.loop import symbolic
from pyop2cxx.loop.parts import Kind, Part
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyop2cxx.chain.entries import Entry
    from pyop2cxx.chain.recompute import Later
    from pyop2cxx.data.carrier import DataCarrier
    from pyop2cxx.loop.parloop import ParLoop

SCHEDULED = ("fuse", "invert", "rename", "drop", "copy", "zero", "rotate")
"""Passes over all loops together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The grouping of loops into functions.

    Attributes:
        order: Recorded indices of the entries, in the order chosen by passes.
        candidates: Loops of the entries in the same order; None for actions.
        built: The loops, numbered together.
        schedule: The functions.
        of_program: The loops in recorded order.
        n_stored: How many functions there are if nothing is computed again.
        gained_seconds: Modelled gain of recomputing values.
        more_seconds: Modelled cost of recomputing values.
        tried: Lines on recomputable values, by index of the loop.
    """

    order: list[int]
    candidates: list[Candidate | None]
    built: list[symbolic.Symbolic]
    schedule: _core.chain.Schedule
    of_program: Sequence[Candidate | None]
    n_stored: int
    gained_seconds: float = 0.0
    more_seconds: float = 0.0
    tried: dict[int, str]

    @property
    def loops(self) -> list[ParLoop | None]:
        """The loops alone."""
        return loops_of(self.candidates)


def loops_of(candidates: Iterable[Candidate | None]) -> list[ParLoop | None]:
    """Return the loops of candidates; None stays."""
    return [None if one is None else one.loop for one in candidates]


def planned(
    entries: Sequence[Entry],
    candidates: list[Candidate | None],
    passes: frozenset[str],
    repetitions: Sequence[int],
) -> Plan:
    """Group the loops; loops in place of actions are put into the list."""
    schedule, built = _scheduled(entries, candidates, passes, repetitions)
    if "fuse" in passes and _put_zeros_into_loops(entries, candidates, schedule):
        schedule, built = _scheduled(entries, candidates, passes, repetitions)
    plan = Plan(
        order=list(range(len(entries))),
        candidates=candidates,
        built=built,
        schedule=schedule,
        of_program=tuple(candidates),
        n_stored=len(schedule.steps),
        tried={},
    )
    if "recompute" in passes:
        for again in ways(entries, candidates):
            plan = replace(plan, tried=again.too_dear | plan.tried)
            if again.makers:
                plan = _better(plan, again, entries, passes, repetitions)
    return plan


def _better(
    plan: Plan,
    again: Later,
    entries: Sequence[Entry],
    passes: frozenset[str],
    repetitions: Sequence[int],
) -> Plan:
    """Return the plan of a chain with recomputed values, if the gain is larger."""
    order = again.order
    schedule, built = _scheduled(
        [entries[i] for i in order], again.candidates, passes, [repetitions[i] for i in order]
    )
    n_fewer = plan.n_stored - len(schedule.steps)
    inverted = {step.loops[place] for step in schedule.steps for place in step.inverted}
    seconds = seconds_of(again, inverted)
    gained = gained_seconds(n_fewer, seconds)
    is_chosen = gained > plan.gained_seconds
    lines = lines_on(again, plan.of_program, n_fewer, seconds, is_chosen=is_chosen)
    if not is_chosen:
        return replace(plan, tried=lines | plan.tried)
    return replace(
        plan,
        order=order,
        candidates=again.candidates,
        built=built,
        schedule=schedule,
        gained_seconds=gained,
        more_seconds=seconds,
        tried=plan.tried | lines,
    )


def name_of(entry: Entry, loop: ParLoop | None) -> str:
    """Return the name of an entry in reports.

    Args:
        entry: The entry.
        loop: The loop; None for an action.
    """
    if entry.recorded is None:
        return entry.name
    again = None if loop is None else loop.kernel.also_computes
    return entry.recorded.name if again is None else f"{entry.recorded.name} with {again}"


def _scheduled(
    entries: Sequence[Entry],
    candidates: Sequence[Candidate | None],
    passes: frozenset[str],
    repetitions: Sequence[int],
) -> tuple[_core.chain.Schedule, list[symbolic.Symbolic]]:
    """Group the loops, and return them with their numbers."""
    chain, built = _numbered(entries, candidates, repetitions)
    # on the host a Global is set to zero, and added up, in no time
    total = "zero" in passes and runtime.device is not None
    schedule = _core.chain.schedule(
        chain=chain,
        passes=_core.chain.Passes(**{name: name in passes for name in SCHEDULED}, total=total),
        pinned=_pinned(loops_of(candidates), built),
    )
    return schedule, built


def _put_zeros_into_loops(
    entries: Sequence[Entry], candidates: list[Candidate | None], schedule: _core.chain.Schedule
) -> bool:
    """Replace actions by loops that set Dats to zero, where needed; return whether there are any.

    A function over the same Set can then store the zeros. Unneeded actions stay, and are left out.
    """
    found = False
    for step in schedule.steps:
        number = step.loops[0]
        zeros = zeroing(entries[number]) if candidates[number] is None else None
        if zeros is not None:
            candidates[number], found = Candidate(zeros), True
    return found


def _numbered(
    entries: Sequence[Entry],
    candidates: Sequence[Candidate | None],
    repetitions: Sequence[int],
) -> tuple[list[_core.chain.Entry], list[symbolic.Symbolic]]:
    """Number all loops together, and decide whether each may join others."""
    built = symbolic.build_together(
        [
            symbolic.Member(None, [_used(carrier) for carrier, _ in entry.uses], None)
            if loop is None
            else symbolic.Member(loop.kernel, loop.parts, loop.items)
            for entry, loop in zip(entries, loops_of(candidates), strict=True)
        ]
    )
    most = max((one.lanes for one in candidates if one is not None), default=0)
    found, visited = [], Visited()
    for i, (entry, made, one) in enumerate(zip(entries, candidates, built, strict=True)):
        if made is None:
            writes = [is_written for _, is_written in entry.uses]
            uses = list(zip(one.aliases, writes, strict=True))
            found.append(_core.chain.action(uses, entry.zeroes, repetitions[i]))
        else:
            loop, joins, n_slots = made.loop, not made.why_alone, one.loop.n_slots()
            asks = most > 0 and made.lanes == 0 and joins
            found.append(
                _core.chain.Entry(
                    loop=one.loop,
                    why_alone=made.why_alone,
                    why_no_invert=made.why_no_invert,
                    n_bytes=loop.useful_bytes,
                    why_no_join=made.why_no_join(n_slots),
                    entry_bytes=loop.facts.sizes(n_slots).entry_bytes,
                    is_empty=loop.items.n == 0,
                    part=visited.number_of(loop),
                    lanes=made.lanes,
                    why_no_lanes=made.why_no_lanes(most) if asks else "",
                    why_no_columns=made.why_no_columns(most) if most and joins else "",
                    zeroes=entry.zeroes,
                    repetition=repetitions[i],
                )
            )
    return found, built


def _pinned(loops: Sequence[ParLoop | None], built: Sequence[symbolic.Symbolic]) -> list[int]:
    """Return the Dats with host memory held elsewhere, never to be exchanged."""
    if runtime.device is not None:
        return []
    return sorted(
        {
            alias.data
            for loop, one in zip(loops, built, strict=True)
            if loop is not None
            for part, alias in zip(loop.parts, one.aliases, strict=True)
            if part.kind is Kind.ROWS and not can_trade(part.data)
        }
    )


def _used(carrier: DataCarrier) -> Part:
    """Return an object used by an action as an argument, to be numbered."""
    found: Any = carrier
    dim: int = found.cdim
    return Part(
        number=0,
        kind=Kind.TOTAL,
        data=carrier,
        access=READ,
        dim=dim,
        stride=carrier.stride,
        component=carrier.component,
        n_scalars=dim,
    )
