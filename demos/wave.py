#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The wave equation without a matrix: u'' = div grad u in a box that reflects.

Each step is two loops: one over the cells adds the action of the stiffness, compiled from a form;
one over the dofs, written by hand, divides by the lumped mass and steps in time (leap-frog). Linear
elements have to meet cos(pi x) cos(pi y) cos(sqrt(2) pi t) with order 2.
"""

from __future__ import annotations

import sys

import numpy as np
import ufl
from convergence import run
from ufl import dx, grad, inner

from pyop2cxx import fem, op2
from pyop2cxx.mesh import square_mesh

END = 0.5
STEP = """void leap(const double *dt2, const double *mass, double *force, double *u, double *old) {
  const double next = 2 * u[0] - old[0] + dt2[0] * force[0] / mass[0];
  old[0] = u[0]; u[0] = next; force[0] = 0;
}"""


def solve(n: int) -> tuple[float, fem.Function]:
    """Go to the end of time on n x n squares; return the error there, and u."""
    mesh = square_mesh(n)
    V = fem.FunctionSpace(mesh, ("P", 1))
    speed, n_steps = np.sqrt(2) * np.pi, int(np.ceil(END * n * 4))
    dt = END / n_steps

    def shape(x: np.ndarray) -> np.ndarray:
        return np.cos(np.pi * x[0]) * np.cos(np.pi * x[1])

    u, old = (fem.interpolate(shape, fem.Function(V, name=name)) for name in ("u", "old"))
    old.dat.data[:] *= np.cos(speed * dt)
    v = ufl.TestFunction(V)
    mass = fem.assemble(v * dx).dat
    force = op2.Dat(V.dof_set, name="force")
    (push,) = fem.Form(-inner(grad(u), grad(v)) * dx, name="push").loops(force)
    dt2 = op2.Global(1, dt**2, name="dt2")
    values = (force(op2.RW), u.dat(op2.RW), old.dat(op2.RW))
    leap = op2.ParLoop(op2.Kernel(STEP, "leap"), V.dof_set, dt2(op2.READ), mass(op2.READ), *values)
    for _ in range(n_steps):
        push.compute()
        leap.compute()
    x = fem.SpatialCoordinate(mesh)
    there = ufl.cos(ufl.pi * x[0]) * ufl.cos(ufl.pi * x[1]) * np.cos(speed * END)
    return fem.error_norm(u, there), u


def main(argv: list[str] | None = None) -> int:
    """Run the demo; return 0, or 1 if it converges too slowly."""
    return run(__doc__, solve, order=1.9, cells=8, argv=argv)


if __name__ == "__main__":
    sys.exit(main())
