#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Poisson's equation with elements of degree 4, condensed: -div grad u = f on quadrilaterals.

The 9 dofs inside of each cell are eliminated by a loop, before the system of the others is
solved, and found by another loop afterwards. The error has to fall with order 5.
"""

from __future__ import annotations

import sys

import ufl
from convergence import run
from ufl import dx, grad, inner

from pyop2cxx import fem
from pyop2cxx.mesh import square_mesh


def solve(n: int) -> tuple[float, fem.Function]:
    """Solve on n x n quadrilaterals; return the error, and u."""
    mesh = square_mesh(n, cell="quadrilateral")
    V = fem.FunctionSpace(mesh, ("Q", 4))
    x = fem.SpatialCoordinate(mesh)
    exact = ufl.sin(5 * x[0]) * ufl.cos(4 * x[1])
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    a = inner(grad(u), grad(v)) * dx
    L = 41 * exact * v * dx
    system = fem.condense(a, L, bcs=[fem.DirichletBC(V, exact)])
    print(f"{system.matrix.nrows} of {V.size} values are kept")
    found = system.solve(fem.Function(V, name="u"), ksp_rtol=1e-12, pc_type="ilu")
    return fem.error_norm(found, exact), found


def main(argv: list[str] | None = None) -> int:
    """Run the demo; return 0, or 1 if it converges too slowly."""
    return run(__doc__, solve, order=4.8, cells=8, argv=argv)


if __name__ == "__main__":
    sys.exit(main())
