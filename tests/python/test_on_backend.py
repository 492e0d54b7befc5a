# SPDX-License-Identifier: BSD-3-Clause
"""`pyop2cxx.backends.opencl.ParLoop`: loops of one backend."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from pyop2cxx import backends, op2
from pyop2cxx.exceptions import Op2Error, UsageError
from pyop2cxx.runtime import runtime

pytestmark = pytest.mark.each_backend
NAMES = runtime.backend_names()
THERE = [one.name for one in op2.backends() if one.available]

MORE = op2.Kernel("void more(double *x) { x[0] += 1; }", "more")


def loops_of(name: str) -> type[Any]:
    found: type[Any] = getattr(backends, name).ParLoop
    return found


@pytest.mark.parametrize("name", NAMES)
def test_each_backend_has_a_class_without_a_line_of_its_own(name: str) -> None:
    kind = loops_of(name)
    assert issubclass(kind, op2.ParLoop)
    assert kind is loops_of(name)
    assert kind.backend == name
    assert (kind.__module__, kind.__qualname__) == (f"pyop2cxx.backends.{name}", "ParLoop")
    assert pickle.loads(pickle.dumps(kind)) is kind
    with pytest.raises(AttributeError, match="has no attribute 'Parloop'"):
        _ = getattr(backends, name).Parloop


@pytest.mark.parametrize("name", NAMES)
def test_the_usual_imports_find_the_class_first(name: str) -> None:
    program = (
        f"from pyop2cxx.backends.{name} import ParLoop, BACKEND; "
        "assert ParLoop.backend == BACKEND.name; from pyop2cxx import op2; "
        f"from pyop2cxx.backends import {name} as module; assert module.ParLoop is ParLoop; "
        "assert issubclass(ParLoop, op2.ParLoop)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("outside", THERE)
@pytest.mark.parametrize("name", THERE)
def test_it_runs_there_whatever_the_program_says(name: str, outside: str) -> None:
    with op2.backend(outside):
        cells = op2.Set(5, "cells")
        x = op2.Dat(cells, np.arange(5.0), name="x")
        loop = loops_of(name)(MORE, cells, x(op2.RW))
        assert isinstance(loop, op2.ParLoop)
        for n in range(1, 4):
            loop.compute()
            op2.par_loop(MORE, cells, x(op2.RW))
            assert x.data_ro.tolist() == [i + 2 * n for i in range(5)]
        text = loop.generate()
        assert all(f"_{name}_" in file for file in text.files)
        assert loop.explain().backend == name
        copy.copy(loop)()
        y = op2.Dat(cells, name="y")
        loop({0: y})
        assert (x.data_ro[0], y.data_ro[0]) == (7, 1)
        assert runtime.backend == outside


@pytest.mark.parametrize("name", THERE)
def test_changes_between_runs_are_seen(name: str) -> None:
    cells = op2.Set(3)
    x, step = op2.Dat(cells), op2.Const(1, 2.0, "on_backend_step")
    try:
        add = op2.Kernel("void add(double *x) { x[0] += on_backend_step; }", "add")
        loop = loops_of(name)(add, cells, x(op2.RW))
        loop.compute()
        step.data = 5.0
        loop.compute()
        with op2.backend("sequential"):
            loop.compute()
        with op2.chain():
            op2.par_loop(MORE, cells, x(op2.RW))
            loop.compute()
            op2.par_loop(MORE, cells, x(op2.RW))
        assert x.data_ro.tolist() == [19.0] * 3
    finally:
        step.remove_from_namespace()


def test_it_prints_its_backend_and_is_not_pickled() -> None:
    cells = op2.Set(5, "cells")
    x = op2.Dat(cells, name="x")
    loop = loops_of("sequential")(MORE, cells, x(op2.RW))
    assert repr(loop) == "<ParLoop 'more' over Set 'cells' on 'sequential': x RW>"
    assert loop.as_table()[1][1] == ("on", "backend 'sequential'")
    with pytest.raises(UsageError, match="a loop cannot be pickled"):
        pickle.dumps(loop)
    with pytest.raises(UsageError, match="'kernel' cannot be assigned"):
        loop.kernel = MORE


def test_wrong_arguments_and_names_are_errors() -> None:
    cells = op2.Set(5, "cells")
    with pytest.raises(Op2Error, match="the first argument must be a Kernel"):
        loops_of("sequential")("text", cells)
    with pytest.raises(AttributeError, match=r"no backend 'abacus'; there are: cuda.*sequential"):
        _ = backends.abacus
    assert not hasattr(backends, "_abacus")
    assert not hasattr(backends, "__abacus__")


@pytest.mark.parametrize("name", [name for name in NAMES if name not in THERE])
def test_a_backend_without_its_driver_says_the_same_as_op2(name: str) -> None:
    cells = op2.Set(5, "cells")
    x = op2.Dat(cells, 1.0, name="x")
    with pytest.raises(Op2Error) as usual, op2.backend(name):
        op2.par_loop(MORE, cells, x(op2.RW))
    with pytest.raises(type(usual.value)) as met:
        loops_of(name)(MORE, cells, x(op2.RW)).compute()
    assert str(met.value) == str(usual.value)
    assert x.data_ro.tolist() == [1.0] * 5


def test_graphs_of_another_backend_refuse_it() -> None:
    other = next(name for name in THERE if name != runtime.backend)
    cells = op2.Set(5, "cells")
    x = op2.Dat(cells, name="x")
    loop = loops_of(other)(MORE, cells, x(op2.RW))
    loop.compute()
    with pytest.raises(UsageError, match=f"of backend '{other}', but the graph .* runs on"):
        op2.record(loop.compute)
    with op2.backend(other):
        op2.record(loop.compute).submit(3)
    assert x.data_ro.tolist() == [4.0] * 5
