#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""CEED's bake-off problems from UFL: mass and diffusion on hexahedra, without a matrix.

BP1 and BP2 are the mass, BP3 and BP4 the diffusion, each of a number and of a vector, with as many
Gauss points a direction as the degree and two. Printed are billions of dofs a second of the
operator, of a step of the conjugate gradient method, the per cent of a copy of the same vectors,
and operations. `--usual` adds the form compiled without sums along dimensions.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import ufl
from ufl import grad, inner

from pyop2cxx import fem, op2
from pyop2cxx.fem.compiler import compile_form
from pyop2cxx.mesh import cube_mesh

PROBLEMS = {
    "BP1": ((), lambda u, v: inner(u, v)),
    "BP2": ((3,), lambda u, v: inner(u, v)),
    "BP3": ((), lambda u, v: inner(grad(u), grad(v))),
    "BP4": ((3,), lambda u, v: inner(grad(u), grad(v))),
}


def best(call: Any, seconds: float) -> float:
    """Return the seconds of the fastest call."""
    call()
    op2.wait()
    found, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        op2.wait()
        found = min(found, time.perf_counter() - start)
    return found


class Operator:
    """An action on a vector: y = A x."""

    def __init__(
        self, name: str, degree: int, given: argparse.Namespace, options: dict[str, Any] | None
    ) -> None:
        shape, integrand = PROBLEMS[name]
        n = max(1, round((given.dofs / max(1, len(shape) * 3)) ** (1 / 3) / degree))
        mesh = cube_mesh(n, cell="hexahedron")
        self.space = V = fem.FunctionSpace(mesh, ("P", degree, *([shape] if shape else [])))
        self.x, self.y, v = fem.Function(V), fem.Function(V), ufl.TestFunction(V)
        self.x.values = np.random.default_rng(0).random(self.x.values.shape)
        measure = ufl.dx(metadata={"quadrature_degree": 2 * degree + 3})
        start = time.perf_counter()
        (integral,) = compile_form(integrand(self.x, v) * measure, options=options)
        args = [self.y.dat(op2.INC, V.cell_dofs)]
        for one in integral.parameters[1:]:
            is_x = one.role == "coefficient"
            dat = self.x.dat if is_x else mesh.coordinates
            args.append(dat(op2.READ, V.cell_dofs if is_x else mesh.cell_vertices))
        self.loop = op2.ParLoop(integral.kernel, mesh.cells, *args, strategy=given.strategy)
        self.apply()
        op2.wait()
        self.first = time.perf_counter() - start
        self.n_cells = mesh.cells.size

    def apply(self) -> None:
        """Compute y."""
        self.y.dat.zero()
        self.loop.compute()

    def step(self) -> None:
        """Run what a step of the conjugate gradient method runs, but the division of sums."""
        self.apply()
        self.x.dat.inner(self.y.dat)
        self.y.dat.axpy(0.5, self.x.dat)
        self.y.dat.inner(self.y.dat)


def measured(name: str, degree: int, given: argparse.Namespace, usual: bool) -> dict[str, Any]:
    """Return the rates of a problem."""
    options = {"sum_factorization": False} if usual else None
    operator = Operator(name, degree, given, options)
    explained = operator.loop.explain()
    n = operator.space.size
    action = best(operator.apply, given.seconds)
    step = best(operator.step, given.seconds)
    copy = best(lambda: operator.x.dat.copy(operator.y.dat), given.seconds / 4)
    operations = explained.operations * operator.n_cells
    return {
        "problem": name,
        "degree": degree,
        "dofs": n,
        "usual": usual,
        "gdofs": n / action / 1e9,
        "cg_gdofs": n / step / 1e9,
        "of_copy": copy / action,
        "gflops": operations / action / 1e9,
        "operations_a_dof": operations / n,
        "lanes": explained.lanes,
        "strategy": explained.strategy,
        "first_seconds": operator.first,
    }


def main() -> None:
    """Print a table; `--json` appends to a record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="sequential", help="default: %(default)s")
    parser.add_argument("--threads", type=int, default=0, help="default: all")
    parser.add_argument("--dofs", type=int, default=300_000, help="default: %(default)s")
    parser.add_argument("--degrees", default="1,2,3,4,6", help="default: %(default)s")
    parser.add_argument("--problems", default="BP1,BP3", help="default: %(default)s")
    parser.add_argument("--usual", type=int, default=0, help="up to this degree; default: none")
    parser.add_argument("--strategy", help="default: the rule's choice")
    parser.add_argument("--seconds", type=float, default=1.0, help="a measurement")
    parser.add_argument("--json", help="a file for the record")
    given = parser.parse_args()
    op2.init(backend=given.backend, threads=given.threads)
    rows = []
    head = "problem  Q   dofs      GDoF/s  CG      of a copy  GFlop/s  op/dof  lanes  strategy"
    print(f"{head}  first call")
    for name in given.problems.split(","):
        for degree in map(int, given.degrees.split(",")):
            for usual in (False, True) if degree <= given.usual else (False,):
                row = measured(name, degree, given, usual)
                rows.append(row)
                print(
                    f"{name:8} {degree:<3} {row['dofs']:<9} {row['gdofs']:<7.4f} "
                    f"{row['cg_gdofs']:<7.4f} {row['of_copy']:<10.1%} {row['gflops']:<8.1f} "
                    f"{row['operations_a_dof']:<7.0f} {row['lanes']:<6} {row['strategy']:<9} "
                    f"{row['first_seconds']:.1f} s{'  as usual' if usual else ''}",
                    flush=True,
                )
    if given.json:
        Path(given.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
