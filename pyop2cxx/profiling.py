# SPDX-License-Identifier: BSD-3-Clause
"""Wall times of parts of a program, by PyOP2's names; those of loops are in ``op2.timings()``."""

from __future__ import annotations

from contextlib import contextmanager
from functools import wraps
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Result = TypeVar("Result")


class RegionTiming(TypedDict):
    """What a region has cost.

    Attributes:
        calls: How often it was entered.
        seconds: Wall time inside it, also inside regions within it.
    """

    calls: int
    seconds: float


@contextmanager
def timed_region(name: str) -> Iterator[None]:
    """Add the wall time of a `with` block to the region of this name.

    Example:
        >>> with timed_region("setup"):
        ...     pass
        >>> regions()["setup"]["calls"]
        1
    """
    begin = perf_counter()
    try:
        yield
    finally:
        calls, seconds = runtime.regions.get(name, (0, 0.0))
        runtime.regions[name] = (calls + 1, seconds + perf_counter() - begin)


timed_stage = timed_region


def timed_function(name: str) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Add the wall time of each call of a function to the region of this name."""

    def decorate(function: Callable[..., Result]) -> Callable[..., Result]:
        @wraps(function)
        def timed(*args: Any, **options: Any) -> Result:
            with timed_region(name):
                return function(*args, **options)

        return timed

    return decorate


def regions() -> dict[str, RegionTiming]:
    """Return what all regions have cost so far, by name."""
    return {
        name: RegionTiming(calls=calls, seconds=seconds)
        for name, (calls, seconds) in runtime.regions.items()
    }
