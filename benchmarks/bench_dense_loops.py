#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`op2.dense` on all elements against libraries for batches of matrices, in one run.

On the host, against NumPy: `numpy.linalg.solve`, `numpy.linalg.inv` and `numpy.matmul` on the same
arrays. On the backend `cuda` products against cuBLAS, and all against NumPy on the host. Columns
are milliseconds of the loop and of the library, the least of some repeats taken by turns, and how
many times as fast the loop is. One thread of each: set OPENBLAS_NUM_THREADS=1 and `--threads 1`.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import op2
from pyop2cxx.exceptions import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Ways = tuple[str, float, Callable[[str], Any], Callable[[], Any]]

SYSTEMS = ("solve", "spd")
GOAL = 5.0
"""The least ratio of systems of 4 to 16 rows on a host; the issue of dense elements asks for it."""


def ways(n: int, megabytes: float, dtype: str) -> Iterator[Ways]:
    """Yield name, operations an element, a call by a provider, and NumPy's call."""
    count = max(int(megabytes * 1e6 / np.dtype(dtype).itemsize / n**2), 64)
    rng, cells = np.random.default_rng(1), op2.Set(count)
    a, b = (rng.standard_normal((count, *shape)).astype(dtype) for shape in ((n, n), (n,)))
    s = (a @ a.transpose(0, 2, 1) + n * np.eye(n)).astype(dtype)
    A, S, B = (op2.Dat(cells**shape, v) for shape, v in (((n, n), a), ((n, n), s), (n, b)))
    X, x = op2.Dat(cells ** (n, n), dtype=dtype), op2.Dat(cells**n, dtype=dtype)
    info = op2.Dat(cells, dtype="int32")
    dense, right = op2.dense, b[..., None]
    cube = float(n**3)
    yield (
        "solve",
        2 * cube / 3,
        lambda way: dense.solve(A, B, x, info=info, provider=way),
        lambda: np.linalg.solve(a, right),
    )
    yield (
        "spd",
        cube / 3,
        lambda way: dense.solve(S, B, x, spd=True, info=info, provider=way),
        lambda: np.linalg.solve(s, right),
    )
    yield (
        "inverse",
        2 * cube,
        lambda way: dense.inverse(A, X, info=info, provider=way),
        lambda: np.linalg.inv(a),
    )
    yield (
        "A B",
        2 * cube,
        lambda way: dense.multiply(A, S, X, provider=way),
        lambda: np.matmul(a, s),
    )
    yield (
        "A x",
        2.0 * n * n,
        lambda way: dense.multiply(A, B, x, provider=way),
        lambda: np.matmul(a, right),
    )


def least(calls: list[Callable[[], Any]], repeats: int) -> list[float]:
    """Return milliseconds of the fastest call of each; of four calls in a turn the last three."""
    best = [float("inf")] * len(calls)
    for _ in range(repeats):
        for i, call in enumerate(calls):
            for turn in range(4):
                op2.wait()
                start = time.perf_counter()
                call()
                op2.wait()
                if turn > 0:
                    best[i] = min(best[i], 1e3 * (time.perf_counter() - start))
    return best


def main() -> None:
    """Print a row for each function and size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="sequential")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--sizes", type=int, nargs="+", default=[4, 8, 12, 16, 24, 32, 64])
    parser.add_argument("--dtype", default="float64")
    parser.add_argument("--megabytes", type=float, default=4.0, help="of the matrices of a call")
    parser.add_argument("--repeats", type=int, default=9)
    given = parser.parse_args()
    op2.init(backend=given.backend, threads=given.threads, blas="auto")
    print(f"{'':8s}   n   loop ms  GF/s  NumPy ms  ratio   cuBLAS ms  ratio")
    worst = float("inf")
    for n in given.sizes:
        for name, operations, call, by_numpy in ways(n, given.megabytes, given.dtype):
            calls: list[Callable[[], Any]] = [lambda call=call: call("loop"), by_numpy]  # type: ignore[misc]
            try:
                call("cublas")
                calls.append(lambda call=call: call("cublas"))  # type: ignore[misc]
            except UsageError:
                pass
            loop, numpy, *cublas = least(calls, given.repeats)
            count = max(int(given.megabytes * 1e6 / np.dtype(given.dtype).itemsize / n**2), 64)
            others = "".join(f"   {one:9.3f}  {one / loop:5.2f}" for one in cublas)
            rate = operations * count / loop / 1e6
            row = f"{loop:9.3f} {rate:5.1f}  {numpy:8.3f}  {numpy / loop:5.2f}{others}"
            print(f"{name:8s} {n:3d} {row}", flush=True)
            if name in SYSTEMS and 4 <= n <= 16:
                worst = min(worst, numpy / loop)
    print(f"systems of 4 to 16 rows: at least {worst:.1f} times NumPy; the goal is {GOAL}")


if __name__ == "__main__":
    main()
