# SPDX-License-Identifier: BSD-3-Clause
"""Candidates: the loops of a chain, with the facts that passes ask for, each found once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.access import READ
from pyop2cxx.chain.entries import spans_of
from pyop2cxx.data.ghosts import REDUCED
from pyop2cxx.loop.facts import work_of
from pyop2cxx.loop.parts import Kind, uses_of
from pyop2cxx.pipeline import flow
from pyop2cxx.runtime import runtime
from pyop2cxx.sets.sets import Subset

if TYPE_CHECKING:
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.chain.entries import Span
    from pyop2cxx.loop.parloop import ParLoop
    from pyop2cxx.loop.parts import Part
    from pyop2cxx.pipeline.request import Choice, Request
    from pyop2cxx.sets.sets import Set

_PARTIAL = (
    "it visits a part of its Set, or the cells of columns; a loop over the whole Set can be: let "
    "its kernel test a flag, if the part is large"
)
_ASSEMBLES = (
    "it adds to a matrix, whose rows are not visited; assemble before or behind the chain, so that "
    "it does not part other loops"
)
_PAIR_THREADS = 4
"""From here on both sides of an edge are computed whatever slots its columns have (ADR 0113)."""
_NO_LANES = "lanes=0 was asked for; leave it out"


class Visited:
    """Index lists of visited elements, numbered: equal lists get equal numbers."""

    def __init__(self) -> None:
        self._found: list[ParLoop] = []

    def number_of(self, loop: ParLoop) -> int:
        """Return a number from 1; 0 for a loop without an index list.

        Args:
            loop: A loop over elements.
        """
        if not loop.items.tables:
            return 0
        for number, other in enumerate(self._found, 1):
            if _is_same(loop, other):
                return number
        self._found.append(loop)
        return len(self._found)


def _is_same(one: ParLoop, other: ParLoop) -> bool:
    if one.items.extruded or other.items.extruded:
        return one.items is other.items  # each Set keeps the lists of its regions
    if one.iterset is other.iterset:
        return True
    is_alike = one.items.whole is other.items.whole
    return is_alike and np.array_equal(_indices(one), _indices(other))


def _indices(loop: ParLoop) -> Array:
    assert isinstance(loop.iterset, Subset), "what looks elements up and has no columns is a part"
    return loop.iterset.indices


class Candidate:
    """A loop of a chain, with reasons to keep it alone or not to visit it from targets.

    Facts are found once, when a pass first asks; the record lives as long as the chain is compiled.
    A reason is a text, empty if there is none.

    Args:
        loop: The loop.
    """

    def __init__(self, loop: ParLoop) -> None:
        self.loop = loop

    @property
    def name(self) -> str:
        """Name in reports."""
        return self.loop.kernel.shown_name

    @cached_property
    def request(self) -> Request:
        """The request of the loop alone."""
        return flow.here(self.loop.current_request())

    @cached_property
    def choice(self) -> Choice:
        """Strategy and lanes of the loop alone."""
        return flow.choose(self.request)

    @cached_property
    def spans(self) -> list[Span]:
        """The used memory."""
        return spans_of(uses_of(self.loop.args))

    @cached_property
    def rows(self) -> list[Part]:
        """Arguments with a value for each entity."""
        return [part for part in self.loop.parts if part.kind is Kind.ROWS]

    @property
    def is_partial(self) -> bool:
        """Whether the loop visits a part of its Set, or the cells of columns."""
        return isinstance(self.loop.iterset, Subset) or self.loop.items.extruded

    @cached_property
    def made(self) -> Part:
        """The first written argument."""
        return next(part for part in self.loop.parts if part.access != READ)

    @cached_property
    def why_alone(self) -> str:
        """Reason why the loop cannot join other loops."""
        loop = self.loop
        if loop.options.pass_layer_arg:
            return "its kernel is handed the layer; leave out pass_layer_arg if it needs no layer"
        if loop.kernel.core.body is None:
            return (
                f"its kernel is passed on as it is written: {loop.kernel.opaque_reason}; write it "
                "without that, so that it can be parsed"
            )
        if loop.kernel.core.headers or loop.kernel.core.options or loop.kernel.core.ldargs:
            return (
                "its kernel has headers or compiler options of its own; put what it needs of them "
                "into its text"
            )
        if len(loop.parts) != len(loop.args):
            return "it takes a MixedDat; pass its parts as arguments of their own"
        asked = loop.options
        if asked.strategy not in (None, "owner") or asked.lanes or asked.tuning:
            return (
                "its strategy, its lanes or its tuning were asked for; leave out strategy=, lanes= "
                "and tuning="
            )
        sets = [loop.iterset, *(part.home for part in loop.parts if part.home is not None)]
        if any(has_foreign_ghosts(one) for one in sets):
            return "a Set of its has ghosts; call it outside of the chain, which is of one process"
        return ""

    @cached_property
    def lanes(self) -> int:
        """Number of lanes of the loop alone; 0: no vectors, or the loop cannot join others."""
        if self.why_alone:
            return 0
        options, is_owner = self.choice.options, self.choice.strategy == "owner"
        return options.lanes if not is_owner or options.by_slot else 0

    def why_no_lanes(self, lanes: int) -> str:
        """Say why as many elements cannot be computed side by side."""
        if self.loop.options.lanes == 0:
            return _NO_LANES
        return _without(flow.why_not_on_lanes(lanes, self.choice.strategy, self.request))

    def why_no_columns(self, lanes: int) -> str:
        """Say why as many targets have no lanes."""
        if self.loop.options.lanes == 0:
            return _NO_LANES
        why = self._why_not_owner or flow.why_not_on_lanes(lanes, "owner", self.request)
        return _without(why)

    @cached_property
    def _why_not_owner(self) -> str:
        return flow.why_not("owner", self.request)

    @cached_property
    def why_no_invert(self) -> str:
        """Reason why the loop is not visited from targets: the rule for single loops decides.

        On processors the saved traffic of the sums costs less than computing twice
        (docs/performance.md).
        """
        if why := self.why_alone or self._why_no_targets:
            return why
        loop = self.loop
        added = [part.map_ for part in loop.parts if part.access in REDUCED]
        if any(m is not None and loop.items.n * m.arity < m.toset.size for m in added):
            return (
                "it adds to few of its targets, and visiting all of them costs more; leave it as "
                "it is, or let a Set of its own hold those targets"
            )
        if self.choice.strategy == "owner":
            return ""
        why = f"alone it runs by strategy '{self.choice.strategy}': {self.choice.why}"
        if self.may_be_paired:
            threads = runtime.engine.n_threads if self.request.backend.facts.threads else 1
            most = self.request.options.tuning["most_mixed"]
            if threads >= _PAIR_THREADS or self._part_mixed <= most:
                return ""
            why = (
                f"to compute each element for both targets pays from {_PAIR_THREADS} threads on, "
                f"and here are {threads}; or if up to {most:.0%} of the columns of elements have "
                f"both slots, and {self._part_mixed:.0%} have"
            )
        return f"{why}; strategy='owner' at the loop asks for it all the same"

    @cached_property
    def may_be_paired(self) -> bool:
        """Whether lanes of a processor may visit the loop from its targets, by their neighbours.

        Each target then computes all of its elements, with its own values loaded once. A function
        of a chain gains by that if the sums need not be stored.
        """
        if runtime.device is not None or self.lanes < 2 or self._why_not_owner:
            return False
        facts, tuning = self.loop.facts, self.request.options.tuning
        is_covered = _core.is_evenly_covered(
            facts.sizes(self.loop.symbolic().loop.n_slots()),
            most_padding=1.0 / tuning["column_fill_light"],
            plans=runtime.engine.plans,
            n_threads=facts.n_threads,
        )
        return flow.may_visit_pairs(self.request, is_covered=is_covered)

    @cached_property
    def _part_mixed(self) -> float:
        """The share of columns of elements with both slots of the Map; 1: unknown."""
        whole = runtime.engine.vector_bytes // work_of([self.loop])[1]  # as groups are on lanes
        return self.loop.facts.part_mixed(self.loop.symbolic(), max(whole, self.lanes))

    @property
    def _why_no_targets(self) -> str:
        if self.is_partial:
            return _PARTIAL
        return _ASSEMBLES if any(part.is_of_matrix for part in self.loop.parts) else ""

    def why_no_join(self, n_slots: int) -> str:
        """Say why the loop is not visited from targets already visited for another loop.

        A small number of elements, for example a boundary, is no reason here: without the loop the
        sums could stay in registers. A kernel called for many targets of an element costs too much.

        Args:
            n_slots: Number of targets of an element.
        """
        if why := self.why_alone or self._why_no_targets:
            return why
        most = self.request.options.tuning["owner_slots"]
        if n_slots > most:
            return (
                f"its kernel would be called {n_slots} times for each element, and at most {most} "
                "pay; divide it into loops that each add through one Map"
            )
        return _without(self._why_not_owner)


def _without(why: str) -> str:
    """Return a reason of the rules for single loops, with a remedy."""
    if not why or "; " in why:
        return why
    return f"{why}; write the kernel without that, or leave the loop alone"


def has_foreign_ghosts(on: Set) -> bool:
    """Say whether a Set has ghosts that `op2.distribute` did not make."""
    return on.size != on.total_size and not hasattr(on.halo, "messages")
