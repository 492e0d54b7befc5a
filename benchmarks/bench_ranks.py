#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The aerofoil on 1, 2 and 4 processes, and its exchange against bare persistent MPI.

The program starts itself by mpiexec for each number of processes. In each run the step of five
loops is timed, and by turns an exchange of q and adt by `op2.distribute`, and the same bytes to the
same neighbours by persistent requests of mpi4py alone. Numbers are medians; of all processes the
slowest counts. More processes than processors say something of the exchange only by its ratio.
The time beside the kernel is that of a loop with ghosts all valid, less that of its launch alone.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

DEMOS = Path(__file__).parent.parent / "demos"
TURNS = 200


def measure(columns: int, rows: int, steps: int, backend: str) -> None:
    """Measure in one of the processes; the first prints the numbers as JSON."""
    sys.path.insert(0, str(DEMOS))
    from airfoil import Airfoil
    from mpi4py import MPI

    from pyop2cxx import op2
    from pyop2cxx.mesh import airfoil_arrays

    comm = MPI.COMM_WORLD
    op2.init(comm=comm, backend=backend)
    airfoil = Airfoil(airfoil_arrays(columns, rows))
    start = time.perf_counter()
    report = op2.distribute(airfoil.q.dataset.set)
    distributed = time.perf_counter() - start
    airfoil.iterate()
    times = [seconds(comm, airfoil.iterate) for _ in range(steps)]
    ours, bare = exchanges(comm, airfoil) if comm.size > 1 else (0.0, 0.0)
    beside = beside_kernel(airfoil)
    found = {
        "ranks": comm.size,
        "cells": columns * rows,
        "distribute_seconds": distributed,
        "step_ms": 1e3 * statistics.median(times),
        "exchange_us": 1e6 * ours,
        "bare_us": 1e6 * bare,
        "beside_kernel_us": 1e6 * float(comm.allreduce(beside, op=max)),
        "cut": report.cut,
        "rms": airfoil.change(),
    }
    if comm.rank == 0:
        print(json.dumps(found), flush=True)


def seconds(comm: Any, call: Callable[[], object]) -> float:
    """Return the time of a call on the slowest process."""
    comm.Barrier()
    start = time.perf_counter()
    call()
    return float(comm.allreduce(time.perf_counter() - start, op=max))


def beside_kernel(airfoil: Any) -> float:
    """Return the time of a loop beside its kernel, where no ghost is out of date."""
    loop, times = airfoil.res_calc, ([], [])
    q, adt = (arg.data for arg in loop.args[1:3])
    for dat in (q, adt):
        _ = dat.data_ro_with_halos
    loop.compute()
    for _ in range(TURNS):
        for calls, call in zip(times, (loop.compute, loop.bound_run.launch), strict=True):
            start = time.perf_counter()
            call()
            calls.append(time.perf_counter() - start)
    whole, alone = map(statistics.median, times)
    return whole - alone


def exchanges(comm: Any, airfoil: Any) -> tuple[float, float]:
    """Return the medians of our exchange of q and adt, and of bare requests, by turns."""
    import numpy as np
    from mpi4py import MPI

    dats = [arg.data for arg in airfoil.res_calc.args[1:3]]
    halo = dats[0].dataset.set.halo
    row = sum(dat.cdim for dat in dats)
    pieces = [
        (way, rank, np.zeros(len(some) * row))
        for way, lists in (("in", halo.lists.ghosts), ("out", halo.lists.owned))
        for rank, some in sorted(lists.items())
    ]
    requests = [
        comm.Recv_init(piece, source=rank, tag=1)
        if way == "in"
        else comm.Send_init(piece, dest=rank, tag=1)
        for way, rank, piece in pieces
    ]

    def bare() -> None:
        MPI.Prequest.Startall(requests)
        MPI.Prequest.Waitall(requests)

    def ours() -> None:
        halo.messages.begin(dats, "the benchmark")
        halo.messages.end()

    turns = [(seconds(comm, ours), seconds(comm, bare)) for _ in range(TURNS)]
    mine, theirs = zip(*turns, strict=True)
    return statistics.median(mine), statistics.median(theirs)


def main() -> None:
    """Start the measurement for each number of processes, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", type=int, default=400)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--backend", default="sequential")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.here:
        measure(args.columns, args.rows, args.steps, args.backend)
        return
    beside = Path(sys.executable).parent / "mpiexec"
    mpiexec = str(beside) if beside.exists() else "mpiexec"
    given = [f"--{name}={getattr(args, name)}" for name in ("columns", "rows", "steps", "backend")]
    rows = []
    for n in args.ranks:
        command = [mpiexec, "-n", str(n), sys.executable, __file__, "--here", *given]
        environment = {"PYOP2CXX_THREADS": "1", **os.environ, "PYTHONUNBUFFERED": ""}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        rows.append(json.loads(done.stdout.splitlines()[-1]))
        row = rows[-1]
        ratio = row["exchange_us"] / row["bare_us"] if row["bare_us"] else 0.0
        print(
            f"{n} processes, {row['cells']} cells: step {row['step_ms']:.2f} ms, exchange "
            f"{row['exchange_us']:.1f} us, bare {row['bare_us']:.1f} us ({ratio:.2f}), beside the "
            f"kernel {row['beside_kernel_us']:.1f} us, distribute "
            f"{row['distribute_seconds']:.2f} s, rms {row['rms']:.10e}"
        )
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
