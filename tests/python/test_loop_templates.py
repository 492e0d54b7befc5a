# SPDX-License-Identifier: BSD-3-Clause
"""Loops like an earlier one on other data: no second analysis, and no memory held by the first."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import KernelWarning
from pyop2cxx.pipeline import flow

if TYPE_CHECKING:
    from collections.abc import Callable

SUM = "static void add(const double *x, double *y) { y[0] += x[0] + 2 * x[1]; }"


class Path:
    """Edges along a path of nodes, and loops that add to a Global or to edges."""

    def __init__(self, n: int = 20) -> None:
        self.nodes, self.edges = op2.Set(n + 1, "nodes"), op2.Set(n, "edges")
        ends = np.stack([np.arange(n), np.arange(1, n + 1)], axis=1)
        self.ends = op2.Map(self.edges, self.nodes, 2, ends, "ends")
        self.kernel = op2.Kernel(SUM, "add")

    def dat(self, factor: float = 1.0) -> op2.Dat:
        return op2.Dat(self.nodes, factor * np.arange(self.nodes.size))

    def loop(self, x: op2.Dat, y: op2.Global) -> op2.ParLoop:
        return op2.ParLoop(self.kernel, self.edges, x(op2.READ, self.ends), y(op2.INC))

    def total(self, factor: float = 1.0) -> float:
        first = np.arange(self.edges.size)
        return float(factor * (first + 2 * (first + 1)).sum())


@pytest.fixture
def analyses(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How many loops were looked up among compiled ones."""
    seen: list[str] = []
    whole = flow.executable

    def counted(request: flow.Request, *more: object) -> object:
        seen.append(request.name)
        return whole(request, *more)

    monkeypatch.setattr(flow, "executable", counted)
    return lambda: len(seen)


def test_a_loop_on_other_data_is_not_analysed_again(
    backend: str, analyses: Callable[[], int]
) -> None:
    path = Path()
    for i in range(4):
        total = op2.Global(1, 0.0)
        path.loop(path.dat(float(i)), total).compute()
        assert total.data_ro[0] == path.total(float(i))
    assert analyses() == 1


def test_other_kinds_of_data_are_analysed(backend: str, analyses: Callable[[], int]) -> None:
    path = Path()
    path.loop(path.dat(), op2.Global(1, 0.0)).compute()
    total = op2.Global(1, 0.0)
    single = op2.Kernel(SUM.replace("double *x", "float *x"), "add")
    x = op2.Dat(path.nodes, np.arange(21), "float32")
    op2.ParLoop(single, path.edges, x(op2.READ, path.ends), total(op2.INC)).compute()
    assert total.data_ro[0] == path.total()
    other = Path()
    other.loop(other.dat(2.0), total := op2.Global(1, 0.0)).compute()
    assert total.data_ro[0] == other.total(2.0)
    assert analyses() == 3


def test_shared_memory_is_analysed(backend: str, analyses: Callable[[], int]) -> None:
    cells = op2.Set(5, "cells")
    kernel = op2.Kernel("static void f(const double *a, double *b) { b[0] += 2 * a[0]; }", "f")
    a, b = op2.Dat(cells, np.ones(5)), op2.Dat(cells, np.ones(5))
    op2.ParLoop(kernel, cells, a(op2.READ), b(op2.RW)).compute()
    op2.ParLoop(kernel, cells, b(op2.READ), b(op2.RW)).compute()
    assert b.data_ro.tolist() == [9.0] * 5
    assert analyses() == 2


def test_changed_options_and_maps_are_analysed(analyses: Callable[[], int]) -> None:
    path = Path()
    path.loop(path.dat(), op2.Global(1, 0.0)).compute()
    path.ends.update_values(np.zeros((20, 2), np.int32))
    path.loop(path.dat() + 1.0, total := op2.Global(1, 0.0)).compute()
    assert total.data_ro[0] == 3.0 * 20
    assert analyses() == 2


def test_data_replaced_before_the_first_run(backend: str) -> None:
    path = Path()
    path.loop(path.dat(), op2.Global(1, 0.0)).compute()
    total = op2.Global(1, 0.0)
    loop = path.loop(path.dat(), total)
    loop.replace_data(0, path.dat(3.0))
    loop.compute()
    loop.compute()
    assert total.data_ro[0] == 2 * path.total(3.0)


def test_no_data_and_no_mesh_are_held() -> None:
    path = Path()
    x, total = path.dat(), op2.Global(1, 0.0)
    path.loop(x, total).compute()
    seen = [weakref.ref(one) for one in (x, total)]
    buffers = [weakref.ref(one.buffer) for one in (x, total)]
    del x, total
    gc.collect()
    assert [ref() for ref in seen + buffers] == [None] * 4
    mesh = weakref.ref(path.ends), weakref.ref(path.edges)
    del path
    gc.collect()
    assert [ref() for ref in mesh] == [None, None]


def test_each_loop_warns() -> None:
    cells = op2.Set(3, "cells")
    x = op2.Dat(cells)
    limit = op2.Const(1, 0, "limit_of_templates", dtype="int32")
    text = "static void f(double *x) { if (limit_of_templates) x[5] = 1; else x[0] = 2; }"
    kernel = op2.Kernel(text, "f")
    try:
        for _ in range(2):
            with pytest.warns(KernelWarning, match="index 5"):
                op2.ParLoop(kernel, cells, x(op2.RW)).compute()
    finally:
        limit.remove_from_namespace()


def test_mixed_dats_have_several_arrays(backend: str, analyses: Callable[[], int]) -> None:
    cells = op2.Set(4, "cells")
    text = "static void f(double *m, const double *a) { m[0] = a[0]; m[1] = 2 * a[0]; }"
    kernel = op2.Kernel(text, "f")
    for i in range(3):
        mixed = op2.MixedDat([op2.Dat(cells), op2.Dat(cells)])
        a = op2.Dat(cells, i + np.arange(4.0))
        op2.ParLoop(kernel, cells, mixed(op2.WRITE), a(op2.READ)).compute()
        assert mixed[1].data_ro.tolist() == [2.0 * (i + j) for j in range(4)]
    assert analyses() == 1


def test_the_loops_of_check_mode_are_no_templates(backend: str) -> None:
    cells = op2.Set(9, "cells")
    kernel = op2.Kernel("static void f(int *n) { n[1] += 2; n[0] += 1; }", "f")
    for check in (True, False, True):
        for _ in range(2):
            n = op2.Global(2, [5, 0], "int32")
            op2.ParLoop(kernel, cells, n(op2.INC), check=check).compute()
            assert n.data_ro.tolist() == [14, 18]
