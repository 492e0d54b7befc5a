#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Advection by discontinuous elements: b . grad u + u = f, with the flux from upwind.

Facets between cells carry the jump, facets of the boundary what flows in; no condition holds a
dof. GMRES starts at the projection of f, and is preconditioned by the inverse block of each cell.
Linear elements on quadrilaterals have to converge with order 2.
"""

from __future__ import annotations

import sys

import ufl
from convergence import run
from ufl import dot, dS, ds, dx, grad

from pyop2cxx import fem
from pyop2cxx.mesh import square_mesh


def solve(n: int) -> tuple[float, fem.Function]:
    """Solve on n x n quadrilaterals; return the error, and u."""
    mesh = square_mesh(n, cell="quadrilateral")
    V = fem.FunctionSpace(mesh, ("DG", 1))
    x, normal = fem.SpatialCoordinate(mesh), fem.FacetNormal(mesh)
    b = ufl.as_vector([1 + x[1], 0.5 - x[0]])
    exact = ufl.sin(3 * x[0]) * ufl.exp(x[1])
    f = dot(b, grad(exact)) + exact
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    out = 0.5 * (dot(b, normal) + abs(dot(b, normal)))  # of the cell; none where it flows in
    into = 0.5 * (dot(b, normal) - abs(dot(b, normal)))
    flux = out("+") * u("+") - out("-") * u("-")
    a = (u * v - u * ufl.div(b * v)) * dx + flux * (v("+") - v("-")) * dS + out * u * v * ds
    L = f * v * dx - into * exact * v * ds
    found = fem.project(f, fem.Function(V, name="u"))
    went = fem.solve(a == L, found, ksp_type="gmres", pc_type="bjacobi", ksp_rtol=1e-10)
    print(f"{V.size} dofs, {went.n_iterations} steps")
    return fem.error_norm(found, exact), found


def main(argv: list[str] | None = None) -> int:
    """Run the demo; return 0, or 1 if it converges too slowly."""
    return run(__doc__, solve, order=1.9, cells=8, argv=argv)


if __name__ == "__main__":
    sys.exit(main())
