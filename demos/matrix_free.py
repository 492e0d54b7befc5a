#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Conjugate gradients without a matrix: -div k grad u = f in a cube, by quadratic elements.

The operator is the action of a bilinear form, a loop over the cells. Its diagonal, by which the
residual is scaled, comes from a loop, too: a kernel written by hand calls that of the form. All
vectors stay where loops run. One product is compared with that of the assembled matrix on the
coarser mesh; the solution has to meet a product of sines with order 3.
"""

from __future__ import annotations

import sys

import numpy as np
import ufl
from convergence import run
from ufl import dx, grad, inner

from pyop2cxx import fem, op2
from pyop2cxx.mesh import cube_mesh

SMALL = 2000  # dofs of a problem whose matrix is assembled to compare


def diagonal_of(a: ufl.Form, V: fem.FunctionSpace, held: op2.Dat) -> op2.Dat:
    """Return the diagonal of the operator, one at dofs that are held."""
    (integral,) = fem.Form(a, name="stiffness").integrals  # parameters: the matrix, coordinates
    n = integral.shape[0]
    code = f"""{integral.kernel.code}
static void diagonal(const double *x, double *d) {{
  double A[{n * n}] = {{0}};
  {integral.kernel.name}(A, x);
  for (int i = 0; i < {n}; ++i) d[i] += A[{n} * i + i];
}}
"""
    d = op2.Dat(V.dof_set, name="diagonal")
    x = V.mesh.coordinates(op2.READ, V.domain.cell_vertices)
    op2.par_loop(op2.Kernel(code, "diagonal"), V.mesh.cells, x, d(op2.INC, V.cell_dofs))
    ones = op2.Kernel("void ones(const int *h, double *d) { if (h[0]) d[0] = 1; }", "ones")
    op2.par_loop(ones, V.dof_set, held(op2.READ), d(op2.RW))
    return d


def conjugate_gradients(A: fem.action, u: op2.Dat, b: op2.Dat, d: op2.Dat) -> int:
    """Solve ``A u = b`` from zero, with residuals scaled by 1 / d; return the iterations."""
    residual, product = op2.Dat(b, name="residual"), op2.Dat(u.dataset, name="product")
    u.zero()
    direction = residual / d
    before = start = residual.inner(direction)
    for iteration in range(1, 1000):
        A(direction, product)
        length = before / direction.inner(product)
        u.axpy(length, direction)
        residual.axpy(-length, product)
        scaled = residual / d
        now = residual.inner(scaled)
        if now <= 1e-20 * start:
            return iteration
        direction *= now / before
        direction += scaled
        before = now
    return 0


def solve(n: int) -> tuple[float, fem.Function]:
    """Solve on n x n x n cubes, six tetrahedra each; return the error, and u."""
    mesh = cube_mesh(n)
    V = fem.FunctionSpace(mesh, ("P", 2))
    x = fem.SpatialCoordinate(mesh)
    exact = ufl.sin(ufl.pi * x[0]) * ufl.sin(ufl.pi * x[1]) * ufl.sin(ufl.pi * x[2])
    k = 1 + x[0] ** 2
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    a = k * inner(grad(u), grad(v)) * dx(degree=4)
    bcs = [fem.DirichletBC(V, 0.0)]
    b = fem.assemble(-ufl.div(k * grad(exact)) * v * dx(degree=5), bcs)
    held = op2.Dat(V.dof_set, dtype=np.int32, name="held")
    held.data[bcs[0].dofs] = 1
    A = fem.action(a, bcs)
    found = fem.Function(V, name="u")
    iterations = conjugate_gradients(A, found.dat, b.dat, diagonal_of(a, V, held))
    print(f"{n} x {n} x {n}: {V.size} dofs, {iterations} iterations")
    if V.size <= SMALL:
        vector, product = fem.Function(V), fem.Function(V)
        vector.dat.data[:] = np.random.default_rng(1).random(V.size)
        A(vector.dat, product.dat)
        apart = abs(product.dat - fem.assemble(a, bcs) @ vector.dat).max()
        print(f"farthest from the product with the matrix: {apart:.1e}")
        if apart > 1e-12:
            return np.nan, found  # which is never small enough
    return fem.error_norm(found, exact) if iterations else np.nan, found


def main(argv: list[str] | None = None) -> int:
    """Run the demo; return 0, or 1 if it converges too slowly."""
    return run(__doc__, solve, order=2.7, cells=4, argv=argv, where=lambda x: x[1] > 0.5)


if __name__ == "__main__":
    sys.exit(main())
