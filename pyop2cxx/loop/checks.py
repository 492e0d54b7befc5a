# SPDX-License-Identifier: BSD-3-Clause
"""The options of a loop are checked before anything is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.base.regions import IterationRegion
from pyop2cxx.data.dats import LegacyDatArg
from pyop2cxx.data.mat_args import LegacyMatArg, LegacyMixedMatArg
from pyop2cxx.data.mats import Mat
from pyop2cxx.data.mixed_dats import LegacyMixedDatArg
from pyop2cxx.exceptions import UsageError
from pyop2cxx.pipeline import tuning as tuning_numbers

if TYPE_CHECKING:
    from pyop2cxx.loop.parts import Arg


def kind_of(data: Any) -> tuple[Any, Any]:
    """Return what data must have in common to take each other's place in a loop."""
    return data.dtype, data.dims if isinstance(data, Mat) else data.cdim


def legacy_form(arg: Arg) -> tuple[int | None, bool] | None:
    """Return what an argument says of PyOP2's older conventions: its index and `flatten`."""
    if isinstance(arg, LegacyMatArg | LegacyMixedMatArg):
        return None, True
    if isinstance(arg, LegacyDatArg | LegacyMixedDatArg):
        return arg.index, arg.flatten
    return None


def checked_region(region: object, older: object, what: str) -> IterationRegion | None:
    """Return the part of each column that is visited; None means all of it."""
    if region is not None and older is not None:
        raise UsageError(f"{what}: iteration_region and iterate are the same; give one of them")
    found = older if region is None else region
    return None if found is None else IterationRegion(found)  # type: ignore[arg-type]


def checked_strategy(strategy: object, what: str) -> str | None:
    """Return the name of a strategy; None for the default rule's choice."""
    if strategy is None or strategy in _core.STRATEGIES:
        return strategy
    raise UsageError(
        f"{what}: there is no strategy {strategy!r}; there are: {', '.join(_core.STRATEGIES)}"
    )


def checked_lanes(lanes: object, what: str) -> int | None:
    """Return how many elements are computed side by side; None for the default rule's choice."""
    if lanes is None:
        return None
    if isinstance(lanes, int) and not isinstance(lanes, bool) and lanes in (0, 1, 2, 4, 8, 16):
        return lanes
    raise UsageError(
        f"{what}: lanes must be None for the default rule's choice, 0 or 1 for none, or 2, 4, 8 or "
        f"16 elements side by side, got {lanes!r}"
    )


def check_generate_options(given: dict[str, Any], what: str) -> None:
    """Check what `ParLoop.generate` was given, and put it into the form that is used."""
    if "lanes" in given:
        given["lanes"] = checked_lanes(given["lanes"], what)
    if "tuning" in given:
        given["tuning"] = tuning_numbers.checked(given["tuning"], what)
    if "strategy" in given:
        given["strategy"] = checked_strategy(given["strategy"], what)
    if given.get("convention", 1) not in (1, 2):
        raise UsageError(f"{what}: convention must be 1 or 2, got {given['convention']!r}")
    for name in ("debug", "deterministic"):
        if not isinstance(given.get(name, False), bool):
            raise UsageError(f"{what}: {name} must be True or False, got {given[name]!r}")


def checked_flag(name: str, value: object, what: str) -> bool | None:
    """Return a switch that may be left open."""
    if value is None or isinstance(value, bool):
        return value
    raise UsageError(f"{what}: {name} must be True or False, got {value!r}")


def checked_block_size(block_size: object, what: str) -> int:
    """Return the elements of a block; 0 for a size chosen later."""
    if block_size is None:
        return 0
    if isinstance(block_size, int) and not isinstance(block_size, bool) and block_size > 0:
        return block_size
    raise UsageError(f"{what}: block_size must be a positive int, got {block_size!r}")
