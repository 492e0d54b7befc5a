# SPDX-License-Identifier: BSD-3-Clause
"""Meshes shared by op2.distribute: programs on 1, 2 and 4 processes, started by mpiexec."""

from __future__ import annotations

import re
from functools import cache

import pytest
from on_ranks import TREE, failure, outputs

from pyop2cxx.base import extras

pytestmark = pytest.mark.skipif(not extras.installed()["mpi4py"], reason="mpi4py is not installed")

AIRFOIL = f"""
sys.path.insert(0, {str(TREE / "demos")!r})
from airfoil import Airfoil
from pyop2cxx.mesh import airfoil_arrays
op2.init(backend=sys.argv[1])
airfoil = Airfoil(airfoil_arrays(40, 20))
cells = airfoil.q.dataset.set
if sys.argv[3] == "late":
    airfoil.iterate()
coordinates = airfoil.adt_calc.args[0].data
report = op2.distribute(cells, sys.argv[2], coordinates=coordinates)
for _ in range(5 - (sys.argv[3] == "late")):
    airfoil.iterate()
q = airfoil.q.gathered()
print(f"{{airfoil.change():.9e}} {{airfoil.q.norm:.10e}} {{cells.global_size}} {{q.shape}} "
      f"{{np.abs(q).sum():.10e}}")
"""
EDGES = """
from mpi4py import MPI
op2.init(comm=MPI.COMM_WORLD)
rank, n = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
cells, edges = op2.Set(6, "cells"), op2.Set(5, "edges")
e2c = op2.Map(edges, cells, 2, [[i, i + 1] for i in range(5)], "e2c")
x = op2.Dat(cells, np.arange(6.0), name="x")
y = op2.Dat(cells, name="y")
add = op2.Kernel("void add(const double *x, double *y) { y[0] += x[1]; y[1] += x[0]; }", "add")
args = lambda: (x(op2.READ, e2c), y(op2.INC, e2c))
"""


@cache
def airfoil_on_one() -> list[str]:
    return outputs(AIRFOIL, 1, "sequential", "metis", "", PYOP2CXX_COMM="world")


@pytest.mark.parametrize(("n", "partition"), [(2, "metis"), (4, "kahip"), (4, "hilbert")])
def test_airfoil_on_ranks_is_airfoil_on_one(n: int, partition: str) -> None:
    if partition == "kahip":
        pytest.importorskip("kahip")
    found = outputs(AIRFOIL, n, "sequential", partition, "", PYOP2CXX_COMM="world")
    assert found == airfoil_on_one() * n


@pytest.mark.parametrize("backend", ["openmp", "opencl"])
def test_airfoil_on_other_backends_with_loops_from_before(backend: str) -> None:
    found = outputs(AIRFOIL, 2, backend, "metis", "late", PYOP2CXX_COMM="world")
    assert found == airfoil_on_one() * 2


RANDOM = """
from mpi4py import MPI
op2.init(comm=MPI.COMM_WORLD, backend=sys.argv[1])
rank, n = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
INC = op2.Kernel("void inc(const long *x, long *y, const long *z) {"
                 " y[0] += x[1] + z[0]; y[1] += 2 * x[0]; }", "inc")
SUM = op2.Kernel("void sum(const long *x, long *y, long *g) {"
                 " y[0] += x[1]; y[1] += x[0]; g[0] += x[0] * x[1]; }", "sum")
MAX = op2.Kernel("void most(const long *x, long *y) {"
                 " for (int i = 0; i < 2; i++) if (x[1 - i] > y[i]) y[i] = x[1 - i]; }", "most")
PUT = op2.Kernel("void put(const long *x, long *y) { y[0] = 3 * x[0]; y[1] = 3 * x[1]; }", "put")
ROW = op2.Kernel("void row(const long *x, long *z, long *g) {"
                 " z[0] = x[0] - x[1]; if (x[0] < g[0]) g[0] = x[0]; }", "row")

def values(random, on):
    return random.integers(-50, 50, on.size)

def check(seed, checks):
    random = np.random.default_rng(seed)
    a, b, e = (op2.Set(int(random.integers(2, 25)), name) for name in ("a", "b", "edges"))
    e2b = op2.Map(e, b, 2, random.integers(0, b.size, (e.size, 2)), "e2b")
    a2e = op2.Map(a, e, 1, random.integers(0, e.size, a.size), "a2e")
    vx, vz = values(random, b), values(random, e)
    x, y = op2.Dat(b, vx.copy(), name="x"), op2.Dat(b, dtype="int64", name="y")
    z = op2.Dat(e, vz.copy(), name="z")
    z2, w = op2.Dat(e, dtype="int64", name="z2"), op2.Dat(a, dtype="int64", name="w")
    some_edges = np.flatnonzero(random.random(e.size) < 0.5)
    part = op2.Subset(e, some_edges)
    both = op2.Dat(b ** 2, np.stack([vx, vx], axis=1), "int64")
    a2b = op2.ComposedMap(e2b, a2e)
    turned = op2.PermutedMap(e2b, [1, 0])
    again = op2.ComposedMap(turned, a2e)
    mixed = op2.MixedMap([e2b, op2.Map(e, e, 1, np.arange(e.size)[::-1])])
    counts = op2.Dat(b, dtype="int64", name="counts")
    ends, tails = e2b.values_with_halo.copy(), a2e.values.ravel().copy()
    op2.distribute(a, random.integers(0, n, a.size))
    g, least = op2.Global(1, 7, "int64", "g"), op2.Global(1, 1000, "int64", "least")
    py = np.zeros_like(vx)

    def inc(rows, mine):
        np.add.at(py, ends[rows, 0], vx[ends[rows, 1]] + mine[rows])
        np.add.at(py, ends[rows, 1], 2 * vx[ends[rows, 0]])

    every = np.arange(len(ends))
    for iterset, rows in ((e, every), (part, some_edges), (e, every)):
        op2.par_loop(INC, iterset, x(op2.READ, e2b), y(op2.INC, e2b), z(op2.READ), check=checks)
        inc(rows, vz)
    assert (y.gathered() == py).all()
    op2.par_loop(ROW, e, x(op2.READ, e2b), z(op2.WRITE), least(op2.MIN))
    vz = vx[ends[:, 0]] - vx[ends[:, 1]]
    assert (z.gathered() == vz).all() and least.data_ro[0] == vx[ends[:, 0]].min()
    op2.par_loop(INC, e, x(op2.READ, e2b), y(op2.INC, e2b), z(op2.READ))
    inc(every, vz)
    op2.par_loop(SUM, e, x(op2.READ, e2b), y(op2.INC, e2b), g(op2.INC))
    np.add.at(py, ends[:, 0], vx[ends[:, 1]])
    np.add.at(py, ends[:, 1], vx[ends[:, 0]])
    assert (y.gathered() == py).all()
    assert g.data_ro[0] == 7 + (vx[ends[:, 0]] * vx[ends[:, 1]]).sum()
    op2.par_loop(MAX, e, x(op2.READ, e2b), y(op2.MAX, e2b))
    np.maximum.at(py, ends[:, 0], vx[ends[:, 1]])
    np.maximum.at(py, ends[:, 1], vx[ends[:, 0]])
    assert (y.gathered() == py).all()
    op2.par_loop(PUT, e, y(op2.READ, e2b), x(op2.WRITE, e2b), equal_writes=True)
    touched = np.unique(ends)
    vx[touched] = 3 * py[touched]
    assert (x.gathered() == vx).all()
    x += 1
    vx += 1
    op2.par_loop(op2.Kernel("void pick(const long *z, long *w) { w[0] = z[0]; }", "pick"), a,
                 z(op2.READ, a2e), w(op2.WRITE))
    assert (w.gathered() == vz[tails]).all()
    v = op2.Dat(a, dtype="int64", name="v")
    op2.par_loop(op2.Kernel("void far(const long *x, const long *t, long *v) {"
                            " v[0] = x[0] - 3 * x[1] + 5 * t[0]; }", "far"), a,
                 x(op2.READ, a2b), x(op2.READ, again), v(op2.WRITE), check=checks)
    assert (v.gathered() == vx[ends[tails, 0]] + 2 * vx[ends[tails, 1]]).all()
    op2.par_loop(op2.Kernel("void hit(long *c) { c[0] += 1; c[1] += 10; }", "hit"), a,
                 counts(op2.INC, a2b))
    pc = np.zeros_like(vx)
    np.add.at(pc, ends[tails, 0], 1)
    np.add.at(pc, ends[tails, 1], 10)
    assert (counts.gathered() == pc).all()
    op2.par_loop(op2.Kernel("void all(const long *m, long *c)"
                            " { c[0] = m[1] + 7 * m[2]; }", "all"), e,
                 op2.MixedDat([x, z])(op2.READ, mixed), z2(op2.WRITE))
    assert (z2.gathered() == vx[ends[:, 1]] + 7 * vz[::-1]).all()
    assert x.sum() == vx.sum() and x.max() == vx.max() and x.inner(y) == (vx * py).sum()
    assert (x.data_ro_with_halos == vx[b.global_numbers]).all()

    def plus(xs, ys):
        ys += xs[::-1]

    op2.par_loop(plus, e, x(op2.READ, e2b), y(op2.INC, e2b))
    np.add.at(py, ends[:, 0], vx[ends[:, 1]])
    np.add.at(py, ends[:, 1], vx[ends[:, 0]])
    assert (y.gathered() == py).all() and e.global_size == len(ends)
    op2.par_loop(op2.Kernel("void two(const long *p, long *z) { z[0] += p[0] + p[3]; }", "two"), e,
                 both(op2.READ, e2b), z(op2.RW))

for seed in range(int(sys.argv[2])):  # hypothesis may draw other examples on another rank
    check(seed, seed % 2 == 1)
print("right")
"""


@pytest.mark.parametrize(
    ("n", "backend", "examples"),
    [
        (1, "sequential", 3),
        (2, "openmp", 12),
        (3, "sequential", 12),
        (4, "sequential", 12),
        (2, "opencl", 3),
    ],
)
def test_random_partitions_of_random_meshes(n: int, backend: str, examples: int) -> None:
    found = outputs(RANDOM, n, backend, str(examples), PYOP2CXX_THREADS="2")
    assert found == ["right"] * n


def test_ranks_may_have_nothing() -> None:
    text = (
        EDGES
        + """
empty = op2.Set(0, "empty")
nowhere = op2.Map(empty, cells, 1, np.zeros((0, 1), int))
report = op2.distribute(cells, np.zeros(6, int))
op2.par_loop(add, edges, *args())
assert y.gathered().tolist() == [1, 2, 4, 6, 8, 4] and y.max() == 8 and y.sum() == 25
assert cells.size == 6 * (rank == 0) and report.cut == 0 and report.imbalance == n - 1
print("right", report)
"""
    )
    found = outputs(text, 3)
    assert len(found) == 3
    assert found[0].startswith("right 3 ranks, 0 pairs of neighbours cut")


def test_only_what_is_read_and_out_of_date_travels() -> None:
    text = (
        EDGES
        + """
z = op2.Dat(cells, name="z")
both = op2.Kernel("void both(const double *x, const double *z, double *y) {"
                  " y[0] += x[1] + z[1]; y[1] += x[0] + z[0]; }", "both")
op2.distribute(cells, np.arange(6) * n // 6)
counts = cells.halo.messages.counts
made = []
for change in ((), (), (x,), (x, z), ()):
    for dat in change:
        dat += 1
        dat.data  # ghosts are out of date
    op2.par_loop(both, edges, x(op2.READ, e2c), z(op2.READ, e2c), y(op2.INC, e2c))
    made.append(counts[0])
print(made)
"""
    )
    assert outputs(text, 2) == ["[0, 0, 1, 2, 2]"] * 2


def test_what_cannot_be_distributed_is_refused_by_name() -> None:
    text = (
        EDGES
        + """
def tried(call):
    try:
        call()
    except Exception as error:
        print(type(error).__name__, str(error).replace(chr(10), " "))
    else:
        print("nothing", call)
tried(lambda: op2.distribute(cells, [0, 1]))
tried(lambda: op2.distribute(cells, [7] * 6))
tried(lambda: op2.distribute(cells, [rank] * 6))
tried(lambda: op2.distribute(cells, "best"))
tried(lambda: op2.distribute(op2.Subset(cells, [1])))
tried(lambda: op2.distribute(cells, "hilbert", coordinates=op2.Dat(op2.Set(3, "far"))))
columns = op2.ExtrudedSet(edges, 3)
up = op2.Map(columns, cells, 1, [0] * 5, offset=[1])
A = op2.Mat(op2.Sparsity((cells, cells), [(up, up, None)]))
tried(lambda: op2.distribute(cells))
del A

del columns, up
nodes = op2.Set((4, 4, 6), "nodes")
c2n = op2.Map(cells, nodes, 1, np.zeros((6, 1), int))
tried(lambda: op2.distribute(cells))
del nodes, c2n
array = np.zeros((6, 2))
first, second = op2.Dat(cells ** 2, array, name="a"), op2.Dat(cells ** 2, array, name="b")
tried(lambda: op2.distribute(cells))
del first, second
c2c = op2.Map(cells, cells, 1, np.arange(6)[::-1])
assert (e2c.values == [[i, i + 1] for i in range(5)]).all()
op2.distribute(cells, [0, 0, 0, 1, 1, 1])
tried(lambda: op2.distribute(cells))
tried(lambda: op2.Map(edges, cells, 1, [0] * edges.total_size))
tried(lambda: e2c.update_values(e2c.values_with_halo))
tried(lambda: op2.ExtrudedSet(edges, 3))
tried(lambda: op2.renumber([e2c]))
g = op2.Global(1, 0.0)
onward = op2.Kernel("void onward(const double *x, double *y) { y[0] += x[0]; }", "onward")
tried(lambda: op2.par_loop(onward, cells, x(op2.READ), x(op2.INC, c2c)))
tried(lambda: op2.par_loop(op2.Kernel("void k(double *y, double *g) { y[0] = g[0] = 1; }", "k"),
                           edges, y(op2.WRITE, e2c), g(op2.INC)))
"""
    )
    found = outputs(text, 2)
    assert not [line for line in found if line.startswith("nothing")], found
    for wanted in (
        r"^RanksError op2.distribute: a partition is .*got \[0, 1\]",
        r"^RanksError .*partition\[0\] is 7, but there are ranks 0 to 1",
        r"^RanksError .*ranks disagree: the partition of rank 1 is not that of rank 0",
        r"^UsageError .*partition 'best' is unknown",
        r"^SetTypeError .*expected a whole Set",
        r"^RanksError .*on Set 'far', which no Map from 'cells' leads to",
        r"^UnsupportedError .*Sparsity '.*' has rows of cells in columns",
        r"^UnsupportedError .*Set 'nodes' has 2 ghosts, but ghosts are made by op2.distribute",
        r"^UnsupportedError .*Dat '[ab]' and Dat '[ab]' share memory",
        r"^RanksError .*Set 'cells' is distributed already|^RanksError .*'edges' is distributed",
        r"^UnsupportedError Map 'map_.*make all Maps before op2.distribute",
        r"^UnsupportedError Map 'e2c'.*make all Maps before op2.distribute",
        r"^UnsupportedError ExtrudedSet of Set 'edges'",
        r"^UnsupportedError renumber: Set 'cells'|^UnsupportedError renumber: Set 'edges'",
        r"^UnsupportedError par_loop 'onward': args 1 and 0: values of Dat 'x' are written",
        r"^UnsupportedError par_loop 'k': arg 0: .*make two loops",
    ):
        assert sum(bool(re.search(wanted, line)) for line in found) == 2, (wanted, found)


def test_a_distribution_needs_a_communicator() -> None:
    said = failure("op2.distribute(op2.Set(3), [0, 0, 0])", 1)
    assert "nobody said which ranks share the mesh" in said


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            "op2.Dat(cells, name='q') if rank else None; keep = op2.Dat(cells ** (rank + 1))\n"
            "op2.distribute(cells)",
            "ranks disagree: rank 0 has Dat 'dat' of 1 float64, but rank 1 has Dat 'dat' of 2",
        ),
        ("op2.distribute(cells) if rank else None", "rank 0: computes, or has ended"),
        (
            "op2.distribute(cells, [0, 0, 0, 1, 1, 1])\nx.data[...] += 1\ny.data[...] += 1\n"
            "a, b = (x, y) if rank else (y, x)\n"
            "op2.par_loop(add, edges, a(op2.READ, e2c), b(op2.INC, e2c))",
            "ranks disagree: rank",
        ),
        (
            "op2.distribute(cells, [0, 0, 0, 1, 1, 1])\nx.data[...] += 1\n"
            "op2.par_loop(add, edges, *args()) if rank else x.sum()",
            "ranks wait for each other",
        ),
    ],
)
def test_ranks_that_disagree_are_named(wrong: str, said: str) -> None:
    text = EDGES + wrong + "\nimport time\ntime.sleep(20)\n"
    found = failure(text, 2, PYOP2CXX_PATIENCE="2")
    assert said in found, found
    assert "program.py:" in found


def test_loops_from_before_are_shared_in_chains_and_graphs_and_with_other_data() -> None:
    text = (
        EDGES
        + """
total, before = op2.Global(1, 0.0), (0.0, 0.0)
both = op2.Kernel("void both(const double *x, double *y, double *g)"
                  " { y[0] += x[1]; y[1] += x[0]; g[0] += x[0]; }", "both")
loops = [op2.ParLoop(add, edges, *args()),
         op2.ParLoop(both, edges, x(op2.READ, e2c), y(op2.INC, e2c), total(op2.INC))]
ways = [op2.ParLoop(add, edges, *args()) for _ in range(3)]
op2.distribute(cells, np.arange(6) % n)
with op2.chain():
    for loop in loops:
        loop.compute()
assert y.gathered().tolist() == [2, 4, 8, 12, 16, 8] and total.data_ro[0] == 10
z = op2.Dat(cells, cells.global_numbers.astype(float))
ways[0](y=y, x=z)
assert y.gathered().tolist() == [3, 6, 12, 18, 24, 12]
graph = op2.record(lambda: ways[1].compute())
graph.submit(2)
assert y.gathered().tolist() == [5, 10, 20, 30, 40, 20]
assert ways[2].explain() is not None
ways[2].compute()
assert y.gathered().tolist() == [6, 12, 24, 36, 48, 24]
print("right")
"""
    )
    assert outputs(text, 3) == ["right"] * 3


def test_sums_of_components_in_ghosts_reach_their_owners_once() -> None:
    text = (
        EDGES
        + """
both = op2.Dat(cells ** 2, np.arange(12.0).reshape(6, 2), name="both")
views = [op2.DatView(both, 1) for _ in range(2)]
g = op2.Global(1, 0.0)
add = op2.Kernel("void add(double *y, double *z, double *g)"
                 " { y[0] += 1; z[1] += 10; g[0] += 1; }", "add")
most = op2.Kernel("void most(double *y, double *g) { y[1] = fmax(y[1], 50); g[0] += 1; }", "most")
far = op2.Kernel("void far(const double *y, double *z, double *g) { z[0] += y[1]; g[0] += 1; }",
                 "far")
op2.distribute(cells, np.arange(6) % n)
for _ in range(2):
    op2.par_loop(add, edges, *(v(op2.INC, e2c) for v in views), g(op2.INC))
want = np.arange(12.0).reshape(6, 2)
want[:5, 1] += 2
want[1:, 1] += 20
assert (both.gathered() == want).all() and g.data_ro[0] == 10
op2.par_loop(most, edges, views[0](op2.MAX, e2c), g(op2.INC))
want[1:, 1] = np.maximum(want[1:, 1], 50)
assert (both.gathered() == want).all()
try:
    op2.par_loop(far, edges, op2.DatView(both, 0)(op2.READ, e2c), views[0](op2.INC, e2c),
                 g(op2.INC))
except Exception as error:
    print(error)
"""
    )
    found = outputs(text, 3)
    assert len(found) == 3
    assert all("components of Dat 'both' are used with READ and INC" in line for line in found)


def test_frozen_sums_are_added_once() -> None:
    text = (
        EDGES
        + """
g = op2.Global(1, 0.0)
one = op2.Kernel("void one(double *y) { y[0] += 1; y[1] += 1; }", "one")
two = op2.Kernel("void two(double *y, double *g) { y[0] += 1; y[1] += 1; g[0] += 1; }", "two")
op2.distribute(cells, np.arange(6) % n)
with y.frozen_halo(op2.INC):
    op2.par_loop(one, edges, y(op2.INC, e2c))
    op2.par_loop(two, edges, y(op2.INC, e2c), g(op2.INC))
print(y.gathered().tolist(), g.data_ro)
"""
    )
    assert outputs(text, 3) == ["[2.0, 4.0, 4.0, 4.0, 4.0, 2.0] [5.]"] * 3


def test_loops_with_an_extremum_write_through_maps() -> None:
    text = (
        EDGES
        + """
g = op2.Global(1, 100.0)
put = op2.Kernel("void put(const double *x, double *y, double *g)"
                 " { y[0] = 2 * x[0]; y[1] = 2 * x[1]; g[0] = fmin(g[0], x[0]); }", "put")
op2.distribute(cells, np.arange(6) % n)
op2.par_loop(put, edges, x(op2.READ, e2c), y(op2.WRITE, e2c), g(op2.MIN), equal_writes=True)
print(y.gathered().tolist(), g.data_ro)
"""
    )
    assert outputs(text, 3) == ["[0.0, 2.0, 4.0, 6.0, 8.0, 10.0] [0.]"] * 3


BITS = f"""
from zlib import crc32
sys.path.insert(0, {str(TREE / "demos")!r})
from airfoil import Airfoil
from pyop2cxx.mesh import airfoil_arrays
from mpi4py import MPI
op2.init(backend=sys.argv[1], deterministic="ranks", comm=MPI.COMM_WORLD)
airfoil, n = Airfoil(airfoil_arrays(40, 20)), MPI.COMM_WORLD.size
cells = airfoil.q.dataset.set
parts = np.random.default_rng(n).integers(n, size=cells.size)
op2.distribute(cells, "metis" if n == 3 else parts)
for _ in range(5):
    airfoil.iterate()
op2.record(airfoil.iterate).submit(2)
with op2.chain():
    airfoil.iterate()
q, far = airfoil.q, op2.Dat(cells, 1e300 * (cells.global_numbers % 2 - 0.5) + 0.1)
print(crc32(q.gathered().tobytes()), airfoil.change().hex(), q.norm.hex(), q.inner(q).hex(),
      [one.hex() for one in q.sum().tolist()], far.sum().hex())
"""


@pytest.mark.parametrize("backend", ["sequential", "openmp", "opencl"])
def test_airfoil_has_the_same_bits_on_any_number_of_ranks(backend: str) -> None:
    alone = outputs(BITS, 1, backend)
    for n in (2, 3, 4) if backend == "sequential" else (3,):
        assert outputs(BITS, n, backend, PYOP2CXX_THREADS="2") == alone * n


def test_values_without_equal_bits_are_refused_by_name() -> None:
    text = (
        EDGES
        + """
op2.init(deterministic="ranks")
A = op2.Mat(op2.Sparsity((cells, cells), [(e2c, e2c, None)]), name="A")
op2.distribute(cells, np.arange(6) % n)
g = op2.Global(1, 0.0)

def plus(xs, total):
    total += xs

def tried(call):
    try:
        call()
    except Exception as error:
        print(type(error).__name__, str(error).replace(chr(10), " "))
tried(lambda: A @ x)
tried(lambda: op2.solve(A, x, y))
tried(lambda: op2.par_loop(plus, cells, x(op2.READ), g(op2.INC)))
op2.init(deterministic=True)
op2.par_loop(plus, cells, x(op2.READ), g(op2.INC))
assert g.data_ro[0] == 15
tried(lambda: op2.init(deterministic="rank"))
"""
    )
    found = outputs(text, 2)
    for wanted in (
        "UnsupportedError Mat 'A': 'mult' of a matrix shared .*deterministic='ranks'",
        "UnsupportedError Mat 'A': 'solve' of a matrix shared",
        "UnsupportedError par_loop 'plus': a Python function adds in the order",
        "ConfigurationError .*'deterministic' must be True or False or 'ranks', got 'rank'",
    ):
        assert sum(bool(re.search(wanted, line)) for line in found) == 2, (wanted, found)


COLUMNS = """
from mpi4py import MPI
op2.init(comm=MPI.COMM_WORLD, deterministic=sys.argv[1] or False)
n, rank = MPI.COMM_WORLD.size, MPI.COMM_WORLD.rank
base, corners = op2.Set(12, "base"), op2.Set(13 * 6, "corners")
tops = np.array([[0, 3 + i % 4] for i in range(12)]) if sys.argv[2] else 6
columns = op2.ExtrudedSet(base, tops)
low = np.stack([6 * np.arange(12), 6 * np.arange(1, 13)], axis=1)
c2n = op2.Map(columns, corners, 4, np.concatenate([low, low + 1], axis=1), offset=[1] * 4)
x, y = op2.Dat(corners, np.arange(78.0) / 7, name="x"), op2.Dat(corners, name="y")
z, g = op2.Dat(base, name="z"), op2.Global(1, 0.0)
some = op2.Subset(columns, [1, 2, 5, 8, 9])
spread = op2.Kernel("void spread(const double *x, double *y, double *z, int layer) {"
                    " for (int i = 0; i < 4; i++) y[i] += x[3 - i] * (layer + 1);"
                    " z[0] += x[0] / 3; }", "spread")
flow = op2.Kernel("void flow(const double *x, double *y) {"
                  " for (int i = 0; i < 8; i++) y[i] += x[7 - i] / 3; }", "flow")
total = op2.Kernel("void total(const double *x, double *y, double *g) {"
                   " g[0] += x[0] * x[3]; y[0] += x[1] / 3; }", "total")
loops = [op2.ParLoop(spread, columns, x(op2.READ, c2n), y(op2.INC, c2n), z(op2.INC),
                     pass_layer_arg=True)]
op2.distribute(base)
assert n == 1 or corners.size < 78 and base.size < 12, (corners.size, base.size)
loops.append(op2.ParLoop(flow, columns, x(op2.READ, c2n), y(op2.INC, c2n),
                         iteration_region=op2.ON_INTERIOR_FACETS))
loops.append(op2.ParLoop(total, some, x(op2.READ, c2n), y(op2.INC, c2n), g(op2.INC)))
for loop in loops * 2:
    loop.compute()
    x += 1
found = y.gathered(), z.gathered(), g.data_ro
if sys.argv[1]:
    print([float(v).hex() for one in found for v in one])
else:
    print([round(float(v), 6) for one in found for v in one])
"""


@pytest.mark.parametrize("variable", ["", "variable"])
@pytest.mark.parametrize("deterministic", ["", "ranks"])
def test_columns_of_cells(variable: str, deterministic: str) -> None:
    alone = outputs(COLUMNS, 1, deterministic, variable)
    for n in (2, 3):
        assert outputs(COLUMNS, n, deterministic, variable) == alone * n


def test_columns_whose_entities_lead_elsewhere_are_refused() -> None:
    text = """
from mpi4py import MPI
op2.init(comm=MPI.COMM_WORLD)
base, corners, ends = op2.Set(4, "base"), op2.Set(15, "corners"), op2.Set(15, "ends")
columns = op2.ExtrudedSet(base, 3)
c2n = op2.Map(columns, corners, 1, 3 * np.arange(4), offset=[1], name="c2n")
n2e = op2.Map(corners, ends, 1, np.arange(15))
e2b = op2.Map(ends, base, 1, np.arange(15) % 4)
try:
    op2.distribute(base, [0, 0, 1, 1])
except Exception as error:
    print(type(error).__name__, error)
"""
    found = outputs(text, 2)
    assert len(found) == 2
    wanted = "UnsupportedError op2.distribute: Map 'c2n' has offsets, and 'corners' is the source"
    assert all(line.startswith(wanted) for line in found), found


RAGGED = """
from mpi4py import MPI
op2.init(comm=MPI.COMM_WORLD, backend=sys.argv[1])
n = MPI.COMM_WORLD.size
adds = op2.Kernel("void adds(const long *x, long *y, const int *n) {"
                  " for (int i = 0; i < n[0]; i++) y[i] += (i + 1) * x[n[0] - 1 - i] + n[0]; }",
                  "adds")
reads = op2.Kernel("void reads(const long *x, const int *n, long *z, long *g) {"
                   " z[0] = n[0]; for (int i = 0; i < n[0]; i++) z[0] += (i + 1) * x[i];"
                   " g[0] += z[0]; }", "reads")
least = op2.Kernel("void least(const long *x, long *y, const int *n) { for (int i = 0; i < n[0];"
                   " i++) if (x[i] - i < y[i]) y[i] = x[i] - i; }", "least")
around = op2.Kernel("void around(const int *n, long *y) { y[0] += n[0]; }", "around")
couples = op2.Kernel("void couples(double *A, const long *x, const int *n) {"
                     " for (int i = 0; i < n[0]; i++) for (int j = 0; j < n[0]; j++)"
                     " A[i * n[0] + j] += x[i] + 10 * j; }", "couples")

def check(seed):
    random = np.random.default_rng(seed)
    cells, faces, tips = (op2.Set(int(random.integers(1, 25)), s) for s in ("c", "f", "tips"))
    longest = int(random.choice([0, 3, 6]))
    rows = [random.integers(faces.size, size=k)
            for k in random.integers(0, longest + 1, cells.size)]
    path = op2.RaggedMap(cells, faces, rows, name="path")
    tip2cell = op2.Map(tips, cells, 1, random.integers(cells.size, size=tips.size), "tip2cell")
    vx, ends = random.integers(-9, 9, faces.size), tip2cell.values.ravel().copy()
    x, y = op2.Dat(faces, vx, "int64", "x"), op2.Dat(faces, dtype="int64", name="y")
    z, t = op2.Dat(cells, dtype="int64", name="z"), op2.Dat(tips, dtype="int64", name="t")
    part = np.flatnonzero(random.random(cells.size) < 0.5)
    some = op2.Subset(cells, part)
    about = path.longest, path.at_longest, path.shortest, path.mean
    A = op2.Mat(op2.Sparsity(faces, path), name="A")
    base = [cells, faces, tips][seed % 3] if longest else cells
    op2.distribute(base, random.integers(n, size=base.size) * (seed % 5 > 0))
    assert about == (path.longest, path.at_longest, path.shortest, path.mean)
    numbers = faces.global_numbers
    for k, row in enumerate(np.split(path.values, path.offsets[1:cells.size])[:cells.size]):
        assert numbers[row].tolist() == rows[cells.global_numbers[k]].tolist()
    counts, g, py = path.counts, op2.Global(1, 0, "int64", "g"), np.zeros_like(vx)
    for on, chosen in ((cells, range(len(rows))), (some, part)):
        op2.par_loop(adds, on, x(op2.READ, path), y(op2.INC, path), counts(op2.READ))
        for row in (rows[i] for i in chosen):
            np.add.at(py, row, (np.arange(len(row)) + 1) * vx[row[::-1]] + len(row))
        assert (y.gathered() == py).all()
    op2.par_loop(reads, cells, y(op2.READ, path), counts(op2.READ), z(op2.WRITE), g(op2.INC))
    want = [len(row) + ((np.arange(len(row)) + 1) * py[row]).sum() for row in rows]
    assert z.gathered().ravel().tolist() == want and g.data_ro[0] == sum(want)
    op2.par_loop(least, cells, x(op2.READ, path), y(op2.MIN, path), counts(op2.READ))
    for row in rows:
        np.minimum.at(py, row, vx[row] - np.arange(len(row)))
    assert (y.gathered() == py).all()
    values = A(op2.INC, (path, path)), x(op2.READ, path), counts(op2.READ)
    op2.par_loop(couples, cells, *values)
    A.assemble()
    want = np.zeros((len(vx), len(vx)))
    for row in rows:
        np.add.at(want, np.ix_(row, row), vx[row][:, None] + 10 * np.arange(len(row)))
    assert (A.gathered().toarray() == want).all()
    op2.par_loop(around, tips, counts(op2.READ, tip2cell), t(op2.INC))  # of far ghosts, too
    assert t.gathered().ravel().tolist() == [len(rows[i]) for i in ends]

for seed in range(int(sys.argv[2])):
    check(seed)
print("right")
"""


@pytest.mark.parametrize(
    ("n", "backend", "times"),
    [(1, "sequential", 5), (2, "openmp", 15), (3, "sequential", 40), (4, "sequential", 25)],
)
def test_ragged_maps_on_random_partitions(n: int, backend: str, times: int) -> None:
    assert outputs(RAGGED, n, backend, str(times)) == ["right"] * n


def test_a_long_row_is_named_by_all_ranks_in_the_numbers_of_the_user() -> None:
    text = (
        EDGES
        + """
rows = [[i % 5] * (70 if i == 4 else i) for i in range(6)]
path = op2.RaggedMap(cells, edges, rows, name="path")
other = op2.RaggedMap(cells, edges, [[0]] * 6, name="other")
z = op2.Dat(edges)
op2.distribute(cells, [0, 0, 0, 1, 1, 1])
for counts in (path.counts, other.counts):
    try:
        op2.par_loop(op2.Kernel("void k(double *z, const int *n) { z[n[0] - 1] += 1; }", "k"),
                     cells, z(op2.INC, path), counts(op2.READ))
    except Exception as error:
        print(str(error))
"""
    )
    long, other = sorted(outputs(text, 2))[::2]
    assert outputs(text, 2) == sorted([long, other] * 2)
    assert "row 4 of Map 'path' has 70 entries" in long
    assert "counts of Map 'other', but the loop goes by Map 'path'" in other


@pytest.mark.parametrize("late", ["x.norm", "x.gathered()", "op2.distribute(other)"])
def test_a_rank_that_gathers_alone_is_named(late: str) -> None:
    text = (
        EDGES
        + f"""
other = op2.Set(3, "other")
op2.distribute(cells)
if rank == 0:
    y.gathered()
{late}
"""
    )
    said = failure(text, 2, PYOP2CXX_PATIENCE="3")
    assert "the values of Dat 'y'" in said, said
    assert "program.py:" in said
