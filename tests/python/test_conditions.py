# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.data.conditions import Condition
from pyop2cxx.exceptions import UsageError


@pytest.mark.parametrize("sign", [">", ">=", "<", "<="])
@pytest.mark.parametrize("other", [0.0, 1.0, 2.0])
def test_a_condition_compares_the_values_of_now(sign: str, other: float) -> None:
    x = op2.Global(1, 7.0, name="x")
    conditions = {">": x > other, ">=": x >= other, "<": x < other, "<=": x <= other}
    x.data = 1.0
    assert bool(conditions[sign]) is eval(f"1.0 {sign} {other}")
    assert str(conditions[sign]) == f"x {sign} {other}"


def test_two_globals_are_compared() -> None:
    x, y = op2.Global(1, 1.0, name="x"), op2.Global(1, 2, dtype=np.int32, name="y")
    assert not x > y
    assert y > x
    assert (x > y).data == (x, y)


def test_a_loop_decides_what_a_condition_says(backend: str) -> None:
    x = op2.Global(1, 0.0, name="x")
    is_small = x < 2
    add = op2.Kernel("void add(double *x) { *x += 1; }", "add")
    assert is_small
    op2.par_loop(add, op2.Set(3), x(op2.INC))
    assert not is_small


def test_other_globals_may_take_the_places() -> None:
    x, y = op2.Global(1, 1.0, name="x"), op2.Global(1, 5.0, name="y")
    assert str((x > 3).bound({x.uid: y})) == "y > 3"
    assert (x > 3).bound({x.uid: y})


def test_what_cannot_be_compared_is_refused() -> None:
    x = op2.Global(1, 1.0, name="x")
    with pytest.raises(UsageError, match="compares a Global with a number or a Global, got 'a'"):
        _ = x > "a"  # type: ignore[operator]
    with pytest.raises(UsageError, match="compares a Global with a number or a Global, got Set"):
        _ = x > op2.Set(3)  # type: ignore[operator]
    with pytest.raises(UsageError, match="compares single real numbers; Global 'v' has 2"):
        _ = op2.Global(2, [0.0, 1.0], name="v") > 0
    with pytest.raises(UsageError, match="dtype complex128"):
        Condition(op2.Global(1, 1j, dtype=complex), ">", 0)
