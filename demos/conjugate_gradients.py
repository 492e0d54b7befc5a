#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Conjugate gradients written as parallel loops: Laplace's equation by linear tetrahedra.

The matrix is never made: its product with a vector is a loop over the cells. Vectors are updated by
loops over the vertices, whose factors are quotients of sums that loops before them made, so an
iteration need not come back to the program. The values on the boundary are those of x + 2 y - z,
which is then the solution everywhere.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx import op2
from pyop2cxx.mesh import cube_mesh
from pyop2cxx.op2 import INC, READ, RW, WRITE

if TYPE_CHECKING:
    from collections.abc import Sequence

KERNELS = """
#include <math.h>
static void multiply(const double *x, const double *p, double *w) {
  double e[3][3], n[3][3], g[3] = {0.0, 0.0, 0.0};
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) e[i][k] = x[3 * (i + 1) + k] - x[k];
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k)
      n[i][k] = e[(i + 1) % 3][(k + 1) % 3] * e[(i + 2) % 3][(k + 2) % 3]
              - e[(i + 1) % 3][(k + 2) % 3] * e[(i + 2) % 3][(k + 1) % 3];
  const double det = e[0][0] * n[0][0] + e[0][1] * n[0][1] + e[0][2] * n[0][2];
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) g[k] += (p[i + 1] - p[0]) * n[i][k];
  for (int i = 0; i < 3; ++i) {
    const double f = (g[0] * n[i][0] + g[1] * n[i][1] + g[2] * n[i][2]) / (6.0 * fabs(det));
    w[0] -= f; w[i + 1] += f;
  }
}
static void start(const double *free, const double *w, double *r, double *p) {
  r[0] = -free[0] * w[0];
  p[0] = r[0];
}
static void hold(const double *free, double *w) { w[0] *= free[0]; }
static void dot(const double *a, const double *b, double *sum) { sum[0] += a[0] * b[0]; }
static void ahead(const double *p, const double *top, const double *bottom, double *u) {
  u[0] += top[0] / bottom[0] * p[0];
}
static void back(const double *w, const double *top, const double *bottom, double *r) {
  r[0] -= top[0] / bottom[0] * w[0];
}
static void turn(const double *r, const double *top, const double *bottom, double *p) {
  p[0] = r[0] + top[0] / bottom[0] * p[0];
}
"""


class System:
    """Laplace's equation in a cube of n x n x n cubes of six tetrahedra each.

    Attributes:
        mesh: The cube.
        u: The solution so far, at the vertices.
        n_done: Iterations.
    """

    def __init__(self, n: int) -> None:
        self.mesh = mesh = cube_mesh(n)
        self.cells, self.vertices, corners = mesh.cells, mesh.vertices, mesh.cell_vertices
        x = mesh.coordinates
        where = x.data_ro.copy()
        self.exact = where @ [1.0, 2.0, -1.0]
        inside = ((where > 1e-9) & (where < 1.0 - 1e-9)).all(axis=1)
        self.first = np.where(inside, 0.0, self.exact)
        self.free = free = op2.Dat(self.vertices, inside.astype(float), name="free")
        self.u = op2.Dat(self.vertices, name="u")
        r, p, w = (op2.Dat(self.vertices, name=name) for name in "rpw")
        self.squares = [op2.Global(1, 0.0, name=name) for name in ("even", "odd")]
        self.energy = op2.Global(1, 0.0, name="energy")
        self.r, self.p, self.w, self.n_done = r, p, w, 0
        names = ("multiply", "start", "hold", "dot", "ahead", "back", "turn")
        kernels = {name: op2.Kernel(KERNELS, name) for name in names}

        def product(vector: op2.Dat) -> op2.ParLoop:
            ends = x(READ, corners), vector(READ, corners), w(INC, corners)
            return op2.ParLoop(kernels["multiply"], self.cells, *ends)

        def over_vertices(name: str, *args: object) -> op2.ParLoop:
            return op2.ParLoop(kernels[name], self.vertices, *args)

        even, odd = self.squares
        self.start = (
            product(self.u),
            over_vertices("start", free(READ), w(READ), r(WRITE), p(WRITE)),
            over_vertices("dot", r(READ), r(READ), even(INC)),
        )
        self.multiply = product(p)
        self.hold = over_vertices("hold", free(READ), w(RW))
        self.dot_energy = over_vertices("dot", p(READ), w(READ), self.energy(INC))
        self.rest = []
        for old, new in ((even, odd), (odd, even)):
            quotient = old(READ), self.energy(READ)
            self.rest.append(
                (
                    new,
                    over_vertices("ahead", p(READ), *quotient, self.u(RW)),
                    over_vertices("back", w(READ), *quotient, r(RW)),
                    over_vertices("dot", r(READ), r(READ), new(INC)),
                    over_vertices("turn", r(READ), new(READ), old(READ), p(RW)),
                )
            )

        self.restart()

    def restart(self) -> None:
        """Begin with zero inside."""
        self.u.data = self.first
        self.w.zero()
        self.squares[0].zero()
        for loop in self.start:
            loop.compute()
        self.n_done = 0

    def step(self) -> None:
        """Do one iteration."""
        self.w.zero()
        self.multiply.compute()
        self.hold.compute()
        self.energy.zero()
        self.dot_energy.compute()
        new, *loops = self.rest[self.n_done % 2]
        new.zero()
        for loop in loops:
            loop.compute()
        self.n_done += 1

    def square(self) -> float:
        """The square of the residual's norm."""
        return float(self.squares[self.n_done % 2].data_ro[0])


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return 0, or 1 if the solution is not found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="sequential", help="default: %(default)s")
    parser.add_argument("--cells", type=int, default=12, help="a side, default: %(default)s")
    parser.add_argument("--chain", action="store_true", help="let the loops of a step be combined")
    given = parser.parse_args(argv)
    if given.cells < 2:
        parser.error("--cells must be at least 2")
    op2.init(backend=given.backend)
    system = System(given.cells)
    first = system.square()
    with op2.profile() as profile:
        while system.square() > 1e-24 * first and system.n_done < 1000:
            with op2.chain() if given.chain else nullcontext():
                system.step()
    print(profile)
    error = float(np.abs(system.u.data_ro - system.exact).max())
    passed = error < 1e-10
    print(f"{len(system.exact)} vertices, {system.n_done} iterations")
    print(f"check: {'passed' if passed else 'FAILED'}: largest error {error:.1e}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
