#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Steady flow around an aerofoil: finite volumes on quadrilaterals, five parallel loops.

Each iteration saves the solution and takes two stages of time step, interior fluxes, boundary
fluxes and update. Without --mesh the standard mesh of 720 000 cells is generated.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from airfoil_kernels import (
    ADT_CALC,
    BRES_CALC,
    REFERENCE,
    RES_CALC,
    SAVE_SOLN,
    TOLERANCE,
    UPDATE,
)

from pyop2cxx import op2
from pyop2cxx.mesh import AirfoilMesh, airfoil_arrays, free_stream
from pyop2cxx.mesh.files import read_mesh, write_mesh
from pyop2cxx.mesh.pictures import plot_mach
from pyop2cxx.reports.bandwidth import Stream, measure_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyop2cxx.reports.timings import LoopTiming


class Airfoil:
    """The problem on one mesh: its data, and the five loops prepared once.

    Args:
        mesh: The mesh.
        strategy: How interior and boundary fluxes are added up.
        stored: Dtype of state, residuals and coordinates in memory; kernels see doubles.
    """

    def __init__(
        self, mesh: AirfoilMesh, strategy: str | None = None, stored: str = "float64"
    ) -> None:
        nodes = op2.Set(mesh.n_nodes, "nodes")
        cells = op2.Set(mesh.n_cells, "cells")
        edges = op2.Set(mesh.n_edges, "edges")
        bedges = op2.Set(mesh.n_bedges, "bedges")
        c2n = op2.Map(cells, nodes, 4, mesh.cell2node, "cell2node")
        e2n = op2.Map(edges, nodes, 2, mesh.edge2node, "edge2node")
        e2c = op2.Map(edges, cells, 2, mesh.edge2cell, "edge2cell")
        b2n = op2.Map(bedges, nodes, 2, mesh.bedge2node, "bedge2node")
        b2c = op2.Map(bedges, cells, 1, mesh.bedge2cell, "bedge2cell")
        # copies: loops wait in a chain only on memory that nobody else can write to
        apart = {"dtype": stored, "compute": "float64"}
        x = op2.Dat(nodes**2, mesh.x.copy(), name="x", **apart)
        bound = op2.Dat(bedges, mesh.bound.copy(), name="bound")
        q = op2.Dat(cells**4, np.tile(free_stream(), (mesh.n_cells, 1)), name="q", **apart)
        qold = op2.Dat(cells**4, name="qold")
        adt = op2.Dat(cells, name="adt")
        res = op2.Dat(cells**4, name="res", **apart)
        qinf = op2.Global(4, free_stream(), name="qinf")
        rms = op2.Global(1, 0.0, name="rms")
        self.q, self.rms, self.n_cells = q, rms, mesh.n_cells
        read, write, rw, inc = op2.READ, op2.WRITE, op2.RW, op2.INC
        self.save_soln = op2.ParLoop(
            op2.Kernel(SAVE_SOLN, "save_soln"), cells, q(read), qold(write)
        )
        self.adt_calc = op2.ParLoop(
            op2.Kernel(ADT_CALC, "adt_calc"), cells, x(read, c2n), q(read), adt(write)
        )
        self.res_calc = op2.ParLoop(
            op2.Kernel(RES_CALC, "res_calc"),
            edges,
            *(x(read, e2n), q(read, e2c), adt(read, e2c), res(inc, e2c)),
            strategy=strategy,
        )
        self.bres_calc = op2.ParLoop(
            op2.Kernel(BRES_CALC, "bres_calc"),
            bedges,
            *(x(read, b2n), q(read, b2c), adt(read, b2c), res(inc, b2c), bound(read), qinf(read)),
            strategy=strategy,
        )
        self.update = op2.ParLoop(
            op2.Kernel(UPDATE, "update"), cells, qold(read), q(write), res(rw), adt(read), rms(inc)
        )

    def iterate(self) -> None:
        """Advance by one iteration of two stages."""
        self.save_soln.compute()
        for _ in range(2):
            self.rms.zero()
            self.adt_calc.compute()
            self.res_calc.compute()
            self.bres_calc.compute()
            self.update.compute()

    def change(self) -> float:
        """Root mean square of the last stage's change: how far from steady the flow is."""
        return math.sqrt(float(self.rms.data_ro[0]) / self.n_cells)


MEASURED = ("calls", "seconds", "enqueue_seconds", "useful_bytes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a run of some iterations gave and cost.

    Attributes:
        rms: The change after some iterations, by their number.
        first_seconds: Wall time of the first iteration, which also compiles and plans.
        seconds: Wall time of all iterations.
        plan_seconds: Wall time spent on plans.
        loops: Calls, seconds, seconds in which a device's loops were enqueued, and useful bytes of
            each loop, by its name.
    """

    rms: dict[int, float]
    first_seconds: float
    seconds: float
    plan_seconds: float
    loops: dict[str, dict[str, float]]


def run(airfoil: Airfoil, iterations: int, *, quiet: bool = False, chain: bool = False) -> Run:
    """Iterate with a progress bar; the rms is printed every 100 iterations and at the end."""
    rms = {}
    before = op2.timings()
    checkpoints = REFERENCE.get(airfoil.n_cells, {})
    first_seconds = 0.0
    start = time.perf_counter()
    numbers = range(1, iterations + 1)
    bar = numbers if quiet else op2.progress(numbers, "iterations")
    write = getattr(bar, "write", print)  # above a bar, where there is one
    with op2.chain() if chain else nullcontext():  # several iterations together, up to a report
        for iteration in bar:
            airfoil.iterate()
            if iteration == 1:
                op2.wait()
                first_seconds = time.perf_counter() - start
            shown = iteration % 100 == 0 or iteration == iterations
            if shown or iteration in checkpoints:
                rms[iteration] = airfoil.change()
            if shown and not quiet:
                write(f"{iteration:6d}  rms {rms[iteration]:.10e}")
    seconds = time.perf_counter() - start
    spent = {name: _since(before.get(name), row) for name, row in op2.timings().items()}
    ran = {name: row for name, row in spent.items() if row["calls"]}
    return Run(
        rms=rms,
        first_seconds=first_seconds,
        seconds=seconds,
        plan_seconds=sum(row["plan_seconds"] for row in ran.values()),
        loops={name: {key: row[key] for key in MEASURED} for name, row in ran.items()},
    )


def _since(before: LoopTiming | None, now: LoopTiming) -> dict[str, float]:
    """Subtract what loops of the same name had cost before: the counters are the process's."""
    earlier: dict[str, float] = {} if before is None else {**before}
    return {key: value - earlier.get(key, 0) for key, value in {**now}.items()}


def check(n_cells: int, rms: dict[int, float]) -> bool | None:
    """Compare with the reference values and say so; None where there is nothing to compare."""
    reference = REFERENCE.get(n_cells, {})
    both = sorted(reference.keys() & rms.keys())
    if not both:
        print("check: no reference value for this mesh after so many iterations")
        return None
    worst = max(abs(rms[n] / reference[n] - 1) for n in both)
    passed = worst <= TOLERANCE
    print(
        f"check: {'passed' if passed else 'FAILED'}: rms after {', '.join(map(str, both))} "
        f"iterations within {worst:.1e} of the reference (allowed: {TOLERANCE:.0e})"
    )
    return passed


def print_table(result: Run, stream: Stream) -> None:
    """Print what each loop cost, and its useful bytes against the bandwidth of STREAM."""
    print(
        f"{'loop':12s} {'calls':>6s} {'seconds':>9s} {'ms/call':>9s} {'GB/s':>7s} {'/STREAM':>8s}"
    )
    total_seconds = total_bytes = 0.0
    for name, loop in result.loops.items():
        seconds, n_bytes = loop["seconds"], loop["useful_bytes"]
        if loop["enqueue_seconds"]:
            print(f"{name:12s} {int(loop['calls']):6d}  enqueued on a device: see --profile")
            continue
        total_seconds += seconds
        total_bytes += n_bytes
        _print_row(name, int(loop["calls"]), seconds, n_bytes, stream)
    outside = ""
    if total_seconds:
        _print_row("all loops", 0, total_seconds, total_bytes, stream)
        outside = f"{result.seconds - total_seconds:.3f} s of it outside the loops, "
    print(
        f"{result.seconds:.3f} s in all, {outside}{result.plan_seconds:.3f} s for plans; the first "
        f"iteration, which also compiles, took {result.first_seconds:.3f} s"
    )
    beyond = "" if stream.is_beyond_cache else ", less than four times the cache"
    print(
        f"STREAM triad {stream.triad / 1e9:.1f} GB/s, copy {stream.copy / 1e9:.1f} GB/s on "
        f"{stream.threads} threads, arrays of {stream.array_bytes / 1e6:.0f} MB{beyond}"
    )


def _print_row(name: str, calls: int, seconds: float, n_bytes: float, stream: Stream) -> None:
    rate = n_bytes / seconds
    per_call = f"{1e3 * seconds / calls:9.3f}" if calls else " " * 9
    print(
        f"{name:12s} {calls or '':6} {seconds:9.3f} {per_call} {rate / 1e9:7.1f} "
        f"{rate / stream.triad:8.2f}"
    )


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="openmp", help="default: %(default)s")
    parser.add_argument("--threads", type=int, help="default: every CPU this process may use")
    parser.add_argument("--mesh", type=Path, help="read this .npz, .h5 or .dat file")
    parser.add_argument("--write-mesh", type=Path, help="write the mesh to such a file")
    parser.add_argument("--iterations", type=int, default=1000, help="default: %(default)s")
    parser.add_argument("--strategy", help="how interior and boundary fluxes are added up")
    parser.add_argument(
        "--stored",
        default="float64",
        choices=("float64", "float32"),
        help="state, residuals and coordinates in memory; kernels see doubles",
    )
    parser.add_argument(
        "--chain", action="store_true", help="let the loops of some iterations be combined"
    )
    parser.add_argument("--plot", type=Path, help="draw the Mach number into this file")
    parser.add_argument(
        "--profile", action="store_true", help="say what each loop cost and where it came from"
    )
    parser.add_argument("--json", type=Path, help="write the measurements to this file")
    options = parser.parse_args(argv)
    if options.iterations < 1:
        parser.error(f"--iterations: expected at least 1, got {options.iterations}")
    return options


def main(
    argv: Sequence[str] | None = None, *, measure: Callable[[int], Stream] = measure_stream
) -> int:
    """Run the demo; return 0, or 1 if the result is not the reference's.

    Args:
        argv: The command line; None means that of the process.
        measure: Gives the bandwidth of the memory for a number of threads.
    """
    options = arguments(argv)
    threads = options.threads or len(os.sched_getaffinity(0))
    op2.init(backend=options.backend, threads=threads)
    start = time.perf_counter()
    mesh = read_mesh(options.mesh) if options.mesh else airfoil_arrays(400, 600)
    print(
        f"mesh: {mesh.n_cells} cells, {mesh.n_edges} interior and {mesh.n_bedges} boundary edges, "
        f"{mesh.n_nodes} nodes ({time.perf_counter() - start:.2f} s)"
    )
    if options.write_mesh:
        write_mesh(mesh, options.write_mesh)
    airfoil = Airfoil(mesh, options.strategy, options.stored)
    with op2.profile() if options.profile else nullcontext() as profile:
        result = run(airfoil, options.iterations, chain=options.chain)
    stream = measure(1 if options.backend == "sequential" else threads)
    print_table(result, stream)
    passed = check(mesh.n_cells, result.rms)
    if profile is not None:
        print(profile)
        print(op2.dispatch.report())
    if options.plot:
        plot_mach(mesh, airfoil.q.data_ro, options.plot)
        print(f"picture: {options.plot}")
    if options.json:
        record = {
            "backend": options.backend,
            "threads": stream.threads,
            "iterations": options.iterations,
            "seconds": result.seconds,
            "first_seconds": result.first_seconds,
            "rms": airfoil.change(),
            "loops": result.loops,
            "stream_triad": stream.triad,
        }
        options.json.write_text(json.dumps(record, indent=2) + "\n")
    return 1 if passed is False else 0


if __name__ == "__main__":
    sys.exit(main())
