#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jacobi's iteration for Laplace's equation on a square, boundary value one, as OP2's jac.

The matrix is a graph: each edge between neighbours carries a coefficient, so that one product with
it is one loop over edges, which add to both of their ends. The largest change and the sum of the
squares of all changes are reductions. NumPy's slices have to give the same.
"""

from __future__ import annotations

import sys

import numpy as np
from convergence import draw, started, steps, verdict

from pyop2cxx import op2
from pyop2cxx.mesh import square_mesh

KERNELS = """
static void res(const double *a, const double *u, double *du) {
  du[0] += a[0] * u[1]; du[1] += a[0] * u[0];
}
static void update(const double *inside, double *du, double *u, double *sum, double *largest) {
  const double change = inside[0] * (du[0] - u[0]);
  u[0] += change; du[0] = 0.0;
  sum[0] += change * change; largest[0] = fmax(largest[0], fabs(change));
}"""


class Jacobi:
    """The iteration from zero on n x n squares."""

    def __init__(self, n: int) -> None:
        self.mesh = square_mesh(n, cell="quadrilateral")
        nodes, edges = self.mesh.vertices, self.mesh.edges
        self.u, inside, du = op2.Dat(nodes, name="u"), op2.Dat(nodes, 1.0), op2.Dat(nodes)
        rim, a = self.mesh.exterior_facets.vertices_of(), op2.Dat(edges.set, 0.25, name="a")
        self.u.assign(1.0, subset=rim)
        inside.assign(0.0, subset=rim)
        self.total, self.largest = op2.Global(1, 0.0), op2.Global(1, 0.0)
        res, update = (op2.Kernel(KERNELS, name) for name in ("res", "update"))
        ends = self.u(op2.READ, edges.vertices), du(op2.INC, edges.vertices)
        self.res = op2.ParLoop(res, edges.set, a(op2.READ), *ends)
        values = inside(op2.READ), du(op2.RW), self.u(op2.RW)
        sums = self.total(op2.INC), self.largest(op2.MAX)
        self.update = op2.ParLoop(update, nodes, *values, *sums)

    def step(self) -> None:
        """Do one iteration."""
        self.total.zero()
        self.largest.zero()
        self.res.compute()
        self.update.compute()


def main(argv: list[str] | None = None) -> int:
    """Run the demo; return 0, or 1 if NumPy finds something else."""
    given = started(__doc__, 7, argv, n_steps=10)
    jacobi, u = Jacobi(given.cells), np.ones((given.cells + 1, given.cells + 1))
    u[1:-1, 1:-1] = 0.0
    for _ in steps(given):
        jacobi.step()
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    apart = float(abs(jacobi.u.data_ro - u.ravel()).max())
    change = np.sqrt(jacobi.total.data_ro[0]), jacobi.largest.data_ro[0]
    print("last change: norm {:.6e}, largest {:.6e}".format(*change))
    draw(given, (jacobi.mesh, jacobi.u), title=f"after {given.steps} iterations")
    return verdict(apart <= 1e-12, f"largest difference to NumPy {apart:.1e}")


if __name__ == "__main__":
    sys.exit(main())
