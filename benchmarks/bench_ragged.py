#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Gradients by least squares over Delaunay neighbours: a ragged Map against C by hand.

The C is a loop over compressed rows, compiled in the same run by the same compiler with the same
flags. CPU milliseconds of one thread, on devices those by the clock, the least of some repeats
taken by turns, so that busy neighbours disturb both alike. Loops with increments and the padded
Map stand beside for comparison. The ratio of the first row should not exceed 1.15.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial import Delaunay

from pyop2cxx import op2
from pyop2cxx.op2 import READ, WRITE

if TYPE_CHECKING:
    from collections.abc import Callable

GOAL = 1.15
FLAGS = ["-O3", "-march=native", "-fno-math-errno", "-std=c11"]  # as loops have them

BODY = """
  double xx = 0, xy = 0, yy = 0, xq = 0, yq = 0;
  for (int i = {first}; i < {n}; i++) {{
    const double dx = {x} - p[0], dy = {y} - p[1], dq = {q} - q0[0];
    const double w = 1 / (dx * dx + dy * dy);
    xx += w * dx * dx; xy += w * dx * dy; yy += w * dy * dy;
    xq += w * dx * dq; yq += w * dy * dq;
  }}
  const double det = 1 / (xx * yy - xy * xy);
  g[0] = det * (yy * xq - xy * yq);
  g[1] = det * (xx * yq - xy * xq);
"""
KERNEL = """
void gradient(double *g, const double *p, const double *q0, const double *x, const double *q,
              const int *n) {{ {body} }}
""".format(body=BODY.format(first="0", n="*n", x="x[2 * i]", y="x[2 * i + 1]", q="q[i]"))
PACKED = """
static double at(const double *v, int i) { return v[i]; }
""" + KERNEL.replace("x[2 * i]", "at(x, 2 * i)").replace(
    "x[2 * i + 1]", "at(x, 2 * i + 1)"
).replace("q[i]", "at(q, i)")
BY_HAND = """
void by_hand(long n_points, double *restrict gs, const double *restrict xs,
             const double *restrict qs, const int *restrict offsets, const int *restrict near) {{
  for (long e = 0; e < n_points; e++) {{
    double *g = gs + 2 * e;
    const double *p = xs + 2 * e, *q0 = qs + e;
    {body}
  }}
}}
""".format(
    body=BODY.format(
        first="offsets[e]",
        n="offsets[e + 1]",
        x="xs[2 * near[i]]",
        y="xs[2 * near[i] + 1]",
        q="qs[near[i]]",
    )
)


def neighbours(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return random points in an order along a curve, and offsets and numbers of neighbours."""
    points = np.random.default_rng(1).random((n, 2))
    side = max(int(np.sqrt(n) / 8), 1)
    column, row = (points * side).astype(int).T
    snake = np.where(column % 2, side - 1 - row, row)
    points = points[np.lexsort((points[:, 0], snake, column))]
    offsets, near = Delaunay(points).vertex_neighbor_vertices
    return points, offsets.astype(np.int32), near.astype(np.int32)


def compiled(compiler: str, flags: list[str]) -> Callable[..., Any]:
    """Return the loop by hand."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "hand.c"), Path(folder, "hand.so")
        source.write_text(BY_HAND)
        subprocess.run(
            [compiler, *flags, "-fPIC", "-shared", "-o", str(library), str(source)], check=True
        )
        found = ctypes.CDLL(str(library)).by_hand
    return found


def least(
    calls: dict[str, Callable[[], Any]], repeats: int, clock: Callable[[], float]
) -> dict[str, float]:
    """Return the least milliseconds of each call, taken by turns."""
    found = dict.fromkeys(calls, float("inf"))
    for _ in range(repeats):
        for name, call in calls.items():
            start = clock()
            call()
            op2.wait()
            found[name] = min(found[name], 1e3 * (clock() - start))
    return found


def loops(points: np.ndarray, offsets: np.ndarray, near: np.ndarray) -> dict[str, Any]:
    """Return the loops by name, and the Dats of their results."""
    n = len(points)
    cells = op2.Set(n, "cells")
    rng = np.random.default_rng(2)
    x, q = op2.Dat(cells**2, points, name="x"), op2.Dat(cells, rng.random(n), name="q")
    around = op2.RaggedMap(cells, cells, offsets, near, "around")
    made: dict[str, Any] = {}
    for name, text in (("read in place", KERNEL), ("packed", PACKED)):
        g = op2.Dat(cells**2, name="g")
        values = x(READ), q(READ), x(READ, around), q(READ, around), around.counts(READ)
        made[name] = op2.ParLoop(op2.Kernel(text, "gradient"), cells, g(WRITE), *values), g
    longest = around.longest
    padded = np.repeat(np.arange(n, dtype=np.int32)[:, None], longest, axis=1)
    padded[np.arange(longest) < np.diff(offsets)[:, None]] = near
    wide = op2.Map(cells, cells, longest, padded, "padded")
    g = op2.Dat(cells**2, name="g")
    values = x(READ), q(READ), x(READ, wide), q(READ, wide), around.counts(READ)
    made["padded Map"] = op2.ParLoop(op2.Kernel(KERNEL, "gradient"), cells, g(WRITE), *values), g
    return made | {"data": (x, q)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=150_000, help="points")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--backends", nargs="+", default=["sequential", "openmp"])
    parser.add_argument("--compilers", nargs="+", default=["gcc"])
    args = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    points, offsets, near = neighbours(args.n)
    print(f"{args.n} points, {len(near) / args.n:.1f} neighbours each, at most "
          f"{np.diff(offsets).max()}; CPU ms of one thread")  # fmt: skip
    print("| backend | compiler | loop | ms | of C by hand |")
    print("|---|---|---|---:|---:|")
    worst = 0.0
    for compiler in args.compilers:
        hand = compiled(compiler, FLAGS)
        for backend in args.backends:
            op2.init(backend=backend, compiler=compiler, threads=1)
            made = loops(points, offsets, near)
            x, q = made.pop("data")
            result = np.zeros((args.n, 2))
            arrays = result, x.data_ro, q.data_ro, offsets, near
            addresses = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
            calls = {"by hand": partial(hand, ctypes.c_long(args.n), *addresses)}
            calls |= {name: loop.compute for name, (loop, _) in made.items()}
            is_host = backend in ("sequential", "openmp")
            found = least(calls, args.repeats, time.process_time if is_host else time.perf_counter)
            for name, (_, g) in made.items():
                assert np.allclose(g.data_ro, result, rtol=1e-9), name
            for name, spent in found.items():
                ratio = spent / found["by hand"]
                print(f"| {backend} | {compiler} | {name} | {spent:.2f} | {ratio:.2f} |")
            if is_host:
                worst = max(worst, found["read in place"] / found["by hand"])
            else:  # what the padded Map computes besides counts as well
                fill = len(near) / (args.n * np.diff(offsets).max())
                rate = found["padded Map"] * fill / found["read in place"]
                print(f"rate of neighbours, of the padded Map's: {rate:.2f}; goal 0.8")
            op2.exit()
    print(f"read in place: at most {worst:.2f} of C by hand; goal {GOAL}")


if __name__ == "__main__":
    main()
