# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import ctypes

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import DataTypeError
from pyop2cxx.pyop2 import datatypes


def test_the_defaults_are_those_of_the_types() -> None:
    cells = op2.Set(2)
    assert op2.Dat(cells).dtype == datatypes.ScalarType == datatypes.RealType
    assert op2.Map(cells, cells, 1, [0, 1]).values.dtype == datatypes.IntType


def test_c_and_ctypes() -> None:
    assert datatypes.as_cstr("float32") == "float"
    assert datatypes.as_ctypes("float64") is ctypes.c_double
    assert datatypes.as_numpy_dtype(int) == np.dtype(int)
    assert datatypes.dtype_limits("int8") == (-128, 127)
    assert datatypes.dtype_limits("float64")[1] == np.finfo(float).max
    for function in (datatypes.as_ctypes, datatypes.dtype_limits):
        with pytest.raises(DataTypeError):
            function("complex128")
    with pytest.raises(DataTypeError):
        datatypes.as_cstr("no dtype")
