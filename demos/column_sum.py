#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sums over the columns of an extruded mesh: the light that a lake takes up on its way down.

A lake has triangles for a surface, and below each of them a column of prisms as deep as the lake
is there. One loop over all prisms adds up volume and light, exp(z), per column; a column is one
entity of the base Set, however many cells it has, and shallow columns have fewer. The volume has
to be that of the lake to rounding; light has to converge with order 2 to 1 - exp(-depth).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
from convergence import run

from pyop2cxx import op2
from pyop2cxx.mesh import square_mesh

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

# A prism gets, for each corner of its triangle, the vertex at its lower end, then that above it.
COLUMN = """
static void column_sum(const double *x, const double *z, double *volume, double *light)
{
  const double area = 0.5 * fabs((x[2] - x[0]) * (x[5] - x[1]) - (x[4] - x[0]) * (x[3] - x[1]));
  double height = 0.0, middle = 0.0;
  for (int i = 0; i < 3; ++i) {
    height += (z[2 * i + 1] - z[2 * i]) / 3.0;
    middle += (z[2 * i + 1] + z[2 * i]) / 6.0;
  }
  volume[0] += area * height;
  light[0] += height * exp(middle);
}
"""


def depth(x: Array) -> Array:
    """Return how deep the lake is at places, shape (n, 2)."""
    found: Array = 0.6 + 0.4 * x[:, 0] + 0.5 * np.sin(2 * x[:, 1])
    return found


def columns_of(n: int) -> tuple[op2.ExtrudedSet, op2.Map, op2.Dat, op2.Map, op2.Dat]:
    """Extrude the surface downwards.

    Returns:
        The columns of prisms; a Map to the ends of the three upright edges of each, and the height
        of these; a Map to the corners of the triangle at the surface, and where they are.
    """
    surface = square_mesh(n)
    corners = surface.cell_vertices.values
    deep = depth(surface.coordinates.data_ro)
    # as many cells as the depth of the middle asks for, of height 1 / n or less
    n_cells = np.ceil(n * deep[corners].mean(axis=1)).astype(np.int32)
    columns = op2.ExtrudedSet(surface.cells, np.stack([0 * n_cells, n_cells + 1], axis=1))
    # each column has levels of its own: neighbours may have other numbers of cells
    first = np.concatenate([[0], np.cumsum(3 * (n_cells + 1))])
    ends = op2.Set(int(first[-1]), "ends")
    rows = first[:-1, None] + np.arange(3) * (n_cells[:, None] + 1)
    both = np.stack([rows, rows + 1], axis=2).reshape(-1, 6)
    column_ends = op2.Map(columns, ends, 6, both, "column_ends", offset=[1] * 6)
    z = np.empty(ends.size)
    for row, levels, at_corners in zip(rows, n_cells, deep[corners], strict=True):
        places = row[:, None] + np.arange(levels + 1)
        z[places] = -at_corners[:, None] * (1 - np.arange(levels + 1) / levels)
    triangles = op2.Map(columns, surface.vertices, 3, corners, "triangles", offset=[0] * 3)
    return columns, column_ends, op2.Dat(ends, z, name="z"), triangles, surface.coordinates


def solve(n: int) -> float:
    """Add up the columns of n x n squares, two triangles each; return the error of the light."""
    columns, column_ends, z, triangles, x = columns_of(n)
    base = columns.parent
    volume, light = op2.Dat(base, name="volume"), op2.Dat(base, name="light")
    kernel = op2.Kernel(COLUMN, "column_sum")
    fixed = (x(op2.READ, triangles), z(op2.READ, column_ends))
    op2.par_loop(kernel, columns, *fixed, volume(op2.INC), light(op2.INC))

    deep = depth(x.data_ro)[triangles.values].mean(axis=1)
    lost = abs(volume.data_ro - deep * 0.5 / n**2).max() * n**2
    error = abs(light.data_ro - (1 - np.exp(-deep))).max()
    layers = columns.layers_array[:, 1] - 1
    print(f"{n} x {n}: {layers.min()} to {layers.max()} cells a column, {lost:.1e} of it lost")
    return float(error) if lost < 1e-14 * n else np.nan  # which is never small enough


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return 0, or 1 if water got lost or light converges too slowly."""
    return run(__doc__, solve, order=1.8, cells=8, argv=argv)


if __name__ == "__main__":
    sys.exit(main())
