#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Shallow water in a round basin after a dam has broken: finite volumes, walls around.

Interior facets carry Rusanov's flux between their two cells, facets of the boundary reflect. Each
step is as long as the smallest cell allows: a MIN over the facets. No water may get lost: the sum
over all cells stays the same to rounding. The surface must stay above the ground.
"""

from __future__ import annotations

import sys

from convergence import draw, started, steps, verdict

from pyop2cxx import op2
from pyop2cxx.mesh import disk_mesh
from pyop2cxx.op2 import INC, MIN, READ, RW

# q: depth and discharges (h, hu, hv); n: normal of a facet, as long as the facet; v: areas of cells
KERNELS = """
static double across(const double *q, const double *n, double *f) {
  const double flow = (q[1] * n[0] + q[2] * n[1]) / q[0], p = 0.5 * 9.81 * q[0] * q[0];
  f[0] = flow * q[0]; f[1] = flow * q[1] + p * n[0]; f[2] = flow * q[2] + p * n[1];
  return fabs(flow) + sqrt(9.81 * q[0] * (n[0] * n[0] + n[1] * n[1]));
}
static void inner(const double *n, const double *v, const double *q, double *r, double *dt) {
  double a[3], b[3], speed = fmax(across(q, n, a), across(q + 3, n, b));
  dt[0] = fmin(dt[0], 0.4 * fmin(v[0], v[1]) / speed);
  for (int i = 0; i < 3; ++i) {
    const double f = 0.5 * (a[i] + b[i] - speed * (q[3 + i] - q[i]));
    r[i] -= f; r[3 + i] += f;
  }
}
static void wall(const double *n, const double *q, double *r) {
  for (int i = 0; i < 2; ++i) r[1 + i] -= 0.5 * 9.81 * q[0] * q[0] * n[i];
}
static void update(const double *dt, const double *v, double *r, double *q) {
  for (int i = 0; i < 3; ++i) { q[i] += dt[0] / v[0] * r[i]; r[i] = 0.0; }
}"""


class Basin:
    """A round basin of so many rings of cells, in which a dam has just broken."""

    def __init__(self, rings: int) -> None:
        self.mesh = disk_mesh(rings)
        cells, self.v = self.mesh.cells, self.mesh.cell_volumes
        middle = self.mesh.coordinates.data_ro[self.mesh.cell_vertices.values].mean(axis=1)
        self.q, r = op2.Dat(cells**3, name="q"), op2.Dat(cells**3, name="r")
        self.q.data[:, 0] = 1.0 + (((middle - [0.3, 0.1]) ** 2).sum(axis=1) < 0.15)
        self.dt = op2.Global(1, 1.0, name="dt")
        inside, rim, q, dt = self.mesh.interior_facets, self.mesh.exterior_facets, self.q, self.dt
        inner, wall, update = (op2.Kernel(KERNELS, name) for name in ("inner", "wall", "update"))
        pair = self.v(READ, inside.cells), q(READ, inside.cells), r(INC, inside.cells)
        self.loops = (
            op2.ParLoop(inner, inside.set, inside.normals(READ), *pair, dt(MIN)),
            op2.ParLoop(wall, rim.set, rim.normals(READ), q(READ, rim.cells), r(INC, rim.cells)),
            op2.ParLoop(update, cells, dt(READ), self.v(READ), r(RW), q(RW)),
        )

    def step(self) -> None:
        """Advance by one step, as long as the smallest cell allows."""
        self.dt.data = 1.0
        for loop in self.loops:
            loop.compute()


def main(argv: list[str] | None = None) -> int:
    """Run the demo; return 0, or 1 if water got lost or the ground fell dry."""
    given = started(__doc__, 40, argv, n_steps=200)
    basin = Basin(given.cells)
    before = basin.q.data_ro[:, 0] @ basin.v.data_ro
    for _ in steps(given):
        basin.step()
    draw(given, (basin.mesh, basin.q), component=0, title="depth", label="metres")
    lost = abs(float(basin.q.data_ro[:, 0] @ basin.v.data_ro / before - 1))
    dry = basin.q.min()[0] <= 0
    return verdict(lost < 1e-13 * max(given.steps, 10) and not dry, f"{lost:.1e} of the water lost")


if __name__ == "__main__":
    sys.exit(main())
