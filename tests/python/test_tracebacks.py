# SPDX-License-Identifier: BSD-3-Clause
"""Tracebacks end where the user called."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any

import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import Op2Error

if TYPE_CHECKING:
    from collections.abc import Callable

SET = op2.Set(3, "cells")
X = op2.Dat(SET, [1.0, 2.0, 3.0])
KERNEL = op2.Kernel("void k(double *x) { x[0] = 1; }", "k")
STRANGE = op2.Kernel("void k(double *x) { x[0] = stranger; }", "k")
WRONG: dict[str, Callable[[], Any]] = {
    "par_loop": lambda: op2.par_loop(KERNEL, SET),
    "a loop that does not compile": lambda: op2.par_loop(STRANGE, SET, X(op2.RW)),
    "ParLoop": lambda: op2.ParLoop(KERNEL, SET),
    "compute": op2.ParLoop(STRANGE, SET, X(op2.RW)).compute,
    "generate": lambda: op2.ParLoop(KERNEL, SET, X(op2.RW)).generate({"nothing": 1}),
    "Kernel": lambda: op2.Kernel("void k(double *x) {", "k"),
    "Set": lambda: op2.Set(-1),
    "Subset": lambda: op2.Subset(SET, [7]),
    "Map": lambda: op2.Map(SET, SET, 1, [0, 1, 9]),
    "MixedSet": lambda: op2.MixedSet([]),
    "MixedMap": lambda: op2.MixedMap([]),
    "DataSet": lambda: op2.DataSet(SET, "x"),  # type: ignore[arg-type]
    "ExtrudedSet": lambda: op2.ExtrudedSet(SET, 0),
    "Dat": lambda: op2.Dat(SET, [1]),
    "an argument": lambda: X("x"),  # type: ignore[arg-type]
    "copy": lambda: X.copy(SET),  # type: ignore[arg-type]
    "Global": lambda: op2.Global(1, [1, 2]),
    "Const": lambda: op2.Const(1, [1, 2], "wrong"),
    "Sparsity": lambda: op2.Sparsity(SET, []),
    "Mat": lambda: op2.Mat(SET),  # type: ignore[arg-type]
}


def frames(call: Callable[[], Any]) -> list[str]:
    """Files above this one, in the traceback of what a call raises."""
    with pytest.raises(Op2Error) as caught:
        call()
    error = caught.value
    assert error.__cause__ is None
    names = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    return [name for name in names if "pyop2cxx/" in name]


@pytest.mark.parametrize("what", sorted(WRONG))
def test_a_traceback_ends_where_the_user_called(what: str) -> None:
    assert len(frames(WRONG[what])) <= (2 if what == "an argument" else 1)


@pytest.mark.parametrize("option", ["full_tracebacks", "debug"])
def test_an_option_keeps_all_frames(option: str) -> None:
    op2.configuration[option] = True
    try:
        assert len(frames(WRONG["par_loop"])) > 2
        assert len(frames(WRONG["Kernel"])) > 2
    finally:
        op2.configuration[option] = False
