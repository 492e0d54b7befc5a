#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Shallow water in a round basin after a dam has broken: finite volumes, walls around.

Interior facets carry Rusanov's flux between their two cells, facets of the boundary reflect. Each
step is as long as the smallest cell allows: a MIN over the cells. No water may get lost: the sum
over all cells stays the same to rounding. The surface must stay above the ground.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING

from pyop2cxx import op2
from pyop2cxx.mesh import disk_mesh
from pyop2cxx.op2 import INC, MIN, READ, RW
from pyop2cxx.plot import plot_values

if TYPE_CHECKING:
    from collections.abc import Sequence

# Depth and discharges (h, hu, hv). x are the ends of a facet in the order of its first cell's
# reference facet; that of facet 1, from vertex 0 to vertex 2, goes against the others' sense.
KERNELS = """
#include <math.h>
static void step(const double *x, const double *q, double *dt) {
  const double ax = x[2] - x[0], ay = x[3] - x[1], bx = x[4] - x[0], by = x[5] - x[1];
  const double longest = sqrt(fmax(ax * ax + ay * ay, bx * bx + by * by));
  const double speed = sqrt(q[1] * q[1] + q[2] * q[2]) / q[0] + sqrt(9.81 * q[0]);
  dt[0] = fmin(dt[0], 0.2 * fabs(ax * by - ay * bx) / longest / speed);
}
static void across(const double *q, const double *n, double *f) {
  const double flow = (q[1] * n[0] + q[2] * n[1]) / q[0], p = 0.5 * 9.81 * q[0] * q[0];
  f[0] = flow * q[0]; f[1] = flow * q[1] + p * n[0]; f[2] = flow * q[2] + p * n[1];
}
static void inner(const double *x, const int *local, const double *q, double *r) {
  const double sense = local[0] == 1 ? -1.0 : 1.0;
  const double n[2] = {sense * (x[3] - x[1]), sense * (x[0] - x[2])};
  double a[3], b[3], speed = 0.0;
  across(q, n, a); across(q + 3, n, b);
  for (int i = 0; i < 2; ++i) {
    const double *c = q + 3 * i;
    speed = fmax(speed, fabs(c[1] * n[0] + c[2] * n[1]) / c[0]
                 + sqrt(9.81 * c[0] * (n[0] * n[0] + n[1] * n[1])));
  }
  for (int i = 0; i < 3; ++i) {
    const double f = 0.5 * (a[i] + b[i] - speed * (q[3 + i] - q[i]));
    r[i] -= f; r[3 + i] += f;
  }
}
static void wall(const double *x, const int *local, const double *q, double *r) {
  const double sense = local[0] == 1 ? -1.0 : 1.0, p = 0.5 * 9.81 * q[0] * q[0];
  r[1] -= p * sense * (x[3] - x[1]); r[2] -= p * sense * (x[0] - x[2]);
}
static void update(const double *x, const double *dt, double *r, double *q) {
  const double area = 0.5 * fabs((x[2] - x[0]) * (x[5] - x[1]) - (x[4] - x[0]) * (x[3] - x[1]));
  for (int i = 0; i < 3; ++i) { q[i] += dt[0] / area * r[i]; r[i] = 0.0; }
}
static void volume(const double *x, const double *q, double *sum) {
  sum[0] += 0.5 * fabs((x[2] - x[0]) * (x[5] - x[1]) - (x[4] - x[0]) * (x[3] - x[1])) * q[0];
}
"""


class Basin:
    """A round basin of so many rings of cells, in which a dam has just broken.

    Attributes:
        mesh: The basin.
        q: Depth and discharges in the cells.
        dt: The length of the last step.
    """

    def __init__(self, rings: int) -> None:
        names = ("step", "inner", "wall", "update", "volume")
        step, inner, wall, update, volume = (op2.Kernel(KERNELS, name) for name in names)
        self.mesh = mesh = disk_mesh(rings)
        x, cells = mesh.coordinates, mesh.cells
        middle = x.data_ro[mesh.cell_vertices.values].mean(axis=1)
        self.q = q = op2.Dat(cells**3, name="q")
        q.data[:, 0] = 1.0 + (((middle - [0.3, 0.1]) ** 2).sum(axis=1) < 0.15)
        r, corners = op2.Dat(cells**3, name="r"), x(READ, mesh.cell_vertices)
        self.dt, self.sum = op2.Global(1, 0.0, name="dt"), op2.Global(1, 0.0, name="sum")
        self.length = op2.ParLoop(step, cells, corners, q(READ), self.dt(MIN))
        self.fluxes = []
        for kernel, facets in ((inner, mesh.interior_facets), (wall, mesh.exterior_facets)):
            local = facets.local_numbers(READ)
            ends, pair = x(READ, facets.vertices), facets.cells
            self.fluxes.append(
                op2.ParLoop(kernel, facets.set, ends, local, q(READ, pair), r(INC, pair))
            )
        self.update = op2.ParLoop(update, cells, corners, self.dt(READ), r(RW), q(RW))
        self.volume = op2.ParLoop(volume, cells, corners, q(READ), self.sum(INC))

    def step(self) -> None:
        """Advance by one step, as long as the smallest cell allows."""
        self.dt.data = 1.0
        self.length.compute()
        for flux in self.fluxes:
            flux.compute()
        self.update.compute()

    def water(self) -> float:
        """How much water there is."""
        self.sum.zero()
        self.volume.compute()
        return float(self.sum.data_ro[0])


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return 0, or 1 if water got lost or the ground fell dry."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="sequential", help="default: %(default)s")
    parser.add_argument("--cells", type=int, default=40, help="rings; default: %(default)s")
    parser.add_argument("--steps", type=int, default=200, help="default: %(default)s")
    parser.add_argument("--chain", action="store_true", help="let the loops of a step be combined")
    parser.add_argument("--picture", help="a file for the depth at the end")
    given = parser.parse_args(argv)
    op2.init(backend=given.backend)
    basin = Basin(given.cells)
    before = basin.water()
    with op2.profile() as profile:
        for _ in range(given.steps):
            with op2.chain() if given.chain else nullcontext():
                basin.step()
    lost = abs(basin.water() / before - 1)
    print(profile)
    if given.picture:
        plot_values(basin.mesh, basin.q, given.picture, component=0, title="depth", label="metres")
    passed = bool(lost < 1e-13 * max(given.steps, 10) and basin.q.min()[0] > 0)
    print(f"check: {'passed' if passed else 'FAILED'}: {lost:.1e} of the water lost")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
