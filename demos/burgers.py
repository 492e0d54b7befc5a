#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Burgers' equation, nonlinear, in two dimensions: u' + (u . grad) u = nu div grad u, in time.

Quadratic elements, the trapezoidal rule (Crank and Nicolson) with a time step that is half the
mesh width, and Newton's method in each step; UFL derives the Jacobian. The exact solution is a
front that moves along the diagonal. It has to be met with the order of the time steps, 2.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import ufl
from convergence import run
from ufl import dot, dx, grad, inner

from pyop2cxx import fem
from pyop2cxx.mesh import square_mesh

END, REYNOLDS = 0.5, 40.0


def front(x: Any, t: Any) -> Any:
    """Return the exact solution (C. A. J. Fletcher, 1983), in UFL."""
    bend = 1 / (4 * (1 + ufl.exp((4 * (x[1] - x[0]) - t) * REYNOLDS / 32)))
    return ufl.as_vector([0.75 - bend, 0.75 + bend])


def solve(n: int) -> tuple[float, fem.Function]:
    """Go to the end of time on n x n squares; return the error there, and u."""
    mesh = square_mesh(n)
    V = fem.FunctionSpace(mesh, ("P", 2, (2,)))
    x, t = fem.SpatialCoordinate(mesh), fem.Constant(mesh, 0.0)
    n_steps = int(np.ceil(2 * END * n))
    dt = END / n_steps
    old = fem.interpolate(front(x, t), fem.Function(V, name="old"))
    u, v = fem.interpolate(front(x, t), fem.Function(V, name="u")), ufl.TestFunction(V)
    middle = 0.5 * (u + old)
    F = dot(u - old, v) / dt * dx + dot(dot(grad(middle), middle), v) * dx(degree=6)
    F += inner(grad(middle), grad(v)) / REYNOLDS * dx
    boundary = fem.DirichletBC(V, front(x, t))
    n_newton = 0
    for step in range(n_steps):
        t.value = (step + 1) * dt
        boundary.set(front(x, t))
        went = fem.solve(F == 0, u, [boundary])
        n_newton += went.n_iterations
        u.dat.copy(old.dat)
    print(f"{n} x {n}: {n_steps} steps in time, {n_newton / n_steps:.1f} of Newton's in each")
    return fem.error_norm(u, front(x, t)), u


def main(argv: list[str] | None = None) -> int:
    """Run the demo; return 0, or 1 if it converges too slowly."""
    return run(__doc__, solve, order=1.9, cells=8, argv=argv, component=0)


if __name__ == "__main__":
    sys.exit(main())
