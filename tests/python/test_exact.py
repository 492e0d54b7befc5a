# SPDX-License-Identifier: BSD-3-Clause
"""Sums with equal bits on any number of processes, here on a single one."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyop2cxx import _core, op2
from pyop2cxx.data.exact import exact_total
from pyop2cxx.exceptions import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

WIDE = np.random.default_rng(1).standard_normal(3000) * 10.0 ** np.random.default_rng(2).integers(
    -30, 30, 3000
)


@pytest.fixture(autouse=True)
def same_on_ranks() -> Iterator[None]:
    op2.init(deterministic="ranks")
    yield
    op2.init(deterministic=False)


def test_totals_are_the_nearest_numbers() -> None:
    pairs = np.stack([WIDE, WIDE[::-1] * 3], axis=1)
    assert exact_total(pairs, None, "x").tolist() == [fsum(WIDE), fsum(WIDE * 3)]
    found = exact_total((WIDE + 2j * WIDE)[:, None], None, "x")
    assert found.tolist() == [complex(fsum(WIDE), fsum(2 * WIDE))]
    assert exact_total(np.zeros((0, 2)), None, "x").tolist() == [0, 0]
    assert exact_total(np.full((3, 1), 0.1, np.float32), None, "x")[0] == 3 * float(np.float32(0.1))


def test_parts_of_another_shape_are_refused() -> None:
    with pytest.raises(UsageError, match="expected the result of exact_sums"):
        _core.exact_rounded(np.zeros((2, 3), np.int64))


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_sums_norms_and_products(dtype: str) -> None:
    cells = op2.Set(1000)
    values = (
        WIDE[:1000].astype(dtype) if dtype == "float64" else (np.arange(1000) % 7).astype(dtype)
    )
    x = op2.Dat(cells, values, dtype)
    wide = values.astype(np.complex128)
    assert complex(x.sum()) == complex(fsum(wide.real), fsum(wide.imag))
    assert x.norm == np.sqrt(fsum(wide.real * wide.real + 0 * wide.imag))
    y = op2.Dat(cells, values[::-1].copy(), dtype)
    assert complex(x.inner(y)).real == fsum(wide.real * wide.real[::-1])
    g = op2.Global(1, 0, dtype)
    x.inner_into(y, g)
    assert complex(g.data_ro[0]).real == fsum(wide.real * wide.real[::-1])


def test_complex_products_conjugate_the_left() -> None:
    cells = op2.Set(2)
    x, y = (op2.Dat(cells, v, "complex128") for v in ([1 + 2j, 3 - 1j], [2 - 1j, 1j]))
    assert x.inner(y) == np.vdot(x.data_ro, y.data_ro)
    assert x.dot(y) == np.dot(x.data_ro, y.data_ro)


@pytest.mark.parametrize("backend", ["sequential", "openmp", "opencl"])
@pytest.mark.parametrize("way", ["alone", "subset", "chain", "graph", "checked"])
def test_loops_add_to_globals_exactly(backend: str, way: str) -> None:
    if backend not in [one.name for one in op2.backends() if one.available]:
        pytest.skip(f"{backend} is not here")
    cells = op2.Set(3000)
    x, least = op2.Dat(cells, WIDE), op2.Global(1, 0.0)
    g, n = op2.Global(2, [1.0, 2.0]), op2.Global(1, 5, np.int64)
    text = """
    void add(const double *x, double *g, long *n, double *least) {
      g[0] += x[0]; g[1] -= 2 * x[0]; n[0] += 1; if (x[0] < *least) *least = x[0];
    }
    """
    rows = np.arange(0, 3000, 3) if way == "subset" else np.arange(3000)
    iterset = op2.Subset(cells, rows) if way == "subset" else cells
    args = (x(op2.READ), g(op2.INC), n(op2.INC), least(op2.MIN))
    with op2.backend(backend):
        how = {"check": True} if way == "checked" else {}
        loop = op2.ParLoop(op2.Kernel(text, "add"), iterset, *args, **how)
        if way == "chain":
            with op2.chain():
                loop.compute()
        elif way == "graph":
            op2.record(loop.compute).submit()
        else:
            loop.compute()
        total = fsum(WIDE[rows])
        assert g.data_ro.tolist() == [1.0 + total, 2.0 + fsum(-2 * WIDE[rows])]
        assert n.data_ro[0] == 5 + len(rows)
        assert least.data_ro[0] == WIDE[rows].min()


def test_loops_follow_the_option() -> None:
    cells, nodes = op2.Set(200), op2.Set(3)
    ends = op2.Map(cells, nodes, 1, np.arange(200)[:, None] % 3)
    x, y, g = op2.Dat(cells, WIDE[:200]), op2.Dat(nodes), op2.Global(1, 0.0)
    text = "void add(const double *x, double *y, double *g) { y[0] += x[0]; g[0] += x[0]; }"
    with op2.backend("openmp"):
        loop = op2.ParLoop(
            op2.Kernel(text, "add"), cells, x(op2.READ), y(op2.INC, ends), g(op2.INC)
        )
        assert "scratch" in str(loop.explain().strategy)
        loop.compute()
        assert g.data_ro[0] == fsum(WIDE[:200])
        in_order = [sum(WIDE[k:200:3].tolist()) for k in range(3)]
        assert y.data_ro.tolist() == in_order
        op2.init(deterministic=False)
        assert "scratch" not in str(loop.explain().strategy)
        loop.compute()
        np.testing.assert_allclose(g.data_ro[0], 2 * fsum(WIDE[:200]), rtol=1e-12)
