#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Airfoil on every host backend against STREAM, and with --hand against code written by hand.

Each backend runs the demo in a process of its own; all are measured one after the other, so keep
the machine quiet. The number to watch is useful bytes over STREAM, not the seconds.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.mesh import AirfoilMesh, airfoil_arrays, free_stream
from pyop2cxx.mesh.files import read_mesh
from pyop2cxx.reports.bandwidth import CLibrary, measure_stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

HERE = Path(__file__).parent
DEMO = HERE.parent / "demos" / "airfoil.py"
LOOPS = ("save_soln", "adt_calc", "res_calc", "bres_calc", "update")
BLOCK_SIZE = 4096


def run_demo(backend: str, options: argparse.Namespace) -> dict[str, Any]:
    """Run the demo in a fresh process and return what it measured."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder, "airfoil.json")
        command = [sys.executable, str(DEMO), "--backend", backend, "--json", str(record)]
        command += ["--iterations", str(options.iterations), "--threads", str(options.threads)]
        if options.mesh:
            command += ["--mesh", str(options.mesh)]
        if options.strategy:
            command += ["--strategy", options.strategy]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return dict(json.loads(record.read_text()))


def colour_blocks(mesh: AirfoilMesh) -> tuple[int, NDArray[np.int32], NDArray[np.int32]]:
    """Colour blocks of consecutive edges greedily.

    Returns:
        The number of colours, where the blocks of each begin, and the blocks by colour.
    """
    n_blocks = -(-mesh.n_edges // BLOCK_SIZE)
    colour = np.empty(n_blocks, np.int64)
    taken = np.zeros(mesh.n_cells, np.int64)
    for block in range(n_blocks):
        cells = mesh.edge2cell[block * BLOCK_SIZE : (block + 1) * BLOCK_SIZE].ravel()
        free = ~int(np.bitwise_or.reduce(taken[cells]))
        bit = free & -free
        if bit >= 1 << 63:
            raise SystemExit(
                "bench_airfoil: more than 63 colours; --hand wants a natural numbering"
            )
        taken[cells] |= bit
        colour[block] = bit.bit_length() - 1
    n_colours = int(colour.max()) + 1
    blocks = np.argsort(colour, kind="stable").astype(np.int32)
    begin = np.searchsorted(colour[blocks], np.arange(n_colours + 1)).astype(np.int32)
    return n_colours, begin, blocks


class Hand:
    """The version written by hand, with the demo's data."""

    def __init__(self, mesh: AirfoilMesh) -> None:
        self.library = CLibrary((HERE / "hand_airfoil.c").read_text(), ("-fopenmp",))
        self.mesh = mesh
        self.colours = colour_blocks(mesh)

    def run(self, lanes: bool, threads: int, iterations: int) -> dict[str, Any]:
        """Iterate; return rms, wall time and per loop calls and seconds."""
        mesh, (n_colours, begin, blocks) = self.mesh, self.colours
        q = np.tile(free_stream(), (mesh.n_cells, 1))
        qold, res, adt = np.zeros_like(q), np.zeros_like(q), np.zeros(mesh.n_cells)
        p_q, p_qold, p_res, p_adt, x = (_pointer(a) for a in (q, qold, res, adt, mesh.x))
        edge_maps = _pointer(mesh.edge2node), _pointer(mesh.edge2cell)
        blocking = BLOCK_SIZE, n_colours, _pointer(begin), _pointer(blocks)
        bedge_maps = _pointer(mesh.bound), _pointer(mesh.bedge2node), _pointer(mesh.bedge2cell)
        functions = {name: self.library.function(f"hand_{name}") for name in LOOPS}
        functions["update"] = self.library.function("hand_update", ctypes.c_double)
        if lanes:
            for name in ("adt_calc", "res_calc"):
                functions[name] = self.library.function(f"hand_{name}_lanes")
        calls: dict[str, int] = defaultdict(int)
        seconds: dict[str, float] = defaultdict(float)

        def call(name: str, *arguments: object) -> float:
            function = functions[name]
            start = time.perf_counter()
            value = function(*arguments)
            seconds[name] += time.perf_counter() - start
            calls[name] += 1
            return value or 0.0

        self.library.function("hand_set_threads")(threads)
        start, squares = time.perf_counter(), 0.0
        for _ in range(iterations):
            call("save_soln", mesh.n_cells, p_q, p_qold)
            for _ in range(2):
                call("adt_calc", mesh.n_cells, x, p_q, p_adt, _pointer(mesh.cell2node))
                fields = x, p_q, p_adt, p_res
                call("res_calc", mesh.n_edges, *blocking, *fields, *edge_maps)
                call("bres_calc", mesh.n_bedges, *fields, *bedge_maps)
                squares = call("update", mesh.n_cells, p_qold, p_q, p_res, p_adt)
        return {
            "seconds": time.perf_counter() - start,
            "rms": math.sqrt(squares / mesh.n_cells),
            "loops": {name: {"calls": calls[name], "seconds": seconds[name]} for name in LOOPS},
        }


def _pointer(array: NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def useful_bytes(mesh: AirfoilMesh) -> dict[str, int]:
    """Bytes a call: each Dat and map entry once, what is both read and written twice."""
    x, q, adt = 16, 32, 8
    cells, edges, bedges, nodes = mesh.n_cells, mesh.n_edges, mesh.n_bedges, mesh.n_nodes
    # A boundary edge has a node and a cell of its own, up to the few corners.
    per_bedge = x + q + adt + 2 * q + 4 + 3 * 4
    return {
        "save_soln": cells * 2 * q,
        "adt_calc": nodes * x + cells * (q + adt + 4 * 4),
        "res_calc": nodes * x + cells * (q + adt + 2 * q) + edges * 4 * 4,
        "bres_calc": bedges * per_bedge,
        "update": cells * (q + q + 2 * q + adt),
    }


def print_row(name: str, record: dict[str, Any], bytes_of: dict[str, int], iterations: int) -> None:
    """Print milliseconds an iteration and a call, and the ratio to STREAM."""
    loops = record["loops"]
    seconds = sum(loops[loop]["seconds"] for loop in LOOPS)
    n_bytes = sum(loops[loop]["calls"] * bytes_of[loop] for loop in LOOPS)
    ratio = n_bytes / seconds / record["stream_triad"]
    per_call = [1e3 * loops[loop]["seconds"] / loops[loop]["calls"] for loop in LOOPS]
    print(
        f"{name:22s} {1e3 * seconds / iterations:9.2f} {ratio:8.2f} "
        f"{record['stream_triad'] / 1e9:7.1f}  " + " ".join(f"{ms:9.3f}" for ms in per_call)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--mesh", type=Path, help="default: the standard mesh, 720 000 cells")
    parser.add_argument("--backends", default="sequential,openmp")
    parser.add_argument("--strategy", help="force one in res_calc and bres_calc")
    parser.add_argument("--hand", action="store_true", help="measure the hand-written version too")
    options = parser.parse_args()
    mesh = read_mesh(options.mesh) if options.mesh else airfoil_arrays(400, 600)
    bytes_of = useful_bytes(mesh)
    print(f"{mesh.n_cells} cells, {options.iterations} iterations; ms a call after the bar")
    print(f"{'code':22s} {'ms/iter.':>9s} {'/STREAM':>8s} {'GB/s':>7s} |", end="")
    print(" ".join(f"{loop:>9s}" for loop in LOOPS))
    for backend in filter(None, options.backends.split(",")):
        record = run_demo(backend, options)
        print_row(f"{backend}, {record['threads']} threads", record, bytes_of, options.iterations)
    if not options.hand:
        return
    hand = Hand(mesh)
    for threads in sorted({1, options.threads}):
        triad = measure_stream(threads).triad
        for lanes in (False, True):
            record = {"stream_triad": triad, **hand.run(lanes, threads, options.iterations)}
            name = f"hand {'lanes' if lanes else 'scalar'}, {threads} threads"
            print_row(name, record, bytes_of, options.iterations)
        print(f"{'':22s} rms {record['rms']:.10e}")


if __name__ == "__main__":
    main()
