#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Advection and diffusion in a rotating flow: du/dt + div(b u) - k div grad u = f, in time.

Quadratic elements on triangles, and the trapezoidal rule (Crank and Nicolson) with a time step that
is half the mesh width. The matrix is factorised once; each step assembles a vector by one loop. The
exact solution, exp(-t) sin(pi x) sin(pi y), has to be met with the order of the time steps, 2.
"""

from __future__ import annotations

import sys

import numpy as np
import ufl
from convergence import run
from ufl import dot, dx, grad, inner

from pyop2cxx import fem, op2
from pyop2cxx.mesh import square_mesh

END, DIFFUSION = 0.5, 0.05


def solve(n: int) -> tuple[float, fem.Function]:
    """Go to the end of time on n x n squares; return the error there, and u."""
    mesh = square_mesh(n)
    V = fem.FunctionSpace(mesh, ("P", 2))
    x = fem.SpatialCoordinate(mesh)
    n_steps = int(np.ceil(2 * END * n))
    dt, t = END / n_steps, fem.Constant(mesh, 0.0)
    b = ufl.as_vector([0.5 - x[1], x[0] - 0.5])
    shape = ufl.sin(ufl.pi * x[0]) * ufl.sin(ufl.pi * x[1])
    f = ufl.exp(-t) * (-shape + dot(b, grad(shape)) - DIFFUSION * ufl.div(grad(shape)))
    old = fem.interpolate(shape, fem.Function(V, name="u"))
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    middle = 0.5 * (u + old)
    F = (u - old) / dt * v + dot(b, grad(middle)) * v - f * v
    F = F * dx + DIFFUSION * inner(grad(middle), grad(v)) * dx
    a, L = (fem.Form(form, name=name) for form, name in zip(ufl.system(F), "aL", strict=True))
    bcs = [fem.DirichletBC(V, 0.0)]
    matrix, solver = fem.assemble(a, bcs), op2.Solver(ksp_type="preonly", pc_type="lu")
    right = fem.Function(V, name="right")
    for step in range(n_steps):
        t.value = (step + 0.5) * dt
        fem.assemble(L, bcs, right)
        solver.solve(matrix, old.dat, right.dat)  # which factorises at the first step only
    return fem.error_norm(old, np.exp(-END) * shape), old


def main(argv: list[str] | None = None) -> int:
    """Run the demo; return 0, or 1 if it converges too slowly."""
    return run(__doc__, solve, order=1.9, cells=8, argv=argv)


if __name__ == "__main__":
    sys.exit(main())
