# SPDX-License-Identifier: BSD-3-Clause
"""Programs of the suite: one step of each, a check of the results, and the arrays for peers."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "demos"))

import conjugate_gradients
from airfoil import Airfoil
from jacobi import Jacobi
from shallow_water import Basin

from pyop2cxx import op2
from pyop2cxx.mesh import airfoil_arrays, free_stream
from pyop2cxx.op2 import INC, READ, RW

if TYPE_CHECKING:
    from collections.abc import Callable


MESSAGES = """
#include <math.h>
static void send(const real *a, const real *b, real *y) {
  for (int i = 0; i < 8; ++i) y[i] += tanh(a[i] - b[i]);
}
static void take(real *y, real *x) {
  for (int i = 0; i < 8; ++i) { x[i] += (real)0.1 * y[i]; y[i] = 0; }
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program on a mesh.

    Attributes:
        name: Name in tables.
        n: Number of elements of the largest loop.
        step: Runs the loops of a step; repeated calls are further steps.
        check: Says after some steps what is wrong; empty: nothing.
        fixed: Gives the arrays that steps only read, by the names that `peer_steps` uses.
        values: Gives copies of the arrays that steps change, as they are now.
        is_steady: Steps repeat the same work: no value of a step comes from the step before.
        why_alone: Why steps can be neither chained nor recorded; empty: possible.
        restart: Goes back to the first values; nothing where steps may go on for ever.
        most_steps: Steps until a restart is necessary.
    """

    name: str
    n: int
    step: Callable[[], object]
    check: Callable[[], str]
    fixed: Callable[[], dict[str, np.ndarray]]
    values: Callable[[], dict[str, np.ndarray]]
    is_steady: bool = False
    why_alone: str = ""
    restart: Callable[[], object] = lambda: None
    most_steps: int = 1000


def unless(is_right: bool, why: str) -> str:
    """Return a reason, unless all is right."""
    return "" if is_right else why


def copies(**dats: Any) -> dict[str, np.ndarray]:
    """Return copies of the values of Dats and Globals."""
    return {name: dat.data_ro.copy() for name, dat in dats.items()}


def airfoil(size: float) -> Program:
    """Inviscid flow around a wing: five loops over cells, edges and boundary edges."""
    mesh = airfoil_arrays(max(int(400 * size**0.5), 8), max(int(600 * size**0.5), 12))
    problem = Airfoil(mesh)
    return Program(
        name="airfoil",
        n=mesh.n_edges,
        step=problem.iterate,
        check=lambda: unless(0.0 < problem.change() < 1.0, f"change {problem.change():g}"),
        fixed=lambda: {
            "x": mesh.x,
            "c2n": mesh.cell2node,
            "e2n": mesh.edge2node,
            "e2c": mesh.edge2cell,
            "b2n": mesh.bedge2node,
            "b2c": mesh.bedge2cell,
            "is_wall": (mesh.bound == 1).astype(float),
            "qinf": free_stream(),
        },
        values=lambda: copies(q=problem.q, rms=problem.rms),
    )


def jacobi(size: float) -> Program:
    """Jacobi's iteration on the edges of squares."""
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
        fixed=lambda: {
            "ends": problem.mesh.edges.vertices.values,
            "inside": problem.update.args[0].data.data_ro,
        },
        values=lambda: copies(u=problem.u, total=problem.total, largest=problem.largest),
    )


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

    inside, rim = basin.mesh.interior_facets, basin.mesh.exterior_facets
    return Program(
        name="shallow water",
        n=basin.mesh.cells.size * 3 // 2,
        step=step,
        check=check,
        fixed=lambda: {
            "normals": inside.normals.data_ro,
            "cells": inside.cells.values,
            "v": basin.v.data_ro,
            "wall_normals": rim.normals.data_ro,
            "wall_cells": rim.cells.values[:, 0],
        },
        values=lambda: copies(q=basin.q, dt=dt),
    )


def poisson_cg(size: float) -> Program:
    """Two iterations of conjugate gradients for P1 tetrahedra, without a matrix."""
    system = conjugate_gradients.System(max(int(56 * size ** (1 / 3)), 4))
    return of_gradients(system, "CG of P1 tetrahedra")


def poisson_matrix(size: float) -> Program:
    """The same with a sparse matrix."""
    import ufl
    from ufl import dx, grad, inner

    from pyop2cxx import fem

    system = conjugate_gradients.System(max(int(56 * size ** (1 / 3)), 4))
    V = fem.FunctionSpace(system.mesh, ("P", 1))
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    (stiffness,) = fem.Form(inner(grad(u), grad(v)) * dx, name="stiffness").integrals
    corners = V.domain.cell_vertices
    A = op2.Mat(op2.Sparsity((system.vertices, system.vertices), (corners, corners)))
    roles = {
        "tensor": A(INC, (corners, corners)),
        "coordinates": system.mesh.coordinates(READ, corners),
    }
    of_cell = (roles[one.role] for one in stiffness.parameters)
    op2.par_loop(stiffness.kernel, system.cells, *of_cell)
    multiply = SimpleNamespace(compute=lambda: A.mult(system.p, system.w))
    system.multiply = multiply
    pattern = A.to_scipy()
    entries = {
        "rows": np.repeat(np.arange(A.nrows, dtype=np.int32), np.diff(pattern.indptr)),
        "indptr": pattern.indptr,
        "indices": pattern.indices,
        "data": pattern.data,
    }
    return of_gradients(system, "CG of P1 tetrahedra, matrix", entries)


def of_gradients(
    system: conjugate_gradients.System, name: str, matrix: dict[str, np.ndarray] | None = None
) -> Program:
    """Return two iterations of conjugate gradients; peers get the matrix, if there is one."""

    def step() -> None:
        system.step()
        system.step()

    def check() -> str:
        product, r = system.start[0], system.r.data_ro.copy()
        system.w.zero()
        product.compute()
        wanted = -system.free.data_ro * system.w.data_ro
        apart = float(abs(r - wanted).max() / abs(system.first).max())
        return unless(apart < 1e-12, f"residual is wrong by {apart:.1e}")

    return Program(
        name=name,
        n=system.cells.size,
        step=step,
        check=check,
        fixed=lambda: {
            "x": system.mesh.coordinates.data_ro,
            "corners": system.mesh.cell_vertices.values,
            "free": system.free.data_ro,
            **(matrix or {}),
        },
        values=lambda: copies(u=system.u, r=system.r, p=system.p, square=system.squares[0]),
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
    p, w, u, r, b = (op2.Dat(V.dof_set, name=name) for name in "pwurb")
    squares = [op2.Global(1, 0.0, name=name) for name in ("even", "odd")]
    energy = op2.Global(1, 1.0, name="energy")
    b.data[:] = np.random.default_rng(0).random(b.data.shape)
    b.data[:] -= b.data.mean()
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
        name: op2.Kernel(conjugate_gradients.KERNELS, name)
        for name in ("dot", "ahead", "back", "turn")
    }
    first = op2.ParLoop(kernels["dot"], V.dof_set, r(READ), r(READ), squares[0](INC))
    dots = op2.ParLoop(kernels["dot"], V.dof_set, p(READ), w(READ), energy(INC))

    def others(old: op2.Global, new: op2.Global) -> tuple[op2.ParLoop, ...]:
        quotient = old(READ), energy(READ)
        return (
            op2.ParLoop(kernels["ahead"], V.dof_set, p(READ), *quotient, u(RW)),
            op2.ParLoop(kernels["back"], V.dof_set, w(READ), *quotient, r(RW)),
            op2.ParLoop(kernels["dot"], V.dof_set, r(READ), r(READ), new(INC)),
            op2.ParLoop(kernels["turn"], V.dof_set, r(READ), new(READ), old(READ), p(RW)),
        )

    rest = [(squares[1], others(*squares)), (squares[0], others(*squares[::-1]))]

    def step() -> None:
        K.zero()
        matrices.compute()
        u.zero()
        b.copy(r)
        b.copy(p)
        squares[0].zero()
        first.compute()
        for i in range(10):
            w.zero()
            product.compute()
            energy.zero()
            dots.compute()
            new, loops = rest[i % 2]
            new.zero()
            for loop in loops:
                loop.compute()

    def check() -> str:
        u.copy(p)
        w.zero()
        product.compute()
        apart = float(abs(b.data_ro - w.data_ro - r.data_ro).max() / abs(b.data_ro).max())
        return unless(apart < 1e-10, f"residual is wrong by {apart:.1e}")

    return Program(
        name="aero",
        n=mesh.cells.size,
        step=step,
        check=check,
        fixed=lambda: {
            "x": mesh.coordinates.data_ro,
            "corners": V.domain.cell_vertices.values,
            "dofs": c2v.values,
            "phi": phi.dat.data_ro,
            "b": b.data_ro,
        },
        values=lambda: copies(u=u, r=r),
        is_steady=True,
    )


def messages(size: float, dtype: str) -> Program:
    """Passing of messages: tanh of eight differences an edge, six edges a node, then an update."""
    n, scalar = max(int(1_000_000 * size), 64), {"float64": "double", "float32": "float"}[dtype]
    random = np.random.default_rng(1)
    source = random.integers(0, n, 6 * n, dtype=np.int32)
    target = np.repeat(np.arange(n, dtype=np.int32), 6)
    nodes, edges = op2.Set(n, "nodes"), op2.Set(len(source), "edges")
    ends = op2.Map(edges, nodes, 2, np.stack([source, target], axis=1), "ends")
    x = op2.Dat(nodes**8, random.uniform(-2, 2, (n, 8)).astype(dtype), dtype, name="x")
    y = op2.Dat(nodes**8, dtype=dtype, name="y")
    text = MESSAGES.replace("real", scalar).replace("tanh", f"tanh{'f' * (dtype == 'float32')}")
    send, take = (op2.Kernel(text, name) for name in ("send", "take"))
    loops = (
        op2.ParLoop(send, edges, x(READ, ends[0]), x(READ, ends[1]), y(INC, ends[1])),
        op2.ParLoop(take, nodes, y(RW), x(RW)),
    )

    def step() -> None:
        for loop in loops:
            loop.compute()

    def check() -> str:
        largest = float(abs(x.data_ro).max())
        return unless(0.0 < largest < 10.0, f"largest value {largest:g}")

    return Program(
        name=f"messages {dtype}",
        n=edges.size,
        step=step,
        check=check,
        fixed=lambda: {"ends": ends.values, "second": target},
        values=lambda: copies(x=x),
    )


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
        fixed=lambda: matrix_arrays(V, A),
        values=lambda: {"A": A.to_scipy().data.copy()},
        is_steady=True,
        why_alone="assembly runs at once",
    )


def matrix_arrays(V: Any, A: Any) -> dict[str, np.ndarray]:
    """Return what the matrix of `V` needs, with the place of each entry of each cell's matrix.

    Entries are numbered as in the arrays of the sparse matrix `A`. Array `reference` has the
    integrals of the products of derivatives on the reference triangle, shape (2, 2, dofs, dofs).
    """
    import basix

    dofs, pattern = V.cell_dofs.values.astype(np.int64), A.to_scipy()
    n = V.dof_set.size
    rows = np.repeat(np.arange(n), np.diff(pattern.indptr))
    order = np.argsort(rows * n + pattern.indices)
    wanted = dofs[:, :, None] * n + dofs[:, None, :]
    places = order[np.searchsorted((rows * n + pattern.indices)[order], wanted)]
    points, weights = basix.make_quadrature(basix.CellType.triangle, 2)
    slopes = V.element.tabulate(1, points)[1:3]
    return {
        "x": V.mesh.coordinates.data_ro,
        "corners": V.domain.cell_vertices.values,
        "dofs": dofs.astype(np.int32),
        "places": places.reshape(len(dofs), -1).astype(np.int32),
        "indptr": pattern.indptr,
        "indices": pattern.indices,
        "reference": np.einsum("q,aqi,bqj->abij", weights, slopes, slopes),
        "dof_x": V.dof_coordinates,
    }


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
        name=f"hexahedra Q{degree}",
        n=operator.n_cells,
        step=operator.apply,
        check=check,
        fixed=lambda: hexes_arrays(operator.space, degree) | {"u": operator.x.dat.data_ro},
        values=lambda: copies(y=operator.y.dat),
        is_steady=True,
    )


def hexes_arrays(V: Any, degree: int) -> dict[str, np.ndarray]:
    """Return the dofs of each cell in the order of their places, and functions at Gauss points.

    Arrays `value` and `slope` are one-dimensional, shape (points, dofs of a direction); arrays
    `corner_value` and `corner_slope` are the same for the two vertices of a direction.
    """
    points, weights = np.polynomial.legendre.leggauss(degree + 2)
    points, weights = (points + 1) / 2, weights / 2
    at = V.element.basix_element.points
    nodes = np.unique(at[:, 0].round(12))
    order = np.lexsort(at.round(12).T[::-1])  # the first coordinate changes last

    def powers(x: np.ndarray) -> np.ndarray:
        return np.polynomial.legendre.legvander(2 * x - 1, degree)

    inverse = np.linalg.inv(powers(nodes))
    derivative = np.polynomial.legendre.legder(np.eye(degree + 1), axis=0)
    slopes = 2 * np.polynomial.legendre.legvander(2 * points - 1, degree - 1) @ derivative
    return {
        "x": V.mesh.coordinates.data_ro,
        "corners": V.domain.cell_vertices.values[:, [0, 4, 2, 6, 1, 5, 3, 7]],
        "dofs": V.cell_dofs.values[:, order],
        "value": powers(points) @ inverse,
        "slope": slopes @ inverse,
        "corner_value": np.stack([1 - points, points], axis=1),
        "corner_slope": np.tile([-1.0, 1.0], (len(points), 1)),
        "weights": weights,
        "dof_x": V.dof_coordinates,
    }


def all_programs() -> dict[str, Callable[[float], Program]]:
    """Return functions that make the programs of a size, by name; size 1 is for 16 cores."""
    from euler import euler, multigrid
    from hydro import hydro

    return {
        "airfoil": airfoil,
        "jacobi": jacobi,
        "shallow_water": shallow_water,
        "poisson_cg": poisson_cg,
        "poisson_matrix": poisson_matrix,
        "aero": aero,
        "euler": euler,
        "multigrid": multigrid,
        "hydro": hydro,
        "messages_f64": lambda size: messages(size, "float64"),
        "messages_f32": lambda size: messages(size, "float32"),
        "matrix_p1": lambda size: assembly(size, 1),
        "matrix_p2": lambda size: assembly(size, 2),
        "hexes_q2": lambda size: hexes(size, 2),
        "hexes_q6": lambda size: hexes(size, 6),
    }
