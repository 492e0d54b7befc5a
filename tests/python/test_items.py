# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import IterateValueError, MapValueError
from pyop2cxx.sets.items import check_reach, items_of, reached

BASE = op2.Set((2, 3, 4), "base")


def test_items_of_a_set_are_its_owned_entities() -> None:
    items = items_of(BASE, None, False, "loop")
    assert (items.n, items.tables, items.extruded, items.base) == (3, (), False, BASE)
    assert items_of(BASE, op2.ALL, False, "loop").n == 3
    with pytest.raises(IterateValueError):
        items_of(BASE, op2.ON_TOP, False, "loop")


def test_items_of_a_subset_are_listed() -> None:
    items = items_of(BASE(0, 2, 3), None, False, "loop")
    assert (items.n, len(items.tables), items.whole) == (2, 1, BASE)


@pytest.mark.parametrize(
    ("region", "periodic", "n", "first"),
    [
        (None, False, 12, 0),
        (op2.ON_BOTTOM, False, 3, 0),
        (op2.ON_TOP, False, 3, 3),
        (op2.ON_INTERIOR_FACETS, False, 9, 0),
        (op2.ON_INTERIOR_FACETS, True, 12, 0),
    ],
)
def test_items_of_columns(
    region: op2.IterationRegion | None, periodic: bool, n: int, first: int
) -> None:
    columns = op2.ExtrudedSet(BASE, 5, extruded_periodic=periodic)
    items = items_of(columns, region, False, "loop")
    assert (items.n, items.base, items.whole) == (n, BASE, columns)
    assert items.arrays[0].tolist() == [[n // 3, first, 0, 4]]
    assert items.facets == (region is op2.ON_INTERIOR_FACETS)
    assert items_of(columns, region, False, "loop") is items


def test_items_of_columns_of_different_heights() -> None:
    columns = op2.ExtrudedSet(BASE, [[0, 3], [2, 4], [1, 5], [0, 9]])
    items = items_of(columns, None, False, "loop")
    column, level, bounds = items.arrays
    assert column.ravel().tolist() == [0, 0, 1, 2, 2, 2]
    assert level.ravel().tolist() == [0, 1, 0, 0, 1, 2]
    assert bounds.tolist() == [[0, 2], [2, 3], [1, 4], [0, 8]]
    top = items_of(columns(0, 2), op2.ON_TOP, False, "loop")
    assert top.arrays[0].ravel().tolist() == [0, 2]
    assert top.arrays[1].ravel().tolist() == [1, 2]


def test_reach_of_offsets() -> None:
    nodes = op2.Set(10, "nodes")
    columns = op2.ExtrudedSet(BASE, [[0, 3], [0, 5], [0, 2], [0, 9]])
    there = op2.Map(columns, nodes, 1, [8, 6, 9, 9], offset=[1])
    items = items_of(columns, None, False, "loop")
    check_reach(there, items, columns, "loop")
    too_far = op2.Map(columns, nodes, 1, [8, 7, 9, 9], offset=[1])
    with pytest.raises(MapValueError, match="from column 1, slot 0, to 10"):
        check_reach(too_far, items, columns, "loop")
    part = columns(0, 2)
    check_reach(too_far, items_of(part, None, False, "loop"), part, "loop")


def test_what_leads_nowhere_reaches_nothing() -> None:
    nodes = op2.Set(10, "nodes")
    columns = op2.ExtrudedSet(BASE, 5)
    there = op2.Map(columns, nodes, 1, [6, -1, 5, -1], offset=[1])
    check_reach(there, items_of(columns, None, False, "loop"), columns, "loop")


def test_values_that_lead_out_later_are_found_before_the_loop_runs() -> None:
    nodes = op2.Set(20, "nodes")
    columns = op2.ExtrudedSet(BASE, 5)
    there = op2.Map(columns, nodes, 2, [0, 1] * 4, "there", offset=[1, 4])
    x = op2.Dat(nodes)
    kernel = op2.Kernel("void add(double *x) { x[0] += 1; x[1] += 1; }", "add")
    loop = op2.ParLoop(kernel, columns, x(op2.INC, there))
    loop.compute()
    before = x.data_ro.copy()
    there.update_values([0, 1, 0, 1, 0, 9, 0, 1])
    with pytest.raises(MapValueError, match=r"par_loop 'add': arg 0: .*column 2, slot 1, to 21"):
        loop.compute()
    np.testing.assert_array_equal(x.data_ro, before)


def test_reach_around_a_period() -> None:
    nodes = op2.Set(12, "nodes")
    columns = op2.ExtrudedSet(BASE, 5, extruded_periodic=True)
    values = np.array([[0, 1], [4, 5], [8, 9], [8, 9]])
    there = op2.Map(columns, nodes, 2, values, offset=[1, 1], offset_quotient=[0, 1])
    check_reach(there, items_of(columns, None, False, "loop"), columns, "loop")
    without = op2.Map(columns, nodes, 2, values, offset=[1, 1])
    with pytest.raises(MapValueError, match="check its offset"):
        check_reach(without, items_of(columns, None, False, "loop"), columns, "loop")


@pytest.mark.parametrize(
    ("backend", "strategy"),
    [("sequential", None), ("openmp", "owner"), ("openmp", "block"), ("openmp", "colour")],
)
def test_elements_that_lead_nowhere_are_left_out(backend: str, strategy: str | None) -> None:
    rng = np.random.default_rng(1)
    edges, nodes = op2.Set(40), op2.Set(12)
    values = rng.integers(0, 12, (40, 2))
    gone = rng.random(40) < 0.4
    values[gone, 1] = op2.Map.VALUE_UNDEFINED
    ends = op2.Map(edges, nodes, 2, values)
    x, y = op2.Dat(nodes, dtype=np.int64), op2.Dat(edges, np.arange(40))
    kernel = op2.Kernel("void k(int64_t *x, const int64_t *y) { x[0] += *y; x[1] += 2 * *y; }", "k")
    there = np.flatnonzero(~gone)
    with op2.backend(backend):
        op2.par_loop(kernel, edges(there), x(op2.INC, ends), y(op2.READ), strategy=strategy)
        wanted = np.zeros(12, np.int64)
        np.add.at(wanted, values[there], there[:, None] * [1, 2])
        assert x.data_ro.tolist() == wanted.tolist()
        for path in (ends, op2.PermutedMap(ends, [1, 0])):
            with pytest.raises(
                MapValueError, match=f"nowhere from element {np.argmax(gone)}, slot"
            ):
                op2.par_loop(kernel, edges, x(op2.INC, path), y(op2.READ), strategy=strategy)
    assert x.data_ro.tolist() == wanted.tolist()


def test_values_that_come_to_lead_nowhere_are_found() -> None:
    cells = op2.Set(2)
    there, x = op2.Map(cells, cells, 1, [0, 1]), op2.Dat(cells)
    loop = op2.ParLoop(op2.Kernel("void k(double *x) { *x += 1; }", "k"), cells, x(op2.INC, there))
    loop()
    there.update_values([1, -1])
    with pytest.raises(MapValueError, match="element 1, slot 0"):
        loop()
    assert x.data_ro.tolist() == [1, 1]


def test_a_matrix_drops_what_leads_nowhere() -> None:
    cells, nodes = op2.Set(3), op2.Set(4)
    ends = op2.Map(cells, nodes, 2, [[0, 1], [1, -1], [2, 3]])
    mat = op2.Mat(op2.Sparsity((nodes**1, nodes**1), [(ends, ends, None)]))
    text = "void k(double *A) { for (int i = 0; i < 4; ++i) A[i] += i + 1; }"
    for backend in ("sequential", "openmp"):
        mat.zero()
        with op2.backend(backend):
            op2.par_loop(op2.Kernel(text, "k"), cells, mat(op2.INC, (ends, ends)))
        mat.assemble()
        wanted = [[1, 2, 0, 0], [3, 5, 0, 0], [0, 0, 1, 2], [0, 0, 3, 4]]
        assert mat.values.tolist() == wanted


def test_what_leads_nowhere_does_so_from_all_cells() -> None:
    columns, nodes = op2.ExtrudedSet(op2.Set(2), 4), op2.Set(8)
    map_ = op2.Map(columns, nodes, 2, [[0, 4], [-1, -1]], offset=[1, 1])
    items = items_of(columns, None, False, "loop")
    rows = np.array([[0, 4], [-1, -1]])
    assert reached(map_, rows, 2, 3, items).tolist() == [[2, 6], [-1, -1]]
    assert reached(map_, rows, np.array([[1], [2]]), 3, items).tolist() == [[1, 5], [-1, -1]]
