#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Poisson's equation by virtual elements of the lowest order on Voronoi cells.

-div grad u = f in the unit square, with u = 0 at the sides and f such that u is a product of sines.
Unknowns are values at the corners of polygons. Functions between the corners are never computed:
the matrix of a polygon is exact for linear functions, and what is left of a function beside its
linear part counts by its values at the corners. Beirao da Veiga, Brezzi, Marini and Russo, The
hitchhiker's guide to the virtual element method, Math. Models Methods Appl. Sci. 24 (2014).

A loop adds a matrix of n x n numbers for each polygon of n corners, by a ragged Map. The error at
the corners has to fall with the square of the size of cells, and that of gradients with the size.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

import numpy as np
from convergence import verdict
from voronoi import cells_of, plot

from pyop2cxx import op2
from pyop2cxx.op2 import INC, READ

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

KERNELS = """
#include <math.h>
/* Twice the area, with a sign, and three times that area times the centre. */
static double moments(const double *x, int n, double *centre) {
  double sum = 0.0;
  centre[0] = centre[1] = 0.0;
  for (int i = 0; i < n; i++) {
    const double *to = i + 1 < n ? x + 2 * (i + 1) : x;
    const double cross = x[2 * i] * to[1] - to[0] * x[2 * i + 1];
    sum += cross;
    for (int c = 0; c < 2; c++) centre[c] += cross * (x[2 * i + c] + to[c]);
  }
  for (int c = 0; c < 2; c++) centre[c] /= 3.0 * sum;
  return sum;
}
/* The mean gradient of the function that is 1 at corner i and 0 at the others. */
static void gradient(const double *x, int n, double twice, int i, double *g) {
  const double *to = i + 1 < n ? x + 2 * (i + 1) : x;
  const double *from = i > 0 ? x + 2 * (i - 1) : x + 2 * (n - 1);
  g[0] = (to[1] - from[1]) / twice;
  g[1] = (from[0] - to[0]) / twice;
}
/* What function i has at corner k beside its linear part. */
static double rest(const double *x, const double *mean, const double *g, int n, int k, int i) {
  const double linear = (x[2 * k] - mean[0]) * g[2 * i] + (x[2 * k + 1] - mean[1]) * g[2 * i + 1];
  return (k == i ? 1.0 : 0.0) - 1.0 / n - linear;
}
static void assemble(double *A, double *b, const double *x, const int *n) {
  double g[2 * 64], centre[2], mean[2] = {0.0, 0.0};
  const double twice = moments(x, *n, centre), area = 0.5 * fabs(twice);
  for (int i = 0; i < *n; i++) {
    gradient(x, *n, twice, i, g + 2 * i);
    for (int c = 0; c < 2; c++) mean[c] += x[2 * i + c] / *n;
  }
  for (int i = 0; i < *n; i++) {
    b[i] += area / *n * 2.0 * M_PI * M_PI * sin(M_PI * centre[0]) * sin(M_PI * centre[1]);
    for (int j = 0; j < *n; j++) {
      double sum = area * (g[2 * i] * g[2 * j] + g[2 * i + 1] * g[2 * j + 1]);
      for (int k = 0; k < *n; k++)
        sum += rest(x, mean, g, *n, k, i) * rest(x, mean, g, *n, k, j);
      A[i * *n + j] += sum;
    }
  }
}
/* Squares of errors: at the corners, and of gradients by the middles of sides of triangles. */
static void measure(const double *u, const double *x, const int *n, double *squares) {
  double centre[2], g[2] = {0.0, 0.0};
  const double twice = moments(x, *n, centre), area = 0.5 * fabs(twice);
  for (int i = 0; i < *n; i++) {
    double own[2];
    gradient(x, *n, twice, i, own);
    for (int c = 0; c < 2; c++) g[c] += u[i] * own[c];
    const double wrong = u[i] - sin(M_PI * x[2 * i]) * sin(M_PI * x[2 * i + 1]);
    squares[0] += area / *n * wrong * wrong;
  }
  for (int i = 0; i < *n; i++) {
    const double *to = i + 1 < *n ? x + 2 * (i + 1) : x;
    const double corners[3][2] = {{centre[0], centre[1]}, {x[2 * i], x[2 * i + 1]}, {to[0], to[1]}};
    const double part = 0.5 * fabs((corners[1][0] - centre[0]) * (to[1] - centre[1]) -
                                   (to[0] - centre[0]) * (corners[1][1] - centre[1]));
    for (int k = 0; k < 3; k++) {
      const double at = 0.5 * (corners[k][0] + corners[(k + 1) % 3][0]);
      const double up = 0.5 * (corners[k][1] + corners[(k + 1) % 3][1]);
      const double dx = M_PI * cos(M_PI * at) * sin(M_PI * up) - g[0];
      const double dy = M_PI * sin(M_PI * at) * cos(M_PI * up) - g[1];
      squares[1] += part / 3.0 * (dx * dx + dy * dy);
    }
  }
}
"""


def polygons(n: int) -> tuple[NDArray[np.float64], list[NDArray[np.int64]]]:
    """Return the corners of n x n Voronoi cells in the unit square, and those of each cell.

    Qhull has two corners at one place where more than three cells meet, as they do at the sides:
    here they are one.
    """
    _, found, corners = cells_of(n)
    used, numbers = np.unique(np.concatenate(corners), return_inverse=True)
    _, first, same = np.unique(
        np.round(found.vertices[used], 9), axis=0, return_index=True, return_inverse=True
    )
    ends = np.cumsum([len(corner) for corner in corners])
    rows = np.split(same.reshape(-1)[numbers], ends[:-1])
    return found.vertices[used[first]], [row[row != np.roll(row, 1)] for row in rows]


class Poisson:
    """Poisson's equation on n x n cells.

    Attributes:
        polygons: The corners of each cell, shape (n_corners, 2) each.
        u: The solution at the corners.
        errors: At the corners, and of gradients, in the mean square.
    """

    def __init__(self, n: int) -> None:
        where, rows = polygons(n)
        self.polygons = [where[row] for row in rows]
        cells, nodes = op2.Set(len(rows), "cells"), op2.Set(len(where), "nodes")
        corners = self.corners = op2.RaggedMap(cells, nodes, rows, name="corners")
        x, b, self.u = (op2.Dat(nodes**2, where, name="x"), *(op2.Dat(nodes) for _ in "bu"))
        assemble, measure = (op2.Kernel(KERNELS, name) for name in ("assemble", "measure"))
        counts = corners.counts(READ)

        A = op2.Mat(op2.Sparsity(nodes, corners), name="A")
        held = np.isclose(where, np.round(where), atol=1e-9).any(axis=1)
        free = np.where(held, -1, np.arange(nodes.size))
        matrix = A(INC, (corners, corners), lgmaps=(free, free))
        op2.par_loop(assemble, cells, matrix, b(INC, corners), x(READ, corners), counts)
        A.set_local_diagonal_entries(np.flatnonzero(held))
        A.assemble()
        b.data[held] = 0.0
        op2.solve(A, self.u, b, ksp_type="cg", pc_type="jacobi", ksp_rtol=1e-10)

        squares, u = op2.Global(2, [0.0, 0.0], name="squares"), self.u(READ, corners)
        op2.par_loop(measure, cells, u, x(READ, corners), counts, squares(INC))
        self.errors = np.sqrt(squares.data_ro)
        lengths = f"{corners.shortest} to {corners.longest} corners"
        at_corners, of_gradients = self.errors
        print(
            f"{cells.size} cells of {lengths}, {nodes.size} unknowns: errors {at_corners:.3e} at "
            f"the corners, {of_gradients:.3e} of gradients"
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return 0, or 1 if an error does not fall as it should."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="sequential", help="default: %(default)s")
    parser.add_argument("--cells", type=int, default=12, help="a side, default: %(default)s")
    parser.add_argument("--plot", metavar="FILE", help="draw the solution on the finer cells")
    given = parser.parse_args(argv)
    if given.cells < 4:
        parser.error("--cells must be at least 4")
    op2.init(backend=given.backend)
    coarse = Poisson(given.cells)
    with op2.profile(every=1) as profile:
        fine = Poisson(2 * given.cells)
    print(profile)
    if given.plot:
        rows = np.split(fine.u.data_ro[fine.corners.values], fine.corners.offsets[1:-1])
        plot(fine.polygons, np.array([row.mean() for row in rows]), "u", given.plot)
    orders = np.log2(coarse.errors / fine.errors)
    passed = orders[0] > 1.7 and orders[1] > 0.9
    found = f"orders {orders[0]:.2f} at the corners, {orders[1]:.2f} of gradients"
    return verdict(bool(passed), found)


if __name__ == "__main__":
    sys.exit(main())
