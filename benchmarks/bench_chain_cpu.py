#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The airfoil on processors: five loops and chains against a C++ program, by turns in one run.

The C++ program is given as a file, compiled with `g++ -O3 -march=native -fopenmp`, and called as
`program mesh.bin mode iterations`. Mode 1 has five loops with vector instructions, mode 3 one pass
over the cells a stage. The program prints `... -> SECONDS s per 1000` iterations, without the time
to read the mesh: int32[4] (nodes, cells, edges, boundary edges), then coordinates, cell2node,
edge2node, edge2cell, bedge2node, bedge2cell and bound.

Each number of threads has a process of its own, in which all forms take turns. Times are the best
and the median of the rounds, in milliseconds an iteration; ratios are those of the best. Without a
file only the library is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "demos"))

from airfoil import Airfoil

from pyop2cxx import op2
from pyop2cxx.mesh import AirfoilMesh, airfoil_arrays

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PAIRS = (("five loops", "hand, five loops"), ("chain", "hand, one pass"))
_MODES = {"hand, five loops": 1, "hand, one pass": 3}


def write_binary(mesh: AirfoilMesh, path: Path) -> None:
    """Write a mesh as the C++ program reads it."""
    sizes = (mesh.n_nodes, mesh.n_cells, mesh.n_edges, mesh.n_bedges)
    maps = (mesh.cell2node, mesh.edge2node, mesh.edge2cell, mesh.bedge2node, mesh.bedge2cell)
    with path.open("wb") as file:
        file.write(np.array(sizes, np.int32).tobytes())
        file.write(np.ascontiguousarray(mesh.x, np.float64).tobytes())
        for values in (*maps, mesh.bound):
            file.write(np.ascontiguousarray(values, np.int32).tobytes())


def compile_program(text: Path, folder: Path) -> None:
    """Compile the C++ program into a folder."""
    command = ["g++", "-O3", "-march=native", "-fopenmp", str(text), "-o", str(folder / "hand")]
    subprocess.run(command, check=True)


def _by_hand(mode: int, threads: int) -> Callable[[Path, int], float]:
    cpus = os.sched_getaffinity(
        0
    )  # OpenMP binds this thread later, and a new process inherits that

    def run(folder: Path, iterations: int) -> float:
        command = [str(folder / "hand"), str(folder / "mesh.bin"), str(mode), str(iterations)]
        environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
        made = subprocess.run(
            command,
            check=True,
            capture_output=True,
            text=True,
            env=environment,
            preexec_fn=lambda: os.sched_setaffinity(0, cpus),
        )
        found = re.search(r"-> ([0-9.]+) s per 1000", made.stdout)
        if found is None:
            raise ValueError(f"{command[0]}: expected '-> SECONDS s per 1000', got {made.stdout!r}")
        return float(found.group(1))

    return run


def _of_library(airfoil: Airfoil, *, is_chain: bool, steps: int) -> Callable[[int], float]:
    def run(iterations: int) -> float:
        start = time.perf_counter()
        for _ in range(iterations // steps):
            if is_chain:
                with op2.chain():
                    for _ in range(steps):
                        airfoil.iterate()
            else:
                for _ in range(steps):
                    airfoil.iterate()
        airfoil.change()
        return 1e3 * (time.perf_counter() - start) / (iterations // steps * steps)

    return run


def measure(options: argparse.Namespace) -> dict[str, list[float]]:
    """Measure all forms on a number of threads; return milliseconds an iteration by round."""
    threads = options.threads[0]
    by_hand = {form: _by_hand(mode, threads) for form, mode in _MODES.items()}
    op2.init(backend="sequential" if threads == 1 else "openmp", threads=threads)
    mesh = airfoil_arrays(*options.cells)
    forms: dict[str, Callable[[int], float]] = {
        "five loops": _of_library(Airfoil(mesh), is_chain=False, steps=1),
        "chain": _of_library(Airfoil(mesh), is_chain=True, steps=1),
        "chain of 8 steps": _of_library(Airfoil(mesh), is_chain=True, steps=8),
    }
    with tempfile.TemporaryDirectory() as name:
        if options.hand:
            folder = Path(name)
            compile_program(options.hand, folder)
            write_binary(mesh, folder / "mesh.bin")
            for form, run in by_hand.items():
                forms[form] = partial(run, folder)
        for form, timed in forms.items():
            if form not in _MODES:
                timed(options.learn)  # compiles, plans, and decides by trials
        found: dict[str, list[float]] = {form: [] for form in forms}
        for _ in range(options.rounds):
            for form, timed in forms.items():
                found[form].append(timed(options.iterations))
    if options.explain:
        airfoil = Airfoil(mesh)
        with op2.chain() as chain:
            airfoil.iterate()
        print(chain.explain(), file=sys.stderr)
    return found


def print_table(threads: int, found: dict[str, list[float]]) -> None:
    """Print times and ratios of a number of threads."""
    best = {form: min(times) for form, times in found.items()}
    for form, times in found.items():
        median = statistics.median(times)
        print(f"{threads:3d} threads  {form:18s} best {best[form]:8.2f} median {median:8.2f} ms")
    pairs = [*_PAIRS, ("chain of 8 steps", "hand, one pass"), ("chain", "five loops")]
    for ours, other in pairs:
        if other in best:
            print(f"{threads:3d} threads  {ours} / {other}: {best[ours] / best[other]:.3f}")


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hand", type=Path, help="text of the C++ program to compare with")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 8, 16])
    parser.add_argument("--cells", type=int, nargs=2, default=[400, 600], metavar=("I", "J"))
    parser.add_argument("--iterations", type=int, default=40, help="of a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--learn", type=int, default=160, help="iterations before the first round")
    parser.add_argument("--explain", action="store_true", help="print how loops were combined")
    parser.add_argument("--json", type=Path, help="write the times to this file")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure each number of threads in a process of its own; return 0."""
    options = arguments(argv)
    if options.child:
        print(json.dumps(measure(options)))
        return 0
    record = {}
    for threads in options.threads:
        command = [sys.executable, __file__, "--child", "--threads", str(threads)]
        command += ["--cells", *map(str, options.cells)]
        for name in ("iterations", "rounds", "learn"):
            command += [f"--{name}", str(getattr(options, name))]
        command += ["--explain"] * options.explain
        if options.hand:
            command += ["--hand", str(options.hand)]
        # threads of both programs stay where their memory is
        environment = {"OMP_PROC_BIND": "close", "OMP_PLACES": "cores"} | os.environ
        made = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment)
        record[threads] = json.loads(made.stdout)
        print_table(threads, record[threads])
    if options.json:
        options.json.write_text(json.dumps(record, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
