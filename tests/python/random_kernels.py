# SPDX-License-Identifier: BSD-3-Clause
"""Random kernels of doubles and ints, and a loop that calls several of them."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from pyop2cxx import op2
from pyop2cxx.op2 import INC, MAX, READ, RW, WRITE


class Grammar:
    """Random kernels of doubles and ints: branches, loops, arrays, tables, helpers, early ends.

    Values stay small: a sum is damped and a quotient has a divisor of at least one.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = ["p", "r"]
        self.n_loops = 0

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def value(self, depth: int = 3) -> str:
        if depth == 0:
            return self.pick(
                *self.names, "x[0]", "x[1]", "y[2]", "0.5", "table[1][2]", "c[0]", "v[2]", "i[0]"
            )
        a, b = self.value(depth - 1), self.value(depth - 1)
        return self.pick(
            f"0.5 * ({a} + {b})",
            f"({a} - {b}) / 2",
            f"{a} / (1.0 + ({b}) * ({b}))",
            f"sqrt(fabs({a}))",
            f"fmin({a}, {b})",
            f"fmax({a}, {b}) * 0.25",
            f"({self.test(depth - 1)} ? {a} : {b})",
            f"helper(v, {a}, {self.number(depth - 1)})",
            f"table[{self.number(depth - 1)} & 1][{self.number(0)} & 1]",
            f"v[{self.number(depth - 1)} & 3]",
            f"(float)({a}) * 0.5f",
            f"sin({a})",
        )

    def number(self, depth: int = 2) -> str:
        if depth <= 0:
            return self.pick("i[0]", "i[1]", "3", "(int)x[0]", "k")
        a, b = self.number(depth - 1), self.number(depth - 1)
        return self.pick(
            f"(({a}) + ({b})) % 7",
            f"(({a}) ^ ({b}))",
            f"({a}) / (1 + (({b}) & 3))",
            f"(({a}) & 15) << 1",
            f"-(({a}) & 255)",
            f"({self.test(depth - 1)})",
        )

    def test(self, depth: int = 2) -> str:
        if depth <= 0:
            return self.pick("x[0] < y[1]", "i[0] > 0", "c[0] > 0.0", "!(i[1] & 1)")
        return self.pick(
            f"{self.value(depth - 1)} <= {self.value(depth - 1)}",
            f"({self.test(depth - 1)}) && ({self.test(depth - 1)})",
            f"({self.test(depth - 1)}) || i[0] % 3 == 1",
            f"!({self.test(depth - 1)})",
        )

    def statement(self, depth: int = 2) -> str:
        kinds = ["set", "add", "array", "slot", "out", "count"]
        kind = self.random.choice(kinds if depth == 0 else [*kinds, "if", "else", "for", "switch"])
        if kind == "set":
            return f"{self.pick('p', 'r')} = {self.value()};"
        if kind == "add":
            return f"{self.pick('p', 'r')} -= 0.5 * {self.value(2)};"
        if kind == "array":
            return f"v[{self.pick('0', '1', 'k & 3')}] = {self.value(2)};"
        if kind == "slot":
            return f"v[{self.number(1)} & 3] = {self.value(2)};"
        if kind == "out":
            return f"a[{self.pick('0', '1')}] += {self.value(2)};"
        if kind == "count":
            return f"k = {self.number()};"
        if kind == "if":
            return f"if ({self.test()}) {{ {self.block(depth)} }}"
        if kind == "else":
            return f"if ({self.test()}) {{ {self.block(depth)} }} else {{ {self.block(depth)} }}"
        if kind == "switch":
            return (
                f"switch (({self.number(1)}) & 3) {{ case 0: {self.block(0)} break; case 1: "
                f"case 2: {self.block(0)} break; default: {self.block(0)} }}"
            )
        self.n_loops += 1
        j = f"j{self.n_loops}"
        return f"for (int {j} = 0; {j} < 3; ++{j}) {{ {self.block(depth)} p += 0.1 * v[{j}]; }}"

    def block(self, depth: int) -> str:
        return " ".join(self.statement(depth - 1 if depth else 0) for _ in range(2))

    def function(self, name: str) -> str:
        body = "\n  ".join(self.statement() for _ in range(4))
        end = f"if ({self.test()}) return;" if self.random.random() < 0.5 else ""
        return f"""
static void {name}(const double *x, const double *y, const int *i, const double *c, double *a)
{{
  double p = x[0], r = y[0], v[4] = {{0.0}};
  int k = i[0];
  {body}
  {end}
  for (int j = 0; j < 2; ++j) a[j] += 0.125 * v[j] + p * r / (1.0 + p * p + r * r);
  a[1] += k;
}}"""


HEAD = """
static const double table[2][3] = {{0.5, -0.25, 1.0}, {2.0, -1.5, 0.75}};
static double helper(const double *v, double s, int n)
{
  double t = 0.0;
  for (int q = 0; q < 4; ++q) {
    if (v[q] > s) { t += 0.125 * v[q]; } else if (n > q) { t -= 0.0625; }
  }
  if (n == 2) return s;
  return t;
}
"""
KERNELS_IN_ONE = 6


def many_kernels(seed: int, n_kernels: int = KERNELS_IN_ONE) -> str:
    """Several random kernels behind one entry, so that one compilation tries them all."""
    parts = [Grammar(100 * seed + k).function(f"part{k}") for k in range(n_kernels)]
    calls = "\n".join(f"  part{k}(x, y, i, c, b + {2 * k});" for k in range(n_kernels))
    return f"""{HEAD}{"".join(parts)}
static void many(const double *x, const double *y, const int *i, const double *c, double *a,
                 double *w, double *z, double *total, double *most)
{{
  double b[{2 * KERNELS_IN_ONE}] = {{0.0}};
{calls}
  for (int j = 0; j < {2 * KERNELS_IN_ONE}; ++j) a[j] += b[j];
  w[0] = b[0] - b[3];
  z[0] += 0.5 * b[1];
  if (x[0] > 0) z[1] = b[2];
  total[0] += b[4];
  if (b[5] > most[0]) most[0] = b[5];
}}
"""


def carriers(n: int, seed: int) -> dict[str, Any]:
    """Data for the parameters of `many`, by their names, and the Map `c2n`."""
    rng = np.random.default_rng(seed)
    cells, nodes = op2.Set(n), op2.Set(17)
    return {
        "c2n": op2.Map(cells, nodes, 3, rng.integers(0, 17, (n, 3))),
        "x": op2.Dat(nodes, rng.standard_normal(17)),
        "y": op2.Dat(cells**3, rng.standard_normal((n, 3))),
        "i": op2.Dat(cells**2, rng.integers(-9, 9, (n, 2)), dtype=np.int32),
        "c": op2.Global(1, 0.75),
        "a": op2.Dat(nodes ** (2 * KERNELS_IN_ONE // 3)),
        "w": op2.Dat(cells),
        "z": op2.Dat(cells**2, rng.standard_normal((n, 2))),
        "total": op2.Global(1, 1.0),
        "most": op2.Global(1, -1e30),
    }


def loop_of(kernel: op2.Kernel, data: dict[str, Any], lanes: int) -> op2.ParLoop:
    """The loop over all elements that `carriers` made data for."""
    c2n = data["c2n"]
    args = (data["x"](READ, c2n), data["y"](READ), data["i"](READ), data["c"](READ))
    args += (data["a"](INC, c2n), data["w"](WRITE), data["z"](RW))
    args += (data["total"](INC), data["most"](MAX))
    return op2.ParLoop(kernel, c2n.iterset, *args, lanes=lanes)
