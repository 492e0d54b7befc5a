#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""u - div grad u = f on a square by quadratic elements; the boundary held strongly, then weakly.

Strongly, the dofs of the boundary have the exact values. Weakly, by Nitsche's method, integrals
over the facets of the boundary draw the solution there; the matrix stays symmetric and definite.
Both have to converge with order 3 to u = sin(2 x) exp(y).
"""

from __future__ import annotations

import sys

import ufl
from convergence import run
from ufl import div, dot, ds, dx, grad, inner

from pyop2cxx import fem
from pyop2cxx.mesh import square_mesh

PENALTY = 20.0  # more than the constant of the inverse inequality of quadratic elements


def solve(n: int) -> tuple[float, fem.Function]:
    """Solve in both ways on n x n squares; return the larger error, and u."""
    mesh = square_mesh(n)
    V = fem.FunctionSpace(mesh, ("P", 2))
    x, normal = fem.SpatialCoordinate(mesh), fem.FacetNormal(mesh)
    exact = ufl.sin(2 * x[0]) * ufl.exp(x[1])
    f = exact - div(grad(exact))
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    a = (u * v + inner(grad(u), grad(v))) * dx
    L = f * v * dx

    strong = fem.Function(V, name="strong")
    held = [fem.DirichletBC(V, exact)]
    fem.solve(a == L, strong, held, ksp_type="cg", pc_type="ilu", ksp_rtol=1e-10)

    weight = fem.Constant(mesh, PENALTY * n)
    flux_u, flux_v = dot(grad(u), normal), dot(grad(v), normal)
    a += (weight * u * v - flux_u * v - flux_v * u) * ds
    L += (weight * exact * v - flux_v * exact) * ds
    weak = fem.Function(V, name="weak")
    fem.solve(a == L, weak, ksp_type="cg", pc_type="ilu", ksp_rtol=1e-10)

    errors = [fem.error_norm(found, exact) for found in (strong, weak)]
    print(f"{n} x {n}: errors {errors[0]:.3e} held strongly, {errors[1]:.3e} weakly")
    return max(errors), weak


def main(argv: list[str] | None = None) -> int:
    """Run the demo; return 0, or 1 if it converges too slowly."""
    return run(__doc__, solve, order=2.8, cells=8, argv=argv)


if __name__ == "__main__":
    sys.exit(main())
