#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The airfoil in C++ on generated loops against the same loops run from Python, in turns.

Prints how long the project took to build, how large the run-time is, and the fastest step time of
all programs, which alternate, with their ratios to Python. With --chain a program in C++ on the
loops of a chain is one of them.
"""

from __future__ import annotations

import argparse
import io
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pyop2cxx.mesh import airfoil_arrays
from pyop2cxx.mesh.files import write_mesh

DEMOS = Path(__file__).parents[1] / "demos"
PYTHON = """
import sys, time
sys.path.insert(0, sys.argv[1])
from airfoil import Airfoil
from pyop2cxx import op2
from pyop2cxx.mesh.files import read_mesh
op2.init(backend=sys.argv[3], threads=int(sys.argv[4]))
flow = Airfoil(read_mesh(sys.argv[2]))
flow.iterate()
start = time.perf_counter()
for _ in range(int(sys.argv[5]) - 1):
    flow.iterate()
flow.q.data_ro
print("seconds", time.perf_counter() - start)
"""


def seconds_of(command: list[str]) -> float:
    """Run a program, and return the seconds that it prints."""
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("seconds"))
    return float(line.split()[1])


def build(folder: Path, mesh: Path, options: argparse.Namespace, *, chain: bool) -> Path:
    """Generate the loops and build the program."""
    threads = options.threads
    folder.mkdir()
    demo = [str(DEMOS / "airfoil.py"), "--mesh", str(mesh), "--iterations", "1"]
    demo += ["--chain"] * chain
    loops = folder / "loops"
    command = [sys.executable, "-m", "pyop2cxx", "generate"]
    command += ["--backend", ",".join(options.backends), "--arch", options.arch]
    subprocess.run([*command, "-o", str(loops), *demo], check=True, capture_output=True)
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    configure = ["cmake", "-S", str(DEMOS / "cpp"), "-B", str(folder / "out")]
    configure += [
        f"-DLOOPS={loops}",
        "-DBUILD_SHARED_LIBS=ON",
        f"-DCHAIN={'ON' if chain else 'OFF'}",
    ]
    subprocess.run(configure, check=True, capture_output=True)
    parallel = ["--parallel", str(threads)]
    command = ["cmake", "--build", str(folder / "out"), *parallel]
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    wall = time.perf_counter() - start
    print(f"build: {wall:.1f} s with {threads} jobs, {spent:.1f} s of processors")
    library = next((folder / "out").rglob("libop2_runtime.so"))
    stripped = folder / "stripped.so"
    subprocess.run(["strip", "-o", str(stripped), str(library)], check=True)
    print(f"run-time, stripped: {stripped.stat().st_size / 1e6:.2f} MB")
    return folder / "out" / "airfoil_demo"


def main() -> None:
    """Build, then measure each backend."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, nargs=2, default=(400, 600), help="around and away")
    parser.add_argument("--iterations", type=int, default=30)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--backends", nargs="+", default=["sequential", "openmp"])
    parser.add_argument("--chain", action="store_true", help="on the loops of a chain, too")
    parser.add_argument("--arch", default="native", help="such as native,sm_90, for cuda")
    options = parser.parse_args()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # a run that is cut has said what it has
    with tempfile.TemporaryDirectory() as name:
        folder, mesh = Path(name), Path(name, "mesh.dat")
        write_mesh(airfoil_arrays(*options.cells), mesh)
        programs = {"C++": [str(build(folder / "loops", mesh, options, chain=False))]}
        if options.chain:
            programs["C++, chain"] = [str(build(folder / "chain", mesh, options, chain=True))]
        programs["Python"] = [sys.executable, "-c", PYTHON, str(DEMOS)]
        numbers = [str(options.threads), str(options.iterations)]
        for backend in options.backends:
            run = [str(mesh), backend, *numbers, str(folder / "q.bin")]
            rounds = []
            for count in range(options.pairs):
                rounds.append([seconds_of([*program, *run]) for program in programs.values()])
                print(f"{backend}: round {count + 1} of {options.pairs}", file=sys.stderr)
            for name, times in zip(programs, zip(*rounds, strict=True), strict=True):
                step = 1e3 * min(times) / (options.iterations - 1)
                ratio = statistics.median(
                    own / python for own, (*_, python) in zip(times, rounds, strict=True)
                )
                fastest = min(times) / min(python for *_, python in rounds)
                print(
                    f"{backend}: {name} {step:.3f} ms an iteration, to Python {fastest:.3f} "
                    f"(fastest), {ratio:.3f} (median of {options.pairs})"
                )


if __name__ == "__main__":
    main()
