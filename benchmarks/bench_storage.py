#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Values in narrow memory under kernels of doubles, against double memory, in one run.

Streaming, an edge flux of the Euler equations, and an iteration of airfoil with state, residuals
and coordinates in narrow memory. Seconds of a call, the least of some repeats taken by turns, so
that busy neighbours disturb all alike. Goals are those of float32 on a GPU: 1.9, 1.3 and 1.3.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "demos"))

from airfoil import Airfoil

from pyop2cxx import op2
from pyop2cxx.mesh.airfoil import airfoil_arrays
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable

GOALS = {"streaming": 1.9, "edge flux": 1.3, "airfoil": 1.3}
REPEATS = 5
STORED = ("float64", "float32", "float16", "bfloat16")

STREAM = "void triad(const double *a, const double *b, double *c) { *c = *a + 0.5 * *b; }"
FLUX = """
void flux(const double *n, const double *q, double *r) {
  const double gam = 1.4, *l = q, *u = q + 4;
  const double vl = (n[0] * l[1] + n[1] * l[2]) / l[0], vu = (n[0] * u[1] + n[1] * u[2]) / u[0];
  const double pl = (gam - 1) * (l[3] - 0.5 * (l[1] * l[1] + l[2] * l[2]) / l[0]);
  const double pu = (gam - 1) * (u[3] - 0.5 * (u[1] * u[1] + u[2] * u[2]) / u[0]);
  const double speed = fabs(vl) + fabs(vu) + sqrt(gam * pl / l[0]) + sqrt(gam * pu / u[0]);
  double f[4];
  for (int i = 0; i < 4; ++i)
    f[i] = 0.5 * (vl * l[i] + vu * u[i]) - 0.25 * speed * (u[i] - l[i]);
  f[1] += 0.5 * n[0] * (pl + pu);
  f[2] += 0.5 * n[1] * (pl + pu);
  f[3] += 0.5 * (vl * pl + vu * pu);
  for (int i = 0; i < 4; ++i) { r[i] += f[i]; r[4 + i] -= f[i]; }
}
"""


def dat(where: Any, values: Any, stored: str) -> op2.Dat:
    """A Dat with a copy of the values, seen as doubles."""
    return op2.Dat(where, values, stored, compute="float64", copy=True)


def streaming(n: int, stored: str) -> tuple[Callable[[], None], op2.Dat]:
    """A call of the triad over n entities, and the Dat that it writes."""
    cells = op2.Set(n)
    a, b, c = (dat(cells, np.linspace(0, i, n), stored) for i in (1, 2, 3))
    kernel = op2.Kernel(STREAM, "triad")
    return op2.ParLoop(kernel, cells, a(op2.READ), b(op2.READ), c(op2.WRITE)).compute, c


def edge_flux(n: int, stored: str) -> tuple[Callable[[], None], op2.Dat]:
    """A call of the flux over the edges of a grid of some n cells, and the sums."""
    side = max(4, int(n**0.5))
    cell = np.arange(side * side).reshape(side, side)
    right = np.stack([cell[:, :-1].ravel(), cell[:, 1:].ravel()], axis=1)
    above = np.stack([cell[:-1].ravel(), cell[1:].ravel()], axis=1)
    both = np.concatenate([right, above])
    normal = np.repeat([[1.0, 0.0], [0.0, 1.0]], [len(right), len(above)], axis=0)
    order = np.argsort(both[:, 0], kind="stable")
    cells, edges = op2.Set(side * side), op2.Set(len(both))
    ends = op2.Map(edges, cells, 2, both[order])
    state = np.tile([1.0, 0.4, 0.1, 2.6], (side * side, 1))
    state *= 1 + 0.05 * np.sin(np.arange(side * side))[:, None]
    q, r = dat(cells**4, state, stored), dat(cells**4, np.zeros_like(state), stored)
    n_ = dat(edges**2, normal[order], stored)
    kernel = op2.Kernel(FLUX, "flux", headers=["#include <math.h>"])
    args = (n_(op2.READ), q(op2.READ, ends), r(op2.INC, ends))
    return op2.ParLoop(kernel, edges, *args).compute, r


def airfoil(n: int, stored: str) -> tuple[Callable[[], None], op2.Dat]:
    """An iteration on a mesh of some n cells, and the state."""
    width = max(4, int((n / 1.5) ** 0.5))
    problem = Airfoil(airfoil_arrays(width, 3 * width // 2), stored=stored)
    return problem.iterate, problem.q


MEASURED = {"streaming": streaming, "edge flux": edge_flux, "airfoil": airfoil}


def seconds(call: Callable[[], None], written: op2.Dat, n: int) -> float:
    """Seconds of one of n calls; the last one has ended."""
    start = time.perf_counter()
    for _ in range(n):
        call()
    if runtime.device is not None:  # it may still be at work
        written.max()
    return (time.perf_counter() - start) / n


def main() -> None:
    """Print a row for each measurement."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="openmp", help="default: %(default)s")
    parser.add_argument("--n", type=int, default=1_000_000, help="entities; default: %(default)s")
    parser.add_argument("--calls", type=int, default=20, help="of a repeat; default: %(default)s")
    options = parser.parse_args()
    op2.init(backend=options.backend)
    print(f"{options.backend}, {options.n} entities: ms of a call, ratios, largest difference")
    print(
        f"{'':<12}{'memory':<10}{'ms':>9}{'double':>8}{'float32':>9}{'goal':>6}{'difference':>12}"
    )
    for name, make in MEASURED.items():
        made = [make(options.n, stored) for stored in STORED]
        for call, written in made:
            seconds(call, written, 1)
        double, *others = (written.data_ro.astype(float) for _, written in made)
        errors = [np.abs(double - one).max() / max(np.abs(double).max(), 1e-300) for one in others]
        best = [float("inf")] * len(made)
        for _ in range(REPEATS):
            for i, (call, written) in enumerate(made):
                best[i] = min(best[i], seconds(call, written, options.calls))
        for stored, least, error in zip(STORED, best, [0.0, *errors], strict=True):
            goal = f"{GOALS[name]:>6.1f}" if stored == "float32" else " " * 6
            print(
                f"{name:<12}{stored:<10}{1e3 * least:>9.3f}{best[0] / least:>8.2f}"
                f"{best[1] / least:>9.2f}{goal}{error:>12.1e}"
            )


if __name__ == "__main__":
    main()
