#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Poisson's equation in mixed form: a flux by Raviart and Thomas, a potential constant on cells.

sigma = -grad u, div sigma = f. The flux has a continuous normal component, so that what leaves a
cell enters its neighbour: that it balances f on each cell is checked, too. The potential on the
boundary is natural here, an integral over facets. Both errors have to fall with order 1.
"""

from __future__ import annotations

import sys

import basix.ufl
import numpy as np
import ufl
from convergence import run
from ufl import div, dot, ds, dx, grad

from pyop2cxx import fem
from pyop2cxx.mesh import square_mesh


def solve(n: int) -> tuple[float, fem.Function]:
    """Solve on n x n quadrilaterals; return the error of the flux, and it."""
    mesh = square_mesh(n, cell="quadrilateral")
    flux = basix.ufl.element("RT", "quadrilateral", 1)
    constant = basix.ufl.element("DG", "quadrilateral", 0)
    W = fem.FunctionSpace(mesh, basix.ufl.mixed_element([flux, constant]))
    x, normal = fem.SpatialCoordinate(mesh), fem.FacetNormal(mesh)
    exact = ufl.sin(2 * x[0]) * ufl.cos(x[1]) + x[0]
    f = -div(grad(exact))

    (sigma, u), (tau, v) = ufl.TrialFunctions(W), ufl.TestFunctions(W)
    a = (dot(sigma, tau) - u * div(tau) - v * div(sigma)) * dx
    L = -f * v * dx(degree=6) - exact * dot(tau, normal) * ds
    w = fem.Function(W, name="flux_and_potential")
    fem.solve(a == L, w)
    found, potential = w.split()

    v = ufl.TestFunction(W.parts[1])
    lost = fem.assemble((div(found) - f) * v * dx(degree=6)).values
    print(f"{n} x {n}: error of the potential {fem.error_norm(potential, exact):.3e}", end="; ")
    print(f"not balanced on any cell: at most {np.abs(lost).max():.1e}")
    if np.abs(lost).max() > 1e-12:
        raise SystemExit("check: FAILED: the flux does not balance the source on each cell")
    at = fem.FunctionSpace(mesh, ("DG", 0, (2,)))
    return fem.error_norm(found, -grad(exact)), fem.interpolate(
        found, fem.Function(at, name="flux")
    )


def main(argv: list[str] | None = None) -> int:
    """Run the demo; return 0, or 1 if it converges too slowly."""
    return run(__doc__, solve, order=0.95, cells=8, argv=argv, arrows=True)


if __name__ == "__main__":
    sys.exit(main())
