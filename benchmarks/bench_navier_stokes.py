#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Steps of a Navier-Stokes flow beside DOLFINx, in the same run, on one core.

A pulsating flow through a square, by semi-implicit pressure correction (Chorin, Temam) on P2-P1
elements, 33 003 dofs. Each step assembles the momentum matrix and solves by bicgstab with jacobi;
solves for the pressure by LU of the same matrix; and corrects the velocity by cg with jacobi. Both
get the same forms, mesh size and tolerances (1e-8). DOLFINx runs in a process of its own Python and
takes turns with this one; counted is time of the processor, of all threads.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

PARTS = ("assemble 1", "solve 1", "assemble 2", "solve 2", "assemble 3", "solve 3")
N, DT, NU, RTOL = 60, 2e-3, 1e-2, 1e-8


class Clock:
    """Seconds of the processor for each part of a step."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PARTS, 0.0)
        self._last = 0.0

    def start(self) -> None:
        """Begin a step."""
        self._last = time.process_time()

    def took(self, part: str) -> None:
        """Count what has passed for a part."""
        now = time.process_time()
        self.seconds[part] += now - self._last
        self._last = now


def inflow(t: float) -> Callable[[Any], Any]:
    """Return the velocity on the left side."""
    return lambda x: np.stack([4 * x[1] * (1 - x[1]) * (1 + 0.5 * np.sin(20 * t)), 0 * x[0]])


def forms(ufl: Any, u: Any, v: Any, p: Any, q: Any, known: dict[str, Any]) -> tuple[Any, ...]:
    """Return the forms of both programs."""
    dx, inner, grad, dot, div = ufl.dx, ufl.inner, ufl.grad, ufl.dot, ufl.div
    old, star, pressure, phi = (known[name] for name in ("old", "star", "pressure", "phi"))
    a1 = (inner(u, v) / DT + inner(dot(grad(u), old), v) + NU * inner(grad(u), grad(v))) * dx
    L1 = (inner(old, v) / DT + pressure * div(v)) * dx
    a2, L2 = inner(grad(p), grad(q)) * dx, -(1 / DT) * div(star) * q * dx
    a3, L3 = inner(u, v) * dx, (inner(star, v) - DT * inner(grad(phi), v)) * dx
    return a1, L1, a2, L2, a3, L3


def at_wall(x: Any) -> Any:
    """Say where the velocity is zero."""
    return np.isclose(x[1], 0) | np.isclose(x[1], 1)


def ours() -> tuple[Callable[[Clock], None], Callable[[], float]]:
    """Return what makes a step here, and what returns the kinetic energy."""
    import ufl

    from pyop2cxx import fem, op2
    from pyop2cxx.mesh import square_mesh

    mesh = square_mesh(N)
    V, Q = fem.FunctionSpace(mesh, ("P", 2, (2,))), fem.FunctionSpace(mesh, ("P", 1))
    u, v, p, q = (make(S) for S in (V, Q) for make in (ufl.TrialFunction, ufl.TestFunction))
    known = {n: fem.Function(V, name=n) for n in ("old", "star", "given")}
    known |= {n: fem.Function(Q, name=n) for n in ("pressure", "phi")}
    old, star, given = (known[name] for name in ("old", "star", "given"))
    a1, L1, a2, L2, a3, L3 = forms(ufl, u, v, p, q, known)
    L1 = L1 - ufl.replace(a1, {u: given})  # lifting
    walls = fem.DirichletBC(V, (0.0, 0.0), lambda x: at_wall(x) & ~np.isclose(x[0], 0))
    left = fem.DirichletBC(V, inflow(0), lambda x: np.isclose(x[0], 0))
    right = fem.DirichletBC(Q, 0.0, lambda x: np.isclose(x[0], 1))
    A1, b1, b2, b3 = (fem.assemble(form) for form in (a1, L1, L2, L3))
    A2, A3 = fem.assemble(a2, [right]), fem.assemble(a3)
    momentum = op2.Solver(ksp_type="bicgstab", pc_type="jacobi", ksp_rtol=RTOL)
    poisson = op2.Solver(ksp_type="preonly", pc_type="lu")
    mass = op2.Solver(ksp_type="cg", pc_type="jacobi", ksp_rtol=RTOL)
    t = 0.0

    def step(clock: Clock) -> None:
        nonlocal t
        t += DT
        left.set(inflow(t))
        clock.start()
        for values in (given.dat.data.reshape(-1), star.dat.data.reshape(-1)):
            values[walls.dofs], values[left.dofs] = 0, left.values
        fem.assemble(a1, [walls, left], A1)
        fem.assemble(L1, [walls, left], b1)
        clock.took("assemble 1")
        momentum.solve(A1, star.dat, b1.dat)
        clock.took("solve 1")
        fem.assemble(L2, [right], b2)
        clock.took("assemble 2")
        poisson.solve(A2, known["phi"].dat, b2.dat)
        known["pressure"].dat += known["phi"].dat
        clock.took("solve 2")
        fem.assemble(L3, [], b3)
        clock.took("assemble 3")
        mass.solve(A3, old.dat, b3.dat)
        clock.took("solve 3")

    return step, lambda: float(fem.assemble(ufl.inner(old, old) * ufl.dx))


def theirs() -> tuple[Callable[[Clock], None], Callable[[], float]]:
    """Return the same of DOLFINx."""
    import ufl
    from dolfinx import fem, mesh
    from dolfinx.fem import petsc
    from mpi4py import MPI
    from petsc4py import PETSc

    square = mesh.create_unit_square(MPI.COMM_SELF, N, N)
    V, Q = fem.VectorFunctionSpace(square, ("P", 2)), fem.FunctionSpace(square, ("P", 1))
    u, v, p, q = (make(S) for S in (V, Q) for make in (ufl.TrialFunction, ufl.TestFunction))
    known = {n: fem.Function(V) for n in ("old", "star", "given")}
    known |= {n: fem.Function(Q) for n in ("pressure", "phi")}
    old, star, given = (known[name] for name in ("old", "star", "given"))
    flags = {"cffi_extra_compile_args": ["-O3", "-march=native"]}
    found = forms(ufl, u, v, p, q, known)
    a1, L1, a2, L2, a3, L3 = (fem.form(form, jit_params=flags) for form in found)
    on = fem.locate_dofs_geometrical
    zero = np.zeros(2, dtype=PETSc.ScalarType)
    bcs = [
        fem.dirichletbc(zero, on(V, lambda x: at_wall(x) & ~np.isclose(x[0], 0)), V),
        fem.dirichletbc(given, on(V, lambda x: np.isclose(x[0], 0))),
    ]
    right = [fem.dirichletbc(PETSc.ScalarType(0), on(Q, lambda x: np.isclose(x[0], 1)), Q)]
    A1, A2, A3 = petsc.create_matrix(a1), petsc.assemble_matrix(a2, right), None
    A2.assemble()
    A3 = petsc.assemble_matrix(a3)
    A3.assemble()
    vectors = [petsc.create_vector(form) for form in (L1, L2, L3)]
    solvers = [
        _ksp(PETSc, matrix, kind, pc)
        for matrix, kind, pc in (
            (A1, "bcgs", "jacobi"),
            (A2, "preonly", "lu"),
            (A3, "cg", "jacobi"),
        )
    ]
    for solver in (solvers[0], solvers[2]):
        solver.setInitialGuessNonzero(True)
    t = 0.0

    def vector(which: int, form: Any) -> Any:
        with vectors[which].localForm() as local:
            local.set(0)
        petsc.assemble_vector(vectors[which], form)
        return vectors[which]

    def step(clock: Clock) -> None:
        nonlocal t
        t += DT
        given.interpolate(inflow(t))
        clock.start()
        A1.zeroEntries()
        petsc.assemble_matrix(A1, a1, bcs=bcs)
        A1.assemble()
        b = vector(0, L1)
        petsc.apply_lifting(b, [a1], [bcs])
        petsc.set_bc(b, bcs)
        clock.took("assemble 1")
        solvers[0].solve(b, star.vector)
        clock.took("solve 1")
        b = vector(1, L2)
        petsc.apply_lifting(b, [a2], [right])
        petsc.set_bc(b, right)
        clock.took("assemble 2")
        solvers[1].solve(b, known["phi"].vector)
        known["pressure"].vector.axpy(1, known["phi"].vector)
        clock.took("solve 2")
        b = vector(2, L3)
        clock.took("assemble 3")
        solvers[2].solve(b, old.vector)
        clock.took("solve 3")

    energy = fem.form(ufl.inner(old, old) * ufl.dx)
    return step, lambda: float(fem.assemble_scalar(energy))


def _ksp(petsc: Any, matrix: Any, kind: str, pc: str) -> Any:
    solver = petsc.KSP().create(matrix.comm)
    solver.setOperators(matrix)
    solver.setType(kind)
    solver.getPC().setType(pc)
    solver.setTolerances(rtol=RTOL)
    return solver


def answer() -> None:
    """Be the peer: for each line, make so many steps, and reply with seconds and the energy."""
    import logging

    logging.disable(logging.INFO)  # compilers' commands
    step, energy = theirs()
    for line in sys.stdin:
        clock = Clock()
        for _ in range(int(line)):
            step(clock)
        print(*clock.seconds.values(), energy(), flush=True)


def main() -> None:
    """Print seconds of each part, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default="/usr/bin/python3", help="one that imports dolfinx")
    parser.add_argument("--steps", type=int, default=10, help="of each round")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--peer", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.peer:
        answer()
        return
    from pyop2cxx import op2

    op2.init(backend="sequential", threads=1)
    peer = subprocess.Popen(
        [asked.python, __file__, "--peer"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": ""},
    )
    assert peer.stdin is not None
    assert peer.stdout is not None
    step, energy = ours()
    best = np.full((2, len(PARTS)), np.inf)
    for n_steps in (1, *[asked.steps] * asked.rounds):  # the first one compiles and factorises
        clock = Clock()
        for _ in range(n_steps):
            step(clock)
        peer.stdin.write(f"{n_steps}\n")
        peer.stdin.flush()
        words = peer.stdout.readline().split()
        if not words:
            sys.exit("the process of DOLFINx ended; what it said is above")
        *other, their_energy = map(float, words)
        if n_steps == asked.steps:
            found = np.array([list(clock.seconds.values()), other])
            best = np.minimum(best, found / n_steps * 1e3)
    for part, (mine, other) in zip(PARTS, best.T, strict=True):
        print(f"{part}: {mine:.2f} ms, DOLFINx {other:.2f} ms, {other / mine:.2f} x")
    mine, other = best.sum(1)
    print(f"a step: {mine:.1f} ms, DOLFINx {other:.1f} ms, {other / mine:.2f} x (wanted 1)")
    print(f"energies: {energy():.10g}, {their_energy:.10g}")


if __name__ == "__main__":
    main()
