#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""From `import` to the first assembled matrix: of a new form, and of one that is on disk.

Each is a process of its own, which counts from before its first import, NumPy and UFL included.
Cold means an empty cache directory: FFCx writes the kernel, the C compiler compiles the loop. What
FFCx takes, its import included, is counted apart. Warm processes find both on disk. Beside the wall
time stands the processor time of the process and those that it starts, for busy machines.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from statistics import median

PROGRAM = """
import os, sys, time
begin, cpu = time.perf_counter(), sum(os.times()[:4])
import ufl
from ufl import dx, grad, inner
from pyop2cxx import fem, op2
from pyop2cxx.fem import compiler
from pyop2cxx.mesh import square_mesh, cube_mesh
imported, spent = time.perf_counter(), [0.0]

def timed(*given, written=compiler._written):
    start = time.perf_counter()
    try:
        return written(*given)
    finally:
        spent[0] += time.perf_counter() - start

compiler._written = timed
op2.init(backend=sys.argv[1], cache_dir=sys.argv[2])
V = fem.FunctionSpace(square_mesh(32) if sys.argv[3] == "2" else cube_mesh(8), ("P", 2))
u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
A = fem.assemble(inner(grad(u), grad(v)) * dx)
op2.wait()
end = time.perf_counter()
import json
print(json.dumps({"import": imported - begin, "ffcx": spent[0], "rest": end - imported - spent[0],
                  "cpu": sum(os.times()[:4]) - cpu}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backends", nargs="+", default=["sequential", "openmp"])
    parser.add_argument("--dim", default="2", choices=("2", "3"))
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    print("seconds, medians        import   FFCx    rest   least of import, rest     cpu")
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": tempfile.mkdtemp()}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed has its bytecode
    for backend in given.backends:
        found: dict[str, list[dict[str, float]]] = {"cold": [], "warm": []}
        for turn in range(given.rounds + 1):
            with tempfile.TemporaryDirectory() as cache:
                for rows in found.values():
                    command = [sys.executable, "-c", PROGRAM, backend, cache, given.dim]
                    done = subprocess.run(
                        command, check=True, capture_output=True, text=True, env=environment
                    )
                    if turn:  # before the first one there is no bytecode
                        rows.append(json.loads(done.stdout))
        for what, rows in found.items():
            middle = {key: median(row[key] for row in rows) for key in rows[0]}
            least = [min(row[key] for row in rows) for key in ("import", "rest")]
            print(
                f"{backend:12s} {what:8s} {middle['import']:8.3f} {middle['ffcx']:6.3f} "
                f"{middle['rest']:7.3f} {least[0]:15.3f} {least[1]:7.3f} {middle['cpu']:7.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
