#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Linear elasticity of a cube, by quadratic elements on tetrahedra.

-div sigma(u) = f; one side has the displacement of the exact solution, and on the others it is the
traction that is given: an integral over facets. The solution has to converge with order 3.
"""

from __future__ import annotations

import sys

import ufl
from convergence import run
from ufl import div, dot, ds, dx, grad, inner, sym

from pyop2cxx import fem
from pyop2cxx.mesh import cube_mesh

LAME = 1.25, 1.0  # lambda and mu


def stress(u: ufl.core.expr.Expr) -> ufl.core.expr.Expr:
    """Return the stress of a displacement."""
    return LAME[0] * div(u) * ufl.Identity(3) + 2 * LAME[1] * sym(grad(u))


def solve(n: int) -> tuple[float, fem.Function]:
    """Solve on n x n x n cubes, six tetrahedra each; return the error, and u."""
    mesh = cube_mesh(n)
    V = fem.FunctionSpace(mesh, ("P", 2, (3,)))
    x, normal = fem.SpatialCoordinate(mesh), fem.FacetNormal(mesh)
    exact = ufl.as_vector([ufl.sin(x[1] + x[2]), ufl.cos(x[0]) * x[2], ufl.exp(x[0] - x[1])])
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    a = inner(stress(u), sym(grad(v))) * dx
    L = -dot(div(stress(exact)), v) * dx + dot(dot(stress(exact), normal), v) * ds
    found = fem.Function(V, name="displacement")
    side = fem.DirichletBC(V, exact, "front")
    went = fem.solve(a == L, found, [side], ksp_type="cg", pc_type="jacobi", ksp_rtol=1e-9)
    print(f"{n} x {n} x {n}: {V.size} unknowns, {went.n_iterations} iterations")
    return fem.error_norm(found, exact, degree=6), found


def main(argv: list[str] | None = None) -> int:
    """Run the demo; return 0, or 1 if it converges too slowly."""
    return run(__doc__, solve, order=2.7, cells=2, argv=argv, moved=0.2)


if __name__ == "__main__":
    sys.exit(main())
