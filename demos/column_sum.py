#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sums over the columns of an extruded mesh: the light that a lake takes up on its way down.

A lake has triangles for a surface, and below each of them a column of prisms as deep as the lake
is there. One loop over all prisms adds up volume and light, exp(z), per column; a column is one
entity of the base Set, however many cells it has, and shallow columns have fewer. The volume has
to be that of the lake to rounding; light has to converge with order 2 to 1 - exp(-depth).
"""

import sys

import numpy as np
from convergence import run

from pyop2cxx import op2
from pyop2cxx.mesh import Mesh, square_mesh

# A prism gets its six vertices, three coordinates each: first the lower three, then those above.
COLUMN = """
static void column_sum(const double *x, double *volume, double *light)
{
  const double area = 0.5 * fabs((x[3] - x[0]) * (x[7] - x[1]) - (x[6] - x[0]) * (x[4] - x[1]));
  double height = 0.0, middle = 0.0;
  for (int i = 0; i < 3; ++i) {
    const double low = x[3 * i + 2], high = x[3 * i + 11];
    height += (high - low) / 3.0;
    middle += (high + low) / 6.0;
  }
  volume[0] += area * height;
  light[0] += height * exp(middle);
}
"""


def depth(x: np.ndarray) -> np.ndarray:
    """Return how deep the lake is at places, shape (2, n)."""
    return 0.6 + 0.4 * x[0] + 0.5 * np.sin(2 * x[1])


def solve(n: int) -> tuple[float, tuple[Mesh, op2.Dat]]:
    """Add up the columns of n x n squares, two triangles each; return the error, and the light."""
    surface = square_mesh(n)
    deep = depth(surface.coordinates.data_ro.T)[surface.cell_vertices.values].mean(axis=1)
    # As many cells as the depth of the middle asks for, of height 1 / n or less. Neighbours may
    # have other numbers of cells, so each column has vertices of its own.
    n_cells = np.ceil(n * deep).astype(np.int32)
    mesh = surface.extruded(n_cells, lambda x, s: depth(x) * (s - 1), continuous=False)
    volume, light = op2.Dat(surface.cells, name="volume"), op2.Dat(surface.cells, name="light")
    kernel = op2.Kernel(COLUMN, "column_sum")
    x = mesh.coordinates(op2.READ, mesh.cell_vertices)
    op2.par_loop(kernel, mesh.columns, x, volume(op2.INC), light(op2.INC))

    lost = abs(volume.data_ro - deep * surface.cell_volumes.data_ro).max() * n**2
    error = float(abs(light.data_ro - (1 - np.exp(-deep))).max())
    print(f"{n} x {n}: {n_cells.min()} to {n_cells.max()} cells a column, {lost:.1e} of it lost")
    return error if lost < 1e-14 * n else np.nan, (surface, light)  # NaN is never small enough


def main(argv: list[str] | None = None) -> int:
    """Run the demo; return 0, or 1 if water got lost or light converges too slowly."""
    return run(__doc__, solve, order=1.8, cells=8, argv=argv, label="share of the light")


if __name__ == "__main__":
    sys.exit(main())
