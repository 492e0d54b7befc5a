#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Condensation, patches and projection against the solves that they replace, in one run.

Poisson's equation with elements of high order: the whole system and the condensed one, assembled
again and solved. Then the steps and times of preconditioners, and a projection into DG with the
whole mass matrix and cell by cell. Milliseconds, the least of some repeats taken by turns.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import ufl
from ufl import dx, grad, inner

from pyop2cxx import fem, op2
from pyop2cxx.mesh import square_mesh

if TYPE_CHECKING:
    from collections.abc import Callable

SOLVERS: dict[str, dict[str, Any]] = {
    "LU": {"ksp_type": "preonly", "pc_type": "lu"},
    "CG, ILU": {"pc_type": "ilu", "ksp_rtol": 1e-10},
    "CG, Jacobi": {"pc_type": "jacobi", "ksp_rtol": 1e-10},
}


def least_ms(ways: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Return the least time of each way; ways take turns, after a first call of each."""
    least = dict.fromkeys(ways, float("inf"))
    for turn in range(repeats + 1):
        for name, call in ways.items():
            start = time.perf_counter()
            call()
            if turn:
                least[name] = min(least[name], 1e3 * (time.perf_counter() - start))
    return least


class Problem:
    """Poisson's equation on a square."""

    def __init__(self, n: int, cell: str, element: tuple[str, int]) -> None:
        mesh = square_mesh(n, cell=cell)
        self.V = V = fem.FunctionSpace(mesh, element)
        u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
        x = fem.SpatialCoordinate(mesh)
        a, L = inner(grad(u), grad(v)) * dx, ufl.sin(5 * x[0]) * ufl.exp(x[1]) * v * dx
        self.equation = a == L
        self.a, self.L = fem.Form(a), fem.Form(L)
        self.bcs = [fem.DirichletBC(V, 0.0)]


def compare_condensed(n: int, cell: str, element: tuple[str, int], repeats: int) -> None:
    """Print the times of the whole and of the condensed system."""
    one = Problem(n, cell, element)
    A, b = fem.assemble_system(one.a, one.L, one.bcs)
    system = fem.condense(one.a, one.L, bcs=one.bcs)
    rows = f"{one.V.size} rows, {system.matrix.nrows} kept"
    print(f"\n{element[0]}{element[1]}, {one.V.mesh.cells.size} cells of type {cell}, {rows}")
    u, w = fem.Function(one.V), fem.Function(one.V)
    found = least_ms(
        {
            "whole": lambda: fem.assemble_system(one.a, one.L, one.bcs, tensors=(A, b)),
            "condensed": system.assemble,
        },
        repeats,
    )
    show("assembly", found)

    def whole(options: dict[str, Any]) -> None:
        u.dat.zero()
        op2.solve(A, u.dat, b.dat, **options)

    for name, options in SOLVERS.items():
        ways = {
            "whole": lambda given=options: whole(given),
            "condensed": lambda given=options: system.solve(w, **given),
        }
        show(name, least_ms(ways, repeats))
        distance = abs(u.values - w.values).max() / abs(u.values).max()
        assert distance < 1e-6, distance


def show(name: str, found: dict[str, float]) -> None:
    """Print two times and their ratio."""
    (_, first), (_, second) = found.items()
    times = "   ".join(f"{way} {ms:9.1f} ms" for way, ms in found.items())
    print(f"  {name:<12} {times}   ratio {first / second:5.2f}")


def compare_preconditioners(n: int, element: tuple[str, int], repeats: int) -> None:
    """Print steps and times of conjugate gradients, preconditioners made anew each time."""
    one = Problem(n, "triangle", element)
    A, b = fem.assemble_system(one.a, one.L, one.bcs)
    stars = fem.vertex_stars(one.V)
    kinds: dict[str, dict[str, Any]] = {
        "jacobi": {"pc_type": "jacobi"},
        "patch": {"pc_type": "patch", "pc_patches": stars},
        "patch, float32": {"pc_type": "patch", "pc_patches": stars, "pc_dtype": "float32"},
    }
    solvers = {name: op2.Solver(ksp_rtol=1e-10, **how) for name, how in kinds.items()}
    u = fem.Function(one.V)

    def solve(name: str) -> None:
        u.dat.zero()
        solvers[name].solve(A, u.dat, b.dat)

    found = least_ms({name: lambda one=name: solve(one) for name in kinds}, repeats)
    print(f"\n{element[0]}{element[1]}, {A.nrows} rows, conjugate gradients, inverses kept")
    for name, ms in found.items():
        went = solvers[name].convergence
        assert went is not None
        print(f"  {name:<15} {went.n_iterations:5} steps {ms:9.1f} ms", end="")
        print(f"   ratio {found['jacobi'] / ms:5.2f}")


def compare_multigrid(n: int, degree: int, repeats: int) -> None:
    """Print the times of conjugate gradients with a matrix and ILU, and of p-multigrid without."""
    one = Problem(n, "quadrilateral", ("Q", degree))
    u, w = fem.Function(one.V), fem.Function(one.V)
    steps: dict[str, int] = {}

    def solve(to: fem.Function, name: str, pc_type: str) -> None:
        to.dat.zero()
        went = fem.solve(one.equation, to, one.bcs, pc_type=pc_type, ksp_rtol=1e-10)
        steps[name] = went.n_iterations

    ways = {"ILU": lambda: solve(u, "ILU", "ilu"), "pmg": lambda: solve(w, "pmg", "pmg")}
    found = least_ms(ways, repeats)
    print(f"\nQ{degree}, {one.V.size} rows, conjugate gradients, assembled anew; steps {steps}")
    show("", found)
    assert np.allclose(u.values, w.values, atol=1e-8 * abs(u.values).max())


def compare_projections(n: int, degree: int, repeats: int) -> None:
    """Print the times of a projection by the whole mass matrix, and cell by cell."""
    mesh = square_mesh(n)
    V = fem.FunctionSpace(mesh, ("DG", degree))
    x = fem.SpatialCoordinate(mesh)
    f = ufl.sin(3 * x[0]) * ufl.exp(x[1])
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    a, L = fem.Form(u * v * dx), fem.Form(f * v * dx)
    A, b = fem.assemble_system(a, L)
    whole, apart = fem.Function(V), fem.Function(V)

    def by_factors() -> None:
        fem.assemble_system(a, L, tensors=(A, b))
        op2.solve(A, whole.dat, b.dat, ksp_type="preonly", pc_type="lu")

    ways = {"whole": by_factors, "by cells": lambda: fem.project(f, apart)}
    print(f"\nprojection into DG{degree}, {V.size} rows")
    show("", least_ms(ways, repeats))
    assert np.allclose(whole.values, apart.values, atol=1e-10)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="sequential", help="default: %(default)s")
    parser.add_argument("--cells", type=int, default=32, help="a side, default: %(default)s")
    parser.add_argument("--repeats", type=int, default=3, help="default: %(default)s")
    given = parser.parse_args()
    op2.init(backend=given.backend)
    compare_condensed(given.cells, "quadrilateral", ("Q", 4), given.repeats)
    compare_condensed(given.cells, "triangle", ("P", 4), given.repeats)
    compare_preconditioners(given.cells, ("P", 4), given.repeats)
    compare_multigrid(given.cells, 4, given.repeats)
    compare_projections(given.cells, 3, given.repeats)


if __name__ == "__main__":
    main()
