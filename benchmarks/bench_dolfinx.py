#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Assembly beside DOLFINx, in the same run, on one core: stiffness matrix, load vector, action.

"with conditions" is the matrix with the whole boundary held: rows and columns zero, diagonal one.

Both get the same forms and meshes of the same size. Each compiles them with its own FFCx, into
kernels with the same quadrature, by gcc with -O3 -march=native. Measured is assembling again, into
a matrix or vector that exists: sparsities, numberings and compilers are not. DOLFINx runs in a
process of its own Python, such as Debian's with python3-dolfinx, and takes turns with this one, so
that what else runs on the machine hits both; counted is time of the processor.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

CASES = {"P1 triangles": (2, 1, 500), "P2 tetrahedra": (3, 2, 37)}
WHAT = ("matrix", "with conditions", "load", "action")
WANTED = {"matrix": 8.0, "with conditions": 8.0, "load": 2.0, "action": 2.0}


def best(call: Callable[[], Any], seconds: float = 0.5) -> float:
    """Return the least seconds of the processor for a call, of at least two."""
    least, start, n = float("inf"), time.perf_counter(), 0
    while n < 2 or time.perf_counter() - start < seconds:
        begin = time.process_time()
        call()
        least, n = min(least, time.process_time() - begin), n + 1
    return least


def ours(dim: int, degree: int, n: int) -> dict[str, Callable[[], Any]]:
    """Return what assembles here."""
    import ufl

    from pyop2cxx import fem
    from pyop2cxx.mesh import cube_mesh, square_mesh

    V = fem.FunctionSpace(square_mesh(n) if dim == 2 else cube_mesh(n), ("P", degree))
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    f = fem.interpolate(lambda x: x[0] + 2 * x[1], V)
    a = ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx
    L, action = f * v * ufl.dx, ufl.inner(ufl.grad(f), ufl.grad(v)) * ufl.dx
    bcs = [fem.DirichletBC(V, 1.0)]
    A, b, c = fem.assemble(a), fem.assemble(L), fem.assemble(action)
    return {
        "matrix": lambda: fem.assemble(a, (), A),
        "with conditions": lambda: fem.assemble(a, bcs, A),
        "load": lambda: fem.assemble(L, (), b),
        "action": lambda: fem.assemble(action, (), c),
    }


def theirs(dim: int, degree: int, n: int) -> dict[str, Callable[[], Any]]:
    """Return what assembles in DOLFINx."""
    import numpy as np
    import ufl
    from dolfinx import fem, mesh
    from dolfinx.fem import petsc
    from mpi4py import MPI
    from petsc4py import PETSc

    sides = (n,) * dim
    make = mesh.create_unit_square if dim == 2 else mesh.create_unit_cube
    V = fem.FunctionSpace(make(MPI.COMM_SELF, *sides), ("P", degree))
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    f = fem.Function(V)
    f.interpolate(lambda x: x[0] + 2 * x[1])
    flags = {"cffi_extra_compile_args": ["-O3", "-march=native"]}
    a = fem.form(ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx, jit_params=flags)
    L = fem.form(f * v * ufl.dx, jit_params=flags)
    action = fem.form(ufl.inner(ufl.grad(f), ufl.grad(v)) * ufl.dx, jit_params=flags)
    held = fem.locate_dofs_geometrical(V, lambda x: (np.minimum(x, 1 - x)[:dim] < 1e-10).any(0))
    bcs = [fem.dirichletbc(PETSc.ScalarType(1), held, V)]
    A, b = petsc.assemble_matrix(a), petsc.create_vector(L)
    A.assemble()

    def matrix(bcs: list[Any]) -> None:
        A.zeroEntries()
        petsc.assemble_matrix(A, a, bcs=bcs)
        A.assemble()

    def vector(form: Any) -> None:
        with b.localForm() as local:
            local.set(0)
        petsc.assemble_vector(b, form)

    return {
        "matrix": lambda: matrix([]),
        "with conditions": lambda: matrix(bcs),
        "load": lambda: vector(L),
        "action": lambda: vector(action),
    }


def answer() -> None:
    """Be the peer: for each line with a case and a thing, reply with its seconds."""
    import logging

    logging.disable(logging.INFO)  # compilers' commands
    made: dict[str, dict[str, Callable[[], Any]]] = {}
    for line in sys.stdin:
        case, what = line.strip().split(";")
        if case not in made:
            made[case] = theirs(*CASES[case])
        print(best(made[case][what]), flush=True)


class Peer:
    """The process of the other Python."""

    def __init__(self, python: str) -> None:
        self._process = subprocess.Popen(
            [python, __file__, "--peer"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )

    def seconds(self, case: str, what: str) -> float:
        """Return the seconds of one of the things of a case.

        Args:
            case: One of `CASES`.
            what: One of `WHAT`.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{case};{what}\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            sys.exit("the process of DOLFINx ended; what it said is above")
        return float(line)


def main() -> None:
    """Print seconds and their ratio, case by case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default="/usr/bin/python3", help="one that imports dolfinx")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--peer", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.peer:
        answer()
        return
    from pyop2cxx import op2

    op2.init(backend="sequential", threads=1)
    peer = Peer(given.python)
    for case, parameters in CASES.items():
        calls = ours(*parameters)
        for what in WHAT:
            mine = other = float("inf")
            for _ in range(given.rounds):
                mine = min(mine, best(calls[what]))
                other = min(other, peer.seconds(case, what))
            print(
                f"{case}, {what}: {mine * 1e3:.1f} ms, DOLFINx {other * 1e3:.1f} ms, "
                f"{other / mine:.1f} x (wanted {WANTED[what]:.0f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
