# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import (
    IterateValueError,
    MapValueError,
    SetTypeError,
    SizeTypeError,
    StaticModeError,
    UnsupportedError,
    UsageError,
)

BASE = op2.Set(3, "base")


def test_constant_layers() -> None:
    columns = op2.ExtrudedSet(BASE, 4)
    assert (columns.layers, columns.constant_layers, columns.size) == (4, True, 3)
    assert columns.layers_array.tolist() == [[0, 4]]
    assert columns.layers_array.dtype == np.int32  # as PETSc counts
    assert columns.parent is BASE
    assert BASE in columns
    assert BASE**2 in columns
    assert not columns.extruded_periodic


def test_variable_layers() -> None:
    bounds = [[0, 2], [1, 4], [0, 5]]
    columns = op2.ExtrudedSet(BASE, bounds, extruded_periodic=True)
    assert not columns.constant_layers
    assert columns.layers_array.tolist() == bounds
    assert columns.layers_array.dtype == np.int32
    assert columns(2, 0).layers_array.tolist() == [bounds[0], bounds[2]]
    assert columns.extruded_periodic
    with pytest.raises(ValueError, match="'layers' differs between columns"):
        _ = columns.layers


def test_as_many_layers_in_one_column_as_in_all() -> None:
    one = op2.Set(1)
    assert op2.ExtrudedSet(one, 3).constant_layers
    assert not op2.ExtrudedSet(one, [[0, 3]]).constant_layers


@pytest.mark.parametrize(
    "wrong",
    [
        1,
        0,
        -3,
        "x",
        2.5,
        [2, 3, 4],
        [[0, 2]],
        [[0, 2], [1, 1], [0, 2]],
        [[0, 2.5]] * 3,
        [[0, 2**31]] * 3,
    ],
)
def test_wrong_layers(wrong: Any) -> None:
    with pytest.raises(SizeTypeError, match="ExtrudedSet of Set 'base': "):
        op2.ExtrudedSet(BASE, wrong)


REGIONS = {"all": op2.ALL, "bottom": op2.ON_BOTTOM, "top": op2.ON_TOP}


@pytest.mark.parametrize("region", [*REGIONS, "facets"])
@pytest.mark.parametrize("periodic", [False, True])
def test_columns_of_no_cells(backend: str, region: str, periodic: bool) -> None:
    layers = np.array([[0, 3], [2, 3], [1, 2], [0, 2]])
    base, nodes = op2.Set(4, "base"), op2.Set(5, "nodes")
    columns = op2.ExtrudedSet(base, layers, extruded_periodic=periodic)
    # where there are no cells an entry may lead out of the Set, or nowhere
    there = op2.Map(columns, nodes, 1, [0, 4, -1, 3], offset=[1])
    iterate = {"iteration_region": REGIONS.get(region, op2.ON_INTERIOR_FACETS)}
    n = 2 if region == "facets" else 1
    add = op2.Kernel("void add(double *x, double *y) { x[0] += y[0]; }", "add")
    x, y = op2.Dat(base, 0.0), op2.Dat(nodes, [1.0, 2.0, 4.0, 8.0, 16.0])
    op2.par_loop(add, columns, x(op2.INC), y(op2.READ, there), **iterate)
    wanted = {"all": [3, 8], "bottom": [1, 8], "top": [2, 8]}.get(region)
    if wanted is None:
        wanted = [3, 8] if periodic else [1, 0]
    assert x.data_ro.tolist() == [wanted[0], 0, 0, wanted[1]]
    count = op2.Kernel(f"void count(double *y) {{ y[{n - 1}] += 1; }}", "count")
    y.zero()
    op2.par_loop(count, columns([1, 2, 3]), y(op2.INC, there), **iterate)
    assert y.data_ro.sum() == (0 if region == "facets" and not periodic else 1)
    y.zero()
    op2.par_loop(count, columns([1, 2]), y(op2.INC, there), **iterate)
    assert not y.data_ro.any()


def test_columns_of_no_cells_in_matrices_check_mode_and_python() -> None:
    columns = op2.ExtrudedSet(op2.Set(3, "base"), [[0, 3], [2, 3], [0, 2]])
    nodes = op2.Set(5, "nodes")
    there = op2.Map(columns, nodes, 2, [[0, 1], [4, 4], [3, 4]], offset=[1, 1])
    sparsity = op2.Sparsity((nodes, nodes), [(there, there, [op2.ALL])])
    mat, seen = op2.Mat(sparsity), op2.Dat(nodes, 0.0)
    ones = op2.Kernel("void ones(double *A) { for (int i = 0; i < 4; ++i) A[i] += 1; }", "ones")
    op2.par_loop(ones, columns, mat(op2.INC, (there, there)))
    assert np.diagonal(mat.values).tolist() == [1, 2, 1, 1, 1]

    def mark(x: Any) -> None:
        x += 1

    op2.par_loop(mark, columns, seen(op2.INC, there))
    assert seen.data_ro.tolist() == [1, 2, 1, 1, 1]
    twice = op2.Kernel("void twice(double *x) { x[0] += 1; x[1] += 1; }", "twice")
    op2.par_loop(twice, columns, seen(op2.INC, there), check=True)
    assert seen.data_ro.tolist() == [2, 4, 2, 2, 2]
    assert pickle.loads(pickle.dumps(columns)).layers_array.tolist()[1] == [2, 3]


@pytest.mark.parametrize("wrong", [1, op2.Subset(BASE, [0]), op2.ExtrudedSet(BASE, 2)])
def test_wrong_parents(wrong: Any) -> None:
    with pytest.raises(SetTypeError, match="the parent must be a Set that is neither"):
        op2.ExtrudedSet(wrong, 3)


def test_values_do_not_live_on_it() -> None:
    for make in (lambda: op2.ExtrudedSet(BASE, 2) ** 1, lambda: op2.Dat(op2.ExtrudedSet(BASE, 2))):
        with pytest.raises(UnsupportedError, match="values do not live on extruded Sets"):
            make()


def test_pickling_and_text() -> None:
    for layers in (3, [[0, 2], [1, 4], [0, 5]]):
        columns = op2.ExtrudedSet(BASE, layers)
        again = pickle.loads(pickle.dumps(columns))
        assert again.layers_array.tolist() == columns.layers_array.tolist()
        assert again.constant_layers == columns.constant_layers
        assert "ExtrudedSet" in str(columns)
        assert repr(columns) == f"ExtrudedSet({BASE!r}, {layers!r})"


# Loops; what they compute is in the corpus


def kernel(n: int = 1) -> op2.Kernel:
    return op2.Kernel(f"void f(double *x) {{ x[{n} - 1] = 1; }}", "f")


def test_maps_must_start_on_it_or_on_its_base() -> None:
    columns, nodes, other = op2.ExtrudedSet(BASE, 3), op2.Set(9), op2.Set(3, "other")
    there = op2.Map(other, nodes, 1, [0, 3, 6])
    with pytest.raises(MapValueError, match="starts on Set 'other', but the loop runs over"):
        op2.ParLoop(kernel(), columns, op2.Dat(nodes)(op2.WRITE, there))


def test_offsets_that_lead_out_of_the_target_set() -> None:
    columns, nodes = op2.ExtrudedSet(BASE, 3), op2.Set(9, "nodes")
    there = op2.Map(columns, nodes, 1, [0, 3, 8], offset=[1])
    with pytest.raises(MapValueError, match="from column 2, slot 0, to 9, but Set 'nodes'"):
        op2.ParLoop(kernel(), columns, op2.Dat(nodes)(op2.WRITE, there))
    op2.ParLoop(kernel(), columns(0, 1), op2.Dat(nodes)(op2.WRITE, there))


def test_only_extruded_sets_have_regions_and_layers() -> None:
    x = op2.Dat(BASE)
    with pytest.raises(IterateValueError, match="region TOP is a part of columns"):
        op2.ParLoop(kernel(), BASE, x(op2.WRITE), iteration_region=op2.ON_TOP)
    with pytest.raises(UsageError, match="pass_layer_arg was asked for"):
        op2.ParLoop(kernel(), BASE, x(op2.WRITE), pass_layer_arg=True)
    with pytest.raises(UsageError, match="are the same; give one of them"):
        op2.ParLoop(kernel(), BASE, x(op2.WRITE), iterate=op2.ALL, iteration_region=op2.ALL)


def test_dats_without_map_have_a_row_a_column() -> None:
    columns = op2.ExtrudedSet(BASE, 4)
    count = op2.Dat(BASE, dtype=np.int32)
    add = op2.Kernel("void f(int *x) { x[0] += 1; }", "f")
    op2.par_loop(add, columns, count(op2.INC))
    assert count.data_ro.tolist() == [3, 3, 3]
    for iterate, each in ((op2.ON_TOP, 1), (op2.ON_INTERIOR_FACETS, 2)):
        count.zero()
        op2.par_loop(add, columns, count(op2.INC), iterate=iterate)
        assert count.data_ro.tolist() == [each] * 3


def test_columns_of_one_cell_have_no_interior_facets() -> None:
    columns = op2.ExtrudedSet(BASE, 2)
    count = op2.Dat(BASE, dtype=np.int32)
    add = op2.Kernel("void f(int *x) { x[0] += 1; }", "f")
    op2.par_loop(add, columns, count(op2.INC), iteration_region=op2.ON_INTERIOR_FACETS)
    assert count.data_ro.tolist() == [0, 0, 0]


def test_text_does_not_depend_on_the_number_of_layers() -> None:
    texts = set()
    for layers in (3, 7):
        columns, nodes = op2.ExtrudedSet(BASE, layers), op2.Set(30)
        there = op2.Map(columns, nodes, 1, [0, 10, 20], offset=[1])
        loop = op2.ParLoop(kernel(), columns, op2.Dat(nodes)(op2.WRITE, there))
        texts.add(str(loop.generate()))
    assert len(texts) == 1


@pytest.mark.parametrize("backend", ["sequential", "openmp", "opencl"])
def test_maps_of_the_base_lead_to_the_same_from_every_cell(backend: str) -> None:
    columns, nodes = op2.ExtrudedSet(BASE, 4), op2.Set(2)
    there = op2.Map(BASE, nodes, 1, [0, 1, 0])
    total = op2.Dat(nodes)
    text = "void f(double *x, const double *y) { x[0] += y[0]; }"
    y = op2.Dat(BASE, [1.0, 2.0, 3.0])
    with op2.backend(backend):
        op2.par_loop(op2.Kernel(text, "f"), columns, total(op2.INC, there), y(op2.READ))
        assert total.data_ro.tolist() == [12, 6]
        bottom = {"iteration_region": op2.ON_BOTTOM}
        op2.par_loop(
            op2.Kernel(text, "f"), columns(1), total(op2.INC, there), y(op2.READ), **bottom
        )
        assert total.data_ro.tolist() == [12, 8]


def test_text_of_columns_needs_no_size() -> None:
    texts = []
    for size in (None, 4):
        op2.init(backend="sequential", static=True)
        base, nodes = op2.Set(size, "base"), op2.Set(size and 20, "nodes")
        columns = op2.ExtrudedSet(base, 5)
        values = None if size is None else np.arange(8).reshape(4, 2)
        ends = op2.Map(columns, nodes, 2, values, offset=[1, 1])
        count, x = op2.Dat(base), op2.Dat(nodes)
        kernel = op2.Kernel("void f(double *c, double *x) { c[0] += 1; x[1] += 1; }", "f")
        args = (count(op2.INC), x(op2.INC, ends))
        texts.append(str(op2.ParLoop(kernel, columns, *args).generate()))
        op2.exit()
    assert texts[0] == texts[1]
    op2.init(static=True)
    with pytest.raises(StaticModeError, match="without a size"):
        op2.ExtrudedSet(op2.Set(None, "base"), [[0, 3]])
    op2.exit()
