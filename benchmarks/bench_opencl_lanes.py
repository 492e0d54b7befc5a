#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Loops on lanes of an OpenCL device that is a CPU, against one element after the other.

One row for each loop and strategy: CPU and wall milliseconds of a call, the least of some repeats,
and the CPU seconds of the first call, which are mostly the device's compiler. The ratio of CPU
times is the number to watch: busy neighbours disturb it little.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx import op2
from pyop2cxx.exceptions import UnsupportedError
from pyop2cxx.mesh import airfoil_arrays, square_arrays
from pyop2cxx.op2 import INC, READ
from pyop2cxx.runtime import runtime

sys.path.insert(0, str(Path(__file__).parents[1] / "demos"))

from airfoil import Airfoil
from bench_lanes import LAPLACE, LOOPS, helmholtz_kernel, matrices, tetrahedra

if TYPE_CHECKING:
    from collections.abc import Iterator

STRATEGIES = ("direct", "colour", "block", "atomic", "owner", "scratch")


def wait() -> None:
    """Wait until the device has done all that is enqueued."""
    device = runtime.engine.chosen_device(runtime.engine.backend("opencl"))
    assert device is not None
    device.device.finish()


def timed(loop: op2.ParLoop, repeats: int) -> tuple[float, float, float]:
    """Return CPU and wall milliseconds of the fastest call, and CPU seconds of the first."""
    start = time.process_time()
    loop.compute()
    wait()
    first = time.process_time() - start
    cpu = wall = float("inf")
    for _ in range(repeats):
        start, clock = time.process_time(), time.perf_counter()
        loop.compute()
        wait()
        cpu = min(cpu, time.process_time() - start)
        wall = min(wall, time.perf_counter() - clock)
    return 1e3 * cpu, 1e3 * wall, first


def report(name: str, loop: op2.ParLoop, lanes: list[int], options: argparse.Namespace) -> None:
    """Print the rows of one loop."""
    for strategy in options.strategies:
        columns = []
        for w in (0, *lanes):
            how = {"strategy": strategy, "lanes": w}
            made = op2.ParLoop(loop.kernel, loop.iterset, *loop.args, **how)
            try:
                columns.append(timed(made, options.repeats))
            except UnsupportedError:
                break
        if len(columns) <= len(lanes):
            continue
        scalar = columns[0][0]
        text = "  ".join(f"{cpu:7.2f} {wall:7.2f} ({first:4.1f})" for cpu, wall, first in columns)
        ratios = " ".join(f"{scalar / cpu:5.2f}" for cpu, _, _ in columns[1:])
        print(f"{name:22s} {strategy:8s} {text}  ratio {ratios}", flush=True)


def actions(n: int, square: int) -> Iterator[tuple[str, op2.ParLoop]]:
    """Yield P1 on triangles, and Helmholtz' operator on tetrahedra of degree 1 to 3."""
    flat = square_arrays(square)
    cells, nodes = op2.Set(len(flat.cell2vertex)), op2.Set(len(flat.x))
    c2n = op2.Map(cells, nodes, 3, flat.cell2vertex)
    u, y = op2.Dat(nodes, np.ones(nodes.size)), op2.Dat(nodes)
    args = (op2.Dat(nodes**2, flat.x)(READ, c2n), u(READ, c2n), y(INC, c2n))
    yield "laplace P1, triangles", op2.ParLoop(op2.Kernel(LAPLACE, "laplace"), cells, *args)
    tets, vertices, values, points = tetrahedra(n)
    c2v = op2.Map(tets, vertices, 4, values)
    x = op2.Dat(vertices**3, points)
    for degree, n_dofs, n_points in ((1, 4, 1), (2, 10, 14), (3, 20, 24)):
        extra = n_dofs - 4
        n_unknowns = vertices.size + extra * tets.size
        own = vertices.size + np.arange(extra * tets.size).reshape(tets.size, extra)
        unknowns = op2.Set(n_unknowns)
        c2u = op2.Map(tets, unknowns, n_dofs, np.hstack([values, own]))
        u, y = op2.Dat(unknowns, np.ones(n_unknowns)), op2.Dat(unknowns)
        kernel = op2.Kernel(helmholtz_kernel(n_dofs, n_points)[0], "helmholtz")
        dats = (x(READ, c2v), u(READ, c2u), y(INC, c2u))
        yield f"helmholtz P{degree}", op2.ParLoop(kernel, tets, *dats)


SUM = """
static void energy(const double *q, double *sum, double *most)
{
  double e = 0.0;
  for (int k = 1; k <= 24; ++k) e += sqrt(q[0] * q[0] + k * q[1]) / (k + q[2] * q[2]) + q[3];
  sum[0] += e;
  sum[1] += e * e;
  if (e > most[0]) most[0] = e;
}"""


def sums(n: int) -> Iterator[tuple[str, op2.ParLoop]]:
    """Yield a kernel of 170 operations that reduces two Globals."""
    cells = op2.Set(n)
    q = op2.Dat(cells**4, np.random.default_rng(1).random((n, 4)))
    total, most = op2.Global(2, [0.0, 0.0]), op2.Global(1, 0.0)
    args = (q(READ), total(INC), most(op2.MAX))
    yield "sum and maximum", op2.ParLoop(op2.Kernel(SUM, "energy"), cells, *args)


def loops(options: argparse.Namespace) -> Iterator[tuple[str, op2.ParLoop]]:
    """Yield all loops with their names."""
    nx, ny = (int(n) for n in options.cells.split("x"))
    problem = Airfoil(airfoil_arrays(nx, ny))
    for name in LOOPS:
        yield name, getattr(problem, name)
    yield from sums(nx * ny)
    yield from actions(options.cube, options.square)
    for name, kernel, cells, args in matrices(options.square, options.cube):
        yield name, op2.ParLoop(kernel, cells, *args)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lanes", default="4,8", help="numbers of lanes to measure")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--cells", default="300x400", help="airfoil's mesh, as airfoil_arrays")
    parser.add_argument("--cube", type=int, default=12, help="6 n^3 tetrahedra")
    parser.add_argument("--square", type=int, default=250, help="2 n^2 triangles")
    parser.add_argument("--only", default="", help="a part of the names of loops to run")
    parser.add_argument("--strategies", default=",".join(STRATEGIES))
    options = parser.parse_args()
    options.strategies = options.strategies.split(",")
    lanes = [int(w) for w in options.lanes.split(",")]
    if not any(known.name == "opencl" and known.available for known in op2.backends()):
        print("no OpenCL device")
        return
    op2.init(backend="opencl")
    heads = "  ".join(f"{w or 'scalar'} cpu, wall (first)" for w in (0, *lanes))
    print(f"milliseconds a call: {heads}")
    for name, loop in loops(options):
        if options.only in name:
            report(name, loop, lanes, options)


if __name__ == "__main__":
    main()
