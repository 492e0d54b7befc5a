#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What graphs cost, and what they save: against the same loops called one by one, in one run."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "demos"))

from airfoil import Airfoil

from pyop2cxx import op2
from pyop2cxx.mesh import airfoil_mesh

if TYPE_CHECKING:
    from collections.abc import Callable

ADD = op2.Kernel("void add(double *x, const double *y) { x[0] += y[0]; }", "add")


def _best(function: Callable[[], object], rounds: int) -> float:
    found = float("inf")
    for _ in range(rounds):
        op2.wait()
        start = time.perf_counter()
        function()
        op2.wait()
        found = min(found, time.perf_counter() - start)
    return found


def diamonds(n: int, rounds: int) -> None:
    """Print what a submit of stacked diamonds costs, on Sets of one entity."""
    one = op2.Set(1)
    a, b, c = (op2.Dat(one, [0.0]) for _ in range(3))
    with op2.graph("diamonds") as g:
        place: Any = g
        for _ in range(n):
            top = place.then(ADD, one, a(op2.RW), a(op2.READ))
            left = top.then(ADD, one, b(op2.RW), a(op2.READ))
            right = top.then(ADD, one, c(op2.RW), a(op2.READ))
            place = g.when_all(left, right).then(ADD, one, a(op2.RW), b(op2.READ))
    graph = g.instantiate()
    graph.submit()
    print(f"{n} stacked diamonds: {1e3 * _best(graph.submit, rounds):.3f} ms a submit")


def chain(n: int) -> None:
    """Print what it costs to build and instantiate a graph of one long path."""
    one = op2.Set(1)
    a, b = op2.Dat(one, [0.0]), op2.Dat(one, [1.0])
    start = time.perf_counter()
    with op2.graph("path") as g:
        place: Any = g
        for i in range(n):
            x, y = (a, b) if i % 2 else (b, a)
            place = place.then(ADD, one, x(op2.RW), y(op2.READ))
    built = time.perf_counter()
    graph = g.instantiate()
    ready = time.perf_counter()
    print(
        f"a path of {n} nodes: written in {1e3 * (built - start):.0f} ms, instantiated in "
        f"{1e3 * (ready - built):.0f} ms, {1e9 * _best(graph.submit, 5) / n:.0f} ns a node"
    )


def airfoil(cells: str, iterations: int, rounds: int) -> None:
    """Print a step of airfoil eager, and as a graph."""
    mesh = airfoil_mesh(*map(int, cells.split("x")))
    problem = Airfoil(mesh)
    problem.iterate()
    op2.wait()
    start = time.perf_counter()
    graph = op2.record(problem.iterate)
    print(f"airfoil recorded and instantiated: {1e3 * (time.perf_counter() - start):.1f} ms warm")

    def eager() -> None:
        for _ in range(iterations):
            problem.iterate()

    best = {"eager": float("inf"), "graph": float("inf")}
    for _ in range(rounds):  # they take turns: a slow moment of the machine meets both
        best["eager"] = min(best["eager"], _best(eager, 1))
        best["graph"] = min(best["graph"], _best(lambda: graph.submit(iterations), 1))
    step = {name: 1e6 * seconds / iterations for name, seconds in best.items()}
    print(
        f"airfoil, {mesh.n_cells} cells: eager {step['eager']:.1f} us a step, graph "
        f"{step['graph']:.1f} us, ratio {step['eager'] / step['graph']:.2f}"
    )


def main() -> None:
    """Print all figures for one backend."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="sequential")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--cells", nargs="*", default=["40x150", "400x600"])
    parser.add_argument("--iterations", type=int, default=50)
    given = parser.parse_args()
    op2.init(backend=given.backend)
    print(given.backend)
    diamonds(30, given.rounds)
    chain(10_000)
    for cells in given.cells:
        airfoil(cells, given.iterations, given.rounds)


if __name__ == "__main__":
    main()
