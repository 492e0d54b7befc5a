# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyop2cxx import op2
from pyop2cxx.exceptions import (
    DataSetTypeError,
    IndexValueError,
    MapTypeError,
    MapValueError,
    NameTypeError,
    SparsityFormatError,
    SparsityShapeError,
    StaticModeError,
    UsageError,
)


class World:
    """Two triangles that share an edge."""

    def __init__(self) -> None:
        self.cells, self.nodes = op2.Set(2, "cells"), op2.Set(4, "nodes")
        self.c2n = op2.Map(self.cells, self.nodes, 3, [0, 1, 3, 2, 3, 1], "c2n")
        self.dset = self.nodes**1

    def sparsity(self, **options: Any) -> op2.Sparsity:
        return op2.Sparsity((self.dset, self.dset), [(self.c2n, self.c2n, None)], **options)


@pytest.fixture
def world() -> World:
    return World()


def test_two_triangles(world: World) -> None:
    sparsity = world.sparsity(name="s")
    assert sparsity.nnz.tolist() == [3, 4, 3, 4]
    assert (sparsity.nz, sparsity.onz, sparsity.onnz.tolist()) == (14, 0, [0] * 4)
    assert sparsity.rowptr.tolist() == [0, 3, 7, 10, 14]
    assert sparsity.colidx.tolist() == [0, 1, 3, 0, 1, 2, 3, 1, 2, 3, 0, 1, 2, 3]
    assert (sparsity.rowptr.dtype, sparsity.colidx.dtype) == (np.int64, np.int32)
    assert sparsity.diagonal().tolist() == [0, 4, 8, 13]
    assert (sparsity.nrows, sparsity.ncols, sparsity.longest_row) == (4, 4, 4)
    assert (sparsity.shape, sparsity.dims, sparsity.name) == ((1, 1), (((1, 1),),), "s")
    assert sparsity.dsets == (world.dset, world.dset)
    assert sparsity.rcmaps == {(0, 0): [(world.c2n, world.c2n)]}
    assert sparsity.iteration_regions == {(0, 0): [None]}
    assert list(sparsity) == [sparsity[0, 0]] == [sparsity]
    assert (world.c2n, world.c2n) in sparsity
    assert (world.c2n, op2.Map(world.cells, world.nodes, 1, [0, 1])) not in sparsity
    assert 3 not in sparsity
    with pytest.raises(ValueError, match="read-only"):
        sparsity.colidx[0] = 2


@settings(max_examples=30)
@given(st.data())
def test_equals_the_definition(data: st.DataObject) -> None:
    n, n_rows, n_cols = (data.draw(st.integers(1, 12)) for _ in range(3))
    cells, rows, cols = op2.Set(n), op2.Set(n_rows), op2.Set(n_cols)
    pairs, expected = [], np.zeros((n_rows, n_cols), bool)
    for _ in range(data.draw(st.integers(1, 2))):
        ends = []
        for target in (rows, cols):
            arity = data.draw(st.integers(1, 3))
            entry = st.integers(0, target.size - 1)
            values = data.draw(st.lists(entry, min_size=n * arity, max_size=n * arity))
            ends.append(op2.Map(cells, target, arity, values))
        pairs.append((*ends, None))
        for r, c in zip(ends[0].values, ends[1].values, strict=True):
            expected[np.ix_(r, c)] = True
    sparsity = op2.Sparsity((rows**2, cols**1), pairs)
    places = [(i, int(j)) for i in range(n_rows) for j in np.flatnonzero(expected[i])]
    found = np.repeat(np.arange(n_rows), sparsity.nnz)
    assert list(zip(found.tolist(), sparsity.colidx.tolist(), strict=True)) == places


def test_a_diagonal_where_no_element_goes() -> None:
    cells, nodes, others = op2.Set(1), op2.Set(5), op2.Set(5)
    c2n, c2o = op2.Map(cells, nodes, 1, [2]), op2.Map(cells, others, 1, [2])
    square = op2.Sparsity((nodes, nodes), [(c2n, c2n, None)])
    assert square.nnz.tolist() == [1] * 5
    assert op2.Sparsity((nodes, others), [(c2n, c2o)]).nz == 1
    bare = op2.Sparsity((nodes, nodes), [(c2n, c2n, None)], diagonal_block=False)
    assert bare.diagonal().tolist() == [-1, -1, 0, -1, -1]


def test_the_same_arguments_give_the_same_object(world: World) -> None:
    other = op2.Map(world.cells, world.nodes, 1, [0, 3])
    sparsity = world.sparsity()
    assert world.sparsity() is sparsity
    pairs = [(world.c2n, world.c2n, None), (other, other, None)]
    both = op2.Sparsity((world.dset, world.dset), pairs)
    assert op2.Sparsity((world.dset, world.dset), pairs[::-1]) is both
    assert op2.Sparsity(world.nodes, world.c2n) is sparsity
    assert op2.Sparsity((world.nodes, world.nodes), (world.c2n, world.c2n)) is sparsity
    assert op2.Sparsity((world.dset, world.dset), {(0, 0): pairs[:1]}) is sparsity
    assert op2.Sparsity((world.dset, world.dset), pairs[:1] * 2) is sparsity
    assert world.sparsity(diagonal_block=False) is not sparsity
    assert op2.Sparsity((world.nodes**2, world.nodes**2), pairs[:1]) is not sparsity


def test_text(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    sparsity = world.sparsity(name="s")
    maps = {(0, 0): ((world.c2n, world.c2n, None),)}
    assert repr(sparsity) == (
        f"Sparsity({sparsity.dsets!r}, {maps!r}, name='s', nested=True, block_sparse=True, "
        "diagonal_block=True)"
    )
    assert str(sparsity) == f"OP2 Sparsity: s, {sparsity.places}"
    assert sparsity.places.startswith("rows on 'nodes' ** ")
    monkeypatch.setattr("pyop2cxx.sets.sparsities.is_under_pyop2", lambda: True)
    assert str(sparsity) == (
        f"OP2 Sparsity: dsets {sparsity.dsets}, maps_and_regions {maps}, name s, nested True, "
        "block_sparse True, diagonal_block True"
    )


def test_bad_arguments(world: World) -> None:
    dset, c2n, pair = world.dset, world.c2n, [(world.c2n, world.c2n, None)]
    other = op2.Set(4, "other")
    wrong_end, wrong_start = (
        op2.Map(world.cells, other, 1, [0, 1]),
        op2.Map(other, other, 1, [0] * 4),
    )
    empty = op2.Map(world.cells, world.nodes, 3, name="empty")
    cases: list[tuple[type[Exception], type[Exception], str, tuple[Any, ...]]] = [
        (DataSetTypeError, TypeError, "rows must be a DataSet", (("illegal", dset), pair)),
        (DataSetTypeError, TypeError, "columns must be", ((dset, "illegal"), pair)),
        (DataSetTypeError, TypeError, "expected the DataSets", ("illegal", pair)),
        (SparsityShapeError, RuntimeError, "two DataSets", ((dset,), pair)),
        (MapTypeError, TypeError, "Map of the rows", ((dset, dset), [("illegal", c2n, None)])),
        (MapTypeError, TypeError, "Map of the columns", ((dset, dset), [(c2n, 3, None)])),
        (MapTypeError, TypeError, "expected a list of pairs", ((dset, dset), "illegal")),
        (MapTypeError, TypeError, "expected a pair", ((dset, dset), [c2n])),
        (NameTypeError, TypeError, "name must be a string", ((dset, dset), pair, 3)),
        (MapValueError, ValueError, "'empty' has no values", ((dset, dset), [(empty, c2n, None)])),
        (MapValueError, ValueError, "no pair of Maps", ((dset, dset), [])),
        (SparsityShapeError, RuntimeError, "start", ((dset, other), [(c2n, wrong_start, None)])),
        (SparsityShapeError, RuntimeError, "leads to", ((dset, dset), [(wrong_end, c2n, None)])),
        (SparsityShapeError, RuntimeError, "leads to", ((dset, dset), [(c2n, wrong_end, None)])),
        (SparsityShapeError, RuntimeError, "no block", ((dset, dset), {(1, 0): pair})),
    ]
    for named, builtin, message, arguments in cases:
        with pytest.raises(named, match=message) as caught:
            op2.Sparsity(*arguments)
        assert isinstance(caught.value, builtin)
    with pytest.raises(IndexValueError, match="1 x 1 blocks"):
        world.sparsity()[1, 0]


@pytest.mark.usefixtures("static")
def test_static_mode_asks_for_no_sizes() -> None:
    cells, nodes = op2.Set(), op2.Set()
    c2n = op2.Map(cells, nodes, 3)
    sparsity = op2.Sparsity((nodes, nodes), [(c2n, c2n, None)])
    assert sparsity.dims == (((1, 1),),)
    with pytest.raises(StaticModeError, match="'nnz' needs loops"):
        _ = sparsity.nz


def test_a_row_of_blocks(world: World) -> None:
    a, b = op2.Set(2), op2.Set(3)
    path = op2.MixedMap((op2.Map(a, a, 1, [0, 1]), op2.Map(a, b, 1, [0, 2])))
    both = op2.MixedDataSet((a, b))
    sparsity = op2.Sparsity((both, both), [(path, path, None)])
    mat = op2.Mat(sparsity)
    for i in range(2):
        assert sparsity[i] == (sparsity[i, 0], sparsity[i, 1])
        assert mat[i] == (mat[i, 0], mat[i, 1])
    for blocks in (sparsity, mat):
        with pytest.raises(IndexValueError, match="2 x 2 blocks, got index 2"):
            blocks[2]


def test_maps_by_their_older_names() -> None:
    cells, nodes = op2.Set(2), op2.Set(4)
    first = op2.Map(cells, nodes, 2, [0, 1, 2, 3])
    second = op2.Map(cells, nodes, 1, [3, 0])
    sparsity = op2.Sparsity((nodes, nodes), [(first, first), (first, second)])
    assert sparsity.maps == [(first, first), (first, second)]
    assert op2.Sparsity(nodes, [(first, second), (first, first)]).maps == sparsity.maps
    assert sparsity.rmaps == [first, first]
    assert sparsity.cmaps == [first, second]


def test_mixed_maps_by_their_older_names() -> None:
    a, b = op2.Set(2), op2.Set(3)
    path = op2.MixedMap((op2.Map(a, a, 1, [0, 1]), op2.Map(a, b, 1, [0, 2])))
    other = op2.MixedMap((op2.Map(a, a, 2, [0, 1, 1, 0]), op2.Map(a, b, 1, [1, 2])))
    both = op2.MixedDataSet((a, b))
    sparsity = op2.Sparsity((both, both), [(path, path, None), (path, other, None)])
    assert sparsity.maps == [(path, path), (path, other)]
    assert (sparsity.rmaps, sparsity.cmaps) == ([path, path], [path, other])
    assert sparsity[0, 1].maps == [(path[0], path[1]), (path[0], other[1])]
    blocks = {(i, j): [(path[i], path[j], None)] for i in range(2) for j in range(2)}
    by_blocks = op2.Sparsity((both, both), blocks)
    assert set(by_blocks.rmaps) == {*path}
    assert op2.Sparsity((both, both), [(path, path, None)]) is by_blocks
    assert by_blocks.rmaps == [path]


# Maps that get other values


def coupled(path: Any, nodes: op2.Set) -> op2.Sparsity:
    return op2.Sparsity((nodes, nodes), [(path, path, None)])


@pytest.mark.parametrize("kind", ["plain", "permuted", "composed", "mixed"])
def test_places_follow_the_values_of_maps(kind: str) -> None:
    cells, nodes = op2.Set(2, "cells"), op2.Set(5, "nodes")
    map_ = op2.Map(cells, nodes, 2, [[0, 1], [1, 2]], "m")
    same = op2.Map(cells, cells, 1, [0, 1])
    path: Any = {
        "permuted": op2.PermutedMap(map_, [1, 0]),
        "composed": op2.ComposedMap(map_, same),
    }.get(kind, map_)
    if kind == "mixed":
        mixed, maps = op2.MixedSet([nodes, nodes]), op2.MixedMap([map_, map_])
        sparsity: Any = op2.Sparsity((mixed, mixed), [(maps, maps, None)])
        block = sparsity[0, 1]
    else:
        sparsity = block = coupled(path, nodes)
    diagonal = 0 if kind == "mixed" else 1
    assert block.nnz.tolist() == [2, 3, 2, diagonal, diagonal]
    map_.update_values([[0, 1], [3, 4]])
    assert block.nnz.tolist() == [2, 2, diagonal, 2, 2]
    assert block.longest_row == 2
    assert block.colidx[-2:].tolist() == [3, 4]
    if kind != "mixed":
        assert block.diagonal().tolist() == [0, 3, 4, 5, 8]
        assert coupled(path, nodes) is sparsity


def test_a_matrix_keeps_its_places_and_a_new_sparsity_has_others(backend: str) -> None:
    cells, nodes = op2.Set(2, "cells"), op2.Set(5, "nodes")
    map_ = op2.Map(cells, nodes, 2, [[0, 1], [1, 2]], "m")
    add = op2.Kernel("void add(double *A) { for (int i = 0; i < 4; ++i) A[i] += 1; }", "add")
    sparsity = coupled(map_, nodes)
    old = op2.Mat(sparsity)
    op2.par_loop(add, cells, old(op2.INC, (map_, map_)))
    before = old.values
    map_.update_values([[0, 1], [3, 4]])
    assert sparsity.nnz.tolist() == [2, 3, 2, 1, 1]  # of the matrix
    with pytest.raises(UsageError, match="no place; the values of a Map were changed"):
        op2.par_loop(add, cells, old(op2.INC, (map_, map_)))
    assert np.array_equal(old.values, before)
    again = coupled(map_, nodes)
    assert again is not sparsity
    assert again.nnz.tolist() == [2, 2, 1, 2, 2]
    assert coupled(map_, nodes) is again
    new = op2.Mat(again)
    op2.par_loop(add, cells, new(op2.INC, (map_, map_)))
    wanted = np.zeros((5, 5))
    wanted[:2, :2] = wanted[3:, 3:] = 1
    assert np.array_equal(new.values, wanted)
    map_.update_values([[1, 2], [0, 1]])  # in the places that the first one has
    op2.par_loop(add, cells, old(op2.INC, (map_, map_)))
    assert np.array_equal(old.values, 2 * before)


def test_a_matrix_made_after_the_change_has_the_places_of_now(backend: str) -> None:
    cells, nodes = op2.Set(2, "cells"), op2.Set(5, "nodes")
    map_ = op2.Map(cells, nodes, 2, [[0, 1], [1, 2]], "m")
    add = op2.Kernel("void add(double *A) { for (int i = 0; i < 4; ++i) A[i] += 1; }", "add")
    sparsity = coupled(map_, nodes)
    for values in ([[0, 1], [3, 4]], [[0, 4], [2, 3]]):
        map_.update_values(values)
        mat = op2.Mat(sparsity)
        op2.par_loop(add, cells, mat(op2.INC, (map_, map_)))
        assert (mat @ op2.Dat(nodes, 1.0)).data_ro.tolist() == [
            2.0 if row in np.ravel(values) else 0.0 for row in range(5)
        ]
        del mat


def test_under_pyop2_a_global_is_in_no_single_matrix(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = op2.GlobalDataSet(op2.Global(1))
    both = op2.MixedDataSet((world.dset, one))
    pairs = {(0, 0): [(world.c2n, world.c2n, None)], (0, 1): [(world.c2n, None, None)]}
    assert not op2.Sparsity((both, both), pairs, nest=False).nested
    monkeypatch.setattr("pyop2cxx.sets.sparsities.is_under_pyop2", lambda: True)
    with pytest.raises(SparsityFormatError, match="leave nest out"):
        op2.Sparsity((both, both), pairs, nest=False)
    assert op2.Sparsity((both, both), pairs).nested
