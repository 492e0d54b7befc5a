#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""p-multigrid on hexahedra against the operators within it, in one run.

Poisson's equation in a cube with a manufactured solution, to a residual of 1e-12: a solve with
levels kept from the solve before, a solve whose coordinates are new, and the products with
the operator of the highest degree alone, which are the least that the method has to do.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import ufl
from ufl import dx, grad, inner

from pyop2cxx import fem, op2
from pyop2cxx.fem.multigrid import STEPS
from pyop2cxx.mesh import cube_mesh

if TYPE_CHECKING:
    from collections.abc import Callable


def seconds(call: Callable[[], Any], repeats: int) -> float:
    """Return the least time of some calls, after a first one."""
    least = float("inf")
    for turn in range(repeats + 1):
        start = time.perf_counter()
        call()
        if turn:
            least = min(least, time.perf_counter() - start)
    return least


def compare(n: int, degree: int, repeats: int) -> bool:
    """Print the times for n x n x n cells; return whether 15 steps were enough."""
    begin = time.perf_counter()
    mesh = cube_mesh(n, cell="hexahedron")
    V = fem.FunctionSpace(mesh, ("Q", degree))
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    x = fem.SpatialCoordinate(mesh)
    exact = ufl.sin(ufl.pi * x[0]) * ufl.sin(ufl.pi * x[1]) * ufl.sin(ufl.pi * x[2])
    a = inner(grad(u), grad(v)) * dx
    equation = a == 3 * ufl.pi**2 * exact * v * dx(degree=8)
    found, bcs = fem.Function(V), [fem.DirichletBC(V, 0.0)]
    operator = fem.action(a, bcs)
    product = fem.Function(V)

    def solve() -> int:
        found.dat.zero()
        return fem.solve(equation, found, bcs, pc_type="pmg", ksp_rtol=1e-12).n_iterations

    def solve_anew() -> None:
        mesh.coordinates *= 1.0
        solve()

    def products(n: int = 20) -> float:
        for _ in range(n):
            operator(found.dat, product.dat)
        return product.dat.norm  # which waits

    n_steps = solve()
    print(
        f"Q{degree}, {n}^3 cells, {V.size} dofs: {time.perf_counter() - begin:.1f} s to the end of "
        f"the first solve; {n_steps} steps, error {fem.error_norm(found, exact):.2e}"
    )
    n_products = 1 + n_steps * 2 * (STEPS + 1)  # twice STEPS and a residual, less one from zero
    warm, anew = seconds(solve, repeats), seconds(solve_anew, repeats)
    alone = n_products / 20 * seconds(products, repeats)
    print(
        f"   a solve {warm:.3f} s, with new coordinates {anew:.3f} s, {n_products} products "
        f"{alone:.3f} s ({n_products * V.size / alone / 1e9:.2f} GDoF/s)"
    )
    print(f"   ratio {warm / alone:.2f} and {anew / alone:.2f} of the products")
    return n_steps <= 15 and bool(np.isfinite(found.values).all())


def main() -> int:
    """Print the table; return 0, or 1 if a solve took more than 15 steps."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="sequential", help="default: %(default)s")
    parser.add_argument("--cells", type=int, default=8, help="a side, default: %(default)s")
    parser.add_argument("--degrees", type=int, nargs="+", default=[3], help="default: %(default)s")
    parser.add_argument("--repeats", type=int, default=3, help="default: %(default)s")
    given = parser.parse_args()
    op2.init(backend=given.backend)
    return 0 if all([compare(given.cells, d, given.repeats) for d in given.degrees]) else 1


if __name__ == "__main__":
    sys.exit(main())
