# SPDX-License-Identifier: BSD-3-Clause
"""Exclusive sums by loops over chunks, on the host and on devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.algebra.scans import ScanLoops, chunk_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

LENGTHS = [0, 1, 2, 15, 16, 17, 255, 256, 257, 4096, 70_001]


def _values(n: int, dim: int, dtype: str) -> NDArray[np.generic]:
    random = np.random.default_rng(7)
    shape = (n, dim) if dim > 1 else (n,)
    if np.dtype(dtype).kind == "f":
        return (random.random(shape) - 0.3).astype(dtype)
    return random.integers(0, 100, shape).astype(dtype)


def _expected(values: NDArray[np.generic]) -> NDArray[np.generic]:
    sums = np.zeros_like(values)
    wide = values.astype(np.longdouble if values.dtype.kind == "f" else np.uint64)
    if len(values):
        sums[1:] = np.cumsum(wide[:-1], axis=0).astype(values.dtype)
    return sums


def _assert_sums(found: NDArray[np.generic], values: NDArray[np.generic]) -> None:
    if values.dtype.kind == "f":
        rounding = 64 * np.finfo(values.dtype).eps
        np.testing.assert_allclose(
            found, _expected(values), rtol=rounding, atol=rounding * max(1, len(values) ** 0.5)
        )
    else:
        np.testing.assert_array_equal(found, _expected(values))


@pytest.mark.pairwise
@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("n", LENGTHS)
def test_a_scan_of_any_length(backend: str, n: int, in_place: bool) -> None:
    cells = op2.Set(n)
    for dtype, dim in (("float64", 1), ("int32", 1), ("float64", 3)):
        values = _values(n, dim, dtype)
        x = op2.Dat(cells**dim, values.copy(), dtype, "x")
        y = x if in_place else op2.Dat(cells**dim, None, dtype, "y")
        for loop in ScanLoops(x, y).loops:
            loop.compute()
        _assert_sums(y.data_ro, values)
        if not in_place:
            np.testing.assert_array_equal(x.data_ro, values)


@pytest.mark.pairwise
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int64", "uint64", "float32"])
def test_a_scan_of_other_dtypes_wraps_around_as_numpy_does(backend: str, dtype: str) -> None:
    cells = op2.Set(1000)
    values = _values(1000, 1, dtype)
    x, y = op2.Dat(cells, values, dtype, "x"), op2.Dat(cells, None, dtype, "y")
    with op2.graph() as g:
        g.then_scan(x, y)
    graph = g.instantiate()
    for _ in range(3):
        graph.submit()
    _assert_sums(y.data_ro, values)


@pytest.mark.parametrize("layout", ["aos", "soa"])
def test_a_scan_is_a_part_of_its_piece(backend: str, layout: str) -> None:
    cells, n = op2.Set(5000), 5000
    more = op2.Kernel("void more(double *x) { x[0] += 1; x[1] += 2; }", "more")
    values = _values(n, 2, "float64")
    x = op2.Dat(cells**2, values.copy(), name="x", layout=layout)
    y = op2.Dat(cells**2, name="y", layout=layout)
    with op2.graph() as g:
        g.then(more, cells, x(op2.RW)).then_scan(x, y).then_scan(y, y)
    graph = g.instantiate()
    assert graph.stats().segments == 1
    found = []
    for _ in range(3):
        x.data[:] = values
        graph.submit(1)
        found.append(y.data_ro.copy())
    one = _expected(values + np.array([1, 2]))
    np.testing.assert_allclose(found[0], _expected(one), rtol=1e-9)
    assert all((other == found[0]).all() for other in found)  # bit by bit


def test_chunks_are_what_memory_hands_out_together() -> None:
    assert [chunk_rows(n) for n in (1, 4, 8, 24, 1000)] == [64, 32, 16, 5, 4]
