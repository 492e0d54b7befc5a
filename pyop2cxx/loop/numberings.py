# SPDX-License-Identifier: BSD-3-Clause
"""Finds loops that mix renumbered and not renumbered objects.

Dats, Maps and Subsets remember the numbering of their Sets at the time of their values. A loop may
use any numbering, but only one for each Set. Values overwritten as a whole take over the loop's
numbering.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.access import READ, WRITE
from pyop2cxx.base.regions import ALL
from pyop2cxx.exceptions import CheckError
from pyop2cxx.runtime import runtime
from pyop2cxx.sets.items import levels_of, reached
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.sets import Subset

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from pyop2cxx.loop.parts import Part
    from pyop2cxx.sets.sets import Set

    Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _User:
    """An object of a loop with values in the order of a Set's entities."""

    what: str
    part: Part | None  # None: the Subset of the loop
    on: Set
    numbering: int
    advice: str

    @property
    def argument(self) -> int:
        """Index of the argument; -1 for none."""
        return -1 if self.part is None else self.part.number

    @property
    def is_dat(self) -> bool:
        """Whether the object is a Dat, to which a loop may give new values."""
        return self.part is not None and self.what.startswith(type(self.part.data).__name__)


def numberings_after(loop: Any, *, check: bool) -> list[tuple[Any, int]]:
    """Return the new numberings of Dats after a loop, for `note_numberings`.

    Args:
        loop: A `ParLoop`.
        check: Whether all objects of the loop must agree on the numbering of each Set.

    Raises:
        CheckError: An object was left out of a renumbering in which the others took part.
    """
    if not runtime.has_renumbered:
        return []
    users = _users(loop)
    if all(user.numbering == user.on.numbering for user in users):
        return []
    dats = [part for part in loop.parts if part.home is not None]
    zeros = {id(part) for part in dats if _is_zero(part.data)}
    anew = {id(part) for part in dats if _is_overwritten(loop, part)}
    users = [user for user in users if not (user.is_dat and id(user.part) in zeros | anew)]
    if check:
        _check_one_for_each_set(loop, users)
    used = {user.on: user.numbering for user in users}
    return [
        (part.data, used.get(part.home, part.home.numbering))
        for part in dats
        if id(part) in anew or (id(part) in zeros and part.access != READ)
    ]


def all_current(iterset: Set | None, used: Iterable[tuple[Any, Map | None]]) -> bool:
    """Return whether no object of a loop was left out of a renumbering.

    Args:
        iterset: The Set of the loop; None if known to be no Subset.
        used: Data of arguments, with their Maps.
    """
    if not runtime.has_renumbered:
        return True
    if isinstance(iterset, Subset) and iterset.numbering != iterset.ground.numbering:
        return False
    for data, map_ in used:
        home = getattr(data, "set", None)
        if home is not None and data.numbering != home.ground.numbering:
            return False
        if map_ is None:
            continue
        if not isinstance(map_, Map) or any(n != on.numbering for _, on, n in map_.numbered()):
            return False
    return True


def note_numberings(given: Iterable[tuple[Any, int]]) -> None:
    """Note the numbering of Dats with new values."""
    for dat, numbering in given:
        dat.numbering = numbering


def _users(loop: Any) -> list[_User]:
    users = [_of_subset(loop.iterset)] if isinstance(loop.iterset, Subset) else []
    for part in loop.parts:
        users += [_of_map(part, *found) for map_ in part.maps for found in map_.numbered()]
        if part.home is not None:
            users.append(_of_dat(part, part.home.ground))
    return users


def _of_subset(given: Subset) -> _User:
    on = given.ground
    advice = (
        f"make it anew: op2.Subset({on.name}, renumbering.to_new(mask, on={on.name})), where mask "
        "has a truth value for each entity"
    )
    return _User(f"the Subset of Set '{on.name}'", None, on, given.numbering, advice)


def _of_map(part: Part, map_: Map, on: Set, numbering: int) -> _User:
    advice = "give it to op2.renumber with the others, or make it anew, in the numbers of now"
    return _User(f"Map '{map_.name}'", part, on, numbering, advice)


def _of_dat(part: Part, on: Set) -> _User:
    name = part.data.name
    advice = (
        "give it to op2.renumber with the others, or its values in the numbers of now: "
        f"{name}.data = renumbering.to_new(values, on={on.name})"
    )
    return _User(f"{type(part.data).__name__} '{name}'", part, on, part.data.numbering, advice)


def _is_zero(dat: Any) -> bool:
    known: bool = not dat.is_allocated or dat.zero_version == dat.buffer.version
    return known


def _is_overwritten(loop: Any, part: Part) -> bool:
    """Return whether a loop overwrites all values of a Dat, so the old values do not matter."""
    home = part.home
    if home is None or part.access != WRITE or part.layout[1]:
        return False
    rows = rows_of(loop, part.map_)
    return bool(np.bincount(rows[rows >= 0], minlength=home.size)[: home.size].all())


def _check_one_for_each_set(loop: Any, users: list[_User]) -> None:
    for one, other in itertools.combinations(users, 2):
        if one.on is other.on and one.numbering != other.numbering:
            is_left_out = one.numbering != one.on.numbering and one.numbering <= other.numbering
            is_only = other.numbering == one.on.numbering
            raise _error(loop, *((one, other) if is_left_out or is_only else (other, one)))


def _error(loop: Any, wrong: _User, right: _User) -> CheckError:
    places = [
        "the loop's Set" if user.part is None else f"argument {user.argument}"
        for user in (wrong, right)
    ]
    error = CheckError(
        f"{loop.label}: {places[0]}: {wrong.what} was left out when op2.renumber, or its undo, "
        f"renumbered Set '{wrong.on.name}', but {right.what} ({places[1]}) was not, so that "
        f"entities would be taken for others; {wrong.advice}. Nothing was written by this loop"
    )
    error.loop, error.argument, error.check = loop.kernel.shown_name, wrong.argument, "numberings"
    return error


def rows_of(loop: Any, map_: Map | None) -> Numbers:
    """Return the entities reached by each item of a loop through a Map.

    Returns:
        The entities, int64, shape (n, arity); negative if there is none.
    """
    items, iterset = loop.items, loop.iterset
    if isinstance(iterset, Subset):
        n = iterset.size if items.extruded else items.n
        elements = np.asarray(iterset.indices[:n], dtype=np.int64)
    else:
        elements = np.arange(iterset.size if items.extruded else items.n, dtype=np.int64)
    if not items.extruded:
        if map_ is None:
            return elements[:, None]
        if map_.is_ragged:
            padded: Numbers = map_.padded(elements)  # type: ignore[attr-defined]  # a RaggedMap
            return padded
        return map_.values_with_halo[elements].astype(np.int64)
    whole: Any = items.whole
    layers = whole.layers_array.astype(np.int64)
    bounds = (
        np.broadcast_to(layers, (len(elements), 2)) if whole.constant_layers else (layers[elements])
    )
    n_levels = bounds[:, 1] - bounds[:, 0] - 1
    visited, start = levels_of(whole, n_levels, loop.options.iteration_region or ALL)
    visited = np.broadcast_to(visited, n_levels.shape)
    start = np.broadcast_to(start, n_levels.shape)
    columns = np.repeat(elements, visited)
    first = np.repeat(np.cumsum(visited) - visited, visited)
    levels = np.arange(len(columns), dtype=np.int64) - first + np.repeat(start, visited)
    if map_ is None:
        return columns[:, None]
    base = map_.values_with_halo.astype(np.int64)[columns]
    n_cells = np.repeat(n_levels, visited)
    both = (0, 1) if items.facets and not map_.is_of_columns else (0,)
    return np.concatenate(
        [reached(map_, base, levels[:, None] + above, n_cells[:, None], items) for above in both],
        axis=1,
    )
