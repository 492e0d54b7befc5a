#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Heat flow by finite volumes on Voronoi cells: polygons with any number of sides.

The cells of random points fill the unit square, whose sides are insulated. Heat flows through each
face in proportion to the difference between two cells, the length of the face and the inverse
distance of the points. A step is two loops by ragged Maps: cells look at their neighbours, and at
their faces. A product of cosines decays without changing its shape: the error has to fall, and the
heat of all cells must not change.
"""

from __future__ import annotations

import argparse
import math
import sys
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import Voronoi

from pyop2cxx import op2
from pyop2cxx.op2 import INC, READ, RW, WRITE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

KERNELS = """
static void conductances(const double *ends, const double *x, double *k) {
  const double fx = ends[2] - ends[0], fy = ends[3] - ends[1];
  const double dx = x[2] - x[0], dy = x[3] - x[1];
  k[0] = sqrt((fx * fx + fy * fy) / (dx * dx + dy * dy));
}
static void areas(const double *corners, double *area, const int *n) {
  double a = 0.0;
  for (int i = 0; i < *n; i++) {
    const int j = i + 1 < *n ? i + 1 : 0;
    a += corners[2 * i] * corners[2 * j + 1] - corners[2 * j] * corners[2 * i + 1];
  }
  area[0] = 0.5 * fabs(a);
}
static void flow(const double *u0, const double *u, const double *k, double *r, const int *n) {
  double sum = 0.0;
  for (int i = 0; i < *n; i++) sum += k[i] * (u[i] - u0[0]);
  r[0] = sum;
}
static void advance(const double *area, const double *dt, const double *r, double *u,
                    double *heat) {
  u[0] += dt[0] / area[0] * r[0];
  heat[0] += area[0] * u[0];
}
"""


def cells_of(n: int) -> tuple[NDArray[np.float64], Voronoi, list[list[int]]]:
    """Return Voronoi cells of n x n points, more or less in rows, which fill the unit square.

    Returns:
        The points; the cells of them and of their images behind the sides of the square; and the
        corners of the points' own cells.
    """
    random = np.random.default_rng(n)
    middle = np.stack(np.meshgrid(*[np.arange(n) + 0.5] * 2), axis=-1).reshape(-1, 2)
    points: NDArray[np.float64] = (middle + random.uniform(-0.25, 0.25, middle.shape)) / n
    images = [points]
    for axis in (0, 1):
        for side in (0.0, 1.0):
            image = points.copy()
            image[:, axis] = 2 * side - image[:, axis]
            images.append(image)
    found = Voronoi(np.concatenate(images))
    return points, found, [found.regions[region] for region in found.point_region[: len(points)]]


class Heat:
    """The unit square in n x n cells, more or less.

    Attributes:
        points: Shape (n_cells, 2), in the middle of the cells.
        polygons: The corners of each cell, shape (n_corners, 2) each.
        u: The temperature of the cells.
        heat: The heat of all cells after the last step.
    """

    def __init__(self, n: int) -> None:
        self.points, found, corners = cells_of(n)
        self.polygons = [found.vertices[corner] for corner in corners]
        sides, ends = self.faces(found)
        cells, vertices = op2.Set(n * n, "cells"), op2.Set(len(found.vertices), "vertices")
        faces = op2.Set(len(sides), "faces")
        self.cells = cells
        self.corners = op2.RaggedMap(cells, vertices, corners, name="corners")
        order = np.argsort(sides.ravel(), kind="stable")  # each face stands in two rows
        offsets = np.searchsorted(sides.ravel()[order], np.arange(n * n + 1))
        self.faces_of = op2.RaggedMap(cells, faces, offsets, order // 2, "faces_of")
        others = sides[:, ::-1].ravel()[order]
        self.neighbours = op2.RaggedMap(cells, cells, offsets, others, "neighbours")
        self.make_loops(faces, vertices, found.vertices, sides, ends)

    def faces(self, found: Voronoi) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the two cells of each face inside of the square, and its ends."""
        pairs, ends = found.ridge_points, np.array(found.ridge_vertices)
        inside = (pairs < len(self.points)).all(axis=1)
        return pairs[inside].astype(np.int64), ends[inside].astype(np.int64)

    def make_loops(
        self,
        faces: op2.Set,
        vertices: op2.Set,
        where: NDArray[np.float64],
        sides: NDArray[np.int64],
        ends: NDArray[np.int64],
    ) -> None:
        """Compute what does not change, and make the loops of a step."""
        cells, count = self.cells, self.faces_of.counts(READ)
        v, x = op2.Dat(vertices**2, where, name="v"), op2.Dat(cells**2, self.points, name="x")
        k, area = op2.Dat(faces, name="k"), op2.Dat(cells, name="area")
        names = ("conductances", "areas", "flow", "advance")
        conductances, areas, flow, advance = (
            op2.Kernel("#include <math.h>\n" + KERNELS, name) for name in names
        )
        to_ends, to_sides = op2.Map(faces, vertices, 2, ends), op2.Map(faces, cells, 2, sides)
        op2.par_loop(conductances, faces, v(READ, to_ends), x(READ, to_sides), k(WRITE))
        corners = self.corners
        op2.par_loop(areas, cells, v(READ, corners), area(WRITE), corners.counts(READ))
        sums = op2.Dat(cells, name="sums")
        whole = op2.Kernel(
            "void whole(double *s, const double *k, const int *n) {"
            " s[0] = 0; for (int i = 0; i < *n; i++) s[0] += k[i]; }",
            "whole",
        )
        op2.par_loop(whole, cells, sums(WRITE), k(READ, self.faces_of), count)
        self.step_size = 0.4 * float((area.data_ro / sums.data_ro).min())
        self.u = op2.Dat(cells, self.shape(), name="u")
        self.area = area
        r, dt = op2.Dat(cells, name="r"), op2.Global(1, self.step_size, name="dt")
        self.heat = op2.Global(1, 0.0, name="heat")
        u, near, own = self.u, self.u(READ, self.neighbours), k(READ, self.faces_of)
        self.flow = op2.ParLoop(flow, cells, u(READ), near, own, r(WRITE), count)
        values = area(READ), dt(READ), r(READ), u(RW), self.heat(INC)
        self.advance = op2.ParLoop(advance, cells, *values)

    def shape(self) -> NDArray[np.float64]:
        """The product of cosines in the middle of the cells, shape (n_cells,)."""
        found: NDArray[np.float64] = np.cos(np.pi * self.points).prod(axis=1)
        return found

    def step(self) -> None:
        """Advance by one step."""
        self.heat.zero()
        self.flow.compute()
        self.advance.compute()


def solve(n: int, end: float) -> tuple[Heat, float, float]:
    """Compute until a time; return the program, the error and the lost heat."""
    program = Heat(n)
    before = float((program.area.data_ro * program.u.data_ro).sum())
    n_steps = math.ceil(end / program.step_size)
    for _ in range(n_steps):
        program.step()
    exact = math.exp(-2 * math.pi**2 * n_steps * program.step_size) * program.shape()
    error = float(np.sqrt((program.area.data_ro * (program.u.data_ro - exact) ** 2).sum()))
    lost = abs(float(program.heat.data_ro[0]) - before)
    sides = program.corners
    print(
        f"{n * n} cells of {sides.shortest} to {sides.longest} sides: {n_steps} steps, error "
        f"{error:.2e}, lost heat {lost:.1e}"
    )
    return program, error, lost


def plot(
    polygons: list[NDArray[np.float64]], values: NDArray[np.float64], title: str, path: str
) -> None:
    """Draw polygons in the colours of their values."""
    from matplotlib import pyplot
    from matplotlib.collections import PolyCollection

    figure, axes = pyplot.subplots(figsize=(5, 4.4), layout="constrained")
    cells = PolyCollection(polygons, array=values, cmap="inferno")
    cells.set(edgecolor="white", linewidth=0.3)
    axes.add_collection(cells)
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", title=title)
    axes.axis("off")
    figure.colorbar(cells, shrink=0.8)
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return 0, or 1 if the error does not fall, or heat is lost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="sequential", help="default: %(default)s")
    parser.add_argument("--cells", type=int, default=16, help="a side, default: %(default)s")
    parser.add_argument("--end", type=float, default=0.05, help="time, default: %(default)s")
    parser.add_argument("--plot", metavar="FILE", help="draw the last temperature")
    given = parser.parse_args(argv)
    if given.cells < 4 or given.end <= 0:
        parser.error("--cells must be at least 4, and --end positive")
    op2.init(backend=given.backend)
    with op2.profile() as profile:
        _, coarse, lost = solve(given.cells, given.end)
        program, fine, lost_too = solve(2 * given.cells, given.end)
    print(profile)
    if given.plot:
        plot(program.polygons, program.u.data_ro, "temperature", given.plot)
    order, most = math.log2(coarse / fine), max(lost, lost_too)
    passed = order > 1.2 and most < 1e-12
    print(f"check: {'passed' if passed else 'FAILED'}: order {order:.2f}, lost heat {most:.1e}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
