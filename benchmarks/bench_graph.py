#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What graphs cost, and what they save: against the same loops called one by one, in one run."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "demos"))

from airfoil import Airfoil

from pyop2cxx import op2
from pyop2cxx.mesh import airfoil_arrays

if TYPE_CHECKING:
    from collections.abc import Callable

ADD = op2.Kernel("void add(double *x, const double *y) { x[0] += y[0]; }", "add")
CENTRE = op2.Kernel("void centre(double *q, const double *p) { q[0] = 0.01 * p[0]; }", "centre")
TIE = op2.Kernel(
    "void tie(double *q, const double *p) { double d = p[0] - p[1]; q[0] += d; q[1] -= d; }", "tie"
)
DOT = op2.Kernel(
    "void dot(const double *p, const double *q, double *s) { s[0] += p[0] * q[0]; }", "dot"
)
MOVE = op2.Kernel(
    "void move(double *x, double *r, const double *p, const double *q, const double *rr,"
    " const double *pq) { double a = rr[0] / pq[0]; x[0] += a * p[0]; r[0] -= a * q[0]; }",
    "move",
)
TURN = op2.Kernel(
    "void turn(double *p, const double *r, const double *rr, const double *old)"
    " { p[0] = r[0] + rr[0] / old[0] * p[0]; }",
    "turn",
)
MOST_PASSES = 1000
STEPS_OF_A_CHAIN = 8


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
    """Print a step of airfoil eager, in chains, as a graph, and as a graph of a chain."""
    mesh = airfoil_arrays(*map(int, cells.split("x")))
    problem = Airfoil(mesh)
    problem.iterate()
    op2.wait()
    start = time.perf_counter()
    graph = op2.record(problem.iterate)
    print(f"airfoil recorded and instantiated: {1e3 * (time.perf_counter() - start):.1f} ms warm")

    def several() -> None:
        with op2.chain():
            for _ in range(STEPS_OF_A_CHAIN):
                problem.iterate()

    several()
    chained = op2.record(several)
    forms: dict[str, Callable[[], object]] = {
        "eager": lambda: [problem.iterate() for _ in range(iterations)],
        "chains": lambda: [several() for _ in range(iterations // STEPS_OF_A_CHAIN)],
        "graph": lambda: graph.submit(iterations),
        "graph of a chain": lambda: chained.submit(iterations // STEPS_OF_A_CHAIN),
    }
    best = dict.fromkeys(forms, float("inf"))
    for _ in range(rounds):  # they take turns: a slow moment of the machine meets all
        best = {name: min(best[name], _best(form, 1)) for name, form in forms.items()}
    print(f"airfoil, {mesh.n_cells} cells, us a step, and how many times faster than eager:")
    for name, seconds in best.items():
        print(f"  {name:16} {1e6 * seconds / iterations:8.1f} {best['eager'] / seconds:6.2f}")
    for name, one in (("graph", graph), ("graph of a chain", chained)):
        for found in (*one.stats().replays, *one.stats().regions):
            print(f"  {name}: {found}")


class Poisson:
    """Conjugate gradients on a grid, each unknown tied to its neighbours, without a matrix."""

    def __init__(self, n_rows: int, n_columns: int, tolerance: float) -> None:
        number = np.arange(n_rows * n_columns).reshape(n_rows, n_columns)
        along = np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], axis=1)
        across = np.stack([number[:-1].ravel(), number[1:].ravel()], axis=1)
        ends = np.concatenate([along, across])
        self.cells = op2.Set(number.size, "cells")
        self.edges = op2.Set(len(ends), "edges")
        self.ends = op2.Map(self.edges, self.cells, 2, ends, "ends")
        self.x, self.r, self.p, self.q = (op2.Dat(self.cells, name=name) for name in "xrpq")
        self.b = op2.Dat(self.cells, np.linspace(1, 2, number.size), name="b")
        start = float(self.b.data_ro @ self.b.data_ro)
        self.start = op2.Global(1, start, name="start")
        self.rr, self.pq, self.old = (op2.Global(1, start, name=name) for name in ("rr", "pq", "o"))
        self.goes_on = self.rr > tolerance**2 * start
        read, rw, inc = op2.READ, op2.RW, op2.INC
        p, q, r = self.p, self.q, self.r
        self.begin = (CENTRE, self.cells, q(op2.WRITE), p(read))
        self.tie = (TIE, self.edges, q(inc, self.ends), p(read, self.ends))
        self.dot_pq = (DOT, self.cells, p(read), q(read), self.pq(inc))
        scalars = (self.rr(read), self.pq(read))
        self.move = (MOVE, self.cells, self.x(rw), r(rw), p(read), q(read), *scalars)
        self.dot_rr = (DOT, self.cells, r(read), r(read), self.rr(inc))
        self.turn = (TURN, self.cells, p(rw), r(read), self.rr(read), self.old(read))

    def by_calls(self) -> Callable[[], int]:
        """Return what solves it by loops that the host calls and counts passes."""
        loops = [self.begin, self.tie, self.dot_pq, self.move, self.dot_rr, self.turn]
        begin, tie, dot_pq, move, dot_rr, turn = (op2.ParLoop(*one) for one in loops)

        def solve() -> int:
            self.x.zero()
            self.b.copy(self.r)
            self.b.copy(self.p)
            self.start.copy(self.rr)
            n = 0
            while self.goes_on and n < MOST_PASSES:
                begin.compute()
                tie.compute()
                self.pq.zero()
                dot_pq.compute()
                move.compute()
                self.rr.copy(self.old)
                self.rr.zero()
                dot_rr.compute()
                turn.compute()
                n += 1
            return n

        return solve

    def graph(self) -> Any:
        """Return the same as a graph."""
        with op2.graph("cg") as g:
            ready = g.then_fill(self.x).then_copy(self.b, self.r).then_copy(self.b, self.p)
            with ready.then_copy(self.start, self.rr).while_(self.goes_on, most=MOST_PASSES) as do:
                tied = do.then(*self.begin).then(*self.tie)
                moved = tied.then_fill(self.pq).then(*self.dot_pq).then(*self.move)
                kept = moved.then_copy(self.rr, self.old).then_fill(self.rr)
                kept.then(*self.dot_rr).then(*self.turn)
        return g.instantiate()


def cg(n_rows: int, n_columns: int, rounds: int) -> None:
    """Print a pass of conjugate gradients driven from the host, and as a graph with a while."""
    problem = Poisson(n_rows, n_columns, 1e-8)
    solve, graph = problem.by_calls(), problem.graph()
    n_passes = solve()
    expected = problem.x.data_ro.copy()
    for _ in range(6):  # whoever repeats faster is found by then
        graph.submit()
    error = np.abs(problem.x.data_ro - expected).max() / np.abs(expected).max()
    best = {"calls": float("inf"), "graph": float("inf")}
    for _ in range(rounds):
        best["calls"] = min(best["calls"], _best(solve, 1))
        best["graph"] = min(best["graph"], _best(graph.submit, 1))
    us = {name: 1e6 * seconds / n_passes for name, seconds in best.items()}
    print(
        f"conjugate gradients, {n_rows * n_columns} unknowns, {n_passes} passes: driven from the "
        f"host {us['calls']:.1f} us a pass, graph {us['graph']:.1f} us, ratio "
        f"{us['calls'] / us['graph']:.2f}; they differ by {error:.1e}"
    )
    for one in (*graph.stats().repeats, *graph.stats().replays, *graph.stats().regions):
        print(f"  {one}")


def main() -> None:
    """Print all figures for one backend."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="sequential")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--cells", nargs="*", default=["40x50", "400x600"])
    parser.add_argument("--iterations", type=int, default=48)
    given = parser.parse_args()
    op2.init(backend=given.backend)
    print(given.backend)
    diamonds(30, given.rounds)
    chain(10_000)
    for cells in given.cells:
        airfoil(cells, given.iterations, given.rounds)
    cg(50, 100, given.rounds)


if __name__ == "__main__":
    main()
