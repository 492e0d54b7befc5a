# SPDX-License-Identifier: BSD-3-Clause
"""Why a loop shares no function with others, or is not visited from its targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyop2cxx.data.ghosts import REDUCED
from pyop2cxx.pipeline import flow
from pyop2cxx.sets.sets import Subset

if TYPE_CHECKING:
    from pyop2cxx.loop import symbolic
    from pyop2cxx.loop.parloop import ParLoop


def why_alone(loop: ParLoop) -> str:
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
    if loop._strategy is not None:
        return ""
    lanes = flow.choose(loop._current_request()).options.lanes
    return f"it runs on {lanes} lanes, and these take one kernel" if lanes > 1 else ""


def why_no_invert(loop: ParLoop) -> str:
    """Say why a loop is not visited from its targets: the rule for single loops decides."""
    added = [part.map_ for part in loop._parts if part.access in REDUCED]
    if any(m is not None and loop._items.n * m.arity < m.toset.size for m in added):
        return "it adds to few of its targets"
    choice = flow.choose(loop._current_request())
    if choice.strategy == "owner":
        return ""
    return f"alone it runs by strategy '{choice.strategy}': {choice.why}"


def why_no_join(loop: ParLoop, built: symbolic.Symbolic) -> str:
    """Say why a loop is not visited from its targets where these are visited for another loop.

    Few elements, such as those at a boundary, are no reason then: without this loop the sums could
    stay in registers. But a kernel that is called for many targets of an element costs too much.
    """
    request, n_slots = loop._current_request(), built.loop.n_slots()
    if n_slots > dict(request.options.tuning.values())["owner_slots"]:
        return f"its kernel would be called {n_slots} times for each element"
    return flow.why_not("owner", request)
