#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Poisson's equation on a square or a cube, by linear or quadratic finite elements.

-div grad u = f, with u = 0 on the boundary and f such that u is a product of sines. One loop over
the cells assembles matrix and load; rows and columns of the boundary are left out of it, and get
ones on the diagonal. A library solves; another loop measures the distance to the exact solution.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import op2
from pyop2cxx.mesh import square_arrays
from pyop2cxx.op2 import INC, READ

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[Any]

# The error in the mean square, over the mesh width to the power of the degree plus one.
BOUND = {(2, 1): 1.6, (2, 2): 0.35, (3, 1): 2.0, (3, 2): 0.5}


@dataclass(frozen=True)
class Mesh:
    """Simplices, and the nodes of the elements on them.

    Attributes:
        x: Vertices, shape (n_vertices, dim).
        cells: Vertices of each cell, shape (n_cells, dim + 1).
        nodes: Nodes of each cell: its vertices, then the middles of its edges.
        points: Where the nodes are, shape (n_nodes, dim).
    """

    x: Array
    cells: Array
    nodes: Array
    points: Array


def cube(n: int) -> tuple[Array, Array]:
    """Cut the unit cube into n x n x n cubes, and each into six tetrahedra around a diagonal."""
    axis = np.linspace(0, 1, n + 1)
    x = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    number = np.arange((n + 1) ** 3).reshape(n + 1, n + 1, n + 1)
    strides = np.array([(n + 1) ** 2, n + 1, 1])
    paths = [np.cumsum([0, *strides[list(order)]]) for order in permutations(range(3))]
    first = number[:n, :n, :n].ravel()
    return x, (first[:, None, None] + np.array(paths)).reshape(-1, 4)


def make_mesh(dim: int, n: int, degree: int) -> Mesh:
    """Mesh the unit square or cube and number the nodes."""
    if dim == 2:
        square = square_arrays(n)
        x, cells = square.x, square.cell2vertex.astype(np.int64)
    else:
        x, cells = cube(n)
    if degree == 1:
        return Mesh(x, cells, cells, x)
    ends = np.stack([cells[:, pair] for pair in edges(dim)], axis=1)
    ends.sort(axis=-1)
    keys, numbers = np.unique(ends @ [len(x), 1], return_inverse=True)
    middles = 0.5 * (x[keys // len(x)] + x[keys % len(x)])
    nodes = np.concatenate([cells, len(x) + numbers.reshape(ends.shape[:2])], axis=1)
    return Mesh(x, cells, nodes, np.concatenate([x, middles]))


def edges(dim: int) -> list[tuple[int, int]]:
    """The vertices at the ends of each edge of a simplex."""
    return list(combinations(range(dim + 1), 2))


def quadrature(dim: int) -> tuple[Array, Array]:
    """Barycentric coordinates and weights: Gauss' points of a cube, folded into the simplex."""
    t, w = np.polynomial.legendre.leggauss(3)
    t, w = (t + 1) / 2, w / 2
    points, weights = [], []
    for index in np.ndindex(*[len(t)] * dim):
        rest, weight, point = 1.0, 1.0, []
        for axis, k in enumerate(index):
            point.append(rest * t[k])
            rest *= 1 - t[k]
            weight *= w[k] * (1 - t[k]) ** (dim - 1 - axis)
        points.append([rest, *point])
        weights.append(weight)
    return np.array(points), np.array(weights)


def basis(points: Array, degree: int) -> tuple[Array, Array]:
    """Values of the basis at points, (n_points, n), and their gradients, (n_points, n, dim)."""
    dim = points.shape[1] - 1
    linear = np.concatenate([-np.ones((1, dim)), np.eye(dim)])  # gradients of the coordinates
    if degree == 1:
        return points, np.broadcast_to(linear, (len(points), *linear.shape))
    pairs = edges(dim)
    values = [points * (2 * points - 1)]
    values.append(np.stack([4 * points[:, i] * points[:, j] for i, j in pairs], axis=1))
    gradients = [(4 * points[:, :, None] - 1) * linear]
    along = [4 * (points[:, [i]] * linear[j] + points[:, [j]] * linear[i]) for i, j in pairs]
    gradients.append(np.stack(along, axis=1))
    return np.concatenate(values, axis=1), np.concatenate(gradients, axis=1)


def table(values: Array) -> str:
    """A C initialiser."""
    if values.ndim == 0:
        return repr(float(values))
    return "{" + ", ".join(table(part) for part in values) + "}"


GEOMETRY = {
    2: """
  const double J[2][2] = {{x[2] - x[0], x[4] - x[0]}, {x[3] - x[1], x[5] - x[1]}};
  const double det = J[0][0] * J[1][1] - J[0][1] * J[1][0];
  const double K[2][2] = {{J[1][1] / det, -J[0][1] / det}, {-J[1][0] / det, J[0][0] / det}};
""",
    3: """
  double J[3][3], K[3][3];
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) J[r][c] = x[3 * (c + 1) + r] - x[r];
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c)
      K[r][c] = J[(c + 1) % 3][(r + 1) % 3] * J[(c + 2) % 3][(r + 2) % 3] -
                J[(c + 1) % 3][(r + 2) % 3] * J[(c + 2) % 3][(r + 1) % 3];
  const double det = J[0][0] * K[0][0] + J[0][1] * K[1][0] + J[0][2] * K[2][0];
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) K[r][c] /= det;
""",
}


def kernels(dim: int, degree: int) -> tuple[op2.Kernel, op2.Kernel]:
    """What assembles matrix and load of a cell, and what measures the error in one."""
    points, weights = quadrature(dim)
    values, gradients = basis(points, degree)
    n_points, n = values.shape
    exact = " * ".join(f"sin(M_PI * at[{d}])" for d in range(dim))
    tables = f"""
  static const double W[{n_points}] = {table(weights)};
  static const double L[{n_points}][{dim + 1}] = {table(points)};
  static const double P[{n_points}][{n}] = {table(values)};"""
    at = f"""
    double at[{dim}];
    for (int d = 0; d < {dim}; ++d) {{
      at[d] = 0.0;
      for (int v = 0; v < {dim + 1}; ++v) at[d] += L[q][v] * x[{dim} * v + d];
    }}
    const double u = {exact};"""
    assemble = f"""#include <math.h>
static void assemble(double *A, double *b, const double *x)
{{{tables}
  static const double G[{n_points}][{n}][{dim}] = {table(gradients)};
{GEOMETRY[dim]}
  for (int q = 0; q < {n_points}; ++q) {{
    const double w = W[q] * fabs(det);
    double g[{n}][{dim}];
    for (int i = 0; i < {n}; ++i)
      for (int d = 0; d < {dim}; ++d) {{
        g[i][d] = 0.0;
        for (int e = 0; e < {dim}; ++e) g[i][d] += K[e][d] * G[q][i][e];
      }}{at}
    for (int i = 0; i < {n}; ++i) {{
      b[i] += w * {dim}.0 * M_PI * M_PI * u * P[q][i];
      for (int j = 0; j < {n}; ++j) {{
        double sum = 0.0;
        for (int d = 0; d < {dim}; ++d) sum += g[i][d] * g[j][d];
        A[{n} * i + j] += w * sum;
      }}
    }}
  }}
}}
"""
    measure = f"""#include <math.h>
static void measure(const double *uh, const double *x, double *square)
{{{tables}
{GEOMETRY[dim]}
  for (int q = 0; q < {n_points}; ++q) {{{at}
    double difference = -u;
    for (int i = 0; i < {n}; ++i) difference += P[q][i] * uh[i];
    square[0] += W[q] * fabs(det) * difference * difference;
  }}
}}
"""
    return op2.Kernel(assemble, "assemble"), op2.Kernel(measure, "measure")


def solve(mesh: Mesh, dim: int, degree: int, options: dict[str, Any]) -> tuple[op2.Dat, float]:
    """Assemble and solve; return the solution and its error in the mean square."""
    cells = op2.Set(len(mesh.cells), "cells")
    vertices, nodes = op2.Set(len(mesh.x), "vertices"), op2.Set(len(mesh.points), "nodes")
    to_vertices = op2.Map(cells, vertices, dim + 1, mesh.cells, "to_vertices")
    to_nodes = op2.Map(cells, nodes, mesh.nodes.shape[1], mesh.nodes, "to_nodes")
    x = op2.Dat(vertices**dim, mesh.x, name="x")
    u, b = op2.Dat(nodes, name="u"), op2.Dat(nodes, name="b")
    assemble, measure = kernels(dim, degree)

    start = time.perf_counter()
    A = op2.Mat(op2.Sparsity((nodes, nodes), [(to_nodes, to_nodes, None)], "A"))
    print(f"sparsity  {A.sparsity.nz} places in {nodes.size} rows, {since(start)}")

    held = np.isin(mesh.points, (0.0, 1.0)).any(axis=1)
    numbers = np.where(held, -1, np.arange(nodes.size))
    start = time.perf_counter()
    matrix = A(INC, (to_nodes, to_nodes), lgmaps=(numbers, numbers))
    op2.par_loop(assemble, cells, matrix, b(INC, to_nodes), x(READ, to_vertices))
    A.set_local_diagonal_entries(np.flatnonzero(held))
    A.assemble()
    b.data[held] = 0.0
    print(f"assembly  {cells.size} cells, {since(start)} with compilation")

    start = time.perf_counter()
    went = op2.solve(A, u, b, **options)
    print(f"solve     {went.n_iterations} iterations, {went.reason}, {since(start)}")

    square = op2.Global(1, 0.0, name="square")
    op2.par_loop(measure, cells, u(READ, to_nodes), x(READ, to_vertices), square(INC))
    return u, float(np.sqrt(square.data_ro[0]))


def since(start: float) -> str:
    """How long ago that was."""
    return f"{1e3 * (time.perf_counter() - start):.1f} ms"


def plot(mesh: Mesh, u: Array, path: str) -> None:
    """Draw the solution; of a cube the nodes in the middle plane."""
    from matplotlib.figure import Figure

    plane = mesh.points[:, 2:] == 0.5 if mesh.points.shape[1] == 3 else mesh.points[:, 2:] == 0
    there = plane.all(axis=1)
    figure = Figure(figsize=(5.5, 4.5), layout="constrained")
    axes = figure.add_subplot(aspect="equal", title="-div grad u = f", xlabel="x", ylabel="y")
    shown = axes.tricontourf(*mesh.points[there, :2].T, u[there], levels=20)
    figure.colorbar(shown, label="u")
    figure.savefig(path, dpi=150)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return 0, or 1 if the error is larger than it may be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="sequential", help="default: %(default)s")
    parser.add_argument("--dim", type=int, default=2, choices=(2, 3), help="default: %(default)s")
    parser.add_argument("--degree", type=int, default=1, choices=(1, 2), help="default: 1")
    parser.add_argument("--cells", type=int, default=32, help="a side, default: %(default)s")
    parser.add_argument("--ksp-type", default="cg", help="default: %(default)s")
    parser.add_argument(
        "--pc-type", default="jacobi", help="such as ilu, amg; default: %(default)s"
    )
    parser.add_argument("--package", default="auto", help="scipy, petsc or cupy")
    parser.add_argument("--plot", metavar="FILE", help="draw the solution; needs an even --cells")
    given = parser.parse_args(argv)
    if given.cells < 2 or (given.plot and given.cells % 2):
        parser.error("--cells must be at least 2, and even for a picture")
    op2.init(backend=given.backend)
    mesh = make_mesh(given.dim, given.cells, given.degree)
    options = {"ksp_type": given.ksp_type, "pc_type": given.pc_type, "package": given.package}
    with op2.profile(every=1) as profile:
        u, error = solve(mesh, given.dim, given.degree, {**options, "ksp_rtol": 1e-10})
    print(profile)
    if given.plot:
        plot(mesh, u.data_ro, given.plot)
    bound = BOUND[given.dim, given.degree] / given.cells ** (given.degree + 1)
    passed = error <= bound
    print(
        f"check: {'passed' if passed else 'FAILED'}: distance to the exact solution {error:.3e}, "
        f"at most {bound:.3e}"
    )
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
