# SPDX-License-Identifier: BSD-3-Clause
"""Options of a loop: checked once, hashable, and shown by help()."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import UsageError
from pyop2cxx.loop.options import GivenOptions, LoopOptions, known_options
from pyop2cxx.runtime import runtime

CELLS = op2.Set(2, "cells")
ONE = op2.Kernel("void one(double *x) { *x += 1; }", "one")


def test_a_loop_has_its_options_as_one_record() -> None:
    x = op2.Dat(CELLS)
    loop = op2.ParLoop(ONE, CELLS, x(op2.RW), lanes=4, tuning={"owner_slots": 4})
    assert loop.options == LoopOptions(lanes=4, tuning=(("owner_slots", 4),))
    with pytest.raises(AttributeError):
        loop.options.lanes = 2  # type: ignore[misc]


@pytest.mark.parametrize("function", [op2.par_loop, op2.ParLoop])
def test_each_option_is_a_keyword_with_a_type(function: Any) -> None:
    shown = inspect.signature(function).parameters
    assert [name for name in shown if name not in ("kernel", "iterset", "args")] == [
        *GivenOptions.__annotations__
    ]
    assert shown["lanes"].annotation == "int | None"
    assert set(GivenOptions.__annotations__) - {"iterate"} == set(LoopOptions._fields)


@pytest.mark.parametrize("call", [op2.par_loop, op2.ParLoop])
def test_an_unknown_option_is_refused(call: Any) -> None:
    with pytest.raises(TypeError, match=r"par_loop 'one': .* unexpected keyword argument 'lane'"):
        call(ONE, CELLS, op2.Dat(CELLS)(op2.RW), lane=4)


def test_equal_options_find_the_same_loop() -> None:
    x = op2.Dat(CELLS)
    for _ in range(2):
        op2.par_loop(ONE, CELLS, x(op2.RW), tuning={"owner_slots": 4, "block_elements": 64})
    n = len(runtime.engine.loops)
    op2.par_loop(ONE, CELLS, x(op2.RW), tuning={"block_elements": 64, "owner_slots": 4})
    assert len(runtime.engine.loops) == n
    assert x.data_ro.tolist() == [3.0, 3.0]


def test_true_is_not_the_number_one() -> None:
    """Also where options with the number are known already."""
    x = op2.Dat(CELLS)
    assert known_options({"lanes": 1}).lanes == 1
    with pytest.raises(UsageError, match="lanes must be"):
        op2.par_loop(ONE, CELLS, x(op2.RW), lanes=True)
    with pytest.raises(UsageError, match="tuning must be a dict"):
        op2.par_loop(ONE, CELLS, x(op2.RW), tuning=3)  # type: ignore[arg-type]
