# SPDX-License-Identifier: BSD-3-Clause
"""The arguments of a loop are checked before anything is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyop2cxx.base.access import INC, MAX, MIN, READ
from pyop2cxx.data.mats import Mat
from pyop2cxx.exceptions import MapValueError, UsageError
from pyop2cxx.loop.options import checked_lanes, checked_strategy
from pyop2cxx.loop.parts import Kind
from pyop2cxx.loop.ragged import check_counts
from pyop2cxx.pipeline import tuning as tuning_numbers
from pyop2cxx.runtime import runtime
from pyop2cxx.sets.items import check_defined, check_reach

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyop2cxx.loop.parts import Part
    from pyop2cxx.sets.items import Items
    from pyop2cxx.sets.sets import Set


def kind_of(data: Any) -> tuple[Any, Any, Any]:
    """Return the properties that replaceable data of a loop must share."""
    dims = data.dims if isinstance(data, Mat) else data.cdim
    return getattr(data, "compute", data.dtype), data.dtype, dims


def check_forms(args: Iterable[Any], what: str) -> None:
    """Check that no argument has a form of the older conventions only.

    Raises:
        UsageError: An argument has.
    """
    for i, arg in enumerate(args):
        if arg.form is not None and arg.form.flatten:
            raise UsageError(
                f"{what}: arg {i}: flatten is of PyOP2's older conventions; leave it out, or "
                "say which one the kernel follows: Kernel(..., abi='2016')"
            )


def check_parts(parts: Sequence[Part], items: Items, iterset: Set, what: str) -> None:
    """Check Dats, Maps and Globals against the Set of a loop.

    Raises:
        MapValueError: A Map has no values or starts elsewhere; a Dat is on another Set.
        UsageError: A Global is reduced, and used otherwise as well.
    """
    for part in parts:
        if part.is_of_matrix:
            _check_matrix(part, items, iterset, what)
        elif part.home is not None:
            _check_dat(part, part.home, items, iterset, what)
    check_values(parts, items, iterset, what)
    if any(map_.is_ragged for part in parts for map_ in part.maps):
        check_counts(parts, what)
    _check_globals(parts, what)


def _check_globals(parts: Sequence[Part], what: str) -> None:
    """Refuse a Global reduced by an argument and used otherwise by another.

    Reduced values are known only at the end of a loop: meanwhile another argument would see partial
    sums of a thread, or nothing.
    """
    first: dict[int, Part] = {}
    for part in parts:
        if part.kind is not Kind.TOTAL or part.access is READ:
            continue
        first.setdefault(part.data.uid, part)
    for part in parts if first else ():
        other = first.get(part.data.uid, part)
        if part.access is other.access or not {part.access, other.access} & {INC, MIN, MAX}:
            continue
        one, two = sorted((part, other), key=lambda part: part.number)
        raise UsageError(
            f"{what}: arguments {one.number} and {two.number} are both Global '{one.data.name}', "
            f"with {one.access.name} and {two.access.name}; its value is known when the loop has "
            "ended. Reduce into another Global, or copy this one first"
        )


def _check_dat(part: Part, home: Set, items: Items, iterset: Set, what: str) -> None:
    starts, what = iterset.name, f"{what}: arg {part.number}"
    if not part.maps and home is not items.base:
        raise MapValueError(
            f"{what}: Dat '{part.data.name}' lives on Set '{home.name}', but the loop runs over "
            f"'{starts}'; {_needed_map(home, items)}"
        )
    for map_ in part.maps:
        if map_.iterset is not items.whole and map_.iterset is not items.base:
            raise MapValueError(
                f"{what}: Map '{map_.name}' starts on Set '{map_.iterset.name}', but the loop runs "
                f"over '{starts}'; {_needed_map(home, items)}"
            )


def _needed_map(home: Set, items: Items) -> str:
    """Return the needed Map; Maps start on whole Sets, even in loops over Subsets."""
    if home is items.base:
        return f"the Dat lives on '{home.name}' itself: pass no Map, or one that starts there"
    return f"pass a Map {items.whole.name} → {home.name}"


def _check_matrix(part: Part, items: Items, iterset: Set, what: str) -> None:
    for map_ in part.maps:
        if map_.iterset is not items.whole:
            raise MapValueError(
                f"{what}: arg {part.number}: Map '{map_.name}' starts on Set "
                f"'{map_.iterset.name}', but the loop runs over '{iterset.name}'; "
                f"pass Maps from there to the rows and columns of Mat '{part.data.name}'"
            )


def check_values(parts: Iterable[Part], items: Items, iterset: Set, what: str) -> None:
    """Check where Maps lead, as their values are now.

    Raises:
        MapValueError: A Map has no values, or leads nowhere or out of its Set.
    """
    for part in parts:
        where = f"{what}: arg {part.number}"
        for map_ in part.maps:
            if map_.has_values:
                # such entries are left out of a matrix
                if part.path is None and not runtime.static:
                    check_defined(map_, items, iterset, where)
                if items.extruded:
                    check_reach(map_, items, iterset, where)
            elif not runtime.static and not map_.is_of_columns:
                raise MapValueError(
                    f"{where}: Map '{map_.name}' has no values yet; give it some by "
                    "update_values() before it is used in a loop"
                )


def check_generate_options(given: dict[str, Any], what: str) -> None:
    """Check the options of `ParLoop.generate`, and convert them to the internal form."""
    if "lanes" in given:
        given["lanes"] = checked_lanes(given["lanes"], what)
    if "tuning" in given:
        given["tuning"] = tuning_numbers.checked(given["tuning"], what)
    if "strategy" in given:
        given["strategy"] = checked_strategy(given["strategy"], what)
    if given.get("convention", 1) not in (1, 2):
        raise UsageError(f"{what}: convention must be 1 or 2, got {given['convention']!r}")
    for name in ("any_device", "debug", "deterministic"):
        if not isinstance(given.get(name, False), bool):
            raise UsageError(f"{what}: {name} must be True or False, got {given[name]!r}")


def check_maps(loop: Any) -> None:
    """Check that Map values are unchanged, where a program could have written them.

    Raises:
        MapValueError: The values of a Map have changed.
    """
    for map_, number in {map_: part.number for part in loop.parts for map_ in part.maps}.items():
        try:
            map_.check_unchanged()
        except MapValueError as error:
            raise MapValueError(f"{loop.label}: arg {number}: {error}") from None
