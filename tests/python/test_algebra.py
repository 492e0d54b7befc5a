# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import operator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyop2cxx import op2
from pyop2cxx.base.arrays import DTYPES
from pyop2cxx.exceptions import (
    DataTypeError,
    DataValueError,
    DatTypeError,
    MapValueError,
)

ComplexWarning = getattr(np, "exceptions", np).ComplexWarning  # NumPy 2 moved it
CELLS = op2.Set(5, "cells")
OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
IN_PLACE = {"+": operator.iadd, "-": operator.isub, "*": operator.imul, "/": operator.itruediv}

each_operation = pytest.mark.parametrize("op", OPERATIONS)


def values(dtype: str, start: int = 1) -> np.ndarray[Any, Any]:
    found = np.arange(start, start + 10).reshape(5, 2).astype(dtype)
    return found * (1 + 2j) if found.dtype.kind == "c" else found


def dat(dtype: str = "float64", start: int = 1) -> op2.Dat:
    return op2.Dat(CELLS**2, values(dtype, start), dtype=dtype)


def expected(op: str, left: Any, right: Any, dtype: str) -> np.ndarray[Any, Any]:
    """Return what C makes of it: the common type, then that of the left operand."""
    if op == "/" and all(np.asarray(x).dtype.kind in "iu" for x in (left, right)):
        found = np.trunc(np.asarray(left) / np.asarray(right))
    else:
        found = OPERATIONS[op](left, right)
    found = np.asarray(found)
    return (found if np.dtype(dtype).kind == "c" else found.real).astype(dtype)


@each_operation
@pytest.mark.parametrize("left", DTYPES)
@pytest.mark.parametrize("right", ["float64", "int32", "complex64"])
def test_two_dats(op: str, left: str, right: str) -> None:
    if np.dtype(right).kind == "c" and np.dtype(left).kind != "c":
        with pytest.raises(DataValueError, match="loses imaginary parts"):
            dat(left).axpy(1, dat(right, 3))
        context: Any = pytest.warns(ComplexWarning, match="loses imaginary parts")
    else:
        context = nullcontext()
    a, b = dat(left), dat(right, 3)
    if op == "-" and left.startswith("uint") and right != "int32":  # -2.0 has no place there
        with context, pytest.raises(DataValueError, match=r"'-': the result -2\.0 at \[0, 0\]"):
            operator.isub(a, b)
        return
    with context:
        found = OPERATIONS[op](a, b)
    assert found.dtype == left
    wanted = expected(op, values(left), values(right, 3), left)
    np.testing.assert_allclose(found.data_ro, wanted, rtol=1e-6)
    np.testing.assert_array_equal(a.data_ro, values(left))
    version = a.dat_version
    with context:
        assert IN_PLACE[op](a, b) is a
    np.testing.assert_allclose(a.data_ro, wanted, rtol=1e-6)
    assert a.dat_version == version + 1
    np.testing.assert_array_equal(b.data_ro, values(right, 3))


@each_operation
@pytest.mark.parametrize("number", [2, 2.5, np.float32(0.5), True])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_a_dat_and_a_number(op: str, number: Any, dtype: str) -> None:
    plain = int(number) if number is True else number
    a = dat(dtype)
    for found, wanted in (
        (OPERATIONS[op](a, number), expected(op, values(dtype), plain, dtype)),
        (OPERATIONS[op](number, a), expected(op, plain, values(dtype), dtype)),
        (IN_PLACE[op](a, number), expected(op, values(dtype), plain, dtype)),
    ):
        assert found.dtype == dtype
        np.testing.assert_allclose(found.data_ro, wanted, rtol=1e-6)


@given(st.integers(0, 300000), st.sampled_from(["float32", "float64", "int32", "complex128"]))
def test_any_number_of_values(n: int, dtype: str) -> None:
    cells = op2.Set(n)
    x = (np.arange(n) % 91).astype(dtype)
    a, b = op2.Dat(cells, x.copy()), op2.Dat(cells, 2 * x)
    np.testing.assert_array_equal((a + b).data_ro, 3 * x)
    wide = x.astype("complex128" if dtype == "complex128" else "float64")
    # NumPy's own sum of so many float32 is off by more than 1e-6
    assert a.inner(b) == pytest.approx(np.vdot(2 * wide, wide) if n else 0)
    a.axpy(2, b)
    np.testing.assert_array_equal(a.data_ro, 5 * x)


def test_signs() -> None:
    for dtype in ("float64", "int8", "complex64"):
        np.testing.assert_array_equal((-dat(dtype)).data_ro, -values(dtype))
        plus = +dat(dtype)
        np.testing.assert_array_equal(plus.data_ro, values(dtype))
    zero = -op2.Dat(CELLS, np.zeros(5))
    assert np.signbit(zero.data_ro).all()


@pytest.mark.parametrize("wrong", [lambda a, b: a + b, lambda a, b: b / a, operator.imul])
def test_arrays_are_no_operands(wrong: Any) -> None:
    with pytest.raises(DatTypeError, match=r"with an array of shape \(5,\); make a Dat or Global"):
        wrong(dat(), np.ones(5))


def test_globals_of_one_value_are_numbers() -> None:
    two = op2.Global(1, 2.0)
    np.testing.assert_array_equal((dat() * two).data_ro, 2 * values("float64"))
    np.testing.assert_array_equal((two - dat()).data_ro, 2 - values("float64"))
    with pytest.raises(TypeError):
        _ = dat() + op2.Global(2, [1.0, 2.0])


def test_globals() -> None:
    a, b = op2.Global(2, [1.0, 2.0]), op2.Global(2, [3.0, 5.0])
    assert (a + b).data_ro.tolist() == [4, 7]
    assert (a - 1).data_ro.tolist() == [0, 1]
    assert (6 / b).data_ro.tolist() == [2, 1.2]
    assert (-a).data_ro.tolist() == [-1, -2]
    a *= b
    assert a.data_ro.tolist() == [3, 10]
    assert a.inner(b) == 59
    assert b.norm == pytest.approx(np.sqrt(34))
    a.axpy(2, b)
    assert a.data_ro.tolist() == [9, 20]
    a.maxpy([1, -1], [b, b])
    assert a.data_ro.tolist() == [9, 20]
    with pytest.raises(DataValueError, match="of dim"):
        _ = a + op2.Global(3)


def test_sums_conjugate_the_other() -> None:
    a, b = dat("complex128"), dat("complex128", 4)
    x, y = values("complex128"), values("complex128", 4)
    assert a.inner(b) == pytest.approx((x * y.conj()).sum())
    assert a.dot(b) == pytest.approx((x * y).sum())
    assert a.norm == pytest.approx(np.linalg.norm(x))
    assert dat("float32").inner(a) == pytest.approx((values("float32") * x.conj()).sum())


def test_maxpy_adds_all() -> None:
    y = dat()
    y.maxpy([2, 0.5], [dat(start=3), dat("int32")])
    np.testing.assert_allclose(y.data_ro, values("float64") * 1.5 + 2 * values("float64", 3))


def test_maxpy_checks_before_it_adds() -> None:
    y = dat()
    other = op2.Dat(op2.Set(5) ** 2)
    for alphas, others, error in (
        ([1, 2], [dat()], DataValueError),
        ([1, 2], [dat(), other], MapValueError),
        ([1, "x"], [dat(), dat()], DataTypeError),
    ):
        with pytest.raises(error):
            y.maxpy(alphas, others)
    np.testing.assert_array_equal(y.data_ro, values("float64"))


@each_operation
def test_dats_that_do_not_match(op: str) -> None:
    with pytest.raises(MapValueError, match="both must be on the same Set"):
        OPERATIONS[op](dat(), op2.Dat(op2.Set(5) ** 2))
    with pytest.raises(DataValueError, match="of dim"):
        OPERATIONS[op](dat(), op2.Dat(CELLS))
    for wrong in ("x", None, [1, 2]):
        with pytest.raises(TypeError):
            OPERATIONS[op](dat(), wrong)


def test_wrong_arguments() -> None:
    with pytest.raises(DataTypeError, match="takes a number, got 'x'"):
        dat().axpy("x", dat())  # type: ignore[arg-type]
    with pytest.raises(DatTypeError, match="expected another Dat"):
        dat().axpy(1, op2.Global(1))  # type: ignore[arg-type]
    with pytest.raises(DatTypeError):
        dat().inner(3)  # type: ignore[arg-type]
    with pytest.raises(DataValueError, match="imaginary"):
        dat().axpy(1j, dat())


def test_integers_divided_by_zero() -> None:
    a = dat("int32")
    version = a.dat_version
    for wrong in (0, 0.0, dat("int32", 0), op2.Global(1, 0.0)):
        with pytest.raises(DataValueError, match="divided by zero"):
            a /= wrong
        with pytest.raises(DataValueError, match="divided by zero"):
            a / wrong
    np.testing.assert_array_equal(a.data_ro, values("int32"))
    assert a.dat_version == version
    with np.errstate(divide="ignore"):
        assert np.isinf((dat() / 0.0).data_ro).all()


def test_ghosts() -> None:
    cells = op2.Set((1, 2, 4))
    a, b = (op2.Dat(cells, np.arange(4.0)) for _ in range(2))
    both = a + b
    assert both.halo_valid
    assert both.data_ro_with_halos.tolist() == [0, 2, 4, 6]
    b.halo_valid = False
    both = a + b
    assert not both.halo_valid
    assert both.data_ro.tolist() == [0, 2]
    assert a.inner(b) == 1


def test_comparing_is_by_identity() -> None:
    a = dat()
    assert a == a
    assert a != dat()


# Powers and absolute values


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 7, np.int64(2), 2.0])
def test_whole_powers_are_products(dtype: str, exponent: Any) -> None:
    a = op2.Dat(CELLS, [1, 2, 0, 1, 2], dtype=dtype)
    found = a**exponent
    assert found is not a
    assert found.dtype == np.dtype(dtype)
    product = np.ones(5, dtype)
    for _ in range(int(exponent)):
        product = product * a.data_ro
    assert np.array_equal(found.data_ro, product)
    assert a.data_ro.tolist() == [1, 2, 0, 1, 2]


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=5, max_size=5),
    st.one_of(st.integers(-70, 70), st.floats(-4, 4)),
)
def test_powers_are_those_of_numpy(numbers: list[float], exponent: float) -> None:
    a = op2.Dat(CELLS, numbers)
    found = (a**exponent).data_ro
    with np.errstate(all="ignore"):
        wanted = np.power(np.array(numbers), float(exponent))
    assert np.allclose(found, wanted, rtol=1e-13, atol=1e-300, equal_nan=True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_absolute_values(dtype: str) -> None:
    a = op2.Dat(CELLS, [3, 1, 2, 0, 5], dtype=dtype)
    b = a if np.dtype(dtype).kind == "u" else -a
    assert np.array_equal(abs(b).data_ro, a.data_ro)
    if np.dtype(dtype).kind == "c":
        z = op2.Dat(CELLS, np.full(5, 3 - 4j), dtype=dtype)
        assert abs(z).data_ro.tolist() == [5] * 5


def test_powers_in_place_of_globals_and_mixed_dats() -> None:
    a = op2.Dat(CELLS, [1.0, 2.0, 3.0, 4.0, 5.0])
    same = a
    a **= 2
    assert a is same
    assert a.data_ro.tolist() == [1, 4, 9, 16, 25]
    a **= 0.5
    assert np.allclose(a.data_ro, [1, 2, 3, 4, 5])
    assert (op2.Global(1, 3.0) ** 2).data_ro.tolist() == [9]
    assert abs(op2.Global(2, [-1.0, 2.0])).data_ro.tolist() == [1, 2]
    mixed = op2.MixedDat([a, op2.Dat(CELLS, -2.0)])
    assert [part.data_ro.tolist() for part in mixed**2][1] == [4] * 5
    assert abs(mixed)[1].data_ro.tolist() == [2] * 5
    mixed **= 3
    assert mixed[1].data_ro.tolist() == [-8] * 5


def test_wrong_powers() -> None:
    whole = op2.Dat(CELLS, [1, 2, 3, 4, 5], dtype="int32")
    with pytest.raises(DataValueError, match="integers to a negative power, -1"):
        whole**-1
    with pytest.raises(TypeError):
        whole**whole
    with pytest.raises(TypeError):
        whole**1j
    with pytest.raises(TypeError):
        whole **= "2"
    assert (op2.Dat(CELLS, 2.0) ** -2).data_ro.tolist() == [0.25] * 5
    assert (op2.Dat(CELLS, 2.0) ** np.inf).data_ro.tolist() == [np.inf] * 5


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint32", "int64"])
def test_integers_to_large_powers_wrap(dtype: str) -> None:
    a = op2.Dat(op2.Set(2), [3, 1], dtype)
    for exponent in (65, 2**31 + 1):
        wanted = np.array([pow(3, exponent, 2**64), 1], np.uint64).astype(dtype)
        np.testing.assert_array_equal((a**exponent).data_ro, wanted)
