#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Heat flow in a square by linear elements: explicit steps with a lumped mass matrix.

Each step is a loop over the triangles, whose flows meet at the vertices, and one over the vertices.
The temperature is zero on the boundary and at first a product of sines, which decays without
changing its shape. Compared with the exact decay, the error has to fall with order 2.
"""

from __future__ import annotations

import argparse
import math
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx import op2
from pyop2cxx.mesh import square_mesh
from pyop2cxx.op2 import INC, MAX, READ, RW

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

KERNELS = """
#include <math.h>
static void lumped(const double *x, double *m) {
  const double area = 0.5 * fabs((x[2] - x[0]) * (x[5] - x[1]) - (x[4] - x[0]) * (x[3] - x[1]));
  m[0] += area / 3.0; m[1] += area / 3.0; m[2] += area / 3.0;
}
static void flow(const double *x, const double *u, double *r) {
  const double ax = x[2] - x[0], ay = x[3] - x[1], bx = x[4] - x[0], by = x[5] - x[1];
  const double det = ax * by - ay * bx, p = u[1] - u[0], q = u[2] - u[0];
  const double gx = (p * by - q * ay) / det, gy = (q * ax - p * bx) / det;
  const double sense = det > 0.0 ? 0.5 : -0.5;
  const double f = sense * (gx * by - gy * bx), g = sense * (gy * ax - gx * ay);
  r[0] += f + g; r[1] -= f; r[2] -= g;
}
static void advance(const double *free, const double *m, const double *dt, double *r, double *u,
                    double *hottest) {
  u[0] += free[0] * dt[0] / m[0] * r[0];
  r[0] = 0.0;
  hottest[0] = fmax(hottest[0], u[0]);
}
"""


class Heat:
    """A square of n x n squares of two triangles each.

    Attributes:
        mesh: The square.
        u: The temperature at the vertices.
        hottest: The highest temperature after the last step.
    """

    def __init__(self, n: int) -> None:
        self.mesh = mesh = square_mesh(n)
        vertices, corners = mesh.vertices, mesh.cell_vertices
        x = mesh.coordinates
        self.where = x.data_ro.copy()
        inside = ((self.where > 1e-9) & (self.where < 1.0 - 1e-9)).all(axis=1)
        free = op2.Dat(vertices, inside.astype(float), name="free")
        mass = op2.Dat(vertices, name="mass")
        r = op2.Dat(vertices, name="r")
        self.u = op2.Dat(vertices, inside * self.shape(), name="u")
        self.step_size = 0.1 / (n * n)  # explicit steps are stable up to a quarter
        dt = op2.Global(1, self.step_size, name="dt")
        self.hottest = op2.Global(1, 0.0, name="hottest")
        lumped, flow, advance = (op2.Kernel(KERNELS, k) for k in ("lumped", "flow", "advance"))
        op2.par_loop(lumped, mesh.cells, x(READ, corners), mass(INC, corners))
        self.flow = op2.ParLoop(
            flow, mesh.cells, x(READ, corners), self.u(READ, corners), r(INC, corners)
        )
        self.advance = op2.ParLoop(
            advance,
            vertices,
            *(free(READ), mass(READ), dt(READ), r(RW), self.u(RW), self.hottest(MAX)),
        )

    def shape(self) -> NDArray[np.float64]:
        """The product of sines at the vertices, shape (n_vertices,)."""
        found: NDArray[np.float64] = np.sin(np.pi * self.where).prod(axis=1)
        return found

    def step(self) -> None:
        """Advance by one step."""
        self.hottest.zero()
        self.flow.compute()
        self.advance.compute()


def solve(n: int, end: float, *, chain: bool) -> float:
    """Compute until a time, and return the largest error."""
    heat = Heat(n)
    n_steps = math.ceil(end / heat.step_size)
    for _ in range(n_steps):
        with op2.chain() if chain else nullcontext():
            heat.step()
    decay = math.exp(-2 * math.pi**2 * n_steps * heat.step_size)
    error = float(np.abs(heat.u.data_ro - decay * heat.shape()).max())
    print(
        f"{n} x {n}: {n_steps} steps, hottest {heat.hottest.data_ro[0]:.6f}, "
        f"largest error {error:.2e}"
    )
    return error


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return 0, or 1 if the error does not fall as it should."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="sequential", help="default: %(default)s")
    parser.add_argument("--cells", type=int, default=16, help="a side, default: %(default)s")
    parser.add_argument("--end", type=float, default=0.05, help="time, default: %(default)s")
    parser.add_argument("--chain", action="store_true", help="let the loops of a step be combined")
    given = parser.parse_args(argv)
    if given.cells < 4 or given.end <= 0:
        parser.error("--cells must be at least 4, and --end positive")
    op2.init(backend=given.backend)
    with op2.profile() as profile:
        coarse, fine = (solve(k * given.cells, given.end, chain=given.chain) for k in (1, 2))
    print(profile)
    order = math.log2(coarse / fine)
    passed = order > 1.8
    print(f"check: {'passed' if passed else 'FAILED'}: order {order:.2f}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
