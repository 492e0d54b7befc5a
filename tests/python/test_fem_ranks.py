# SPDX-License-Identifier: BSD-3-Clause
"""Forms, spaces and conditions on meshes shared by op2.distribute: programs on 1 to 4 processes."""

from __future__ import annotations

import re

import pytest
from on_ranks import TREE, outputs

from pyop2cxx.base import extras

pytestmark = pytest.mark.skipif(
    not (extras.installed()["mpi4py"] and extras.installed()["ufl"]),
    reason="mpi4py or UFL is not installed",
)

HEAD = f"""
from mpi4py import MPI
import ufl
from ufl import dx, grad, inner
from pyop2cxx import fem
from pyop2cxx.mesh import cube_mesh, square_mesh
sys.path.insert(0, {str(TREE / "demos")!r})
op2.init(comm=MPI.COMM_WORLD, backend="sequential")
"""
POISSON = (
    HEAD
    + """
said = []
for degree in (1, 2):
    mesh = square_mesh(6)
    V = fem.FunctionSpace(mesh, ("P", degree))
    x = fem.SpatialCoordinate(mesh)
    exact = ufl.sin(ufl.pi * x[0]) * x[1] + x[0]
    early = fem.DirichletBC(V, exact, ["left", "top"])
    op2.distribute(mesh.cells)
    late = fem.DirichletBC(V, lambda x: np.sin(np.pi * x[0]) * x[1] + x[0], "bottom")
    bcs, u, v, uh = [early, late], ufl.TrialFunction(V), ufl.TestFunction(V), fem.Function(V)
    a = inner(grad(u), grad(v)) * dx
    side = ufl.dot(grad(exact), fem.FacetNormal(mesh)) * v * fem.ds(mesh, "right")
    L = -ufl.div(grad(exact)) * v * dx + side
    for options in ({}, dict(ksp_type="cg", pc_type="jacobi", ksp_rtol=1e-12),
                    dict(ksp_type="cg", pc_type="ilu", ksp_rtol=1e-12, fused=True)):
        uh.dat.zero()
        fem.solve(a == L, uh, bcs, **options)
        said += [uh.dat.norm, fem.error_norm(uh, exact), fem.assemble(uh * ufl.ds)]
    A, b = fem.assemble_system(a, L, bcs)
    w = fem.interpolate(lambda x: x[0] ** 2 - x[1], V)
    said += [abs(A.gathered()).sum(), b.dat.norm, w.dat.norm, fem.norm(w, "H1")]
    g = fem.interpolate(ufl.exp(x[0]) * uh, fem.FunctionSpace(mesh, ("DG", 1)))
    lifted = fem.assemble(L)
    fem.lift(lifted, a, bcs)
    said += [g.dat.norm, w.interpolate(uh**2).dat.norm, lifted.dat.norm]
    nodes = mesh.vertices_where(lambda x: x[0] < 0.3)
    number = op2.Global(1, 0, "int64")
    count = op2.Kernel("void count(long *n) { n[0] += 1; }", "count")
    op2.par_loop(count, nodes, number(op2.INC))
    op2.par_loop(count, mesh.vertices_of("left"), number(op2.INC))
    op2.par_loop(count, mesh.exterior_facets.where(lambda x: x[1] == 0), number(op2.INC))
    said += [number.data_ro[0], mesh.cell_volumes.sum(), V.dof_set.global_size]
    said.append(np.sort(uh.dat.gathered())[5])
print(*(f"{one:.9e}" for one in said))
"""
)


def test_poisson_from_forms_is_as_on_one() -> None:
    usual = outputs(POISSON, 1)
    for n in (2, 4):
        assert outputs(POISSON, n) == usual * n


OTHERS = (
    HEAD
    + """
import basix.ufl
said = []
mesh = square_mesh(4)
n, h = ufl.FacetNormal(fem.SpatialCoordinate(mesh).ufl_domain()), 0.25
D = fem.FunctionSpace(mesh, ("DG", 1))
B = fem.FunctionSpace(mesh, ("RT", 1))
N = fem.FunctionSpace(mesh, ("N1curl", 1))
W = fem.FunctionSpace(mesh, [("P", 2, (2,)), ("P", 1)])
hold = fem.DirichletBC(W.sub(0), (1.0, 2.0), "left")
op2.distribute(mesh.cells)
hold_too = fem.DirichletBC(W.sub(1), 3.0, "right")
u, v = ufl.TrialFunction(D), ufl.TestFunction(D)
jump = ufl.jump(u) * ufl.jump(v) / h * ufl.dS + u * v * dx + u * v * ufl.ds
d = fem.interpolate(lambda x: np.sin(5 * x[0]) + x[1], D)
A = fem.assemble(jump)
said += [abs(A.gathered()).sum(), (A @ d.dat).norm]
x = fem.SpatialCoordinate(mesh)
said += [fem.project(x[0] ** 3 - x[1], fem.Function(D)).dat.norm]  # WRITE, and a Global reduced
for space in (B, N):
    w = fem.interpolate(lambda x: (x[0] * x[1], np.cos(x[0])), space)
    u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
    M = fem.assemble(inner(u, v) * dx)
    said += [fem.norm(w), abs(M.gathered()).sum(), (M @ w.dat).norm]
(u, p), (v, q) = ufl.TrialFunctions(W), ufl.TestFunctions(W)
a = (inner(grad(u), grad(v)) + p * q - p * ufl.div(v)) * dx
w = fem.Function(W)
L = v[0] * dx + q * dx
fem.solve(a == L, w, [hold, hold_too])
first, second = w.split()
said += [w.dat.norm, first.dat.norm, second.dat.norm, fem.norm(first), fem.norm(second)]
again = fem.Function(W)
again.join([first, second])
said.append((again.dat - w.dat).norm)
hold.set((0.5, 0.0))
hold.apply(w)
said.append(w.dat.norm)
F = (1 + first[0] ** 2) * inner(grad(first), grad(first)) * dx
said.append(fem.assemble(F))
print(*(f"{one:.8e}" for one in said))
"""
)


def test_other_elements_and_facets_are_as_on_one() -> None:
    usual = outputs(OTHERS, 1)
    assert outputs(OTHERS, 3) == usual * 3


DEMOS = (
    HEAD
    + """
import importlib
sizes = dict(
    advection_diffusion=4, burgers=8, condensation=4, dg_advection=4, elasticity=3,
    hyperelasticity=2, mass_laplace=4, matrix_free=4, maxwell=2, mixed_poisson=3, multigrid=2,
    stokes=4, wave=4, cylinder=1)

class Shared:
    def __getattr__(self, name):
        return globals().get(name, getattr(fem, name))

def share(space):
    mesh = getattr(space, "space", space).mesh
    if not mesh.cells.is_distributed:
        op2.distribute(mesh.cells)

def Function(space, *args, **options):
    share(space)
    return fem.Function(space, *args, **options)

def interpolate(value, space, *args, **options):
    share(space)
    return fem.interpolate(value, space, *args, **options)

def condense(*args, bcs, **options):
    share(bcs[0].space)
    return fem.condense(*args, bcs=bcs, **options)

for name, n in sizes.items():
    demo = importlib.import_module(name)
    demo.fem = Shared()
    error, found = demo.solve(n)
    assert found.dat.dataset.set.is_distributed == (MPI.COMM_WORLD.size > 1)
    total, length = np.abs(found.dat.gathered()).sum(), found.dat.norm
    if MPI.COMM_WORLD.rank == 0:
        print(f"\\ndemo {name} {error:.6e} {length:.7e} {total:.7e}", flush=True)
"""
)


def test_demos_are_as_on_one() -> None:
    demos = {n: [line for line in outputs(DEMOS, n) if line.startswith("demo")] for n in (1, 2, 4)}
    assert len(demos[1]) == 14
    assert demos[2] == demos[1] == demos[4]


def test_what_needs_the_whole_mesh_is_refused_by_name() -> None:
    text = (
        HEAD
        + """
mesh, apart = square_mesh(3), square_mesh(3)
V = fem.FunctionSpace(mesh, ("P", 1))
v = ufl.TestFunction(V)

def tried(call):
    try:
        call()
    except Exception as error:
        print(type(error).__name__, str(error).replace(chr(10), " "))
    else:
        print("nothing", call)

op2.distribute(mesh.cells)
op2.distribute(apart.cells)
tried(lambda: fem.FunctionSpace(apart, ("P", 1)))
tried(lambda: fem.assemble(ufl.avg(v) * ufl.dS))
tried(lambda: mesh.edges.find(np.array([[0, 1]])))
tried(lambda: mesh.facets.cells_of(0))
"""
    )
    found = outputs(text, 2)
    assert not [line for line in found if line.startswith("nothing")], found
    for wanted in (
        r"^UnsupportedError .*make function spaces of the whole mesh",
        r"^UnsupportedError the first integral over interior_facets of .*before op2.distribute",
        r"^UnsupportedError find: .*before op2.distribute",
        r"^UnsupportedError cells_of: .*before op2.distribute",
    ):
        assert sum(bool(re.search(wanted, line)) for line in found) == 2, (wanted, found)
