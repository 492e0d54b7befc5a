# SPDX-License-Identifier: BSD-3-Clause
"""Assigning to a loop's arguments changes the loop, or is refused."""

from __future__ import annotations

import copy
import gc
from typing import Any

import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import UsageError

CELLS, NODES = op2.Set(2, "cells"), op2.Set(3, "nodes")
C2N = op2.Map(CELLS, NODES, 2, [0, 1, 1, 2], "c2n")
ADD = op2.Kernel(
    "void add(double *x, double *y, double *s) { x[0] += y[0] + y[1]; s[0] += y[0]; }", "add"
)


def dat(value: float, on: Any = CELLS) -> Any:
    return op2.Dat(on, value, float)


def made() -> Any:
    return op2.ParLoop(
        ADD, CELLS, dat(0)(op2.RW), dat(1, NODES)(op2.READ, C2N), op2.Global(1, 0.0)(op2.INC)
    )


def test_other_data_are_used_from_then_on(backend: str) -> None:
    loop = made()
    loop.compute()
    x, y, s = dat(10), dat(3, NODES), op2.Global(1, 100.0)
    for i, data in enumerate((x, y, s)):
        argument = loop.arguments[i]
        argument.data = data
        assert argument.data is data
        assert loop.arguments[i].data is loop.args[i].data is data
    loop.compute()
    assert x.data_ro.tolist() == [16, 16]
    assert s.data_ro.tolist() == [106]


def test_data_that_do_not_fit_change_nothing() -> None:
    loop = made()
    x = loop.arguments[0].data
    for wrong in (dat(0, NODES), op2.Dat(CELLS**2), op2.Dat(CELLS, dtype="int32"), None, 3):
        argument = loop.arguments[0]
        with pytest.raises(UsageError, match="argument 0"):
            argument.data = wrong
        assert argument.data is loop.arguments[0].data is x


@pytest.mark.parametrize("name", ["access", "map_", "form"])
def test_all_else_is_refused(name: str) -> None:
    loop = made()
    for args in (loop.args, loop.arguments):
        with pytest.raises(
            UsageError, match=rf"par_loop 'add': arg 1: '{name}' cannot be assigned"
        ):
            setattr(args[1], name, None)
    with pytest.raises(UsageError, match=r"given by loop.arguments\[1\].data = "):
        loop.args[1].data = dat(3, NODES)


def test_a_copy_of_a_loop_has_arguments_of_its_own() -> None:
    loop = made()
    other = copy.copy(loop)
    y = dat(5, NODES)
    other.arguments[1].data = y
    assert other.args[1].data is y
    assert loop.args[1].data is not y


def test_arguments_keep_no_loop_alive() -> None:
    loop = made()
    argument = loop.arguments[0]
    del loop
    gc.collect()
    with pytest.raises(UsageError, match="a loop that is gone"):
        argument.data = dat(1)


def test_what_waits_keeps_the_data_that_it_was_called_with() -> None:
    loop, first, second = made(), dat(0), dat(0)
    with op2.chain():
        loop.arguments[0].data = first
        loop.compute()
        loop.arguments[0].data = second
        loop.compute()
    assert first.data_ro.tolist() == second.data_ro.tolist() == [2, 2]
    graph = op2.record(loop.compute)
    loop.arguments[0].data = first
    graph.submit()
    assert second.data_ro.tolist() == [4, 4]
    assert first.data_ro.tolist() == [2, 2]


def test_mixed_dats_and_matrices_are_replaced_as_well() -> None:
    x = dat(0)
    mine, other = (op2.MixedDat([dat(v), dat(v + 1)]) for v in (1, 3))
    both = op2.Kernel("void both(double *x, double *y) { x[0] = y[0] + y[1]; }", "both")
    loop = op2.ParLoop(both, CELLS, x(op2.WRITE), mine(op2.READ))
    loop.arguments[1].data = other
    loop.compute()
    assert x.data_ro.tolist() == [7, 7]
    sparsity = op2.Sparsity((NODES, NODES), [(C2N, C2N, None)])
    a, b = op2.Mat(sparsity), op2.Mat(sparsity)
    ones = op2.Kernel("void ones(double *A) { for (int i = 0; i < 4; ++i) A[i] += 1; }", "ones")
    loop = op2.ParLoop(ones, CELLS, a(op2.INC, (C2N, C2N)))
    loop.arguments[0].data = b
    loop.compute()
    assert (a.values.sum(), b.values.sum()) == (0, 8)


@pytest.mark.pyop2
def test_arguments_of_a_parloop_of_pyop2() -> None:
    from_ = (op2.WRITE, op2.READ)
    local = op2.CStringLocalKernel(
        "static void k(double *x, double *y) { x[0] = y[0] + y[1]; }",
        "k",
        accesses=from_,
        dtypes=(float, float),
    )
    described = [op2.DatKernelArg((1,)), op2.DatKernelArg((1,), op2.MapKernelArg(2))]
    x, y = dat(0), dat(1, NODES)
    given = [op2.DatParloopArg(x), op2.DatParloopArg(y, C2N)]
    loop = op2.Parloop(op2.GlobalKernel(local, described), CELLS, given)
    loop.arguments[1].data = dat(5, NODES)
    loop()
    assert x.data_ro.tolist() == [10, 10]
