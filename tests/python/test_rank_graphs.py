# SPDX-License-Identifier: BSD-3-Clause
"""Graphs over several processes: ghosts and sums as nodes. Exchanges of devices."""

from __future__ import annotations

import pytest
from on_ranks import TREE, failure, outputs
from test_ranks import EDGES

from pyop2cxx import _core
from pyop2cxx.base import extras
from pyop2cxx.exceptions import Op2Error

pytestmark = pytest.mark.skipif(not extras.installed()["mpi4py"], reason="mpi4py is not installed")

AIRFOIL = f"""
sys.path.insert(0, {str(TREE / "demos")!r})
from airfoil import Airfoil
from pyop2cxx.mesh import airfoil_arrays
op2.init(backend=sys.argv[1], transport=sys.argv[2])

def made():
    airfoil = Airfoil(airfoil_arrays(40, 20), sys.argv[4] or None)
    op2.distribute(airfoil.q.dataset.set)
    return airfoil

one, other = made(), made()
for _ in range(7):
    one.iterate()
def step():
    with op2.chain():
        other.iterate()

graph = op2.record(step if sys.argv[3] == "chain" else other.iterate)
counts = other.q.dataset.set.halo.messages.counts
found = []
for n in (1, 4, 2):
    before = counts[0]
    graph.submit(n)
    found.append(counts[0] - before)
apart = abs(one.q.gathered() - other.q.gathered()).max()
assert apart <= (1e-13 if sys.argv[1] == "cuda" else 0), apart  # a GPU adds in any order
assert abs(one.change() - other.change()) < 1e-14
print(found, graph.stats().segments)
"""


@pytest.mark.parametrize(
    ("n", "backend", "how", "strategy"),
    [
        (3, "sequential", "loops", ""),
        (2, "openmp", "loops", ""),
        (2, "opencl", "loops", ""),
        (3, "openmp", "chain", "owner"),
        (2, "opencl", "chain", "owner"),
        (2, "sequential", "chain", ""),
    ],
)
def test_a_graph_over_ranks_has_the_bits_of_its_loops(
    n: int, backend: str, how: str, strategy: str
) -> None:
    given = (backend, "auto", how, strategy)
    # a chain that may visit loops from their targets adds in another order
    may_invert = how == "chain" and not strategy
    environment = {"PYOP2CXX_DETERMINISTIC": "1"} if may_invert else {}
    found = outputs(AIRFOIL, n, *given, PYOP2CXX_COMM="world", PYOP2CXX_THREADS="2", **environment)
    # two exchanges a step: rms is never sent within a submit
    counts = [line.split("]")[0] for line in found]
    assert counts == ["[2, 8, 4"] * n


RANDOM = """
from contextlib import nullcontext
from mpi4py import MPI
op2.init(comm=MPI.COMM_WORLD, backend=sys.argv[1])
rank, n = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
K = {
    "inc": op2.Kernel("void inc(const long *x, long *y) { y[0] += x[1]; y[1] += 2 * x[0]; }",
                      "inc"),
    "far": op2.Kernel("void far(const long *x, long *z, const long *g) {"
                      " z[0] = x[0] - x[1] + g[0] % 7; }", "far"),
    "sum": op2.Kernel("void sum(const long *x, long *g) { g[0] += x[0] % 11; }", "sum"),
    "low": op2.Kernel("void low(const long *x, long *g) { if (x[0] < g[0]) g[0] = x[0]; }", "low"),
    "own": op2.Kernel("void own(const long *g, long *x) { x[0] = (x[0] * 3 + g[0]) % 1001; }",
                      "own"),
    "both": op2.Kernel("void both(const long *x, long *y, long *g) {"
                       " y[0] += x[1]; g[0] += x[0] % 5; }", "both"),
    "next": op2.Kernel("void next(long *g) { g[0] += 1; }", "next"),
}

class Case:
    def __init__(self, seed):
        random = np.random.default_rng(seed)
        self.a, self.e = op2.Set(int(random.integers(2, 30)), "a"), op2.Set(25, "edges")
        self.m = op2.Map(self.e, self.a, 2, random.integers(0, self.a.size, (25, 2)), "m")
        self.x, self.y = (op2.Dat(self.a, random.integers(-50, 50, self.a.size), name=name)
                          for name in "xy")
        self.z = op2.Dat(self.e, random.integers(-50, 50, 25), name="z")
        self.g, self.h = (op2.Global(1, int(random.integers(9)), "int64", name) for name in "gh")
        self.one = op2.Set(1, "one")
        op2.distribute(self.a, random.integers(0, n, self.a.size))
        self.seen = []

    def steps(self, random):
        R, m = op2.READ, self.m
        g = self.g if random.random() < 0.5 else self.h
        x, y = (self.x, self.y) if random.random() < 0.5 else (self.y, self.x)
        choices = [
            lambda: op2.par_loop(K["inc"], self.e, x(R, m), y(op2.INC, m)),
            lambda: op2.par_loop(K["inc"], self.e, x(R, m), y(op2.INC, m)),
            lambda: op2.par_loop(K["far"], self.e, x(R, m), self.z(op2.WRITE), g(R)),
            lambda: op2.par_loop(K["sum"], self.a, x(R), g(op2.INC)),
            lambda: op2.par_loop(K["sum"], self.e, self.z(R), g(op2.INC)),
            lambda: op2.par_loop(K["low"], self.a, x(R), g(op2.MIN)),
            lambda: op2.par_loop(K["own"], self.a, g(R), x(op2.RW)),
            lambda: op2.par_loop(K["both"], self.e, x(R, m), y(op2.INC, m), g(op2.INC)),
            lambda: op2.par_loop(K["next"], self.one, g(op2.INC)),
            lambda: x.zero(),
            lambda: g.zero(),
            lambda: x.copy(y),
        ]
        return [choices[int(random.integers(len(choices)))] for _ in range(random.integers(1, 9))]

    def state(self):
        return [one.gathered().tolist() for one in (self.x, self.y, self.z)] + [
            int(one.data_ro[0]) for one in (self.g, self.h)]

for seed in range(int(sys.argv[2])):
    plain, recorded = Case(seed), Case(seed)
    def run(case):
        for step in case.steps(np.random.default_rng(seed + 1000)):
            step()
    def step():
        with op2.chain() if seed % 2 else nullcontext():
            run(recorded)
    graph = op2.record(step)
    for times in (1, 2, 1):
        for _ in range(times):
            run(plain)
        graph.submit(times)
        assert plain.state() == recorded.state(), (seed, plain.state(), recorded.state())
        if seed % 3 == 0:  # something else writes between submits
            for case in (plain, recorded):
                case.x += 1
                op2.par_loop(K["sum"], case.a, case.x(op2.READ), case.g(op2.INC))
print("right")
"""


@pytest.mark.parametrize(
    ("n", "backend", "examples"), [(2, "sequential", 25), (3, "sequential", 25), (2, "opencl", 6)]
)
def test_random_graphs_are_their_loops(n: int, backend: str, examples: int) -> None:
    assert outputs(RANDOM, n, backend, str(examples)) == ["right"] * n


def test_functions_inner_graphs_and_while_in_a_graph_over_ranks() -> None:
    text = (
        EDGES
        + """
op2.distribute(cells, np.arange(6) * n // 6)
total, seen = op2.Global(1, 0.0, name="total"), []
norm = op2.Kernel("void norm(const double *y, double *g) { g[0] += y[0]; }", "norm")
half = op2.Kernel("void half(double *y) { y[0] *= 0.5; }", "half")
with op2.graph() as g:
    first = g.then(add, edges, *args())
    second = first.then_reduce(norm, cells, y(op2.READ), total(op2.INC))
    third = second.then_host(lambda: seen.append(float(total.data_ro[0])), reads=[total])
    with third.while_(total > 3, most=20) as w:
        w.then(half, cells, y(op2.RW)).then_fill(total).then_reduce(
            norm, cells, y(op2.READ), total(op2.INC))
inner = g.instantiate()
inner.submit()
assert seen == [25.0] and total.data_ro[0] == 25 / 16, (seen, total.data_ro)
with op2.graph() as g:
    g.then_graph(inner).then(add, edges, x(op2.READ, e2c), y(op2.INC, e2c)).then(
        add, edges, y(op2.READ, e2c), x(op2.INC, e2c))
g.instantiate().submit(2)
py, px = np.array([1, 2, 4, 6, 8, 4.0]) / 16, np.arange(6.0)
def plus(a, b):
    b[:-1] += a[1:]
    b[1:] += a[:-1]
    return b
for _ in range(2):
    plus(px, py)
    while py.sum() > 3:
        py *= 0.5
    plus(px, py)
    plus(py.copy(), px)
assert np.allclose(x.gathered(), px, rtol=1e-14) and np.allclose(y.gathered(), py, rtol=1e-14)
print("right")
"""
    )
    assert outputs(text, 2) == ["right"] * 2


PACKED = """
from mpi4py import MPI
op2.init(comm=MPI.COMM_WORLD, backend=sys.argv[1], transport=sys.argv[2])
rank, n = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
cells, edges = op2.Set(4000, "cells"), op2.Set(3999, "edges")
e2c = op2.Map(edges, cells, 2, np.arange(3999)[:, None] + [0, 1], "e2c")
values = np.arange(12000).reshape(-1, 3) % 97
C = {"float64": "double", "float32": "float", "int16": "short", "uint8": "unsigned char"}
KINDS = [("float64", "aos", None), ("float64", "soa", None), ("float32", "aos", "float64"),
         ("int16", "aos", None), ("float32", "soa", None), ("uint8", "aos", None)]
dats = [op2.Dat(cells ** 3, values, kind, f"d{i}", layout, compute=compute)
        for i, (kind, layout, compute) in enumerate(KINDS)]
out = op2.Dat(edges ** 18, name="out")
op2.distribute(cells, np.arange(4000) * n // 4000)
types = [C[str(dat.compute)] for dat in dats]
heads = ", ".join(f"{kind} *x{i}" for i, kind in enumerate(types))
body = "".join(f"for (int c = 0; c < 3; c++) x{i}[c] += 1;" for i in range(6))
one = op2.ParLoop(op2.Kernel(f"void one({heads}) {{ {body} }}", "one"), cells,
                  *[dat(op2.RW) for dat in dats])
body = "".join(f"for (int c = 0; c < 3; c++) o[{3 * i} + c] = x{i}[3 + c] - 3.0 * x{i}[c];"
               for i in range(6))
heads = ", ".join(f"const {kind} *x{i}" for i, kind in enumerate(types))
kernel = op2.Kernel(f"void apart({heads}, double *o) {{ {body} }}", "apart")
loop = op2.ParLoop(kernel, edges, *[dat(op2.READ, e2c) for dat in dats], out(op2.WRITE))
one.compute()
loop.compute()  # the first exchange tries transports
one.compute()
op2.transfers.clear()
loop.compute()
moved = [one for one in op2.transfers.report() if not one.to_device]
assert sum(one.nbytes for one in moved) <= 2 * 81, moved  # a row of each Dat for two neighbours
assert (out.gathered() == np.tile(values[1:] + 2.0 - 3 * (values[:-1] + 2.0), 6)).all()
assert "'d0', 'd1'" in loop.explain().ghosts, loop.explain().ghosts
print(cells.halo.transports.chosen)
"""


def test_only_packed_rows_leave_a_device() -> None:
    assert outputs(PACKED, 3, "opencl", "auto") == ["staged"] * 3


def test_a_transport_that_is_not_there_is_named() -> None:
    said = failure(PACKED, 2, "opencl", "nccl")
    assert "transport 'nccl', asked for by an option: the device has no queue" in said


def n_gpus() -> int:
    """Return the number of CUDA devices."""
    try:
        return len(_core.vendor("cuda").list_devices())
    except Op2Error:
        return 0


@pytest.mark.skipif(n_gpus() < 2, reason="needs two GPUs")
@pytest.mark.parametrize("transport", ["staged", "nccl", "stores", "auto"])
def test_rows_from_gpu_to_gpu(transport: str) -> None:
    found = outputs(PACKED, 2, "cuda", transport)
    assert transport == "auto" or found == [transport] * 2
    for how, strategy in (("loops", ""), ("chain", ""), ("chain", "owner")):
        found = outputs(AIRFOIL, 2, "cuda", transport, how, strategy, PYOP2CXX_COMM="world")
        is_one = transport in ("nccl", "stores")
        assert not is_one or [line[-1] for line in found] == ["1"] * 2
    assert outputs(RANDOM, 2, "cuda", "6") == ["right"] * 2
