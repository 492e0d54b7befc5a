# SPDX-License-Identifier: BSD-3-Clause
"""``op2.record``: a graph of what a function does."""

from __future__ import annotations

import threading
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ring import MORE, TWICE, Ring, assert_alike

from pyop2cxx import op2
from pyop2cxx.exceptions import DataValueError, UsageError
from pyop2cxx.runtime import runtime

pytestmark = pytest.mark.each_backend
_RECORDED = sorted({*Ring().loops(), "zero r", "zero sum"})


def _random_record(names: list[str]) -> None:
    eager, lazy = Ring(), Ring()
    actions = lazy.actions()

    def step() -> None:
        for name in names:
            actions[name]()

    graph = op2.record(step)
    graph.submit(2)
    for name in names * 2:
        eager.actions()[name]()
    assert_alike(eager, lazy)


_NAMES = st.lists(st.sampled_from(_RECORDED), min_size=1, max_size=10)


@given(names=_NAMES)
@settings(max_examples=40)
def test_recorded_loops_compute_what_they_do_at_once(names: list[str]) -> None:
    with op2.backend("sequential"):
        _random_record(names)


@given(names=_NAMES)
@settings(max_examples=8, suppress_health_check=[*HealthCheck])
def test_recorded_loops_on_a_device(device: object, names: list[str]) -> None:
    _random_record(names)


def test_the_order_is_what_data_demand() -> None:
    ring = Ring()

    def step() -> None:
        for name in ("more q", "more r", "twice p q", "spread", "least"):
            ring.run(name)

    graph = op2.record(step, name="five")
    # twice, spread and least read q; spread also adds to r
    assert "n0 -> n2;" in graph.to_dot()
    assert "n0 -> n3;" in graph.to_dot()
    assert "n1 -> n3;" in graph.to_dot()
    assert "n0 -> n4;" in graph.to_dot()
    assert graph.stats().edges == 4
    assert graph.name == "five"


def test_objects_that_are_loops_are_recorded(backend: str) -> None:
    ring = Ring()
    q = ring.dats["q"]
    loop = op2.ParLoop(MORE, ring.cells, q(op2.RW))
    before = q.data_ro.copy()
    graph = op2.record(loop.compute)
    np.testing.assert_array_equal(q.data_ro, before)
    graph.submit(3)
    loop.compute()
    np.testing.assert_allclose(q.data_ro, before + 4)


def test_every_dat_is_a_slot() -> None:
    ring = Ring()
    p, q = ring.dats["p"], ring.dats["q"]
    graph = op2.record(lambda: op2.par_loop(TWICE, ring.cells, p(op2.WRITE), q(op2.READ)))
    graph.bind({p: q, q: p}).submit()
    np.testing.assert_allclose(q.data_ro, 2 * p.data_ro)


def test_what_would_happen_only_once_is_refused() -> None:
    ring = Ring()
    p, q = ring.dats["p"], ring.dats["q"]

    def reads() -> None:
        ring.run("twice p q")
        p.data_ro  # noqa: B018

    def changes() -> None:
        q.data[:] = 0

    def adds() -> None:
        q.axpy(2.0, p)

    def sets_an_option() -> None:
        op2.init(deterministic=True)

    with pytest.raises(
        UsageError, match=r"'reads' reads Dat 'p' on Set 'cells' .* the recorded 'twice' writes"
    ):
        op2.record(reads)
    for step in (changes, adds):
        with pytest.raises(UsageError, match="changes Dat 'q' on Set 'cells' outside of loops"):
            op2.record(step)
    with pytest.raises(UsageError, match="changes options"):
        op2.record(sets_an_option)
    with pytest.raises(UsageError, match="must be a function, got 3"):
        op2.record(3)  # type: ignore[arg-type]
    assert runtime.recorder is None


def test_what_no_loop_writes_may_be_read() -> None:
    ring = Ring()
    q = ring.dats["q"]
    seen = []

    def step() -> None:
        seen.append(float(q.data_ro[0]))
        ring.run("twice p q")

    op2.record(step).submit()
    assert seen == [q.data_ro[0]]


def test_copies_are_recorded(backend: str) -> None:
    """Each submit copies what is there then; nothing is copied before."""
    eager, recorded = Ring(), Ring()

    def step(ring: Ring) -> None:
        p, q, r, _ = ring.dats.values()
        ring.run("twice p q")
        q.copy(r)
        ring.run("more q")
        p.assign(q)

    before = recorded.dats["r"].data_ro.copy()
    graph = op2.record(lambda: step(recorded))
    np.testing.assert_array_equal(recorded.dats["r"].data_ro, before)
    for _ in range(3):
        step(eager)
        graph.submit()
        assert_alike(eager, recorded)
    p, q = recorded.dats["p"], recorded.dats["q"]
    other = op2.Dat(q.dataset, np.full(q.data_ro.shape, 7.0), name="other")
    graph.bind({q: other}).submit()
    np.testing.assert_array_equal(p.data_ro, other.data_ro)


@pytest.mark.parametrize("in_chain", [False, True])
def test_copies_of_globals_are_recorded(backend: str, in_chain: bool) -> None:
    """A time step begins from the largest, in the same order as at once."""
    cells = op2.Set(6)
    x = op2.Dat(cells, [3.0, 5, 2, 7, 4, 6])
    start, least = op2.Global(1, 9.0, name="start"), op2.Global(1, 1.0, name="least")
    find = op2.Kernel(
        "#include <math.h>\nvoid find(const double *x, double *m) { m[0] = fmin(m[0], x[0]); }",
        "find",
    )
    add = op2.Kernel("void add(const double *m, double *x) { x[0] += m[0]; }", "add")

    def step() -> None:
        with op2.chain() if in_chain else nullcontext():
            start.copy(least)
            op2.par_loop(find, cells, x(op2.READ), least(op2.MIN))
            op2.par_loop(add, cells, least(op2.READ), x(op2.RW))

    graph = op2.record(step)
    assert least.data_ro[0] == 1.0
    graph.submit(2)  # 2, then 4
    assert (least.data_ro[0], x.data_ro.tolist()) == (4.0, [9.0, 11, 8, 13, 10, 12])
    step()
    assert (least.data_ro[0], x.data_ro[0]) == (8.0, 17.0)
    with pytest.raises(DataValueError):  # at the call, not later
        op2.record(lambda: start.copy(op2.Global(2, 0.0)))


def test_a_copy_between_the_loops_of_a_recorded_chain_is_a_node(backend: str) -> None:
    eager, recorded = Ring(), Ring()

    def step(ring: Ring) -> None:
        with op2.chain():
            ring.run("twice p q")
            ring.run("more r")
            ring.dats["p"].copy(ring.dats["r"])
            ring.run("more q")

    graph = op2.record(lambda: step(recorded))
    assert graph.stats().nodes == 3
    for _ in range(3):
        step(eager)
        graph.submit()
        assert_alike(eager, recorded)


@pytest.mark.parametrize("in_chain", [False, True])
def test_a_recorded_copy_leaves_what_numbering_values_have(in_chain: bool) -> None:
    ring = Ring()
    p, q = ring.dats["p"], ring.dats["q"]
    before = q.numbering = p.numbering - 1

    def step() -> None:
        with op2.chain() if in_chain else nullcontext():
            p.copy(q)

    graph = op2.record(step)
    assert q.numbering == before
    graph.submit()
    assert q.numbering == p.numbering


def test_sums_of_what_no_loop_writes_may_be_taken(backend: str) -> None:
    """Where the values are makes no difference: sums on a device only read them, too."""
    ring = Ring()
    q, r = ring.dats["q"], ring.dats["r"]
    for name in ("more q", "more r"):
        ring.run(name)  # so that values are on the device
    seen = []

    def step() -> None:
        seen.append((q.inner(r), q.norm, q.sum()))
        ring.run("twice p q")

    op2.record(step).submit()
    np.testing.assert_allclose(
        seen[0], (np.vdot(q.data_ro, r.data_ro), np.linalg.norm(q.data_ro), q.data_ro.sum())
    )


def test_loops_of_other_threads_run_at_once() -> None:
    ring = Ring()
    r = ring.dats["r"]
    before = r.data_ro.copy()

    def step() -> None:
        thread = threading.Thread(target=ring.run, args=["more r"])
        thread.start()
        thread.join()
        ring.run("more q")

    graph = op2.record(step)
    np.testing.assert_allclose(r.data_ro, before + 1)
    assert graph.stats().nodes == 1


def test_matrices_are_not_set_to_zero_behind_the_graphs_back() -> None:
    nodes = op2.Set(3)
    ends = op2.Map(op2.Set(2), nodes, 2, [[0, 1], [1, 2]])
    mat = op2.Mat(op2.Sparsity((nodes, nodes), [(ends, ends, None)]))
    fill = op2.Kernel("void fill(double *a) { for (int i = 0; i < 4; i++) a[i] += 1; }", "fill")

    def step() -> None:
        mat.zero()
        op2.par_loop(fill, ends.iterset, mat(op2.INC, (ends, ends)))

    graph = op2.record(step)
    graph.submit(3)
    mat.assemble()
    assert mat.values.diagonal().tolist() == [1.0, 2.0, 1.0]


def _chained(ring: Ring) -> None:
    with op2.chain():
        for name in ("twice p q", "gather", "spread", "step", "twice s q"):
            ring.run(name)


def test_a_chain_is_one_node_that_runs_fused(backend: str) -> None:
    eager, lazy = Ring(), Ring()
    graph = op2.record(lambda: _chained(lazy))
    assert graph.stats().nodes == 1
    for _ in range(3):
        graph.submit()
        for name in ("twice p q", "gather", "spread", "step", "twice s q"):
            eager.run(name)
    assert_alike(eager, lazy)
    assert "chain of twice + gather + spread + advance + twice" in graph.to_dot()


def test_a_chain_needs_no_python_between_its_functions(backend: str) -> None:
    ring = Ring()

    def step() -> None:
        ring.run("more q")
        with op2.chain():
            ring.run("twice p q")
            ring.sum.zero()
            ring.run("step")
        ring.run("more r")

    graph = op2.record(step)
    graph.submit()
    assert graph.stats().segments == 1


@pytest.mark.parametrize("n_steps", [1, 2])
def test_buffers_change_places_in_a_replayed_chain(backend: str, n_steps: int) -> None:
    """An odd number of exchanges leaves other addresses for the next submit."""
    eager, lazy = Ring(), Ring()
    names = ["keep p q", "spread", "zero sum", "step", "twice s q"] * n_steps

    def chained() -> None:
        with op2.chain():
            for name in names:
                lazy.actions()[name]()

    graph = op2.record(chained)
    for n in (1, 1, 3, 1, 8, 17):
        graph.submit(n)
        for name in names * n:
            eager.actions()[name]()
        scale = 1.0 + max(np.abs(values).max() for values in eager.values())
        for mine, theirs in zip(lazy.values(), eager.values(), strict=True):
            np.testing.assert_allclose(mine / scale, theirs / scale, rtol=1e-9, atol=1e-12)
        for ring in (eager, lazy):  # what the host writes is seen by the next submit
            ring.dats["q"].data[:] = np.linspace(0.0, 1.0, len(ring.dats["q"].data_ro))


def test_chains_and_loops_are_ordered_by_their_data() -> None:
    eager, lazy = Ring(), Ring()

    def step() -> None:
        lazy.run("more q")
        with op2.chain():
            lazy.run("twice p q")
            lazy.actions()["zero r"]()
            lazy.run("spread")
        lazy.run("more r")

    graph = op2.record(step)
    assert graph.stats().nodes == 3
    graph.submit(2)
    for name in ("more q", "twice p q", "zero r", "spread", "more r") * 2:
        eager.actions()[name]()
    assert_alike(eager, lazy)


def test_a_chain_in_a_graph_can_be_bound() -> None:
    ring, other = Ring(), Ring()
    p, q, s = (ring.dats[name] for name in "pqs")
    new = op2.Dat(ring.cells, np.ones(ring.cells.size), name="new")

    def step() -> None:
        with op2.chain():
            op2.par_loop(TWICE, ring.cells, p(op2.WRITE), q(op2.READ))
            op2.par_loop(TWICE, ring.cells, s(op2.WRITE), p(op2.READ))

    op2.record(step).bind({q: new}).submit()
    assert s.data_ro.tolist() == [4.0] * ring.cells.size
    np.testing.assert_array_equal(q.data_ro, other.dats["q"].data_ro)


def test_what_a_chain_would_show_is_refused_while_it_is_recorded() -> None:
    ring = Ring()

    def step() -> None:
        with op2.chain():
            ring.run("twice p q")
            ring.dats["p"].data_ro  # noqa: B018

    with pytest.raises(UsageError, match="which the recorded 'chain of twice' writes"):
        op2.record(step)
    assert runtime.recorder is None


def test_matrices_are_assembled_within_the_node_of_a_chain(backend: str) -> None:
    nodes = op2.Set(3)
    ends = op2.Map(op2.Set(2), nodes, 2, [[0, 1], [1, 2]])
    sparsity = op2.Sparsity((nodes, nodes), [(ends, ends, None)])
    mats = op2.Mat(sparsity), op2.Mat(sparsity)
    fill = op2.Kernel("void fill(double *a) { for (int i = 0; i < 4; i++) a[i] += 1; }", "fill")

    def step() -> None:
        with op2.chain():
            for mat in mats:
                op2.par_loop(fill, ends.iterset, mat(op2.INC, (ends, ends)))

    graph = op2.record(step)
    assert graph.stats().nodes == 1
    assert mats[0].assembly_state is op2.Mat.ASSEMBLED
    graph.submit(2)
    assert mats[0].assembly_state is op2.Mat.ADD_VALUES
    for mat in mats:
        mat.assemble()
        assert mat.values.diagonal().tolist() == [2.0, 4.0, 2.0]


def test_what_a_chain_does_not_follow_is_a_node_of_its_own() -> None:
    nodes = op2.Set(3)
    ends = op2.Map(op2.Set(2), nodes, 2, [[0, 1], [1, 2]])
    two, both = op2.MixedSet([nodes, nodes]), op2.MixedMap([ends, ends])
    mat = op2.Mat(op2.Sparsity((two**1, two**1), (both, both)))
    x = op2.Dat(nodes)
    fill = op2.Kernel("void fill(double *a) { for (int i = 0; i < 16; i++) a[i] += 1; }", "fill")

    def step() -> None:
        with op2.chain():
            op2.par_loop(MORE, nodes, x(op2.RW))
            op2.par_loop(fill, ends.iterset, mat(op2.INC, (both, both)))
            op2.par_loop(MORE, nodes, x(op2.RW))

    graph = op2.record(step)
    assert graph.stats().nodes == 3
    graph.submit(2)
    mat.assemble()
    assert mat.values.diagonal().tolist() == [2.0, 4.0, 2.0] * 2
    assert x.data_ro.tolist() == [4.0] * 3
