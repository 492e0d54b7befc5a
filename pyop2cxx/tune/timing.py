# SPDX-License-Identifier: BSD-3-Clause
"""Seconds of a run, for loops and chains alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 5
"""Turns of each way."""
_SECONDS = 0.004  # of a measurement with several short runs
_MOST_RUNS = 50


def seconds_of(
    run: Callable[[], object], clock: Callable[[], float], wait: Callable[[], None]
) -> float:
    """Return the seconds of a run: of the first, or of the mean of several short runs if less.

    Args:
        run: The run; transfers are done before.
        clock: Seconds.
        wait: Waits for the device, if any.
    """
    once = _mean(run, 1, clock, wait)
    n = min(max(1, round(_SECONDS / max(once, 1e-7))), _MOST_RUNS)
    return min(once, _mean(run, n, clock, wait))


def _mean(
    run: Callable[[], object], n: int, clock: Callable[[], float], wait: Callable[[], None]
) -> float:
    wait()
    start = clock()
    for _ in range(n):
        run()
    wait()
    return (clock() - start) / n
