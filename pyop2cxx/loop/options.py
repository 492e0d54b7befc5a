# SPDX-License-Identifier: BSD-3-Clause
"""Options of a loop: one frozen record, checked once, and a part of every cache's key."""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, TypeVar

from pyop2cxx import _core
from pyop2cxx.base.regions import IterationRegion
from pyop2cxx.exceptions import UsageError
from pyop2cxx.pipeline import tuning as tuning_numbers
from pyop2cxx.pipeline.request import LANES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyop2cxx.pipeline.tuning import Overrides

    _Function = TypeVar("_Function", bound=Callable[..., object])


class GivenOptions(TypedDict, total=False):
    """Keywords of `par_loop` and `ParLoop`; `ParLoop` documents each."""

    strategy: str | None
    block_size: int | None
    iteration_region: IterationRegion | None
    iterate: IterationRegion | None
    pass_layer_arg: bool
    lanes: int | None
    tuning: Mapping[str, bool | int | float] | None
    check: bool | None
    equal_writes: bool


class LoopOptions(NamedTuple):
    """Options of a loop, checked; hashable.

    Attributes:
        strategy: Name of a strategy; None: chosen by the default rule.
        block_size: Elements of a block; 0: chosen from the size.
        iteration_region: Visited part of each column; None: all cells.
        pass_layer_arg: Whether the kernel gets the layer's number.
        lanes: Elements side by side in vectors; None: chosen by the default rule.
        tuning: Changed thresholds and sizes, sorted by name.
        check: Whether the loop runs in check mode; None: as configured.
        equal_writes: Whether racing writes of an element are equal, by the user's word.
    """

    strategy: str | None = None
    block_size: int = 0
    iteration_region: IterationRegion | None = None
    pass_layer_arg: bool = False
    lanes: int | None = None
    tuning: Overrides = ()
    check: bool | None = None
    equal_writes: bool = False


def checked_options(given: GivenOptions, what: str) -> LoopOptions:
    """Return the options of a loop, checked.

    Args:
        given: The keywords.
        what: The loop, for messages.

    Raises:
        TypeError: There is no such option.
        IterateValueError: The region does not exist.
        UsageError: A value is invalid, or a region is given twice.
    """
    if not given:
        return _USUAL
    for name in given:
        if name not in GivenOptions.__annotations__:
            raise TypeError(f"{what}: got an unexpected keyword argument '{name}'")
    region, older = given.get("iteration_region"), given.get("iterate")
    if region is not None and older is not None:
        raise UsageError(f"{what}: iteration_region and iterate are the same; give one of them")
    region = older if region is None else region
    return LoopOptions(
        iteration_region=None if region is None else IterationRegion(region),
        pass_layer_arg=bool(given.get("pass_layer_arg")),
        strategy=checked_strategy(given.get("strategy"), what),
        block_size=_checked_block_size(given.get("block_size"), what),
        lanes=checked_lanes(given.get("lanes"), what),
        check=_checked_flag("check", given.get("check"), what),
        equal_writes=bool(_checked_flag("equal_writes", given.get("equal_writes"), what)),
        tuning=tuning_numbers.checked(given.get("tuning"), what),
    )


_USUAL = LoopOptions()


@lru_cache(maxsize=256, typed=True)
def _known(**given: Any) -> LoopOptions:
    if given.get("tuning"):
        given["tuning"] = dict(given["tuning"][1:])
    return checked_options(given, "par_loop")  # type: ignore[arg-type]


def known_options(given: GivenOptions) -> LoopOptions:
    """Return the options of a repeated loop: checked at the first call only.

    Raises:
        AttributeError, TypeError, UsageError: A value is invalid: see `checked_options`.
    """
    if not given:
        return _USUAL
    if "tuning" not in given:
        return _known(**given)
    tuning = given["tuning"] or {}
    text = repr(tuning)  # tells True from 1
    return _known(**{**given, "tuning": (text, *tuning.items())})


def with_options(function: _Function) -> _Function:
    """Show the options as keywords with types and defaults, for help() and completion."""
    found = inspect.signature(function)
    kept = [one for one in found.parameters.values() if one.kind is not one.VAR_KEYWORD]
    kind, flags = inspect.Parameter.KEYWORD_ONLY, ("pass_layer_arg", "equal_writes")
    ours = [
        inspect.Parameter(
            name, kind, default=False if name in flags else None, annotation=hint.__forward_arg__
        )
        for name, hint in GivenOptions.__annotations__.items()
    ]
    shown: Any = function
    shown.__signature__ = found.replace(parameters=[*kept, *ours])
    return function


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
    if isinstance(lanes, int) and not isinstance(lanes, bool) and lanes in LANES:
        return lanes
    raise UsageError(
        f"{what}: lanes must be None for the default rule's choice, 0 or 1 for none, or 2, 4, 8 or "
        f"16 elements side by side, got {lanes!r}"
    )


def _checked_flag(name: str, value: object, what: str) -> bool | None:
    """Return an optional switch."""
    if value is None or isinstance(value, bool):
        return value
    raise UsageError(f"{what}: {name} must be True or False, got {value!r}")


def _checked_block_size(block_size: object, what: str) -> int:
    """Return the elements of a block; 0 for a size chosen later."""
    if block_size is None:
        return 0
    if isinstance(block_size, int) and not isinstance(block_size, bool) and block_size > 0:
        return block_size
    raise UsageError(f"{what}: block_size must be a positive int, got {block_size!r}")
