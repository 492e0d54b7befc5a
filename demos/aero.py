#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compressible potential flow around an aerofoil, as OP2's aero: the tangent stays in the cells.

div (rho u) = 0 with u = grad phi and rho = (1 + (1 - u.u) M^2 / 5)^2.5, where M = 0.4 is the Mach
number far away. There phi = x; nothing flows through the wall. In each step of Newton's method one
loop computes a 4 x 4 matrix for each quadrilateral, and conjugate gradients multiply by these in
another; a matrix of the whole mesh is never assembled. Newton's method has to reach rounding in six
steps, which a wrong tangent misses, and the flow has to be as symmetric as the aerofoil.
"""

import sys

import numpy as np
from convergence import draw, started, verdict
from ufl import TestFunction, derivative, dot, dx, grad, sqrt

from pyop2cxx import fem, op2
from pyop2cxx.mesh import airfoil_arrays

MULTIPLY = """static void multiply(const double *K, const double *v, double *w) {
  for (int i = 0; i < 16; ++i) w[i / 4] += K[i] * v[i % 4];
}"""


def flow(n: int) -> tuple[fem.Function, list[float]]:
    """Return the potential on n rows of cells, and the residual before each step."""
    mesh, multiply = airfoil_arrays(2 * n, n).to_mesh(), op2.Kernel(MULTIPLY, "multiply")
    V = fem.FunctionSpace(mesh, ("P", 1))
    phi, v = fem.interpolate(lambda x: x[0], fem.Function(V, name="phi")), TestFunction(V)
    F = (1 + 0.4**2 / 5 * (1 - grad(phi) ** 2)) ** 2.5 * dot(grad(phi), grad(v)) * dx(degree=2)
    (tangent,) = fem.Form(derivative(F, phi), name="tangent").integrals
    c2v, far = V.cell_dofs, op2.Subset(V.dof_set, fem.DirichletBC(V, 0.0, "far field").dofs)
    K, step, r, residuals = op2.Dat(mesh.cells**16), op2.Dat(V.dof_set), fem.Function(V), []
    places = mesh.coordinates(op2.READ, V.domain.cell_vertices)
    roles = {"tensor": K(op2.INC), "coefficient": phi.dat(op2.READ, c2v), "coordinates": places}

    def product(v: op2.Dat, w: op2.Dat) -> None:
        w.zero()
        op2.par_loop(multiply, mesh.cells, K(op2.READ), v(op2.READ, c2v), w(op2.INC, c2v))
        w.assign(v, subset=far)

    while (not residuals or residuals[-1] > 1e-12) and len(residuals) < 7:
        K.zero()
        op2.par_loop(tangent.kernel, mesh.cells, *(roles[p.role] for p in tangent.parameters))
        fem.assemble(F, (), r).dat.assign(0.0, subset=far)
        residuals.append(r.dat.norm)
        op2.solve(product, step, r.dat, ksp_type="cg", pc_type="none", ksp_rtol=1e-8)
        phi.dat.axpy(-1.0, step)
    return phi, residuals


def main(argv: list[str] | None = None) -> int:
    """Run the demo; return 0, or 1 if Newton's method is slow or the flow not symmetric."""
    given = started(__doc__, 20, argv)
    with op2.profile(every=1) as profile:
        phi, residuals = flow(given.cells)
    x = phi.space.mesh.coordinates.data_ro
    up, down = (phi.values[np.lexsort((sign * x[:, 1], x[:, 0]))] for sign in (1, -1))
    apart = float(abs(up - down).max())
    print(profile, "\nresiduals", *(f"{one:.1e}" for one in residuals))
    speed = fem.FunctionSpace(phi.space.mesh, ("DG", 0))
    draw(given, fem.interpolate(sqrt(grad(phi) ** 2), speed), title="speed, 1 far away")
    return verdict(residuals[-1] < 1e-12 and apart < 1e-10, f"sides {apart:.1e} apart")


if __name__ == "__main__":
    sys.exit(main())
