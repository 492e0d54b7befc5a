# SPDX-License-Identifier: BSD-3-Clause
"""Spaces made after op2.distribute, and solvers, on 1 to 4 processes with random partitions."""

from __future__ import annotations

import pytest
from on_ranks import failure, outputs

from pyop2cxx.base import extras

pytestmark = pytest.mark.skipif(
    not (extras.installed()["mpi4py"] and extras.installed()["ufl"]),
    reason="mpi4py or UFL is not installed",
)

HEAD = """
from mpi4py import MPI
import ufl
from ufl import dx, grad, inner
from pyop2cxx import fem
from pyop2cxx.mesh import cube_mesh, interval_mesh, square_mesh
op2.init(comm=MPI.COMM_WORLD, backend=sys.argv[1])
n = MPI.COMM_WORLD.size
said = []

def partition(on, seed):
    random = np.random.default_rng([seed, n])
    some = random.permutation(n)[: random.integers(1, n + 1)]
    return some[random.integers(len(some), size=on.size)] if seed else "metis"

def show():
    for one in said:
        print(one if isinstance(one, str) else f"{one * (1 + 1e-9):.7e}")
"""
SPACES = (
    HEAD
    + """
for seed, (mesh, elements) in enumerate([
    (square_mesh(4), [("P", 2), ("P", 3, (2,)), ("RT", 2), ("N1curl", 1), ("DG", 1)]),
    (square_mesh(3, cell="quadrilateral"), [("Q", 2), ("Q", 3), ("RTCF", 1), ("DQ", 1)]),
    (cube_mesh(2), [("P", 2), ("N1curl", 1), ("RT", 1)]),
    (cube_mesh(2, cell="hexahedron"), [("Q", 2), ("NCF", 1)]),
    (interval_mesh(5), [("P", 1), ("P", 3)]),
    (square_mesh(3), [[("P", 2, (2,)), ("P", 1)]]),
]):
    is_simplex = mesh.cell_type in ("triangle", "tetrahedron", "interval")
    first = fem.FunctionSpace(mesh, ("P" if is_simplex else "Q", 1))
    op2.distribute(mesh.cells, partition(mesh.cells, seed))
    for element in elements:
        V = fem.FunctionSpace(mesh, element)
        u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
        A = fem.assemble(inner(u, v) * dx + inner(u, v) * ufl.ds)
        said += [V.dof_set.global_size, abs(A.gathered()).sum()]
        if isinstance(element, list):
            hold = [fem.DirichletBC(V.sub(0), (1.0, 2.0), "left"),
                    fem.DirichletBC(V.sub(1), 3.0, "right")]
            (u, p), (v, q) = ufl.TrialFunctions(V), ufl.TestFunctions(V)
            a = (inner(grad(u), grad(v)) + p * q - p * ufl.div(v)) * dx
            w = fem.Function(V)
            fem.solve(a == v[0] * dx + q * dx, w, hold)
            said += [w.dat.norm, *(one.dat.norm for one in w.split())]
            continue
        k = V.value_shape[0] if V.value_shape else 0
        f = lambda x: x[0] ** 2 + x[-1]
        if k:
            f = lambda x: tuple(x[i] * x[0] + i for i in range(k))
        w = fem.interpolate(f, V)
        said += [w.dat.norm, fem.norm(w), (A @ w.dat).norm]
        said.append(np.abs(w.dat.gathered()).reshape(-1)[::7].sum())
        if element[0] in ("P", "Q"):
            one = 1.0 if not k else (1.0,) * k
            bc, c, found = fem.DirichletBC(V, one, "left"), fem.Constant(mesh, one), fem.Function(V)
            L = inner(c, v) * dx + inner(c, v) * fem.ds(mesh, "right")
            fem.solve(inner(grad(u), grad(v)) * dx == L, found, [bc])
            said += [found.dat.norm, np.abs(found.dat.gathered()).reshape(-1)[::7].sum()]
show()
"""
)


def test_spaces_made_afterwards_are_as_on_one() -> None:
    usual = outputs(SPACES, 1, "sequential")
    for n in (2, 3, 4):
        assert outputs(SPACES, n, "sequential") == sorted(usual * n)


SOLVERS = (
    HEAD
    + """
for seed in range(int(sys.argv[2])):
    mesh = square_mesh(4, cell="quadrilateral")
    V = fem.FunctionSpace(mesh, ("Q", 3))
    bc = fem.DirichletBC(V, 1.0, "left")
    op2.distribute(mesh.cells, partition(mesh.cells, seed))
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    a = inner(grad(u), grad(v)) * dx + u * v * ufl.ds
    L = v * dx + v * fem.ds(mesh, "right")
    for keep in ("facets", range(15)):
        system = fem.condense(a, L, keep, [bc])
        S, f = system.matrix.gathered(), system.solve()
        said += [S.shape[0], abs(S).sum(), system.vector.norm, f.dat.norm, fem.norm(f)]
        said.append(np.abs(f.dat.gathered()).reshape(-1)[::5].sum())
        g = system.solve(ksp_type="cg", pc_type="jacobi", ksp_rtol=1e-12)
        assert (g.dat - f.dat).norm < 1e-9
    cell = op2.Dat(mesh.cells, [0.0 if i in (5, 7) else 1.0 for i in mesh.cells.global_numbers])
    k = fem.Function(fem.FunctionSpace(mesh, ("DQ", 0)))
    k.dat.data[:] = cell.data_ro
    try:
        fem.condense(k * inner(u, v) * dx, L)
    except Exception as error:
        said.append(str(error)[:90])
    mesh = square_mesh(3)
    W = fem.FunctionSpace(mesh, ("P", 4, (2,)))
    op2.distribute(mesh.cells, partition(mesh.cells, seed + 5))
    u, v = ufl.TrialFunction(W), ufl.TestFunction(W)
    hold = [fem.DirichletBC(W, 0.0, "left", 0), fem.DirichletBC(W, (0.0, 1.0), "bottom")]
    a, L = inner(grad(u), grad(v)) * dx, v[0] * dx
    f, g = fem.condense(a, L, bcs=hold).solve(), fem.Function(W)
    went = fem.solve(a == L, g, hold, ksp_type="cg", pc_type="pmg", ksp_rtol=1e-10)
    assert (g.dat - f.dat).norm < 1e-8
    said += [f.dat.norm, fem.norm(f), went.n_iterations]
    action, b = fem.action(a, hold), fem.assemble_system(a, L, hold)[1]
    for method in ("cg", "gmres", "bicgstab"):
        g.dat.zero()
        op2.solve(action, g.dat, b.dat, ksp_type=method, pc_type="none", ksp_rtol=1e-10,
                  ksp_max_it=2000)
        assert (g.dat - f.dat).norm < 1e-6
    mesh = square_mesh(4)
    D, P = fem.FunctionSpace(mesh, ("DG", 2)), fem.FunctionSpace(mesh, ("P", 3))
    stars, held = fem.vertex_stars(P), fem.DirichletBC(P, 0.0)
    op2.distribute(mesh.cells, partition(mesh.cells, seed + 10))
    u, v = ufl.TrialFunction(D), ufl.TestFunction(D)
    a = u * v * dx + 0.1 * ufl.jump(u) * ufl.jump(v) * ufl.dS
    M, b = fem.assemble_system(a, fem.SpatialCoordinate(mesh)[0] * v * dx, [])
    w = fem.Function(D)
    went = op2.solve(M, w.dat, b.dat, ksp_type="cg", pc_type="bjacobi", ksp_rtol=1e-11)
    said += [w.dat.norm, went.n_iterations]
    u, v = ufl.TrialFunction(P), ufl.TestFunction(P)
    M, b = fem.assemble_system(inner(grad(u), grad(v)) * dx, v * dx, [held])
    w = fem.Function(P)
    for method in ("cg", "gmres", "bicgstab"):
        for fused in (False, True)[: 1 + (method == "cg")]:
            w.dat.zero()
            went = op2.solve(M, w.dat, b.dat, ksp_type=method, pc_type="patch", pc_patches=stars,
                             ksp_rtol=1e-11, fused=fused)
            said += [w.dat.norm, went.n_iterations * (method != "bicgstab")]
show()
"""
)


@pytest.mark.parametrize(("backend", "ranks"), [("sequential", (2, 4)), ("openmp", (3,))])
def test_solvers_are_as_on_one(backend: str, ranks: tuple[int, ...]) -> None:
    usual = outputs(SOLVERS, 1, backend, "2")
    assert any("of cell 5 is singular" in line for line in usual)
    for n in ranks:
        assert outputs(SOLVERS, n, backend, "2") == sorted(usual * n)


def test_solvers_refuse_by_name_the_rest() -> None:
    text = (
        HEAD
        + """
mesh = square_mesh(3)
V = fem.FunctionSpace(mesh, ("P", 2))
stars = fem.vertex_stars(V)
op2.distribute(mesh.cells)
u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
A, b = fem.assemble_system(u * v * dx, v * dx, [])
w = fem.Function(V)
Z = fem.assemble(fem.Constant(mesh, 0.0) * u * v * dx)
act = fem.action(u * v * dx)
for call in (lambda: op2.solve(A, w.dat, b.dat, ksp_type="cg", pc_type="patch", pc_patches=stars,
                               package="scipy"),
             lambda: op2.solve(act, w.dat, b.dat, pc_type="none", package="scipy"),
             lambda: op2.solve(act, op2.Dat(V.dof_set, dtype="float32"), b.dat, pc_type="none"),
             lambda: op2.solve(A, w.dat, b.dat, P=A),
             lambda: fem.vertex_stars(V)):
    try:
        call()
    except Exception as error:
        said.append(f"{type(error).__name__} {error}")
show()
"""
    )
    said = "\n".join(outputs(text, 2, "sequential"))
    for wanted in (
        "SolverOptionError Solver: over processes pc_type 'patch' is for package 'own'",
        "SolverOptionError Solver: over processes a function is for package 'own'",
        "SolverOptionError Solver: P is for matrices of one process",
        "UnsupportedError vertex_stars: a process has only a part of the cells",
    ):
        assert said.count(wanted) >= 2, (wanted, said)


def test_a_singular_block_ends_all_ranks_with_its_numbers() -> None:
    text = (
        HEAD
        + """
mesh = square_mesh(3)
V = fem.FunctionSpace(mesh, ("DG", 1))
op2.distribute(mesh.cells)
u, v, w = ufl.TrialFunction(V), ufl.TestFunction(V), fem.Function(V)
k = fem.Function(fem.FunctionSpace(mesh, ("DG", 0)))
k.dat.data[:] = [i != 4 for i in mesh.cells.global_numbers[: mesh.cells.size]]
A, b = fem.assemble_system(k * u * v * dx, v * dx, [])
op2.solve(A, w.dat, b.dat, ksp_type="cg", pc_type="bjacobi")
"""
    )
    said = failure(text, 2, "sequential")
    assert "the block of rows 12, 13, 14 is singular" in said
