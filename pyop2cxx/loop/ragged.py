# SPDX-License-Identifier: BSD-3-Clause
"""Loops by ragged Maps: counts and lengths of rows, checked when a loop is made."""

from __future__ import annotations

from math import prod
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
        UnsupportedError: A ragged Map leads to a block of a matrix of several, or to a field of a
            MixedDat.
    """
    maps = ragged_maps(parts)
    counts = [part for part in parts if isinstance(part.data, Counts)]
    for part in parts if maps else ():
        through = next((map_ for map_ in part.maps if map_ in maps), None)
        if through is not None and (part.is_field or part.cell is not None):
            kind, alone = ("a MixedDat", "Dat") if part.cell is None else ("a mixed Mat", "Mat")
            raise UnsupportedError(
                f"{what}: arg {part.number}: {kind} by the ragged Map '{through.name}': only a "
                f"{alone} of one field is reached through a ragged Map; pass its parts as arguments"
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
        part = parts[i]
        through = (map_ for map_ in part.maps if isinstance(map_, RaggedMap))
        map_ = next((one for one in through if one.longest > _core.MOST_RAGGED), None)
        if map_ is None:
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


def counted_rows(parts: Sequence[Part]) -> dict[int, tuple[list[int], int]]:
    """Return which arguments are as long as a loop's counts say.

    Args:
        parts: The arguments.

    Returns:
        By argument: the arguments with the counts, of a matrix those of rows and of columns, and
        the values for each product of them.
    """
    counts = [part for part in parts if isinstance(part.data, Counts)]
    found: dict[int, tuple[list[int], int]] = {}
    for part in parts:
        through = [map_ for map_ in part.maps if isinstance(map_, RaggedMap)]
        own = [
            next((one.number for one in counts if one.data.of_map.has_equal_rows(map_)), None)
            for map_ in through
        ]
        known = [number for number in own if number is not None]
        if through and len(known) == len(through):
            found[part.number] = known, part.dim * _n_equal(part)
    return found


def _n_equal(part: Part) -> int:
    """Return the product of the arities of an argument's Maps other than the ragged."""
    return prod(map_.arity for map_ in part.maps if not map_.is_ragged)


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
    found = {}
    for part in parts:
        shortest = [map_.shortest for map_ in part.maps if isinstance(map_, RaggedMap)]
        if shortest:
            found[part.number] = prod(shortest) * part.dim * _n_equal(part)
    return found
