# SPDX-License-Identifier: BSD-3-Clause
"""Code usable for a loop although made for another: fewer facts about Maps, or wider arrays."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyop2cxx.pipeline.request import Request

_WIDTHS = (1, 2, 4)  # bytes of a place within a matrix's row


def weaker(request: Request) -> Iterator[Request]:
    """Yield requests for usable code, closest first.

    Args:
        request: The request for the loop's own code.
    """
    own = request.options.widths.position_bytes
    widths = [width for width in _WIDTHS if width >= own] if request.loop.has_matrices else [own]
    known = request.map_facts
    facts = dict.fromkeys(
        _facts(known, injective, negative)
        for negative, injective in product((False, True), (True, False))
    )
    fills = (request.column_fill, _never_full)
    shapes = (True, False) if _on_grid(request) else (True,)
    corners = dict.fromkeys((request.elsewhere, None))
    sums = (True, False) if request.options.widths.summed else (False,)
    gathers = (True, False) if request.options.widths.gathered else (False,)
    for shape in product(facts, widths, fills, shapes, corners, gathers, sums):
        own_facts, width, fill, is_own, elsewhere, is_gathered, is_summed = shape
        first = known, own, request.column_fill, True, request.elsewhere, gathers[0], sums[0]
        if shape != first:
            options = request.options.placed(width)
            if not is_gathered:
                options = options.ungathered()
            if not is_summed:
                options = options.summing(False)
            yield replace(
                request,
                map_facts=own_facts,
                options=options if is_own else options.for_any_mesh(),
                column_fill=fill,
                elsewhere=elsewhere,
            )


def general(request: Request) -> Request:
    """Return the request for code usable on every mesh.

    Maps may lead somewhere twice, rows of matrices are of any length, and on a device indices are
    wide and nothing is padded. Whether entries lead
    nowhere is a matter of the program.

    Args:
        request: The request for the loop's own code.
    """
    options = request.options.for_any_mesh() if _on_grid(request) else request.options
    return replace(
        request,
        map_facts=_facts(request.map_facts, False, False),
        options=options.placed(_WIDTHS[-1]) if request.loop.has_matrices else options,
        column_fill=_never_full,
    )


def _facts(
    known: tuple[_core.plan.MapFacts, ...], injective: bool, negative: bool
) -> tuple[_core.plan.MapFacts, ...]:
    """Drop the facts of injective Maps, or of Maps without negative entries."""
    return tuple(
        _core.plan.MapFacts(
            index_bytes=one.index_bytes,
            injective=one.injective and injective,
            has_negative=one.has_negative or negative,
        )
        for one in known
    )


def _on_grid(request: Request) -> bool:
    return request.backend.facts.lanes == _core.Lanes.grid


def _never_full(*_: Any) -> float:
    return 0.0
