# SPDX-License-Identifier: BSD-3-Clause
"""Which values another dtype holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyop2cxx.base.conversions import check_casting, first_unfit, limits
from pyop2cxx.exceptions import DataValueError

NAMES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]
FLOATS = ["float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("source", [*NAMES, *FLOATS])
@pytest.mark.parametrize("target", [*NAMES, *FLOATS])
def test_what_numpy_calls_safe_has_no_limits(source: str, target: str) -> None:
    if np.can_cast(source, target, "safe"):
        assert limits(np.dtype(source), np.dtype(target)) is None


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
