# SPDX-License-Identifier: BSD-3-Clause
"""Graphs: written down once, checked for races, and submitted many times."""

from __future__ import annotations

import ctypes
import gc
import random
import re
import threading
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ring import MORE, SPREAD, TWICE, Ring, assert_alike, kernel

from pyop2cxx import _core, op2
from pyop2cxx.chain.tasks import mirror_of_loops
from pyop2cxx.exceptions import (
    DataValueError,
    ExecutionError,
    GraphClosedError,
    GraphRaceError,
    HaloFrozenError,
    StaticModeError,
    UnsupportedError,
    UsageError,
)
from pyop2cxx.graph import passes
from pyop2cxx.graph.memory import numbered

if TYPE_CHECKING:
    from pyop2cxx.graph.builder import Node

pytestmark = pytest.mark.each_backend
ADD = kernel("void add(double *s, const double *x) { s[0] += x[0]; }")
STEP = ("twice p q", "gather", "spread", "step", "twice s q")


def _built(ring: Ring, g: op2.graph) -> Node:
    """One step of a ring, one loop behind the other."""
    node: Any = g
    for name in STEP:
        node = node.then(*ring.loops()[name], **ring.options(name))
    return node


# What each phase allows


def test_a_graph_does_what_its_loops_do(backend: str) -> None:
    eager, lazy = Ring(), Ring()
    with op2.graph("step") as g:
        _built(lazy, g)
    graph = g.instantiate()
    for _ in range(3):
        for name in STEP:
            eager.run(name)
    graph.submit(2)
    graph.submit()
    graph.wait()
    assert_alike(eager, lazy)
    assert graph.stats().submits == 3


def test_nothing_runs_before_it_is_submitted() -> None:
    ring, before = Ring(), Ring()
    with op2.graph() as g:
        _built(ring, g)
    g.instantiate()
    assert_alike(ring, before)


def test_what_is_built_cannot_be_submitted_and_what_is_ready_cannot_be_changed() -> None:
    ring = Ring()
    with op2.graph() as g:
        _built(ring, g)
        assert not hasattr(g, "submit")
    graph = g.instantiate()
    for name in ("then", "par_loop", "when_all", "slot", "instantiate", "while_"):
        assert not hasattr(graph, name)


@pytest.mark.parametrize("when", ["scope", "instantiated"])
def test_nodes_cannot_be_added_afterwards(backend: str, when: str) -> None:
    ring = Ring()
    with op2.graph("g") as g:
        node = g.par_loop(MORE, ring.cells, ring.dats["q"](op2.RW))
    if when == "instantiated":
        g.instantiate()
    for add in (g.par_loop, node.then):
        with pytest.raises(GraphClosedError, match="nothing can be added by"):
            add(MORE, ring.cells, ring.dats["q"](op2.RW))
    with pytest.raises(GraphClosedError):
        g.when_all(node)
    with pytest.raises(GraphClosedError):
        g.slot(ring.dats["q"])


def test_a_graph_is_instantiated_once_and_after_its_block() -> None:
    ring = Ring()
    with op2.graph("g") as g:
        g.par_loop(MORE, ring.cells, ring.dats["q"](op2.RW))
        with pytest.raises(GraphClosedError, match="its block has not ended"):
            g.instantiate()
    g.instantiate()
    with pytest.raises(GraphClosedError, match="it is instantiated"):
        g.instantiate()
    with pytest.raises(GraphClosedError, match="was built already"), g:
        pass


def test_a_graph_whose_block_failed_cannot_be_instantiated() -> None:
    with pytest.raises(ZeroDivisionError), op2.graph() as g:
        raise ZeroDivisionError
    with pytest.raises(GraphClosedError, match="given up"):
        g.instantiate()


def test_without_its_block_a_builder_takes_nothing() -> None:
    ring = Ring()
    g = op2.graph()
    with pytest.raises(GraphClosedError, match="is not open"):
        g.par_loop(MORE, ring.cells, ring.dats["q"](op2.RW))


def test_a_node_does_not_keep_its_graph_alive() -> None:
    ring = Ring()
    with op2.graph() as g:
        node = g.par_loop(MORE, ring.cells, ring.dats["q"](op2.RW))
    del g
    gc.collect()
    with pytest.raises(GraphClosedError, match="is gone"):
        node.then(MORE, ring.cells, ring.dats["q"](op2.RW))


def test_a_node_never_changes() -> None:
    ring = Ring()
    q = ring.dats["q"]
    with op2.graph() as g:
        node = g.par_loop(MORE, ring.cells, q(op2.RW))
        with pytest.raises(AttributeError):
            node.kernel = TWICE  # type: ignore[attr-defined]
        with pytest.raises(AttributeError):
            node.name = "other"  # type: ignore[misc]
    assert repr(node) == "<node 0 'more'>"


def test_a_closure_runs_once(backend: str) -> None:
    ring, calls = Ring(), []

    def close(root: op2.graph) -> None:
        calls.append(1)
        root.then(MORE, ring.cells, ring.dats["q"](op2.RW))

    before = ring.dats["q"].data_ro.copy()
    graph = op2.create_graph(close)
    graph.submit(100)
    assert calls == [1]
    np.testing.assert_allclose(ring.dats["q"].data_ro, before + 100)
    assert graph.name == "close"


def test_dats_live_as_long_as_the_graph() -> None:
    x = op2.Dat(op2.Set(3), [1.0, 2.0, 3.0])
    alive = weakref.ref(x)
    with op2.graph() as g:
        g.par_loop(MORE, x.dataset.set, x(op2.RW))
    graph = g.instantiate()
    del x, g
    gc.collect()
    graph.submit()
    found = alive()
    assert found is not None
    assert found.data_ro.tolist() == [2.0, 3.0, 4.0]
    del found, graph
    gc.collect()
    assert alive() is None


# Shapes


def test_a_diamond(backend: str) -> None:
    cells = op2.Set(4)
    a, b, c, d = (op2.Dat(cells, np.ones(4), name=name) for name in "abcd")
    with op2.graph() as g:
        first = g.par_loop(MORE, cells, a(op2.RW))
        left = first.then(TWICE, cells, b(op2.WRITE), a(op2.READ))
        right = first.then(TWICE, cells, c(op2.WRITE), a(op2.READ))
        last = g.when_all(left, right).then(TWICE, cells, d(op2.WRITE), b(op2.READ))
        last.then(ADD, cells, d(op2.RW), c(op2.READ))
    graph = g.instantiate()
    graph.submit()
    assert d.data_ro.tolist() == [12.0] * 4
    stats = graph.stats()
    assert (stats.nodes, stats.edges, stats.levels, stats.segments) == (5, 5, 4, 1)


def test_redundant_edges_and_ends_that_nobody_waits_for() -> None:
    cells = op2.Set(4)
    a, b, c = (op2.Dat(cells, np.ones(4), name=name) for name in "abc")
    with op2.graph() as g:
        first = g.par_loop(MORE, cells, a(op2.RW))
        second = first.then(TWICE, cells, b(op2.WRITE), a(op2.READ))
        g.when_all(first, g.when_all(first, second)).then(TWICE, cells, c(op2.WRITE), b(op2.READ))
        g.par_loop(MORE, cells, op2.Dat(cells)(op2.RW))  # nobody waits for it
    g.instantiate().submit()
    assert c.data_ro.tolist() == [8.0] * 4


def test_empty_graphs_and_empty_sets(backend: str) -> None:
    with op2.graph() as g:
        pass
    empty = g.instantiate()
    empty.submit(5)
    none = op2.Dat(op2.Set(0))
    graph = op2.create_graph(lambda root: root.then(MORE, none.dataset.set, none(op2.RW)))
    graph.submit()
    assert empty.stats().levels == 0


def test_unordered_sums_into_one_dat_are_exact(backend: str) -> None:
    ring = Ring()
    r, p, q = (ring.dats[name] for name in "rpq")
    r.zero()
    with op2.graph() as g:
        for x in (p, q):
            g.par_loop(
                *(SPREAD, ring.edges, r(op2.INC, ring.ends), x(op2.READ, ring.ends)),
                ring.flux(op2.READ),
            )
    g.instantiate().submit()
    other = Ring()
    other.dats["r"].zero()
    other.run("spread")
    op2.par_loop(
        *(SPREAD, other.edges, other.dats["r"](op2.INC, other.ends)),
        *(other.dats["p"](op2.READ, other.ends), other.flux(op2.READ)),
    )
    np.testing.assert_allclose(r.data_ro, other.dats["r"].data_ro, atol=1e-12)


def test_two_unordered_reductions_are_exact_each_time(backend: str) -> None:
    cells = op2.Set(300)
    x, y = op2.Dat(cells, np.ones(300)), op2.Dat(cells, np.full(300, 2.0))
    one, two = op2.Global(1, 0.0, name="one"), op2.Global(1, 0.0, name="two")
    total = kernel("void total(const double *x, double *s) { s[0] += x[0]; }")
    with op2.graph() as g:
        g.then_reduce(total, cells, x(op2.READ), one(op2.INC))
        g.then_parallel_reduce(total, cells, y(op2.READ), two(op2.INC))
    graph = g.instantiate()
    for times in range(1, 1001):
        graph.submit()
        assert one.data_ro[0] == 300 * times
        assert two.data_ro[0] == 600 * times


def test_a_single_work_item(backend: str) -> None:
    one = op2.Set(1, "one")
    ratio = op2.Dat(one, [0.0], name="ratio")
    above, below = op2.Global(1, 6.0, name="above"), op2.Global(1, 2.0, name="below")
    most = op2.Global(1, 0.0, name="most")
    divide = kernel(
        "void divide(double *r, const double *a, const double *b) { r[0] = a[0] / b[0]; }"
    )
    peak = kernel("void peak(const double *a, double *m) { if (a[0] > m[0]) m[0] = a[0]; }")
    with op2.graph() as g:
        g.then_single(divide, ratio(op2.WRITE), above(op2.READ), below(op2.READ)).then_single(
            peak, above(op2.READ), most(op2.MAX)
        )
    graph = g.instantiate()
    graph.submit()
    assert (ratio.data_ro[0], most.data_ro[0]) == (3.0, 6.0)
    above.data[:] = 7.0
    graph.submit(2)
    assert (ratio.data_ro[0], most.data_ro[0]) == (3.5, 7.0)
    other = op2.Dat(op2.Set(2, "two"), name="other")
    with op2.graph() as g:
        with pytest.raises(UsageError, match=r"once, so its Dats .* got 'two' of 2; for loops"):
            g.then_single(MORE, other(op2.RW))
        with pytest.raises(UsageError, match=r"got 'one' of 1, 'two' of 2"):
            g.then_single(divide, ratio(op2.WRITE), other(op2.READ), below(op2.READ))


def test_loops_called_elsewhere_leave_a_graph_as_it_is(backend: str) -> None:
    """A driver may keep one set of arguments a kernel; each node of a graph has its own."""
    cells = op2.Set(9)
    x, seen, y, other = (op2.Dat(cells, np.full(9, value)) for value in (1.0, 0.0, 10.0, 0.0))
    with op2.graph() as g:
        g.par_loop(ADD, cells, seen(op2.INC), x(op2.READ)).then(
            ADD, cells, seen(op2.INC), x(op2.READ)
        )
    graph = g.instantiate()
    graph.submit()
    loop = op2.ParLoop(ADD, cells, other(op2.INC), y(op2.READ))
    for n in range(1, 4):
        loop.compute()  # the same program with other arguments
        graph.submit()
        op2.par_loop(ADD, cells, other(op2.INC), y(op2.READ))
        assert seen.data_ro.tolist() == [2.0 + 2 * n] * 9
        assert other.data_ro.tolist() == [20.0 * n] * 9


def test_a_copy_reads_what_a_loop_behind_it_overwrites() -> None:
    """What a copy reads is on a device; the loop behind it says that it needs none of that."""
    if "opencl" not in {one.name for one in op2.backends() if one.available}:
        pytest.skip("there is no OpenCL device")
    cells = op2.Set(400_000)
    x, copied, other = (op2.Dat(cells, np.zeros(400_000)) for _ in range(3))
    given = op2.Global(1, 0.0)
    seven = kernel("void seven(double *x) { x[0] = 7; }")
    give = kernel("void give(double *x, const double *v) { x[0] = v[0]; }")
    seen: list[float] = []

    def on_device() -> None:
        with op2.backend("opencl"):
            given.data[:] = 100.0 + len(seen)
            op2.par_loop(give, cells, x(op2.RW), given(op2.READ))

    with op2.backend("openmp"):
        with op2.graph() as g:
            node: Any = g.then_host(on_device, writes=[x]).then_copy(x, copied)
            node = node.then(MORE, cells, other(op2.RW)).then(seven, cells, x(op2.WRITE))
            node = node.then(MORE, cells, other(op2.RW))
            node.then_host(lambda: seen.append(float(copied.data_ro[0])), reads=[copied])
        g.instantiate().submit(8)
    assert seen == [100.0 + i for i in range(8)]


def test_a_graph_that_runs_says_what_is_known_of_it() -> None:
    cells = op2.Set(9)
    x = op2.Dat(cells, np.zeros(9))
    told: list[int] = []

    def ask(*_: object) -> None:
        told.append(graph.stats().nodes)
        other = threading.Thread(target=lambda: told.append(graph.stats().nodes))
        other.start()
        other.join(60)

    with op2.graph() as g:
        g.par_loop(MORE, cells, x(op2.RW)).then_library(ask, reads=[x], writes=[x])
    graph = g.instantiate()
    graph.submit()
    graph.wait()
    assert told == [2, 2]


def test_a_while_that_runs_says_what_is_known_of_it(backend: str) -> None:
    x, left, add = _halved("float64")
    told: list[object] = []

    def ask(*_: object) -> None:
        told.append(graph.stats().repeats[0].condition)
        other = threading.Thread(target=lambda: told.append(graph.stats().nodes))
        other.start()
        other.join(60)

    with op2.graph() as g, g.while_(left > 2, most=50) as again:
        add(again.then_library(ask, reads=[x], writes=[x]))
    graph = g.instantiate()
    mirror = mirror_of_loops()
    is_replayed = mirror is not None and _core.graph.QueueTask.is_possible(mirror)
    for i in range(4):
        x.data[:] = left.data = 64
        told.clear()
        graph.submit()
        assert x.data_ro[0] == 2
        # launches that were recorded are replayed without asking again
        assert set(told[::2]) <= {"left > 2"}
        assert set(told[1::2]) <= {graph.stats().nodes}
        assert told or (is_replayed and i > 0)


def test_one_loop_may_be_several_nodes(backend: str) -> None:
    x = op2.Dat(op2.Set(3))
    with op2.graph() as g:
        node: Any = g
        for _ in range(50):
            node = node.then(MORE, x.dataset.set, x(op2.RW))
    g.instantiate().submit(2)
    assert x.data_ro.tolist() == [100.0] * 3


# Races


def test_a_race_is_named(backend: str) -> None:
    ring = Ring()
    p, q = ring.dats["p"], ring.dats["q"]
    with op2.graph("racy") as g:
        g.par_loop(MORE, ring.cells, q(op2.RW))
        g.par_loop(TWICE, ring.cells, p(op2.WRITE), q(op2.READ))
    with pytest.raises(GraphRaceError) as caught:
        g.instantiate()
    text = str(caught.value)
    assert "graph 'racy': nothing orders nodes" in text
    assert "node 0 'more'" in text
    assert "node 1 'twice'" in text
    assert "Dat 'q'" in text
    assert "test_graph.py" in text
    assert "when_all" in text


@pytest.mark.parametrize("on_race", ["serialise", "ignore"])
def test_what_is_done_about_a_race_can_be_chosen(on_race: str) -> None:
    x = op2.Dat(op2.Set(3), [1.0, 2.0, 3.0])
    twice = kernel("void twice(double *x) { x[0] *= 2; }")
    with op2.graph() as g:
        g.par_loop(MORE, x.dataset.set, x(op2.RW))
        g.par_loop(twice, x.dataset.set, x(op2.RW))
    graph = g.instantiate(on_race=on_race)
    assert graph.stats().edges == (1 if on_race == "serialise" else 0)
    if on_race == "serialise":
        graph.submit()
        assert x.data_ro.tolist() == [4.0, 6.0, 8.0]


def test_dats_that_share_memory_race() -> None:
    cells = op2.Set(4)
    memory = np.zeros(4)
    one, other = op2.Dat(cells, memory, name="one"), op2.Dat(cells, memory, name="other")
    with op2.graph() as g:
        g.par_loop(MORE, cells, one(op2.RW))
        g.par_loop(MORE, cells, other(op2.RW))
    with pytest.raises(GraphRaceError, match="Dat 'one' and Dat 'other'"):
        g.instantiate()


def test_readers_of_a_const_wait_for_nobody() -> None:
    x = op2.Dat(op2.Set(2), [1.0, 2.0])
    op2.Const(1, 3.0, "factor_of_graph")
    scale = kernel("void scale(double *x) { x[0] *= factor_of_graph; }")
    graph = op2.create_graph(lambda root: root.then(scale, x.dataset.set, x(op2.RW)))
    graph.submit()
    op2.Const(1, 5.0, "factor_of_graph")
    graph.submit()
    assert x.data_ro.tolist() == [15.0, 30.0]


def _needed(ring: Ring, names: list[str]) -> set[tuple[int, int]]:
    """Pairs of loops whose order matters, by definition."""
    uses = [
        [(arg.data.uid, arg.access) for arg in ring.loops()[name][2:]]  # type: ignore[attr-defined]
        for name in names
    ]
    sums = (op2.INC, op2.MIN, op2.MAX)
    return {
        (i, j)
        for j in range(len(names))
        for i in range(j)
        for one, mine in uses[i]
        for other, theirs in uses[j]
        if one == other
        and (mine, theirs) != (op2.READ, op2.READ)
        and not (mine == theirs and mine in sums)
    }


def _with_edges(ring: Ring, names: list[str], edges: set[tuple[int, int]]) -> op2.graph:
    with op2.graph() as g:
        nodes: list[Node] = []
        for j, name in enumerate(names):
            before = [nodes[i] for i in range(j) if (i, j) in edges]
            place: Any = g.when_all(*before) if before else g
            nodes.append(place.then(*ring.loops()[name], **ring.options(name)))
    return g


def _reaches(edges: set[tuple[int, int]], n: int) -> set[tuple[int, int]]:
    found = set(edges)
    for j in range(n):
        for i in range(j):
            if (i, j) in found:
                found |= {(h, j) for h in range(i) if (h, i) in found}
    return found


_NAMES = st.lists(st.sampled_from(sorted(Ring().loops())), min_size=2, max_size=10)


def _random_graph(names: list[str], seed: int) -> None:
    eager, lazy = Ring(), Ring()
    needed = _needed(lazy, names)
    graph = _with_edges(lazy, names, needed).instantiate()
    graph.submit(2)
    for name in names * 2:
        eager.run(name)
    assert_alike(eager, lazy)
    chosen = random.Random(seed)
    left = {edge for edge in needed if chosen.random() < 0.7}
    raced = needed - _reaches(left, len(names))
    builder = _with_edges(lazy, names, left)
    found = _core.graph.races(numbered(builder.nodes)[0])
    assert {(one.earlier, one.later) for one in found} == raced
    if raced:
        with pytest.raises(GraphRaceError):
            builder.instantiate()
    else:
        builder.instantiate()


@given(names=_NAMES, seed=st.integers(0, 1000))
@settings(max_examples=200, suppress_health_check=[*HealthCheck])
def test_random_graphs_compute_what_their_loops_do(
    backend: str, names: list[str], seed: int
) -> None:
    _random_graph(names, seed)


# Values of now


def test_globals_and_dats_are_read_at_each_submit(backend: str) -> None:
    ring = Ring()
    s = ring.dats["s"]
    s.data[:] = 1.0
    scaled = ring.loops()["scaled"]
    graph = op2.create_graph(lambda root: root.then(*scaled))
    for factor in (2.0, 3.0):
        ring.least.data = factor
        graph.submit()
    np.testing.assert_allclose(s.data_ro, 6.0)
    s.data[:] = 10.0
    graph.submit()
    np.testing.assert_allclose(s.data_ro, 30.0)


def test_parameters_are_read_at_each_submit_and_nothing_is_made_anew(backend: str) -> None:
    cells = op2.Set(3, "cells")
    x, y = op2.Dat(cells, [1.0, 2.0, 3.0], name="x"), op2.Dat(cells, name="y")
    gain, most = op2.Global(1, 1.0, name="gain"), op2.Global(1, 0.0, name="most")
    rate = op2.Const(2, [0.0, 1.0], "graph_rate")
    scale = kernel("void scale(double *y, double *x, double *g) { y[0] = g[0] * x[0]; }")
    shift = kernel("void shift(double *y) { y[0] += graph_rate[1]; }")
    peak = kernel("void peak(double *m, double *y) { if (y[0] > m[0]) m[0] = y[0]; }")

    def loops(place: Any) -> None:
        scaled = place.then(scale, cells, y(op2.WRITE), x(op2.READ), gain(op2.READ))
        scaled.then(shift, cells, y(op2.RW)).then(peak, cells, most(op2.MAX), y(op2.READ))

    with op2.graph("inner") as inner:
        loops(inner)
    with op2.graph("parameters") as g:
        g.slot(x)
        node = g.then_graph(inner.instantiate())
        with node.while_(most < 10.0, most=1) as again:
            loops(again)
    graph = g.instantiate()
    bound = graph.bind({x: op2.Dat(cells, [4.0, 5.0, 6.0], name="z")})
    native = graph.native
    for i in range(8):
        gain.data, rate.data[1], most.data = i + 1.0, 0.5 * i, -1.0
        graph.submit()
        wanted = (i + 1) * np.array([1.0, 2.0, 3.0]) + 0.5 * i
        np.testing.assert_array_equal(y.data_ro, wanted)
        assert most.data_ro == wanted[-1]
        bound.submit()
        np.testing.assert_array_equal(y.data_ro, wanted + 3.0 * (i + 1))
        if i == 1:
            native = graph.native
        if 1 < i < 3:  # while both ways are measured
            assert graph.native == native
    assert graph.stats().instantiations == bound.stats().instantiations == 1
    rate.remove_from_namespace()


def test_whether_replaying_pays_is_measured(backend: str) -> None:
    ring = Ring()
    names = ["gather", "spread", "step", "least"]
    graph = op2.record(lambda: [op2.par_loop(*ring.loops()[name]) for name in names])
    graph.submit()
    assert graph.stats().replays == ()
    graph.submit()
    if backend not in ("cuda", "opencl"):
        graph.submit(8)
        assert graph.stats().replays == ()
        return
    (replay,) = graph.stats().replays
    assert replay.kept == "undecided"
    assert replay.as_one_ms > 0.0
    graph.submit(8)
    (replay,) = graph.stats().replays
    assert replay.alone_ms is not None
    times = {"loop by loop": replay.alone_ms, "as one": replay.as_one_ms}
    if replay.side_by_side_ms is not None:
        times["side by side"] = replay.side_by_side_ms
    assert times[replay.kept] == min(times.values())
    is_one = backend == "cuda" and replay.kept != "loop by loop"
    assert len(graph.native) == is_one  # OpenCL's drivers know single launches only


def test_large_scratch_memory_of_replayed_loops_stays_theirs(device: _core.Device) -> None:
    """It is allocated for each run, unless loops are told to keep as much."""
    n = 10_000
    edges, nodes = op2.Set(n, "edges"), op2.Set(n, "nodes")
    ends = op2.Map(edges, nodes, 2, np.stack([np.arange(n), np.roll(np.arange(n), -1)], 1), "ends")
    x, y = op2.Dat(edges, np.arange(1.0 * n), name="x"), op2.Dat(nodes, name="y")
    text = "void add(double *y, const double *x) { y[0] += x[0]; y[1] -= 2 * x[0]; }"
    expected = x.data_ro - 2 * np.roll(x.data_ro, 1)
    for tuning in ({}, {"kept_scratch_bytes": 16 * n}):
        y.zero()
        loops = [
            op2.ParLoop(
                op2.Kernel(text, "add"),
                edges,
                y(op2.INC, ends),
                x(op2.READ),
                strategy="scratch",
                tuning=tuning,
            )
            for _ in range(3)
        ]
        graph = op2.record(lambda loops=loops: [loop.compute() for loop in loops])  # type: ignore[misc]
        for _ in range(3):
            graph.submit()
        assert len(graph.stats().replays) == len(tuning)
        assert len(graph.stats().not_replayed) == 1 - len(tuning)
        np.testing.assert_array_equal(y.data_ro, 9 * expected)


def test_what_is_not_replayed_says_why(device: _core.Device) -> None:
    n = 10_000
    edges, nodes = op2.Set(n, "edges"), op2.Set(n, "nodes")
    ends = op2.Map(edges, nodes, 2, np.stack([np.arange(n), np.roll(np.arange(n), -1)], 1), "ends")
    x, y = op2.Dat(edges, np.arange(1.0 * n), name="x"), op2.Dat(nodes, name="y")
    text = "void add(double *y, const double *x) { y[0] += x[0]; y[1] -= 2 * x[0]; }"

    halve = kernel("void halve(double *x) { x[0] /= 2; }")

    def graph_of(**options: Any) -> op2.Graph:
        loop = op2.ParLoop(op2.Kernel(text, "add"), edges, y(op2.INC, ends), x(op2.READ), **options)
        return op2.record(lambda: [loop.compute(), op2.par_loop(halve, edges, x(op2.RW))])

    graph = graph_of(strategy="scratch")
    graph.submit()
    assert graph.stats().not_replayed == ()  # the first run is never one
    graph.submit(3)
    (why,) = graph.stats().not_replayed
    found = re.fullmatch(
        r"add, halve: par_loop 'add'.* allocates (\d+) bytes of scratch memory for each run, "
        r"because that is more than kept_scratch_bytes = 65536; "
        r"tuning=\{'kept_scratch_bytes': (\d+)\} lets it keep them",
        why,
    )
    assert found is not None, why
    assert found[1] == found[2]
    assert "not replayed: add, halve" in graph.to_svg()
    kept = graph_of(strategy="scratch", tuning={"kept_scratch_bytes": int(found[2])})
    kept.submit(4)
    assert (kept.stats().not_replayed, len(kept.stats().replays)) == ((), 1)
    few = op2.record(lambda: op2.par_loop(halve, edges, x(op2.RW)))
    few.submit(3)
    assert few.stats().not_replayed == ("halve: one launch costs no more one by one",)


def test_what_is_replayed_follows_its_values(backend: str) -> None:
    """A GPU records the second submit; values may be read and written in between."""
    eager, recorded = Ring(), Ring()
    names = ["gather", "spread", "step", "least"]
    graph = op2.record(lambda: [op2.par_loop(*recorded.loops()[name]) for name in names])
    for i in range(5):
        for ring in eager, recorded:
            if i == 3:
                ring.dats["q"].data[i] = 0.25
            if i == 4:
                ring.least.data[:] = 10.0
                ring.dats["p"].data  # noqa: B018 - the host has the newest values now
        for name in names:
            op2.par_loop(*eager.loops()[name])
        graph.submit()
        if i >= 1:
            assert len(graph.native) == (1 if backend == "cuda" else 0)
    graph.submit(3)
    for _ in range(3):
        for name in names:
            op2.par_loop(*eager.loops()[name])
    for name, dat in eager.dats.items():
        np.testing.assert_allclose(recorded.dats[name].data_ro, dat.data_ro, rtol=1e-13)
    assert recorded.least.data_ro[0] == eager.least.data_ro[0]


def test_bind_swaps_two_dats_for_a_thousand_steps(backend: str) -> None:
    cells = op2.Set(5)
    u, v = op2.Dat(cells, np.ones(5), name="u"), op2.Dat(cells, name="v")
    grow = kernel("void grow(double *y, const double *x) { y[0] = x[0] + 1; }")
    with op2.graph() as g:
        g.slot(u)
        g.slot(v)
        g.par_loop(grow, cells, v(op2.WRITE), u(op2.READ))
    graph = g.instantiate()
    other = graph.bind({u: v, v: u})
    for _ in range(500):
        graph.submit()
        assert graph.bind({u: v, v: u}) is other
        other.submit()
    assert u.data_ro.tolist() == [1001.0] * 5
    assert other.stats().instantiations == graph.stats().instantiations == 1
    assert graph.bind({}) is graph
    assert graph.bind({u: u}) is graph


def test_what_cannot_be_bound_is_refused() -> None:
    cells = op2.Set(5)
    u, v = op2.Dat(cells, name="u"), op2.Dat(cells, name="v")
    with op2.graph("g") as g:
        g.slot(u)
        node = g.par_loop(TWICE, cells, v(op2.WRITE), u(op2.READ))
        node.then_host(lambda: None, reads=[u], name="look")
    graph = g.instantiate()
    with pytest.raises(UsageError, match="'v' is no slot; slots are: 'u'"):
        graph.bind({v: u})
    for wrong in (
        op2.Dat(op2.Set(5)),
        op2.Dat(cells, dtype=np.int32),
        op2.Dat(op2.DataSet(cells, 2)),
        3,
    ):
        with pytest.raises(UsageError, match="can be taken by one like it"):
            graph.bind({u: wrong})
    with pytest.raises(UsageError, match="node 'look' calls a function of the program"):
        graph.bind({u: op2.Dat(cells)})


def test_bound_dats_may_make_a_race() -> None:
    cells = op2.Set(5)
    u, v = op2.Dat(cells, name="u"), op2.Dat(cells, name="v")
    with op2.graph() as g:
        g.slot(u)
        g.par_loop(MORE, cells, u(op2.RW))
        g.par_loop(MORE, cells, v(op2.RW))
    graph = g.instantiate()
    with pytest.raises(GraphRaceError):
        graph.bind({u: v})


# Other kinds of nodes


def test_copies_fills_and_scans(backend: str) -> None:
    cells = op2.Set(5)
    x = op2.Dat(cells, [1, 2, 3, 4, 5], dtype=np.int32, name="x")
    y, z = op2.Dat(cells, dtype=np.float64, name="y"), op2.Dat(cells, dtype=np.int32, name="z")
    total, other = op2.Global(1, 7.0, name="total"), op2.Global(1, 0.0, name="other")
    with op2.graph() as g:
        copied = g.then_copy(x, y)
        copied.then(MORE, cells, y(op2.RW))
        g.then_scan(x, z)
        g.then_copy(total, other).then_fill(total, 3.5)
        w = op2.Dat(cells, np.ones(5), name="w")
        g.then_fill(w)
        v = op2.Dat(cells, np.ones(5), name="v")
        g.then_fill(v, 2.5)
    graph = g.instantiate()
    graph.submit()
    assert y.data_ro.tolist() == [2.0, 3.0, 4.0, 5.0, 6.0]
    assert z.data_ro.tolist() == [0, 1, 3, 6, 10]
    assert (other.data_ro[0], total.data_ro[0]) == (7.0, 3.5)
    assert not w.data_ro.any()
    assert v.data_ro.tolist() == [2.5] * 5


def test_fills_and_copies_need_no_python_between_loops(backend: str) -> None:
    cells = op2.Set(5)
    x, y = (op2.Dat(cells, np.full(5, value), name="xy"[value > 1]) for value in (1.0, 2.0))
    narrow = op2.Dat(cells, np.zeros(5), dtype=np.float32)
    total, other = op2.Global(1, 7.0, name="total"), op2.Global(1, 0.0, name="other")
    with op2.graph() as g:
        node = g.then_fill(x).then(MORE, cells, x(op2.RW)).then_copy(x, y).then_copy(total, other)
        node.then_fill(total, 2.5).then(MORE, cells, y(op2.RW))
    graph = g.instantiate()
    assert graph.stats().segments == 1
    versions = [data.dat_version for data in (x, y, total, other)]
    held = y.data
    graph.submit(2)
    assert x.data_ro.tolist() == [1.0] * 5
    assert y.data_ro.tolist() == [2.0] * 5
    assert (total.data_ro[0], other.data_ro[0]) == (2.5, 2.5)
    assert [data.dat_version for data in (x, y, total, other)] == [
        version + n for version, n in zip(versions, (4, 5, 2, 2), strict=True)
    ]
    assert held.flags.writeable == (graph.stats().backend in ("sequential", "openmp"))
    # what is converted, and many numbers other than 0, are left to Python
    with op2.graph() as g:
        g.then_copy(x, narrow)
        g.then_fill(op2.Dat(op2.Set(100), name="w"), 2.5)
    assert g.instantiate().stats().segments == 2


def test_nodes_of_the_library_can_be_bound() -> None:
    cells = op2.Set(3)
    x, y, z = (op2.Dat(cells, np.full(3, value), name="d") for value in (1.0, 2.0, 3.0))
    with op2.graph() as g:
        g.slot(x)
        g.then_copy(x, y).then_fill(x, 4.0).then_scan(y, x)
    graph = g.instantiate()
    graph.bind({x: z}).submit()
    assert y.data_ro.tolist() == [3.0] * 3
    assert z.data_ro.tolist() == [0.0, 3.0, 6.0]
    assert x.data_ro.tolist() == [1.0] * 3


def test_a_function_is_called_in_its_place(backend: str) -> None:
    x, seen = op2.Dat(op2.Set(2)), []
    with op2.graph() as g:
        first = g.par_loop(MORE, x.dataset.set, x(op2.RW))
        looked = first.then_host(lambda: seen.append(x.data_ro[0]), reads=[x])
        looked.then(MORE, x.dataset.set, x(op2.RW))
    graph = g.instantiate()
    graph.submit(3)
    assert seen == [1.0, 3.0, 5.0]
    assert graph.stats().segments == 3


def test_a_library_is_called_where_the_values_are(backend: str) -> None:
    cells = op2.Set(3)
    x, y, z = (
        op2.Dat(cells, np.full(3, value), name="xyz"[i]) for i, value in enumerate((1.0, 2.0, 5.0))
    )
    queues = []

    def copied(queue: int | None, source: int, target: int) -> None:
        queues.append(queue)
        if queue is None:
            ctypes.memmove(target, source, 24)
            return
        copy = ctypes.CDLL("libcuda.so.1").cuMemcpyDtoDAsync_v2
        copy.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p]
        assert copy(target, source, 24, queue) == 0

    with op2.graph() as g:
        g.slot(x)
        before = g.then(MORE, cells, x(op2.RW))
        before.then_library(copied, reads=[x], writes=[y]).then(MORE, cells, y(op2.RW))
    graph = g.instantiate()
    assert graph.stats().segments == (3 if backend == "opencl" else 1)
    for i in range(4):
        graph.submit()
        assert y.data_ro.tolist() == [i + 3.0] * 3
    assert len(queues) == 4 or backend == "cuda"
    assert {queue is None for queue in queues} == {backend != "cuda"}
    graph.bind({x: z}).submit()
    assert y.data_ro.tolist() == [7.0] * 3
    x.data[:] = -1.0  # what the host writes is seen
    graph.submit()
    assert y.data_ro.tolist() == [1.0] * 3


def test_a_function_of_which_nothing_is_known_is_ordered_with_all_nodes() -> None:
    x, y = op2.Dat(op2.Set(2)), op2.Dat(op2.Set(2))
    with op2.graph() as g:
        first = g.par_loop(MORE, x.dataset.set, x(op2.RW))
        g.par_loop(MORE, y.dataset.set, y(op2.RW))
        first.then_host(lambda: None, name="monitor")
    with pytest.raises(GraphRaceError, match="nobody knows what one of them uses"):
        g.instantiate()


def test_a_graph_that_submits_itself_is_refused() -> None:
    x, made = op2.Dat(op2.Set(2)), []
    with op2.graph("again") as g:
        g.par_loop(MORE, x.dataset.set, x(op2.RW)).then_host(lambda: made[0].submit(), reads=[x])
    made.append(g.instantiate())
    for _ in range(2):
        with pytest.raises(UsageError, match="graph 'again': a function of the graph submits"):
            made[0].submit()
    assert x.data_ro.tolist() == [2.0, 2.0]


def test_a_graph_in_a_graph(backend: str) -> None:
    x = op2.Dat(op2.Set(2))
    inner = op2.create_graph(lambda root: root.then(MORE, x.dataset.set, x(op2.RW)), name="inner")
    with op2.graph() as g:
        g.then_graph(inner).then_graph(inner)
    outer = g.instantiate()
    outer.submit(3)
    inner.submit()
    assert x.data_ro.tolist() == [7.0, 7.0]
    assert outer.stats().segments == 1


def test_while_stops_when_its_condition_does(backend: str) -> None:
    x, y = op2.Dat(op2.Set(1), [1.0], name="x"), op2.Global(1, 100.0, name="left")
    half = kernel("void half(double *x) { x[0] /= 2; }")
    left = kernel("void left(const double *x, double *y) { if (x[0] < y[0]) y[0] = x[0]; }")
    with op2.graph() as g:
        before = g.par_loop(left, x.dataset.set, x(op2.READ), y(op2.MIN))
        with before.while_(y > 0.1, most=100) as loop:
            loop.then(half, x.dataset.set, x(op2.RW)).then(
                *(left, x.dataset.set, x(op2.READ), y(op2.MIN))
            )
        assert loop.node is not None
        loop.node.then(MORE, x.dataset.set, x(op2.RW))
    graph = g.instantiate()
    graph.submit()
    assert x.data_ro[0] == 1.0625
    with pytest.raises(GraphClosedError):
        loop.then(half, x.dataset.set, x(op2.RW))


def test_while_ends_at_its_bound() -> None:
    x, y = op2.Dat(op2.Set(1)), op2.Global(1, 1.0)
    with op2.graph() as g, g.while_(y > 0, most=7) as loop:
        loop.then(MORE, x.dataset.set, x(op2.RW))
    g.instantiate().submit(2)
    assert x.data_ro[0] == 14.0


_HALF = "void half({c} *x) {{ x[0] /= 2; }}"
_LOOK = "void look({c} *y, const {c} *x) {{ y[0] += x[0]; }}"


def _halved(dtype: str) -> tuple[op2.Dat, op2.Global, Any]:
    """A number, a Global that follows it, and what adds a pass that halves both."""
    c = {"float64": "double", "float32": "float", "int32": "int", "int64": "long"}[dtype]
    x = op2.Dat(op2.Set(1), [64], dtype=dtype, name="x")
    left = op2.Global(1, 64, dtype=dtype, name="left")
    half, look = kernel(_HALF.format(c=c)), kernel(_LOOK.format(c=c))

    def add(place: Any) -> Node:
        halved = place.then_fill(left).then(half, x.dataset.set, x(op2.RW))
        found: Node = halved.then(look, x.dataset.set, left(op2.INC), x(op2.READ))
        return found

    return x, left, add


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "int64"])
@pytest.mark.parametrize("sign", [">", ">=", "<", "<="])
def test_while_gives_the_same_whoever_repeats(backend: str, sign: str, dtype: str) -> None:
    x, left, add = _halved(dtype)
    bound = op2.Global(1, 2.0, name="bound")
    conditions = {">": left > 2, ">=": left >= bound, "<": bound < left, "<=": bound <= left}
    with op2.graph() as g, g.while_(conditions[sign], most=50) as again:
        add(again)
    graph = g.instantiate()
    for _ in range(6):  # the host and a device in turns, then one of them
        x.data[:] = 64
        left.data = 64
        graph.submit()
        assert x.data_ro[0] == left.data_ro[0] == (1 if "=" in sign else 2)
    (repeats,) = graph.stats().repeats
    assert repeats.condition == str(conditions[sign])
    if backend == "cuda" and dtype != "int64":
        assert repeats.why == ""
        assert repeats.kept != "undecided"
        assert repeats.device_ms is not None
        assert repeats.host_ms is not None
    else:
        assert repeats.kept == "by the host"
        assert repeats.why != ""


def test_a_while_that_need_not_run_changes_nothing(backend: str) -> None:
    x, left, add = _halved("float64")
    y = op2.Dat(x.dataset, [9.0], name="y")
    with op2.graph() as g, g.while_(left > 100, most=50) as again:
        add(again).then_copy(x, y)
    graph = g.instantiate()
    for start in (64.0, 128.0, 64.0, 64.0):
        x.data[:] = left.data = start
        y.data[:] = 9.0
        graph.submit()
        ran = start > 100
        assert x.data_ro[0] == (64.0 if ran else start)
        assert y.data_ro[0] == (64.0 if ran else 9.0)


def test_why_the_host_repeats_is_said() -> None:
    with op2.backend("sequential"):
        x, left, add = _halved("float64")
        with op2.graph() as g, g.while_(left > 2, most=50) as outer:
            inner = add(outer).then_host(lambda: None, reads=[x])
            with inner.while_(left > 8, most=50) as again:
                add(again)
        graph = g.instantiate()
        graph.submit()
        whys = [one.why for one in graph.stats().repeats]
        assert whys == ["something in it needs Python", "loops run on the host"]
        assert "while left &gt; 8: kept: by the host (loops run on the host)" in graph.to_svg()


def test_numbers_of_conditions_are_converted_as_numpy_does() -> None:
    single, whole = op2.Global(1, 0.1, dtype=np.float32), op2.Global(1, 3, dtype=np.int32)
    assert passes._number(0.1, single.dtype) == float(np.float32(0) + 0.1)
    assert passes._number(2.5, whole.dtype) == 2.5
    with pytest.raises(UnsupportedError, match=f"float64 has no number {2**60 + 1}"):
        passes._number(2**60 + 1, whole.dtype)


def test_conjugate_gradients_as_a_graph(backend: str) -> None:
    n = 40
    cells = op2.Set(n)
    b, x, r, p, q = (op2.Dat(cells, np.zeros(n), name=name) for name in "bxrpq")
    b.data[:] = np.linspace(1, 2, n)
    b.copy(r)
    b.copy(p)
    scale = op2.Dat(cells, np.arange(1.0, n + 1) % 5 + 1, name="scale")
    rr, pq = op2.Global(1, float(b.data_ro @ b.data_ro), name="rr"), op2.Global(1, 0.0, name="pq")
    old = op2.Global(1, 0.0, name="old")
    apply = kernel(
        "void apply(double *q, const double *a, const double *p) { q[0] = a[0] * p[0]; }"
    )
    dot = kernel("void dot(const double *p, const double *q, double *s) { s[0] += p[0] * q[0]; }")
    move = kernel(
        "void move(double *x, double *r, const double *p, const double *q, const double *rr, "
        "const double *pq) { double a = rr[0] / pq[0]; x[0] += a * p[0]; r[0] -= a * q[0]; }"
    )
    turn = kernel(
        "void turn(double *p, const double *r, const double *rr, const double *old) "
        "{ p[0] = r[0] + rr[0] / old[0] * p[0]; }"
    )
    read, inc = op2.READ, op2.INC
    with op2.graph("cg") as g, g.while_(rr > 1e-20, most=50) as again:
        again.then(apply, cells, q(op2.WRITE), scale(read), p(read)).then_fill(pq).then(
            dot, cells, p(read), q(read), pq(inc)
        ).then(move, cells, x(op2.RW), r(op2.RW), p(read), q(read), rr(read), pq(read)).then_copy(
            rr, old
        ).then_fill(rr).then(dot, cells, r(read), r(read), rr(inc)).then(
            turn, cells, p(op2.RW), r(read), rr(read), old(read)
        )
    g.instantiate().submit()
    np.testing.assert_allclose(x.data_ro * scale.data_ro, b.data_ro, rtol=1e-8)


def test_nodes_that_make_no_sense_are_refused() -> None:
    cells = op2.Set(3)
    x, k = op2.Dat(cells, name="x"), op2.Dat(cells, dtype=np.int32, name="k")
    with op2.graph() as g:
        with pytest.raises(UsageError, match="then_reduce needs a Global with INC, MIN or MAX"):
            g.then_reduce(MORE, cells, x(op2.RW))
        with pytest.raises(UsageError, match="then_host needs a function, got 3"):
            g.then_host(3)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="reads and writes Dats and Globals, got 'x'"):
            g.then_host(print, reads=["x"])  # type: ignore[list-item]
        with pytest.raises(UsageError, match="a Dat is copied into a Dat"):
            g.then_copy(x, op2.Global(1, 0.0))
        with pytest.raises(DataValueError, match=r"does not hold 2\.5"):
            g.then_fill(k, 2.5)
        with pytest.raises(UsageError, match="needs a comparison of a Global"):
            g.while_(True, most=3)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="'!=' does not compare values"):
            g.while_(op2.Global(1, 0.0) != 0, most=3)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="most must be a positive number, got 0"):
            g.while_(op2.Global(1, 0.0) > 0, most=0)
        with pytest.raises(UsageError, match=r"then_graph needs a Graph, .*instantiate\(\) makes"):
            g.then_graph(g)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="when_all needs at least one node"):
            g.when_all()
        with pytest.raises(UsageError, match="when_all takes nodes of this graph"):
            g.when_all(x)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="a slot is a Dat or a Global"):
            g.slot(3)
        with pytest.raises(UsageError):
            g.par_loop(TWICE, cells, x(op2.WRITE))
    graph = g.instantiate()
    assert graph.stats().nodes == 0
    with pytest.raises(UsageError, match="n must be positive, got 0"):
        graph.submit(0)


# What else there is


def test_matrices_take_part() -> None:
    cells, nodes = op2.Set(3), op2.Set(4)
    ends = op2.Map(cells, nodes, 2, [[0, 1], [1, 2], [2, 3]])
    mat = op2.Mat(op2.Sparsity((nodes, nodes), [(ends, ends, None)]))
    fill = kernel("void fill(double *a) { a[0] += 1; a[1] -= 1; a[2] -= 1; a[3] += 1; }")
    graph = op2.create_graph(lambda root: root.then(fill, cells, mat(op2.INC, (ends, ends))))
    graph.submit(2)
    mat.assemble()
    assert mat.values.diagonal().tolist() == [2.0, 4.0, 4.0, 2.0]


def test_loops_that_fail_end_a_submit() -> None:
    op2.init(check=True)
    x, y = op2.Dat(op2.Set(2)), op2.Dat(op2.Set(2))
    k = op2.Global(1, 5, dtype=np.int32)
    bad = kernel("void bad(double *x, const int *k) { double a[2] = {0}; x[0] = a[k[0]]; }")
    with op2.graph() as g:
        g.par_loop(bad, x.dataset.set, x(op2.WRITE), k(op2.READ)).then(
            MORE, y.dataset.set, y(op2.RW)
        )
    graph = g.instantiate()
    with pytest.raises(ExecutionError, match="bad"):
        graph.submit()
    assert y.data_ro.tolist() == [0.0, 0.0]
    op2.exit()


def test_frozen_halos_are_respected() -> None:
    x = op2.Dat(op2.Set(2), name="x")
    graph = op2.create_graph(lambda root: root.then(MORE, x.dataset.set, x(op2.RW)))
    with x.frozen_halo(op2.READ), pytest.raises(HaloFrozenError, match="'x' is frozen with READ"):
        graph.submit()
    graph.submit()
    assert x.data_ro.tolist() == [1.0, 1.0]


def test_frozen_halos_are_respected_within_while() -> None:
    x, y = op2.Dat(op2.Set(2), name="x"), op2.Global(1, 1.0, name="y")
    with op2.graph() as g, g.while_(y > 0, most=2) as again:
        again.then(MORE, x.dataset.set, x(op2.RW))
    graph = g.instantiate()
    with x.frozen_halo(op2.READ), pytest.raises(HaloFrozenError, match="'x' is frozen with READ"):
        graph.submit()
    assert x.data_ro.tolist() == [0.0, 0.0]


def test_another_backend_is_refused_and_other_options_are_followed() -> None:
    x = op2.Dat(op2.Set(2), name="x")
    with op2.backend("sequential"):
        graph = op2.create_graph(lambda root: root.then(MORE, x.dataset.set, x(op2.RW)))
        op2.init(deterministic=True)
        graph.submit()
        assert graph.stats().instantiations == 2
    with (
        op2.backend("openmp"),
        pytest.raises(
            GraphClosedError, match="for backend 'sequential', but loops run on 'openmp'"
        ),
    ):
        graph.submit()
    assert x.data_ro.tolist() == [1.0, 1.0]
    op2.exit()


def test_static_mode_makes_no_graph(static: None) -> None:
    x = op2.Dat(op2.Set(2), name="x")
    with pytest.raises(StaticModeError):
        op2.create_graph(lambda root: root.then(MORE, x.dataset.set, x(op2.RW)))


def test_a_submit_comes_behind_what_waits_in_a_chain() -> None:
    x = op2.Dat(op2.Set(2), name="x")
    twice = kernel("void twice(double *x) { x[0] *= 2; }")
    graph = op2.create_graph(lambda root: root.then(twice, x.dataset.set, x(op2.RW)))
    with op2.chain():
        op2.par_loop(MORE, x.dataset.set, x(op2.RW))
        graph.submit()
        op2.par_loop(MORE, x.dataset.set, x(op2.RW))
    assert x.data_ro.tolist() == [3.0, 3.0]


def test_handed_out_arrays_end_at_a_submit_on_a_device(device: object) -> None:
    x = op2.Dat(op2.Set(2), name="x")
    graph = op2.create_graph(lambda root: root.then(MORE, x.dataset.set, x(op2.RW)))
    held = x.data
    graph.submit()
    with pytest.raises(ValueError, match="read-only"):
        held[0] = 5


def test_pictures_show_nodes_and_edges() -> None:
    ring = Ring()
    with op2.graph("pic<ture") as g:
        first = g.par_loop(*ring.loops()["gather"])
        first.then(MORE, ring.edges, ring.flux(op2.RW))
        g.par_loop(*ring.loops()["least"])
    graph = g.instantiate()
    dot = graph.to_dot()
    assert 'n0 [label="gather\\nflux WRITE"];' in dot
    assert "n0 -> n1;" in dot
    svg = graph.to_svg()
    assert svg.count("<rect") == 3
    assert svg.count("<line") == 1
    assert "<title>pic&lt;ture</title>" in svg
    assert graph._repr_svg_() == svg
    assert repr(graph) == f"<graph 'pic<ture' of 3 nodes on {graph.stats().backend}>"
    assert graph.native == ()
    assert "submitted" not in svg
    graph.submit(2)
    assert f"submitted 2 times on {graph.stats().backend}" in graph.to_svg()
