# SPDX-License-Identifier: BSD-3-Clause
"""Euler's equations on the edges of tetrahedra, alone and with a coarser level, as in MG-CFD.

The control volumes are the median duals. Fluxes are Rusanov's; the walls of the cube reflect.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from programs import Program, copies, unless

from pyop2cxx import op2
from pyop2cxx.mesh import cube_mesh
from pyop2cxx.op2 import INC, READ, RW

KERNELS = """
#include <math.h>
static void flux(const double *n, const double *a, const double *b, double *ra, double *rb) {
  double fa[5], fb[5];
  const double ia = 1.0 / a[0], ib = 1.0 / b[0];
  const double pa = 0.4 * (a[4] - 0.5 * ia * (a[1] * a[1] + a[2] * a[2] + a[3] * a[3]));
  const double pb = 0.4 * (b[4] - 0.5 * ib * (b[1] * b[1] + b[2] * b[2] + b[3] * b[3]));
  const double va = ia * (a[1] * n[0] + a[2] * n[1] + a[3] * n[2]);
  const double vb = ib * (b[1] * n[0] + b[2] * n[1] + b[3] * n[2]);
  const double area = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  const double ca = fabs(va) + area * sqrt(1.4 * pa * ia);
  const double cb = fabs(vb) + area * sqrt(1.4 * pb * ib);
  const double c = ca > cb ? ca : cb;
  fa[0] = va * a[0];
  fb[0] = vb * b[0];
  for (int k = 0; k < 3; ++k) {
    fa[k + 1] = va * a[k + 1] + pa * n[k];
    fb[k + 1] = vb * b[k + 1] + pb * n[k];
  }
  fa[4] = va * (a[4] + pa);
  fb[4] = vb * (b[4] + pb);
  for (int k = 0; k < 5; ++k) {
    const double f = 0.5 * (fa[k] + fb[k] - c * (b[k] - a[k]));
    ra[k] += f;
    rb[k] -= f;
  }
}
static void wall(const double *n, const double *q, double *r) {
  const double p = 0.4 * (q[4] - 0.5 / q[0] * (q[1] * q[1] + q[2] * q[2] + q[3] * q[3]));
  for (int k = 0; k < 3; ++k) r[k + 1] += p * n[k];
}
static void update(const double *rate, double *r, double *q) {
  for (int k = 0; k < 5; ++k) {
    q[k] -= rate[0] * r[k];
    r[k] = 0.0;
  }
}
static void down(const double *part, const double *fine, double *coarse) {
  for (int k = 0; k < 5; ++k) coarse[k] += part[0] * fine[k];
}
static void keep(const double *q, double *old) {
  for (int k = 0; k < 5; ++k) old[k] = q[k];
}
static void up(const double *now, const double *old, double *fine) {
  for (int k = 0; k < 5; ++k) fine[k] += 0.5 * (now[k] - old[k]);
}
"""


class Level:
    """A cube of n x n x n cubes of six tetrahedra each.

    Attributes:
        x: Coordinates of the vertices, shape (n, 3).
        volumes: Volumes of the median duals, shape (n,).
        q: Density, momentum and energy at the vertices.
        edges: Number of edges.
    """

    def __init__(self, n: int, time_step: float) -> None:
        mesh = cube_mesh(n)
        self.vertices, self.x = mesh.vertices, mesh.coordinates.data_ro.copy()
        self.ends, normals, self.volumes = _median_duals(mesh.cell_vertices.values, self.x)
        edges = op2.Set(len(self.ends), "edges")
        self.edges = edges.size
        ends = op2.Map(edges, self.vertices, 2, self.ends, "ends")
        n_edges = op2.Dat(edges**3, normals, name="normals")
        self.q, r = op2.Dat(self.vertices**5, name="q"), op2.Dat(self.vertices**5, name="r")
        rates = op2.Dat(self.vertices, time_step / self.volumes, name="rates")
        walls = self._walls(normals)
        rim = op2.Set(len(walls), "walls")
        of_rim = op2.Map(rim, self.vertices, 1, walls[:, None], "vertex of a wall")
        n_rim = op2.Dat(rim**3, -self._sums(normals)[walls], name="normals of walls")
        flux, wall, update = (op2.Kernel(KERNELS, name) for name in ("flux", "wall", "update"))
        q = self.q
        pair = q(READ, ends[0]), q(READ, ends[1]), r(INC, ends[0]), r(INC, ends[1])
        self.loops = (
            op2.ParLoop(flux, edges, n_edges(READ), *pair),
            op2.ParLoop(wall, rim, n_rim(READ), q(READ, of_rim[0]), r(INC, of_rim[0])),
            op2.ParLoop(update, self.vertices, rates(READ), r(RW), q(RW)),
        )

    def _sums(self, normals: np.ndarray) -> np.ndarray:
        """Sum the outward normals of each dual over its edges: 0 inside of the cube."""
        found = np.zeros_like(self.x)
        np.add.at(found, self.ends[:, 0], normals)
        np.add.at(found, self.ends[:, 1], -normals)
        return found

    def _walls(self, normals: np.ndarray) -> np.ndarray:
        """Return the vertices whose dual is open towards a wall."""
        return np.flatnonzero(abs(self._sums(normals)).max(axis=1) > 1e-12)

    def start(self) -> None:
        """Begin at rest, with more pressure in a corner."""
        near = (self.x**2).sum(axis=1) < 0.2
        self.q.data[:] = 0.0
        self.q.data[:, 0] = 1.0 + 0.2 * near
        self.q.data[:, 4] = (1.0 + 0.3 * near) / 0.4

    def step(self) -> None:
        """Advance by a step."""
        for loop in self.loops:
            loop.compute()

    def arrays(self, of: str = "") -> dict[str, np.ndarray]:
        """What a step only reads; `of` stands before all names."""
        normals, of_wall, rates = (loop.args[0].data.data_ro for loop in self.loops)
        walls = self.loops[1].args[1].map.values[:, 0]
        names = ("normals", "ends", "wall_normals", "walls", "rates")
        arrays = (normals, self.ends.astype(np.int32), of_wall, walls, rates)
        return {of + name: array for name, array in zip(names, arrays, strict=True)}

    def totals(self) -> np.ndarray:
        """Mass and energy."""
        return self.volumes @ self.q.data_ro[:, [0, 4]]


def _median_duals(cells: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return edges, the areas of their dual faces, and the volumes of duals."""
    corners = x[cells]
    middle = corners.mean(axis=1)
    sides = corners[:, 1:] - corners[:, :1]
    volume = abs(np.linalg.det(sides)) / 6.0
    volumes = np.bincount(cells.ravel(), np.repeat(volume / 4.0, 4), len(x))
    pairs, areas = [], []
    for i, j in combinations(range(4), 2):
        k, m = {0, 1, 2, 3} - {i, j}
        half = 0.5 * (corners[:, i] + corners[:, j])
        faces = (corners[:, k] - corners[:, m]) / 3.0
        area = 0.5 * np.cross(faces, middle - half)
        ahead = corners[:, j] - corners[:, i]
        area *= np.sign((area * ahead).sum(axis=1))[:, None]
        pair = cells[:, [i, j]]
        swapped = pair[:, 0] > pair[:, 1]
        pairs.append(np.where(swapped[:, None], pair[:, ::-1], pair))
        areas.append(np.where(swapped[:, None], -area, area))
    edges, place = np.unique(np.concatenate(pairs), axis=0, return_inverse=True)
    every = np.concatenate(areas)
    normals = np.stack([np.bincount(place.ravel(), every[:, c], len(edges)) for c in range(3)], 1)
    return edges, normals, volumes


def euler(size: float) -> Program:
    """Euler's equations on one level."""
    n = max(int(52 * size ** (1 / 3)), 4)
    level = Level(n, 0.1 / n)
    level.start()
    before = level.totals()

    def check() -> str:
        lost = float(abs(level.totals() / before - 1).max())
        return unless(lost < 1e-11, f"{lost:.1e} of mass or energy lost")

    return Program(
        name="Euler on tetrahedra",
        n=level.edges,
        step=level.step,
        check=check,
        fixed=level.arrays,
        values=lambda: copies(q=level.q),
    )


def multigrid(size: float) -> Program:
    """A step on a fine level, and two on a coarse level of twice the spacing."""
    n = 2 * max(int(26 * size ** (1 / 3)), 2)
    fine, coarse = Level(n, 0.1 / n), Level(n // 2, 0.1 / n)
    fine.start()
    coarse.start()
    near = _nearest(fine.x, n // 2)
    onto = op2.Map(fine.vertices, coarse.vertices, 1, near[:, None], "coarse vertex")
    weight = fine.volumes / np.bincount(near, fine.volumes, coarse.vertices.size)[near]
    parts, old = op2.Dat(fine.vertices, weight, name="parts"), op2.Dat(coarse.vertices**5)
    down, keep, up = (op2.Kernel(KERNELS, name) for name in ("down", "keep", "up"))
    q, q2 = fine.q, coarse.q
    restrict = op2.ParLoop(down, fine.vertices, parts(READ), q(READ), q2(INC, onto[0]))
    store = op2.ParLoop(keep, coarse.vertices, q2(READ), old(op2.WRITE))
    prolong = op2.ParLoop(up, fine.vertices, q2(READ, onto[0]), old(READ, onto[0]), q(RW))

    def step() -> None:
        fine.step()
        q2.zero()
        restrict.compute()
        store.compute()
        coarse.step()
        coarse.step()
        prolong.compute()

    def check() -> str:
        found = fine.q.data_ro
        is_right = bool(np.isfinite(found).all() and (found[:, [0, 4]] > 0).all())
        return unless(is_right, "density or energy is not positive")

    return Program(
        name="multigrid Euler",
        n=fine.edges,
        step=step,
        check=check,
        fixed=lambda: {
            **fine.arrays(),
            **coarse.arrays("coarse_"),
            "near": near.astype(np.int32),
            "parts": weight,
        },
        values=lambda: copies(q=q, q2=q2),
    )


def _nearest(x: np.ndarray, n: int) -> np.ndarray:
    """Return the number of the nearest vertex of a cube of n x n x n cubes."""
    other = cube_mesh(n).coordinates.data_ro
    place = np.rint(other * n).astype(int)
    numbers = np.empty((n + 1,) * 3, int)
    numbers[tuple(place.T)] = np.arange(len(other))
    return numbers[tuple(np.clip(np.floor(x * n + 0.25).astype(int), 0, n).T)]
