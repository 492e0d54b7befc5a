#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Flow around a cylinder in a channel, Schaefer and Turek's case 2D-1: its drag is known, 5.57954.

Navier-Stokes' equations by Taylor's and Hood's elements, in steps over time until the flow is
steady. A step solves for a velocity with the pressure before, then for a pressure that makes up for
its divergence, and for the velocity that this leaves. The first matrix depends on the flow and is
assembled in each step, into the same memory; the others are assembled once. The drag is the
residual for a test function that is one on the cylinder. It has to converge with order 1.3 at
least; 2 is that of the polygon for the circle, and comes on finer meshes.
"""

from __future__ import annotations

import sys

import numpy as np
from convergence import run
from ufl import TestFunction, TrialFunction, div, dot, dx, grad, inner

from pyop2cxx import fem, op2
from pyop2cxx.mesh import Mesh

LENGTH, HEIGHT, CENTRE, RADIUS = 2.2, 0.41, (0.2, 0.2), 0.05
VISCOSITY, STEP, DRAG = 1e-3, 0.2, 5.57953523384


def channel(n: int) -> Mesh:
    """Divide rings around the cylinder, within a square of n cells a side, and the rest behind."""
    corners = HEIGHT * np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]])
    square = np.concatenate([np.linspace(*corners[i : i + 2], n, False) for i in range(4)])
    circle = RADIUS * (square - CENTRE) / np.linalg.norm(square - CENTRE, axis=1)[:, None] + CENTRE
    share = np.expm1(np.linspace(0, 1, n + 1))[:, None, None] / np.expm1(1)
    x, y = np.linspace(HEIGHT, LENGTH, 3 * n + 1)[1:], np.linspace(0, HEIGHT, n + 1)
    behind = np.stack(np.meshgrid(x, y, indexing="ij"), -1).reshape(-1, 2)
    points = np.concatenate([(circle + share * (square - circle)).reshape(-1, 2), behind])
    rings = np.arange(4 * n * (n + 1)).reshape(n + 1, 4 * n)[:, [*range(4 * n), 0]]
    rest = np.arange(4 * n * (n + 1), len(points)).reshape(-1, n + 1)
    rest = np.concatenate([rings[-1:, n : 2 * n + 1], rest])
    halves = [((0, 0), (1, 0), (1, 1)), ((0, 0), (1, 1), (0, 1))]  # of a quadrilateral
    cells = [
        np.stack([g[i : len(g) - 1 + i, j : g.shape[1] - 1 + j] for i, j in half], -1).reshape(
            -1, 3
        )
        for g in (rings, rest)
        for half in halves
    ]
    sides = {"cylinder": rings[0], "inlet": rings[-1, 3 * n :], "outlet": rest[-1]}
    sides["bottom"] = np.concatenate([rings[-1, :n], rest[:, 0]])
    sides["top"] = np.concatenate([rest[::-1, -1], rings[-1, 2 * n + 1 : 3 * n + 1]])
    tags = {name: np.stack([side[:-1], side[1:]], 1) for name, side in sides.items()}
    return Mesh.from_arrays("triangle", points, np.concatenate(cells), facet_tags=tags)


def solve(n: int) -> tuple[float, fem.Function]:
    """Go on until the flow is steady; return the error of the drag, and the velocity."""
    mesh = channel(n)
    V, Q = fem.FunctionSpace(mesh, ("P", 2, (2,))), fem.FunctionSpace(mesh, ("P", 1))
    (u, p), (v, q) = map(TrialFunction, (V, Q)), map(TestFunction, (V, Q))
    flow, guess, pressure, change, one = (fem.Function(space) for space in (V, V, Q, Q, V))
    a1 = (dot(u / STEP + grad(u) * flow, v) + VISCOSITY * inner(grad(u), grad(v))) * dx
    L1 = (dot(flow, v) / STEP + pressure * div(v)) * dx
    a2, L2 = dot(grad(p), grad(q)) * dx, -div(guess) / STEP * q * dx
    a3, L3 = dot(u, v) * dx, dot(guess - STEP * grad(change), v) * dx
    inlet = fem.DirichletBC(V, lambda x: (1.2 * x[1] * (HEIGHT - x[1]) / HEIGHT**2, 0.0), "inlet")
    held = [inlet, fem.DirichletBC(V, 0.0, ["cylinder", "bottom", "top"])]
    free = [fem.DirichletBC(Q, 0.0, "outlet")]
    fem.DirichletBC(V, (1.0, 0.0), "cylinder").apply(one)
    stress = VISCOSITY * inner(grad(flow), grad(one)) - pressure * div(one)
    drag = -500 * (stress + dot(grad(flow) * flow, one)) * dx
    fem.compile_together(a1, L1, a3, L3, drag, bcs=held)
    fem.compile_together(a2, L2, bcs=free)
    inlet.apply(flow)
    A1, b1 = fem.assemble_system(a1, L1, held)
    A2, b2 = fem.assemble_system(a2, L2, free)
    A3, b3 = fem.assemble_system(a3, L3, held)
    convection = op2.Solver(ksp_type="bicgstab", pc_type="jacobi", ksp_rtol=1e-8)
    projection = op2.Solver(ksp_type="preonly", pc_type="lu")
    mass = op2.Solver(ksp_type="cg", pc_type="jacobi", ksp_rtol=1e-10)
    n_steps, speed = 0, 1.0
    while speed > 1e-4 and n_steps < 200:
        fem.assemble_system(a1, L1, held, tensors=(A1, b1))
        convection.solve(A1, guess.dat, b1.dat)
        fem.assemble(L2, free, b2)
        projection.solve(A2, change.dat, b2.dat)
        pressure.dat.axpy(1.0, change.dat)
        fem.assemble(L3, (), b3)
        fem.lift(b3, a3, held)
        for bc in held:
            bc.apply(b3)
        before = flow.copy()
        mass.solve(A3, flow.dat, b3.dat)
        n_steps, speed = n_steps + 1, float(np.max(abs(flow.dat - before.dat).max())) / STEP
    found = fem.assemble(drag)
    print(f"{mesh.cells.size} triangles: {n_steps} steps, drag {found:.5f}, known {DRAG:.5f}")
    return abs(found - DRAG), flow


def main(argv: list[str] | None = None) -> int:
    """Run the demo; return 0, or 1 if the drag does not converge as it should."""
    look = {"title": "speed of the flow", "cmap": "inferno"}
    return run(__doc__, solve, order=1.3, cells=4, argv=argv, **look)


if __name__ == "__main__":
    sys.exit(main())
