# SPDX-License-Identifier: BSD-3-Clause
"""Wall times of parts of a program, by PyOP2's names; for loops see ``op2.timings()``."""

from __future__ import annotations

import csv
import sys
from contextlib import contextmanager
from functools import wraps
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from pyop2cxx.exceptions import UsageError
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

Result = TypeVar("Result")


class RegionTiming(TypedDict):
    """Cost of a region.

    Attributes:
        calls: Number of entries.
        seconds: Wall time inside, nested regions included.
    """

    calls: int
    seconds: float


class Times:
    """The measurements so far.

    Attributes:
        regions: How often parts of the program were timed, and the seconds, by name.
        timers: Begin of running measurements, by name.
    """

    def __init__(self) -> None:
        self.regions: dict[str, tuple[int, float]] = {}
        self.timers: dict[str, float] = {}


@contextmanager
def timed_region(name: str) -> Iterator[None]:
    """Add the wall time of a `with` block to a region.

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
        _add(name, perf_counter() - begin)


def _add(name: str, elapsed: float) -> None:
    calls, seconds = runtime.of(Times).regions.get(name, (0, 0.0))
    runtime.of(Times).regions[name] = (calls + 1, seconds + elapsed)


timed_stage = timed_region


def timed_function(name: str) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Add the wall time of each call of a function to a region."""

    def decorate(function: Callable[..., Result]) -> Callable[..., Result]:
        @wraps(function)
        def timed(*args: Any, **options: Any) -> Result:
            with timed_region(name):
                return function(*args, **options)

        return timed

    return decorate


def regions() -> dict[str, RegionTiming]:
    """Return the costs of all regions so far, by name."""
    return {
        name: RegionTiming(calls=calls, seconds=seconds)
        for name, (calls, seconds) in runtime.of(Times).regions.items()
    }


# PyOP2's names of 2013


class Timer:
    """A stop watch that adds to the region of the same name.

    Args:
        name: The name of the region.

    Attributes:
        name: As given.

    Example:
        >>> watch = Timer("lap")
        >>> watch.start()
        >>> watch.stop()
        >>> watch.ncalls, watch.total == watch.elapsed
        (1, True)
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._elapsed = 0.0

    def start(self) -> None:
        """Begin to measure.

        Raises:
            UsageError: The timer is running already.
        """
        if self.name in runtime.of(Times).timers:
            raise UsageError(f"Timer '{self.name}' is running; stop it first")
        runtime.of(Times).timers[self.name] = perf_counter()

    def stop(self) -> None:
        """Add the time since `start`.

        Raises:
            UsageError: The timer is not running.
        """
        if self.name not in runtime.of(Times).timers:
            raise UsageError(f"Timer '{self.name}' is not running; start it first")
        self._elapsed = perf_counter() - runtime.of(Times).timers.pop(self.name)
        _add(self.name, self._elapsed)

    @property
    def elapsed(self) -> float:
        """Seconds of the last measurement."""
        return self._elapsed

    @property
    def ncalls(self) -> int:
        """How often the region was measured."""
        return runtime.of(Times).regions.get(self.name, (0, 0.0))[0]

    @property
    def total(self) -> float:
        """Seconds of the region in all."""
        return runtime.of(Times).regions.get(self.name, (0, 0.0))[1]

    @property
    def average(self) -> float:
        """Seconds of the region each time; 0 before the first."""
        return self.total / max(self.ncalls, 1)

    def __repr__(self) -> str:
        return f"Timer({self.name!r})"


def tic(name: str) -> None:
    """Begin to measure a region.

    Raises:
        UsageError: The region is being measured already.
    """
    Timer(name).start()


def toc(name: str) -> None:
    """Add the time since `tic` to a region.

    Raises:
        UsageError: There was no `tic`.
    """
    Timer(name).stop()


def profile(function: Callable[..., Result]) -> Callable[..., Result]:
    """Add the wall time of each call of a function to the region of the same name."""
    return timed_function(function.__qualname__)(function)


def get_timers(reset: bool = False) -> dict[str, Timer]:
    """Return a `Timer` for each region, by name; `reset` forgets them once they are asked for."""
    found = {name: Timer(name) for name in runtime.of(Times).regions}
    if reset:
        runtime.of(Times).regions.clear()
    return found


def reset() -> None:
    """Forget the costs of all regions."""
    runtime.of(Times).regions.clear()
    runtime.of(Times).timers.clear()


def summary(filename: str | os.PathLike[str] | None = None) -> None:
    """Write a table of all regions: to standard output, or as CSV into a file.

    Args:
        filename: The file; replaced if existing.
    """
    head = ("Timer", "Total time", "Calls", "Average time")
    rows = [
        (name, f"{seconds:g}", str(calls), f"{seconds / calls:g}")
        for name, (calls, seconds) in runtime.of(Times).regions.items()
    ]
    if filename is not None:
        with open(filename, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, delimiter=",").writerows((head, *rows))
        return
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        first, *others = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        sys.stdout.write(f"{first.strip().ljust(widths[0])} | {' | '.join(others)}\n")
