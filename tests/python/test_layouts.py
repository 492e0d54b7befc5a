# SPDX-License-Identifier: BSD-3-Clause
"""Wide Dats of a loop: where another layout on devices is worth a word, and its measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.loop.layouts import wide
from pyop2cxx.pipeline import explain
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.tuned_file import Entry
from pyop2cxx.tune.layouts import with_soa
from pyop2cxx.tune.measure import decide

if TYPE_CHECKING:
    from pathlib import Path

DEVICES = [one.name for one in op2.backends() if one.available and one.name in ("opencl", "cuda")]


def product(n: int = 8, layout: str = "auto") -> op2.ParLoop:
    """A product of a matrix and a vector for each of 200 cells."""
    cells = op2.Set(200, "cells")
    rng = np.random.default_rng(0)
    a = op2.Dat(cells ** (n * n), rng.random((200, n * n)), name="a", layout=layout)
    x, y = op2.Dat(cells**n, rng.random((200, n)), name="x"), op2.Dat(cells**n, name="y")
    head = "void product(double *y, const double *a, const double *x)"
    kernel = op2.Kernel(f"{head} {{ op2_gemv({n}, {n}, a, x, y); }}", "product")
    return op2.ParLoop(kernel, cells, y(op2.WRITE), a(op2.READ), x(op2.READ))


def names(loop: op2.ParLoop) -> list[str]:
    return [dat.name for dat in wide(loop.parts).values()]


def test_only_wide_rows_without_a_map_are_meant() -> None:
    assert names(product()) == ["a"]
    assert names(product(layout="soa")) == []
    assert names(product(4)) == []
    cells, points = op2.Set(3, "cells"), op2.Set(4, "points")
    x = op2.Dat(points**64, name="x")
    y = op2.Dat(cells, name="y")
    ends = op2.Map(cells, points, 1, [[0], [1], [2]], "ends")
    first = op2.Kernel("void first(double *y, const double *x) { y[0] = x[0]; }", "first")
    assert names(op2.ParLoop(first, cells, y(op2.WRITE), x(op2.READ, ends))) == []


def test_the_twin_has_equal_values_and_the_other_layout() -> None:
    loop = product()
    loop.compute()
    twin = with_soa(loop)
    assert twin is not None
    assert [part.data.soa for part in twin.parts] == [False, True, False]
    assert twin.args[1].data.data_ro.tolist() == loop.args[1].data.data_ro.tolist()
    twin.compute()
    assert with_soa(product(4)) is None


@pytest.mark.parametrize("backend", DEVICES)
def test_both_layouts_are_measured(backend: str, tmp_path: Path) -> None:
    op2.init(cache_dir=str(tmp_path), tune="use", backend=backend)
    loop = product()
    loop.compute()
    before = loop.args[0].data.data_ro.copy()
    found = decide(loop, backend)
    assert isinstance(found, Entry)
    assert found.apart["us"] > 0
    assert loop.args[0].data.data_ro.tolist() == before.tolist()
    assert not loop.args[1].data.soa
    runtime.engine.tuned.note(backend, found)
    runtime.epoch += 1
    said = loop.explain().layout
    apart, us = found.apart["us"], found.us
    assert said == f"measured: {apart:.1f} us with layout=\"soa\" of 'a', {us:.1f} us without"
    assert said in str(loop.explain())
    op2.exit()


def test_hosts_have_one_layout() -> None:
    loop = product()
    loop.compute()
    found = decide(loop, "sequential")
    assert isinstance(found, Entry)
    assert not found.apart
    assert not loop.explain().layout


def test_a_gpu_without_a_measurement_gets_advice() -> None:
    loop = product()
    request = loop.request(loop.symbolic(), {"backend": "cuda"})
    said = explain.explain(request, "cells", 200, None, ["a"])
    assert said.strategy == "direct"
    assert said.layout.startswith("layout=\"soa\" of 'a' may be up to 5 times as fast: ")
    assert not explain.explain(request, "cells", 200, None, []).layout
