#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Cubic elements on hexahedra without their matrix: -div k grad u = f, by p-multigrid.

Conjugate gradients with a cycle of p-multigrid: the operators of degrees 3 and 1 and their
smoothers are loops, and no matrix is made. The error has to fall with order 4.
"""

from __future__ import annotations

import sys

import numpy as np
import ufl
from convergence import run
from ufl import dx, grad, inner

from pyop2cxx import fem
from pyop2cxx.mesh import cube_mesh

MOST = 15  # steps for a residual of 1e-12


def solve(n: int) -> tuple[float, fem.Function]:
    """Solve on n x n x n cubes; return the error, and u."""
    mesh = cube_mesh(n, cell="hexahedron")
    V = fem.FunctionSpace(mesh, ("Q", 3))
    x = fem.SpatialCoordinate(mesh)
    exact = ufl.sin(ufl.pi * x[0]) * ufl.sin(ufl.pi * x[1]) * ufl.sin(ufl.pi * x[2])
    k = 1 + x[0] ** 2
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    a = k * inner(grad(u), grad(v)) * dx
    L = -ufl.div(k * grad(exact)) * v * dx(degree=8)
    found = fem.Function(V, name="u")
    bcs = [fem.DirichletBC(V, 0.0)]
    went = fem.solve(a == L, found, bcs, pc_type="pmg", ksp_rtol=1e-12)
    print(f"{n} x {n} x {n}: {V.size} dofs, {went.n_iterations} steps")
    return fem.error_norm(found, exact) if went.n_iterations <= MOST else np.nan, found


def main(argv: list[str] | None = None) -> int:
    """Run the demo; return 0, or 1 if it converges too slowly."""
    return run(__doc__, solve, order=3.7, cells=3, argv=argv, where=lambda x: x[1] > 0.5)


if __name__ == "__main__":
    sys.exit(main())
