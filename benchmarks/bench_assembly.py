#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What matrices cost: sparsities, first and further assemblies, on one core.

P1 triangles (500k) and P2 tetrahedra (304k) with stiffness kernels of the kind that form compilers
write: tables of gradients at quadrature points. Beside each time stands its ratio to the time that
the memory system needs for the bytes an assembly must move, by a triad measured in the same run;
and what SciPy takes to sum the same element tensors by rows and columns. Then load vectors and
actions of the stiffness, by elements of both degrees on both meshes.
"""

from __future__ import annotations

import argparse
import sys
import time
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "demos"))

import poisson

from pyop2cxx import op2
from pyop2cxx.mesh import square_arrays
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

REPEATS = 7
EDGES = ((2, 3), (1, 3), (1, 2), (0, 3), (0, 2), (0, 1))


def best_of(work: Callable[[], Any], repeats: int = REPEATS) -> float:
    """The least milliseconds of a few repeats."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def triad_bandwidth() -> float:
    """Bytes a millisecond that one core reads and writes."""
    n = 20_000_000
    cells = op2.Set(n)
    a, b, c = (op2.Dat(cells, np.ones(n)) for _ in range(3))
    text = "void triad(double *a, const double *b, const double *c) { a[0] = b[0] + 3 * c[0]; }"
    arguments = (a(op2.WRITE), b(op2.READ), c(op2.READ))
    loop = op2.ParLoop(op2.Kernel(text, "triad"), cells, *arguments)
    loop.compute()
    return 3 * 8 * n / best_of(loop.compute)


def cube_tets(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Vertices of the unit cube, and six tetrahedra for each of n x n x n cubes."""
    axis = np.linspace(0, 1, n + 1)
    points = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    i, j, k = np.meshgrid(*[np.arange(n)] * 3, indexing="ij")
    corner = ((i * (n + 1) + j) * (n + 1) + k).ravel()
    steps = ((n + 1) ** 2, n + 1, 1)
    orders = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
    tets = np.empty((len(corner), 6, 4), np.int64)
    for tet, order in enumerate(orders):
        path = np.concatenate([[0], np.cumsum([steps[axis] for axis in order])])
        tets[:, tet] = corner[:, None] + path
    return points, tets.reshape(-1, 4)


def quadratic_nodes(tets: np.ndarray) -> tuple[np.ndarray, int]:
    """Ten nodes of each tetrahedron, numbered along their smallest vertices."""
    ends = np.sort(np.stack([tets[:, edge] for edge in EDGES], axis=1), axis=-1)
    n = int(tets.max()) + 1
    keys = np.concatenate([tets * (n + 1), ends[..., 0] * (n + 1) + 1 + ends[..., 1]], axis=1)
    unique, nodes = np.unique(keys, return_inverse=True)
    return nodes.reshape(keys.shape), len(unique)


def table(values: np.ndarray) -> str:
    """A C initializer."""
    if values.ndim == 0:
        return repr(float(values))
    return "{" + ", ".join(table(part) for part in values) + "}"


def p1_kernel() -> op2.Kernel:
    """Stiffness of linear triangles."""
    gradients = np.array([[-1.0, -1.0], [1, 0], [0, 1]])
    return op2.Kernel(stiffness(gradients[None], np.array([0.5]), 2), "stiffness")


def tets_kernel(degree: int) -> op2.Kernel:
    """Stiffness of linear tetrahedra, or of quadratic ones."""
    return p2_kernel() if degree == 2 else p1_tets_kernel()


def p1_tets_kernel() -> op2.Kernel:
    """Stiffness of linear tetrahedra."""
    gradients = np.array([[-1.0, -1.0, -1.0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    return op2.Kernel(stiffness(gradients[None], np.array([1 / 6]), 3), "stiffness")


def p2_kernel() -> op2.Kernel:
    """Stiffness of quadratic tetrahedra: gradients are linear, four points are exact."""
    a, b = 0.5854101966249685, 0.1381966011250105
    points = np.full((4, 4), b) + (a - b) * np.eye(4)
    linear = np.array([[-1.0, -1, -1], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    found = []
    for point in points:
        vertices = (4 * point[:, None] - 1) * linear
        edges = [4 * (point[i] * linear[j] + point[j] * linear[i]) for i, j in EDGES]
        found.append(np.concatenate([vertices, edges]))
    return op2.Kernel(stiffness(np.array(found), np.full(4, 1 / 24), 3), "stiffness")


def stiffness(gradients: np.ndarray, weights: np.ndarray, dim: int) -> str:
    """C code that sums weighted products of gradients; shape (points, nodes, dim)."""
    n_points, n, _ = gradients.shape
    jacobian = "\n".join(
        f"  double J{r}{c} = x[{(c + 1) * dim + r}] - x[{r}];"
        for r in range(dim)
        for c in range(dim)
    )
    if dim == 2:
        inverse = """
  double det = J00 * J11 - J01 * J10;
  double K[2][2] = {{J11 / det, -J01 / det}, {-J10 / det, J00 / det}};"""
    else:
        minors = [
            [
                f"(J{(c + 1) % 3}{(r + 1) % 3} * J{(c + 2) % 3}{(r + 2) % 3}"
                f" - J{(c + 1) % 3}{(r + 2) % 3} * J{(c + 2) % 3}{(r + 1) % 3})"
                for c in range(3)
            ]
            for r in range(3)
        ]
        rows = ", ".join("{" + ", ".join(f"{m} / det" for m in row) + "}" for row in minors)
        first = " + ".join(f"J0{r} * {minors[r][0]}" for r in range(3))
        inverse = f"\n  double det = {first};\n  double K[3][3] = {{{rows}}};"
    return f"""#include <math.h>
void stiffness(double *A, const double *x) {{
  static const double weights[{n_points}] = {table(weights)};
  static const double G[{n_points}][{n}][{dim}] = {table(gradients)};
{jacobian}{inverse}
  double scale = fabs(det);
  for (int q = 0; q < {n_points}; ++q) {{
    double w = weights[q] * scale, C[{dim}][{dim}], t[{n}][{dim}];
    for (int d = 0; d < {dim}; ++d)
      for (int e = 0; e < {dim}; ++e) {{
        C[d][e] = 0;
        for (int f = 0; f < {dim}; ++f) C[d][e] += K[d][f] * K[e][f];
        C[d][e] *= w;
      }}
    for (int j = 0; j < {n}; ++j)
      for (int d = 0; d < {dim}; ++d) {{
        t[j][d] = 0;
        for (int e = 0; e < {dim}; ++e) t[j][d] += C[d][e] * G[q][j][e];
      }}
    for (int i = 0; i < {n}; ++i)
      for (int j = 0; j < {n}; ++j)
        for (int d = 0; d < {dim}; ++d) A[{n} * i + j] += G[q][i][d] * t[j][d];
  }}
}}
"""


def summed_by_scipy(cells2nodes: np.ndarray, n_nodes: int) -> float:
    """Milliseconds that SciPy takes to sum element tensors, by rows and columns, into CSR."""
    import scipy.sparse

    n = cells2nodes.shape[1]
    rows = np.repeat(cells2nodes, n, axis=1).ravel().astype(np.int32)
    columns = np.tile(cells2nodes, (1, n)).ravel().astype(np.int32)
    tensors = np.ones(rows.size)
    shape = (n_nodes, n_nodes)
    return best_of(
        lambda: scipy.sparse.coo_matrix((tensors, (rows, columns)), shape=shape).tocsr(), 2
    )


def measure(name: str, kernel: op2.Kernel, mesh: tuple[Any, ...], bandwidth: float) -> None:
    """Print one line for each step."""
    points, cells2points, cells2nodes, n_nodes = mesh
    cells, nodes = op2.Set(len(cells2nodes)), op2.Set(n_nodes)
    vertices = op2.Set(len(points))
    c2n = op2.Map(cells, nodes, cells2nodes.shape[1], cells2nodes)
    c2v = op2.Map(cells, vertices, cells2points.shape[1], cells2points)
    x = op2.Dat(vertices ** points.shape[1], points)
    dset = nodes**1

    def build(threads: int) -> float:
        op2.init(threads=threads)
        return best_of(lambda: op2.Sparsity((dset, dset), [(c2n, c2n, None)]), 3)

    one, two = build(1), build(2)
    op2.init(threads=1)
    sparsity = op2.Sparsity((dset, dset), [(c2n, c2n, None)])
    mat = op2.Mat(sparsity)
    print(f"{name}: {len(cells2nodes)} cells, {n_nodes} rows, {sparsity.nz} entries")
    print(f"  sparsity: {one:.1f} ms on 1 thread, {two:.1f} on 2")
    reference = None
    for backend in ("sequential", "openmp"):
        for strategy in (None, "colour", "owner", "scratch", "atomic"):
            if backend == "sequential" and strategy is not None:
                continue
            with op2.backend(backend):
                arguments = (mat(op2.INC, (c2n, c2n)), x(op2.READ, c2v))
                loop = op2.ParLoop(kernel, cells, *arguments, strategy=strategy)
                mat.zero()
                first = best_of(loop.compute, 1)
                values = mat.to_scipy().copy()
                again = best_of(loop.compute)
            reference = values if reference is None else reference
            assert abs(values - reference).max() <= 1e-12 * abs(reference).max()
            floor = loop.useful_bytes / bandwidth
            print(
                f"  {backend:10s} {strategy or 'default':8s} first {first:8.1f} ms, again "
                f"{again:7.1f} ms, {again / floor:5.1f} x the bytes it must move"
            )
    summed = summed_by_scipy(cells2nodes, n_nodes)
    print(f"  SciPy, COO to CSR of ready tensors: {summed:.1f} ms")


# Points (up to their order) and weights that sum polynomials of a degree exactly: the schemes that
# form compilers take.
SCHEMES = {
    (2, 0): (((1 / 3, 1 / 3, 1 / 3), 1 / 2),),
    (2, 2): (((2 / 3, 1 / 6, 1 / 6), 1 / 6),),
    (2, 4): (
        ((0.108103018168070, 0.445948490915965, 0.445948490915965), 0.1116907948390055),
        ((0.816847572980459, 0.091576213509771, 0.091576213509771), 0.0549758718276610),
    ),
    (3, 0): (((1 / 4, 1 / 4, 1 / 4, 1 / 4), 1 / 6),),
    (3, 2): (
        ((0.585410196624968, 0.138196601125011, 0.138196601125011, 0.138196601125011), 1 / 24),
    ),
    (3, 4): (
        ((1 / 4, 1 / 4, 1 / 4, 1 / 4), -0.0131555555555556),
        ((11 / 14, 1 / 14, 1 / 14, 1 / 14), 0.0076222222222222),
        (
            (0.399403576166799, 0.399403576166799, 0.100596423833201, 0.100596423833201),
            0.0248888888888889,
        ),
    ),
}


def scheme(dim: int, degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Barycentric points and weights."""
    orbits = [(sorted(set(permutations(point))), w) for point, w in SCHEMES[dim, degree]]
    points = [point for orbit, _ in orbits for point in orbit]
    return np.array(points), np.array([w for orbit, w in orbits for _ in orbit])


def vector_kernels(dim: int, degree: int) -> dict[str, op2.Kernel]:
    """The load of a function of the same elements, and the action of the stiffness."""
    points, weights = scheme(dim, 2 * degree)
    values, _ = poisson.basis(points, degree)
    n_points, n = values.shape
    load = f"""#include <math.h>
void load(double *b, const double *f, const double *x) {{
  static const double W[{n_points}] = {poisson.table(weights)};
  static const double P[{n_points}][{n}] = {poisson.table(values)};
{poisson.GEOMETRY[dim]}
  for (int q = 0; q < {n_points}; ++q) {{
    double at = 0;
    for (int i = 0; i < {n}; ++i) at += P[q][i] * f[i];
    at *= W[q] * fabs(det);
    for (int i = 0; i < {n}; ++i) b[i] += P[q][i] * at;
  }}
}}
"""
    points, weights = scheme(dim, 2 * degree - 2)
    _, gradients = poisson.basis(points, degree)
    n_points = len(points)
    action = f"""#include <math.h>
void action(double *b, const double *f, const double *x) {{
  static const double W[{n_points}] = {poisson.table(weights)};
  static const double G[{n_points}][{n}][{dim}] = {poisson.table(gradients)};
{poisson.GEOMETRY[dim]}
  for (int q = 0; q < {n_points}; ++q) {{
    double g[{dim}], h[{dim}], k[{dim}];
    for (int d = 0; d < {dim}; ++d) {{
      g[d] = 0;
      for (int i = 0; i < {n}; ++i) g[d] += G[q][i][d] * f[i];
    }}
    for (int d = 0; d < {dim}; ++d) {{
      h[d] = 0;
      for (int e = 0; e < {dim}; ++e) h[d] += K[e][d] * g[e];
    }}
    for (int e = 0; e < {dim}; ++e) {{
      k[e] = 0;
      for (int d = 0; d < {dim}; ++d) k[e] += K[e][d] * h[d];
      k[e] *= W[q] * fabs(det);
    }}
    for (int i = 0; i < {n}; ++i)
      for (int d = 0; d < {dim}; ++d) b[i] += G[q][i][d] * k[d];
  }}
}}
"""
    return {"load": op2.Kernel(load, "load"), "action": op2.Kernel(action, "action")}


# Milliseconds of DOLFINx 0.5.2 on one core of the same kind of machine.
PEERS = {
    (2, 1): {"load": 23.7, "action": 27.9},
    (2, 2): {"load": 32.0, "action": 37.0},
    (3, 1): {"load": 21.6, "action": 29.7},
    (3, 2): {"load": 45.5, "action": 68.0},
}


def measure_vectors(dim: int, degree: int, n: int, bandwidth: float, *, full: bool) -> None:
    """Print one line for each kernel."""
    mesh = poisson.make_mesh(dim, n, degree)
    cells, vertices = op2.Set(len(mesh.cells)), op2.Set(len(mesh.x))
    nodes = op2.Set(len(mesh.points))
    c2n = op2.Map(cells, nodes, mesh.nodes.shape[1], mesh.nodes)
    c2v = op2.Map(cells, vertices, dim + 1, mesh.cells)
    x, f = op2.Dat(vertices**dim, mesh.x), op2.Dat(nodes, mesh.points @ np.ones(dim))
    print(f"P{degree}, dim {dim}: {cells.size} cells, {nodes.size} nodes")
    for name, kernel in vector_kernels(dim, degree).items():
        b = op2.Dat(nodes)
        arguments = (b(op2.INC, c2n), f(op2.READ, c2n), x(op2.READ, c2v))
        loop = op2.ParLoop(kernel, cells, *arguments)
        loop.compute()
        total = float(b.data_ro.sum())
        assert abs(total - (dim / 2 if name == "load" else 0)) <= 1e-9, total
        spent = best_of(loop.compute)
        peer = f", DOLFINx {PEERS[dim, degree][name]:.1f} ms" if full else ""
        floor = loop.useful_bytes / bandwidth
        print(f"  {name:6s} {spent:7.1f} ms, {spent / floor:5.1f} x the bytes it must move{peer}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triangles", type=int, default=500, help="squares a side")
    parser.add_argument("--tets", type=int, default=37, help="cubes a side")
    given = parser.parse_args()
    op2.init(threads=1)
    bandwidth = triad_bandwidth()
    print(f"triad: {bandwidth / 1e6:.1f} GB/s on one thread of {runtime.engine.n_threads}")
    square = square_arrays(given.triangles)
    mesh = (square.x, square.cell2vertex, square.cell2vertex, square.n_vertices)
    measure("P1 triangles", p1_kernel(), mesh, bandwidth)
    points, tets = cube_tets(given.tets)
    nodes, n_nodes = quadratic_nodes(tets)
    measure("P2 tetrahedra", p2_kernel(), (points, tets, nodes, n_nodes), bandwidth)
    with op2.backend("sequential"):
        for dim, cells, usual in ((2, given.triangles, 500), (3, given.tets, 37)):
            for degree in (1, 2):
                measure_vectors(dim, degree, cells, bandwidth, full=cells == usual)
    op2.exit()


if __name__ == "__main__":
    main()
