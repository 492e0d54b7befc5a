# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import doctest
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pyop2cxx.data.renumber
from pyop2cxx import exceptions, op2
from pyop2cxx._core import plan as room
from pyop2cxx.data.renumber import Renumbering, renumber

METHODS = ["rcm", "hilbert", "morton", "lines"]


class Grid:
    """Quadrilaterals of a square, numbered at random."""

    def __init__(self, n: int, seed: int) -> None:
        random = np.random.default_rng(seed)
        corner = np.arange((n + 1) ** 2).reshape(n + 1, n + 1)
        cell = np.arange(n * n).reshape(n, n)
        corners = np.stack([corner[:-1, :-1], corner[:-1, 1:], corner[1:, 1:], corner[1:, :-1]], -1)
        across = np.stack([cell[:, :-1].ravel(), cell[:, 1:].ravel()], -1)
        upward = np.stack([cell[:-1].ravel(), cell[1:].ravel()], -1)
        pairs = random.permutation(np.concatenate([across, upward]))
        new_node, new_cell = random.permutation((n + 1) ** 2), random.permutation(n * n)
        places = np.empty(((n + 1) ** 2, 2))
        places[new_node] = np.stack(np.divmod(corner.ravel(), n + 1), -1) / n
        cell2node = np.empty((n * n, 4), dtype=np.int32)
        cell2node[new_cell] = new_node[corners.reshape(-1, 4)]
        self.nodes = op2.Set((n + 1) ** 2, "nodes")
        self.cells = op2.Set(n * n, "cells")
        self.edges = op2.Set(len(pairs), "edges")
        self.c2n = op2.Map(self.cells, self.nodes, 4, cell2node, "c2n")
        self.e2c = op2.Map(self.edges, self.cells, 2, new_cell[pairs], "e2c")
        self.x = op2.Dat(self.nodes**2, places, name="x")
        self.q = op2.Dat(self.cells, np.arange(n * n), np.int32, "q")

    def renumber(self, method: str) -> Renumbering:
        coordinates = None if method == "rcm" else self.x
        dats = [self.x, self.q]
        return renumber([self.c2n, self.e2c], dats, method=method, coordinates=coordinates)

    def cell_corners(self) -> dict[int, list[list[float]]]:
        """Where the corners of each cell are, by what the cell is called in `q`."""
        places = self.x.data_ro[self.c2n.values].tolist()
        return dict(zip(self.q.data_ro.tolist(), places, strict=True))

    def cell_pairs(self) -> list[list[int]]:
        """The cells beside each edge, by what they are called in `q`."""
        return sorted(self.q.data_ro[self.e2c.values].tolist())

    def distance(self) -> float:
        """How far apart the two cells of an edge are numbered, on average."""
        return float(np.abs(np.diff(self.e2c.values)).mean())

    def n_colours(self) -> int:
        conflicts = [room.Conflict(self.e2c.table, room.all_slots, 0)]
        return int(room.colour_blocks(self.edges.size, None, conflicts, 64, 1).statistics.n_colours)


@pytest.mark.parametrize("method", METHODS)
def test_is_the_same_mesh_in_a_better_order(method: str) -> None:
    grid = Grid(40, 1)
    corners, pairs, before = grid.cell_corners(), grid.cell_pairs(), grid.distance()
    colours = grid.n_colours()
    grid.renumber(method)
    assert grid.cell_corners() == corners
    assert grid.cell_pairs() == pairs
    assert grid.distance() < before / 5
    assert grid.n_colours() < colours / 3
    first = grid.e2c.values.min(axis=1)
    assert np.all(np.diff(first) >= 0)


@pytest.mark.parametrize("method", METHODS)
def test_undo_restores_every_bit(method: str) -> None:
    grid = Grid(7, 2)
    things = (grid.c2n.values, grid.e2c.values, grid.x.data_ro, grid.q.data_ro)
    before = [array.copy() for array in things]
    renumbering = grid.renumber(method)
    assert any((a != b).any() for a, b in zip(things, before, strict=True))
    renumbering.undo()
    for array, old in zip(things, before, strict=True):
        np.testing.assert_array_equal(array, old)
    with pytest.raises(exceptions.UsageError, match="undone already"):
        renumbering.undo()


def test_translates_arrays_both_ways() -> None:
    grid = Grid(5, 3)
    places = grid.x.data_ro.copy()
    renumbering = grid.renumber("hilbert")
    np.testing.assert_array_equal(renumbering.to_original(grid.x), places)
    np.testing.assert_array_equal(renumbering.to_new(places, grid.nodes), grid.x.data_ro)
    np.testing.assert_array_equal(renumbering.to_original(grid.q.data_ro, grid.cells), range(25))
    elsewhere = op2.Set(3, "elsewhere")
    assert renumbering.to_new([1, 2, 3], elsewhere).tolist() == [1, 2, 3]
    with pytest.raises(exceptions.UsageError, match="25 owned or 25 entities of Set 'cells'"):
        renumbering.to_new([1, 2], grid.cells)
    with pytest.raises(exceptions.UsageError, match="which Set"):
        renumbering.to_original([1, 2])


def test_changes_what_plans_and_loops_look_at() -> None:
    grid = Grid(4, 4)
    address = grid.x.data_ro.ctypes.data
    map_version, dat_version = grid.e2c.table.version, grid.x.dat_version
    grid.renumber("morton")
    assert grid.e2c.table.version > map_version
    assert grid.x.dat_version > dat_version
    assert grid.x.data_ro.ctypes.data == address
    assert grid.x.halo_valid


@given(sizes=st.lists(st.integers(0, 12), min_size=3, max_size=3).map(sorted), seed=st.integers(0))
def test_core_owned_and_ghosts_stay_among_themselves(sizes: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    points = op2.Set(tuple(sizes), "points")
    lines = op2.Set((3, 5, 8), "lines")
    values = random.integers(0, max(sizes[2], 1), (8, 2)) if sizes[2] else None
    paths = [] if values is None else [op2.Map(lines, points, 2, values, "ends")]
    x = op2.Dat(points**3, random.random((sizes[2], 3)))
    renumbering = renumber(paths, [], coordinates=x)
    for on, order in renumbering.orders.items():
        parts = (0, *on.sizes)
        for begin, end in itertools.pairwise(parts):
            assert sorted(order[begin:end]) == list(range(begin, end))
    assert set(renumbering.orders) == ({points} if values is None else {points, lines})


def test_rcm_reduces_the_bandwidth_of_a_shuffled_path() -> None:
    random = np.random.default_rng(5)
    names = random.permutation(50)
    nodes, edges = op2.Set(50), op2.Set(49)
    e2n = op2.Map(edges, nodes, 2, random.permutation(np.stack([names[:-1], names[1:]], -1)))
    renumber([e2n])
    assert np.abs(np.diff(e2n.values)).max() == 1
    assert e2n.values.min(axis=1).tolist() == list(range(49))


def test_wide_maps_and_dats_without_memory() -> None:
    nodes, edges = op2.Set(3), op2.Set(2)
    e2n = op2.Map(edges, nodes, 2, np.array([[0, 2], [2, 1]], dtype=np.int64))
    x = op2.Dat(nodes, [0.0, 2.0, 1.0])
    unused = op2.Dat(nodes)
    elsewhere = op2.Dat(op2.Set(2), [1.0, 2.0])
    renumber([e2n], [unused, elsewhere, x, x], coordinates=x)
    assert e2n.values.tolist() == [[0, 1], [1, 2]]
    assert x.data_ro.tolist() == [0.0, 1.0, 2.0]
    assert not unused.is_allocated
    assert elsewhere.data_ro.tolist() == [1.0, 2.0]


def test_two_dats_over_one_array_move_once() -> None:
    nodes = op2.Set(3)
    memory = np.array([0.0, 2.0, 1.0])
    x, twin = op2.Dat(nodes, memory), op2.Dat(nodes, memory)
    renumbering = renumber([], [x, twin], coordinates=x)
    assert memory.tolist() == [0.0, 1.0, 2.0]
    renumbering.undo()
    assert memory.tolist() == [0.0, 2.0, 1.0]


def test_refuses_dats_that_overlap() -> None:
    memory = np.zeros(4)
    one = op2.Dat(op2.Set(3), memory[:3], name="one")
    other = op2.Dat(op2.Set(3), memory[1:], name="other")
    with pytest.raises(exceptions.UsageError, match="'one' and 'other' share"):
        renumber([], [one, other], coordinates=one)


def test_refuses_what_it_cannot_do() -> None:
    grid = Grid(2, 6)
    with pytest.raises(exceptions.UsageError, match="rcm, hilbert, morton, lines"):
        renumber([grid.c2n], method="metis")
    with pytest.raises(exceptions.UsageError, match="'hilbert' needs coordinates"):
        renumber([grid.c2n], method="hilbert")
    with pytest.raises(exceptions.UsageError, match="leave them out"):
        renumber([grid.c2n], method="rcm", coordinates=grid.x)
    with pytest.raises(exceptions.UsageError, match="needs a Map"):
        renumber([])
    single = op2.Map(grid.cells, grid.nodes, 1, grid.c2n.values[:, 0], "single")
    with pytest.raises(exceptions.UsageError, match="'single' of arity 1"):
        renumber([single])
    with pytest.raises(exceptions.MapTypeError, match="expected a Map"):
        renumber([grid.x])  # type: ignore[list-item]
    permuted = op2.PermutedMap(grid.c2n, range(grid.c2n.arity)[::-1])
    with pytest.raises(exceptions.MapTypeError, match="no values of its own; give those it"):
        renumber([permuted], coordinates=grid.x)
    with pytest.raises(exceptions.DatTypeError, match="expected a Dat"):
        renumber([grid.c2n], [grid.cells])  # type: ignore[list-item]
    with pytest.raises(exceptions.MapValueError, match="without values"):
        renumber([op2.Map(grid.cells, grid.nodes, 2)])
    spoiled = op2.Dat(grid.nodes, [np.nan] * 9)
    with pytest.raises(exceptions.UsageError, match="point 0 is nan"):
        renumber([grid.c2n], coordinates=spoiled)
    turned = op2.Dat(grid.nodes, [1j] * 9)
    with pytest.raises(exceptions.UsageError, match="complex"):
        renumber([grid.c2n], coordinates=turned)


@pytest.mark.usefixtures("static")
def test_needs_loops_that_run() -> None:
    with pytest.raises(exceptions.StaticModeError):
        renumber([])


def test_examples() -> None:
    found = doctest.testmod(pyop2cxx.data.renumber)
    assert found.attempted > 8
    assert found.failed == 0


@pytest.mark.parametrize(("backend", "curve"), [("cuda", "lines"), ("openmp", "hilbert")])
def test_the_default_suits_the_backend(backend: str, curve: str) -> None:
    by_default, by_name = Grid(6, 3), Grid(6, 3)
    with op2.backend(backend):
        renumber([by_default.c2n], [by_default.x], coordinates=by_default.x)
        renumber([by_name.c2n], [by_name.x], coordinates=by_name.x, method=curve)
    np.testing.assert_array_equal(by_default.c2n.values, by_name.c2n.values)
    np.testing.assert_array_equal(by_default.x.data_ro, by_name.x.data_ro)
