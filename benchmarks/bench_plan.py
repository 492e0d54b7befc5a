#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What plans cost: facts, colourings and inverse maps of the airfoil's edge loop.

Beside each time stands its ratio to a NumPy copy of the map, measured in the same run: no plan
can be made without reading the map once. The goal for a plan of the 720k mesh is 150 ms.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import TYPE_CHECKING

from pyop2cxx import op2
from pyop2cxx._core import plan as room
from pyop2cxx.mesh import airfoil_arrays

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

BLOCK_SIZES = (256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)
REPEATS = 5


def best_of(work: Callable[[], Any]) -> tuple[float, Any]:
    """The least seconds of a few repeats, and the last result."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return min(times), result


class Report:
    """Prints one line a measurement."""

    def __init__(self, copy_seconds: float) -> None:
        self._copy_seconds = copy_seconds
        self.add("NumPy copy of the map", copy_seconds, "")

    def add(self, what: str, seconds: float, note: str) -> None:
        """Print a time and its ratio to the copy's."""
        ratio = seconds / self._copy_seconds
        print(f"{what:34s} {seconds * 1e3:9.2f} ms {ratio:8.1f} x   {note}")


def measure_colourings(report: Report, path: op2.Map, n: int, n_threads: int) -> None:
    conflicts = [room.Conflict(path.table, room.all_slots, 0)]
    for size in BLOCK_SIZES:
        seconds, plan = best_of(
            lambda size=size: room.colour_blocks(n, None, conflicts, size, n_threads)
        )
        found = plan.statistics
        shared = 100 * found.n_shared / max(found.n_touched, 1)
        note = f"{found.n_colours} colours of {found.n_items_min}-{found.n_items_max} blocks"
        report.add(f"blocks of {size}", seconds, f"{note}, {shared:.1f} % of targets shared")
    seconds, plan = best_of(lambda: room.colour_elements(n, None, conflicts, n_threads))
    found = plan.statistics
    note = f"{found.n_colours} colours of {found.n_items_min}-{found.n_items_max} elements"
    report.add("element colouring", seconds, note)


def measure_inverses(report: Report, path: op2.Map, n: int, n_threads: int) -> None:
    occurrences = [room.Occurrence(path.table, slot) for slot in range(path.arity)]
    for order in (room.IncidenceOrder.by_element, room.IncidenceOrder.by_slot):
        spec = room.InverseSpec(n, None, occurrences, order, room.EntryOrigin.element, False)
        seconds, inverse = best_of(lambda spec=spec: room.invert(spec, n_threads))
        note = f"mean degree {inverse.degree_mean:.2f}, {inverse.bytes / 1e6:.1f} MB"
        report.add(f"inverse {order.name}", seconds, note)
    seconds, padded = best_of(lambda: room.pad(inverse, n_threads))  # by_slot, made last
    report.add("columns", seconds, f"{padded.width} columns, {padded.bytes / 1e6:.1f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mesh", type=int, nargs=2, default=(400, 600), metavar=("I", "J"))
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--shuffle", type=int, metavar="SEED", help="number the mesh at random")
    parser.add_argument("--renumber", choices=("rcm", "hilbert", "morton"))
    options = parser.parse_args()
    mesh = airfoil_arrays(*options.mesh, shuffle=options.shuffle)
    cells, edges = op2.Set(mesh.n_cells, "cells"), op2.Set(mesh.n_edges, "edges")
    nodes = op2.Set(mesh.n_nodes, "nodes")
    e2c = op2.Map(edges, cells, 2, mesh.edge2cell, "edge2cell")
    c2n = op2.Map(cells, nodes, 4, mesh.cell2node, "cell2node")
    e2n = op2.Map(edges, nodes, 2, mesh.edge2node, "edge2node")
    x = op2.Dat(nodes**2, mesh.x, name="x")
    print(f"{mesh.n_edges} edges, {mesh.n_cells} cells, {options.threads} threads")
    report = Report(best_of(e2c.values.copy)[0])
    if options.renumber:
        op2.init(threads=options.threads)
        coordinates = None if options.renumber == "rcm" else x
        start = time.perf_counter()
        op2.renumber([e2c, c2n, e2n], [x], method=options.renumber, coordinates=coordinates)
        report.add(f"renumber by {options.renumber}", time.perf_counter() - start, "all sets")
    seconds, facts = best_of(lambda: room.map_facts(e2c.table, mesh.n_edges, options.threads))
    report.add("facts", seconds, f"injective: {facts.injective}")
    measure_colourings(report, e2c, mesh.n_edges, options.threads)
    measure_inverses(report, e2c, mesh.n_edges, options.threads)


if __name__ == "__main__":
    main()
