# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyop2cxx import op2
from pyop2cxx.base.arrays import address_of
from pyop2cxx.exceptions import (
    ArityTypeError,
    DataValueError,
    MapValueError,
    NameTypeError,
    SetTypeError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.fixture
def edges() -> op2.Set:
    return op2.Set((1, 2, 3), "edges")


@pytest.fixture
def nodes() -> op2.Set:
    return op2.Set(4, "nodes")


@pytest.fixture
def e2n(edges: op2.Set, nodes: op2.Set) -> op2.Map:
    return op2.Map(edges, nodes, 2, [0, 1, 1, 2, 2, 3], "e2n")


def test_what_a_map_is(edges: op2.Set, nodes: op2.Set, e2n: op2.Map) -> None:
    assert (e2n.iterset, e2n.toset, e2n.arity, e2n.name) == (edges, nodes, 2, "e2n")
    assert (e2n.arities, e2n.arange, e2n.split) == ((2,), (0, 2), (e2n,))
    assert (e2n.offset, e2n.offset_quotient) == (None, None)
    assert list(e2n) == [e2n]
    assert len(e2n) == 1
    assert op2.Map(edges, nodes, 1).name != op2.Map(edges, nodes, 1).name


def test_values_are_of_owned_rows_or_of_all(e2n: op2.Map) -> None:
    assert e2n.values.tolist() == [[0, 1], [1, 2]]
    assert e2n.values_with_halo.tolist() == [[0, 1], [1, 2], [2, 3]]


def test_the_core_sees_the_values(e2n: op2.Map) -> None:
    table = e2n.table
    assert table is not None
    assert (table.index_bytes, table.n_rows, table.arity, table.n_targets) == (4, 3, 2, 4)


@pytest.mark.parametrize("dtype", [*INTEGERS, "float64", "O"])
def test_any_integers_become_int32(edges: op2.Set, nodes: op2.Set, dtype: str) -> None:
    values: Any = np.array([0, 1, 2], dtype=dtype)
    found = op2.Map(edges, nodes, 1, values.tolist() if dtype == "O" else values)
    assert found.values_with_halo.dtype == np.int32
    assert found.values_with_halo.ravel().tolist() == [0, 1, 2]


def test_floats_lose_their_digits(edges: op2.Set, nodes: op2.Set) -> None:
    with pytest.warns(
        UserWarning, match=r"values must be integers, got 1\.5 at \[1, 0\]: digits"
    ) as w:
        found = op2.Map(edges, nodes, 1, [1.0, 1.5, 1.5])
    assert w[0].filename == __file__
    assert found.values.sum() == 2
    with pytest.warns(UserWarning, match=r"got 2\.5 at \[1, 0\]"):
        found.values[1] = 2.5
    assert found.values.ravel().tolist() == [1, 2]


def test_a_transpose_is_no_map(edges: op2.Set, nodes: op2.Set) -> None:
    rows = np.array([[0, 1], [1, 2], [2, 3]])
    with pytest.raises(
        DataValueError, match=r"Map 'e': expected shape \(3, 2\), got shape \(2, 3\)"
    ):
        op2.Map(edges, nodes, 2, rows.T, "e")
    for fits in (rows, rows.ravel(), rows.reshape(1, 6), rows.reshape(3, 1, 2)):
        assert op2.Map(edges, nodes, 2, fits).values_with_halo.tolist() == rows.tolist()


def test_large_target_sets_need_int64(edges: op2.Set) -> None:
    for n_targets, dtype in ((2**31 - 1, np.int32), (2**31, np.int64)):
        values = np.array([0, 1, n_targets - 1])
        found = op2.Map(edges, op2.Set(n_targets), 1, values)
        assert found.values.dtype == dtype
        assert found.values_with_halo.ravel().tolist() == values.tolist()
        assert found.table is not None
        assert found.table.index_bytes == found.values.itemsize


def test_a_fitting_array_is_not_copied(edges: op2.Set, nodes: op2.Set) -> None:
    values = np.array([[0, 1], [1, 2], [2, 3]], dtype=np.int32)
    assert address_of(op2.Map(edges, nodes, 2, values).values) == address_of(values)
    values.flags.writeable = False
    assert not np.shares_memory(op2.Map(edges, nodes, 2, values).values, values)


@pytest.mark.parametrize(
    ("values", "row", "slot", "value"),
    [
        ([[0, 1], [4, 0], [0, 0]], 1, 0, 4),
        ([[0, -2], [9, 0], [0, 0]], 0, 1, -2),
        ([[0, 0], [0, 0], [0, 2**32 + 1]], 2, 1, 2**32 + 1),
        (np.full((3, 2), 2**64 - 1, dtype=np.uint64), 0, 0, 2**64 - 1),
    ],
)
def test_values_out_of_range_are_named(
    edges: op2.Set, nodes: op2.Set, values: Any, row: int, slot: int, value: int
) -> None:
    message = rf"Map 'e2n': row {row}, slot {slot} is {value}, but Set 'nodes' has entities 0 to 3"
    with pytest.raises(DataValueError, match=message):
        op2.Map(edges, nodes, 2, values, "e2n")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300, 2.0**63])
def test_real_numbers_that_are_no_integers_are_named(
    edges: op2.Set, nodes: op2.Set, bad: float
) -> None:
    values = np.zeros((3, 2))
    e2n = op2.Map(edges, nodes, 2, values, "e2n")
    values[1, 1] = bad
    message = rf"Map 'e2n': values must be integers, got {re.escape(str(bad))} at row 1, slot 1"
    with pytest.raises(DataValueError, match=message):
        op2.Map(edges, nodes, 2, values, "e2n")
    with pytest.raises(DataValueError, match=message):
        e2n.update_values(values)
    with pytest.raises(DataValueError, match=message):
        e2n.values[1, 1] = bad
    with pytest.raises(DataValueError, match=r"got nan at row 2, slot 0"):
        op2.Map(edges, nodes, 2, [0, 0, 0, 0, np.nan, 0], "e2n")
    assert not e2n.values.any()


def test_masked_values_may_be_filled(edges: op2.Set, nodes: op2.Set) -> None:
    masked = np.ma.masked_array([[0, 1], [1, 2], [9, 9]], [[0, 0], [0, 0], [1, 1]])
    message = r"2 of 6 values are masked, the first at \[2, 0\]; .* values.filled\(-1\)"
    with pytest.raises(DataValueError, match=message):
        op2.Map(edges, nodes, 2, masked)
    assert op2.Map(edges, nodes, 2, masked.filled(-1)).values_with_halo[2].tolist() == [-1, -1]


@given(st.data())
def test_exactly_the_values_in_range_are_taken(data: st.DataObject) -> None:
    n_targets = data.draw(st.integers(1, 200))
    values = data.draw(st.lists(st.integers(-2, 202), min_size=4, max_size=4))
    is_legal = all(-1 <= value < n_targets for value in values)
    iterset, toset = op2.Set(2), op2.Set(n_targets)
    if is_legal:
        assert op2.Map(iterset, toset, 2, values).values.ravel().tolist() == values
    else:
        with pytest.raises(DataValueError):
            op2.Map(iterset, toset, 2, values)


def test_illegal_arguments(edges: op2.Set, nodes: op2.Set) -> None:
    with pytest.raises(SetTypeError, match="the Set it starts on must be a Set, got 'illegalset'"):
        op2.Map("illegalset", nodes, 1, [])  # type: ignore[arg-type]
    with pytest.raises(SetTypeError, match="the Set it leads to"):
        op2.Map(edges, edges**2, 1, [])  # type: ignore[arg-type]
    for arity in ("illegalarity", (2, 2), 0, -1, 1.0, True):
        with pytest.raises(ArityTypeError, match="a positive integer up to 2147483647, got"):
            op2.Map(edges, nodes, arity, [])  # type: ignore[arg-type]
    with pytest.raises(NameTypeError):
        op2.Map(edges, nodes, 1, [], name=2)  # type: ignore[arg-type]
    for values in ("abcdefg", [1] * 4, [], [[1], [2, 3]], [True] * 3, [None] * 3, [1j] * 3):
        with pytest.raises(DataValueError, match="Map 'e2n'"):
            op2.Map(edges, nodes, 1, values, "e2n")  # type: ignore[arg-type]


def test_a_wrong_length_names_both_shapes(edges: op2.Set, nodes: op2.Set) -> None:
    message = r"Map 'e2n' from Set 'edges': expected values of shape \(3, 2\), got shape \(2, 2\)"
    with pytest.raises(DataValueError, match=message):
        op2.Map(edges, nodes, 2, [[0, 1], [1, 2]], "e2n")


def test_values_may_come_later(edges: op2.Set, nodes: op2.Set) -> None:
    late = op2.Map(edges, nodes, 1, name="late")
    assert not late.has_values
    for member in ("values", "values_with_halo"):
        with pytest.raises(MapValueError, match=f"Map 'late': '{member}' was asked for"):
            getattr(late, member)
    late.update_values([3, 2, 1])
    assert late.has_values
    assert late.values.ravel().tolist() == [3, 2]
    assert late.table is not None
    assert late.table.version == 0


def test_a_map_of_an_empty_set_needs_no_values(nodes: op2.Set) -> None:
    empty = op2.Map(op2.Set(0), nodes, 3)
    assert empty.values.shape == (0, 3)
    assert empty.table is not None


def test_assignments_to_values_update_the_map(e2n: op2.Map) -> None:
    for view in (e2n.values, e2n.values_with_halo):
        before, version = view.tolist(), e2n.table.version
        view[1, 0] = 3
        assert (view[1, 0], e2n.values[1, 0], e2n.table.version) == (3, 3, version + 1)
        view[...] = before
        assert view.tolist() == before
        with pytest.raises(DataValueError, match="is 9, but Set"):
            view[0, 0] = 9
        assert view.tolist() == before
        with pytest.raises(ValueError, match="read-only"):
            view += 1
        part = view[:2]
        with pytest.raises(ValueError, match="read-only"):
            part[0] = 0
        own = view.copy()
        own[0] = 0
        assert view.tolist() == before


def test_updating_grows_the_version(e2n: op2.Map) -> None:
    table, view = e2n.table, e2n.values
    assert table is not None
    e2n.update_values([[1, 0], [2, 1], [3, 2]])
    assert e2n.table is table
    assert table.version == 1
    assert view.tolist() == [[1, 0], [2, 1]]


def test_a_wrong_update_changes_nothing(e2n: op2.Map) -> None:
    for values in ([[1, 0], [2, 1], [3, 4]], [0, 1]):
        with pytest.raises(DataValueError):
            e2n.update_values(values)
    assert e2n.values_with_halo.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert e2n.table is not None
    assert e2n.table.version == 0


def test_an_adopted_array_can_be_changed_and_told(edges: op2.Set, nodes: op2.Set) -> None:
    values = np.array([[0], [1], [2]], dtype=np.int32)
    shared = op2.Map(edges, nodes, 1, values)
    values[0] = 3
    shared.update_values(values)
    assert shared.values[0] == 3
    assert shared.table is not None
    assert shared.table.version == 1


def test_offsets(edges: op2.Set, nodes: op2.Set) -> None:
    up = op2.Map(edges, nodes, 2, None, "up", offset=[1, 2], offset_quotient=[0, 1])
    assert up.offset is not None
    assert up.offset_quotient is not None
    assert (up.offset.tolist(), up.offset_quotient.tolist()) == ([1, 2], [0, 1])
    assert repr(up).endswith("'up', array([1, 2], dtype=int32), array([0, 1], dtype=int32))")
    with pytest.raises(DataValueError, match=r"expected offset of shape \(2,\)"):
        op2.Map(edges, nodes, 2, offset=[1, 2, 3])


def test_equality_is_identity(edges: op2.Set, nodes: op2.Set, e2n: op2.Map) -> None:
    twin = op2.Map(edges, nodes, 2, e2n.values_with_halo, "e2n")
    assert e2n == e2n
    assert e2n != twin
    assert len({e2n, twin}) == 2
    assert copy.copy(e2n).uid != e2n.uid


def test_repr_and_str(e2n: op2.Map) -> None:
    assert repr(e2n) == (
        "Map(Set((1, 2, 3), 'edges'), Set((4, 4, 4), 'nodes'), 2, None, 'e2n', None, None)"
    )
    assert str(e2n) == (
        "OP2 Map: e2n from (OP2 Set: edges with size 2) to (OP2 Set: nodes with size 4) "
        "with arity 2"
    )
    again = eval(repr(e2n), {"Map": op2.Map, "Set": op2.Set})
    assert repr(again) == repr(e2n)


def test_maps_between_sets_without_sizes(static: None) -> None:
    e2n = op2.Map(op2.Set(name="edges"), op2.Set(name="nodes"), 2, name="e2n")
    assert not e2n.has_values
    assert "Set(None, 'edges')" in repr(e2n)


def test_what_else_it_says_of_itself() -> None:
    edges, nodes, many = op2.Set((1, 2, 3)), op2.Set(4), op2.Set(2**31)
    ends = op2.Map(edges, nodes, 2, [0, 1, 1, 2, 2, 3])
    assert (ends.comm, ends.shape, ends.dtype) == (nodes.comm, (3, 2), np.dtype(np.int32))
    assert op2.Map(edges, many, 1, [0, 1, 2]).dtype == np.dtype(np.int64)
    both, dat = op2.MixedMap((ends, ends)), op2.Dat(nodes)
    mat = op2.Mat(op2.Sparsity((nodes**1, nodes**1), [(ends, ends, None)]))
    mixed = op2.MixedDat((dat, dat))
    for thing in (both, dat, mixed, mixed.dataset, mat, mat.sparsity, dat.dataset):
        assert thing.comm == nodes.comm
    columns = op2.ExtrudedSet(edges, 3)
    assert (columns(0).parent, columns(0).constant_layers) == (edges, True)
    assert not hasattr(edges(0), "parent")
    assert not hasattr(edges(0), "constant_layers")


# Arrays that a program changes behind a Map


ADD = op2.Kernel("void add(double *y, double *x) { y[0] += x[0]; y[1] += x[0]; }", "add")


@pytest.fixture(params=[{"check": True}, {"strict": True}], ids=["check", "strict"])
def looked_at(request: pytest.FixtureRequest, backend: str) -> Iterator[None]:
    op2.init(backend=backend, **request.param)
    yield
    op2.exit()


def spoiled(values: np.ndarray[Any, Any], **options: Any) -> tuple[Any, op2.Dat]:
    """A loop by a Map that was made from an array."""
    from_, to = op2.Set(len(values), "from"), op2.Set(4, "to")
    map_ = op2.Map(from_, to, 2, values, "m")
    y, x = op2.Dat(to, 0.0), op2.Dat(from_, 1.0)
    path = options.get("path", lambda m: m)(map_)
    return op2.ParLoop(ADD, from_, y(op2.INC, path), x(op2.READ)), y


@pytest.mark.usefixtures("looked_at")
@pytest.mark.parametrize("bad", [4, -2, 2**31 - 1])
@pytest.mark.parametrize("has_run", [False, True])
def test_entries_spoiled_behind_a_map_are_found(bad: int, has_run: bool) -> None:
    values = np.array([[0, 1], [1, 2], [2, 3]], np.int32)
    loop, y = spoiled(values)
    if has_run:
        loop.compute()
    before = y.data_ro.tolist()
    values[2, 1] = bad
    message = rf"'add': arg 0: Map 'm': row 2, slot 1 is {bad}, .* to Map.update_values"
    with pytest.raises(MapValueError, match=message):
        loop.compute()
    assert y.data_ro.tolist() == before
    values[2, 1] = 3
    loop.compute()
    assert y.data_ro.sum() == sum(before) + 6


@pytest.mark.usefixtures("looked_at")
def test_a_map_renumbered_by_hand_is_found() -> None:
    values = np.array([[0, 1], [1, 2], [2, 3]], np.int32)
    loop, y = spoiled(values)
    loop.compute()
    values[:] = 3 - values
    with pytest.raises(MapValueError, match=r"arg 0: Map 'm': its values are others than"):
        loop.compute()
    assert y.data_ro.tolist() == [1, 2, 2, 1]
    loop.args[0].map_.update_values(values)
    loop.compute()
    assert y.data_ro.tolist() == [2, 4, 4, 2]


@pytest.mark.usefixtures("looked_at")
@pytest.mark.parametrize(
    "path",
    [
        lambda m: op2.PermutedMap(m, [1, 0]),
        lambda m: op2.ComposedMap(m, op2.Map(m.iterset, m.iterset, 1, range(m.iterset.size))),
    ],
    ids=["permuted", "composed"],
)
def test_maps_made_of_one_that_is_spoiled(path: Any) -> None:
    values = np.array([[0, 1], [1, 2], [2, 3]], np.int32)
    loop, _ = spoiled(values, path=path)
    loop.compute()
    values[0, 0] = 9
    with pytest.raises(MapValueError, match="row 0, slot 0 is 9"):
        loop.compute()


@pytest.mark.usefixtures("looked_at")
def test_memory_of_others_and_views_are_looked_at_and_own_arrays_are_not() -> None:
    memory = bytearray(np.array([[0, 1], [1, 2], [2, 3]], np.int32).tobytes())
    loop, _ = spoiled(np.frombuffer(memory, np.int32).reshape(3, 2))
    loop.compute()
    memory[0] = 7
    with pytest.raises(MapValueError, match="row 0, slot 0 is 7"):
        loop.compute()
    wide = np.array([[0, 1], [1, 2], [2, 3]])  # int64: the Map has a copy
    loop, y = spoiled(wide)
    wide[:] = 99
    loop.compute()
    assert y.data_ro.sum() == 6
