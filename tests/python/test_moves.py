# SPDX-License-Identifier: BSD-3-Clause
"""Values moved between dtypes: equal to NumPy's, and refused where they would not be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pyop2cxx import op2
from pyop2cxx.base.arrays import DTYPES
from pyop2cxx.base.conversions import first_unfit
from pyop2cxx.base.moves import first_unfit_row, move_between
from pyop2cxx.exceptions import DataValueError, UsageError

PAIRS = [(a, b) for a in DTYPES for b in DTYPES]
KEPT = [(a, b) for a, b in PAIRS if not np.dtype(a).kind == "c" != np.dtype(b).kind]
"""Those by which no imaginary parts would be lost."""
SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 0.5, 3.4028235677973366e38, 3.4028234663852886e38, 1e-46]


def special(dtype: str) -> np.ndarray[Any, Any]:
    """Values at the ends of all ranges, as far as a dtype has them."""
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        ends = [2**b + d for b in (7, 8, 15, 16, 24, 31, 32, 53, 63, 64) for d in (-2, -1, 0, 1)]
        info = np.iinfo(kind)
        held = {info.min, info.max} | {n for n in ends if n <= info.max}
        held |= {-n for n in ends if -n >= info.min}
        return np.array(sorted(held), kind)
    ends = [float(2**b) for b in (7, 8, 15, 16, 24, 31, 32, 53, 63, 64)]
    near = [np.nextafter(x, x * d) for x in ends for d in (0, 2)]
    with np.errstate(over="ignore"):
        real = np.array([*ends, *near, *SPECIAL], np.float64)
        real = np.concatenate([real, -real])
        if kind.kind != "c":
            return real.astype(kind)
        pairs = np.empty(len(real), np.complex128)  # products with 1j would make NaN of infinity
        pairs.real, pairs.imag = real, real[::-1]
        return pairs.astype(kind)


def held(values: Any, target: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Say of each value whether NumPy's `astype` keeps it, but for rounding."""
    if values.dtype.kind == "c":
        part = np.empty(0, target).real.dtype
        return held(values.real, part) & held(values.imag, part)  # type: ignore[no-any-return]
    if target.kind == "c":
        return held(values, np.empty(0, target).real.dtype)
    if target.kind == "f":
        with np.errstate(over="ignore"):
            return np.isfinite(values.astype(target)) | ~np.isfinite(values)
    info = np.iinfo(target)
    numbers = [int(v) if v == v and abs(v) != np.inf else None for v in values.tolist()]
    lowest = [v >= info.min if v == v else False for v in values.tolist()]
    return np.array(
        [
            n is not None and n <= info.max and is_above
            for n, is_above in zip(numbers, lowest, strict=True)
        ]
    )


def moved(values: Any, target: str, casting: str = "unsafe") -> Any:
    found = np.full(values.shape, 77, target)
    row = move_between(found, values).assign(casting, 2)
    return found if row < 0 else row


def test_there_are_144_pairs() -> None:
    assert len(PAIRS) == 144


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_pairs_are_what_numpy_makes_of_them(source: str, target: str) -> None:
    values = special(source)
    if values.dtype.kind == "c" != np.dtype(target).kind:
        with pytest.raises(UsageError, match="imaginary parts would be lost"):
            moved(values, target)
        return
    fits = held(values, np.dtype(target))
    kept = values[fits]
    with np.errstate(all="ignore"):
        expected = kept.astype(target)
    for casting in ("unsafe", "fitting"):
        found = moved(kept, target, casting)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(np.signbit(found.real), np.signbit(expected.real))
    if fits.all():
        return
    assert moved(values, target, "fitting") == int(np.argmin(fits))
    assert first_unfit(values, np.dtype(target)) == (int(np.argmin(fits)),)


@pytest.mark.parametrize(("source", "target"), KEPT)
def test_exact_values_lead_back(source: str, target: str) -> None:
    values = special(source)
    fits = held(values, np.dtype(target))
    with np.errstate(all="ignore"):
        there = values.astype(target)
        back = there.astype(source) if values.dtype.kind == "c" else there.real.astype(source)
    is_same = (back == values) | ((back != back) & (values != values))
    if np.dtype(target).kind in "fc" and values.dtype.kind in "iu":
        # integers as long as Python's: the way back of a rounded one may wrap
        is_same = np.array([int(a) == int(b) for a, b in zip(there.real, values, strict=True)])
    exact = fits & is_same
    if values.dtype.kind == "c":
        pairs = zip(there, values, strict=True)
        exact = np.array([_parts_same(complex(a), complex(b)) for a, b in pairs])
    place = first_unfit(values, np.dtype(target), "exact")
    assert place == (None if exact.all() else (int(np.argmin(exact)),))


def _parts_same(one: complex, other: complex) -> bool:
    parts = ((one.real, other.real), (one.imag, other.imag))
    return all(a == b or (a != a and b != b) for a, b in parts)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_random_arrays_of_all_shapes(data: st.DataObject) -> None:
    source, target = data.draw(st.sampled_from(KEPT))
    n, dim = data.draw(st.sampled_from([0, 1, 255, 256, 257, 775])), data.draw(st.integers(1, 3))
    few = data.draw(arrays(source, (4, dim)))
    values = np.resize(few, (n, dim))
    fits = np.array([held(row, np.dtype(target)).all() for row in values], bool)
    columns = np.asfortranarray(values)
    for given_values in (values, columns):
        found = np.zeros((n, dim), target)
        row = move_between(found, given_values).assign("fitting", 1)
        assert row == (-1 if fits.all() else int(np.argmin(fits)))
        if row >= 0:
            assert not found.any()
            continue
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(found, values.astype(target))


@pytest.fixture
def cells() -> op2.Set:
    return op2.Set(4, "cells")


def test_unsafe_copies_are_defined_for_all_values(cells: op2.Set) -> None:
    source = op2.Dat(cells, [np.nan, 300.0, -1e30, -0.5])
    target = op2.Dat(cells, None, "uint8")
    source.copy(target, casting="unsafe")
    assert target.data_ro.tolist() == [0, 255, 0, 0]


def test_exact_copies_keep_all_digits(cells: op2.Set) -> None:
    source = op2.Dat(cells**2, [[1, 2], [3, 1.5], [0, 0], [4, 5]], "float64", name="source")
    target = op2.Dat(cells**2, np.ones(8), "int8", name="target")
    message = (
        r"the value 1\.5 of entity 1 at \[1\] does not keep all digits in int8 of Dat 'target'"
    )
    with pytest.raises(DataValueError, match=message):
        source.copy(target, casting="exact")
    assert target.data_ro.min() == 1
    source.copy(target, op2.Subset(cells, [0, 2]), casting="exact")
    assert target.data_ro.tolist() == [[1, 2], [1, 1], [0, 0], [1, 1]]
    source.copy(target)
    assert target.data_ro[1].tolist() == [3, 1]


def test_assignments_take_a_casting(cells: op2.Set) -> None:
    whole = op2.Dat(cells, [1, 2, 3, 4], "int8")
    with pytest.raises(DataValueError, match=r"the value 2\.5 at \[1\] loses digits"):
        whole.assign([1.0, 2.5, 3.0, 4.0], casting="exact")
    with pytest.raises(DataValueError, match="got 300"):
        whole.assign(300)
    assert whole.data_ro.tolist() == [1, 2, 3, 4]
    whole.assign([1.0, 2.5, 300.0, 4.0], casting="unsafe")
    assert whole.data_ro.tolist() == [1, 2, 127, 4]
    whole.assign(op2.Global(1, -300.0), casting="unsafe")
    assert whole.data_ro.tolist() == [-128] * 4
    with pytest.raises(DataValueError, match="assign: casting must be one of"):
        whole.assign(1, casting="safe")
    with pytest.raises(DataValueError, match="loses digits"):
        whole.assign(op2.Global(1, 0.5), casting="exact")
    with pytest.raises(DataValueError, match="keep all digits"):
        whole.assign(op2.Dat(cells, [1, 1, 0.5, 1]), casting="exact")
    number = op2.Global(1, 1, "int8")
    with pytest.raises(DataValueError, match="loses digits"):
        number.assign(0.5, casting="exact")
    number.assign(0.5)
    number.assign(500.0, casting="unsafe")
    assert number.data_ro.tolist() == [127]
    with pytest.raises(DataValueError, match="keep all digits"):
        op2.Global(1, 0.5).copy(number, casting="exact")


def test_dats_that_share_a_part_of_their_memory_are_refused(cells: op2.Set) -> None:
    """Sums over them depended on the order: values were read after they were changed."""
    memory = np.arange(8.0)
    first, second = op2.Dat(cells, memory[:4]), op2.Dat(cells, memory[1:5])
    for change in (
        lambda: second.__iadd__(first),
        lambda: first.axpy(2, second),
        lambda: first.copy(second),
        lambda: first.copy(op2.Dat(cells, memory[:2].view("float32")), casting="unsafe"),
    ):
        with pytest.raises(DataValueError, match="share a part of their memory"):
            change()
    assert memory.tolist() == list(range(8))
    first += op2.Dat(cells, memory[:4])  # the same values
    assert memory.tolist() == [0, 2, 4, 6, 4, 5, 6, 7]
    pair = op2.Dat(cells**2, memory)
    op2.DatView(pair, 0).copy(op2.DatView(pair, 1))  # side by side
    assert memory.tolist() == [0, 0, 4, 4, 4, 4, 6, 6]


def test_rows_of_views() -> None:
    values = np.array([[1.0, 2.0], [3.0, 1e300], [5.0, 6.0]])
    narrow = np.dtype("float32")
    assert first_unfit_row(values, narrow, "fitting", 1) == 1
    assert first_unfit_row(values, narrow, "fitting", 1, np.array([2, 0, 1])) == 2
    assert first_unfit_row(values[:, 0], narrow, "fitting", 1) is None
    assert first_unfit_row(values[::-1], narrow, "fitting", 2) == 1
    assert first_unfit(values[:, 1], narrow) == (1,)


def test_a_copy_is_explained(cells: op2.Set) -> None:
    wide, narrow = op2.Dat(cells**2, name="wide"), op2.Dat(cells**2, None, "int8", name="narrow")
    text = op2.dispatch.explain_copy(wide, narrow)
    assert text == (
        "4 rows of 2: float64 to int8, fitting\n"
        "first, without memory of its own:\n"
        "find the first float64 that int8 does not hold\n"
        "move, without memory of its own:\n"
        "convert float64 to int8\n"
        "bytes of scratch: 0\n"
    )
    part = op2.dispatch.explain_copy(wide, narrow, op2.Subset(cells, [1]), casting="unsafe")
    assert "for 2 items of each, 1 bytes apart in the target, 8 in the source" in part
    with pytest.raises(DataValueError, match="casting must be one of"):
        op2.dispatch.explain_copy(wide, narrow, casting="safe")
    with pytest.raises(DataValueError, match="has dim"):
        op2.dispatch.explain_copy(wide, op2.Dat(cells))
