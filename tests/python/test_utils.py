# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyop2cxx.exceptions import DataTypeError, DataValueError, NameTypeError, UsageError
from pyop2cxx.pyop2 import utils


def test_tuples() -> None:
    assert utils.as_tuple(None) == ()
    assert utils.as_tuple("ab", str, 2) == ("ab", "ab")
    assert utils.as_tuple(iter([1, 2]), int, 2) == (1, 2)
    assert utils.as_tuple([1, None], int, allow_none=True) == (1, None)
    with pytest.raises(ValueError, match="expected 3 items, got 2"):
        utils.as_tuple([1, 2], length=3)
    with pytest.raises(TypeError, match="expected items of"):
        utils.as_tuple([1, "a"], int)
    assert utils.tuplify([1, [2, (3, [4])]]) == (1, (2, (3, (4,))))
    assert list(utils.flatten([[1], [2, 3]])) == [1, 2, 3]
    assert utils.uniquify([2, 1, 2]) == [2, 1]
    assert [utils.align(n) for n in (0, 1, 16, 17)] == [0, 16, 16, 32]


def test_types_of_numbers() -> None:
    assert utils.as_type(1, "float32").dtype == np.float32
    values = np.arange(2)
    assert utils.as_type(values, values.dtype) is values
    assert utils.as_type(values, "int8").dtype == np.int8
    with pytest.raises(TypeError, match="expected a number"):
        utils.as_type("1", "int8")


def test_flags() -> None:
    values = np.zeros(2)
    utils.maybe_setflags(values, write=False)
    assert not values.flags.writeable
    utils.maybe_setflags(values)
    assert not values.flags.writeable


def test_reshaping() -> None:
    assert utils.verify_reshape([1, 2, 3, 4], "int32", (2, 2)).tolist() == [[1, 2], [3, 4]]
    assert utils.verify_reshape(None, None, (2,), allow_none=True).size == 0
    with pytest.raises(DataValueError):
        utils.verify_reshape([1, 2], None, (3,))
    with pytest.raises(DataValueError, match="allow_none"):
        utils.verify_reshape(None, None, (3,))
    with pytest.raises(DataTypeError):
        utils.verify_reshape([1], "no dtype", (1,))


@utils.validate_type(("name", str, NameTypeError))
@utils.validate_in(("mode", ("r", "w"), ValueError))
@utils.validate_range(("n", (1, 3), ValueError))
@utils.validate_dtype(("dtype", None, DataTypeError))
def checked(name: Any = None, mode: Any = "r", n: Any = 1, dtype: Any = float) -> Any:
    return name, mode, n, dtype


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"name": 2}, NameTypeError),
        ({"mode": "x"}, ValueError),
        ({"n": 4}, ValueError),
        ({"dtype": "x"}, DataTypeError),
    ],
)
def test_checks(given: dict[str, Any], error: type[Exception]) -> None:
    assert checked("a", n=3) == ("a", "r", 3, float)
    with pytest.raises(error, match=r"checked\(\): expected '"):
        checked(**given)


def test_a_check_of_no_parameter() -> None:
    with pytest.raises(UsageError, match="no parameter 'x'"):

        @utils.validate_type(("x", int, ValueError))
        def function() -> None: ...
