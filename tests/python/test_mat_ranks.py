# SPDX-License-Identifier: BSD-3-Clause
"""Matrices and solvers on Sets shared by op2.distribute: programs on 1 to 4 processes."""

from __future__ import annotations

import re
from functools import cache

import pytest
from on_ranks import TREE, outputs

from pyop2cxx.base import extras

pytestmark = pytest.mark.skipif(not extras.installed()["mpi4py"], reason="mpi4py is not installed")

POISSON = f"""
from mpi4py import MPI
sys.path.insert(0, {str(TREE / "demos")!r})
import poisson
op2.init(comm=MPI.COMM_WORLD, backend=sys.argv[2])
m = poisson.make_mesh(2, 8, 2)
cells, vertices = op2.Set(len(m.cells), "cells"), op2.Set(len(m.x), "vertices")
nodes = op2.Set(len(m.points), "nodes")
to_vertices = op2.Map(cells, vertices, 3, m.cells, "to_vertices")
to_nodes = op2.Map(cells, nodes, 6, m.nodes, "to_nodes")
x = op2.Dat(vertices**2, m.x, name="x")
u, b = op2.Dat(nodes, name="u"), op2.Dat(nodes, name="b")
assemble, measure = poisson.kernels(2, 2)
A = op2.Mat(op2.Sparsity((nodes, nodes), [(to_nodes, to_nodes, None)], "A"))
held = np.isin(m.points, (0.0, 1.0)).any(axis=1)

def assembled():
    here = held[nodes.global_numbers]
    numbers = np.where(here, -1, np.arange(nodes.total_size))
    path = A(op2.INC, (to_nodes, to_nodes), lgmaps=(numbers, numbers))
    op2.par_loop(assemble, cells, path, b(op2.INC, to_nodes), x(op2.READ, to_vertices))
    A.set_local_diagonal_entries(np.flatnonzero(here))
    A.assemble()
    b.data[here[: nodes.size]] = 0

if sys.argv[1] == "before":
    assembled()
op2.distribute(cells)
if sys.argv[1] == "after":
    assembled()
whole, right = A.gathered(), b.gathered()
x0 = op2.Dat(nodes)
x0.data[...] = np.sin(1.0 + nodes.global_numbers[: nodes.size])
y = A @ x0
assert abs(whole @ x0.gathered() - y.gathered()).max() < 1e-13
assert (A.nrows, A.nblock_rows) == (nodes.size, nodes.size) and A.sparsity.onz >= 0
said = [f"{{abs(whole).sum():.9e}} {{y.norm:.9e}} {{y.inner(x0):.9e}}"]
for ksp_type, pc_type, fused in (
    ("cg", "none", False), ("cg", "jacobi", False), ("cg", "jacobi", True), ("cg", "ilu", False),
    ("cg", "ilu", True), ("bicgstab", "jacobi", False), ("gmres", "jacobi", False),
    ("gmres", "ilu", False), ("preonly", "lu", False),
):
    u.zero()
    options = dict(ksp_type=ksp_type, pc_type=pc_type, fused=fused, ksp_rtol=1e-12)
    assert op2.solve(A, u, b, **options).converged
    assert abs(whole @ u.gathered() - right).max() < 1e-11, options
    said.append(f"{{u.norm:.9e}}")
square = op2.Global(1, 0.0, name="square")
op2.par_loop(measure, cells, u(op2.READ, to_nodes), x(op2.READ, to_vertices), square(op2.INC))
print(*said, f"{{square.data_ro[0]:.8e}}")
"""


@cache
def poisson_on_one() -> list[str]:
    """Return the line of a single process."""
    return outputs(POISSON, 1, "after", "sequential")


@pytest.mark.parametrize(
    ("n", "when", "backend"),
    [(2, "before", "sequential"), (4, "after", "sequential"), (2, "after", "opencl")],
)
def test_poisson_by_loops_is_as_on_one(n: int, when: str, backend: str) -> None:
    assert outputs(POISSON, n, when, backend, PYOP2CXX_THREADS="2") == poisson_on_one() * n


RANDOM = """
from mpi4py import MPI
op2.init(comm=MPI.COMM_WORLD, backend="openmp")
n = MPI.COMM_WORLD.size
TEXT = "void add(long *A, const long *z) { for (int i = 0; i < 12; ++i) A[i] += (i + 1) * z[0]; }"
for seed in range(8):
    random = np.random.default_rng(seed)
    a, b = op2.Set(int(random.integers(2, 12)), "a"), op2.Set(int(random.integers(2, 12)), "b")
    e = op2.Set(int(random.integers(1, 25)), "e")
    to_a = op2.Map(e, a, 2, random.integers(0, a.size, (e.size, 2)), "to_a")
    to_b = op2.Map(e, b, 3, random.integers(0, b.size, (e.size, 3)), "to_b")
    weights = random.integers(-9, 9, e.size)
    z = op2.Dat(e, weights.copy(), name="z")
    some = np.flatnonzero(random.random(e.size) < 0.5)
    part = op2.Subset(e, some)
    one = op2.Mat(op2.Sparsity((a**2, b), [(to_a, to_b, None)]), "int64")
    rows, columns = to_a.values_with_halo.copy(), to_b.values_with_halo.copy()
    wanted = np.zeros((2 * a.size, b.size), np.int64)
    op2.distribute(e, random.integers(0, n, e.size))
    kernel = op2.Kernel(TEXT, "add")
    for on, numbers in ((e, range(len(weights))), (part, some)):
        op2.par_loop(kernel, on, one(op2.INC, (to_a, to_b)), z(op2.READ))
        for k in numbers:
            scalars = (2 * rows[k][:, None] + np.arange(2)).reshape(-1)
            block = (np.arange(12) + 1).reshape(4, 3) * weights[k]
            np.add.at(wanted, (scalars[:, None], columns[k]), block)
    assert (one.gathered().toarray() == wanted).all()
    v = op2.Dat(b, dtype="int64")
    v.data[...] = b.global_numbers[: b.size] - 3
    assert ((one @ v).gathered().reshape(-1) == wanted @ (np.arange(wanted.shape[1]) - 3)).all()
    twice = one + one
    assert (twice.gathered().toarray() == 2 * wanted).all()
print("right")
"""


@pytest.mark.parametrize("n", [1, 3])
def test_matrices_of_random_meshes(n: int) -> None:
    assert outputs(RANDOM, n, PYOP2CXX_THREADS="2") == ["right"] * n


MIXED = """
from mpi4py import MPI
op2.init(comm=MPI.COMM_WORLD)
n, cells, nodes = MPI.COMM_WORLD.size, op2.Set(30, "cells"), op2.Set(31, "nodes")
ends = op2.Map(cells, nodes, 2, [[i, i + 1] for i in range(30)], "ends")
same = op2.Map(cells, cells, 1, np.arange(30), "same")
both = op2.MixedMap([ends, same])
mixed = op2.MixedSet([nodes, cells])
A = op2.Mat(op2.Sparsity((mixed, mixed), [(both, both, None)]), name="A")
op2.distribute(cells)
text = "void k(double *A) { for (int i = 0; i < 9; ++i) A[i] += (i % 4 == 0 ? 5.0 : -1.0); }"
op2.par_loop(op2.Kernel(text, "k"), cells, A(op2.INC, (both, both)))
whole = A.gathered()
x, b = op2.MixedDat(mixed), op2.MixedDat(mixed)
b[0].data[...] = np.cos(nodes.global_numbers[: nodes.size])
b[1].data[...] = np.sin(cells.global_numbers[: cells.size])
right = np.concatenate([b[0].gathered(), b[1].gathered()])
for options in (dict(ksp_type="cg", pc_type="jacobi"), dict(ksp_type="gmres", pc_type="jacobi"),
                dict(ksp_type="preonly", pc_type="lu"), dict(ksp_type="cg", pc_type="ilu")):
    x.zero()
    op2.solve(A, x, b, ksp_rtol=1e-12, **options)
    found = np.concatenate([x[0].gathered(), x[1].gathered()])
    assert abs(whole @ found - right).max() < 1e-10
    y = A @ x
    assert abs(np.concatenate([y[0].gathered(), y[1].gathered()]) - right).max() < 1e-10
print(f"{np.abs(found).sum():.9e}")
"""


def test_mixed_matrices_are_as_on_one() -> None:
    usual = outputs(MIXED, 1)
    assert outputs(MIXED, 3) == usual * 3


def test_what_a_shared_matrix_has_not_is_refused_by_name() -> None:
    text = """
from mpi4py import MPI
op2.init(comm=MPI.COMM_WORLD)
cells, nodes = op2.Set(6, "cells"), op2.Set(7, "nodes")
ends = op2.Map(cells, nodes, 2, [[i, i + 1] for i in range(6)], "ends")
A = op2.Mat(op2.Sparsity((nodes, nodes), [(ends, ends, None)], "s"), name="A")
numbers = np.arange(7)
numbers[0] = -1
text = "void k(double *A) { A[0] += 1; A[3] += 1; }"
masked = A(op2.INC, (ends, ends), lgmaps=(numbers, None))
old = op2.ParLoop(op2.Kernel(text, "k"), cells, masked)
x, b, g = op2.Dat(nodes, name="x"), op2.Dat(nodes, name="b"), op2.Global(1, 0.0, name="g")
op2.distribute(cells)

def tried(call):
    try:
        call()
    except Exception as error:
        print(type(error).__name__, str(error).replace(chr(10), " "))
    else:
        print("nothing", call)

tried(lambda: A.values)
tried(lambda: A.array)
tried(lambda: A.to_scipy())
tried(lambda: A.addto_values([nodes.total_size - 1], [0], [[1.0]]))
tried(old.compute)
tried(lambda: op2.par_loop(op2.Kernel(text.replace("k(", "later("), "later"), cells, masked))
both = op2.Kernel("void two(double *A, double *g) { A[0] += 1; g[0] += 1; }", "two")
tried(lambda: op2.par_loop(both, cells, A(op2.INC, (ends, ends)), g(op2.INC)))
b.data[...] = 1
A.set_local_diagonal_entries(range(nodes.size), 1.0)
tried(lambda: op2.solve(A, x, b, package="cupy"))
tried(lambda: op2.solve(A, x, b, ksp_type="gmres", fused=True))
b.data[...] = np.nan
tried(lambda: op2.solve(A, x, b))
"""
    found = outputs(text, 2)
    assert not [line for line in found if line.startswith("nothing")], found
    for wanted in (
        r"^UnsupportedError Mat 'A': 'values' of a matrix shared .* mat.gathered\(\)",
        r"^UnsupportedError Mat 'A': 'array' of a matrix shared",
        r"^UnsupportedError Mat 'A': 'to_scipy' of a matrix shared",
        r"^IndexValueError Mat 'A': row \d+ belongs to another process",
        r"^UnsupportedError par_loop 'later': arg 0: the masks \(lgmaps\) of Mat 'A'",
        r"^UnsupportedError par_loop 'k': arg 0: the masks \(lgmaps\) of Mat 'A'",
        r"^UnsupportedError .*Mat 'A' is assembled, and a Global is reduced",
        r"^SolverOptionError .*package 'cupy' solves where loops run on a CUDA device",
        r"^SolverOptionError .*'fused' is for ksp_type 'cg'",
        r"^DataValueError solve: b has values that are not finite",
    ):
        assert sum(bool(re.search(wanted, line)) for line in found) == 2, (wanted, found)
