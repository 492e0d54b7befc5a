# SPDX-License-Identifier: BSD-3-Clause
"""Scans by loops over chunks, on the host and on devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.algebra.scans import ScanLoops, chunk_rows
from pyop2cxx.exceptions import UsageError

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


OPERATIONS = {op2.INC: np.add, op2.MIN: np.minimum, op2.MAX: np.maximum}


def _scanned(
    values: NDArray[np.generic], operation: op2.Access, inclusive: bool
) -> NDArray[np.generic]:
    """The same by NumPy, in long double for sums of real numbers."""
    kind, take = values.dtype, OPERATIONS[operation]
    wide = values.astype(np.longdouble) if take is np.add and kind.kind == "f" else values
    sums = take.accumulate(wide, axis=0, dtype=wide.dtype).astype(kind)
    if inclusive:
        return sums
    limits = np.finfo(kind) if kind.kind == "f" else np.iinfo(kind)
    ends = (-np.inf, np.inf) if kind.kind == "f" else (limits.min, limits.max)
    first = {np.add: 0, np.minimum: ends[1], np.maximum: ends[0]}[take]
    return np.concatenate([np.full_like(values[:1], first), sums[:-1]])


@pytest.mark.parametrize("inclusive", [False, True])
@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
@pytest.mark.parametrize("n", [1, 16, 17, 256, 5001])
def test_a_scan_by_an_operation(
    backend: str, n: int, operation: op2.Access, inclusive: bool
) -> None:
    cells = op2.Set(n)
    kinds = (("float64", 1), ("float32", 3), ("int64", 1), ("uint64", 1), ("int8", 2))
    for dtype, dim in kinds:
        values = _values(n, dim, dtype)
        values[n // 2 :] = values[n // 2 :] - values.dtype.type(50)  # negative, or beyond int64
        for is_in_place in (False, True):
            x = op2.Dat(cells**dim, values.copy(), dtype, "x")
            y = x if is_in_place else op2.Dat(cells**dim, None, dtype, "y")
            with op2.graph() as g:
                g.then_scan(x, y, operation, inclusive=inclusive)
            g.instantiate().submit()
            expected = _scanned(values, operation, inclusive)
            if operation == op2.INC and np.dtype(dtype).kind == "f":
                rounding = 64 * np.finfo(dtype).eps
                np.testing.assert_allclose(y.data_ro, expected, rounding, rounding * n)
            else:
                np.testing.assert_array_equal(y.data_ro, expected)


def test_scans_keep_nan_and_convert_on_the_host(backend: str) -> None:
    cells = op2.Set(70)
    values = np.arange(70.0)
    values[33] = np.nan
    x, y, z = op2.Dat(cells, values), op2.Dat(cells), op2.Dat(cells, dtype="float32")
    with op2.graph() as g:
        g.then_scan(x, y, op2.MAX, inclusive=True)
        g.then_scan(x, z, op2.MIN)
    g.instantiate().submit()
    np.testing.assert_array_equal(y.data_ro, np.maximum.accumulate(values))
    expected = np.concatenate([[np.inf], np.minimum.accumulate(values)[:-1]])
    np.testing.assert_array_equal(z.data_ro, expected.astype("float32"))


def test_a_scan_of_two_submits_by_other_data() -> None:
    cells = op2.Set(5)
    x, y, z = (op2.Dat(cells, [3.0, 1.0, 2.0, 5.0, 4.0]) for _ in range(3))
    with op2.graph() as g:
        g.slot(y)
        g.then_scan(x, y, op2.MAX, inclusive=True)
    g.instantiate().bind({y: z}).submit()
    assert z.data_ro.tolist() == [3.0, 3.0, 3.0, 5.0, 5.0]
    assert y.data_ro.tolist() == [3.0, 1.0, 2.0, 5.0, 4.0]


def test_scans_that_make_no_sense_are_refused() -> None:
    cells = op2.Set(5)
    x, c = op2.Dat(cells, name="x"), op2.Dat(cells, dtype="complex128", name="c")
    with op2.graph() as g:
        with pytest.raises(UsageError, match=r"op2.INC for sums, op2.MIN or op2.MAX, got <Acc"):
            g.then_scan(x, x, op2.RW)
        with pytest.raises(UsageError, match=r"op2.MIN or op2.MAX, got 'max'"):
            g.then_scan(x, x, "max")  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="inclusive is True or False, got 1"):
            g.then_scan(x, x, op2.MAX, inclusive=1)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="complex numbers have no MAX; 'c' is complex128"):
            g.then_scan(c, c, op2.MAX)
        g.then_scan(x, x)
