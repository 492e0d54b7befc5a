#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the first step of the airfoil costs from a table, and what a compiler and its cache cost.

Each number is the fastest of some processes, which are started in turns: the first call of the five
loops on a small mesh, made ready and run, and the same again; from a table also how long it takes
to refuse a loop that it does not have.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from pyop2cxx.mesh import airfoil_arrays
from pyop2cxx.mesh.files import write_mesh

DEMOS = Path(__file__).parents[1] / "demos"
PROGRAM = """
import sys, time
sys.path.insert(0, sys.argv[1])
from airfoil import Airfoil
from pyop2cxx import op2
from pyop2cxx.mesh.files import read_mesh
op2.init(backend=sys.argv[3], threads=1, eti_only=bool(sys.argv[4]))
start = time.perf_counter()
if sys.argv[4]:
    op2.dispatch.load(sys.argv[4])
loaded = time.perf_counter()
flow = Airfoil(read_mesh(sys.argv[2]))
times = []
for _ in range(3):
    begin = time.perf_counter()
    flow.iterate()
    flow.q.data_ro
    times.append(time.perf_counter() - begin)
rows = op2.dispatch.report()
assert not sys.argv[4] or {row.provider for row in rows} - {"builtin"} == {"ahead"}
refused = []
if sys.argv[4]:
    for n in range(5):
        unknown = op2.Kernel(f"void unknown{n}(double *q) {{ q[0] *= {n}; }}", f"unknown{n}")
        loop = op2.ParLoop(unknown, flow.q.dataset.set, flow.q(op2.RW))
        begin = time.perf_counter()
        try:
            loop.compute()
        except NotImplementedError:
            refused.append(time.perf_counter() - begin)
assert not sys.argv[4] or len(refused) == 5
taken = (loaded - start, times[0], min(times[1:]), min(refused, default=0))
print(*(1e3 * one for one in taken))
"""


def milliseconds(mesh: Path, backend: str, table: str, environment: dict[str, str]) -> list[float]:
    """Run the program, and return what loading, the first and a later step took."""
    command = [sys.executable, "-c", PROGRAM, str(DEMOS), str(mesh), backend, table]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise SystemExit(f"bench_table: a program with table {table!r} failed:\n{done.stderr}")
    return [float(one) for one in done.stdout.split()]


def main() -> None:
    """Build a table, then measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="openmp")
    parser.add_argument("--arch", default="native", help="such as native,sm_90, for cuda")
    parser.add_argument("--cells", type=int, nargs=2, default=(30, 40), help="around and away")
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, mesh = Path(name), Path(name, "mesh.dat")
        write_mesh(airfoil_arrays(*options.cells), mesh)
        command = [sys.executable, "-m", "pyop2cxx", "build", "--backend", options.backend]
        command += ["--arch", options.arch, "-o", str(folder / "lib"), str(DEMOS / "airfoil.py")]
        command += ["--backend", options.backend, "--mesh", str(mesh), "--iterations", "1"]
        subprocess.run(command, check=True, capture_output=True)
        cached = os.environ | {"PYOP2CXX_CACHE_DIR": str(folder / "cache")}
        alone = cached | {"PATH": ""}
        results: dict[str, list[list[float]]] = {"table": [], "compiler": [], "cache": []}
        for number in range(options.runs):
            table = str(folder / "lib")
            results["table"].append(milliseconds(mesh, options.backend, table, alone))
            fresh = os.environ | {"PYOP2CXX_CACHE_DIR": str(folder / f"cache{number}")}
            results["compiler"].append(milliseconds(mesh, options.backend, "", fresh))
            results["cache"].append(milliseconds(mesh, options.backend, "", fresh))
        for who, found in results.items():
            load, first, later, refused = (min(one) for one in zip(*found, strict=True))
            print(
                f"{who:9s} load {load:7.2f} ms, first step {first:8.2f} ms, later {later:7.2f} ms"
                + (f", an unknown loop is refused in {refused:.2f} ms" if refused else "")
            )


if __name__ == "__main__":
    main()
