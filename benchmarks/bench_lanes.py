#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Loops on lanes against the same loops one element after the other, in one run.

All times are CPU milliseconds of one thread, the least of some repeats, so that busy neighbours
disturb little; the ratio is the number to watch.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx import op2
from pyop2cxx.io import read_mesh
from pyop2cxx.mesh import airfoil_mesh, unit_square_mesh
from pyop2cxx.op2 import INC, READ

sys.path.insert(0, str(Path(__file__).parents[1] / "demos"))

from airfoil import Airfoil
from bench_airfoil import Hand
from bench_assembly import cube_tets, p1_kernel, p2_kernel, quadratic_nodes

if TYPE_CHECKING:
    from collections.abc import Callable

LOOPS = ("save_soln", "adt_calc", "res_calc", "bres_calc", "update")


def least_ms(run: Callable[[], None], repeats: int) -> float:
    """CPU milliseconds of the fastest of some calls."""
    run()
    best = float("inf")
    for _ in range(repeats):
        start = time.thread_time()
        run()
        best = min(best, time.thread_time() - start)
    return 1e3 * best


def compile_ms(loop: op2.ParLoop) -> float:
    """Wall milliseconds of the compiler for the text of a loop, without any cache."""
    text = loop.generate()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "loop.c")
        source.write_text(str(text))
        command = ["cc", "-O3", "-fno-math-errno", "-march=native", "-fPIC", "-shared"]
        command += ["-o", str(Path(folder, "loop.so")), str(source), "-lm"]
        best = float("inf")
        for _ in range(3):
            start = time.perf_counter()
            subprocess.run(command, check=True)
            best = min(best, time.perf_counter() - start)
    return 1e3 * best


def report(
    name: str, loops: dict[int, op2.ParLoop], repeats: int, n_operations: float = 0.0
) -> None:
    """Print one row: scalar, each number of lanes, ratio of the best, compile times."""
    times = {lanes: least_ms(loop.compute, repeats) for lanes, loop in loops.items()}
    best = min((lanes for lanes in times if lanes), key=lambda lanes: times[lanes])
    chosen = next(iter(loops.values())).generate({"lanes": None}).lanes
    rate = f"{n_operations / times[best] / 1e6:6.1f} GF/s" if n_operations else ""
    compiled = compile_ms(loops[best]) / compile_ms(loops[0])
    columns = " ".join(f"{times[lanes]:9.2f}" for lanes in loops)
    print(
        f"{name:24s} {columns}  best {best:2d}: {times[0] / times[best]:5.2f}x  rule {chosen}  "
        f"compile {compiled:4.2f}x  {rate}",
        flush=True,
    )


def airfoil(mesh_path: Path | None, cells: tuple[int, int], lanes: list[int], repeats: int) -> None:
    """The five loops of the demo."""
    mesh = read_mesh(mesh_path) if mesh_path else airfoil_mesh(*cells)
    problem = Airfoil(mesh)
    for name in LOOPS:
        loop = getattr(problem, name)
        made = {w: op2.ParLoop(loop.kernel, loop.iterset, *loop.args, lanes=w) for w in lanes}
        report(name, made, repeats)
    # wall time and a mean of all calls: on a busy machine compare it with itself alone
    hand = Hand(mesh).run(lanes=True, threads=1, iterations=repeats)
    calls = hand["loops"]
    means = ", ".join(
        f"{name} {1e3 * calls[name]['seconds'] / calls[name]['calls']:.2f}" for name in LOOPS
    )
    print(f"8 lanes by hand, wall: {means}", flush=True)


def tetrahedra(n: int) -> tuple[op2.Set, op2.Set, np.ndarray, np.ndarray]:
    """A cube cut into 6 n^3 tetrahedra: cells, vertices, their map and coordinates."""
    grid = np.arange((n + 1) ** 3).reshape(n + 1, n + 1, n + 1)
    corners = [
        grid[i : n + i, j : n + j, k : n + k].ravel()
        for i in (0, 1)
        for j in (0, 1)
        for k in (0, 1)
    ]
    paths = ((0, 1, 3, 7), (0, 1, 5, 7), (0, 2, 3, 7), (0, 2, 6, 7), (0, 4, 5, 7), (0, 4, 6, 7))
    cells = np.stack([np.stack([corners[c] for c in path], 1) for path in paths], 1).reshape(-1, 4)
    axis = np.linspace(0.0, 1.0, n + 1)
    x = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1).reshape(-1, 3)
    return op2.Set(len(cells)), op2.Set(len(x)), cells, x


def table(name: str, values: np.ndarray) -> str:
    """A static table in C."""
    extents = "".join(f"[{n}]" for n in values.shape)
    text = np.array2string(values, separator=", ", threshold=10**9, max_line_width=10**9)
    text = text.replace("[", "{").replace("]", "}").replace("\n", "")
    return f"static const double {name}{extents} = {text};"


def helmholtz_kernel(n_dofs: int, n_points: int) -> tuple[str, int]:
    """The action of mass and stiffness on a tetrahedron, as form compilers write it.

    The tables are random: their values do not change the time.

    Returns:
        The kernel, and its floating-point operations a call.
    """
    rng = np.random.default_rng(n_dofs)
    tables = [table("phi", rng.standard_normal((n_points, n_dofs)))]
    tables += [table(f"dphi{d}", rng.standard_normal((n_points, n_dofs))) for d in range(3)]
    tables += [table("weights", rng.random(n_points))]
    lines = "\n".join(tables)
    text = f"""
{lines}
static void helmholtz(const double *x, const double *u, double *y)
{{
  double J[3][3], K[3][3];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) J[i][j] = x[3 * (j + 1) + i] - x[i];
  K[0][0] = J[1][1] * J[2][2] - J[1][2] * J[2][1];
  K[0][1] = J[0][2] * J[2][1] - J[0][1] * J[2][2];
  K[0][2] = J[0][1] * J[1][2] - J[0][2] * J[1][1];
  K[1][0] = J[1][2] * J[2][0] - J[1][0] * J[2][2];
  K[1][1] = J[0][0] * J[2][2] - J[0][2] * J[2][0];
  K[1][2] = J[0][2] * J[1][0] - J[0][0] * J[1][2];
  K[2][0] = J[1][0] * J[2][1] - J[1][1] * J[2][0];
  K[2][1] = J[0][1] * J[2][0] - J[0][0] * J[2][1];
  K[2][2] = J[0][0] * J[1][1] - J[0][1] * J[1][0];
  const double det = J[0][0] * K[0][0] + J[0][1] * K[1][0] + J[0][2] * K[2][0];
  const double scale = 1.0 / fabs(det);
  double G[3][3];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      G[i][j] = scale * (K[i][0] * K[j][0] + K[i][1] * K[j][1] + K[i][2] * K[j][2]);
  for (int q = 0; q < {n_points}; ++q) {{
    double v = 0.0, g0 = 0.0, g1 = 0.0, g2 = 0.0;
    for (int i = 0; i < {n_dofs}; ++i) {{
      v += phi[q][i] * u[i];
      g0 += dphi0[q][i] * u[i];
      g1 += dphi1[q][i] * u[i];
      g2 += dphi2[q][i] * u[i];
    }}
    const double f = weights[q] * fabs(det) * v;
    const double h0 = weights[q] * (G[0][0] * g0 + G[0][1] * g1 + G[0][2] * g2);
    const double h1 = weights[q] * (G[1][0] * g0 + G[1][1] * g1 + G[1][2] * g2);
    const double h2 = weights[q] * (G[2][0] * g0 + G[2][1] * g1 + G[2][2] * g2);
    for (int i = 0; i < {n_dofs}; ++i)
      y[i] += phi[q][i] * f + dphi0[q][i] * h0 + dphi1[q][i] * h1 + dphi2[q][i] * h2;
  }}
}}"""
    return text, 100 + n_points * (16 * n_dofs + 21)


def finite_elements(n: int, lanes: list[int], repeats: int) -> None:
    """Actions on tetrahedra of degree 1 to 3; dofs beyond the vertices are numbered by cell."""
    cells, vertices, values, points = tetrahedra(n)
    c2v = op2.Map(cells, vertices, 4, values)
    x = op2.Dat(vertices**3, points)
    for degree, n_dofs, n_points in ((1, 4, 1), (2, 10, 14), (3, 20, 24)):
        extra = n_dofs - 4
        n_unknowns = vertices.size + extra * cells.size
        own = vertices.size + np.arange(extra * cells.size).reshape(cells.size, extra)
        unknowns = op2.Set(n_unknowns)
        c2u = op2.Map(cells, unknowns, n_dofs, np.hstack([values, own]))
        u, y = op2.Dat(unknowns, np.ones(n_unknowns)), op2.Dat(unknowns)
        text, n_operations = helmholtz_kernel(n_dofs, n_points)
        kernel = op2.Kernel(text, "helmholtz")
        args = (x(READ, c2v), u(READ, c2u), y(INC, c2u))
        made = {w: op2.ParLoop(kernel, cells, *args, lanes=w) for w in lanes}
        report(f"helmholtz P{degree}", made, repeats, n_operations * cells.size)


LAPLACE = """
static void laplace(const double *x, const double *u, double *y)
{
  const double a = x[2] - x[0], b = x[4] - x[0], c = x[3] - x[1], d = x[5] - x[1];
  const double det = a * d - b * c, s = 0.5 / fabs(det);
  const double p = u[1] - u[0], q = u[2] - u[0];
  const double gx = d * p - c * q, gy = a * q - b * p;
  const double y1 = s * (d * gx - b * gy), y2 = s * (a * gy - c * gx);
  y[0] -= y1 + y2;
  y[1] += y1;
  y[2] += y2;
}"""


def triangles(n: int, lanes: list[int], repeats: int) -> None:
    """The P1 action on 2 n^2 triangles: the loop that lanes must not make slower."""
    grid = np.arange((n + 1) ** 2).reshape(n + 1, n + 1)
    a, b, c, d = (g.ravel() for g in (grid[:-1, :-1], grid[1:, :-1], grid[:-1, 1:], grid[1:, 1:]))
    values = np.stack([np.stack([a, b, d], 1), np.stack([a, c, d], 1)], 1).reshape(-1, 3)
    cells, nodes = op2.Set(len(values)), op2.Set((n + 1) ** 2)
    c2n = op2.Map(cells, nodes, 3, values)
    axis = np.linspace(0.0, 1.0, n + 1)
    x = op2.Dat(nodes**2, np.stack(np.meshgrid(axis, axis, indexing="ij"), -1).reshape(-1, 2))
    u, y = op2.Dat(nodes, np.ones(nodes.size)), op2.Dat(nodes)
    kernel = op2.Kernel(LAPLACE, "laplace")
    args = (x(READ, c2n), u(READ, c2n), y(INC, c2n))
    made = {w: op2.ParLoop(kernel, cells, *args, lanes=w) for w in lanes}
    report("laplace P1, triangles", made, repeats)


def assembly(square: int, cube: int, lanes: list[int], repeats: int) -> None:
    """Stiffness matrices of linear triangles and quadratic tetrahedra."""
    flat = unit_square_mesh(square)
    meshes = {"P1 matrix, triangles": (p1_kernel(), flat.x, flat.cell2vertex, flat.cell2vertex)}
    points, tets = cube_tets(cube)
    meshes["P2 matrix, tetrahedra"] = (p2_kernel(), points, tets, quadratic_nodes(tets)[0])
    for name, (kernel, x, vertices, nodes) in meshes.items():
        cells, places = op2.Set(len(nodes)), op2.Set(int(nodes.max()) + 1)
        corners = op2.Set(len(x))
        c2n = op2.Map(cells, places, nodes.shape[1], nodes)
        c2v = op2.Map(cells, corners, vertices.shape[1], vertices)
        mat = op2.Mat(op2.Sparsity((places**1, places**1), [(c2n, c2n, None)]))
        args = (mat(INC, (c2n, c2n)), op2.Dat(corners ** x.shape[1], x)(READ, c2v))
        report(name, {w: op2.ParLoop(kernel, cells, *args, lanes=w) for w in lanes}, repeats)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lanes", default="4,8", help="numbers of lanes to measure")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--cells", default="400x600", help="airfoil's mesh, as airfoil_mesh")
    parser.add_argument("--mesh", type=Path, help="a file with airfoil's mesh")
    parser.add_argument("--cube", type=int, default=16, help="6 n^3 tetrahedra")
    parser.add_argument("--square", type=int, default=700, help="2 n^2 triangles")
    parser.add_argument("--square-of-matrix", type=int, default=500, help="squares a side")
    parser.add_argument("--cube-of-matrix", type=int, default=37, help="cubes a side")
    options = parser.parse_args()
    lanes = [0, *(int(w) for w in options.lanes.split(","))]
    op2.init(backend="sequential")
    print(f"{'CPU ms a call, one core':24s} " + " ".join(f"{w or 'scalar':>9}" for w in lanes))
    nx, ny = (int(n) for n in options.cells.split("x"))
    airfoil(options.mesh, (nx, ny), lanes, options.repeats)
    triangles(options.square, lanes, options.repeats)
    finite_elements(options.cube, lanes, options.repeats)
    assembly(options.square_of_matrix, options.cube_of_matrix, lanes, options.repeats)


if __name__ == "__main__":
    main()
