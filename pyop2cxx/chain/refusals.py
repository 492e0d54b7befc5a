# SPDX-License-Identifier: BSD-3-Clause
"""Reasons why a loop shares no function with others, or is not visited from targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx.data.ghosts import REDUCED
from pyop2cxx.pipeline import flow
from pyop2cxx.sets.sets import Subset

if TYPE_CHECKING:
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.loop import symbolic
    from pyop2cxx.loop.parloop import ParLoop
    from pyop2cxx.pipeline.request import Request

_PARTIAL = (
    "it visits a part of its Set, or the cells of columns; a loop over the whole Set can be: let "
    "its kernel test a flag, if the part is large"
)
_ASSEMBLES = (
    "it adds to a matrix, whose rows are not visited; assemble before or behind the chain, so that "
    "it does not part other loops"
)
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


def _is_partial(loop: ParLoop) -> bool:
    return isinstance(loop.iterset, Subset) or loop.items.extruded


def why_alone(loop: ParLoop) -> str:
    """Return the reason why a loop cannot join other loops; empty: none."""
    if loop.options.pass_layer_arg:
        return "its kernel is handed the layer; leave out pass_layer_arg if it needs no layer"
    if loop.kernel.core.body is None:
        return (
            f"its kernel is passed on as it is written: {loop.kernel.opaque_reason}; write it "
            "without that, so that it can be parsed"
        )
    if loop.kernel.core.headers or loop.kernel.core.options or loop.kernel.core.ldargs:
        return (
            "its kernel has headers or compiler options of its own; put what it needs of them into "
            "its text"
        )
    if len(loop.parts) != len(loop.args):
        return "it takes a MixedDat; pass its parts as arguments of their own"
    asked = loop.options
    if asked.strategy not in (None, "owner") or asked.lanes or asked.tuning:
        return (
            "its strategy, its lanes or its tuning were asked for; leave out strategy=, lanes= and "
            "tuning="
        )
    sets = [loop.iterset, *(part.home for part in loop.parts if part.home is not None)]
    if any(one.size != one.total_size for one in sets):
        return "a Set of its has ghosts; call it outside of the chain, which is of one process"
    return ""


def lanes_of(loop: ParLoop) -> int:
    """Return the number of lanes of a loop alone; 0: no vectors."""
    choice = flow.choose(_request(loop))
    return choice.options.lanes if choice.strategy != "owner" or choice.options.by_slot else 0


def _request(loop: ParLoop) -> Request:
    return flow.here(loop.current_request())


def why_no_lanes(loop: ParLoop, lanes: int) -> str:
    """Say why as many elements of a loop cannot be computed side by side; empty: they can."""
    if loop.options.lanes == 0:
        return _NO_LANES
    request = _request(loop)
    return _without(flow.why_not_on_lanes(lanes, flow.choose(request).strategy, request))


def why_no_columns(loop: ParLoop, lanes: int) -> str:
    """Return why as many targets of a loop have no lanes; empty: they have, or there are none."""
    if loop.options.lanes == 0:
        return _NO_LANES
    request = _request(loop)
    why = flow.why_not("owner", request) or flow.why_not_on_lanes(lanes, "owner", request)
    return _without(why)


def _without(why: str) -> str:
    """Return a reason of the rules for single loops, with a remedy."""
    return f"{why}; write the kernel without that, or leave the loop alone" if why else ""


def why_no_invert(loop: ParLoop) -> str:
    """Return why a loop is not visited from targets: the rule for single loops decides.

    On processors the saved traffic of the sums costs less than computing twice
    (docs/performance.md).
    """
    if _is_partial(loop):
        return _PARTIAL
    if any(part.is_of_matrix for part in loop.parts):
        return _ASSEMBLES
    added = [part.map_ for part in loop.parts if part.access in REDUCED]
    if any(m is not None and loop.items.n * m.arity < m.toset.size for m in added):
        return (
            "it adds to few of its targets, and visiting all of them costs more; leave it as it "
            "is, or let a Set of its own hold those targets"
        )
    choice = flow.choose(_request(loop))
    if choice.strategy == "owner":
        return ""
    return (
        f"alone it runs by strategy '{choice.strategy}': {choice.why}; strategy='owner' at the "
        "loop asks for it all the same"
    )


def why_no_join(loop: ParLoop, built: symbolic.Symbolic) -> str:
    """Return why a loop is not visited from targets already visited for another loop.

    A small number of elements, for example a boundary, is no reason here: without the loop the sums
    could stay in registers. A kernel called for many targets of an element costs too much.
    """
    if _is_partial(loop):
        return _PARTIAL
    if any(part.is_of_matrix for part in loop.parts):
        return _ASSEMBLES
    request, n_slots = _request(loop), built.loop.n_slots()
    if n_slots > request.options.tuning["owner_slots"]:
        return (
            f"its kernel would be called {n_slots} times for each element, and at most "
            f"{request.options.tuning['owner_slots']} pay; divide it into loops that each add "
            "through one Map"
        )
    return _without(flow.why_not("owner", request))
