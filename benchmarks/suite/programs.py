# SPDX-License-Identifier: BSD-3-Clause
"""Programs of the suite: one step of each, with a check of the results and, for some, a peer."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "demos"))

import conjugate_gradients
from airfoil import Airfoil
from jacobi import Jacobi
from shallow_water import Basin

from pyop2cxx import op2
from pyop2cxx.mesh import airfoil_arrays
from pyop2cxx.op2 import INC, READ, RW

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program on a mesh.

    Attributes:
        name: Name in tables.
        n: Number of elements of the largest loop.
        step: Runs the loops of a step; repeated calls are further steps.
        check: Says after some steps what is wrong; empty: nothing.
        peer: Name of another library, and a step of the same work by the library.
        why_alone: Why steps can be neither chained nor recorded; empty: possible.
        restart: Goes back to the first values; nothing where steps may go on for ever.
        most_steps: Steps until a restart is necessary.
    """

    name: str
    n: int
    step: Callable[[], object]
    check: Callable[[], str]
    peer: tuple[str, Callable[[], object]] | None = None
    why_alone: str = ""
    restart: Callable[[], object] = lambda: None
    most_steps: int = 1000


def unless(is_right: bool, why: str) -> str:
    """Return a reason, unless all is right."""
    return "" if is_right else why


def airfoil(size: float) -> Program:
    """Inviscid flow around a wing: five loops over cells, edges and boundary edges."""
    mesh = airfoil_arrays(max(int(400 * size**0.5), 8), max(int(600 * size**0.5), 12))
    problem = Airfoil(mesh)
    return Program(
        name="airfoil",
        n=mesh.n_edges,
        step=problem.iterate,
        check=lambda: unless(0.0 < problem.change() < 1.0, f"change {problem.change():g}"),
    )


def jacobi(size: float) -> Program:
    """Jacobi's iteration on the edges of squares; SciPy multiplies by the same matrix."""
    n = max(int(700 * size**0.5), 8)
    problem = Jacobi(n)

    def check() -> str:
        u = problem.u.data_ro
        return unless(bool((u >= 0).all() and (u <= 1 + 1e-12).all()), "values beyond 0 and 1")

    return Program(
        name="jacobi",
        n=problem.mesh.edges.set.size,
        step=problem.step,
        check=check,
        peer=scipy_jacobi(problem.mesh),
    )


def scipy_jacobi(mesh: Any) -> tuple[str, Callable[[], object]] | None:
    """Return a sparse product and the update of `jacobi` by SciPy; None if not installed."""
    try:
        from scipy.sparse import csr_matrix
    except ImportError:
        return None
    ends = mesh.edges.vertices.values
    i, j = np.concatenate([ends, ends[:, ::-1]]).T
    n = mesh.vertices.size
    matrix = csr_matrix((np.full(len(i), 0.25), (i, j)), (n, n))
    inside = np.ones(n)
    inside[mesh.exterior_facets.vertices_of().indices] = 0.0
    u, kept = np.zeros(n), 1.0 - inside
    totals = np.zeros(2)

    def step() -> None:
        du = (matrix @ u - u) * inside
        u[:] = (u + du) * inside + kept
        totals[:] = du @ du, abs(du).max()

    return "SciPy", step


def shallow_water(size: float) -> Program:
    """Shallow water in a round basin, finite volumes on triangles, with a minimum for the step."""
    basin = Basin(max(int(250 * size**0.5), 4))
    dt = next(arg.data for arg in basin.loops[0].args if arg.data.name == "dt")
    start = op2.Global(1, 1.0, name="largest step")
    before = float(basin.q.data_ro[:, 0] @ basin.v.data_ro)

    def step() -> None:
        start.copy(dt)
        for loop in basin.loops:
            loop.compute()

    def check() -> str:
        lost = abs(float(basin.q.data_ro[:, 0] @ basin.v.data_ro) / before - 1)
        return unless(lost < 1e-11 and bool(basin.q.min()[0] > 0), f"{lost:.1e} of the water lost")

    return Program(name="shallow water", n=basin.mesh.cells.size * 3 // 2, step=step, check=check)


def poisson_cg(size: float) -> Program:
    """Two iterations of conjugate gradients for P1 tetrahedra, without a matrix."""
    system = conjugate_gradients.System(max(int(56 * size ** (1 / 3)), 4))

    def step() -> None:
        system.step()
        system.step()

    def check() -> str:
        apart = float(abs(system.u.data_ro - system.exact).max())
        return unless(apart < 2.0, f"{apart:.1e} from the solution")

    return Program(
        name="CG of P1 tetrahedra",
        n=system.cells.size,
        step=step,
        check=check,
        restart=system.restart,
        most_steps=20,  # behind convergence there are zeros to divide by
    )


def aero(size: float) -> Program:
    """Compressible potential flow: matrices of quadrilaterals, and ten products of CG."""
    import ufl
    from aero import MULTIPLY
    from ufl import derivative, dot, dx, grad

    from pyop2cxx import fem

    n = max(int(260 * size**0.5), 4)
    mesh = airfoil_arrays(2 * n, n).to_mesh()
    V = fem.FunctionSpace(mesh, ("P", 1))
    phi, v = fem.interpolate(lambda x: x[0], fem.Function(V, name="phi")), ufl.TestFunction(V)
    F = (1 + 0.4**2 / 5 * (1 - grad(phi) ** 2)) ** 2.5 * dot(grad(phi), grad(v)) * dx(degree=2)
    (tangent,) = fem.Form(derivative(F, phi), name="tangent").integrals
    c2v, K = V.cell_dofs, op2.Dat(mesh.cells**16, name="K")
    p, w, u, r = (op2.Dat(V.dof_set, name=name) for name in "pwur")
    top, energy = op2.Global(1, 1.0, name="top"), op2.Global(1, 1.0, name="energy")
    p.data[:] = np.random.default_rng(0).random(p.data.shape)
    roles = {
        "tensor": K(INC),
        "coefficient": phi.dat(READ, c2v),
        "coordinates": mesh.coordinates(READ, V.domain.cell_vertices),
    }
    args = (roles[one.role] for one in tangent.parameters)
    matrices = op2.ParLoop(tangent.kernel, mesh.cells, *args)
    multiply = op2.Kernel(MULTIPLY, "multiply")
    product = op2.ParLoop(multiply, mesh.cells, K(READ), p(READ, c2v), w(INC, c2v))
    kernels = {
        name: op2.Kernel(conjugate_gradients.KERNELS, name) for name in ("dot", "ahead", "back")
    }
    dots = op2.ParLoop(kernels["dot"], V.dof_set, p(READ), w(READ), energy(INC))
    ahead = op2.ParLoop(kernels["ahead"], V.dof_set, p(READ), top(READ), energy(READ), u(RW))
    back = op2.ParLoop(kernels["back"], V.dof_set, w(READ), top(READ), energy(READ), r(RW))

    def step() -> None:
        K.zero()
        matrices.compute()
        for _ in range(10):
            w.zero()
            product.compute()
            energy.zero()
            dots.compute()
            ahead.compute()
            back.compute()

    def check() -> str:
        found, wanted = float(energy.data_ro[0]), float(p.data_ro.ravel() @ w.data_ro.ravel())
        return unless(abs(found - wanted) <= 1e-10 * abs(wanted), f"energy {found}, not {wanted}")

    return Program(name="aero", n=mesh.cells.size, step=step, check=check)


def assembly(size: float, degree: int) -> Program:
    """The stiffness matrix of triangles from its form."""
    import ufl
    from ufl import dx, grad, inner

    from pyop2cxx import fem
    from pyop2cxx.mesh import square_mesh

    mesh = square_mesh(max(int(500 * size**0.5 / degree), 4))
    V = fem.FunctionSpace(mesh, ("P", degree))
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    form = inner(grad(u), grad(v)) * dx
    A = fem.assemble(form)
    ones, y = fem.Function(V), fem.Function(V)
    ones.dat.assign(1.0)

    def check() -> str:
        y.dat.assign(A @ ones.dat)
        largest = float(abs(y.dat.data_ro).max())
        return unless(largest < 1e-10, f"constants are not in the kernel: {largest:.1e}")

    return Program(
        name=f"matrix P{degree}",
        n=mesh.cells.size,
        step=lambda: fem.assemble(form, (), A),
        check=check,
        why_alone="assembly runs at once",
    )


def hexes(size: float, degree: int) -> Program:
    """The action of a Laplacian on hexahedra, without a matrix."""
    import argparse

    from bench_bakeoff import Operator

    given = argparse.Namespace(dofs=max(int(1_000_000 * size), 64), strategy=None)
    operator = Operator("BP3", degree, given, None)

    def check() -> str:
        total = abs(float(operator.y.dat.data_ro.sum()))
        scale = float(abs(operator.y.dat.data_ro).sum())
        return unless(total <= 1e-9 * scale, f"constants are not in the kernel: {total:.1e}")

    return Program(
        name=f"hexahedra Q{degree}", n=operator.n_cells, step=operator.apply, check=check
    )


def all_programs() -> dict[str, Callable[[float], Program]]:
    """Return functions that make the programs of a size, by name; size 1 is for 16 cores."""
    from euler import euler, multigrid
    from hydro import hydro

    return {
        "airfoil": airfoil,
        "jacobi": jacobi,
        "shallow_water": shallow_water,
        "poisson_cg": poisson_cg,
        "aero": aero,
        "euler": euler,
        "multigrid": multigrid,
        "hydro": hydro,
        "matrix_p1": lambda size: assembly(size, 1),
        "matrix_p2": lambda size: assembly(size, 2),
        "hexes_q2": lambda size: hexes(size, 2),
        "hexes_q6": lambda size: hexes(size, 6),
    }
