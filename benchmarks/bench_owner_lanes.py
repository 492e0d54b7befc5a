#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Strategy `owner` on lanes: a target in each, by columns of one slot, against incidences in turn.

CPU milliseconds of one thread, the least of some repeats, all forms of a loop by turns in one run;
how full the columns are; and what the rule takes. The last time is the same loop without owners.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from bench_assembly import quadratic_nodes
from bench_lanes import (
    LAPLACE,
    PRISM,
    Airfoil,
    heavy_prism_kernel,
    helmholtz_kernel,
    matrices,
    tetrahedra,
)

from pyop2cxx import _core, op2
from pyop2cxx.mesh import airfoil_arrays, square_arrays
from pyop2cxx.op2 import INC, READ

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

FLUX = """
static void flux(const double *x, const double *q, double *r)
{
  const double dx = x[2] - x[0], dy = x[3] - x[1];
  for (int k = 0; k < 3; ++k) {
    const double f = 0.5 * (dy * (q[k] + q[3 + k]) - dx * (q[k] * q[3] - q[0] * q[3 + k]));
    r[k] += f;
    r[3 + k] -= f;
  }
}"""
Loop = tuple[str, op2.Kernel, op2.Set, tuple[Any, ...]]


def as_is(rows: NDArray[Any]) -> NDArray[Any]:
    """A mesh whose elements all name their corners in the same order."""
    return rows


def shuffled(rows: NDArray[Any]) -> NDArray[Any]:
    """A mesh whose elements name their corners in any order."""
    return np.random.default_rng(0).permuted(rows, axis=1)


def square(n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Two triangles in each of n^2 squares: corners, and coordinates."""
    mesh = square_arrays(n)
    return mesh.cell2vertex, mesh.x


def sides(cells: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The inner edges of triangles: their ends and their two cells."""
    ends = np.sort(np.concatenate([cells[:, [0, 1]], cells[:, [1, 2]], cells[:, [0, 2]]]), 1)
    order = np.lexsort(ends.T[::-1])
    same = np.flatnonzero((ends[order[:-1]] == ends[order[1:]]).all(1))
    both = np.stack([order[same], order[same + 1]], 1) % len(cells)
    order = np.argsort(both.min(1), kind="stable")
    return ends[np.lexsort(ends.T[::-1])][same][order], both[order]


def loops(scale: float) -> Iterator[Loop]:
    """Yield airfoil's fluxes, a flux between triangles, and actions of finite elements."""
    problem = Airfoil(airfoil_arrays(int(600 * scale), int(1200 * scale)))
    res = problem.res_calc
    yield "res_calc", res.kernel, res.iterset, res.args
    for name, order in (("", as_is), (", any order", shuffled)):
        cells, x = square(int(500 * scale))
        ends, beside = sides(cells)
        edges, triangles, points = op2.Set(len(ends)), op2.Set(len(cells)), op2.Set(len(x))
        e2p, e2c = op2.Map(edges, points, 2, ends), op2.Map(edges, triangles, 2, order(beside))
        q = op2.Dat(triangles**3, np.random.default_rng(1).random((len(cells), 3)))
        args = (op2.Dat(points**2, x)(READ, e2p), q(READ, e2c), op2.Dat(triangles**3)(INC, e2c))
        yield f"flux between triangles{name}", op2.Kernel(FLUX, "flux"), edges, args
    for name, order in (("", as_is), (", any order", shuffled)):
        cells, x = square(int(500 * scale))
        yield action(f"P1 action, triangles{name}", op2.Kernel(LAPLACE, "laplace"), order(cells), x)
    _, _, cells, x = tetrahedra(int(32 * scale))
    for name, order in (("", as_is), (", any order", shuffled)):
        for degree, n_dofs, n_points in ((1, 4, 1), (2, 10, 14)):
            tets = order(cells)
            dofs = tets if degree == 1 else quadratic_nodes(tets)[0]
            kernel = op2.Kernel(helmholtz_kernel(n_dofs, n_points)[0], "helmholtz")
            yield action(f"Helmholtz P{degree}{name}", kernel, tets, x, dofs)
    yield from matrices(int(500 * scale), int(16 * scale))
    for name, text in (("light", PRISM), ("heavy", heavy_prism_kernel()[0])):
        yield prisms(f"{name} prisms, 20 layers", op2.Kernel(text, "prism"), int(40 * scale))


def action(
    name: str,
    kernel: op2.Kernel,
    corners: NDArray[Any],
    x: NDArray[Any],
    dofs: NDArray[Any] | None = None,
) -> Loop:
    """A loop that reads coordinates and a vector, and adds to another one."""
    dofs = corners if dofs is None else dofs
    cells, points, unknowns = op2.Set(len(corners)), op2.Set(len(x)), op2.Set(int(dofs.max()) + 1)
    c2p = op2.Map(cells, points, corners.shape[1], corners)
    c2u = op2.Map(cells, unknowns, dofs.shape[1], dofs)
    u = op2.Dat(unknowns, np.ones(unknowns.size))
    args = (op2.Dat(points ** x.shape[1], x)(READ, c2p), u(READ, c2u))
    return name, kernel, cells, (*args, op2.Dat(unknowns)(INC, c2u))


def prisms(name: str, kernel: op2.Kernel, n: int, layers: int = 20) -> Loop:
    """Columns of prisms over triangles."""
    triangles, x = square(n)
    cells = op2.ExtrudedSet(op2.Set(len(triangles)), layers=layers + 1)
    points = op2.Set(len(x) * (layers + 1))
    foot = triangles * (layers + 1)
    corners = np.stack([foot, foot + 1], 2).reshape(-1, 6)
    c2p = op2.Map(cells, points, 6, corners, offset=[1] * 6)
    places = op2.Dat(points**3, np.random.default_rng(0).random((points.size, 3)))
    u, y = op2.Dat(points, np.ones(points.size)), op2.Dat(points)
    return name, kernel, cells, (places(READ, c2p), u(READ, c2p), y(INC, c2p))


def made(loop: Loop, strategy: str | None, lanes: int | None, least: float) -> op2.ParLoop:
    """The loop, by slot if its columns are at least so full."""
    _, kernel, cells, args = loop
    real = _core.least_fill
    _core.least_fill = lambda _: least
    try:
        built = op2.ParLoop(kernel, cells, *args, strategy=strategy, lanes=lanes)
        built.compute()
        return built
    finally:
        _core.least_fill = real


def report(loop: Loop, repeats: int) -> None:
    """Print one row."""
    forms = {"scalar": made(loop, "owner", 0, 0.0)}
    for lanes in (4, 8):
        forms[f"in turn {lanes}"] = made(loop, "owner", lanes, 2.0)
        forms[f"by slot {lanes}"] = made(loop, "owner", lanes, 0.0)
    forms["no owners"] = made(loop, None, None, 0.0)
    least = dict.fromkeys(forms, float("inf"))
    for _ in range(repeats):
        for name, form in forms.items():
            start = time.thread_time()
            form.compute()
            least[name] = min(least[name], time.thread_time() - start)
    _, kernel, cells, args = loop
    rule = op2.ParLoop(kernel, cells, *args, strategy="owner").explain()
    times = "  ".join(f"{name} {1e3 * value:7.2f}" for name, value in least.items())
    bytes_ = [forms[f"{name} 8"].prepared.plan_bytes / 1e6 for name in ("in turn", "by slot")]
    print(f"{loop[0]:36s} {times}  plan {bytes_[0]:.0f} and {bytes_[1]:.0f} MB")
    print(f"    rule: {rule.lanes or 'no'} lanes: {rule.why_lanes}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--scale", type=float, default=1.0, help="of the meshes' sides")
    parser.add_argument("--cc", default="gcc")
    options = parser.parse_args()
    op2.init(backend="sequential", cc=options.cc)
    for loop in loops(options.scale):
        report(loop, options.repeats)


if __name__ == "__main__":
    main()
