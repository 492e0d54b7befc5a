#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`openmp` against `sequential` on a quiet machine and beside other processes.

The others are made here: processes that count, one for each core this program may use, or as many
as --load names. They end with the measurement, and by themselves after five minutes. Both backends
take turns in one process, in rounds of about a tenth of a second; the ratio is that of the medians.
Beside others it should stay below 1.3, whatever the loops are.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DEMOS = Path(__file__).parent.parent / "demos"
BACKENDS = ("sequential", "openmp")
COUNT = "import time\nend = time.time() + 300\nwhile time.time() < end: sum(range(100000))"
SECONDS_A_ROUND = 0.1
LIGHT = "void light(double *x) { x[0] = 0.5 * x[0] + 1.0; }"
SPREAD = "void spread(const double *x, double *y) { y[0] += x[0]; y[1] -= x[0]; }"


def direct(n: int) -> Callable[[], None]:
    """One light loop over n elements."""
    from pyop2cxx import op2

    loop = op2.ParLoop(op2.Kernel(LIGHT, "light"), cells := op2.Set(n), op2.Dat(cells)(op2.RW))
    return loop.compute


def edges(n: int) -> Callable[[], None]:
    """One loop over n edges of a chain, which adds to their ends."""
    import numpy as np

    from pyop2cxx import op2

    lines, nodes = op2.Set(n), op2.Set(n + 1)
    ends = op2.Map(lines, nodes, 2, np.stack([np.arange(n), np.arange(1, n + 1)], axis=1))
    x, y = op2.Dat(lines), op2.Dat(nodes)
    kernel = op2.Kernel(SPREAD, "spread")
    return op2.ParLoop(kernel, lines, x(op2.READ), y(op2.INC, ends)).compute


def airfoil(columns: int, rows: int) -> Callable[[], None]:
    """One iteration of the demo: five loops, nine launches."""
    sys.path.insert(0, str(DEMOS))
    from airfoil import Airfoil

    from pyop2cxx.mesh import airfoil_arrays

    return Airfoil(airfoil_arrays(columns, rows)).iterate


CASES: dict[str, Callable[[], Callable[[], None]]] = {
    "direct, 300 elements": lambda: direct(300),
    "direct, 3 000 elements": lambda: direct(3_000),
    "direct, 30 000 elements": lambda: direct(30_000),
    "edges, 3 000 elements": lambda: edges(3_000),
    "edges, 100 000 elements": lambda: edges(100_000),
    "airfoil, 3 000 cells": lambda: airfoil(100, 30),
    "airfoil, 80 000 cells": lambda: airfoil(400, 200),
}


def measure(name: str, rounds: int) -> dict[str, float]:
    """Return the seconds of one call on each backend."""
    from pyop2cxx import op2

    step = CASES[name]()
    calls, seconds = 1, {backend: list[float]() for backend in BACKENDS}
    for backend in BACKENDS:  # compile, plan, and see how many calls fill a round
        with op2.backend(backend):
            step()
            start = time.perf_counter()
            for _ in range(5):
                step()
            if backend == BACKENDS[0]:
                calls = max(1, int(SECONDS_A_ROUND * 5 / (time.perf_counter() - start)))
    for _ in range(rounds):
        for backend in BACKENDS:
            with op2.backend(backend):
                step()
                start = time.perf_counter()
                for _ in range(calls):
                    step()
                seconds[backend].append((time.perf_counter() - start) / calls)
    return {backend: statistics.median(found) for backend, found in seconds.items()}


@contextmanager
def others(n: int) -> Iterator[None]:
    """Keep n processes busy."""
    with ExitStack() as stack:
        for _ in range(n):
            process = stack.enter_context(subprocess.Popen([sys.executable, "-c", COUNT]))
            stack.callback(process.kill)
        yield


def in_fresh_process(name: str, rounds: int) -> dict[str, float]:
    """Measure where OpenMP's run-time has not been used: it reads the environment only once."""
    command = [sys.executable, __file__, "--child", name, "--rounds", str(rounds)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    n_cores = len(os.sched_getaffinity(0))
    parser.add_argument("--load", type=int, nargs="*", default=[0, n_cores], help="other processes")
    parser.add_argument("--rounds", type=int, default=15, help="of each backend: %(default)s")
    parser.add_argument("--cases", nargs="*", default=[""], help="parts of their names")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(measure(options.child, options.rounds)))
        return
    print(f"{n_cores} cores; microseconds a call, medians of {options.rounds} rounds")
    print(f"{'':26s} {'others':>6s} {'sequential':>12s} {'openmp':>12s} {'ratio':>6s}")
    for name in (name for name in CASES if any(part in name for part in options.cases)):
        for n in options.load:
            with others(n):
                found = in_fresh_process(name, options.rounds)
            one, many = (1e6 * found[backend] for backend in BACKENDS)
            print(f"{name:26s} {n:6d} {one:12.1f} {many:12.1f} {many / one:6.2f}", flush=True)


if __name__ == "__main__":
    main()
