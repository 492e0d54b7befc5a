#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A block of rubber under large strain, by Newton's method; UFL derives residual and Jacobian.

The energy is neo-Hooke's. The body force is such that the block is bent and stretched by a known
displacement, which quadratic elements have to meet with order 3; the boundary is held there.
"""

from __future__ import annotations

import sys

import ufl
from convergence import run
from ufl import dot, dx, grad

from pyop2cxx import fem
from pyop2cxx.mesh import square_mesh

MU, LAMBDA = 1.0, 2.0


def energy(F: ufl.core.expr.Expr) -> ufl.core.expr.Expr:
    """Return the energy of a deformation gradient, plane strain."""
    J = ufl.det(F)
    return MU / 2 * (ufl.inner(F, F) - 2 - 2 * ufl.ln(J)) + LAMBDA / 2 * ufl.ln(J) ** 2


def stress(F: ufl.core.expr.Expr) -> ufl.core.expr.Expr:
    """Return the first stress of Piola and Kirchhoff: the derivative of the energy."""
    return MU * (F - ufl.inv(F).T) + LAMBDA * ufl.ln(ufl.det(F)) * ufl.inv(F).T


def solve(n: int) -> tuple[float, fem.Function]:
    """Solve on n x n squares, two triangles each; return the error, and u."""
    mesh = square_mesh(n)
    V = fem.FunctionSpace(mesh, ("P", 2, (2,)))
    x = fem.SpatialCoordinate(mesh)
    exact = 0.3 * ufl.as_vector([ufl.sin(2 * x[1]) + 0.5 * x[0] ** 2, x[0] * ufl.exp(x[1] / 2)])
    force = -ufl.div(stress(ufl.Identity(2) + grad(exact)))
    u, v = fem.Function(V, name="displacement"), ufl.TestFunction(V)
    potential = energy(ufl.Identity(2) + grad(u)) * dx(degree=4) - dot(force, u) * dx(degree=4)
    F = ufl.derivative(potential, u, v)
    bcs = [fem.DirichletBC(V, exact)]
    tangent = ufl.replace(ufl.derivative(F, u), {u: fem.Function(V)})  # of the block at rest
    fem.solve(tangent == dot(force, v) * dx(degree=4), u, bcs)  # a first guess
    went = fem.solve(F == 0, u, bcs)
    print(f"{n} x {n}: residuals", *(f"{r:.1e}" for r in went.residuals))
    return fem.error_norm(u, exact), u


def main(argv: list[str] | None = None) -> int:
    """Run the demo; return 0, or 1 if it converges too slowly."""
    return run(__doc__, solve, order=2.7, cells=4, argv=argv, moved=1.0)


if __name__ == "__main__":
    sys.exit(main())
