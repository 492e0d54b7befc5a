#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Maxwell's equations for a conductor, curl curl E + E = f, by Nedelec's elements.

Only the tangential component of the field is continuous, and only it is given on the boundary of
the cube. Elements of the lowest degree have to converge with order 1.
"""

from __future__ import annotations

import sys

import ufl
from convergence import run
from ufl import curl, dx, inner

from pyop2cxx import fem
from pyop2cxx.mesh import cube_mesh


def solve(n: int) -> tuple[float, fem.Function]:
    """Solve on n x n x n cubes, six tetrahedra each; return the error, and E."""
    mesh = cube_mesh(n)
    V = fem.FunctionSpace(mesh, ("N1curl", 1))
    x = fem.SpatialCoordinate(mesh)
    exact = ufl.as_vector([ufl.sin(2 * x[1]), ufl.cos(2 * x[2]) * x[0], ufl.sin(2 * x[0] + x[1])])
    f = curl(curl(exact)) + exact
    E, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    a = (inner(curl(E), curl(v)) + inner(E, v)) * dx
    L = inner(f, v) * dx(degree=4)
    field = fem.Function(V, name="field")
    bcs = [fem.DirichletBC(V, exact)]
    went = fem.solve(a == L, field, bcs, ksp_type="cg", pc_type="jacobi", ksp_rtol=1e-9)
    print(f"{n} x {n} x {n}: {V.size} unknowns, {went.n_iterations} iterations")
    return fem.error_norm(field, exact, degree=4), field


def main(argv: list[str] | None = None) -> int:
    """Run the demo; return 0, or 1 if it converges too slowly."""
    return run(__doc__, solve, order=0.9, cells=3, argv=argv)


if __name__ == "__main__":
    sys.exit(main())
