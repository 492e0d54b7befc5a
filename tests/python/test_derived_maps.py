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
