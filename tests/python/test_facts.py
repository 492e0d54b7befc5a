# SPDX-License-Identifier: BSD-3-Clause
"""What a loop's text is chosen by: widths, properties of Maps, bytes moved."""

from __future__ import annotations

import numpy as np
import pytest

from pyop2cxx import _core, op2
from pyop2cxx.runtime import runtime

ADD = "void f(double *y) { y[0] += 1; }"


def loop_of(entries, n_targets=100):
    """A loop that adds through a Map with these entries."""
    edges, nodes = op2.Set(len(entries)), op2.Set(n_targets)
    map_ = op2.Map(edges, nodes, 1, np.asarray(entries))
    return op2.ParLoop(op2.Kernel(ADD, "f"), edges, op2.Dat(nodes)(op2.INC, map_))


def built_from(loop):
    return loop.symbolic()


def widths_on_cuda(loop):
    backend = runtime.engine.backend("cuda")
    return loop.facts.options(built_from(loop), backend, {"deterministic": False}).widths


@pytest.mark.usefixtures("static")
def test_indices_of_devices_are_wide_where_results_of_elements_need_it() -> None:
    nodes = op2.Set(100)
    kernel = op2.Kernel("void f(double *y) { y[0] += 1; }", "f")
    widths = []
    for n in (2**26, 2**28):
        edges = op2.Set(n)
        y = op2.Dat(nodes**4)(op2.INC, op2.Map(edges, nodes, 2))
        loop = op2.ParLoop(kernel, edges, y)
        widths.append(widths_on_cuda(loop).index_bytes)
    assert widths == [4, 8]  # 2 * 2**28 targets fit, results of 4 values for each do not


def test_a_map_that_leads_nowhere_twice_needs_no_care() -> None:
    with op2.backend("openmp"):
        for entries, strategy in (([3, 1, 2], "direct"), ([3, 1, 3], "block")):
            assert loop_of(entries).explain().strategy == strategy


def test_targets_with_as_many_elements_each_are_evenly_covered() -> None:
    for entries, evenly in ((np.arange(200) % 100, True), (np.zeros(200, dtype=int), False)):
        loop = loop_of(entries)
        assert widths_on_cuda(loop).padded == evenly


def test_columns_are_as_full_as_groups_of_targets_are_alike() -> None:
    for entries, fill in ((np.arange(200) % 100, 1.0), (np.zeros(200, dtype=int), 0.25)):
        loop = loop_of(entries)
        assert loop.facts.column_fill(built_from(loop), 4, _core.Tuning(), 0.5) == fill


def test_values_that_an_element_reads_and_writes_in_two_ways_move_both_ways() -> None:
    """Reading other entities' values, and writing its own: each Dat once, read and written."""
    edges, nodes = op2.Set(100), op2.Set(100)
    x = op2.Dat(nodes)
    map_ = op2.Map(edges, nodes, 1, np.arange(100))
    kernel = op2.Kernel("void f(double *y, const double *x) { y[0] += x[0]; }", "f")
    loop = op2.ParLoop(kernel, edges, x(op2.INC, map_), x(op2.READ, map_))
    assert loop.useful_bytes == 2 * 100 * 8 + 100 * 4


def test_rows_of_columns_are_counted_once() -> None:
    base, nodes = op2.Set(10), op2.Set(10)
    cells = op2.ExtrudedSet(base, layers=6)
    map_ = op2.Map(cells, nodes, 1, np.arange(10), offset=[0])
    kernel = op2.Kernel("void f(double *y) { y[0] += 1; }", "f")
    loop = op2.ParLoop(kernel, cells, op2.Dat(nodes)(op2.INC, map_))
    assert loop.useful_bytes == 2 * 10 * 8 + 10 * 4


def test_moved_bytes_are_bounded_by_the_target() -> None:
    loop = loop_of(np.zeros(200, dtype=int), n_targets=3)
    assert loop.useful_bytes == 2 * 3 * 8 + 200 * 4
