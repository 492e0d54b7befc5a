# SPDX-License-Identifier: BSD-3-Clause
"""Triangles or quadrilaterals with the edges between them, and a chain that reads nodes of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from ring import kernel

from pyop2cxx import op2

if TYPE_CHECKING:
    from pyop2cxx.base.arrays import Array

FLUX = kernel(
    "void flux(const double *x, const double *q, double *r) {"
    " double dx = x[0] - x[2], dy = x[1] - x[3];"
    " double f = dx * (q[0] + q[2]) - dy * (q[1] - q[3]) + 0.25 * x[0] * q[3];"
    " r[0] += f; r[1] -= f; }"
)
STEPS = {
    n: kernel(
        "void advance(const double *x, double *r, const double *q, double *p) {"
        f" double area = 0; for (int i = 0; i < {n}; ++i) {{"
        f" int j = (i + 1) % {n};"
        " area += x[2 * i] * x[2 * j + 1] - x[2 * j] * x[2 * i + 1]; }"
        " p[0] = q[0] + 0.01 * r[0]; p[1] = q[1] + 0.01 * area * r[0]; r[0] = 0; }"
    )
    for n in (3, 4)
}


def _corners(n: int, n_corners: int) -> Array:
    """Return the nodes of the cells of a square, in cycles that begin and turn alike."""
    at = np.arange((n + 1) ** 2).reshape(n + 1, n + 1)
    squares = np.stack([at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]], axis=-1).reshape(-1, 4)
    halves = [squares[:, [0, 1, 2]], squares[:, [0, 2, 3]]]
    return squares if n_corners == 4 else np.concatenate(halves)


def _turned(cells: Array, rng: np.random.Generator) -> Array:
    """Return the cells in another order, in cycles that begin and turn anyhow."""
    turned = [
        np.roll(cell, rng.integers(len(cell)))[:: rng.choice([-1, 1])]
        for cell in rng.permutation(cells)
    ]
    return np.array(turned)


@dataclass
class Sided:
    """A mesh, its data, and a chain of four loops.

    Attributes:
        n: Squares a side; triangles are halves of them.
        n_corners: 3 or 4.
        n_apart: Edges that have nodes of their own, none of which a cell has.
        seed: Of all that is random.
        is_regular: Whether cells and edges come row by row and turn alike, rather than at random.
    """

    n: int
    n_corners: int = 4
    n_apart: int = 0
    seed: int = 1
    is_regular: bool = False

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        corners = _corners(self.n, self.n_corners)
        if not self.is_regular:
            corners = _turned(corners, rng)
        sides: dict[frozenset[int], list[int]] = {}
        for number, cell in enumerate(corners.tolist()):
            for pair in zip(cell, cell[1:] + cell[:1], strict=True):
                sides.setdefault(frozenset(pair), []).append(number)
        inner = [(sorted(ends), cells) for ends, cells in sides.items() if len(cells) == 2]
        ends, of_cells = (np.array(one) for one in zip(*inner, strict=True))
        if not self.is_regular:
            order = rng.permutation(len(inner))
            ends, of_cells = (rng.permuted(one[order], axis=1) for one in (ends, of_cells))
        n_nodes = (self.n + 1) ** 2
        ends[: self.n_apart] += n_nodes
        self.n_edges = len(ends)
        edges, cells = op2.Set(len(ends), "edges"), op2.Set(len(corners), "cells")
        nodes = op2.Set(2 * n_nodes, "nodes")
        self.e2n = op2.Map(edges, nodes, 2, ends, "e2n")
        self.e2c = op2.Map(edges, cells, 2, of_cells, "e2c")
        self.c2n = op2.Map(cells, nodes, self.n_corners, corners, "c2n")
        self.x = op2.Dat(nodes**2, rng.uniform(-1, 1, (2 * n_nodes, 2)), name="x")
        self.q = op2.Dat(cells**2, rng.uniform(-1, 1, (len(corners), 2)), name="q")
        self.p, self.r = op2.Dat(cells**2, name="p"), op2.Dat(cells, name="r")

    def loops(self, **more: Any) -> list[op2.ParLoop]:
        """Return the loops of two steps, from `q` to `p` and back."""
        made = []
        for old, new in ((self.q, self.p), (self.p, self.q)):
            flux = (self.x(op2.READ, self.e2n), old(op2.READ, self.e2c), self.r(op2.INC, self.e2c))
            step = (self.x(op2.READ, self.c2n), self.r(op2.RW), old(op2.READ), new(op2.WRITE))
            made.append(op2.ParLoop(FLUX, self.e2n.iterset, *flux, **more))
            made.append(op2.ParLoop(STEPS[self.n_corners], self.c2n.iterset, *step))
        return made

    def run(self, **more: Any) -> tuple[Array, Array]:
        """Run all of them once, and return what they made."""
        for loop in self.loops(**more):
            loop.compute()
        return self.p.data_ro.copy(), self.q.data_ro.copy()
