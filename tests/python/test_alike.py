# SPDX-License-Identifier: BSD-3-Clause
"""Loops that differ from one that has run in their data only."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest
from test_call_data import SCALE, N, count_made

from pyop2cxx import op2
from pyop2cxx.exceptions import Op2Error


def test_a_loop_with_new_data_is_not_made_again(backend: str, monkeypatch: Any) -> None:
    cells, by = op2.Set(N), op2.Global(1, 2.0)
    made = count_made(monkeypatch)
    for i in range(4):
        out, h = op2.Dat(cells), op2.Dat(cells, float(i))
        for _ in range(2):
            op2.par_loop(SCALE, cells, out(op2.WRITE), h(op2.READ), by(op2.READ))
            np.testing.assert_array_equal(out.data_ro, 2 * i)
    assert made[0] == 1


def test_new_data_that_share_memory_are_another_loop() -> None:
    with op2.backend("sequential"):
        cells, memory = op2.Set(N), np.arange(2.0 * N)
        shift = op2.Kernel("void shift(double *out, const double *h) { *out = *h + 1; }", "shift")
        a, b = op2.Dat(cells), op2.Dat(cells, 1.0)
        op2.par_loop(shift, cells, a(op2.WRITE), b(op2.READ))
        both = op2.Dat(cells, memory[:N])
        op2.par_loop(shift, cells, both(op2.RW), both(op2.READ))
        np.testing.assert_array_equal(memory[:N], np.arange(N) + 1)


@pytest.mark.parametrize(
    "make",
    [
        lambda cells: op2.Dat(cells, dtype=np.float32),
        lambda cells: op2.Dat(op2.Set(N, "elsewhere")),
    ],
    ids=["dtype", "Set"],
)
def test_new_data_of_another_kind_are_checked(make: Any) -> None:
    with op2.backend("sequential"):
        cells = op2.Set(N)
        shift = op2.Kernel("void shift(double *out, const double *h) { *out = *h + 1; }", "shift")
        op2.par_loop(shift, cells, op2.Dat(cells)(op2.WRITE), op2.Dat(cells)(op2.READ))
        with pytest.raises(Op2Error):
            op2.par_loop(shift, cells, make(cells)(op2.WRITE), op2.Dat(cells)(op2.READ))


def test_new_data_keep_nothing_alive(backend: str) -> None:
    cells, by = op2.Set(N), op2.Global(1, 2.0)
    seen = []
    for _ in range(3):
        out, h = op2.Dat(cells), op2.Dat(cells, 1.0)
        op2.par_loop(SCALE, cells, out(op2.WRITE), h(op2.READ), by(op2.READ))
        seen += [weakref.ref(out), weakref.ref(h)]
    del out, h
    gc.collect()
    assert not any(one() for one in seen)


def test_after_a_renumbering_new_data_are_bound_unless_left_out(monkeypatch: Any) -> None:
    with op2.backend("sequential"):
        cells = op2.Set(N)
        by, left_out = op2.Global(1, 2.0), op2.Dat(cells, np.arange(float(N)))
        rows = np.c_[np.arange(N), np.arange(1, N + 1)][::-1]
        ends, moved = op2.Map(cells, op2.Set(N + 1), 2, rows), op2.Dat(cells, np.arange(float(N)))
        op2.renumber([ends], [moved], method="rcm")
        made = count_made(monkeypatch)
        loop = op2.ParLoop(SCALE, cells, moved(op2.RW), op2.Dat(cells, 1.0)(op2.READ), by(op2.READ))
        loop.compute()
        for i in range(4):
            out, h = op2.Dat(cells), op2.Dat(cells, float(i))
            op2.par_loop(SCALE, cells, out(op2.WRITE), h(op2.READ), by(op2.READ))
            np.testing.assert_array_equal(out.data_ro, 2 * i)
            loop(h=h)
            loop.replace_data("h", h)
        assert made[0] == 2
        op2.par_loop(SCALE, cells, moved(op2.RW), left_out(op2.READ), by(op2.READ))
        assert made[0] == 3  # its numbering has to be looked at
