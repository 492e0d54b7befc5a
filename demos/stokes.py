#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Stokes' flow in a square by Taylor's and Hood's elements: quadratic velocity, linear pressure.

One mixed space holds both; the velocity is given on the boundary, and the pressure at one vertex,
because a constant more changes nothing. The velocity has to converge with order 3, the pressure
with order 2; what is checked is the velocity.
"""

from __future__ import annotations

import sys

import basix.ufl
import numpy as np
import ufl
from convergence import run
from ufl import div, dot, dx, grad, inner

from pyop2cxx import fem
from pyop2cxx.mesh import square_mesh


def solve(n: int) -> tuple[float, fem.Function]:
    """Solve on n x n squares, two triangles each; return the error of the velocity, and it."""
    mesh = square_mesh(n)
    quadratic = basix.ufl.element("P", "triangle", 2, shape=(2,))
    linear = basix.ufl.element("P", "triangle", 1)
    W = fem.FunctionSpace(mesh, basix.ufl.mixed_element([quadratic, linear]))
    x = fem.SpatialCoordinate(mesh)
    stream = ufl.sin(ufl.pi * x[0]) ** 2 * ufl.sin(ufl.pi * x[1])
    velocity = ufl.as_vector([stream.dx(1), -stream.dx(0)])
    pressure = ufl.cos(ufl.pi * x[0]) * x[1]
    f = -div(grad(velocity)) + grad(pressure)

    (u, p), (v, q) = ufl.TrialFunctions(W), ufl.TestFunctions(W)
    a = (inner(grad(u), grad(v)) - p * div(v) - q * div(u)) * dx
    L = dot(f, v) * dx
    corner = np.isclose(W.parts[1].dof_coordinates, 0.0).all(axis=1)
    bcs = [
        fem.DirichletBC(W.sub(0), velocity),
        fem.DirichletBC(W.sub(1), lambda x: np.cos(np.pi * x[0]) * x[1], corner),
    ]
    w = fem.Function(W, name="velocity_and_pressure")
    fem.solve(a == L, w, bcs)
    found, p = w.split()
    mean = fem.assemble((p - pressure) * dx)
    print(f"{n} x {n}: error of the pressure {fem.norm(p - pressure - mean, degree=5):.3e}")
    return fem.error_norm(found, velocity), found


def main(argv: list[str] | None = None) -> int:
    """Run the demo; return 0, or 1 if it converges too slowly."""
    return run(__doc__, solve, order=2.7, cells=6, argv=argv, arrows=True, title="velocity")


if __name__ == "__main__":
    sys.exit(main())
