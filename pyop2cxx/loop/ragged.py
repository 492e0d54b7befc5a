# SPDX-License-Identifier: BSD-3-Clause
"""Loops by ragged Maps: counts and lengths of rows, checked when a loop is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyop2cxx import _core
from pyop2cxx.data.ragged import Counts, RaggedMap
from pyop2cxx.exceptions import MapValueError, UnsupportedError, UsageError
from pyop2cxx.kernel.shapes import needs_wrapper

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyop2cxx.kernel.kernel import Kernel
    from pyop2cxx.loop.parts import Part
    from pyop2cxx.pipeline.request import Request


def ragged_maps(parts: Sequence[Part]) -> list[RaggedMap]:
    """Return the ragged Maps of a loop, each once."""
    maps = (map_ for part in parts for map_ in part.maps)
    return list(dict.fromkeys(map_ for map_ in maps if isinstance(map_, RaggedMap)))


def check_counts(parts: Sequence[Part], what: str) -> None:
    """Check the counts of a loop against its ragged Maps.

    Raises:
        MapValueError: The loop has counts of another Map with other rows.
        UnsupportedError: A ragged Map leads to a matrix, or to a field of a MixedDat.
    """
    maps = ragged_maps(parts)
    counts = [part for part in parts if isinstance(part.data, Counts)]
    for part in parts if maps else ():
        if part.maps and part.maps[0] in maps and (part.is_field or part.is_of_matrix):
            kind = "a matrix" if part.is_of_matrix else "a MixedDat"
            raise UnsupportedError(
                f"{what}: arg {part.number}: {kind} by the ragged Map '{part.maps[0].name}': only "
                "a Dat is reached through a ragged Map"
            )
    for map_ in maps if counts else ():
        if not any(part.data.of_map.has_equal_rows(map_) for part in counts):
            part = counts[0]
            raise MapValueError(
                f"{what}: arg {part.number}: counts of Map '{part.data.of_map.name}', but the loop "
                f"goes by Map '{map_.name}', whose rows are of other lengths; pass "
                f"{map_.name}.counts(op2.READ)"
            )


def check_kernel(kernel: Kernel, parts: Sequence[Part], what: str) -> None:
    """Check that a kernel takes rows of any length: flat pointers, in today's convention.

    Raises:
        UnsupportedError: A wrapper would be needed, which has arrays of constant length.
    """
    maps = ragged_maps(parts)
    if maps and (kernel.abi != "2026" or needs_wrapper(kernel)):
        raise UnsupportedError(
            f"{what}: the kernel takes arrays of constant length, or follows an older convention, "
            f"but rows of Map '{maps[0].name}' differ in length; declare flat pointers, and write "
            "q[i * n + j] for q[i][j]"
        )


def check_lengths(parts: Sequence[Part], request: Callable[[], Request], what: str) -> None:
    """Check that no row is longer than what a kernel gets packed.

    Args:
        parts: The arguments.
        request: Returns the input of the loop's text.
        what: The loop, for messages.

    Raises:
        UsageError: A row is; the message names Map and row.
    """
    if all(map_.longest <= _core.MOST_RAGGED for map_ in ragged_maps(parts)):
        return
    made = request()
    for i in _core.packed_ragged(made.loop, list(made.map_facts), made.options):
        part, map_ = parts[i], parts[i].maps[0]
        if not isinstance(map_, RaggedMap) or map_.longest <= _core.MOST_RAGGED:
            continue
        why = (
            "with READ rows may be longer if the kernel uses the argument entry by entry, outside "
            "of check mode"
            if part.access.name == "READ"
            else f"with {part.access.name} an element's values are packed"
        )
        raise UsageError(
            f"{what}: arg {part.number}: row {map_.at_longest} of Map '{map_.name}' has "
            f"{map_.longest} "
            f"entries, and here a row may have {_core.MOST_RAGGED}: {why}"
        )


def counted_rows(parts: Sequence[Part]) -> dict[int, tuple[int, int]]:
    """Return which arguments are as long as a loop's counts say.

    Args:
        parts: The arguments.

    Returns:
        By argument: the argument with the counts, and the values for each of them.
    """
    counts = [part for part in parts if isinstance(part.data, Counts)]
    found: dict[int, tuple[int, int]] = {}
    for part in parts:
        map_ = part.maps[0] if part.maps else None
        own = [one for one in counts if isinstance(map_, RaggedMap)]
        own = [one for one in own if one.data.of_map.has_equal_rows(map_)]
        if own:
            found[part.number] = own[0].number, part.dim
    return found


def shortest_extents(parts: Sequence[Part]) -> dict[int, int]:
    """Return the values that each argument by a ragged Map has of every element.

    Args:
        parts: The arguments.

    Returns:
        By argument: the values of the shortest row; empty if the loop has counts, which say how
        long a row is.
    """
    if any(isinstance(part.data, Counts) for part in parts):
        return {}
    return {
        part.number: part.maps[0].shortest * part.dim
        for part in parts
        if part.maps and isinstance(part.maps[0], RaggedMap)
    }
