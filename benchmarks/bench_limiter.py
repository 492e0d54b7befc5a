# SPDX-License-Identifier: BSD-3-Clause
"""Bounds of a limiter, by MIN and MAX through a Map, against the C library's fmin and NumPy.

Usage: python benchmarks/bench_limiter.py

Each vertex gets the least and the largest value of the triangles around it. `library` is the same
loop with a kernel that is compiled as it is written, so that it calls fmin and fmax of the C
library; `numpy` is `minimum.at` and `maximum.at`. Times are of the processor, on one thread; the
last number of a row is how many times as long as ours it takes.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx import mesh, op2

if TYPE_CHECKING:
    from collections.abc import Callable

TEXT = """#include <math.h>
void bounds(const double *u, double *least, double *largest) {
  JUMP
  for (int i = 0; i < 3; ++i) {
    least[i] = fmin(least[i], u[0]);
    largest[i] = fmax(largest[i], u[0]);
  }
}
"""


def best(run: Callable[[], object], n_runs: int = 30) -> float:
    """Return the least time of the processor that a call takes, in seconds."""
    times = []
    for _ in range(n_runs):
        begin = time.process_time()
        run()
        times.append(time.process_time() - begin)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.parse_args()
    op2.init(backend="sequential")
    square = mesh.square_mesh(200)
    cells, vertices, corners = square.cells, square.vertices, square.cell_vertices
    u = op2.Dat(cells, np.random.default_rng(1).random(cells.size))
    least, largest = op2.Dat(vertices, np.full(vertices.size, 9.0)), op2.Dat(vertices)
    rows = corners.values_with_halo

    def loop(jump: str) -> Callable[[], object]:
        kernel = op2.Kernel(TEXT.replace("JUMP", jump), "bounds")
        arguments = (u(op2.READ), least(op2.MIN, corners), largest(op2.MAX, corners))
        return op2.ParLoop(kernel, cells, *arguments).compute

    def numpy_does() -> None:
        np.minimum.at(low, rows, u.data_ro[:, None])
        np.maximum.at(high, rows, u.data_ro[:, None])

    low, high = np.full(vertices.size, 9.0), np.zeros(vertices.size)
    ways = {"ours": loop(""), "library": loop("goto next; next:;"), "numpy": numpy_does}
    for run in ways.values():
        run()
    assert np.array_equal(low, least.data_ro)
    assert np.array_equal(high, largest.data_ro)
    times = {way: best(run, 3 if way == "numpy" else 30) for way, run in ways.items()}
    print(f"{cells.size} triangles, bounds of {vertices.size} vertices")
    for way, seconds in times.items():
        print(f"  {way:8s} {1e3 * seconds:8.3f} ms   {seconds / times['ours']:6.2f}")


if __name__ == "__main__":
    main()
