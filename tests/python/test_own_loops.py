# SPDX-License-Identifier: BSD-3-Clause
"""Loops that chains add to those of the program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.chain.entries import Action
from pyop2cxx.chain.own_loops import copying, zeroing

pytestmark = pytest.mark.usefixtures("nothing_renumbered")


def _zero_of(data: Any) -> Action:
    return Action(f"zero {data.name}", data.zero, ((data, True),), True)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "uint64"])
@pytest.mark.parametrize("layout", ["aos", "soa"])
@pytest.mark.parametrize("width", [1, 3])
def test_they_do_what_the_library_does(backend: str, dtype: str, layout: str, width: int) -> None:
    cells = op2.Set(5)
    values = np.arange(5 * width, dtype=dtype).reshape(5, width)
    x, y = (op2.Dat(cells**width, given, dtype, layout=layout) for given in (values, None))
    copying(x, y).compute()
    np.testing.assert_array_equal(y.data_ro.reshape(5, width), values)
    loop = zeroing(_zero_of(x))
    assert loop is not None
    loop.compute()
    assert not x.data_ro.any()


def test_what_is_no_plain_dat_stays_an_action() -> None:
    cells = op2.Set(5)
    whole = op2.Dat(cells**2)
    assert zeroing(_zero_of(op2.Global(1, 0.0))) is None
    assert zeroing(_zero_of(op2.DatView(whole, 1))) is None
    assert zeroing(_zero_of(op2.Dat(cells, dtype="complex128"))) is None
    assert zeroing(_zero_of(op2.Dat(op2.Set((2, 3, 5))))) is None
    assert zeroing(Action("copy", whole.zero, ((whole, True),), False)) is None


@pytest.mark.usefixtures("exits")
@pytest.mark.parametrize("check", [False, True])
def test_dats_that_nobody_has_asked_for_are_set_to_zero(backend: str, check: bool) -> None:
    """In check mode zeros wait and the loop behind them does not: they run without it."""
    op2.configuration["check"] = check
    cells = op2.Set(100)
    kernel = op2.Kernel("void k(double *x, double *y) { x[0] += 1; y[0] += 2; }", "k")
    for _ in range(2):
        x, y = op2.Dat(cells), op2.Dat(cells)
        with op2.chain():
            x.zero()
            y.zero()
            op2.par_loop(kernel, cells, x(op2.INC), y(op2.INC))
        assert (x.data_ro.tolist(), y.data_ro.tolist()) == ([1.0] * 100, [2.0] * 100)
