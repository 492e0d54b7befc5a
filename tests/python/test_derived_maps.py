# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import (
    ContractError,
    MapTypeError,
    MapValueError,
    NoDataError,
    UnsupportedError,
)

EDGES, NODES, CELLS = op2.Set(2, "edges"), op2.Set(4, "nodes"), op2.Set(3, "cells")
VALUES = [[0, 1, 2], [3, 2, 0]]


def edge_map(**more: Any) -> op2.Map:
    return op2.Map(EDGES, NODES, 3, VALUES, "e2n", **more)


def test_a_permuted_map_shows_entries_in_another_order() -> None:
    path = op2.PermutedMap(edge_map(offset=[1, 2, 3]), [2, 0, 1])
    assert path.values.tolist() == [[2, 0, 1], [0, 3, 2]]
    assert path.values_with_halo.tolist() == path.values.tolist()
    assert path.offset is not None
    assert path.offset.tolist() == [3, 1, 2]
    assert (path.arity, path.iterset, path.toset) == (3, EDGES, NODES)
    twice = op2.PermutedMap(path, [1, 2, 0])
    assert twice.values.tolist() == VALUES
    assert twice.flattened_maps == (path.map_,)


def test_wrong_permutations() -> None:
    with pytest.raises(MapTypeError, match="expected a Map, got 'x'"):
        op2.PermutedMap("x", [0])  # type: ignore[arg-type]
    for wrong in ([0, 1], [0, 1, 1], [0, 1, 3]):
        with pytest.raises(ContractError, match="expected each of 0 to 2 once"):
            op2.PermutedMap(edge_map(), wrong)
    with pytest.raises(UnsupportedError, match="permute the first Map"):
        op2.PermutedMap(op2.ComposedMap(edge_map()), [0, 1, 2])


def test_values_of_a_map_seen_through_another_are_updated_there() -> None:
    whole = edge_map()
    for seen in (op2.PermutedMap(whole, [0, 1, 2]), whole[1]):
        with pytest.raises(MapValueError, match=f"update the values of Map '{whole.name}'"):
            seen.update_values(VALUES)


def composed() -> tuple[op2.ComposedMap, op2.Map, op2.Map]:
    inner, outer = op2.Map(CELLS, EDGES, 1, [1, 0, 1]), edge_map(offset=[1, 1, 1])
    return op2.ComposedMap(outer, inner), outer, inner


def test_a_composed_map_looks_up_twice() -> None:
    path, outer, inner = composed()
    assert path.values_with_halo.tolist() == [VALUES[1], VALUES[0], VALUES[1]]
    assert (path.arity, path.iterset, path.toset) == (3, CELLS, NODES)
    assert path.offset is outer.offset
    assert path.maps_ == (outer, inner)
    assert path.flattened_maps == (outer, inner)
    assert path.indices_active_with_halo.tolist() == [0, 1, 2]
    with pytest.raises(NoDataError, match="use values_with_halo"):
        _ = path.values


def test_a_composed_map_follows_its_maps() -> None:
    path, outer, inner = composed()
    count = op2.Dat(NODES, dtype=np.int32)
    kernel = op2.Kernel("void f(int *x) { x[0] += 1; }", "f")
    loop = op2.ParLoop(kernel, CELLS, count(op2.INC, path))
    loop.compute()
    assert count.data_ro.tolist() == [1, 0, 0, 2]
    inner.update_values([0, 0, 0])
    loop.compute()
    assert count.data_ro.tolist() == [4, 0, 0, 2]
    outer.update_values([[1, 0, 0], [0, 0, 0]])
    op2.par_loop(kernel, CELLS, count(op2.INC, path))
    assert count.data_ro.tolist() == [4, 3, 0, 2]


def test_wrong_compositions() -> None:
    _, outer, inner = composed()
    with pytest.raises(MapTypeError, match="expected Maps"):
        op2.ComposedMap(outer, "x")  # type: ignore[arg-type]
    with pytest.raises(MapTypeError, match="may have an arity other than 1"):
        op2.ComposedMap(inner, outer)
    with pytest.raises(MapTypeError, match="starts on Set 'edges', but Map 'other' leads to"):
        op2.ComposedMap(outer, op2.Map(CELLS, NODES, 1, [0, 0, 0], "other"))
    with pytest.raises(UnsupportedError):
        _ = op2.ComposedMap(outer, inner) <= outer
    with pytest.raises(MapValueError):
        op2.ComposedMap(outer, inner).update_values([])


def test_paths_without_values() -> None:
    empty = op2.Map(EDGES, NODES, 1)
    x = op2.Dat(NODES)
    kernel = op2.Kernel("void f(double *x) { *x = 0; }", "f")
    for path in (op2.PermutedMap(empty, [0]), op2.ComposedMap(empty)):
        assert not path.has_values
        with pytest.raises(MapValueError, match="has no values yet"):
            op2.ParLoop(kernel, EDGES, x(op2.WRITE, path))


def test_paths_lead_to_one_set() -> None:
    path, _, _ = composed()
    with pytest.raises(MapValueError, match="the Dat lives on Set 'cells'"):
        op2.Dat(CELLS)(op2.READ, path)


def test_text_is_the_same_for_any_values() -> None:
    x = op2.Dat(NODES)
    kernel = op2.Kernel("void f(const double *x) {}", "f")
    texts = [
        str(op2.ParLoop(kernel, EDGES, x(op2.READ, op2.PermutedMap(m, [1, 0, 2]))).generate())
        for m in (edge_map(), op2.Map(EDGES, NODES, 3, np.zeros((2, 3), int)))
    ]
    assert texts[0] == texts[1]
    other = op2.ParLoop(kernel, EDGES, x(op2.READ, op2.PermutedMap(edge_map(), [0, 2, 1])))
    assert str(other.generate()) != texts[0]


def test_pickling_and_text() -> None:
    path, _, _ = composed()
    for one in (path, op2.PermutedMap(edge_map(), [1, 0, 2])):
        again = pickle.loads(pickle.dumps(one))
        assert again.values_with_halo.tolist() == one.values_with_halo.tolist()
        assert type(one).__name__ in repr(one)
        assert "Map" in str(one)


BACKENDS = [found.name for found in op2.backends() if found.available]
STRATEGIES = ("direct", "owner", "scratch", "atomic", "block", "colour")
N, M = 30, 40


class Path:
    """A Map, what it is seen through, and how its values are then ordered."""

    def __init__(self, kind: str) -> None:
        self.rng = np.random.default_rng(5)
        self.start, self.end = op2.Set(N, "start"), op2.Set(M, "end")
        self.base = op2.Map(self.start, self.end, 3, self.random(), "there")
        self.seen: op2.Map = self.base
        if kind == "permuted":
            self.seen = op2.PermutedMap(self.base, [2, 0, 1])
        if kind == "composed":
            first = op2.Map(self.start, self.start, 1, self.rng.permutation(N))
            self.seen = op2.ComposedMap(self.base, first)

    def random(self) -> np.ndarray:
        return self.rng.integers(0, M, (N, 3))

    def change(self, *, partial: bool = False) -> None:
        values = self.random()
        if partial:
            values[16, 1] = values[3, 2] = op2.Map.VALUE_UNDEFINED
        self.base.update_values(values)


def add_to_dat(path: Path, strategy: str) -> None:
    x = op2.Dat(path.end)
    kernel = op2.Kernel("void k(double *x) { for (int i = 0; i < 3; ++i) x[i] += i + 1; }", "k")
    loop = op2.ParLoop(kernel, path.start, x(op2.INC, path.seen), strategy=strategy)
    for _ in range(3):
        x.zero()
        loop.compute()
        wanted = np.zeros(M)
        for i, targets in enumerate(path.seen.values_with_halo.T):
            np.add.at(wanted, targets, i + 1)
        np.testing.assert_array_equal(x.data_ro, wanted)
        path.change()


def add_to_matrix(path: Path, strategy: str, *, partial: bool) -> None:
    every = op2.Map(op2.Set(1), path.end, M, range(M))
    mat = op2.Mat(op2.Sparsity((path.end, path.end), [(path.seen, path.seen), (every, every)]))
    kernel = op2.Kernel(
        "void k(double a[3][3]) { for (int i = 0; i < 9; ++i) a[i / 3][i % 3] += i + 1; }", "k"
    )
    args = (path.seen, path.seen)
    loop = op2.ParLoop(kernel, path.start, mat(op2.INC, args), strategy=strategy)
    for last in (False, False, True):
        mat.zero()
        loop.compute()
        mat.assemble()
        wanted = np.zeros((M, M))
        for row in path.seen.values_with_halo:
            for entry, (i, j) in enumerate(np.ndindex(3, 3)):
                if row[i] >= 0 and row[j] >= 0:
                    wanted[row[i], row[j]] += entry + 1
        np.testing.assert_array_equal(mat.values, wanted)
        if not last:
            path.change(partial=partial)


@pytest.mark.parametrize("kind", ["permuted", "composed"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_derived_from_a_map_follows_its_values(backend: str, kind: str) -> None:
    done = 0
    with op2.backend(backend):
        for strategy in STRATEGIES:
            try:
                add_to_dat(Path(kind), strategy)
                add_to_matrix(Path(kind), strategy, partial=kind == "permuted")
            except UnsupportedError:
                continue
            done += 1
    assert done >= 3


@pytest.mark.parametrize("backend", BACKENDS)
def test_rows_with_gaps_beside_a_reduced_global(backend: str) -> None:
    path, total = Path("base"), op2.Global(1, 0.0, name="total")
    path.change(partial=True)
    every = op2.Map(op2.Set(1), path.end, M, range(M))
    mat = op2.Mat(op2.Sparsity((path.end, path.end), [(path.base, path.base), (every, every)]))
    weight = op2.Dat(path.start, np.arange(1.0, N + 1), name="weight")
    code = "void k(double a[3][3], double *total, const double *w) { total[0] += w[0]; "
    code += "for (int i = 0; i < 9; ++i) a[i / 3][i % 3] += w[0] * (i + 1); }"
    wanted = np.zeros((M, M))
    for element, row in enumerate(path.base.values_with_halo):
        for entry, (i, j) in enumerate(np.ndindex(3, 3)):
            if row[i] >= 0 and row[j] >= 0:
                wanted[row[i], row[j]] += (entry + 1) * (element + 1)
    args = mat(op2.INC, (path.base, path.base)), total(op2.INC), weight(op2.READ)
    done = 0
    with op2.backend(backend):
        for strategy in STRATEGIES:
            mat.zero()
            total.zero()
            try:
                op2.par_loop(op2.Kernel(code, "k"), path.start, *args, strategy=strategy)
            except UnsupportedError:
                continue
            mat.assemble()
            np.testing.assert_array_equal(mat.values, wanted)
            assert total.data_ro[0] == N * (N + 1) / 2
            done += 1
    assert done >= 3


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_target_beyond_the_set_names_loop_argument_map_and_row(backend: str) -> None:
    own = np.array([[0, 1], [1, 2], [2, 3]], np.int32)
    edges, nodes = op2.Set(3, "edges"), op2.Set(4, "nodes")
    ends, w, y = op2.Map(edges, nodes, 2, own, "ends"), op2.Dat(edges), op2.Dat(nodes)
    own[1, 1] = 77  # the Map shares this array, and is not told
    kernel = op2.Kernel("void k(double *w, double *y) { y[0] += 1; y[1] += w[0]; }", "k")
    where = r"par_loop 'k': arg 1: Map 'ends': .*row 1, slot 1: value 77 is outside"
    with op2.backend(backend), pytest.raises(MapValueError, match=where):
        op2.par_loop(kernel, edges, w(op2.READ), y(op2.INC, ends))


@pytest.mark.parametrize("backend", BACKENDS)
def test_columns_that_lead_nowhere_leave_their_entries_out(backend: str) -> None:
    base, nodes = op2.Set(3), op2.Set(12)
    columns = op2.ExtrudedSet(base, 4)
    there = op2.Map(columns, nodes, 2, [0, 1, -1, 5, 8, 9], "there", offset=[1, 1])
    mat = op2.Mat(op2.Sparsity((nodes, nodes), [(there, there)]))
    kernel = op2.Kernel("void k(double a[2][2]) { a[0][1] += 2; a[1][1] += 3; }", "k")
    wanted = np.zeros((12, 12))
    for bottom in ([0, 1], [-1, 5], [8, 9]):
        for level in range(3):
            wanted[bottom[1] + level, bottom[1] + level] += 3
            if bottom[0] >= 0:
                wanted[bottom[0] + level, bottom[1] + level] += 2
    done = 0
    with op2.backend(backend):
        for strategy in STRATEGIES:
            mat.zero()
            try:
                op2.par_loop(kernel, columns, mat(op2.INC, (there, there)), strategy=strategy)
            except UnsupportedError:
                continue
            mat.assemble()
            np.testing.assert_array_equal(mat.values, wanted)
            done += 1
    assert done >= 3
