#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Small dense algebra on every element: the rule's choice of lanes against the best, in one run.

Products of matrices with the inner loop along rows or as a sum, solves by Cholesky factors, and one
operator for all elements. CPU milliseconds of one thread, the least of some repeats taken by turns,
so that busy neighbours disturb all settings alike. The rule's time over the best should not exceed
1.5.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import op2
from pyop2cxx.op2 import READ, WRITE

if TYPE_CHECKING:
    from collections.abc import Iterator

GOAL = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Dense:
    """A kernel, its operations a call, and what it is called with."""

    name: str
    text: str
    n_operations: float
    shapes: dict[str, int]
    shared: dict[str, int]
    written: str

    def loop(self, megabytes: float, lanes: int | None) -> op2.ParLoop:
        """The loop over as many elements as fill so much memory."""
        n = max(int(megabytes * 1e6 / 8 / sum(self.shapes.values())), 64)
        rng = np.random.default_rng(1)
        cells = op2.Set(n)
        args: list[Any] = []
        for name, size in self.shapes.items():
            values = (
                np.zeros((n, size)) if name == self.written else self.values(rng, n, name, size)
            )
            args.append(op2.Dat(cells**size, values)(WRITE if name == self.written else READ))
        args += [op2.Global(k, rng.standard_normal(k))(READ) for k in self.shared.values()]
        return op2.ParLoop(op2.Kernel(self.text, "dense"), cells, *args, lanes=lanes)

    @staticmethod
    def values(rng: np.random.Generator, n: int, name: str, size: int) -> np.ndarray:
        """Random values; where a matrix is factored it is positive."""
        if name != "spd":
            return rng.standard_normal((n, size))
        k = round(size**0.5)
        half = rng.standard_normal((n, k, k))
        return (half @ half.transpose(0, 2, 1) + k * np.eye(k)).reshape(n, size)


def along_rows(n: int) -> Dense:
    """C = A B, the inner loop along a row of B and of C."""
    text = f"""
    void dense(const double *a, const double *b, double *c) {{
      for (int i = 0; i < {n}; ++i) {{
        for (int j = 0; j < {n}; ++j) c[{n} * i + j] = 0;
        for (int k = 0; k < {n}; ++k)
          for (int j = 0; j < {n}; ++j) c[{n} * i + j] += a[{n} * i + k] * b[{n} * k + j];
      }}
    }}"""
    return product(f"GEMM along rows {n}", n, text)


def by_row(n: int) -> Dense:
    """C = A B, each row of C in an array of its own until it is complete."""
    text = f"""
    void dense(const double *a, const double *b, double *c) {{
      for (int i = 0; i < {n}; ++i) {{
        double row[{n}];
        for (int j = 0; j < {n}; ++j) row[j] = 0;
        for (int k = 0; k < {n}; ++k)
          for (int j = 0; j < {n}; ++j) row[j] += a[{n} * i + k] * b[{n} * k + j];
        for (int j = 0; j < {n}; ++j) c[{n} * i + j] = row[j];
      }}
    }}"""
    return product(f"GEMM row by row {n}", n, text)


def as_sums(n: int) -> Dense:
    """C = A B, the inner loop a sum in a variable."""
    text = f"""
    void dense(const double *a, const double *b, double *c) {{
      for (int i = 0; i < {n}; ++i)
        for (int j = 0; j < {n}; ++j) {{
          double sum = 0;
          for (int k = 0; k < {n}; ++k) sum += a[{n} * i + k] * b[{n} * k + j];
          c[{n} * i + j] = sum;
        }}
    }}"""
    return product(f"GEMM as sums {n}", n, text)


def product(name: str, n: int, text: str) -> Dense:
    sizes = {"a": n * n, "b": n * n, "c": n * n}
    return Dense(
        name=name, text=text, n_operations=2.0 * n**3, shapes=sizes, shared={}, written="c"
    )


def cholesky(n: int) -> Dense:
    """Solve A x = b by factors of a copy of A."""
    text = f"""
    #include <math.h>
    void dense(const double *spd, const double *b, double *x) {{
      double l[{n * n}];
      for (int i = 0; i < {n}; ++i) {{
        for (int j = 0; j <= i; ++j) {{
          double s = spd[{n} * i + j];
          for (int k = 0; k < j; ++k) s -= l[{n} * i + k] * l[{n} * j + k];
          if (i == j) l[{n} * i + i] = sqrt(s);
          else l[{n} * i + j] = s / l[{n} * j + j];
        }}
      }}
      for (int i = 0; i < {n}; ++i) {{
        double s = b[i];
        for (int k = 0; k < i; ++k) s -= l[{n} * i + k] * x[k];
        x[i] = s / l[{n} * i + i];
      }}
      for (int i = {n} - 1; i >= 0; --i) {{
        double s = x[i];
        for (int k = i + 1; k < {n}; ++k) s -= l[{n} * k + i] * x[k];
        x[i] = s / l[{n} * i + i];
      }}
    }}"""
    return Dense(
        name=f"Cholesky solve {n}",
        text=text,
        n_operations=n**3 / 3 + 2.0 * n * n,
        shapes={"spd": n * n, "b": n, "x": n},
        shared={},
        written="x",
    )


def operator(n: int) -> Dense:
    """One M for all elements: y = M x."""
    text = f"""
    void dense(const double *x, double *y, const double *m) {{
      for (int i = 0; i < {n}; ++i) {{
        double sum = 0;
        for (int j = 0; j < {n}; ++j) sum += m[{n} * i + j] * x[j];
        y[i] = sum;
      }}
    }}"""
    return Dense(
        name=f"operator {n}",
        text=text,
        n_operations=2.0 * n * n,
        shapes={"x": n, "y": n},
        shared={"m": n * n},
        written="y",
    )


def function_product(n: int) -> Dense:
    """C = A B by `op2_gemm`."""
    text = f"""void dense(const double *a, const double *b, double *c) {{
      op2_gemm({n}, {n}, {n}, a, b, c);
    }}"""
    return product(f"op2_gemm {n}", n, text)


def function_solve(n: int, name: str) -> Dense:
    """Solve A x = b by `op2_solve` or `op2_spd_solve`."""
    text = f"""
    void dense(const double *spd, const double *b, double *x) {{
      double y[{n}];
      for (int i = 0; i < {n}; ++i) y[i] = b[i];
      {name}({n}, spd, y);
      for (int i = 0; i < {n}; ++i) x[i] = y[i];
    }}"""
    return Dense(
        name=f"{name} {n}",
        text=text,
        n_operations=n**3 / (3 if "spd" in name else 1.5) + 2.0 * n * n,
        shapes={"spd": n * n, "b": n, "x": n},
        shared={},
        written="x",
    )


def kernels() -> Iterator[Dense]:
    """All that are measured."""
    for n in (4, 8, 12, 16, 24):
        yield function_product(n)
    for n in (4, 8, 16):
        yield function_solve(n, "op2_spd_solve")
        yield function_solve(n, "op2_solve")
    for n in (3, 4, 8, 16):
        yield along_rows(n)
        yield by_row(n)
        yield as_sums(n)
    for n in (3, 4, 10, 16):
        yield cholesky(n)
    for n in (4, 20):
        yield operator(n)


def least_ms(loops: list[op2.ParLoop], repeats: int) -> list[float]:
    """CPU milliseconds of the fastest call of each loop, taken by turns."""
    best = [float("inf")] * len(loops)
    for turn in range(repeats + 1):
        for i, loop in enumerate(loops):
            start = time.thread_time()
            loop.compute()
            if turn > 0:
                best[i] = min(best[i], 1e3 * (time.thread_time() - start))
    return best


def main() -> None:
    """Print a row a kernel."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lanes", type=int, nargs="+", default=[0, 2, 4, 8])
    parser.add_argument("--megabytes", type=float, default=4.0, help="of the values of a loop")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--cc", default="", help="the C compiler")
    parser.add_argument("--only", default="", help="kernels whose name contains this")
    given = parser.parse_args()
    op2.init(backend="sequential", **({"cc": given.cc} if given.cc else {}))
    names = " ".join(f"{lanes} lanes".rjust(9) for lanes in given.lanes)
    print(f"{'ms':20s} {names}  rule  rule/best  GF/s of the best")
    worst = 0.0
    for dense in kernels():
        if given.only not in dense.name:
            continue
        loops = [dense.loop(given.megabytes, lanes) for lanes in given.lanes]
        chosen = dense.loop(given.megabytes, None).generate().lanes
        times = dict(zip(given.lanes, least_ms(loops, given.repeats), strict=True))
        best = min(times.values())
        ratio = times[chosen] / best
        worst = max(worst, ratio)
        rate = dense.n_operations * loops[0].iterset.size / best / 1e6
        columns = " ".join(f"{times[lanes]:9.3f}" for lanes in given.lanes)
        print(f"{dense.name:20s} {columns}  {chosen:4d}  {ratio:9.2f}  {rate:6.1f}", flush=True)
    print(f"the rule is at worst {worst:.2f} times the best; the goal is {GOAL}")


if __name__ == "__main__":
    main()
