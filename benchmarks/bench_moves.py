#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Copies of Dats between dtypes and layouts beside NumPy's copies, measured in the same run.

Goals: a checked conversion takes at most 1.4 times as long as `np.copyto` on one thread, and runs
at 0.8 of the rate of a copy on two; rows of columns at 0.6 of it.

    python benchmarks/bench_moves.py --n 5000000
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx import op2
from pyop2cxx.base.moves import move_between

if TYPE_CHECKING:
    from collections.abc import Callable

_ROUNDS = 31  # all in turn, because machines have other users


def medians(calls: dict[str, Callable[[], object]], clock: Callable[[], float]) -> dict[str, float]:
    """Seconds of each call, the median of several rounds."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(_ROUNDS):
        for name, call in calls.items():
            start = clock()
            call()
            found[name].append(clock() - start)
    return {name: statistics.median(times) for name, times in found.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=5_000_000, help="values")
    parser.add_argument("--cpu", action="store_true", help="processor times of the main thread")
    given = parser.parse_args()
    n, clock = given.n, time.thread_time if given.cpu else time.perf_counter
    wide, narrow = np.random.default_rng(1).random(n), np.zeros(n, np.float32)
    other = np.zeros(n)
    dim = 4
    rows, columns = wide.reshape(-1, dim), np.zeros((dim, n // dim)).T
    whole = np.zeros(n, np.int32)
    cells = op2.Set(n)
    source, target = op2.Dat(cells, wide), op2.Dat(cells, narrow)
    op2.init(backend="sequential")
    calls: dict[str, Callable[[], object]] = {
        "np.copyto, float64 to float32": lambda: np.copyto(narrow, wide, casting="unsafe"),
        "np.copyto, float64 to float64": lambda: np.copyto(other, wide),
        "Dat.copy, float64 to float32, fitting": lambda: source.copy(target),
    }
    for threads in (1, 2):
        calls |= {
            f"{what}, {threads} threads": lambda ends=ends, casting=casting, t=threads: (
                move_between(*ends).assign(casting, t)
            )
            for what, ends, casting in (
                ("float64 to float32, unsafe", (narrow, wide), "unsafe"),
                ("float64 to float32, fitting", (narrow, wide), "fitting"),
                ("float64 to int32, fitting", (whole, wide), "fitting"),
                ("float64 to float64", (other, wide), "unsafe"),
                ("rows to columns", (columns, rows), "unsafe"),
                ("columns to rows", (rows, columns), "unsafe"),
            )
        }
    found = medians(calls, clock)
    for name, seconds in found.items():
        print(f"{name:45} {seconds * 1e3:8.2f} ms")
    yardstick = found["np.copyto, float64 to float32"]
    fitting = {t: found[f"float64 to float32, fitting, {t} threads"] for t in (1, 2)}
    copies = {t: found[f"float64 to float64, {t} threads"] for t in (1, 2)}
    print(f"fitting by np.copyto, one thread:      {fitting[1] / yardstick:5.2f}   at most 1.4")
    # as many bytes a second: a copy moves 16 a value, this reads 8 and writes 4
    print(f"fitting by a copy, rates, two threads: {copies[2] / fitting[2] * 12 / 16:5.2f}   0.8")
    print(f"times of both:                         {copies[2] / fitting[2]:5.2f}")
    for way in ("rows to columns", "columns to rows"):
        share = copies[1] / found[f"{way}, 1 threads"]
        print(f"{way} by a copy, one thread:  {share:5.2f}   at least 0.6")


if __name__ == "__main__":
    main()
