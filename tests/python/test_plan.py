# SPDX-License-Identifier: BSD-3-Clause
"""Plans through the bindings: properties that hold for every map, and NumPy views."""

from __future__ import annotations

import gc
import itertools
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyop2cxx import exceptions
from pyop2cxx._core import MapTable
from pyop2cxx._core import plan as room


class HeldMap:
    """A table with the values it points to."""

    def __init__(self, values: np.ndarray, n_targets: int) -> None:
        self.values = np.ascontiguousarray(values)
        n_rows, arity = self.values.shape
        address = self.values.ctypes.data
        self.table = MapTable(address, self.values.itemsize, n_rows, arity, n_targets)

    def all(self, space: int = 0) -> room.Conflict:
        return room.Conflict(self.table, room.all_slots, space)

    def occurrences(self) -> list[room.Occurrence]:
        return [room.Occurrence(self.table, slot) for slot in range(self.values.shape[1])]


@st.composite
def held_maps(draw: st.DrawFn) -> HeldMap:
    n_targets = draw(st.integers(1, 40))
    n_rows = draw(st.integers(0, 60))
    arity = draw(st.integers(1, 4))
    dtype = draw(st.sampled_from([np.int32, np.int64]))
    entry = st.integers(-1, n_targets - 1)
    values = draw(st.lists(entry, min_size=n_rows * arity, max_size=n_rows * arity))
    return HeldMap(np.array(values, dtype=dtype).reshape(n_rows, arity), n_targets)


def targets_of(held: HeldMap, elements: np.ndarray) -> set[int]:
    return {int(t) for t in held.values[elements].ravel() if t >= 0}


def assert_disjoint(groups: list[set[int]]) -> None:
    assert sum(map(len, groups)) == len(set().union(*groups))


def colours(offset: np.ndarray, items: np.ndarray) -> list[np.ndarray]:
    return [items[a:b] for a, b in itertools.pairwise(offset)]


@given(held=held_maps(), block_size=st.integers(1, 20))
def test_blocks_of_one_colour_share_no_target(held: HeldMap, block_size: int) -> None:
    n = len(held.values)
    plan = room.colour_blocks(n, None, [held.all()], block_size, 2)
    assert sorted(plan.block_of) == list(range(len(plan.block_offset) - 1))
    assert plan.block_offset[-1] == n
    for blocks in colours(plan.colour_offset, plan.block_of):
        assert_disjoint(
            [
                targets_of(held, np.arange(plan.block_offset[b], plan.block_offset[b + 1]))
                for b in blocks
            ]
        )


@given(held=held_maps())
def test_elements_of_one_colour_share_no_target(held: HeldMap) -> None:
    n = len(held.values)
    plan = room.colour_elements(n, None, [held.all()], 2)
    assert sorted(plan.elements) == list(range(n))
    for elements in colours(plan.colour_offset, plan.elements):
        assert_disjoint([targets_of(held, np.array([e])) for e in elements])
        assert np.all(np.diff(elements) > 0)


@given(
    held=held_maps(),
    by_slot=st.booleans(),
    touched_only=st.booleans(),
    keep=st.lists(st.booleans(), min_size=60, max_size=60),
)
def test_inverse_holds_exactly_the_maps_entries(
    held: HeldMap, by_slot: bool, touched_only: bool, keep: list[bool]
) -> None:
    n, arity = held.values.shape
    chosen = np.flatnonzero(keep[:n]).astype(np.int32)
    subset = HeldMap(chosen.reshape(-1, 1), n)
    order = room.IncidenceOrder.by_slot if by_slot else room.IncidenceOrder.by_element
    spec = room.InverseSpec(
        len(chosen),
        subset.table,
        held.occurrences(),
        order,
        room.EntryOrigin.element,
        touched_only,
    )
    inverse = room.invert(spec, 2)
    rows = inverse.rows if touched_only else np.arange(held.table.n_targets)
    found = []
    for row, entries in zip(rows, colours(inverse.offset, inverse.entries), strict=True):
        elements, slots = np.divmod(entries, arity)
        assert np.all(held.values[elements, slots] == row)
        keys = list(zip(slots, elements, strict=True)) if by_slot else list(entries)
        assert keys == sorted(keys)
        assert len(entries) > 0 or not touched_only
        found += entries.tolist()
    expected = [e * arity + s for e in chosen for s in range(arity) if held.values[e, s] >= 0]
    assert sorted(found) == expected
    padded = room.pad(inverse, 2)
    columns = padded.columns.reshape(padded.width, padded.n_rows).T
    unpadded = [row[row >= 0].tolist() for row in columns]
    assert unpadded == [e.tolist() for e in colours(inverse.offset, inverse.entries)]


@given(held=held_maps())
def test_facts_follow_the_values(held: HeldMap) -> None:
    facts = room.map_facts(held.table, len(held.values), 2)
    values = held.values.ravel()
    degree = np.bincount(values[values >= 0], minlength=held.table.n_targets)
    expected = room.MapFacts(
        held.values.itemsize,
        bool(degree.max() <= 1),
        bool((values < 0).any()),
    )
    assert facts == expected
    assert hash(facts) == hash(expected)
    assert facts != room.MapFacts(held.values.itemsize, not facts.injective, facts.has_negative)
    assert facts != 4


def test_arrays_are_read_only_views_that_keep_their_plan() -> None:
    held = HeldMap(np.array([[0, 1], [1, 2]], dtype=np.int32), 3)
    plan = room.colour_elements(2, None, [held.all()], 1)
    elements = plan.elements
    assert elements.dtype == np.int32
    assert np.shares_memory(elements, plan.elements)
    with pytest.raises(ValueError, match="read-only"):
        elements[0] = 1
    del plan
    gc.collect()
    assert elements.tolist() == [0, 1]


def test_cache_reuses_and_forgets() -> None:
    cache = room.PlanCache()
    held = HeldMap(np.array([[0, 1], [1, 2]], dtype=np.int32), 3)
    first = cache.blocks(2, None, [held.all()], 1, 1)
    assert cache.blocks(2, None, [held.all(3)], 1, 2) is first
    held.table.increment_version()
    assert cache.blocks(2, None, [held.all()], 1, 1) is not first
    statistics = cache.statistics()
    assert (statistics.hits, statistics.misses, statistics.n_plans) == (1, 2, 1)
    assert statistics.bytes == first.bytes
    spec = room.InverseSpec(
        2,
        None,
        held.occurrences(),
        room.IncidenceOrder.by_slot,
        room.EntryOrigin.position,
        False,
    )
    assert cache.inverse(spec, 1) is cache.inverse(spec, 1)
    assert cache.padded(spec, 1) is cache.padded(spec, 1)
    assert cache.elements(2, None, [held.all()], 1) is cache.elements(2, None, [held.all()], 1)
    assert not cache.facts(held.table, 2, 1).injective
    gone = weakref.ref(held.table)
    del held, spec
    gc.collect()
    assert gone() is None
    assert cache.statistics().n_plans == 0
    cache.clear()
    assert cache.statistics().misses == 0


def test_errors_are_usage_errors() -> None:
    held = HeldMap(np.array([[0, 1], [1, 9]], dtype=np.int32), 3)
    with pytest.raises(exceptions.UsageError, match="row 1, slot 1: value 9"):
        room.check_range(held.table, "Map 'e2n'", False, 1)
    with pytest.raises(exceptions.UsageError, match="block size 0"):
        room.colour_blocks(2, None, [held.all()], 0, 1)
    with pytest.raises(exceptions.UsageError, match="map of 2 rows"):
        room.colour_elements(3, None, [held.all()], 1)
