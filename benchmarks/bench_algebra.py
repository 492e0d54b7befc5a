#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Algebra of Dats beside the memory's bandwidth, measured in the same run.

On the host the yardstick is STREAM's triad, on a device a copy within it. Goals are 90 % of that
for `axpy` and `dot`.

    python benchmarks/bench_algebra.py --threads 2
    python benchmarks/bench_algebra.py --backend cuda
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx import op2
from pyop2cxx.reports.bandwidth import measure_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

GOAL = 0.9
_ROUNDS = 5  # the yardstick and all operations in turn, because machines have other users
_LEAST_SECONDS = 0.05


class Clock:
    """Measures calls on a backend, whose loops may still run when they return."""

    def __init__(self) -> None:
        one = op2.Set(1, "one")
        self._token = op2.Dat(one, name="token")
        kernel = op2.Kernel("static void touch(double *t) { t[0] += 1.0; }", "touch")
        self._touch = op2.ParLoop(kernel, one, self._token(op2.RW))

    def wait(self) -> None:
        """Wait for all that is enqueued: a value that the last loop wrote is read."""
        self._touch.compute()
        float(self._token.data_ro[0])

    def seconds(self, call: Callable[[], object]) -> float:
        """Seconds of one call, of as many as take long enough."""
        n = 1
        while True:
            start = time.perf_counter()
            for _ in range(n):
                call()
            self.wait()
            elapsed = time.perf_counter() - start
            if elapsed >= _LEAST_SECONDS:
                return elapsed / n
            n *= 2


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="openmp")
    parser.add_argument("--threads", type=int, default=0, help="of the host; 0: all")
    parser.add_argument("--millions", type=float, default=32.0, help="of values in a Dat")
    parser.add_argument("--dim", type=int, default=1, help="values of an entity")
    parser.add_argument("--dtype", default="float64")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parsed(arguments)
    op2.init(backend=options.backend, threads=options.threads)
    n = max(1, int(options.millions * 1e6) // options.dim)
    cells = op2.Set(n, "cells")
    x, y, z = (
        op2.Dat(cells**options.dim, np.full(n * options.dim, v, options.dtype)) for v in (1, 2, 0)
    )
    for dat in (x, y, z):
        dat.to_device()
    rows = (
        ("copy", 2, lambda: x.copy(z), None),
        ("axpy", 3, lambda: y.axpy(1e-9, x), GOAL),
        ("dot", 2, lambda: x.dot(y), GOAL),
        ("norm", 1, lambda: x.norm, None),
        ("+=", 3, lambda: y.__iadd__(x), None),
        ("*= number", 2, lambda: y.__imul__(1.0), None),
        ("+", 3, lambda: x + y, None),
        ("maxpy of 2", 6, lambda: y.maxpy([1e-9, 1e-9], [x, z]), None),
    )
    if options.backend in ("sequential", "openmp"):
        a, b = x.data_ro.ravel(), y.data_ro.ravel()
        rows += (("NumPy's dot", 2, lambda: np.dot(a, b), None),)
    clock = Clock()
    for _, _, call, _ in rows:
        call()
    clock.wait()
    op2.transfers.clear()
    on_device = z.residence == "device"
    rate, best = 0.0, [math.inf] * len(rows)
    for _ in range(_ROUNDS):
        if not on_device:
            rate = max(rate, measure_stream(options.threads or None, repeats=2).triad)
        for i, (_, _, call, _) in enumerate(rows):
            best[i] = min(best[i], clock.seconds(call))
    if on_device:
        rate = 2 * x.nbytes / best[0]
    yardstick = "a copy within the device" if on_device else "STREAM's triad"
    print(f"{options.backend}: {n} entities of {options.dim} {options.dtype}")
    print(f"{yardstick}: {rate / 1e9:.1f} GB/s")
    missed = 0
    for (name, streams, _, goal), seconds in zip(rows, best, strict=True):
        ratio = streams * x.nbytes / seconds / rate
        verdict = "" if goal is None else "met" if ratio >= goal else "MISSED"
        missed += verdict == "MISSED"
        print(f"{name:12s} {seconds * 1e3:9.3f} ms  {100 * ratio:6.1f} %  {verdict}".rstrip())
    moved = [
        row for row in op2.transfers.report() if not row.explicit and row.nbytes > row.count * 64
    ]
    print(f"copies between host and device that nobody asked for: {len(moved)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
