#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Loops on lanes against the same loops one element after the other, in one run.

All times are CPU milliseconds of one thread, the least of some repeats, so that busy neighbours
disturb little; the ratio is the number to watch.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import op2
from pyop2cxx.mesh import airfoil_arrays, square_arrays
from pyop2cxx.mesh.files import read_mesh
from pyop2cxx.op2 import INC, READ

sys.path.insert(0, str(Path(__file__).parents[1] / "demos"))

from airfoil import Airfoil
from bench_airfoil import Hand
from bench_assembly import cube_tets, p1_kernel, p2_kernel, quadratic_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COMPILERS = ("gcc", "clang")
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


def compile_ms(loop: op2.ParLoop, compiler: str) -> float:
    """CPU milliseconds of the compiler for the text of a loop, without any cache."""
    text = loop.generate()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "loop.c")
        source.write_text(str(text))
        command = [compiler, "-O3", "-fno-math-errno", "-march=native", "-fPIC", "-shared"]
        command += ["-o", str(Path(folder, "loop.so")), str(source), "-lm"]
        best = float("inf")
        for _ in range(3):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
            best = min(best, spent)
    return 1e3 * best


def report(
    name: str, loops: dict[int, op2.ParLoop], repeats: int, n_operations: float = 0.0
) -> None:
    """Print one row: scalar, each number of lanes, ratio of the best, compile times."""
    times = {lanes: least_ms(loop.compute, repeats) for lanes, loop in loops.items()}
    best = min((lanes for lanes in times if lanes), key=lambda lanes: times[lanes])
    chosen = next(iter(loops.values())).generate({"lanes": None}).lanes
    gathered = least_ms_by_gathers(loops[best], repeats)
    rate = f"{n_operations / times[best] / 1e6:6.1f} GF/s" if n_operations else ""
    compiled = " ".join(
        f"{compile_ms(loops[chosen or best], cc) / compile_ms(loops[0], cc):4.2f}x"
        for cc in COMPILERS
    )
    columns = " ".join(f"{times[lanes]:9.2f}" for lanes in loops)
    print(
        f"{name:24s} {columns} {gathered:9}  best {best:2d}: {times[0] / times[best]:5.2f}x  "
        f"rule {chosen}  compile {compiled}  {rate}",
        flush=True,
    )


def least_ms_by_gathers(loop: op2.ParLoop, repeats: int) -> str:
    """The time of the same loop loaded by gather instructions; a dash where there are none."""
    op2.configuration["hardware_gathers"] = True
    try:
        return f"{least_ms(loop.compute, repeats):.2f}"
    except op2.UnsupportedError:
        return "-"
    finally:
        op2.configuration["hardware_gathers"] = False


def airfoil(mesh_path: Path | None, cells: tuple[int, int], lanes: list[int], repeats: int) -> None:
    """The five loops of the demo."""
    mesh = read_mesh(mesh_path) if mesh_path else airfoil_arrays(*cells)
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


def matrices(square: int, cube: int) -> Iterator[tuple[str, op2.Kernel, op2.Set, tuple[Any, ...]]]:
    """Yield what adds up stiffness matrices: linear triangles and quadratic tetrahedra."""
    flat = square_arrays(square)
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
        yield name, kernel, cells, args


def assembly(square: int, cube: int, lanes: list[int], repeats: int) -> None:
    """The assembly of matrices."""
    for name, kernel, cells, args in matrices(square, cube):
        report(name, {w: op2.ParLoop(kernel, cells, *args, lanes=w) for w in lanes}, repeats)


PRISM = """
static void prism(const double *x, const double *u, double *y)
{
  const double h = x[5] - x[2], s = u[0] + u[1] + u[2] + u[3] + u[4] + u[5];
  const double a = x[6] - x[0], b = x[12] - x[0], c = x[7] - x[1], d = x[13] - x[1];
  const double volume = 0.02 * fabs(a * d - b * c) * h;
  for (int k = 0; k < 6; ++k) y[k] += volume * (s + u[k] + u[(k + 3) % 6]);
}"""


def heavy_prism_kernel() -> tuple[str, int]:
    """Mass and stiffness on a prism of 6 dofs and points, as form compilers write it."""
    rng = np.random.default_rng(6)
    tables = [table("phi", rng.random((6, 6))), table("weights", rng.random(6))]
    tables += [table(f"dphi{d}", rng.standard_normal((6, 6))) for d in range(3)]
    lines = "\n".join(tables)
    text = f"""
{lines}
static void prism(const double *x, const double *u, double *y)
{{
  for (int q = 0; q < 6; ++q) {{
    double J[3][3] = {{{{0.0}}}};
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 6; ++k) {{
        J[i][0] += x[3 * k + i] * dphi0[q][k];
        J[i][1] += x[3 * k + i] * dphi1[q][k];
        J[i][2] += x[3 * k + i] * dphi2[q][k];
      }}
    const double det = J[0][0] * (J[1][1] * J[2][2] - J[1][2] * J[2][1])
      - J[0][1] * (J[1][0] * J[2][2] - J[1][2] * J[2][0])
      + J[0][2] * (J[1][0] * J[2][1] - J[1][1] * J[2][0]);
    const double scale = weights[q] * fabs(det);
    double v = 0.0, g0 = 0.0, g1 = 0.0, g2 = 0.0;
    for (int k = 0; k < 6; ++k) {{
      v += phi[q][k] * u[k];
      g0 += dphi0[q][k] * u[k];
      g1 += dphi1[q][k] * u[k];
      g2 += dphi2[q][k] * u[k];
    }}
    for (int k = 0; k < 6; ++k)
      y[k] += scale * (phi[q][k] * v + dphi0[q][k] * g0 + dphi1[q][k] * g1 + dphi2[q][k] * g2);
  }}
}}"""
    return text, 6 * (18 * 6 + 15 + 6 * 16)


def columns(n_cells: int, heights_of: list[int], lanes: list[int], repeats: int) -> None:
    """Prisms in columns: lanes over columns of equal heights, and along columns.

    They go along those whose heights might differ, which here do not.
    """
    for text, n_operations, name in ((PRISM, 40, "light"), (*heavy_prism_kernel(), "heavy")):
        kernel = op2.Kernel(text, "prism")
        for layers in heights_of:
            n = int((n_cells / (2 * layers)) ** 0.5)
            base = square_arrays(n)
            heights = np.tile((0, layers + 1), (len(base.cell2vertex), 1))
            for kind, given in (("over", layers + 1), ("along", heights)):
                prisms = op2.ExtrudedSet(op2.Set(len(base.cell2vertex)), layers=given)
                points = op2.Set(len(base.x) * (layers + 1))
                foot = base.cell2vertex * (layers + 1)
                corners = np.stack([foot, foot + 1], 2).reshape(-1, 6)
                c2p = op2.Map(prisms, points, 6, corners, offset=[1] * 6)
                x = op2.Dat(points**3, np.random.default_rng(0).random((points.size, 3)))
                u, y = op2.Dat(points, np.ones(points.size)), op2.Dat(points)
                args = (x(READ, c2p), u(READ, c2p), y(INC, c2p))
                made = {w: op2.ParLoop(kernel, prisms, *args, lanes=w) for w in lanes}
                total = n_operations * prisms.size * layers
                report(f"{name} {kind} {layers} layers", made, repeats, total)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lanes", default="4,8", help="numbers of lanes to measure")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--cells", default="400x600", help="airfoil's mesh, as airfoil_arrays")
    parser.add_argument("--mesh", type=Path, help="a file with airfoil's mesh")
    parser.add_argument("--cube", type=int, default=16, help="6 n^3 tetrahedra")
    parser.add_argument("--square", type=int, default=700, help="2 n^2 triangles")
    parser.add_argument("--square-of-matrix", type=int, default=500, help="squares a side")
    parser.add_argument("--cube-of-matrix", type=int, default=37, help="cubes a side")
    parser.add_argument("--prisms", type=int, default=144_000, help="cells in all columns")
    parser.add_argument("--layers", default="10,20,60", help="cells of a column of prisms")
    parser.add_argument("--cc", default="cc", help="the compiler of the loops that run")
    parser.add_argument("--only-columns", action="store_true", help="columns of prisms only")
    options = parser.parse_args()
    lanes = [0, *(int(w) for w in options.lanes.split(","))]
    heights = [int(n) for n in options.layers.split(",")]
    op2.init(backend="sequential", cc=options.cc)
    heads = " ".join(f"{w or 'scalar':>9}" for w in lanes)
    print(f"{'CPU ms a call, one core':24s} {heads} best by gathers")
    if options.only_columns:
        columns(options.prisms, heights, lanes, options.repeats)
        return
    nx, ny = (int(n) for n in options.cells.split("x"))
    airfoil(options.mesh, (nx, ny), lanes, options.repeats)
    triangles(options.square, lanes, options.repeats)
    finite_elements(options.cube, lanes, options.repeats)
    assembly(options.square_of_matrix, options.cube_of_matrix, lanes, options.repeats)
    columns(options.prisms, heights, lanes, options.repeats)


if __name__ == "__main__":
    main()
