#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a loop costs besides its work: import, first compilation, disk cache, launch.

Whatever happens once in a process is measured in fresh processes; medians are printed beside the
numbers to reach. On a machine that others use, too, `--cpu` prints the least time of the processor
instead, compilers included; NumPy's import, which is part of ours, is a row of its own.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DEMOS = Path(__file__).parent.parent / "demos"
GOALS = {
    "import numpy, part of the next": None,
    "import pyop2cxx.op2": 250e-3,
    "first loop, cold, direct": 80e-3,
    "first loop, cold, edges": 130e-3,
    "first loop, from disk, direct": 5e-3,
    "first loop, from disk, edges": 5e-3,
    "later loop, from disk, direct": 5e-3,
    "later loop, from disk, edges": 5e-3,
    "compute(), 8 arguments, empty set": 2e-6,
    "par_loop(), same objects, empty set": 15e-6,
}
EIGHT = """
static void eight(double *a, const double *b, const double *c, const double *d, const double *e,
                  const double *f, const double *g, const double *h)
{
  a[0] = b[0] + c[0] + d[0] + e[0] + f[0] + g[0] + h[0];
}
"""


def now(*, cpu: bool) -> float:
    """Seconds on the wall, or of the processor: of this process and of those it waited for."""
    if not cpu:
        return time.perf_counter()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + used.ru_utime + used.ru_stime


def measure_import(*, cpu: bool) -> dict[str, float]:
    start = now(cpu=cpu)
    import numpy  # noqa: F401 - the import is what is measured

    first = now(cpu=cpu)
    from pyop2cxx import op2  # noqa: F401

    rows = ("import numpy, part of the next", "import pyop2cxx.op2")
    return dict(zip(rows, (first - start, now(cpu=cpu) - start), strict=True))


def measure_first(backend: str, cache_dir: str, kind: str, *, cpu: bool) -> dict[str, float]:
    """Time a loop's first run on few cells, so that plan and work cost nothing.

    A later loop finds parser, templates and compiler service ready, a first one does not.
    """
    sys.path.insert(0, str(DEMOS))
    from airfoil_kernels import RES_CALC, SAVE_SOLN

    from pyop2cxx import op2
    from pyop2cxx.mesh import airfoil_arrays

    op2.init(backend=backend, cache_dir=cache_dir)
    mesh = airfoil_arrays(4, 3)
    nodes, cells = op2.Set(mesh.n_nodes, "nodes"), op2.Set(mesh.n_cells, "cells")
    edges = op2.Set(mesh.n_edges, "edges")
    e2n = op2.Map(edges, nodes, 2, mesh.edge2node, "edge2node")
    e2c = op2.Map(edges, cells, 2, mesh.edge2cell, "edge2cell")
    x = op2.Dat(nodes**2, mesh.x, name="x")
    q, res = op2.Dat(cells**4, name="q"), op2.Dat(cells**4, name="res")
    q.data[:] = 1.0
    adt = op2.Dat(cells, name="adt")
    order, kind = kind.split()
    if order == "later":
        op2.par_loop(
            op2.Kernel("void other(double *adt) { adt[0] = 1; }", "other"), cells, adt(op2.RW)
        )
    gc.collect()  # whether the next collection falls into the loop is chance
    start = now(cpu=cpu)
    if kind == "direct":
        op2.par_loop(op2.Kernel(SAVE_SOLN, "save_soln"), cells, q(op2.READ), res(op2.WRITE))
    else:
        arguments = x(op2.READ, e2n), q(op2.READ, e2c), adt(op2.READ, e2c), res(op2.INC, e2c)
        op2.par_loop(op2.Kernel(RES_CALC, "res_calc"), edges, *arguments)
    return {kind: now(cpu=cpu) - start}


def measure_repeated(backend: str, cache_dir: str, *, cpu: bool) -> dict[str, float]:
    """Time launches of a loop that has nothing to do."""
    from pyop2cxx import op2

    op2.init(backend=backend, cache_dir=cache_dir)
    nobody = op2.Set(0, "nobody")
    dats = [op2.Dat(nobody, name=name) for name in "abcdefgh"]
    kernel = op2.Kernel(EIGHT, "eight")
    arguments = [dat(op2.READ if dat.name != "a" else op2.WRITE) for dat in dats]
    loop = op2.ParLoop(kernel, nobody, *arguments)
    first, rest = dats[0], dats[1:]
    read, write = op2.READ, op2.WRITE

    def par_loop() -> None:
        op2.par_loop(kernel, nobody, first(write), *[dat(read) for dat in rest])

    return {
        "compute(), 8 arguments, empty set": _of_call(loop.compute, cpu=cpu),
        "par_loop(), same objects, empty set": _of_call(par_loop, cpu=cpu),
    }


def _of_call(function: object, batches: int = 25, calls: int = 2000, *, cpu: bool) -> float:
    """Return the median time of a call, of the processor the least."""
    assert callable(function)
    function()
    seconds = []
    for _ in range(batches):
        start = now(cpu=cpu)
        for _ in range(calls):
            function()
        seconds.append((now(cpu=cpu) - start) / calls)
    return min(seconds) if cpu else statistics.median(seconds)


def in_fresh_process(*arguments: str, cpu: bool = False) -> dict[str, float]:
    """Run one of the measurements above in a process of its own."""
    command = [sys.executable, __file__, *(["--cpu"] if cpu else []), "--child", *arguments]
    # As a user's process is: with the byte code of the modules it imports.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    run = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return dict(json.loads(run.stdout.splitlines()[-1]))


def child(arguments: list[str], *, cpu: bool) -> dict[str, float]:
    match arguments:
        case ["import"]:
            return measure_import(cpu=cpu)
        case ["first", backend, cache_dir, kind]:
            return measure_first(backend, cache_dir, kind, cpu=cpu)
        case ["repeated", backend, cache_dir]:
            return measure_repeated(backend, cache_dir, cpu=cpu)
        case _:
            raise SystemExit(f"bench_latency: unknown measurement {arguments}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="openmp", help="default: %(default)s")
    parser.add_argument("--repeats", type=int, default=7, help="processes, default: %(default)s")
    parser.add_argument("--cpu", action="store_true", help="least time of the processor")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(child(options.child, cpu=options.cpu)))
        return
    in_fresh_process("import")  # writes byte code
    found: dict[str, list[float]] = {name: [] for name in GOALS}
    for _ in range(options.repeats):
        for name, value in in_fresh_process("import", cpu=options.cpu).items():
            found[name].append(value)
        for kind in ("direct", "edges"):
            with tempfile.TemporaryDirectory() as folder:
                for order, state in (
                    ("first", "cold"),
                    ("first", "from disk"),
                    ("later", "from disk"),
                ):
                    how = ("first", options.backend, folder, f"{order} {kind}")
                    seconds = in_fresh_process(*how, cpu=options.cpu)
                    found[f"{order} loop, {state}, {kind}"] += seconds.values()
    with tempfile.TemporaryDirectory() as folder:
        repeated = in_fresh_process("repeated", options.backend, folder, cpu=options.cpu)
        for name, value in repeated.items():
            found[name].append(value)
    of = "least time of the processor" if options.cpu else "medians"
    print(f"{options.backend}, {of} of {options.repeats} processes; microseconds")
    for name, goal in GOALS.items():
        value = min(found[name]) if options.cpu else statistics.median(found[name])
        verdict = "" if goal is None else f"goal {1e6 * goal:12.2f}   "
        verdict += "" if goal is None else "reached" if value <= goal else "missed"
        print(f"{name:38s} {1e6 * value:12.2f}   {verdict}".rstrip())


if __name__ == "__main__":
    main()
