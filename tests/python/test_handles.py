# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import DataTypeError, DataValueError, UnsupportedError

HANDLE = op2.OpaqueType("box")


@pytest.mark.parametrize("backend", ["sequential", "openmp"])
def test_the_kernel_gets_the_address(backend: str) -> None:
    cells = op2.Set(4)
    number = op2.Dat(cells, np.arange(4), dtype=np.int64)
    box = np.zeros(4, np.int64)
    arg = op2.PassthroughArg(HANDLE, box.ctypes.data)
    kernel = op2.Kernel(
        "void f(const int64_t *n, void *box) { ((int64_t *)box)[*n] = 10 + *n; }", "f"
    )
    with op2.backend(backend):
        op2.par_loop(kernel, cells, number(op2.READ), arg)
        op2.par_loop(kernel, cells, number(op2.READ), arg)
    assert box.tolist() == [10, 11, 12, 13]


def test_another_address_is_not_another_text() -> None:
    cells = op2.Set(1)
    kernel = op2.Kernel("void f(void *box) {}", "f")
    texts = {
        str(op2.ParLoop(kernel, cells, op2.PassthroughArg(HANDLE, address)).generate())
        for address in (64, 128)
    }
    assert len(texts) == 1


def test_owners_would_call_the_kernel_too_often() -> None:
    cells, nodes = op2.Set(2), op2.Set(2)
    there = op2.Map(cells, nodes, 1, [0, 0])
    kernel = op2.Kernel("void f(double *x, void *box) { x[0] += 1; }", "f")
    loop = (kernel, cells, op2.Dat(nodes)(op2.INC, there), op2.PassthroughArg(HANDLE, 64))
    with pytest.raises(UnsupportedError, match="runs several times"):
        op2.par_loop(*loop, strategy="owner")


@pytest.mark.parametrize(
    ("dtype", "address", "error"),
    [("box", 64, DataTypeError), (HANDLE, 0, DataValueError), (HANDLE, "x", DataValueError)],
)
def test_wrong_arguments(dtype: Any, address: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="PassthroughArg: "):
        op2.PassthroughArg(dtype, address)


def test_text() -> None:
    arg = op2.PassthroughArg(HANDLE, 64)
    assert repr(arg) == "PassthroughArg(OpaqueType(name='box'), 0x40)"
    assert (arg.name, arg.opaque_type) == ("box", HANDLE)
