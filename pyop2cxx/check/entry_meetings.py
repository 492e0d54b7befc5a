# SPDX-License-Identifier: BSD-3-Clause
"""Elements that set the same entry of a matrix, with a result depending on their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.access import WRITE
from pyop2cxx.check.meetings import first_meeting, number_of, race
from pyop2cxx.loop.numberings import rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from pyop2cxx.data.mat_args import MatPath
    from pyop2cxx.loop.parts import Part

    Numbers = npt.NDArray[np.int64]


def check_entries(loop: Any) -> None:
    """Check that no two elements of a loop set the same entry.

    Args:
        loop: A `ParLoop` of at least two elements, with possibly different values.

    Raises:
        CheckError: Two elements do; the message names both.
    """
    for part in loop.parts:
        if not part.is_of_matrix or part.access != WRITE:
            continue
        found = _of_places(loop, part.path) if part.path is not None else _of_rows(loop, part)
        if found is not None:
            _refuse(loop, part, found)


def _of_places(loop: Any, path: MatPath) -> tuple[int, int, str] | None:
    tables = [map_.current_table() for map_ in path.maps]
    versions = tuple(None if table is None else table.version for table in tables)
    key = (*versions, loop.iterset.uid, loop.options.iteration_region)
    if path.meeting is None or path.meeting[0] != key:
        path.meeting = key, _meeting(loop, path)
    found = path.meeting[1]
    if found is None:
        return None
    row, column = divmod(found[2], path.cols.toset.total_size)
    return found[0], found[1], f"the entry of row {row} and column {column}"


def _meeting(loop: Any, path: MatPath) -> tuple[int, int, int] | None:
    rows, columns = (
        _without(rows_of(loop, map_), mask, map_.toset.total_size)
        for map_, mask in zip(path.maps, path.masks, strict=True)
    )
    entries = rows[:, :, None] * path.cols.toset.total_size + columns[:, None, :]
    entries[(rows < 0)[:, :, None] | (columns < 0)[:, None, :]] = -1
    numbers, places = np.unique(entries, return_inverse=True)
    dense = places.reshape(len(rows), -1) - int(np.count_nonzero(numbers < 0))
    found = first_meeting(dense)
    if found is None:
        return None
    return found[0], found[1], int(numbers[numbers >= 0][found[2]])


def _without(rows: Numbers, mask: Sequence[Any] | None, n: int) -> Numbers:
    """Return rows, negative if a mask leaves out all values of an entity."""
    if mask is None:
        return rows
    is_kept: npt.NDArray[np.bool_] = (
        (mask[0] >= 0).reshape(n, len(mask[0]) // max(n, 1)).any(axis=1)
    )
    return np.where((rows >= 0) & is_kept[rows], rows, -1)


def _of_rows(loop: Any, part: Part) -> tuple[int, int, str] | None:
    """Check the part of a Global in a matrix: a row or a column for all elements, or both."""
    if part.map_ is None:
        return 0, 1, "the entries of Globals"
    found = first_meeting(rows_of(loop, part.map_))
    if found is None:
        return None
    return found[0], found[1], f"entries of a Global and entity {found[2]}"


def _refuse(loop: Any, part: Part, found: tuple[int, int, str]) -> None:
    first, second, entry = number_of(loop, found[0]), number_of(loop, found[1]), found[2]
    names = " and ".join(dict.fromkeys(f"Map '{map_.name}'" for map_ in part.maps))
    raise race(
        loop,
        part.number,
        second,
        f"elements {first} and {second} both WRITE {entry} of {type(part.data).__name__} "
        f"'{part.data.name}'{f' through {names}' if names else ''}, so the result depends on "
        "their order; pass it with INC, or if they write equal values say so: "
        "par_loop(..., equal_writes=True)",
    )
