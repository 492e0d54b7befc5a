#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How much longer assembly takes with Dirichlet conditions, as ratios of calls taken by turns."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

import ufl

from pyop2cxx import fem, op2
from pyop2cxx.mesh import square_mesh

if TYPE_CHECKING:
    from collections.abc import Callable

CASES = {"20 000 triangles, P1": (100, 1), "180 000, P1": (300, 1), "45 000, P2": (150, 2)}


def by_turns(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Return the least milliseconds of the processor for each call."""
    least = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            begin = time.process_time()
            call()
            least[name] = min(least[name], 1e3 * (time.process_time() - begin))
    return least


def main() -> None:
    """Measure matrices, vectors and systems of a Laplacian."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="sequential", help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=40, help="default: %(default)s")
    given = parser.parse_args()
    op2.init(backend=given.backend)
    print(f"{'':22} matrix  with  ratio   vector  with  ratio   system  of its halves")
    for name, (n, degree) in CASES.items():
        V = fem.FunctionSpace(square_mesh(n), ("P", degree))
        u, v, f = ufl.TrialFunction(V), ufl.TestFunction(V), fem.Function(V)
        a = fem.Form(ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx)
        L, bcs = fem.Form(f * v * ufl.dx), [fem.DirichletBC(V, 1.0)]
        A, B, b, c = fem.assemble(a), fem.assemble(a, bcs), fem.assemble(L), fem.assemble(L, bcs)
        both = fem.assemble_system(a, L, bcs)
        ms = by_turns(
            {
                "A": lambda a=a, A=A: fem.assemble(a, (), A),
                "B": lambda a=a, B=B, bcs=bcs: fem.assemble(a, bcs, B),
                "b": lambda L=L, b=b: fem.assemble(L, (), b),
                "c": lambda L=L, c=c, bcs=bcs: fem.assemble(L, bcs, c),
                "both": lambda a=a, L=L, bcs=bcs, t=both: fem.assemble_system(a, L, bcs, tensors=t),
            },
            given.rounds,
        )
        print(
            f"{name:22}{ms['A']:7.2f}{ms['B']:6.2f}{ms['B'] / ms['A']:7.2f}"
            f"{ms['b']:9.2f}{ms['c']:6.2f}{ms['c'] / ms['b']:7.2f}"
            f"{ms['both']:9.2f}{ms['both'] / (ms['B'] + ms['c']):10.2f}"
        )


if __name__ == "__main__":
    main()
