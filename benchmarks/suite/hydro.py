# SPDX-License-Identifier: BSD-3-Clause
"""Shock hydrodynamics on moving hexahedra, as in LULESH: a blast in the corner of a cube.

Positions and velocities are at the vertices, energies in the cells. The energy of a cell changes by
the work of its forces, so the total is conserved to rounding.
"""

from __future__ import annotations

import numpy as np
from programs import Program, copies, unless

from pyop2cxx import op2
from pyop2cxx.mesh import cube_mesh
from pyop2cxx.op2 import INC, MIN, READ, RW, WRITE

KERNELS = """
#include <math.h>
static void forces(const double *x, const double *v, const double *mass, const double *energy,
                   double *corner, double *f, double *dt) {
  static const int face[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                 {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
  double n[24], volume = 0.0, growth = 0.0;
  for (int i = 0; i < 24; ++i) n[i] = 0.0;
  for (int s = 0; s < 6; ++s) {
    double a[3], b[3], c[3], area[3];
    for (int k = 0; k < 3; ++k) {
      a[k] = x[3 * face[s][2] + k] - x[3 * face[s][0] + k];
      b[k] = x[3 * face[s][3] + k] - x[3 * face[s][1] + k];
      c[k] = 0.25 * (x[3 * face[s][0] + k] + x[3 * face[s][1] + k] + x[3 * face[s][2] + k]
                     + x[3 * face[s][3] + k]);
    }
    area[0] = 0.5 * (a[1] * b[2] - a[2] * b[1]);
    area[1] = 0.5 * (a[2] * b[0] - a[0] * b[2]);
    area[2] = 0.5 * (a[0] * b[1] - a[1] * b[0]);
    for (int k = 0; k < 3; ++k) {
      volume += c[k] * area[k] / 3.0;
      for (int j = 0; j < 4; ++j) n[3 * face[s][j] + k] += 0.25 * area[k];
    }
  }
  for (int i = 0; i < 24; ++i) growth += n[i] * v[i];
  const double length = cbrt(volume), density = mass[0] / volume;
  const double pressure = 0.4 * density * energy[0];
  const double sound = sqrt(1.4 * pressure / density);
  const double closing = growth < 0.0 ? -growth / (length * length) : 0.0;
  const double viscous = density * closing * (2.0 * closing + 0.3 * sound);
  for (int i = 0; i < 24; ++i) {
    corner[i] = (pressure + viscous) * n[i];
    f[i] += corner[i];
  }
  dt[0] = fmin(dt[0], 0.15 * length / (sound + 4.0 * closing + 1e-12));
}
static void move(const double *mass, const double *free, const double *dt, double *f, double *v,
                 double *half, double *x) {
  for (int k = 0; k < 3; ++k) {
    const double after = free[k] * (v[k] + dt[0] * f[k] / mass[0]);
    half[k] = 0.5 * (v[k] + after);
    v[k] = after;
    x[k] += dt[0] * half[k];
    f[k] = 0.0;
  }
}
static void work(const double *corner, const double *half, const double *mass, const double *dt,
                 double *energy) {
  double power = 0.0;
  for (int i = 0; i < 24; ++i) power += corner[i] * half[i];
  energy[0] -= dt[0] * power / mass[0];
}
"""


def hydro(size: float) -> Program:
    """A blast in a cube of hexahedra."""
    n = max(int(64 * size ** (1 / 3)), 4)
    mesh = cube_mesh(n, cell="hexahedron")
    cells, vertices, corners = mesh.cells, mesh.vertices, mesh.cell_vertices
    where = mesh.coordinates.data_ro.copy()
    x, v = op2.Dat(vertices**3, where.copy(), name="x"), op2.Dat(vertices**3, name="v")
    half, f = op2.Dat(vertices**3, name="half"), op2.Dat(vertices**3, name="f")
    mass = op2.Dat(cells, np.full(cells.size, 1.0 / n**3), name="mass")
    shares = np.bincount(corners.values.ravel(), minlength=vertices.size) / (8.0 * n**3)
    inertia = op2.Dat(vertices, shares, name="inertia")
    inside = ((where > 1e-9) & (where < 1.0 - 1e-9)).astype(float)
    free = op2.Dat(vertices**3, inside, name="free")
    near = (where[corners.values].mean(axis=1) ** 2).sum(axis=1) < 0.05
    energy = op2.Dat(cells, 0.1 + 2.0 * near, name="energy")
    corner, dt = op2.Dat(cells**24, name="corner forces"), op2.Global(1, 1.0, name="dt")
    start = op2.Global(1, 1.0, name="largest step")
    forces, move, work = (op2.Kernel(KERNELS, name) for name in ("forces", "move", "work"))
    of_cell = x(READ, corners), v(READ, corners), mass(READ), energy(READ), corner(WRITE)
    loops = (
        op2.ParLoop(forces, cells, *of_cell, f(INC, corners), dt(MIN)),
        op2.ParLoop(
            move, vertices, inertia(READ), free(READ), dt(READ), f(RW), v(RW), half(WRITE), x(RW)
        ),
        op2.ParLoop(
            work, cells, corner(READ), half(READ, corners), mass(READ), dt(READ), energy(RW)
        ),
    )

    def total() -> float:
        kinetic = 0.5 * float((inertia.data_ro[:, None] * v.data_ro**2).sum())
        return kinetic + float(mass.data_ro @ energy.data_ro)

    first = energy.data_ro.copy()
    before = total()

    def restart() -> None:
        x.data, energy.data = where, first
        v.zero()
        f.zero()

    def step() -> None:
        start.copy(dt)
        for loop in loops:
            loop.compute()

    def check() -> str:
        lost = abs(total() / before - 1)
        is_right = lost < 1e-11 and bool((energy.data_ro > 0).all())
        return unless(is_right, f"{lost:.1e} of the energy lost, least {energy.data_ro.min():.1e}")

    return Program(
        name="hydrodynamics",
        n=cells.size,
        step=step,
        check=check,
        fixed=lambda: {
            "corners": corners.values,
            "mass": mass.data_ro,
            "inertia": inertia.data_ro,
            "free": inside,
        },
        values=lambda: copies(x=x, v=v, energy=energy, dt=dt),
        restart=restart,
        most_steps=60,  # until cells get tangled
    )
