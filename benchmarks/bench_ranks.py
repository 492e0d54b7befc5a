#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The aerofoil on 1, 2 and 4 processes, and its exchange against bare persistent MPI.

The program starts itself by mpiexec for each number of processes. In each run the step of five
loops is timed: loop by loop, as a graph, and as a graph of a chain of eight steps. On the host an
exchange of q and adt by `op2.distribute` is timed, and by turns the same bytes to the same
neighbours by persistent requests of mpi4py alone. On CUDA ten exchanges within a graph are timed by
each transport, and NCCL alone, without packing. Numbers are medians, of graphs the least of five;
of all processes the slowest counts. More processes than processors say something of the exchange
only by its ratio. The time beside the kernel is that of a loop with ghosts all valid, less that of
its launch alone. With --weak the mesh grows with the processes.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core, op2
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable

DEMOS = Path(__file__).parent.parent / "demos"
TURNS = 200


def measure(columns: int, rows: int, steps: int, backend: str) -> None:
    """Measure in one of the processes; the first prints the numbers as JSON."""
    sys.path.insert(0, str(DEMOS))
    from airfoil import Airfoil
    from mpi4py import MPI

    from pyop2cxx.mesh import airfoil_arrays

    comm = MPI.COMM_WORLD
    op2.init(comm=comm, backend=backend)
    airfoil = Airfoil(airfoil_arrays(columns, rows))
    start = time.perf_counter()
    report = op2.distribute(airfoil.q.dataset.set)
    distributed = time.perf_counter() - start
    airfoil.iterate()
    times = [seconds(comm, partial(waited, airfoil.iterate)) for _ in range(steps)]
    in_graph = graph_step(comm, airfoil.iterate, 1, steps)
    in_chain = graph_step(comm, partial(chained, airfoil, 8), 8, steps)
    rms = airfoil.change()
    ours, bare, between = 0.0, 0.0, {}
    if comm.size > 1 and runtime.device is None:
        ours, bare = exchanges(comm, airfoil)
    elif comm.size > 1:
        between = transports(comm, airfoil)
    beside = beside_kernel(airfoil)
    found = {
        "ranks": comm.size,
        "cells": 3 * columns * rows,
        "graph_ms": 1e3 * in_graph,
        "chain_ms": 1e3 * in_chain,
        "between_us": between,
        "distribute_seconds": distributed,
        "step_ms": 1e3 * statistics.median(times),
        "exchange_us": 1e6 * ours,
        "bare_us": 1e6 * bare,
        "beside_kernel_us": 1e6 * float(comm.allreduce(beside, op=max)),
        "cut": report.cut,
        "rms": rms,
    }
    if comm.rank == 0:
        print(json.dumps(found), flush=True)


def waited(call: Callable[[], object]) -> None:
    """Call, and wait for the devices."""
    call()
    for opened in runtime.engine.devices:
        opened.device.finish()


def chained(airfoil: Any, n: int) -> None:
    """Run n steps as a chain."""
    with op2.chain():
        for _ in range(n):
            airfoil.iterate()


def graph_step(comm: Any, call: Callable[[], object], n: int, steps: int) -> float:
    """Return the least time of a step within a graph of n steps."""
    graph = op2.record(call)
    for _ in range(3):
        graph.submit(8)  # measures ways of replaying
    runs = [seconds(comm, partial(waited, partial(graph.submit, steps))) for _ in range(5)]
    return min(runs) / (n * steps)


def transports(comm: Any, airfoil: Any) -> dict[str, float]:
    """Return microseconds of an exchange within a graph, by transport, and of NCCL alone."""
    dats = [arg.data for arg in airfoil.res_calc.args[1:3]]
    messages, found = dats[0].dataset.set.halo.messages, {}
    exchange = messages.exchange(dats, airfoil.res_calc.label)
    messages.transports.tasks(exchange)
    ways = {name: way.tasks(exchange) for name, way in messages.transports.ways.items()}
    if "nccl" in ways:
        n_pack = len(exchange.rows.pack())
        ways["nccl alone"] = ways["nccl"][n_pack : n_pack + 1]
    for name, tasks in ways.items():
        steps: list[Any] = []
        for task in [*tasks] * 10:
            steps.append(_core.graph.Step([len(steps) - 1] if steps else [], task))
        graph = _core.graph.LoopGraph(steps)
        for _ in range(10):
            graph.submit(4)
        runs = [seconds(comm, partial(waited, partial(graph.submit, 20))) for _ in range(5)]
        found[name] = 1e6 * min(runs) / 200
    return found


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
    parser.add_argument("--weak", action="store_true", help="columns are those of a process")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.here:
        measure(args.columns, args.rows, args.steps, args.backend)
        return
    beside = Path(sys.executable).parent / "mpiexec"
    mpiexec = str(beside) if beside.exists() else "mpiexec"
    rows = []
    for n in args.ranks:
        columns = args.columns * (n if args.weak else 1)
        given = [f"--{name}={getattr(args, name)}" for name in ("rows", "steps", "backend")]
        given.append(f"--columns={columns}")
        command = [mpiexec, "-n", str(n), sys.executable, __file__, "--here", *given]
        environment = {"PYOP2CXX_THREADS": "1", **os.environ, "PYTHONUNBUFFERED": ""}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        rows.append(json.loads(done.stdout.splitlines()[-1]))
        row = rows[-1]
        ratio = row["exchange_us"] / row["bare_us"] if row["bare_us"] else 0.0
        print(
            f"{n} processes, {row['cells']} cells: step {row['step_ms']:.3f} ms, graph "
            f"{row['graph_ms']:.4f}, of a chain {row['chain_ms']:.4f}; between devices, us: "
            f"{ {way: round(us, 1) for way, us in row['between_us'].items()} }; exchange "
            f"{row['exchange_us']:.1f} us, bare {row['bare_us']:.1f} us ({ratio:.2f}), beside the "
            f"kernel {row['beside_kernel_us']:.1f} us, distribute "
            f"{row['distribute_seconds']:.2f} s, rms {row['rms']:.10e}"
        )
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
