#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two trees of pyop2cxx against each other, for instance before and after a change, in one run.

Each tree is built and installed by itself (``make build``), with a cache of its own. Both run the
same loops over the same meshes, in turns of a tenth of a second, so that busy neighbours disturb
both alike. A row is the median, over all turns, of what the second tree took over what the first
one did: elapsed time and time of all processors. What happens once in a process is done in a fresh
one each time. ``compare.py ../before . --only airfoil latency --rounds 21``

Kernels come from this checkout, so a tree must know the part of the interface that they need.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

HERE = Path(__file__).resolve().parent
TURN_SECONDS = 0.1
CUBE_EDGES = ((2, 3), (1, 3), (1, 2), (0, 3), (0, 2), (0, 1))
HELMHOLTZ = """#include <math.h>
void helmholtz(double *A, const double *x) {
  static const double G[3][2] = {{-1, -1}, {1, 0}, {0, 1}};
  double J00 = x[2] - x[0], J01 = x[4] - x[0], J10 = x[3] - x[1], J11 = x[5] - x[1];
  double det = J00 * J11 - J01 * J10;
  double K[2][2] = {{J11 / det, -J01 / det}, {-J10 / det, J00 / det}};
  double scale = fabs(det);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      double sum = MASS * (i == j ? 1.0 / 12 : 1.0 / 24);
      for (int a = 0; a < 2; ++a) {
        double gi = G[i][0] * K[0][a] + G[i][1] * K[1][a];
        double gj = G[j][0] * K[0][a] + G[j][1] * K[1][a];
        sum += 0.5 * gi * gj;
      }
      A[3 * i + j] += scale * sum;
    }
}"""
EIGHT = """void eight(double *a, const double *b, const double *c, const double *d, const double *e,
           const double *f, const double *g, const double *h) {
  a[0] = b[0] + c[0] + d[0] + e[0] + f[0] + g[0] + h[0];
}"""


# What a worker runs; pyop2cxx is that of its tree


def placed(values: np.ndarray) -> np.ndarray:
    """Values that begin with a line of the cache: where malloc puts them is up to 8 % of a step."""
    memory = np.zeros(values.nbytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    found = memory[start : start + values.nbytes].view(values.dtype).reshape(values.shape)
    found[...] = values
    return found


def airfoil() -> Callable[[], object]:
    """One time step over 180 000 cells."""
    sys.path.insert(0, str(HERE.parent / "demos"))
    import airfoil_kernels as kernels

    from pyop2cxx import op2
    from pyop2cxx.mesh import airfoil_arrays, free_stream

    mesh = airfoil_arrays(300, 200)
    sizes = (mesh.n_nodes, mesh.n_cells, mesh.n_edges, mesh.n_bedges)
    nodes, cells, edges, bedges = (op2.Set(n) for n in sizes)
    c2n = op2.Map(cells, nodes, 4, mesh.cell2node)
    e2n, e2c = op2.Map(edges, nodes, 2, mesh.edge2node), op2.Map(edges, cells, 2, mesh.edge2cell)
    b2n, b2c = (
        op2.Map(bedges, nodes, 2, mesh.bedge2node),
        op2.Map(bedges, cells, 1, mesh.bedge2cell),
    )
    x, bound = op2.Dat(nodes**2, placed(mesh.x)), op2.Dat(bedges, mesh.bound)
    q = op2.Dat(cells**4, placed(np.tile(free_stream(), (mesh.n_cells, 1))))
    old, res = (op2.Dat(cells**4, placed(np.zeros((mesh.n_cells, 4)))) for _ in range(2))
    adt = op2.Dat(cells, placed(np.zeros(mesh.n_cells)))
    qinf, rms = op2.Global(4, free_stream()), op2.Global(1, 0.0)
    r, w, inc = op2.READ, op2.WRITE, op2.INC

    def loop(name: str, *args: Any) -> Any:
        return op2.ParLoop(op2.Kernel(getattr(kernels, name.upper()), name), *args)

    save = loop("save_soln", cells, q(r), old(w))
    stage = (
        loop("adt_calc", cells, x(r, c2n), q(r), adt(w)),
        loop("res_calc", edges, x(r, e2n), q(r, e2c), adt(r, e2c), res(inc, e2c)),
        loop(
            "bres_calc",
            bedges,
            *(x(r, b2n), q(r, b2c), adt(r, b2c), res(inc, b2c), bound(r), qinf(r)),
        ),
        loop("update", cells, old(r), q(w), res(op2.RW), adt(r), rms(inc)),
    )

    def step() -> None:
        save.compute()
        for _ in range(2):
            rms.zero()
            for one in stage:
                one.compute()

    return step


def triangles(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Vertices of the unit square, and two triangles for each of n x n squares."""
    points = np.stack(np.meshgrid(*[np.linspace(0, 1, n + 1)] * 2, indexing="ij"), -1)
    corner = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
    halves = [[0, n + 1, n + 2], [0, n + 2, 1]]
    return points.reshape(-1, 2), (corner[:, None, None] + np.array(halves)).reshape(-1, 3)


def tetrahedra(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices of the unit cube, tetrahedra, and their ten nodes."""
    points = np.stack(np.meshgrid(*[np.linspace(0, 1, n + 1)] * 3, indexing="ij"), -1)
    steps = np.array([(n + 1) ** 2, n + 1, 1])
    corner = (np.stack(np.meshgrid(*[np.arange(n)] * 3, indexing="ij"), -1) @ steps).ravel()
    orders = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
    paths = np.array([np.concatenate([[0], np.cumsum(steps[list(order)])]) for order in orders])
    tets = (corner[:, None, None] + paths).reshape(-1, 4)
    ends = np.sort(np.stack([tets[:, edge] for edge in CUBE_EDGES], axis=1), axis=-1)
    keys = np.concatenate(
        [tets * (len(points) + 1), ends[..., 0] * (len(points) + 1) + 1 + ends[..., 1]], axis=1
    )
    _, nodes = np.unique(keys, return_inverse=True)
    return points.reshape(-1, 3), tets, nodes.reshape(keys.shape)


def quadratic() -> str:
    """Stiffness of quadratic tetrahedra: gradients are linear, four points are exact."""
    points = np.full((4, 4), 0.1381966011250105) + (
        0.5854101966249685 - 0.1381966011250105
    ) * np.eye(4)
    linear = np.array([[-1.0, -1, -1], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    found = []
    for point in points:
        vertices = (4 * point[:, None] - 1) * linear
        edges = [4 * (point[i] * linear[j] + point[j] * linear[i]) for i, j in CUBE_EDGES]
        found.append(np.concatenate([vertices, edges]))
    table = json.dumps(np.array(found).tolist()).replace("[", "{").replace("]", "}")
    return (HERE / "quadratic.c").read_text(encoding="utf-8").replace("TABLE", table)


def assembly(text: str, name: str, mesh: Sequence[np.ndarray]) -> Callable[[], object]:
    """One assembly of a matrix into zeros."""
    from pyop2cxx import op2

    points, cells2points, *rest = mesh
    table = rest[0] if rest else cells2points
    cells, vertices, nodes = (op2.Set(n) for n in (len(table), len(points), int(table.max()) + 1))
    c2n = op2.Map(cells, nodes, table.shape[1], table)
    c2v = c2n if not rest else op2.Map(cells, vertices, cells2points.shape[1], cells2points)
    x = op2.Dat((c2v.toset) ** points.shape[1], points)
    mat = op2.Mat(op2.Sparsity((nodes**1, nodes**1), [(c2n, c2n, None)]))
    loop = op2.ParLoop(op2.Kernel(text, name), cells, mat(op2.INC, (c2n, c2n)), x(op2.READ, c2v))

    def step() -> None:
        mat.zero()
        loop.compute()

    return step


def dense(name: str) -> Callable[[], object]:
    """A kernel of ``bench_dense.py`` by its name."""
    sys.path.insert(0, str(HERE))
    import bench_dense

    (found,) = (kernel for kernel in bench_dense.kernels() if kernel.name == name)
    compute: Callable[[], object] = found.loop(2.0, None).compute
    return compute


def empty(*, is_prepared: bool) -> Callable[[], object]:
    """A loop with eight arguments over nothing, as an object or as a call."""
    from pyop2cxx import op2

    nothing = op2.Set(0)
    dats = [op2.Dat(nothing) for _ in range(8)]
    args = [dat(op2.READ if n else op2.WRITE) for n, dat in enumerate(dats)]
    kernel = op2.Kernel(EIGHT, "eight")
    if is_prepared:
        compute: Callable[[], object] = op2.ParLoop(kernel, nothing, *args).compute
        return compute
    return partial(op2.par_loop, kernel, nothing, *args)


def first_loop(*, is_over_edges: bool) -> None:
    """Run one loop over two elements."""
    from pyop2cxx import op2

    cells, edges = op2.Set(3), op2.Set(2)
    x, y = op2.Dat(cells, [1.0, 2.0, 3.0]), op2.Dat(cells)
    if is_over_edges:
        ends = op2.Map(edges, cells, 2, [[0, 1], [1, 2]])
        text = "void diff(const double *x, double *y) { y[0] += x[1] - x[0]; y[1] -= x[1] - x[0]; }"
        op2.par_loop(op2.Kernel(text, "diff"), edges, x(op2.READ, ends), y(op2.INC, ends))
    else:
        text = "void twice(const double *x, double *y) { y[0] = 2 * x[0]; }"
        op2.par_loop(op2.Kernel(text, "twice"), cells, x(op2.READ), y(op2.WRITE))


STEADY: dict[str, tuple[str, int, Callable[[], Callable[[], object]]]] = {
    "airfoil, 1 thread": ("sequential", 1, airfoil),
    "airfoil, 2 threads": ("openmp", 2, airfoil),
    "Laplace, P1 triangles": (
        "sequential",
        1,
        lambda: assembly(HELMHOLTZ.replace("MASS", "0"), "helmholtz", triangles(150)),
    ),
    "Helmholtz, P1 triangles": (
        "sequential",
        1,
        lambda: assembly(HELMHOLTZ.replace("MASS", "1"), "helmholtz", triangles(150)),
    ),
    "Laplace, P2 tetrahedra": (
        "sequential",
        1,
        lambda: assembly(quadratic(), "quadratic", tetrahedra(12)),
    ),
    "dense, GEMM along rows 8": ("sequential", 1, lambda: dense("GEMM along rows 8")),
    "dense, GEMM as sums 8": ("sequential", 1, lambda: dense("GEMM as sums 8")),
    "dense, Cholesky solve 10": ("sequential", 1, lambda: dense("Cholesky solve 10")),
    "latency, compute()": ("sequential", 1, lambda: empty(is_prepared=True)),
    "latency, par_loop()": ("sequential", 1, lambda: empty(is_prepared=False)),
}
"""Backend, threads, and what makes the step that is repeated."""

ONCE: dict[str, tuple[bool, Callable[[], None] | None]] = {
    "latency, import": (False, None),
    "latency, first direct loop, compiled": (True, lambda: first_loop(is_over_edges=False)),
    "latency, first loop over edges, compiled": (True, lambda: first_loop(is_over_edges=True)),
    "latency, first loop over edges, from disk": (False, lambda: first_loop(is_over_edges=True)),
}
"""Whether the cache is empty, and what is done after the import, or nothing."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a turn took, in seconds: elapsed, and of all processors with those of children."""

    elapsed: float
    processor: float

    @classmethod
    def of(cls, work: Callable[[], object]) -> Cost:
        """Measure a piece of work."""
        before, start = _busy(), time.perf_counter()
        work()
        return cls(time.perf_counter() - start, _busy() - before)


def _busy() -> float:
    """Seconds of all processors, for this process and children that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def repeat(step: Callable[[], object], n: int) -> None:
    """Take so many steps."""
    for _ in range(n):
        step()


def steady_worker(name: str) -> None:
    """Answer each number of steps on standard input with what they took."""
    backend, threads, make = STEADY[name]
    from pyop2cxx import op2

    op2.init(backend=backend, threads=threads)
    step = make()
    step()
    for line in sys.stdin:
        n = int(line)
        cost = Cost.of(partial(repeat, step, n))
        print(json.dumps([cost.elapsed, cost.processor]), flush=True)


def once_worker(name: str) -> None:
    """Do what happens once, and print what it took."""
    work = ONCE[name][1]

    def start() -> None:
        from pyop2cxx import op2

        if work is not None:
            op2.init(backend="sequential")

    cost = Cost.of(start)
    if work is not None:
        cost = Cost.of(work)
    print(json.dumps([cost.elapsed, cost.processor]), flush=True)


# What compares them


class Tree:
    """An installed tree, with a cache of its own."""

    def __init__(self, folder: str, cache: str) -> None:
        self.python = str(Path(folder, ".venv", "bin", "python").absolute())
        self.cache = cache
        if not Path(self.python).exists():
            raise SystemExit(f"{folder}: no .venv/bin/python there; run make build in it")

    def command(self, kind: str, name: str) -> list[str]:
        """Return what runs a worker."""
        return [self.python, str(Path(__file__).resolve()), "--worker", kind, name]

    def environment(self, cache: str | None = None) -> dict[str, str]:
        """Return the variables of a worker."""
        # modules are compiled in the first turn, as in a user's second process
        kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        return kept | {"PYOP2CXX_CACHE_DIR": cache or self.cache, "PYTHONPATH": ""}

    def once(self, name: str) -> Cost:
        """Run a fresh process."""
        with tempfile.TemporaryDirectory() as fresh:
            cache = fresh if ONCE[name][0] else None
            done = subprocess.run(
                self.command("once", name),
                env=self.environment(cache),
                capture_output=True,
                text=True,
                check=False,
            )
        if done.returncode:
            raise SystemExit(f"{self.python}: '{name}' failed\n{done.stderr}")
        return Cost(*json.loads(done.stdout))


class Steady:
    """A process of a tree that repeats a step."""

    def __init__(self, tree: Tree, name: str) -> None:
        self.label = f"{tree.python}: '{name}'"
        self._process = subprocess.Popen(
            tree.command("steady", name),
            env=tree.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, n: int) -> Cost:
        """Take so many steps."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            print(n, file=self._process.stdin, flush=True)
            return Cost(*json.loads(self._process.stdout.readline()))
        except (BrokenPipeError, ValueError):
            raise SystemExit(f"{self.label} failed; its messages stand above") from None

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def steady_turns(trees: Sequence[Tree], name: str, rounds: int) -> Iterator[tuple[Cost, ...]]:
    """Yield what the same number of steps took in both trees."""
    workers = [Steady(tree, name) for tree in trees]
    try:
        n = 1
        while (cost := workers[0].run(n)).elapsed < TURN_SECONDS:
            n = max(2 * n, min(100 * n, int(n * TURN_SECONDS / max(cost.elapsed, 1e-6))))
        workers[1].run(n)
        for turn in range(rounds):
            order = (0, 1) if turn % 2 else (1, 0)
            costs = {which: workers[which].run(n) for which in order}
            yield tuple(Cost(costs[i].elapsed / n, costs[i].processor / n) for i in (0, 1))
    finally:
        for worker in workers:
            worker.close()


def once_turns(trees: Sequence[Tree], name: str, rounds: int) -> Iterator[tuple[Cost, ...]]:
    """Yield what fresh processes of both trees took."""
    for turn in range(-1, rounds):  # the first fills caches
        order = (0, 1) if turn % 2 else (1, 0)
        costs = {which: trees[which].once(name) for which in order}
        if turn >= 0:
            yield costs[0], costs[1]


def row(name: str, turns: Sequence[tuple[Cost, ...]]) -> str:
    """Return a line: both medians, the ratio and its quartiles, the ratio of processor time."""
    before, after = (median(turn[i].elapsed for turn in turns) for i in (0, 1))
    ratios = [turn[1].elapsed / turn[0].elapsed for turn in turns]
    low, middle, high = quantiles(ratios, n=4)
    busy = [turn[1].processor / turn[0].processor for turn in turns if turn[0].processor > 0]
    unit = 1e6 if before < 1e-3 else 1e3
    return (
        f"{name:42s} {before * unit:9.3f} {after * unit:9.3f} {'us' if unit > 1e3 else 'ms'}"
        f"  {middle:5.2f} ({low:.2f}-{high:.2f})  {median(busy) if busy else float('nan'):5.2f}"
    )


def main() -> None:
    """Print a row for each name, or be a worker."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trees", nargs="*", metavar="TREE", help="folders, each with a .venv")
    parser.add_argument("--only", nargs="+", default=[""], help="names that contain one of these")
    parser.add_argument("--rounds", type=int, default=15, help="turns of each tree (15)")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        {"steady": steady_worker, "once": once_worker}[given.worker[0]](given.worker[1])
        return
    if len(given.trees) != 2 or given.rounds < 2:
        parser.error("two trees, and at least two rounds")
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        trees = [Tree(*pair) for pair in zip(given.trees, (first, second), strict=True)]
        print(f"{'':42s} {'first':>9s} {'second':>9s}     second / first  processor", flush=True)
        for name in (*STEADY, *ONCE):
            if any(word in name for word in given.only):
                kind = steady_turns if name in STEADY else once_turns
                print(row(name, list(kind(trees, name, given.rounds))), flush=True)


if __name__ == "__main__":
    main()
