#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How often a second forms are assembled on a mesh so small that only the calls cost anything."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

import ufl
from ufl import dx, grad, inner

from pyop2cxx import fem, op2
from pyop2cxx.mesh import square_mesh

if TYPE_CHECKING:
    from collections.abc import Callable


def rate(call: Callable[[], Any], seconds: float) -> float:
    """Return calls a second: the best of three runs."""
    call()
    best = 0.0
    for _ in range(3):
        n, start = 0, time.perf_counter()
        while (passed := time.perf_counter() - start) < seconds:
            call()
            n += 1
        best = max(best, n / passed)
    return best


def main() -> None:
    """Measure what programs do in loops over time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="sequential", help="default: %(default)s")
    parser.add_argument("--cells", type=int, default=8, help="a side, default: %(default)s")
    parser.add_argument("--seconds", type=float, default=0.5, help="for each, three times")
    given = parser.parse_args()
    op2.init(backend=given.backend)
    V = fem.FunctionSpace(square_mesh(given.cells), ("P", 1))
    u, v, w = ufl.TrialFunction(V), ufl.TestFunction(V), fem.interpolate(lambda x: x[0], V)
    a, L, M = inner(grad(u), grad(v)) * dx, w * v * dx, w * dx
    bcs = [fem.DirichletBC(V, 0.0)]
    A, b, z = fem.assemble(a, bcs), fem.assemble(L, bcs), fem.Function(V)
    x, t = fem.SpatialCoordinate(V.mesh), fem.Constant(V.mesh, 1.0)
    F = inner((1 + z**2) * grad(z), grad(v)) * dx - w * v * dx

    def newton() -> None:
        z.dat.zero()
        fem.solve(F == 0, z, bcs)

    calls: dict[str, Callable[[], Any]] = {
        "number": lambda: fem.assemble(M),
        "vector, the same again": lambda: fem.assemble(L, bcs, b),
        "matrix, the same again": lambda: fem.assemble(a, bcs, A),
        "vector, a new one": lambda: fem.assemble(L, bcs),
        "matrix, a new one": lambda: fem.assemble(a, bcs),
        "Newton's method, two steps": newton,
        "a linear problem, LU": lambda: fem.solve(a == L, z, bcs),
        "a condition set": lambda: bcs[0].set(t * ufl.sin(x[0])),
        "an expression interpolated": lambda: fem.interpolate(t * w + x[0], z),
        "the norm of an error": lambda: fem.error_norm(w, t * x[0]),
    }
    for name, call in calls.items():
        print(f"{name:28} {rate(call, given.seconds):9.0f} calls a second")


if __name__ == "__main__":
    main()
