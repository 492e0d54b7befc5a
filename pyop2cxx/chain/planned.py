# SPDX-License-Identifier: BSD-3-Clause
"""The plan of a chain: the grouping of loops into functions, and their order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.base.access import READ
from pyop2cxx.chain.again import gained_seconds, lines_on, seconds_of, ways
from pyop2cxx.chain.own_loops import zeroing
from pyop2cxx.chain.refusals import (
    Visited,
    lanes_of,
    why_alone,
    why_no_columns,
    why_no_invert,
    why_no_join,
    why_no_lanes,
)
from pyop2cxx.chain.spares import can_trade
from pyop2cxx.loop import symbolic
from pyop2cxx.loop.parts import Kind, Part
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyop2cxx.chain.again import Later
    from pyop2cxx.chain.entries import Entry
    from pyop2cxx.data.carrier import DataCarrier
    from pyop2cxx.loop.parloop import ParLoop

SCHEDULED = ("fuse", "invert", "rename", "drop", "copy", "zero", "rotate")
"""Passes over all loops together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The grouping of loops into functions.

    Attributes:
        order: Recorded indices of the entries, in the order chosen by passes.
        loops: Loops of the entries in the same order; None for actions.
        built: The loops, numbered together.
        schedule: The functions.
        of_program: The loops in recorded order.
        n_stored: How many functions there are if nothing is computed again.
        gained_seconds: Modelled gain of recomputing values.
        more_seconds: Modelled cost of recomputing values.
        tried: Lines on recomputable values, by index of the loop.
    """

    order: list[int]
    loops: list[ParLoop | None]
    built: list[symbolic.Symbolic]
    schedule: _core.chain.Schedule
    of_program: Sequence[ParLoop | None]
    n_stored: int
    gained_seconds: float = 0.0
    more_seconds: float = 0.0
    tried: dict[int, str]


def planned(
    entries: Sequence[Entry],
    loops: list[ParLoop | None],
    passes: frozenset[str],
    repetitions: Sequence[int],
) -> Plan:
    """Group the loops; loops in place of actions are put into the list."""
    schedule, built = _scheduled(entries, loops, passes, repetitions)
    if "fuse" in passes and _put_zeros_into_loops(entries, loops, schedule):
        schedule, built = _scheduled(entries, loops, passes, repetitions)
    plan = Plan(
        order=list(range(len(entries))),
        loops=loops,
        built=built,
        schedule=schedule,
        of_program=tuple(loops),
        n_stored=len(schedule.steps),
        tried={},
    )
    if "recompute" in passes:
        for again in ways(entries, loops):
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
        [entries[i] for i in order], again.loops, passes, [repetitions[i] for i in order]
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
        loops=again.loops,
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
    loops: Sequence[ParLoop | None],
    passes: frozenset[str],
    repetitions: Sequence[int],
) -> tuple[_core.chain.Schedule, list[symbolic.Symbolic]]:
    """Group the loops, and return them with their numbers."""
    chain, built = _numbered(entries, loops, repetitions)
    # on the host a Global is set to zero, and added up, in no time
    total = "zero" in passes and runtime.device is not None
    schedule = _core.chain.schedule(
        chain=chain,
        passes=_core.chain.Passes(**{name: name in passes for name in SCHEDULED}, total=total),
        pinned=_pinned(loops, built),
    )
    return schedule, built


def _put_zeros_into_loops(
    entries: Sequence[Entry], loops: list[ParLoop | None], schedule: _core.chain.Schedule
) -> bool:
    """Replace actions by loops that set Dats to zero, where needed; return whether there are any.

    A function over the same Set can then store the zeros. Unneeded actions stay, and are left out.
    """
    found = False
    for step in schedule.steps:
        number = step.loops[0]
        if loops[number] is None:
            loops[number] = zeroing(entries[number])
            found |= loops[number] is not None
    return found


def _numbered(
    entries: Sequence[Entry], loops: Sequence[ParLoop | None], repetitions: Sequence[int]
) -> tuple[list[_core.chain.Entry], list[symbolic.Symbolic]]:
    """Number all loops together, and decide whether each may join others."""
    built = symbolic.build_together(
        [
            symbolic.Member(None, [_used(carrier) for carrier, _ in entry.uses], None)
            if loop is None
            else symbolic.Member(loop.kernel, loop.parts, loop.items)
            for entry, loop in zip(entries, loops, strict=True)
        ]
    )
    alone = ["" if loop is None else why_alone(loop) for loop in loops]
    lanes = [
        0 if loop is None or why else lanes_of(loop) for loop, why in zip(loops, alone, strict=True)
    ]
    most = max(lanes, default=0)
    found, visited = [], Visited()
    for i, (entry, loop, one) in enumerate(zip(entries, loops, built, strict=True)):
        if loop is None:
            writes = [is_written for _, is_written in entry.uses]
            uses = list(zip(one.aliases, writes, strict=True))
            found.append(_core.chain.action(uses, entry.zeroes, repetitions[i]))
        else:
            asks = most > 0 and lanes[i] == 0 and not alone[i]
            found.append(
                _core.chain.Entry(
                    loop=one.loop,
                    why_alone=alone[i],
                    why_no_invert=alone[i] or why_no_invert(loop),
                    n_bytes=loop.useful_bytes,
                    why_no_join=alone[i] or why_no_join(loop, one),
                    entry_bytes=loop.facts.sizes(one.loop.n_slots()).entry_bytes,
                    is_empty=loop.items.n == 0,
                    part=visited.number_of(loop),
                    lanes=lanes[i],
                    why_no_lanes=why_no_lanes(loop, most) if asks else "",
                    why_no_columns=why_no_columns(loop, most) if most and not alone[i] else "",
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
