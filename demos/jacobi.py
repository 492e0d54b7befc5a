#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jacobi's iteration for Laplace's equation on a square of n x n nodes, boundary value one.

The matrix is a graph: an edge from each node to each of its neighbours carries the coefficient,
so that one product with it is one loop over edges. The exact answer is one everywhere.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx import op2

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

RES = """
static void res(const double *coefficient, const double *u, double *du, const double *scale)
{
  du[0] += scale[0] * coefficient[0] * u[0];
}
"""

UPDATE = """
static void update(const double *boundary, double *du, double *u, double *sum, double *largest)
{
  const double change = du[0] + boundary[0] - u[0];
  u[0] += change;
  du[0] = 0.0;
  sum[0] += change * change;
  largest[0] = fmax(largest[0], fabs(change));
}
"""


def graph(n: int) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Number the edges between neighbours.

    Returns:
        The node each edge adds to and the one it reads, shape (n_edges,), and what the boundary
        adds to each node, shape (n * n,).
    """
    node = np.arange(n * n, dtype=np.int32).reshape(n, n)
    pairs = [
        (node[:, 1:], node[:, :-1]),
        (node[:, :-1], node[:, 1:]),
        (node[1:], node[:-1]),
        (node[:-1], node[1:]),
    ]
    target = np.concatenate([to.ravel() for to, _ in pairs])
    source = np.concatenate([of.ravel() for _, of in pairs])
    n_neighbours = np.bincount(target, minlength=n * n)
    return target, source, 0.25 * (4 - n_neighbours)


class Jacobi:
    """The iteration from zero on a square of n x n nodes.

    Attributes:
        u: The values at the nodes.
        total: The sum of the squares of the last changes.
        largest: The largest of the last changes.
    """

    def __init__(self, n: int) -> None:
        target, source, from_boundary = graph(n)
        nodes = op2.Set(n * n, "nodes")
        edges = op2.Set(len(target), "edges")
        to_node = op2.Map(edges, nodes, 1, target, "to_node")
        from_node = op2.Map(edges, nodes, 1, source, "from_node")
        coefficient = op2.Dat(edges, np.full(len(target), 0.25), name="coefficient")
        boundary = op2.Dat(nodes, from_boundary, name="boundary")
        du = op2.Dat(nodes, name="du")
        scale = op2.Global(1, 1.0, name="scale")
        self.u = op2.Dat(nodes, name="u")
        self.total = op2.Global(1, 0.0, name="sum")
        self.largest = op2.Global(1, 0.0, name="largest")
        self.res = op2.ParLoop(
            op2.Kernel(RES, "res"),
            edges,
            *(coefficient(op2.READ), self.u(op2.READ, from_node), du(op2.INC, to_node)),
            scale(op2.READ),
        )
        self.update = op2.ParLoop(
            op2.Kernel(UPDATE, "update"),
            nodes,
            *(boundary(op2.READ), du(op2.RW), self.u(op2.RW)),
            *(self.total(op2.INC), self.largest(op2.MAX)),
        )

    def step(self) -> None:
        """Do one iteration."""
        self.total.zero()
        self.largest.zero()
        self.res.compute()
        self.update.compute()


def solve(
    n: int, iterations: int, *, chain: bool = False
) -> tuple[NDArray[np.float64], list[tuple[float, float]]]:
    """Iterate from zero.

    Returns:
        The values, shape (n * n,), and per iteration the root mean square and the largest change.
    """
    jacobi = Jacobi(n)
    history = []
    for _ in range(iterations):
        with op2.chain() if chain else nullcontext():
            jacobi.step()
        rms = float(np.sqrt(jacobi.total.data_ro[0] / (n * n)))
        history.append((rms, float(jacobi.largest.data_ro[0])))
    return jacobi.u.data_ro.copy(), history


def expected(n: int, iterations: int) -> NDArray[np.float64]:
    """The same iteration in NumPy: the average of the four neighbours, one outside."""
    u = np.ones((n + 2, n + 2))
    u[1:-1, 1:-1] = 0.0
    for _ in range(iterations):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return u[1:-1, 1:-1].ravel()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return 0, or 1 if the result is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="sequential", help="default: %(default)s")
    parser.add_argument("--nodes", type=int, default=6, help="nodes a side, default: %(default)s")
    parser.add_argument("--iterations", type=int, default=10, help="default: %(default)s")
    parser.add_argument("--chain", action="store_true", help="let the loops be combined")
    options = parser.parse_args(argv)
    if options.nodes < 1 or options.iterations < 1:
        parser.error("--nodes and --iterations must be at least 1")
    op2.init(backend=options.backend)
    u, history = solve(options.nodes, options.iterations, chain=options.chain)
    for iteration, (rms, largest) in enumerate(history, start=1):
        print(f"{iteration:4d}  change: rms {rms:.6e}  largest {largest:.6e}")
    if options.nodes <= 16:
        print("u:")
        print(np.array2string(u.reshape(options.nodes, -1), precision=4, floatmode="fixed"))
    error = float(np.abs(u - expected(options.nodes, options.iterations)).max())
    passed = error <= 1e-12
    print(f"check: {'passed' if passed else 'FAILED'}: largest difference to NumPy {error:.1e}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
