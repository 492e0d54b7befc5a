#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""From `import` to the first assembled matrix: of a new form, and of one that is on disk.

Each is a process of its own. Four times are told apart: importing NumPy and UFL, which a program
that writes a form has to do without us, too; importing pyop2cxx with what else it needs (Basix);
FFCx, its import included; and the rest, from `op2.init` to the matrix. Cold means an empty cache
directory: FFCx writes the kernel, the C compiler compiles the loop. Warm processes find both on
disk. The last column is processor time of the process and of those that it starts, for busy
machines: of the second, third and fourth.
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
begin = time.perf_counter()
import numpy
import ufl
from ufl import dx, grad, inner
theirs = time.perf_counter()
waited, cpu = sum(os.times()[2:4]), time.process_time()
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
print(json.dumps({"theirs": theirs - begin, "import": imported - theirs, "ffcx": spent[0],
                  "rest": end - imported - spent[0],
                  "cpu": time.process_time() - cpu + sum(os.times()[2:4]) - waited}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backends", nargs="+", default=["sequential", "openmp"])
    parser.add_argument("--dim", default="2", choices=("2", "3"))
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    print("seconds, medians   NumPy, UFL  import   FFCx    rest  least of import, rest     cpu")
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
                f"{backend:12s} {what:8s} {middle['theirs']:8.3f} {middle['import']:7.3f} "
                f"{middle['ffcx']:6.3f} {middle['rest']:7.3f} {least[0]:14.3f} {least[1]:7.3f} "
                f"{middle['cpu']:7.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
