# SPDX-License-Identifier: BSD-3-Clause
"""Wide rows without a Map: lanes of a GPU read and write them together."""

from __future__ import annotations

import numpy as np
import pytest

from pyop2cxx import op2

KERNEL = """
static void wide(const {c} *a, {c} *b, {c} *s, {c} *t, {c} *m) {{
  for (int i = 0; i < {dim}; ++i) {{
    b[i] = 2 * a[{dim} - 1 - i];
    s[i] += a[i];
    t[i] = t[i] * 3 - a[i];
    m[i] = m[i] < a[i] ? m[i] : a[i];
  }}
}}
"""
NAMES = {"float64": "double", "float32": "float", "int32": "int"}


@pytest.mark.parametrize("dim", [2, 3, 7, 8, 12, 17])
@pytest.mark.parametrize("dtype", NAMES)
def test_every_access_to_rows_of_any_width(backend: str, dtype: str, dim: int) -> None:
    kernel = op2.Kernel(KERNEL.format(c=NAMES[dtype], dim=dim), "wide")
    for n in (1, 33, 1000):
        cells = op2.Set(n, "cells")
        rng = np.random.default_rng(n)
        a, b, s, t, m = (
            op2.Dat(cells**dim, rng.integers(-50, 50, (n, dim)).astype(dtype)) for _ in range(5)
        )
        was = [dat.data_ro.copy() for dat in (a, s, t, m)]
        op2.ParLoop(
            kernel,
            cells,
            a(op2.READ),
            b(op2.WRITE),
            s(op2.INC),
            t(op2.RW),
            m(op2.MIN),
            tuning={"exchanged_bytes": 1},
        ).compute()
        assert (b.data_ro == 2 * was[0][..., ::-1]).all()
        assert (s.data_ro == was[1] + was[0]).all()
        assert (t.data_ro == was[2] * 3 - was[0]).all()
        assert (m.data_ro == np.minimum(was[3], was[0])).all()


def test_wide_rows_beside_maps_and_sums(backend: str) -> None:
    """Rows of a Dat without a Map, with gathers, sums through a Map and a Global in one loop."""
    n = 500
    cells, nodes = op2.Set(n, "cells"), op2.Set(n + 1, "nodes")
    ends = op2.Map(cells, nodes, 2, np.stack([np.arange(n), np.arange(1, n + 1)], 1), "ends")
    rng = np.random.default_rng(3)
    x = op2.Dat(nodes, rng.integers(0, 9, n + 1).astype(float), name="x")
    w = op2.Dat(cells**24, rng.integers(0, 9, (n, 24)).astype(float), name="w")
    kept, y = op2.Dat(cells**24, name="kept"), op2.Dat(nodes**3, name="y")
    total = op2.Global(1, 0.0, name="total")
    kernel = op2.Kernel(
        """
static void work(const double *w, const double *x, double *kept, double *y, double *total) {
  for (int i = 0; i < 24; ++i) kept[i] = w[i] * x[i % 2];
  for (int c = 0; c < 3; ++c) {
    y[c] += w[c];
    y[3 + c] += w[3 + c];
  }
  total[0] += kept[23];
}
""",
        "work",
    )
    loop = op2.ParLoop(
        kernel,
        cells,
        w(op2.READ),
        x(op2.READ, ends),
        kept(op2.WRITE),
        y(op2.INC, ends),
        total(op2.INC),
    )
    loop.compute()
    at = np.arange(24) % 2
    wanted = w.data_ro * x.data_ro[ends.values][:, at]
    assert (kept.data_ro == wanted).all()
    assert total.data_ro[0] == wanted[:, 23].sum()
    sums = np.zeros((n + 1, 3))
    np.add.at(sums, ends.values[:, 0], w.data_ro[:, :3])
    np.add.at(sums, ends.values[:, 1], w.data_ro[:, 3:6])
    assert (y.data_ro == sums).all()
