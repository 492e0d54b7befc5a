# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import array
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from pyop2cxx import _core, mesh, op2
from pyop2cxx.base.arrays import (
    DTYPES,
    address_of,
    as_array,
    as_copy,
    as_dim,
    as_dtype,
    as_name,
    as_zeros,
    distinct,
    distinct_numbers,
    is_own_memory,
    owner_of,
)
from pyop2cxx.base.moves import HALVES
from pyop2cxx.exceptions import (
    DataTypeError,
    DataValueError,
    DimTypeError,
    NameTypeError,
    OutOfMemoryError,
)

if TYPE_CHECKING:
    from collections.abc import Callable


@given(st.lists(st.integers(0, 5), max_size=4))
def test_any_integers_are_a_dim(entries: list[int]) -> None:
    assert as_dim(entries, "Dat") == tuple(entries)
    assert as_dim(np.array(entries, dtype=np.int64), "Dat") == tuple(entries)


@pytest.mark.parametrize("dim", ["illegaldim", (1, "illegaldim"), 1.0, -1, (2, -1), None, True])
def test_nothing_else_is_a_dim(dim: object) -> None:
    with pytest.raises(DimTypeError, match="the dim must be an integer or a tuple"):
        as_dim(dim, "Dat")


def test_a_copy_that_does_not_fit_names_what_it_is_of() -> None:
    one = np.zeros(1)
    kept = as_copy(one, "Dat 'q'")
    kept[0] = 1
    assert one[0] == 0
    with pytest.raises(
        OutOfMemoryError, match=r"Global 'g' needs 2305843009213693952 bytes for 28"
    ):
        as_copy(np.broadcast_to(one, (2**58,)), "Global 'g'")


def test_names() -> None:
    assert as_name(None, "Set", "set_1") == as_name("", "Set", "set_1") == "set_1"
    assert as_name("cells", "Set", "set_1") == "cells"
    with pytest.raises(NameTypeError, match=r"^Set: .* got 2 of type int"):
        as_name(2, "Set", "set_1")


def test_the_core_knows_the_same_dtypes() -> None:
    assert set(_core.DType.__members__) == {*DTYPES, *HALVES}
    assert [str(as_dtype(name, "Dat")) for name in DTYPES] == list(DTYPES)


@pytest.mark.parametrize("dtype", [np.longlong, np.ulonglong, "<i8", ">i8", int])
def test_other_spellings_of_a_dtype_are_the_same(dtype: Any) -> None:
    assert as_dtype(dtype, "Dat").name in ("int64", "uint64")
    assert as_dtype(dtype, "Dat").isnative


@pytest.mark.parametrize("dtype", ["illegal_type", "float128", "U3", "O", "M8[s]", "f8,f8"])
def test_nothing_else_is_a_dtype(dtype: str) -> None:
    with pytest.raises(DataTypeError, match=r"^Dat 'q': .*there are: int8, .*complex128"):
        as_dtype(dtype, "Dat 'q'")


@given(
    st_numpy.arrays(
        st.sampled_from(DTYPES), st_numpy.array_shapes(min_dims=1, min_side=0), elements={}
    )
)
def test_a_fitting_array_is_not_copied(values: np.ndarray[Any, Any]) -> None:
    found = as_array(values, None, values.shape, "Dat")
    assert address_of(found) == address_of(values)
    assert (found.dtype, found.shape) == (values.dtype, values.shape)


@pytest.mark.parametrize(
    "data",
    [
        [1.0, 2.0, 3.0, 4.0],
        np.arange(1, 5, dtype=">f8"),
        np.repeat([1.0, 2.0, 3.0, 4.0], 2)[::2],
        np.frombuffer(np.arange(1, 5, dtype=float).tobytes()),
        np.frombuffer(b"x" + np.arange(1, 5, dtype=float).tobytes(), dtype=float, offset=1),
        np.arange(1, 5),
    ],
    ids=["list", "byte order", "stride", "read-only", "unaligned", "other dtype"],
)
def test_an_unfitting_array_is_copied(data: Any) -> None:
    found = as_array(data, "float64", (2, 2), "Dat")
    assert found.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert not np.shares_memory(found, np.asarray(data))
    assert found.dtype == np.dtype("float64")
    assert found.flags.carray


@pytest.mark.parametrize(
    "make", [lambda: array.array("d", [1, 2]), lambda: memoryview(bytearray(16)).cast("d")]
)
def test_a_buffer_is_not_copied(make: Any) -> None:
    data = make()
    as_array(data, None, (2,), "Dat")[1] = 7
    assert data[1] == 7


class HasArray:
    def __init__(self) -> None:
        self.values = np.zeros(2)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return self.values


def test_an_object_with_an_array_is_not_copied() -> None:
    data = HasArray()
    as_array(data, None, (2,), "Dat")[1] = 7
    assert data.values.tolist() == [0, 7]


@pytest.mark.parametrize(
    ("data", "dtype", "message"),
    [
        ([1, 2, 3], None, r"expected 2 values \(shape \(2,\)\), got 3 \(shape \(3,\)\)"),
        ([[1], [2, 3]], None, "do not convert to numbers"),
        (["a", "b"], "float64", "do not convert to float64"),
        (None, "float64", "do not convert to float64: there is no number in the place of None"),
        ([1.0, None], "float32", "there is no number in the place of None"),
        ([1.0, "2"], "int8", "do not convert to int8: "),
        ([Fraction(1, 2), object()], "float64", "there is no number in the place of <object"),
        (
            [Decimal("1e400"), 0],
            "float64",
            "a number of type Decimal is beyond the range of float64",
        ),
        ([1, 300], "int8", "it holds -128 to 127, got values from 1 to 300; change the values"),
        ([-1, 1], "uint64", "got values from -1 to 1"),
        ([0.0, np.nan], "int32", "got values from nan to nan"),
        ([2.0**63, 0], "int64", "got values from 0.0 to 9.22"),
        ([2**70, 0], "uint64", "do not convert to uint64"),
        ([1.0, 1e300], "float32", r"it holds -3\.402823e\+38 to 3\.402823e\+38, got 1e\+300"),
        ([10**39, 0], "float32", r"got 1e\+39;"),
        ([1, 1e300j], "complex64", r"got 1e\+300j"),
        ([1j, 0], "float64", "pass their real part"),
        (np.array([1, None]), "int64", "do not convert to int64"),
    ],
)
def test_data_that_do_not_fit(data: Any, dtype: str | None, message: str) -> None:
    with pytest.raises(DataValueError, match=rf"^Dat 'q': .*{message}"):
        as_array(data, dtype, (2,), "Dat 'q'")


@given(st.sampled_from(DTYPES), st.sampled_from(DTYPES))
def test_every_conversion_of_small_numbers_works_but_complex_to_real(old: str, new: str) -> None:
    data = np.array([0, 1, 100], dtype=old)
    if np.dtype(old).kind == "c" and np.dtype(new).kind != "c":
        with pytest.raises(DataValueError):
            as_array(data, new, (3,), "Dat")
    else:
        found = as_array(data, new, (3,), "Dat")
        assert (found.dtype, found.tolist()) == (np.dtype(new), [0, 1, 100])


@pytest.mark.parametrize(
    ("data", "dtype", "wanted"),
    [
        ([Fraction(1, 2), 3], None, [0.5, 3.0]),
        ([Decimal("2.5"), Fraction(7, 2)], "int8", [2, 3]),
        (np.array([2**60 + 1, -1], object), None, [2**60 + 1, -1]),
        ([10**30, 0.5], "float32", [np.float32(1e30), 0.5]),
    ],
)
def test_numbers_of_other_libraries_are_numbers(data: Any, dtype: Any, wanted: Any) -> None:
    assert as_array(data, dtype, (2,), "Dat").tolist() == wanted


# Masks


class Masking:
    """Like a variable of netCDF4: its array is masked."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.ma.masked_array([0, 1], [0, 1])


MASKED = np.ma.masked_array([0, 1], [False, True])


@pytest.mark.parametrize(
    "data",
    [MASKED, MASKED.astype(float), [MASKED[0], np.ma.masked], (MASKED,), [[MASKED]], Masking()],
)
def test_masked_values_are_refused(data: Any) -> None:
    with pytest.raises(DataValueError, match=r"^Dat 'q': 1 of \d values are masked, the first at"):
        as_array(data, None, (2,), "Dat 'q'")


def test_a_mask_without_masked_values_does_not_matter() -> None:
    values = np.array([1.0, 2.0])
    as_array(np.ma.masked_array(values, False), None, (2,), "Dat")[0] = 5
    assert values.tolist() == [5, 2]
    assert as_array([np.ma.masked_array([3.0, 4.0])], None, (2,), "Dat").tolist() == [3, 4]


def test_masked_values_are_refused_wherever_arrays_come_in() -> None:
    cells, nodes = op2.Set(2, "cells"), op2.Set(2, "nodes")
    dat, total = op2.Dat(cells, 7, int), op2.Global(2, 7, int)
    same = op2.Map(cells, nodes, 1, [0, 1])
    mat = op2.Mat(op2.Sparsity((nodes, nodes), [(same, same, None)]), int)
    masked = MASKED.copy()
    doors: list[Callable[[], object]] = [
        lambda: op2.Dat(cells, masked),
        lambda: dat.assign(masked),
        lambda: setattr(dat, "data", masked),
        lambda: setattr(dat, "_data", masked),
        lambda: dat.assign(np.ma.masked),
        lambda: dat + np.ma.masked,
        lambda: dat.axpy(np.ma.masked, dat),
        lambda: op2.Global(2, masked),
        lambda: setattr(total, "data", masked),
        lambda: op2.Constant(2, masked),
        lambda: op2.Const(2, masked, "masked_const"),
        lambda: op2.Map(cells, nodes, 1, masked),
        lambda: op2.Map(cells, nodes, 2, same.values.repeat(2), offset=masked),
        lambda: same.update_values(masked),
        lambda: same.values.__setitem__(slice(None), masked[:, None]),
        lambda: op2.Subset(cells, masked),
        lambda: cells(masked),
        lambda: op2.ExtrudedSet(cells, np.ma.masked_array([[0, 2], [0, 3]], [[0, 0], [0, 1]])),
        lambda: mat.set_values(masked, [0], [1, 2]),
        lambda: mat.addto_values([0, 1], [0], masked),
        lambda: mat.zero_rows(masked),
        lambda: mesh.Tags(cells, {"left": masked}),
        lambda: mesh.Mesh.from_arrays("interval", masked[:, None] + 0.0, [[0, 1]]),
        lambda: mesh.Mesh.from_arrays("interval", [[0.0], [1.0]], masked[None]),
    ]
    for door in doors:
        with pytest.raises(DataValueError, match="masked"):
            door()
    assert dat.data_ro.tolist() == total.data_ro.tolist() == [7, 7]
    assert same.values.tolist() == [[0], [1]]


def test_digits_after_the_point_may_go() -> None:
    assert as_array([1.5, 2.5], "int32", (2,), "Dat").tolist() == [1, 2]


@given(
    st_numpy.arrays(
        np.int64, st_numpy.array_shapes(max_dims=3, min_side=0), elements=st.integers(-9, 9)
    )
)
def test_distinct_numbers_are_those_of_unique(values: np.ndarray) -> None:
    wanted, places = np.unique(values, return_inverse=True)
    np.testing.assert_array_equal(distinct(values), wanted)
    found, numbers = distinct_numbers(values)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(numbers, places.reshape(values.shape))
    assert numbers.shape == values.shape


@pytest.mark.parametrize("shape", [(0,), (3,), (512,), (1000, 2, 3)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_large_arrays_begin_at_a_cache_line(dtype: str, shape: tuple[int, ...]) -> None:
    zeros = as_zeros(shape, np.dtype(dtype), "Dat")
    copy = as_copy(zeros + np.dtype(dtype).type(1), "Dat")
    converted = as_array(np.ones(shape, "bool"), dtype, shape, "Dat")
    for found, value in ((zeros, 0), (copy, 1), (converted, 1)):
        assert (found.shape, found.dtype, found.flags.c_contiguous) == (
            shape,
            np.dtype(dtype),
            True,
        )
        assert found.flags.writeable
        assert (found == value).all()
        assert found.nbytes < 4096 or address_of(found) % 64 == 0


def test_parts_of_an_aligned_array_hold_it() -> None:
    values = as_zeros((1000, 2), np.dtype("float64"), "Dat")
    assert owner_of(values) is values
    assert owner_of(values[2:5][:, 1]) is values
    assert is_own_memory(values)
    assert owner_of(np.zeros(1000)[2:5]) is not values
    assert not is_own_memory(owner_of(np.frombuffer(bytearray(8000))))
