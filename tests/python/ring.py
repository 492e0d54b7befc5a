# SPDX-License-Identifier: BSD-3-Clause
"""Cells in a ring with the edges between them, and loops over both: what chains and graphs do."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import op2
from pyop2cxx.chain.decide import Places
from pyop2cxx.chain.recorder import ChainState
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable

N_CELLS = 64


def record_all_blocks() -> None:
    """Forget which blocks do not pay: all are recorded, however little they save."""
    runtime.of(ChainState).places = Places()


def kernel(code: str) -> op2.Kernel:
    return op2.Kernel(code, code.split("(")[0].split()[-1])


TWICE = kernel("void twice(double *y, const double *x) { y[0] = 2 * x[0]; }")
KEEP = kernel("void keep(double *y, const double *x) { y[0] = x[0]; }")
FRESH = kernel("void fresh(double *y, const double *x) { y[0] = 3 * x[0]; y[0] -= x[0]; }")
LIFTED = kernel(
    "void lifted(double *y, const double *x) { if (x[0] > y[0]) y[0] = x[0]; else y[0] *= 0.5; }"
)
MORE = kernel("void more(double *y) { y[0] += 1; }")
GATHER = kernel("void gather(double *e, const double *x) { e[0] = x[1] - x[0]; }")
SPREAD = kernel(
    "void spread(double *r, const double *x, const double *e) "
    "{ double f = x[0] - 2 * x[1] + e[0]; r[0] += f; r[1] -= f; }"
)
ACROSS = kernel(
    "void across(double *r, const double *x) { double f = 0.5 * x[0] - x[1]; r[0] += f; "
    "r[1] -= f; }"
)
WALL = kernel("void wall(double *r, const double *x) { r[0] += 0.5 * x[0]; }")
STEP = kernel(
    "void advance(double *q, const double *old, double *r, double *s) "
    "{ q[0] = old[0] + 0.1 * r[0]; s[0] += r[0]; r[0] = 0; }"
)
LEAST = kernel("void least(const double *q, double *m) { if (q[0] < m[0]) m[0] = q[0]; }")
SCALED = kernel("void scaled(double *y, const double *m) { y[0] *= m[0]; }")


_SAME = """
static double same(double x)
{
  double y = x;
  for (int i = 0; i < 30; ++i) y = 0.5 * (y + x);
  return y;
}
"""


@cache
def heavy(light: op2.Kernel) -> op2.Kernel:
    """Return a kernel that computes the same to the bit, with so much work that lanes pay."""
    code = re.sub(r"= ([^;=]*[a-z][^;=]*);", r"= same(\1);", light.code)
    return op2.Kernel(f"{_SAME}\n{code}", light.name)


@dataclass
class Ring:
    """Cells in a ring, edges between neighbours, walls at some cells, and a few Dats."""

    strategy: str | None = "owner"
    is_heavy: bool = False
    lanes: int | None = None
    cells: op2.Set = field(default_factory=lambda: op2.Set(N_CELLS, "cells"))

    def __post_init__(self) -> None:
        self.edges = op2.Set(N_CELLS, "edges")
        ends = [[i, (i + 1) % N_CELLS] for i in range(N_CELLS)]
        self.ends = op2.Map(self.edges, self.cells, 2, ends, "ends")
        self.walls = op2.Set(4, "walls")  # two of them at one cell
        self.behind = op2.Map(self.walls, self.cells, 1, [[5], [17], [17], [58]], "behind")
        random = np.random.default_rng(5)
        self.dats = {
            name: op2.Dat(self.cells, random.random(N_CELLS), name=name) for name in "pqrs"
        }
        self.third = op2.Subset(self.cells, list(range(0, N_CELLS, 3)))
        self.same_third = op2.Subset(self.cells, list(range(0, N_CELLS, 3)))
        self.some_edges = op2.Subset(self.edges, list(range(7, 40)))
        self.flux = op2.Dat(self.edges, random.random(N_CELLS), name="flux")
        self.sum = op2.Global(1, 0.0, name="sum")
        self.least = op2.Global(1, 10.0, name="least")

    def loops(self) -> dict[str, tuple[Any, ...]]:
        """Loops by name: kernel, Set and arguments."""
        p, q, r, s = self.dats.values()
        read, write, rw, inc = op2.READ, op2.WRITE, op2.RW, op2.INC
        cells, edges, ends = self.cells, self.edges, self.ends
        made: dict[str, tuple[Any, ...]] = {
            "twice p q": (TWICE, cells, p(write), q(read)),
            "twice q p": (TWICE, cells, q(write), p(read)),
            "twice s q": (TWICE, cells, s(write), q(read)),
            "keep p q": (KEEP, cells, p(write), q(read)),
            "fresh p q": (FRESH, cells, p(rw), q(read)),
            "fresh q p": (FRESH, cells, q(rw), p(read)),
            "lifted p q": (LIFTED, cells, p(rw), q(read)),
            "more q": (MORE, cells, q(rw)),
            "more r": (MORE, cells, r(rw)),
            "gather": (GATHER, edges, self.flux(write), q(read, ends)),
            "spread": (SPREAD, edges, r(inc, ends), q(read, ends), self.flux(read)),
            "spread s": (SPREAD, edges, s(inc, ends), p(read, ends), self.flux(read)),
            "spread across": (ACROSS, edges, r(inc, ends), q(read, ends)),
            "wall": (WALL, self.walls, r(inc, self.behind), q(read, self.behind)),
            "step": (STEP, cells, q(write), p(read), r(rw), self.sum(inc)),
            "least": (LEAST, cells, q(read), self.least(op2.MIN)),
            "more q third": (MORE, self.third, q(rw)),
            "twice p q third": (TWICE, self.same_third, p(write), q(read)),
            "spread some": (SPREAD, self.some_edges, r(inc, ends), q(read, ends), self.flux(read)),
            "scaled": (SCALED, cells, s(rw), self.least(read)),
        }
        if not self.is_heavy:
            return made
        return {name: (heavy(kernel_), *rest) for name, (kernel_, *rest) in made.items()}

    def options(self, name: str) -> dict[str, Any]:
        """How a loop is called."""
        found: dict[str, Any] = {} if self.lanes is None else {"lanes": self.lanes}
        return found | ({"strategy": self.strategy} if name.startswith("spread") else {})

    def run(self, name: str) -> None:
        """Run a loop now."""
        op2.par_loop(*self.loops()[name], **self.options(name))

    def actions(self, *, kept: bool = False) -> dict[str, Callable[[], None]]:
        """Everything that a random chain is made of, by name.

        Args:
            kept: Whether loops are objects that are run again.
        """
        p, q, r, s = self.dats.values()
        loops: dict[str, Callable[[], None]] = {
            name: op2.ParLoop(*loop, **self.options(name)).compute
            if kept
            else partial(op2.par_loop, *loop, **self.options(name))
            for name, loop in self.loops().items()
        }
        return loops | {
            "zero r": r.zero,
            "zero sum": self.sum.zero,
            "set sum": lambda: setattr(self.sum, "data", 0.5),
            "set least": lambda: setattr(self.least, "data", 3.0),
            "read q": lambda: float(q.data_ro[3]),
            "read sum": lambda: float(self.sum.data_ro[0]),
            "set p": lambda: p.data.__setitem__(7, 0.25),
            "axpy": lambda: s.axpy(0.5, p),
            "copy": lambda: p.copy(s),
            "axpy least": lambda: s.axpy(self.least, p),
            "add": lambda: p.__iadd__(q),
            "halve": lambda: q.__itruediv__(2.0),
            "own": lambda: r.axpy(0.25, r),
        }

    def values(self) -> list[np.ndarray]:
        """All values now."""
        carriers = [*self.dats.values(), self.flux, self.sum, self.least]
        return [carrier.data_ro.copy() for carrier in carriers]


def assert_alike(one: Ring, other: Ring) -> None:
    for mine, theirs in zip(one.values(), other.values(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-11, atol=1e-11)
