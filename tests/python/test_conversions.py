# SPDX-License-Identifier: BSD-3-Clause
"""Which values another dtype holds."""

from __future__ import annotations

import operator
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.base.conversions import check_casting, first_unfit, limits
from pyop2cxx.exceptions import DataTypeError, DataValueError

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]
FLOATS = ["float32", "float64", "complex64", "complex128"]


SAFE = [pair for pair in product([*NAMES, *FLOATS], repeat=2) if np.can_cast(*pair, "safe")]


@pytest.mark.parametrize(("source", "target"), SAFE)
def test_what_numpy_calls_safe_has_no_limits(source: str, target: str) -> None:
    assert limits(np.dtype(source), np.dtype(target)) is None


def test_what_may_not_fit_has_limits() -> None:
    for source, target in product(NAMES[:-1], repeat=2):
        is_safe = (source, target) in SAFE
        assert (limits(np.dtype(source), np.dtype(target)) is None) == is_safe


@pytest.mark.parametrize("source", NAMES[:-1])
@pytest.mark.parametrize("target", NAMES[:-1])
def test_integers_fit_if_they_are_the_same_afterwards(source: str, target: str) -> None:
    there, here = np.iinfo(source), np.iinfo(target)
    numbers = [here.min - 1, here.min, 0, here.max, here.max + 1]
    numbers = [number for number in numbers if there.min <= number <= there.max]
    for number in numbers:
        values = np.array([0, number], source)
        fits = here.min <= number <= here.max
        assert first_unfit(values, np.dtype(target)) == (None if fits else (1,))


@pytest.mark.parametrize(
    ("value", "source", "target", "fits"),
    [
        (300.0, "float64", "int8", False),
        (127.9, "float64", "int8", True),
        (-0.5, "float64", "uint8", False),
        (np.nan, "float64", "int32", False),
        (np.inf, "float64", "int64", False),
        (2.0**63, "float64", "int64", False),
        (-(2.0**63), "float64", "int64", True),
        (2.0**31, "float32", "int32", False),
        (1e300, "float64", "float32", False),
        (np.finfo(np.float32).max, "float64", "float32", True),
        (np.inf, "float64", "float32", True),
        (np.nan, "float64", "float32", True),
        (0.1, "float64", "float32", True),
        (1 - 1e300j, "complex128", "complex64", False),
        (1 - 1e30j, "complex128", "complex64", True),
        (1e300, "float64", "complex64", False),
        (2**53 + 1, "int64", "float64", True),
        (2, "int32", "bool", False),
    ],
)
def test_what_fits(value: Any, source: str, target: str, fits: bool) -> None:
    values = np.zeros((3, 2), source)
    values[1, 1] = value
    assert first_unfit(values, np.dtype(target)) == (None if fits else (1, 1))


def test_nothing_fits_anywhere() -> None:
    assert first_unfit(np.zeros(0), np.dtype("int8")) is None


def test_a_casting_is_one_of_two() -> None:
    check_casting("unsafe", "Dat 'q'")
    with pytest.raises(DataValueError, match=r"Dat 'q': casting must be .* got 'same_kind'"):
        check_casting("same_kind", "Dat 'q'")


# Numbers that enter values of another dtype

CELLS = op2.Set(3, "cells")
SELF = op2.Map(CELLS, CELLS, 1, [0, 1, 2], "self")
SPARSITY = op2.Sparsity((CELLS, CELLS), [(SELF, SELF, None)])
UNFIT = [("int8", 300), ("int8", 300.0), ("int16", np.int64(1 << 20)), ("uint8", 256)]
UNFIT += [
    ("int32", float("nan")),
    ("int64", np.uint64(2**63)),
    ("float32", 1e300),
    ("complex64", 1e300),
]


def made(kind: str, dtype: str) -> Any:
    if kind == "Mat":
        found: Any = op2.Mat(SPARSITY, dtype, "q")
        found.set_local_diagonal_entries([0, 1, 2], 7)
    else:
        found = op2.Dat(CELLS, 7, dtype, "q") if kind == "Dat" else op2.Global(1, 7, dtype, "q")
    found.to_device()
    return found


def shown(carrier: Any) -> Any:
    return np.asarray(carrier.values if isinstance(carrier, op2.Mat) else carrier.data_ro).tolist()


CHANGES: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "+=": ("Dat Global", operator.iadd),
    "-=": ("Dat Global", operator.isub),
    "*=": ("Dat Global Mat", operator.imul),
    "/=": ("Dat Global", operator.itruediv),
    "+": ("Dat Global", operator.add),
    "*": ("Dat Global Mat", operator.mul),
    "from the left": ("Dat Global", lambda q, number: number - q),
    "axpy": ("Dat Global Mat", lambda q, number: q.axpy(number, q)),
    "maxpy": ("Dat Global", lambda q, number: q.maxpy([1, number], [q, q])),
    "assign": ("Dat Global", lambda q, number: q.assign(number)),
    "data": ("Dat Global", lambda q, number: setattr(q, "data", number)),
    "new": ("Dat Global", lambda q, number: type(q)(_place(q), number, q.dtype)),
    "new from an array": (
        *("Dat Global", lambda q, number: type(q)(_place(q), [number] * q.data_ro.size, q.dtype)),
    ),
    "Const": ("Global", lambda q, number: op2.Const(1, number, "unfit_one", q.dtype)),
    "a Global": ("Dat", lambda q, number: q.assign(op2.Global(1, number))),
    "+= a Global": ("Dat", lambda q, number: q.__iadd__(op2.Global(1, number))),
    "set_values": ("Mat", lambda q, number: q.set_values([0], [0], [number])),
    "addto_values": ("Mat", lambda q, number: q.addto_values([0], [0], [number])),
    "diagonal": ("Mat", lambda q, number: q.set_local_diagonal_entries([0], number)),
    "added diagonal": ("Mat", lambda q, number: q.inc_local_diagonal_entries([0], number)),
    "zero_rows": ("Mat", lambda q, number: q.zero_rows([0], number)),
}


def _place(q: Any) -> Any:
    return CELLS if isinstance(q, op2.Dat) else 1


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(("dtype", "number"), UNFIT)
def test_a_number_that_does_not_fit_is_refused(
    backend: str, change: str, dtype: str, number: Any
) -> None:
    kinds, apply = CHANGES[change]
    for kind in kinds.split():
        q = made(kind, dtype)
        before = shown(q)
        with pytest.raises(DataValueError, match=r"holds -?\d|does not fit|expected 1 x 1 values"):
            apply(q, number)
        assert shown(q) == before


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("kind", ["Dat", "Global"])
def test_an_integer_on_a_device_is_looked_at(backend: str, kind: str, dtype: str) -> None:
    q, large = made(kind, dtype), made("Global", "int64")
    large *= 100
    for change in (operator.iadd, operator.imul, lambda q, one: q.assign(one)):
        with pytest.raises(DataValueError, match=r"holds -?\d|does not fit"):
            change(q, large)
    part = op2.Dat(CELLS, 100, dtype)
    part.to_device()
    with pytest.raises(DataValueError, match="holds"):
        part.inner_into(part, made("Global", dtype))
    large /= 100
    q += large
    assert np.ravel(shown(q)).tolist() == [14] * (3 if kind == "Dat" else 1)


def test_what_fits_once_negated_is_added(backend: str) -> None:
    q = made("Dat", "uint8")
    q += -2
    q -= -3
    q.axpy(-1, op2.Dat(CELLS, 4, "uint8"))
    assert shown(q) == shown(operator.neg(-q)) == [4, 4, 4]
    with pytest.raises(DataValueError, match=r"'\*' with -1, but uint8 holds 0 to 255"):
        q *= -1
    mat, other = made("Mat", "uint8"), made("Mat", "uint8")
    mat *= 3
    assert np.diagonal(shown(mat - other)).tolist() == [14, 14, 14]
    assert np.diagonal(shown(operator.neg(-mat))).tolist() == [21, 21, 21]


def test_integers_to_a_power_that_is_no_number_are_refused() -> None:
    for exponent in (float("nan"), float("inf"), 1e300):
        with pytest.raises(DataValueError, match="integers to the power"):
            made("Dat", "int8") ** exponent


def test_integers_of_a_matrix_are_divided_as_c_does(backend: str) -> None:
    mat = op2.Mat(SPARSITY, "int32")
    for row, value in enumerate((49, -50, 97)):
        mat.set_local_diagonal_entries([row], value)
    mat.to_device()
    assert np.diagonal(shown(mat / 49)).tolist() == [1, -1, 1]
    assert np.diagonal(shown(mat / 2.5)).tolist() == [19, -20, 38]
    with pytest.raises(DataValueError, match="divided by zero"):
        mat / 0


def test_a_matrix_of_integers_is_multiplied_in_place_as_elsewhere(backend: str) -> None:
    mat = made("Mat", "int32")
    made_of_it = mat * 1.5
    mat *= 1.5
    mat.inc_local_diagonal_entries([0, 1, 2], 2.5)
    assert np.diagonal(shown(mat)).tolist() == [12, 12, 12]
    assert np.diagonal(shown(made_of_it)).tolist() == [10, 10, 10]


class Scalar:
    """Like a number of mpmath, or of a library of arrays."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __complex__(self) -> complex:
        return complex(self.value)


class Real(Scalar):
    def __float__(self) -> float:
        return float(self.value)


class Tensor(Real):
    ndim = 0

    def item(self) -> Any:
        return self.value


HALVES = [Fraction(1, 2), Decimal("0.5"), Real(0.5), Tensor(0.5), np.array(0.5), np.float16(0.5)]
HALVES += [np.longdouble(0.5), np.array(0.5, ">f8"), np.array(Fraction(1, 2), object)]


@pytest.mark.parametrize("half", HALVES, ids=lambda half: type(half).__name__)
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex64", "int32"])
def test_numbers_of_all_libraries_are_what_they_say(backend: str, dtype: str, half: Any) -> None:
    for kind in ("Dat", "Global", "Mat", "MixedDat", "DatView"):
        q = several(kind, dtype)
        wanted = np.trunc(3.5) if dtype == "int32" else 3.5
        assert values_of(q * half) == [wanted]
        if not isinstance(half, Real | Decimal):  # they refuse the operator themselves
            assert values_of(half * q) == [wanted]
        q *= half
        assert values_of(q) == [wanted]
        q = several(kind, dtype)
        q.axpy(half, q)
        assert values_of(q) == [np.trunc(10.5) if dtype == "int32" else 10.5]
        q = several(kind, dtype)
        assert values_of(q / half) == [14]
        if kind != "Mat":
            assert values_of(q + half) == [np.trunc(7.5) if dtype == "int32" else 7.5]
            q -= half
            assert values_of(q) == [np.trunc(6.5) if dtype == "int32" else 6.5]
            whole = several(kind, "float64") ** half
            np.testing.assert_allclose(values_of(whole), [7**0.5])
        if kind in ("Dat", "Global", "DatView"):
            q.assign(half)
            assert values_of(q) == [0 if dtype == "int32" else 0.5]


def several(kind: str, dtype: str) -> Any:
    if kind == "MixedDat":
        return op2.MixedDat([made("Dat", dtype), made("Dat", dtype)])
    if kind == "DatView":
        return op2.DatView(op2.Dat(CELLS**2, np.full((3, 2), 7), dtype), 1)
    return made(kind, dtype)


def values_of(q: Any) -> list[Any]:
    """The different values; of a matrix those on the diagonal."""
    found = q.data_ro if isinstance(q, op2.MixedDat) else [shown(q)]
    if isinstance(q, op2.Mat):
        found = np.diagonal(found[0])
    return sorted(set(np.ravel(found).tolist()))


def test_exact_numbers_stay_exact() -> None:
    large = op2.Dat(CELLS, 2**60 + 1, "int64")
    for two in (2, Fraction(2), Decimal(2), np.int8(2), np.array(2), Tensor(2), True + True):
        assert (large * two).data_ro.tolist() == [2**61 + 2] * 3
    assert (op2.Dat(CELLS, 1, "uint64") * (2**64 - 1)).data_ro.tolist() == [2**64 - 1] * 3
    assert (op2.Dat(CELLS, 1.0) * 10**30).data_ro.tolist() == [1e30] * 3
    assert (op2.Dat(CELLS, 1.0) * np.True_).data_ro.tolist() == [1.0] * 3


def test_complex_numbers_of_all_libraries() -> None:
    z = op2.Dat(CELLS, 2.0, "complex128")
    for i in (1j, np.complex64(1j), Scalar(1j), Tensor(1j), np.array(1j), np.clongdouble(1j)):
        assert values_of(z * i) == [2j]
        with pytest.raises(DataValueError, match="imaginary"):
            op2.Dat(CELLS, 1.0).axpy(i, op2.Dat(CELLS, 1.0))


@pytest.mark.parametrize(
    "number", [10**400, Fraction(10**400), Decimal("1e400"), Real(10**400), np.longdouble("1e400")]
)
def test_numbers_beyond_all_dtypes_are_refused(number: Any) -> None:
    for kind in ("Dat", "Global", "Mat", "MixedDat"):
        q = several(kind, "float64")
        for change in (operator.mul, operator.imul, lambda q, x: q.axpy(x, q)):
            with pytest.raises(DataValueError, match="beyond the range of float64"):
                change(q, number)
        assert values_of(q) == [7]


@pytest.mark.parametrize("wrong", ["2", b"2", None, [2], {2}, object(), np.datetime64(1, "D")])
def test_what_is_no_number_is_none(wrong: Any) -> None:
    for kind in ("Dat", "Global", "Mat", "MixedDat"):
        q = several(kind, "float64")
        with pytest.raises(TypeError):
            q * wrong
        with pytest.raises(TypeError):
            q *= wrong
    with pytest.raises(DataTypeError, match="takes a number"):
        made("Dat", "float64").axpy(wrong, made("Dat", "float64"))
    with pytest.raises(DataTypeError, match="has no value as a number"):
        made("Dat", "float64") * Decimal("sNaN")


# Real values for integers

UNFIT_WORDS = r"does not fit|holds -?\d"


@pytest.mark.parametrize("bad", [1e20, -1e20, float("nan"), float("inf")])
@pytest.mark.parametrize("dtype", ["int8", "int64", "uint64"])
def test_results_that_integers_do_not_hold_are_refused(
    backend: str, dtype: str, bad: float
) -> None:
    for kind in ("Dat", "Global", "MixedDat", "DatView"):
        q, real = several(kind, dtype), several(kind, "float64")
        last = real[1] if kind == "MixedDat" else real
        last.data[-1:] = bad
        version = q.dat_version
        for change in (operator.add, operator.iadd, lambda q, x: q.axpy(1, x), real_copy):
            with pytest.raises(DataValueError, match=UNFIT_WORDS):
                change(q, real)
        with pytest.raises(DataValueError, match=UNFIT_WORDS):
            q.maxpy([1, 2], [q, real])
        assert values_of(q) == [7]
        assert q.dat_version == version


def real_copy(q: Any, real: Any) -> None:
    real.copy(q)


def test_real_values_that_fit_are_cut_off(backend: str) -> None:
    q, real = made("Dat", "int32"), op2.Dat(CELLS, [0.5, -0.5, 2.75])
    real.to_device()
    q += real
    assert shown(q) == [7, 6, 9]
    q.axpy(0.5, real)
    assert shown(q) == [7, 5, 10]
    q.maxpy([1, 0.5], [real, real])
    assert shown(q) == [7, 4, 14]
    q *= q
    assert shown(q) == [49, 16, 196]
    assert shown(q**0.5) == [7, 4, 14]
    with pytest.raises(DataValueError, match="result nan at"):
        (q - 100) ** 0.5
    assert q.numbering == CELLS.numbering


def test_matrices_of_integers_refuse_what_does_not_fit() -> None:
    for bad in (1e20, float("nan")):
        q, real = made("Mat", "int32"), made("Mat", "float64")
        real.set_local_diagonal_entries([2], bad)
        for change in (operator.add, operator.iadd, lambda q, x: q.axpy(1, x)):
            with pytest.raises(DataValueError, match=UNFIT_WORDS):
                change(q, real)
        with pytest.raises(DataValueError, match=UNFIT_WORDS):
            q *= 1e9
        with pytest.raises(DataValueError, match=UNFIT_WORDS):
            q / 1e-300
        assert values_of(q) == [7]


def test_truth_values_are_true_of_all_but_zero(backend: str) -> None:
    q = op2.Dat(CELLS, [True, False, True], bool)
    q += op2.Dat(CELLS, [True, False, False], bool)
    assert shown(q) == [True, False, True]
    assert q.data_ro.view(np.uint8).tolist() == [1, 0, 1]
    assert shown(q * 0.5) == [True, False, True]


def test_numpy_leaves_its_numbers_times_fields_to_us() -> None:
    mixed = several("MixedDat", "float64")
    assert isinstance(np.float64(2) * mixed, op2.MixedDat)
    assert values_of(np.array(2.0) * mixed) == [14]


def test_a_number_in_a_graph_must_fit() -> None:
    narrow, real = op2.Dat(CELLS, 1, "float32"), op2.Dat(CELLS, 1.0)
    for target, number in ((narrow, 1e300), (real, 1 + 2j), (made("Dat", "int8"), 300)):
        builder = op2.graph()
        with pytest.raises(DataValueError, match=r"then_fill"):
            builder.then_fill(target, number)
