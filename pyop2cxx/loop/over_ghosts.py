# SPDX-License-Identifier: BSD-3-Clause
"""Loops that compute near ghosts again, so that nothing written has to be sent.

A loop that writes through Maps runs over all elements with an owned target. Owners then have all
contributions. Where a Global is reduced, an element must count once: ghosts gather the
contributions, and send them to the owners.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyop2cxx.base.access import INC, READ, RW, WRITE
from pyop2cxx.data.ghosts import REDUCED
from pyop2cxx.exceptions import UnsupportedError
from pyop2cxx.loop.parts import Kind
from pyop2cxx.runtime import runtime
from pyop2cxx.sets.items import with_near_ghosts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyop2cxx.loop.parts import Part
    from pyop2cxx.sets.items import Items
    from pyop2cxx.sets.sets import Set


def with_ghosts(items: Items, iterset: Set, parts: Sequence[Part], what: str) -> Items:
    """Return the items of a loop, with near ghosts if the loop writes through Maps.

    Args:
        items: The owned items.
        iterset: The Set of the loop.
        parts: The arrays of the loop.
        what: The loop, for messages.

    Raises:
        UnsupportedError: The loop overwrites values through a Map and reduces a Global, or masks
            of a matrix were made before `op2.distribute`.
    """
    _refuse_old_masks(parts, what)
    if iterset.is_distributed:
        _refuse_orders(parts, what)
    if iterset.ground.expects_copies and _written(parts):
        raise UnsupportedError(
            f"{what}: arg {_written(parts)[0].number} is written through a Map, and by the third "
            f"of its four sizes Set '{iterset.ground.name}' has ghosts to be computed; use three "
            "sizes and op2.distribute, which finds such ghosts"
        )
    if not computes_again(iterset, parts):
        for part in _written(parts) if iterset.is_distributed else ():
            if part.is_of_matrix:
                raise UnsupportedError(
                    f"{what}: arg {part.number}: {part.data.label} is assembled, and a Global is "
                    "reduced, over a distributed Set: near ghosts would be counted twice; make two "
                    "loops"
                )
            is_inside = part.map_ is not None and part.map_.is_inside
            if part.access in (WRITE, RW) and not is_inside:
                raise UnsupportedError(
                    f"{what}: arg {part.number}: Dat '{part.data.name}' is written through a Map "
                    "with WRITE or RW, and a Global is reduced, over a distributed Set: near "
                    "ghosts would be counted twice; make two loops"
                )
        return items
    return with_near_ghosts(items, iterset, in_order=runtime.same_on_ranks)


def _refuse_old_masks(parts: Sequence[Part], what: str) -> None:
    """Refuse masks of a matrix made before `op2.distribute`: their numbers are of the whole Set.

    Args:
        parts: The arrays of the loop.
        what: The loop, for messages.

    Raises:
        UnsupportedError: A mask is older than the distribution.
    """
    for part in parts:
        path = part.path
        if path is None or path.is_shared or not part.data.is_distributed:
            continue
        if any(mask is not None for mask in path.masks):
            raise UnsupportedError(
                f"{what}: arg {part.number}: the masks (lgmaps) of {part.data.label} were made "
                "before op2.distribute; make the argument again, with masks of the present numbers"
            )


def _refuse_orders(parts: Sequence[Part], what: str) -> None:
    """Refuse loops with results that depend on the order of elements: ranks have other orders.

    Raises:
        UnsupportedError: Values of a Dat are written through a Map, and seen by another argument.
    """
    for part in _written(parts):
        for other in parts if part.home is not None else ():
            is_other = other is not part and other.home is not None
            if not is_other or other.data.exchanged is not part.data.exchanged:
                continue
            same = {getattr(one.data, "component", None) for one in (part, other)}
            is_apart = None not in same and len(same) > 1
            if is_apart or (other.access is part.access and part.access in REDUCED):
                continue
            raise UnsupportedError(
                f"{what}: args {part.number} and {other.number}: values of Dat "
                f"'{part.data.exchanged.name}' are written through a Map, and used by the other "
                "argument in the order of elements, which several processes do not have: use two "
                "Dats"
            )


def computes_again(iterset: Set, parts: Sequence[Part]) -> bool:
    """Say whether a loop runs over near ghosts, too: on all ranks, also where there are none."""
    if not iterset.is_distributed or not _written(parts):
        return False
    if runtime.same_on_ranks:  # each element has a place of its own for the addend
        return True
    return not any(part.kind is Kind.TOTAL and part.access is INC for part in parts)


def _written(parts: Sequence[Part]) -> list[Part]:
    return [
        part
        for part in parts
        if (part.map_ is not None or part.is_of_matrix)
        and part.access is not READ
        and not (part.map_ is not None and part.map_.is_of_columns)
    ]
