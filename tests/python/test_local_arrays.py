# SPDX-License-Identifier: BSD-3-Clause
"""Kernels with arrays of their own, compiled as for users."""

from __future__ import annotations

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.op2 import READ, WRITE

N = 50

ROWS = """
for (int k = 0; k < {n}; k++)
    for (int j = k; j < {n}; j++) f[{n} * k + j] *= b[k];
"""
SWAPS = """
for (int k = 0; k < {n}; k++) {{
    const int p = (int)b[k];
    for (int j = k; j < {n}; j++) {{
        const double held = f[{n} * k + j];
        f[{n} * k + j] = f[{n} * p + j];
        f[{n} * p + j] = held;
    }}
}}
"""


@pytest.mark.optimised
@pytest.mark.parametrize("backend", ["sequential", "openmp"])
@pytest.mark.parametrize("steps", [ROWS, SWAPS], ids=["rows", "swaps"])
@pytest.mark.parametrize("n", [9, 11, 12, 19, 27, 35])
def test_rows_from_the_diagonal_on(n: int, steps: str, backend: str) -> None:
    """GCC 12 stored by instructions for aligned addresses: 11, 19, 27 and 35 columns crashed."""
    rng, cells = np.random.default_rng(n), op2.Set(N)
    a, b = rng.random((N, n, n)), rng.integers(0, n, (N, n)).astype("float64")
    text = f"""void k(double *x, const double *a, const double *b) {{
        double f[{n * n}];
        for (int i = 0; i < {n * n}; i++) f[i] = a[i];
        {steps.format(n=n)}
        for (int i = 0; i < {n * n}; i++) x[i] = f[i];
    }}"""
    x = op2.Dat(cells ** (n, n))
    args = x(WRITE), op2.Dat(cells ** (n, n), a)(READ), op2.Dat(cells**n, b)(READ)
    with op2.backend(backend):
        op2.par_loop(op2.Kernel(text, "k"), cells, *args, lanes=0)

    for k in range(n):
        if steps is ROWS:
            a[:, k, k:] *= b[:, k, None]
        else:
            p = b[:, k].astype(int)
            held, given = a[:, k, k:].copy(), a[np.arange(N), p, k:].copy()
            a[:, k, k:] = given
            a[np.arange(N), p, k:] = np.where((p == k)[:, None], given, held)
    np.testing.assert_array_equal(x.data_ro, a)
