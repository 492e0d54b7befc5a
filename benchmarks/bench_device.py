#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What loops cost on a device, beside a copy measured in the same run and the numbers to reach.

Goals are those for an H200 and are printed for full sizes only. With --scale the meshes shrink, so
that the same program runs on a processor through OpenCL.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "demos"))

from bench_assembly import quadratic_nodes, tets_kernel

from pyop2cxx import op2
from pyop2cxx.op2 import INC, READ, RW, WRITE

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Ints = npt.NDArray[np.int32]
    Floats = npt.NDArray[np.float64]

_REPEATS = 5
_LEAST_SECONDS = 0.05  # of one measurement, so that the wait at its end does not count

COPY = """
static void copy4(const double *a, double *b) { for (int k = 0; k < 4; ++k) b[k] = a[k]; }
"""
TRIAD = """
static void triad4(const double *a, const double *b, double *c)
{
  for (int k = 0; k < 4; ++k) c[k] = a[k] + 3.0 * b[k];
}
"""
FLUX = """
static void flux(const double *normal, const double *q, double *res)
{
  const double r1 = 1.0 / q[0], r2 = 1.0 / q[4];
  const double p1 = 0.4 * (q[3] - 0.5 * r1 * (q[1] * q[1] + q[2] * q[2]));
  const double p2 = 0.4 * (q[7] - 0.5 * r2 * (q[5] * q[5] + q[6] * q[6]));
  const double w1 = r1 * (q[1] * normal[0] + q[2] * normal[1]);
  const double w2 = r2 * (q[5] * normal[0] + q[6] * normal[1]);
  const double f0 = 0.5 * (w1 * q[0] + w2 * q[4]) + 0.05 * (q[0] - q[4]);
  const double f1 = 0.5 * (w1 * q[1] + w2 * q[5] + (p1 + p2) * normal[0]) + 0.05 * (q[1] - q[5]);
  const double f2 = 0.5 * (w1 * q[2] + w2 * q[6] + (p1 + p2) * normal[1]) + 0.05 * (q[2] - q[6]);
  const double f3 = 0.5 * (w1 * (q[3] + p1) + w2 * (q[7] + p2)) + 0.05 * (q[3] - q[7]);
  res[0] += f0; res[1] += f1; res[2] += f2; res[3] += f3;
  res[4] -= f0; res[5] -= f1; res[6] -= f2; res[7] -= f3;
}
"""
LAPLACE = """
static void laplace(const double *x, const double *u, double *y)
{
  double e[9], g[12];
  for (int i = 0; i < 3; ++i)
    for (int d = 0; d < 3; ++d) e[3 * i + d] = x[3 * (i + 1) + d] - x[d];
  for (int i = 0; i < 3; ++i) {
    const double *a = e + 3 * ((i + 1) % 3), *b = e + 3 * ((i + 2) % 3);
    g[3 * (i + 1)] = a[1] * b[2] - a[2] * b[1];
    g[3 * (i + 1) + 1] = a[2] * b[0] - a[0] * b[2];
    g[3 * (i + 1) + 2] = a[0] * b[1] - a[1] * b[0];
  }
  const double det = e[0] * g[3] + e[1] * g[4] + e[2] * g[5];
  const double scale = 1.0 / (6.0 * fabs(det));
  double grad[3];
  for (int d = 0; d < 3; ++d) {
    g[d] = -(g[3 + d] + g[6 + d] + g[9 + d]);
    grad[d] = g[d] * u[0] + g[3 + d] * u[1] + g[6 + d] * u[2] + g[9 + d] * u[3];
  }
  for (int i = 0; i < 4; ++i)
    y[i] += scale * (g[3 * i] * grad[0] + g[3 * i + 1] * grad[1] + g[3 * i + 2] * grad[2]);
}
"""


@dataclass(frozen=True)
class Row:
    """One line of the table: what, how much, and how much it should be."""

    name: str
    value: float
    unit: str
    goal: float | None = None
    more_is_better: bool = False
    remark: str = ""

    def text(self, *, with_goal: bool) -> str:
        """Lay the row out; a goal for other sizes than these is left away."""
        goal = verdict = ""
        if with_goal and self.goal is not None:
            met = self.value >= self.goal if self.more_is_better else self.value <= self.goal
            goal = f"{'>=' if self.more_is_better else '<='} {self.goal:g}"
            verdict = "met" if met else "MISSED"
        return (
            f"{self.name:44s} {self.value:11.4g} {self.unit:6s} {goal:10s} {verdict:7s} "
            f"{self.remark}"
        ).rstrip()


class Bench:
    """The measurements, with the table they fill."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.full = options.scale >= 1.0
        self.rows: list[Row] = []
        self.copy_rate = math.nan
        one = op2.Set(1, "one")
        self._token = op2.Dat(one, name="token")
        kernel = op2.Kernel("static void touch(double *t) { t[0] += 1.0; }", "touch")
        self._touch = op2.ParLoop(kernel, one, self._token(RW))

    def add(self, *row: Any, **more: Any) -> None:
        """Note a row and print it at once."""
        self.rows.append(Row(*row, **more))
        print(self.rows[-1].text(with_goal=self.full), flush=True)

    def scaled(self, n: int, power: float = 1.0) -> int:
        """Shrink a number of entities along one of `1 / power` axes."""
        return max(4, round(n * self.options.scale**power))

    def wait(self) -> None:
        """Wait for all that is enqueued: a value that the last loop wrote is read."""
        self._touch.compute()
        float(self._token.data_ro[0])

    def seconds(self, call: Callable[[], object]) -> float:
        """Seconds of one call, the least of some measurements, compiled and planned before."""
        call()
        self.wait()
        n, best = 1, math.inf
        while True:
            start = time.perf_counter()
            for _ in range(n):
                call()
            self.wait()
            elapsed = time.perf_counter() - start
            if elapsed >= _LEAST_SECONDS or n >= 4096:
                break
            n = min(4096, max(2 * n, round(1.2 * n * _LEAST_SECONDS / max(elapsed, 1e-6))))
        for _ in range(_REPEATS):
            start = time.perf_counter()
            for _ in range(n):
                call()
            self.wait()
            best = min(best, (time.perf_counter() - start) / n)
        return best

    def rate(self, name: str, loop: Any, n_bytes: float, goal: float | None = None) -> float:
        """Add a row: a loop's useful bytes as per cent of the copy."""
        seconds = self.seconds(loop.compute)
        share = 100.0 * n_bytes / seconds / self.copy_rate
        self.add(name, share, "% copy", goal, True, remark=f"{1e3 * seconds:.3f} ms")
        return seconds

    # What is measured

    def copy(self) -> None:
        """The yardstick: a copy from device memory to device memory."""
        rate = device_copy_rate(self.scaled(2 << 30))
        self.copy_rate = rate
        self.add("copy on the device, read and written", rate / 1e9, "GB/s")

    def airfoil(self) -> None:
        """The five loops apart, on the standard mesh."""
        from airfoil import Airfoil
        from airfoil_kernels import REFERENCE

        from pyop2cxx.mesh import airfoil_arrays

        n = self.options.iterations
        full = self.full and n == 1000
        mesh = airfoil_arrays(self.scaled(400, 0.5), self.scaled(600, 0.5))
        goals = {None: 0.24, "owner": 0.21, "atomic": None}
        for strategy, goal in goals.items():
            airfoil = Airfoil(mesh, strategy)
            airfoil.iterate()
            self.wait()
            start = time.perf_counter()
            for _ in range(n - 1):
                airfoil.iterate()
            rms = airfoil.change()
            seconds = (time.perf_counter() - start) * n / (n - 1)
            wanted = REFERENCE.get(mesh.n_cells, {}).get(n)
            remark = f"{mesh.n_cells} cells, rms {rms:.10e}"
            if wanted is not None:
                remark += f", off by {abs(rms / wanted - 1):.1e}"
            self.add(
                f"airfoil, {n} iterations, edges {strategy or 'by default'}",
                seconds,
                "s",
                goal if full else None,
                remark=remark,
            )
            self._loops_of(airfoil, strategy)

    def _loops_of(self, airfoil: Any, strategy: str | None) -> None:
        names = ["res_calc", "bres_calc"]
        if strategy is None:
            names = ["save_soln", "adt_calc", *names, "update"]
        for name in names:
            seconds = self.seconds(getattr(airfoil, name).compute)
            goal = 32.0 if name == "update" else None
            self.add(f"  {name}, {strategy or 'default'}", 1e6 * seconds, "us", goal)
        if strategy is None:
            rms = airfoil.rms
            self.add("  rms.zero()", 1e6 * self.seconds(rms.zero), "us")

    def direct(self) -> None:
        """Loops without maps over Dats of 1 GiB each."""
        cells = op2.Set(self.scaled(1 << 25), "cells")
        values = np.ones((cells.size, 4))
        a, b, c = (op2.Dat(cells**4, values.copy(), name=name) for name in "abc")
        n_bytes = values.nbytes
        copy = op2.ParLoop(op2.Kernel(COPY, "copy4"), cells, a(READ), b(WRITE))
        start = time.perf_counter()
        copy.compute()
        self.wait()
        elapsed = time.perf_counter() - start
        self.add("first use of 2 Dats of 1 GiB", 2 * n_bytes / elapsed / 1e9, "GB/s")
        self.rate("direct, b = a", copy, 2 * n_bytes, 85.0)
        triad = op2.ParLoop(op2.Kernel(TRIAD, "triad4"), cells, a(READ), b(READ), c(WRITE))
        self.rate("direct, c = a + s b", triad, 3 * n_bytes, 85.0)
        start = time.perf_counter()
        total = float(c.data_ro[-1, 0])
        self.add("reading one back", n_bytes / (time.perf_counter() - start) / 1e9, "GB/s")
        assert total == 4.0

    def edges(self) -> None:
        """A flux over the edges of a grid of quadrilaterals, in natural numbering."""
        n = self.scaled(3200, 0.5)
        e2c, normal = grid_edges(n)
        cells, edges = op2.Set(n * n, "cells"), op2.Set(len(e2c), "edges")
        to_cells = op2.Map(edges, cells, 2, e2c, "edge2cell")
        state = np.tile([1.0, 0.4, 0.1, 2.0], (n * n, 1))
        q, res = op2.Dat(cells**4, state, name="q"), op2.Dat(cells**4, name="res")
        normals = op2.Dat(edges**2, normal, name="normal")
        n_bytes = cells.size * (32 + 2 * 32) + edges.size * (16 + 2 * 4)
        for strategy, goal in {"atomic": 50.0, "owner": 62.0, None: None}.items():
            loop = op2.ParLoop(
                op2.Kernel(FLUX, "flux"),
                edges,
                *(normals(READ), q(READ, to_cells), res(INC, to_cells)),
                strategy=strategy,
            )
            name = f"edge flux, {edges.size / 1e6:.1f}M edges, {strategy or 'default'}"
            self.rate(name, loop, n_bytes, goal)

    def tets(self) -> None:
        """The action of P1's Laplacian on tetrahedra, by three numberings."""
        n = self.scaled(128, 1 / 3)
        cells2vertices, x = cube_tets(n)
        natural = self._laplace("natural", cells2vertices, x, 32.0)
        rng = np.random.default_rng(1)
        order = rng.permutation(len(x)).astype(np.int32)
        shuffled = order[cells2vertices[rng.permutation(len(cells2vertices))]]
        moved = np.empty_like(x)
        moved[order] = x
        self._laplace("random", shuffled, moved, None)
        again = self._laplace("random, renumbered", shuffled, moved, None, renumber=True)
        self.add("  renumbered / natural", again / natural, "", 1.5)

    def _laplace(
        self, name: str, c2v: Ints, x: Floats, goal: float | None, *, renumber: bool = False
    ) -> float:
        vertices, tets = op2.Set(len(x), "vertices"), op2.Set(len(c2v), "tets")
        to_vertices = op2.Map(tets, vertices, 4, c2v, "tet2vertex")
        coordinates = op2.Dat(vertices**3, x, name="x")
        u, y = op2.Dat(vertices, x @ [1.0, 2.0, 3.0], name="u"), op2.Dat(vertices, name="y")
        if renumber:
            start = time.perf_counter()
            op2.renumber([to_vertices], [coordinates, u, y], coordinates=coordinates)
            self.add("  op2.renumber", time.perf_counter() - start, "s")
        loop = op2.ParLoop(
            op2.Kernel(LAPLACE, "laplace"),
            tets,
            *(coordinates(READ, to_vertices), u(READ, to_vertices), y(INC, to_vertices)),
        )
        n_bytes = vertices.size * (24 + 8 + 16) + tets.size * 16
        return self.rate(f"P1 Laplace, {tets.size / 1e6:.1f}M tets, {name}", loop, n_bytes, goal)

    def assembly(self) -> None:
        """The stiffness of linear and quadratic tetrahedra, 304k and 2.4M of them."""
        for n, degree, goal in ((37, 1, None), (74, 1, 35.0), (37, 2, None), (74, 2, 25.0)):
            n = self.scaled(n, 1 / 3)
            tets, x = cube_tets(n)
            nodes, n_nodes = quadratic_nodes(tets) if degree == 2 else (tets, len(x))
            cells, vertices = op2.Set(len(tets), "tets"), op2.Set(len(x), "vertices")
            n_local = nodes.shape[1]
            to_nodes = op2.Map(cells, op2.Set(n_nodes, "nodes"), n_local, nodes, "tet2node")
            to_vertices = op2.Map(cells, vertices, 4, tets, "tet2vertex")
            coordinates = op2.Dat(vertices**3, x, name="x")
            self._assemble(degree, goal, cells, to_nodes, coordinates(READ, to_vertices))

    def _assemble(
        self, degree: int, goal: float | None, cells: op2.Set, to_nodes: op2.Map, coordinates: Any
    ) -> None:
        dset = to_nodes.toset**1
        start = time.perf_counter()
        sparsity = op2.Sparsity((dset, dset), [(to_nodes, to_nodes, None)])
        size = f"{cells.size / 1e6:.2f}M tets"
        self.add(f"P{degree} sparsity, {size}, on the host", time.perf_counter() - start, "s")
        mat, kernel = op2.Mat(sparsity), tets_kernel(degree)
        for strategy in (None, "atomic", "scratch", "colour", "owner"):
            argument = mat(INC, (to_nodes, to_nodes))
            loop = op2.ParLoop(kernel, cells, argument, coordinates, strategy=strategy)
            name = f"P{degree} stiffness, {size}, {strategy or 'default'}"
            if strategy is None:
                start = time.perf_counter()
                loop.compute()
                self.wait()
                self.add(f"{name}, first", time.perf_counter() - start, "s")
            self.rate(name, loop, loop.useful_bytes, None if strategy else goal)
        self.add("  mat.zero()", 1e3 * self.seconds(mat.zero), "ms")

    def forms(self) -> None:
        """The same matrices, loads and actions as forms, by FFCx's kernels, if UFL is installed."""
        try:
            import ufl

            from pyop2cxx import fem
        except ImportError:
            self.add("forms: UFL, FFCx or Basix is not installed", math.nan, "")
            return
        from pyop2cxx.mesh import cube_mesh

        for n, degree in ((74, 1), (74, 2)):
            V = fem.FunctionSpace(cube_mesh(self.scaled(n, 1 / 3)), ("P", degree))
            u, v, f = ufl.TrialFunction(V), ufl.TestFunction(V), fem.Function(V)
            forms = {
                "stiffness": ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx,
                "load": f * v * ufl.dx,
                "action": ufl.inner(ufl.grad(f), ufl.grad(v)) * ufl.dx,
            }
            goal = {1: 35.0, 2: 25.0}[degree]
            for what, form in forms.items():
                compiled = fem.Form(form, name=what)
                (loop,) = compiled.loops(compiled.tensor())
                name = f"form: P{degree} {what}, {V.mesh.cells.size / 1e6:.2f}M tets"
                self.rate(name, loop, loop.useful_bytes, goal if what == "stiffness" else None)

    def latency(self) -> None:
        """What the host pays for a loop whose work is nothing, and for the first loop."""
        from airfoil import Airfoil

        from pyop2cxx.mesh import airfoil_arrays

        airfoil = Airfoil(airfoil_arrays(8, 12))
        for name in ("save_soln", "res_calc", "update"):
            loop = getattr(airfoil, name)
            loop.compute()
            best = math.inf
            for _ in range(20):
                self.wait()
                start = time.perf_counter()
                for _ in range(100):
                    loop.compute()
                best = min(best, (time.perf_counter() - start) / 100)
            self.add(f"enqueue {name}", 1e6 * best, "us", 4.0)
        measured = [first_loops(self.options.backend) for _ in range(3)]
        best_of = {key: min(one[key] for one in measured) for key in measured[0]}
        self.add("first loop, opens the device", 1e3 * best_of["first"], "ms")
        self.add("next loop, cold", 1e3 * best_of["next"], "ms", 200.0)


def device_copy_rate(n_bytes: int) -> float:
    """Bytes per second, read and written, of copies within the device that loops use now."""
    from pyop2cxx.runtime import runtime

    engine = runtime.engine
    device = engine.device(engine.backend(runtime.backend)).device
    return float(device.measure_copy_rate(n_bytes=n_bytes, n_copies=20))


def grid_edges(n: int) -> tuple[Ints, Floats]:
    """Interior edges of n x n cells: cells beside, shape (n_edges, 2), and normals, (n_edges, 2).

    Numbered by cell: the edge to its right, then the one above it.
    """
    cell = np.arange(n * n, dtype=np.int32).reshape(n, n)
    right = np.full((n, n, 2), -1, np.int32)
    above = np.full((n, n, 2), -1, np.int32)
    right[:, :-1, 0], right[:, :-1, 1] = cell[:, :-1], cell[:, 1:]
    above[:-1, :, 0], above[:-1, :, 1] = cell[:-1, :], cell[1:, :]
    both = np.stack((right, above), axis=2).reshape(-1, 2)
    is_edge = both[:, 0] >= 0
    normal = np.tile([[1.0, 0.0], [0.0, 1.0]], (n * n, 1))
    return np.ascontiguousarray(both[is_edge]), np.ascontiguousarray(normal[is_edge])


def cube_tets(n: int) -> tuple[Ints, Floats]:
    """Tetrahedra of n^3 cubes, six to each, shape (6 n^3, 4), and vertices, shape (n_vertices, 3).

    Each cube is cut along the paths from its first corner to the last one that go along one axis
    after the other.
    """
    m = n + 1
    steps = np.array([m * m, m, 1], dtype=np.int32)
    i = np.arange(n, dtype=np.int32)
    first = (i[:, None, None] * steps[0] + i[None, :, None] * steps[1] + i).reshape(-1)
    paths = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    corners = np.array([[0, *np.cumsum(steps[list(path)])] for path in paths], dtype=np.int32)
    tets = (first[:, None, None] + corners[None]).reshape(-1, 4)
    axis = np.linspace(0.0, 1.0, m)
    x = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    return np.ascontiguousarray(tets), np.ascontiguousarray(x)


def first_loops(backend: str) -> dict[str, float]:
    """Seconds of the first two loops of a fresh process with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, __file__, "--first", "--backend", backend, "--cache", cache]
        found = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(found.stdout))


def run_first(options: argparse.Namespace) -> None:
    """Be that process."""
    from airfoil_kernels import ADT_CALC

    op2.init(backend=options.backend, cache_dir=options.cache)
    cells, nodes = op2.Set(100, "cells"), op2.Set(400, "nodes")
    c2n = op2.Map(cells, nodes, 4, np.arange(400, dtype=np.int32), "cell2node")
    x, q = op2.Dat(nodes**2, np.ones((400, 2)), name="x"), op2.Dat(cells**4, name="q")
    q.data[:] = 1.0
    a = op2.Dat(cells, name="a")
    seconds = {}
    start = time.perf_counter()
    op2.par_loop(op2.Kernel("static void one(double *a) { a[0] = 1.0; }", "one"), cells, a(WRITE))
    float(a.data_ro[0])
    seconds["first"] = time.perf_counter() - start
    start = time.perf_counter()
    adt_calc = op2.Kernel(ADT_CALC, "adt_calc")
    op2.par_loop(adt_calc, cells, x(READ, c2n), q(READ), a(WRITE))
    float(a.data_ro[0])
    seconds["next"] = time.perf_counter() - start
    print(json.dumps(seconds))


MEASUREMENTS = ("airfoil", "direct", "edges", "tets", "assembly", "forms", "latency")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="cuda", help="default: %(default)s")
    parser.add_argument("--device", default="", help="default: the first")
    parser.add_argument("--scale", type=float, default=1.0, help="of the numbers of entities")
    parser.add_argument("--iterations", type=int, default=1000, help="of airfoil")
    parser.add_argument("--only", default=",".join(MEASUREMENTS), help="default: %(default)s")
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    parser.add_argument("--first", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--cache", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.first:
        run_first(options)
        return
    wanted = options.only.split(",")
    unknown = set(wanted) - set(MEASUREMENTS)
    if unknown:
        parser.error(f"--only: unknown {', '.join(sorted(unknown))}; there are: {MEASUREMENTS}")
    op2.init(backend=options.backend, device=options.device)
    bench = Bench(options)
    bench.copy()
    for name in wanted:
        getattr(bench, name)()
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in bench.rows], indent=2) + "\n")


if __name__ == "__main__":
    main()
