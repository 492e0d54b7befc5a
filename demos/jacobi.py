#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jacobi's iteration for Laplace's equation on a square, boundary value one, as OP2's jac.

The matrix is a graph: each edge between neighbours carries a coefficient, so that one product with
it is one loop over edges, which add to both of their ends. The largest change and the sum of the
squares of all changes are reductions. NumPy's slices have to give the same.
"""

import sys

import numpy as np
from convergence import draw, started, steps, verdict

from pyop2cxx import op2
from pyop2cxx.mesh import square_mesh
from pyop2cxx.op2 import INC, MAX, READ, RW

KERNELS = """
static void res(const double *a, const double *u, double *du) {
  du[0] += a[0] * u[1]; du[1] += a[0] * u[0];
}
static void update(const double *inside, double *du, double *u, double *sum, double *largest) {
  const double d = inside[0] * (du[0] - u[0]);
  u[0] += d; du[0] = 0.0; sum[0] += d * d; largest[0] = fmax(largest[0], fabs(d));
}"""


class Jacobi:
    """The iteration from zero on n x n squares."""

    def __init__(self, n: int) -> None:
        self.mesh = square_mesh(n, cell="quadrilateral")
        nodes, edges, ends = self.mesh.vertices, self.mesh.edges.set, self.mesh.edges.vertices
        self.u, inside, du = op2.Dat(nodes, name="u"), op2.Dat(nodes, 1.0), op2.Dat(nodes)
        rim, a = self.mesh.exterior_facets.vertices_of(), op2.Dat(edges, 0.25, name="a")
        self.u.assign(1.0, subset=rim)
        inside.assign(0.0, subset=rim)
        self.total, self.largest = op2.Global(1, 0.0), op2.Global(1, 0.0)
        res, update = (op2.Kernel(KERNELS, name) for name in ("res", "update"))
        self.res = op2.ParLoop(res, edges, a(READ), self.u(READ, ends), du(INC, ends))
        values = inside(READ), du(RW), self.u(RW), self.total(INC), self.largest(MAX)
        self.update = op2.ParLoop(update, nodes, *values)

    def step(self) -> None:
        """Do one iteration."""
        for what in self.total.zero, self.largest.zero, self.res.compute, self.update.compute:
            what()


def main(argv: list[str] | None = None) -> int:
    """Run the demo; return 0, or 1 if NumPy finds something else."""
    given = started(__doc__, 7, argv, n_steps=10)
    jacobi, u = Jacobi(given.cells), np.pad(np.zeros((given.cells - 1,) * 2), 1, constant_values=1)
    for _ in steps(given):
        jacobi.step()
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    apart = float(abs(jacobi.u.data_ro - u.ravel()).max())
    norm, largest = np.sqrt(jacobi.total.data_ro[0]), jacobi.largest.data_ro[0]
    print(f"last change: norm {norm:.6e}, largest {largest:.6e}")
    draw(given, (jacobi.mesh, jacobi.u), title=f"after {given.steps} iterations")
    return verdict(apart <= 1e-12, f"largest difference to NumPy {apart:.1e}")


if __name__ == "__main__":
    sys.exit(main())
