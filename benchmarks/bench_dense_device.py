#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Dense algebra of each element on a device, as per cent of a copy of the same memory.

Products and solves by functions of kernels, and products written as sums, with values of an element
together (aos) or apart (soa), and by a team of lanes for each element. All in one run.
"""

from __future__ import annotations

import argparse
import time

from pyop2cxx import op2
from pyop2cxx.exceptions import UnsupportedError
from pyop2cxx.op2 import READ, WRITE

TEXTS = {
    "op2_gemm": """void f(const double *a, const double *b, double *c) {{
      op2_gemm({n}, {n}, {n}, a, b, c);
    }}""",
    "sums": """void f(const double *a, const double *b, double *c) {{
      for (int i = 0; i < {n}; ++i) for (int j = 0; j < {n}; ++j) {{
        double s = 0;
        for (int k = 0; k < {n}; ++k) s += a[{n} * i + k] * b[{n} * k + j];
        c[{n} * i + j] = s;
      }}
    }}""",
    "op2_spd_solve": """void f(const double *a, const double *b, double *c) {{
      double x[{n}];
      for (int i = 0; i < {n}; ++i) x[i] = b[i];
      op2_spd_solve({n}, a, x);
      for (int i = 0; i < {n}; ++i) c[i] = x[i];
    }}""",
    "op2_solve": """void f(const double *a, const double *b, double *c) {{
      double x[{n}];
      for (int i = 0; i < {n}; ++i) x[i] = b[i];
      op2_solve({n}, a, x);
      for (int i = 0; i < {n}; ++i) c[i] = x[i];
    }}""",
    "op2_gemv": """void f(const double *a, const double *b, double *c) {{
      op2_gemv({n}, {n}, a, b, c);
    }}""",
}
START = """void start(double *a) {{
  for (int i = 0; i < {n}; ++i)
    for (int j = 0; j < {n}; ++j) a[{n} * i + j] = i == j ? {diagonal} : 1.0 / (1 + i + j);
}}"""


def seconds(call: op2.ParLoop, repeats: int) -> float:
    """The fastest call."""
    best = float("inf")
    for turn in range(repeats + 1):
        start = time.perf_counter()
        call.compute()
        op2.wait()
        if turn:
            best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    """Print a row for each function, size and layout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--sizes", type=int, nargs="+", default=[4, 8, 16, 24, 32])
    parser.add_argument("--only", nargs="+", default=[*TEXTS])
    parser.add_argument("--megabytes", type=float, default=2000.0)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    op2.init(backend=given.backend)
    n_copied = int(given.megabytes * 1e6 / 16)
    cells = op2.Set(n_copied)
    x, y = op2.Dat(cells), op2.Dat(cells)
    copy = op2.Kernel("void copy(double *y, const double *x) { *y = *x; }", "copy")
    took = seconds(op2.ParLoop(copy, cells, y(WRITE), x(READ)), given.repeats)
    rate = 16 * n_copied / took
    del x, y
    print(f"copy: {rate / 1e9:.0f} GB/s; per cent of it: aos, soa, team")
    for name in given.only:
        for n in given.sizes:
            is_vector = name != "op2_gemm" and name != "sums"
            sizes = (n * n, n, n) if is_vector else (n * n,) * 3
            count = int(given.megabytes * 1e6 / 8 / sum(sizes))
            cells = op2.Set(count)
            row = []
            start = op2.Kernel(START.format(n=n, diagonal=2 * n), "start")
            for layout, strategy in (("aos", "direct"), ("soa", "direct"), ("aos", "team")):
                dats = [op2.Dat(cells**size, layout=layout) for size in sizes]
                op2.par_loop(start, cells, dats[0](WRITE))
                loop = op2.ParLoop(
                    op2.Kernel(TEXTS[name].format(n=n), "f"),
                    cells,
                    *(dat(access) for dat, access in zip(dats, (READ, READ, WRITE), strict=True)),
                    strategy=strategy,
                )
                try:
                    took = seconds(loop, given.repeats)
                    row.append(f"{100 * 8 * count * sum(sizes) / took / rate:6.1f}")
                except UnsupportedError:
                    row.append("     -")
                del dats, loop
            print(f"{name:14s} {n:3d}  " + " ".join(row), flush=True)


if __name__ == "__main__":
    main()
