# SPDX-License-Identifier: BSD-3-Clause
"""Chains: loops of a block wait, are compiled together, and compute what they do without."""

from __future__ import annotations

import copy
import gc
import pickle
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ring import (
    FRESH,
    GATHER,
    LEAST,
    LIFTED,
    MORE,
    N_CELLS,
    SCALED,
    SPREAD,
    STEP,
    TWICE,
    WALL,
    Ring,
    assert_alike,
    heavy,
    kernel,
    record_all_blocks,
)

from pyop2cxx import op2
from pyop2cxx.chain.compile import PASSES, Compiled
from pyop2cxx.chain.decide import Places
from pyop2cxx.chain.group_loop import GroupLoop
from pyop2cxx.chain.kernel_lines import deciding_lines
from pyop2cxx.chain.recorder import ChainState
from pyop2cxx.chain.trial import Stopwatch
from pyop2cxx.exceptions import CompilationError, UnsupportedError, UsageError
from pyop2cxx.runtime import runtime

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.chains import OVERRUN, watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.usefixtures("nothing_renumbered")


@pytest.fixture
def processor(backend: str) -> str:
    """Each backend whose elements may be side by side in a processor's vectors."""
    device = runtime.device
    if device is not None and not device.info.is_cpu:
        pytest.skip("the device has lanes of its own")
    return backend


def _one_step(ring: Ring) -> None:
    for name in ("twice p q", "gather", "spread", "step", "twice s q"):
        ring.actions()[name]()


def test_a_chain_computes_what_its_loops_do(backend: str) -> None:
    eager, lazy = Ring(), Ring()
    for _ in range(3):
        _one_step(eager)
        with op2.chain():
            _one_step(lazy)
    assert_alike(eager, lazy)


def test_a_sum_through_a_map_and_what_uses_it_become_one_function(backend: str) -> None:
    ring = Ring()
    with op2.chain() as chain:
        for name in ("twice p q", "more r", "spread", "step", "twice s q"):
            ring.actions()[name]()
    found = [step.loops for step in chain.explain().steps]
    inverted = [step.inverted for step in chain.explain().steps]
    assert (0, 2, 3, 4) in found
    assert inverted[found.index((0, 2, 3, 4))] == (2,)
    assert chain.explain().steps[found.index((0, 2, 3, 4))].renamed == ("q",)


def test_what_changes_values_that_others_still_read_writes_a_second_buffer(backend: str) -> None:
    eager, lazy = Ring(), Ring()
    for _ in range(3):
        for name in ("spread", "more q", "twice s q"):
            eager.actions()[name]()
        with op2.chain() as chain:
            for name in ("spread", "more q", "twice s q"):
                lazy.actions()[name]()
    assert_alike(eager, lazy)
    (step,) = chain.explain().steps
    assert (step.loops, step.inverted, step.renamed) == ((0, 1, 2), (0,), ("q",))


def test_zeros_are_stored_where_the_values_were_used_last(backend: str) -> None:
    eager, lazy = Ring(None), Ring(None)
    names = ("twice p q", "spread", "step", "least", "zero s", "twice p q", "spread s")
    for ring in (eager, lazy):
        record_all_blocks()
        for _ in range(3):
            with op2.chain(passes=None if ring is lazy else []) as chain:
                actions = ring.actions() | {"zero s": ring.dats["s"].zero}
                for name in names:
                    actions[name]()
    assert_alike(eager, lazy)
    (found,) = (step.loops for step in chain.explain().steps if 4 in step.loops)
    assert len(found) > 1  # it is a member of a function


def test_zeros_that_no_function_stores_are_set_as_without_a_chain(backend: str) -> None:
    ring = Ring()
    with op2.chain() as chain:
        ring.run("gather")
        ring.dats["s"].zero()
    assert [step.loops for step in chain.explain().steps] == [(0,), (1,)]
    assert not ring.dats["s"].data_ro.any()


def _one_stage(ring: Ring) -> None:
    for name in ("twice p q", "more r", "spread", "step", "twice s q"):
        ring.run(name)


def _in_a_file(values: Any, folder: Path) -> Any:
    shown = np.memmap(folder / "values", values.dtype, "w+", shape=values.shape)
    shown[:] = values
    return shown


@pytest.mark.parametrize(
    "held",
    [
        lambda values, folder: values,
        _in_a_file,
        lambda values, folder: np.frombuffer(bytearray(values.tobytes())),
        lambda values, folder: np.from_dlpack(values),
    ],
    ids=["array", "file", "bytes", "DLPack"],
)
def test_what_others_hold_stays_where_it_is(backend: str, held: Any, tmp_path: Path) -> None:
    values = np.arange(float(N_CELLS))
    mine = held(values, tmp_path)
    ring = Ring()
    ring.dats["q"] = op2.Dat(ring.cells, mine, name="q")
    with op2.chain() as chain:
        _one_stage(ring)
    if runtime.device is None:  # on one, the second buffer is the device's
        assert not any(step.renamed for step in chain.explain().steps)
        assert "the program holds the array that Dat 'q'" in str(chain.explain())
    np.testing.assert_array_equal(mine, ring.dats["q"].data_ro)


def test_an_array_that_is_held_keeps_showing_the_values() -> None:
    eager, lazy = Ring(), Ring()
    for k in range(3):
        _one_stage(eager)
        held = lazy.dats["q"].data_ro if k > 0 else None
        with op2.chain() as chain:
            _one_stage(lazy)
        if held is not None:
            np.testing.assert_array_equal(held, lazy.dats["q"].data_ro)
        del held
        assert_alike(eager, lazy)
    assert any(step.renamed for step in chain.explain().steps)


def test_loops_that_gain_by_lanes_are_one_function_on_lanes(processor: str) -> None:
    eager, lazy = Ring(None, is_heavy=True), Ring(None, is_heavy=True)
    names = ("twice p q", "more q", "twice s q", "scaled")
    for name in names:
        eager.run(name)
    with op2.chain() as chain:
        for name in names:
            lazy.run(name)
    for mine, theirs in zip(eager.values(), lazy.values(), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    (step,) = chain.explain().steps
    assert step.loops == (0, 1, 2, 3)
    assert step.lanes > 1
    assert f"on {step.lanes} lanes: " in str(chain.explain())


def test_targets_are_on_lanes_with_all_that_is_done_for_them(processor: str) -> None:
    eager, lazy = Ring(is_heavy=True), Ring(is_heavy=True)
    for _ in range(2):
        _two_steps(eager)
        with op2.chain() as chain:
            _two_steps(lazy)
        assert_alike(eager, lazy)
    steps = chain.explain().steps
    assert [step.inverted for step in steps] == [(0, 1), (3, 4)]
    assert [(step.zeroed, step.dropped) for step in steps] == [((), ("r",)), (("r",), ())]
    assert all(step.lanes > 1 for step in steps)
    assert "a target in each, with columns of one slot" in str(chain.explain())


@pytest.mark.usefixtures("host")
def test_what_lanes_cannot_do_joins_nothing_that_gains_by_them() -> None:
    ring = Ring(None, is_heavy=True)
    p, q = ring.dats["p"], ring.dats["q"]
    until = kernel(
        "void until(double *y, const double *x) { y[0] = 0; while (y[0] < x[0]) y[0] += 0.5; }"
    )
    with op2.chain() as chain:
        ring.run("twice p q")
        op2.par_loop(until, ring.cells, p(op2.RW), q(op2.READ))
    assert [step.loops for step in chain.explain().steps] == [(0,), (1,)]
    assert "lanes, and 'until' cannot: " in str(chain.explain())


def _two_steps(ring: Ring, last: op2.Kernel = STEP) -> None:
    p, q, r, s = ring.dats.values()
    spread, wall, step = (heavy(k) if ring.is_heavy else k for k in (SPREAD, WALL, last))
    args = {"r": r(op2.INC, ring.ends), "e": ring.flux(op2.READ)}
    for _ in range(2):
        op2.par_loop(
            spread, ring.edges, args["r"], s(op2.READ, ring.ends), args["e"], strategy="owner"
        )
        op2.par_loop(wall, ring.walls, r(op2.INC, ring.behind), s(op2.READ, ring.behind))
        op2.par_loop(step, ring.cells, q(op2.WRITE), p(op2.READ), r(op2.RW), ring.sum(op2.INC))


def test_sums_of_several_loops_stay_where_they_are_used(backend: str) -> None:
    eager, lazy = Ring(), Ring()
    for _ in range(2):
        _two_steps(eager)
        with op2.chain() as chain:
            _two_steps(lazy)
    assert_alike(eager, lazy)
    steps = chain.explain().steps
    assert [step.loops for step in steps] == [(0, 1, 2), (3, 4, 5)]
    assert [step.inverted for step in steps] == [(0, 1), (3, 4)]
    # `advance` leaves 0 in r: the second step need not read it, nor the first one store it
    assert [(step.zeroed, step.dropped) for step in steps] == [((), ("r",)), (("r",), ())]
    assert "sums that start at 0: r" in str(chain.explain())


@pytest.mark.parametrize(
    ("last", "zeroed"),
    [
        ("const double none = 0; r[0] = none;", ("r",)),
        ("r[0] = 1; r[0] = (int)0.0 - 0;", ("r",)),
        ("r[0] = -0.0;", ()),
        ("r[0] = 1;", ()),
    ],
)
def test_zeros_are_known_however_they_are_made(last: str, zeroed: tuple[str, ...]) -> None:
    """And other constants, of which sums could start, are loaded."""
    code = STEP.code.replace("r[0] = 0;", last)
    assert last in code
    step = kernel(code)
    eager, lazy = Ring(), Ring()
    _two_steps(eager, step)
    with op2.chain() as chain:
        _two_steps(lazy, step)
    assert_alike(eager, lazy)
    assert [step.zeroed for step in chain.explain().steps] == [(), zeroed]


def test_loops_that_are_seen_from_their_targets_gather_for_themselves(backend: str) -> None:
    eager, lazy = Ring(), Ring()
    names = ("least", "spread", "spread", "wall", "wall", "twice s q", "step")
    for name in names:
        eager.run(name)
    with op2.chain():
        for name in names:
            lazy.run(name)
    assert_alike(eager, lazy)


def test_loops_over_the_same_part_of_a_set_become_one_function(backend: str) -> None:
    eager, lazy = Ring(), Ring()
    names = ("more q third", "twice p q third", "twice s q", "spread some", "more q third")
    for name in names:
        eager.run(name)
    with op2.chain() as chain:
        for name in names:
            lazy.run(name)
    assert_alike(eager, lazy)
    steps = [step.loops for step in chain.explain().steps]
    assert (0, 1) in steps
    assert "not visit the same elements" in str(chain.explain())


LAYERED = kernel("void layered(double *u, const double *x) { u[0] += x[0]; u[1] -= x[1]; }")
THRICE = kernel("void thrice(double *v, const double *x) { v[0] += 3 * x[0]; v[1] += x[1]; }")
COLUMN = kernel("void column(double *c, const double *x) { c[0] = x[0]; }")
SEEN = kernel("void seen(double *v, const double *c) { v[0] += c[0]; v[1] += c[0]; }")


def test_loops_over_columns_become_one_function_if_they_share_no_column(backend: str) -> None:
    columns, points = op2.Set(5, "columns"), op2.Set(6 * 4, "points")
    cells = op2.ExtrudedSet(columns, 4)
    low = [[4 * i, 4 * i + 4] for i in range(5)]
    ends = op2.Map(cells, points, 2, low, "ends", offset=[1, 1])
    x = op2.Dat(points, np.arange(24.0))
    c, d = op2.Dat(columns, name="c"), op2.Dat(columns, np.arange(5.0), name="d")
    results = []
    for is_chained in (False, True):
        u, v, w = (op2.Dat(points, name=name) for name in "uvw")

        def run(u: op2.Dat = u, v: op2.Dat = v, w: op2.Dat = w) -> None:
            op2.par_loop(LAYERED, cells, u(op2.INC, ends), x(op2.READ, ends))
            op2.par_loop(THRICE, cells, v(op2.INC, ends), x(op2.READ, ends))
            op2.par_loop(COLUMN, cells, c(op2.WRITE), d(op2.READ))
            op2.par_loop(SEEN, cells, w(op2.INC, ends), c(op2.READ))

        if is_chained:
            with op2.chain() as chain:
                run()
        else:
            run()
        results.append([dat.data_ro.copy() for dat in (u, v, w, c)])
    for mine, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-13)
    steps = {i: step.loops for step in chain.explain().steps for i in step.loops}
    assert steps[0] == steps[1]
    assert 3 not in steps[2]  # the cells of a column share its number
    assert "share memory that one of them writes" in str(chain.explain())


def test_what_was_set_to_zero_is_neither_written_nor_read(backend: str) -> None:
    eager, lazy = Ring(), Ring()

    def steps(ring: Ring) -> None:
        ring.run("twice p q")
        ring.dats["r"].zero()
        _two_steps(ring)

    steps(eager)
    with op2.chain() as chain:
        steps(lazy)
    assert_alike(eager, lazy)
    found = chain.explain().steps
    assert [step.zeroed for step in found if step.inverted] == [("r",), ("r",)]
    assert 1 not in [loop for step in found for loop in step.loops]  # the action
    with op2.chain(passes=["fuse", "invert"]) as chain:
        steps(lazy)
    steps(eager)
    assert_alike(eager, lazy)
    assert not any(step.zeroed for step in chain.explain().steps)


def _stages(ring: Ring, n_steps: int) -> None:
    for _ in range(n_steps):
        for name in ("keep p q", "spread", "step", "spread", "step"):
            ring.run(name)


def test_old_values_are_read_where_they_were_copied_from(device: object) -> None:
    eager, lazy = Ring(lanes=0), Ring(lanes=0)
    for _ in range(2):
        _stages(eager, 4)
        with op2.chain() as chain:
            _stages(lazy, 4)
        assert_alike(eager, lazy)
    steps = chain.explain().steps
    # the first stage finds them in q, the second one where the first one read q; but for the
    # first step, whose copy stands alone, and the last one, whose copy can be seen afterwards
    assert [step.redirected for step in steps if step.inverted].count(("p",)) == 4
    assert sum("p" in step.dropped for step in steps) == 2
    assert "is made: it may be seen after the chain" in str(chain.explain())
    assert "(copy)" not in str(chain.explain())
    assert "read where they were copied from: p" in str(chain.explain())
    with op2.chain(passes=set(PASSES) - {"copy"}) as chain:
        _stages(lazy, 3)
    _stages(eager, 3)
    assert_alike(eager, lazy)
    assert not any(step.redirected for step in chain.explain().steps)


def test_a_copy_is_made_where_its_source_changes(backend: str) -> None:
    eager, lazy = Ring(), Ring()
    names = ("least", "keep p q", "more q", "twice s q", "step", "keep p q", "scaled")
    for name in names:
        eager.run(name)
    with op2.chain() as chain:
        for name in names:
            lazy.run(name)
    assert_alike(eager, lazy)
    assert not any(step.redirected for step in chain.explain().steps)


def test_a_chain_may_begin_with_zeros_on_a_device(device: object) -> None:
    eager, lazy = Ring(), Ring()
    eager.dats["r"].zero()
    _two_steps(eager)
    with op2.chain() as chain:
        lazy.dats["r"].zero()
        assert op2.chain.pending() == ("zero r",)
        _two_steps(lazy)
    assert_alike(eager, lazy)
    assert [step.zeroed for step in chain.explain().steps] == [("r",), ("r",)]
    with op2.chain():
        lazy.dats["r"].zero()
        assert not lazy.dats["r"].data_ro.any()
        assert op2.chain.pending() == ()


def test_loops_wait_until_somebody_looks() -> None:
    ring = Ring()
    p, q, r, _ = ring.dats.values()
    with op2.chain() as chain:
        op2.par_loop(TWICE, ring.cells, p(op2.WRITE), q(op2.READ))
        op2.par_loop(MORE, ring.cells, r(op2.RW))
        assert op2.chain.pending() == ("twice", "more")
        before = r.data_ro[0]
        assert op2.chain.pending() == ("twice",)
        assert before == r.data_ro[0]
        op2.par_loop(MORE, ring.cells, q(op2.RW))
        q.data_ro  # noqa: B018  # needs what writes q, which has to wait for what reads it
        assert chain.pending() == ()
    assert op2.chain.pending() == ()


def test_algebra_waits_for_the_number_that_a_chain_makes(backend: str) -> None:
    ring = Ring()
    p, q, r, s = ring.dats.values()
    r.data[:] = -1
    expected = s.data_ro - p.data_ro
    op2.par_loop(LEAST, ring.cells, q(op2.READ), ring.least(op2.MIN))
    op2.par_loop(SCALED, ring.cells, s(op2.RW), op2.Global(1, 1.0)(op2.READ))
    with op2.chain():
        op2.par_loop(LEAST, ring.cells, r(op2.READ), ring.least(op2.MIN))
        s.axpy(ring.least, p)
    np.testing.assert_allclose(s.data_ro, expected)


def test_reading_leaves_what_only_reads() -> None:
    ring = Ring()
    p, q, _, _ = ring.dats.values()
    with op2.chain():
        op2.par_loop(TWICE, ring.cells, p(op2.WRITE), q(op2.READ))
        q.data_ro  # noqa: B018
        assert op2.chain.pending() == ("twice",)
        q.data  # noqa: B018  # may write
        assert op2.chain.pending() == ()


def _overwrite_at_last(ring: Ring, last: op2.Kernel, access: op2.Access) -> None:
    """One loop hands `p` on to the next, and after others one may overwrite it."""
    p, q, _, s = ring.dats.values()
    op2.par_loop(TWICE, ring.cells, p(op2.WRITE), q(op2.READ))
    op2.par_loop(TWICE, ring.cells, s(op2.WRITE), p(op2.READ))
    op2.par_loop(GATHER, ring.edges, ring.flux(op2.WRITE), s(op2.READ, ring.ends))
    into = q(op2.INC, ring.ends)
    op2.par_loop(SPREAD, ring.edges, into, s(op2.READ, ring.ends), ring.flux(op2.READ))
    op2.par_loop(last, ring.cells, p(access), q(op2.READ))


@pytest.mark.parametrize(
    ("last", "access", "dropped"),
    [(TWICE, op2.WRITE, ("p",)), (FRESH, op2.RW, ("p",)), (LIFTED, op2.RW, ())],
)
def test_a_value_that_is_overwritten_unseen_is_not_stored(
    last: op2.Kernel, access: op2.Access, dropped: tuple[str, ...]
) -> None:
    eager, lazy = Ring(), Ring()
    with op2.backend("sequential"):
        _overwrite_at_last(eager, last, access)
        with op2.chain() as chain:
            _overwrite_at_last(lazy, last, access)
        assert_alike(eager, lazy)
    report = chain.explain()
    assert {step.loops: step.dropped for step in report.steps}[0, 1] == dropped
    assert report.n_bytes < report.eager_bytes


def test_rw_that_does_not_look_writes_a_second_buffer_as_write_does(backend: str) -> None:
    eager, lazy = Ring(), Ring()
    for _ in range(3):
        for name in ("spread", "fresh q p", "twice s q"):
            eager.run(name)
        with op2.chain() as chain:
            for name in ("spread", "fresh q p", "twice s q"):
                lazy.run(name)
    assert_alike(eager, lazy)
    (step,) = chain.explain().steps
    assert (step.loops, step.inverted, step.renamed) == ((0, 1, 2), (0,), ("q",))


def test_the_line_of_the_kernel_that_decides_is_shown() -> None:
    ring = Ring(strategy=None)
    flux, r = ring.flux, ring.dats["r"]
    with op2.backend("sequential"), op2.chain() as chain:
        ring.run("spread")
        op2.par_loop(GATHER, ring.edges, flux(op2.WRITE), r(op2.READ, ring.ends))
    assert (
        "  gather does not join spread (fuse): arg 0 ('r') of 'spread' and arg 1 ('x') of 'gather' "
        "share memory that one of them writes, and not item by item\n"
        f"    'spread', line 1: {SPREAD.code}"
    ) in str(chain.explain())
    text = """
    static void other(double *y) { y[0] = 3; }
    void shift(double *y,
               const double *x) {
      for (int i = 0; i < 1; ++i) {
        if (y[i] == 2) y[i] += x[i];  // here
      }
    }"""
    codes = {"shift": text, "more": MORE.code}
    why = "arg 0 ('y') of 'shift' and arg 0 ('y') of 'more' share memory that one of them writes"
    assert deciding_lines(why, codes) == [
        "'shift', line 6: if (y[i] == 2) y[i] += x[i];  // here",
        f"'more', line 1: {MORE.code}",
    ]
    assert deciding_lines("arg 1 ('x') of 'shift' and arg 0 ('z') of 'nobody'", codes) == []


def test_passes_can_be_switched_off() -> None:
    with op2.chain(passes=()) as chain:
        _one_step(Ring())
    assert all(len(step.loops) == 1 for step in chain.explain().steps)
    with pytest.raises(UsageError, match=r"no pass 'fusion'; there are: fuse, invert"):
        op2.chain(passes=["fusion"])
    with pytest.raises(UsageError, match="bound must be a positive number"):
        op2.chain(bound=0)


def test_a_known_chain_is_not_compiled_again() -> None:
    ring = Ring()
    with op2.chain() as chain:
        _one_step(ring)
    first = chain.explain().chains
    with op2.chain() as again:
        _one_step(ring)
    assert again.explain().chains[0] is first[0]


def _n_calls(block: Any) -> int:
    """Functions of Python and of C that some program calls."""
    n = 0

    def count(frame: Any, event: str, argument: object) -> None:
        nonlocal n
        n += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        block()
    finally:
        sys.setprofile(None)
    return n


def _chained(loops: list[op2.ParLoop], **options: Any) -> None:
    with op2.chain(**options):
        for loop in loops:
            loop.compute()


def test_a_known_chain_costs_few_calls(anew: None) -> None:
    """Of Python: what a loop costs to record does not depend on how many there are."""
    ring = Ring()
    names = ("twice p q", "more r", "more q", "keep p q") * 8
    loops = [op2.ParLoop(*ring.loops()[name]) for name in names]
    with op2.backend("sequential"):
        few, many = loops[:8], loops
        for _ in range(3):
            _chained(few)
            _chained(many)
        n_few = _n_calls(lambda: _chained(few))
        n_many = _n_calls(lambda: _chained(many))
    assert (n_many - n_few) / (len(many) - len(few)) <= 12
    assert n_few <= 8 * 12 + 30
    chain = op2.chain()
    with op2.backend("sequential"), chain:
        for loop in many:
            loop.compute()
    (found,) = chain.explain().chains
    assert len(found.steps) == 1  # all functions are one call


def test_what_waits_for_a_reader_is_found_once(anew: None) -> None:
    """The second time a reader comes, nobody looks for what it depends on."""
    ring = Ring()
    loops = [op2.ParLoop(*ring.loops()[name]) for name in ("twice p q", "more r", "least")]

    def block() -> None:
        with op2.chain():
            for loop in loops:
                loop.compute()
            _ = ring.least.data_ro

    with op2.backend("sequential"):
        for _ in range(3):
            block()
        loops[1].compute()
        assert _n_calls(block) <= 95


def test_numbers_are_set_where_the_program_sets_them(backend: str) -> None:
    eager, lazy = Ring(), Ring()
    number = np.array([3.0])

    def steps(ring: Ring) -> None:
        for value in (3.0, 0.5):
            number[0] = value
            ring.least.data = number
            ring.run("least")
            ring.run("scaled")

    steps(eager)
    with op2.chain() as chain:
        steps(lazy)
        assert chain.waiting == ["least", "scaled", "set least", "least", "scaled"]
        number[0] = 7.0  # too late
    assert_alike(eager, lazy)
    lazy.sum.data = 2.0
    assert lazy.sum.data_ro[0] == 2.0


def test_a_loop_with_other_data_is_another_loop() -> None:
    ring = Ring()
    loop = op2.ParLoop(*ring.loops()["more q"])
    before = {name: dat.data_ro.copy() for name, dat in ring.dats.items()}

    def block() -> None:
        with op2.chain():
            loop.compute()

    with op2.backend("sequential"):
        block()
        loop.replace_data(0, ring.dats["s"])
        block()
        with op2.chain():
            loop.compute()
            loop.replace_data(0, ring.dats["r"])
            loop.compute()
    assert [float((ring.dats[n].data_ro - before[n]).round(9).max()) for n in "qsr"] == [1, 2, 1]


def test_ghosts_are_out_of_date_after_a_chain_that_sets_zeros() -> None:
    cells = op2.Set((2, 3, 5), "cells")
    q = op2.Dat(cells, np.ones(5))
    with op2.backend("sequential"), op2.chain():
        op2.par_loop(MORE, cells, q(op2.RW))
        q.zero()
        op2.par_loop(MORE, cells, q(op2.RW))
    assert not q.halo_valid
    np.testing.assert_array_equal(q.data_ro, 1.0)


def test_loops_that_touch_held_arrays_run_at_once() -> None:
    ring = Ring()
    p, q, _, _ = ring.dats.values()
    view = p.data
    with op2.backend("sequential"), op2.chain():
        op2.par_loop(TWICE, ring.cells, p(op2.WRITE), q(op2.READ))
        assert op2.chain.pending() == ()
        np.testing.assert_array_equal(view, 2 * q.data_ro)


@pytest.mark.parametrize(
    "part",
    [lambda values: values[2:5], lambda values: values.T, memoryview, np.frombuffer],
    ids=["slice", "transpose", "memoryview", "buffer"],
)
def test_loops_that_touch_parts_of_held_arrays_run_at_once(part: Any) -> None:
    ring = Ring()
    p, q, _, _ = ring.dats.values()
    view = part(p.data)
    with op2.backend("sequential"), op2.chain():
        op2.par_loop(TWICE, ring.cells, p(op2.WRITE), q(op2.READ))
        assert op2.chain.pending() == ()
        np.testing.assert_array_equal(view, part(2 * q.data_ro))
        del view
        op2.par_loop(TWICE, ring.cells, p(op2.WRITE), q(op2.READ))
        assert op2.chain.pending() != ()


def test_handles_and_parts_of_matrices_run_at_once() -> None:
    ring = Ring()
    handle = op2.PassthroughArg(op2.OpaqueType("double"), ring.dats["q"].data_ro.ctypes.data)
    see = op2.Kernel("void see(double *y, double *h) { *y = h[3]; }", "see")
    two = op2.MixedSet([ring.cells, ring.cells])
    both = op2.MixedMap([ring.ends, ring.ends])
    mat = op2.Mat(op2.Sparsity((two**1, two**1), (both, both)))
    ones = op2.Kernel("void ones(double *m) { for (int i = 0; i < 16; i++) m[i] += 1; }", "ones")
    with op2.backend("sequential"), op2.chain() as chain:
        op2.par_loop(MORE, ring.cells, ring.dats["r"](op2.RW))
        op2.par_loop(see, ring.cells, ring.dats["s"](op2.WRITE), handle)
        assert op2.chain.pending() == ()
        op2.par_loop(ones, ring.edges, mat(op2.INC, (both, both)))
        assert op2.chain.pending() == ()
    np.testing.assert_array_equal(ring.dats["s"].data_ro, ring.dats["q"].data_ro[3])
    np.testing.assert_array_equal(mat.values.diagonal(), 2.0)
    assert chain.explain().refused.keys() == {"see", "ones"}
    assert "ones runs at once: it uses a part of a mixed matrix" in str(chain.explain())


STIFF = kernel(
    "void stiff(double *a, const double *x) "
    "{ double k = 1 + x[0] * x[1]; a[0] += k; a[1] -= k; a[2] -= k; a[3] += k; }"
)
MASS = kernel(
    "void mass(double *a, const double *x) "
    "{ for (int i = 0; i < 4; ++i) a[i] += (x[0] + x[1]) * (i % 3 ? 1 : 2); }"
)


def _assembled(ring: Ring, mats: tuple[op2.Mat, ...]) -> None:
    """Two forms over the same edges, one of them twice."""
    q, both = ring.dats["q"], (ring.ends, ring.ends)
    stiff, mass = mats
    stiff.zero()
    op2.par_loop(STIFF, ring.edges, stiff(op2.INC, both), q(op2.READ, ring.ends))
    op2.par_loop(MASS, ring.edges, mass(op2.INC, both), q(op2.READ, ring.ends))
    op2.par_loop(STIFF, ring.edges, mass(op2.INC, both), q(op2.READ, ring.ends))


def test_matrices_over_the_same_elements_are_assembled_by_one_function(backend: str) -> None:
    ring = Ring()
    sparsity = op2.Sparsity((ring.cells**1, ring.cells**1), (ring.ends, ring.ends))
    eager, lazy = ((op2.Mat(sparsity), op2.Mat(sparsity)) for _ in range(2))
    for _ in range(3):
        ring.run("more q")
        _assembled(ring, eager)
        with op2.chain() as chain:
            ring.run("twice p q")
            _assembled(ring, lazy)
            assert chain.waiting[-3:] == ["stiff", "mass", "stiff"]
            assert lazy[1].assembly_state is op2.Mat.ADD_VALUES
            lazy[1].assemble()
        for mine, theirs in zip(eager, lazy, strict=True):
            np.testing.assert_allclose(mine.values, theirs.values, rtol=1e-13)
    assert max(len(step.loops) for step in chain.explain().steps) == 3


@pytest.mark.parametrize("look", ["values", "second", "mult", "duplicate", "axpy", "zero_rows"])
def test_whoever_looks_at_a_matrix_finds_what_was_assembled(backend: str, look: str) -> None:
    ring = Ring()
    sparsity = op2.Sparsity((ring.cells**1, ring.cells**1), (ring.ends, ring.ends))
    results = []
    for is_chained in (False, True):
        mats = op2.Mat(sparsity), op2.Mat(sparsity)
        x, y = op2.Dat(ring.cells, np.arange(float(N_CELLS))), op2.Dat(ring.cells)
        looks: dict[str, Any] = {
            "values": lambda mats=mats: mats[0].values,
            "second": lambda mats=mats: mats[1].values,
            "mult": lambda mats=mats, x=x, y=y: (mats[0].mult(x, y), y.data_ro.copy())[1],
            "duplicate": lambda mats=mats: mats[0].duplicate().values,
            "axpy": lambda mats=mats: (mats[1].axpy(2.0, mats[0]), mats[1].values)[1],
            "zero_rows": lambda mats=mats: (mats[0].zero_rows([3]), mats[0].values)[1],
        }
        _assembled(ring, mats)  # where values are on a device, they are there
        if is_chained:
            with op2.chain():
                _assembled(ring, mats)
                results.append(looks[look]())
        else:
            _assembled(ring, mats)
            results.append(looks[look]())
    np.testing.assert_allclose(results[1], results[0], rtol=1e-12)


def test_a_whole_program_may_be_lazy() -> None:
    ring = Ring()
    q, r = ring.dats["q"], ring.dats["r"]
    before = q.data_ro.copy(), r.data_ro.copy()
    op2.init(lazy=True)
    op2.par_loop(MORE, ring.cells, q(op2.RW))
    op2.par_loop(MORE, ring.cells, r(op2.RW))
    assert op2.chain.pending() == ("more", "more")
    np.testing.assert_allclose(q.data_ro, before[0] + 1)
    assert op2.chain.pending() == ("more",)
    op2.configuration["lazy"] = False
    assert op2.chain.pending() == ()
    np.testing.assert_allclose(r.data_ro, before[1] + 1)
    op2.par_loop(MORE, ring.cells, q(op2.RW))
    np.testing.assert_allclose(q.data_ro, before[0] + 2)


def test_options_change_after_what_waits() -> None:
    ring = Ring()
    with op2.chain():
        op2.par_loop(MORE, ring.cells, ring.dats["q"](op2.RW))
        op2.configuration["deterministic"] = True
        assert op2.chain.pending() == ()
        op2.configuration["deterministic"] = False


def test_at_its_bound_the_queue_runs() -> None:
    ring = Ring()
    with op2.chain(bound=3):
        for _ in range(7):
            op2.par_loop(MORE, ring.cells, ring.dats["q"](op2.RW))
        assert len(op2.chain.pending()) == 1


def test_a_time_loop_in_a_block_is_one_chain_of_several_steps(backend: str) -> None:
    """At its bound whole steps run, so that the end of one may join the beginning of the next."""
    eager, lazy = Ring(), Ring()
    names = ("twice p q", "gather", "spread", "step", "twice s q")
    with op2.chain(bound=13) as chain:
        for _ in range(9):
            for name in names:
                eager_and_lazy = eager.actions()[name], lazy.actions()[name]
                with runtime.at_once():
                    eager_and_lazy[0]()
                eager_and_lazy[1]()
    assert_alike(eager, lazy)
    assert [len(one.names) for one in chain.explain().chains] == [10, 5]


def test_a_block_may_begin_with_zeros() -> None:
    ring = Ring()
    for _ in range(3):
        ring.dats["q"].data[:] = 7
        with op2.backend("sequential"), op2.chain():
            ring.dats["q"].zero()
            ring.run("more q")
            assert op2.chain.pending() == ("zero q", "more")
        assert (ring.dats["q"].data_ro == 1).all()


def test_zeros_wait_for_nothing_outside_of_blocks() -> None:
    ring = Ring()
    op2.init(lazy=True)
    with op2.backend("sequential"):
        ring.dats["q"].zero()
        assert op2.chain.pending() == ()
        ring.run("more q")
        ring.dats["q"].zero()
        assert op2.chain.pending() == ("more", "zero q")
        assert (ring.dats["q"].data_ro == 0).all()
    op2.init(lazy=False)


def test_a_global_gets_new_values_in_its_place_each_time() -> None:
    ring, shift = Ring(), op2.Global(1, 0.0, name="shift")
    add = op2.Kernel("void add(double *x, const double *s) { x[0] += s[0]; }", "add")
    values, q = np.zeros(1), ring.dats["q"]
    expected = q.data_ro.copy()
    for n in range(3):
        with op2.backend("sequential"), op2.chain():
            for k in range(3):
                values[0] = 10 * n + k
                shift.data = values  # what happens to the array later does not count
                op2.par_loop(add, ring.cells, q(op2.RW), shift(op2.READ))
                expected += values[0]
            assert op2.chain.pending() == ("add", "set shift", "add", "set shift", "add")
        np.testing.assert_allclose(q.data_ro, expected)


@pytest.fixture
def anew() -> None:
    """Nothing is known of the program's blocks."""
    op2.exit()


def _blocks(ring: Ring, names: tuple[str, ...], n: int) -> list[Any]:
    """How many loops waited in each of some blocks, and what it said about the last one."""
    actions, found = ring.actions(), []
    for _ in range(n):
        with op2.chain() as chain:
            for name in names:
                actions[name]()
            found.append(len(chain.waiting))
    return [found, str(chain.explain())]


def test_blocks_that_save_less_than_they_cost_run_at_once(anew: None) -> None:
    eager, lazy = Ring(), Ring()
    names = ("gather", "twice p q", "zero sum")
    op2.init(deterministic=True)  # nothing is measured
    with op2.backend("sequential"):
        for _ in range(113):
            for name in names:
                eager.actions()[name]()
        waited, said = _blocks(lazy, names, 105)
        assert waited == [3] * 8 + [0] * 31 + [3] + [0] * 63 + [3] + [0]
        assert "at once: to record these loops costs about 1.8 us and saves 0.0 of" in said
        assert _blocks(lazy, names, 8)[0] == [0] * 8  # the same line of the program
        assert_alike(eager, lazy)
        op2.configuration["deterministic"] = False  # what was known of it no longer holds
        assert _blocks(lazy, names, 2)[0] == [3, 3]
        with op2.chain(compare=True) as chain:
            lazy.run("more r")
            assert chain.waiting == ["more"]
    op2.exit()


def test_blocks_of_which_nothing_is_joined_run_at_once_on_devices(
    anew: None, device: object
) -> None:
    op2.configuration["deterministic"] = True
    waited, said = _blocks(Ring(), ("gather", "least"), 10)
    op2.configuration["deterministic"] = False
    assert waited == [2] * 8 + [0] * 2
    assert "saves 0.0 of" in said


_MANY = ("twice p q", "twice s q", "more r", "more q") * 3
_FEW = ("gather", "twice p q")
"""Of these nothing is joined, so that the model says that recording them does not pay."""


class _Clock:
    """Time that passes in blocks only: so much in one that waits, so much in one that does not.

    It is what the blocks of the program are measured with from now on.
    """

    def __init__(self, waiting: float, at_once: float) -> None:
        self.now = 0.0
        self.seconds = waiting, at_once
        runtime.of(ChainState).places = Places(self)

    def __call__(self) -> float:
        return self.now

    def pass_block(self, n_waiting: int) -> None:
        self.now += self.seconds[n_waiting == 0]


def _timed_blocks(
    ring: Ring, clock: _Clock, n: int, names: tuple[str, ...] = _MANY
) -> tuple[list[bool], str]:
    """Which of some blocks waited, as the time passes, and what was said of the last."""
    found = []
    for _ in range(n):
        with op2.chain() as chain:
            for name in names:
                ring.run(name)
            found.append(bool(chain.waiting))
            clock.pass_block(len(chain.waiting))
    return found, str(chain.explain())


def test_blocks_that_save_more_than_they_cost_wait(anew: None) -> None:
    ring = Ring()
    clock = _Clock(1e-4, 1e-4)
    with op2.backend("sequential"):
        waited, said = _timed_blocks(ring, clock, 20)
    assert waited == [True] * 20
    assert "at once" not in said


def _line_at_once(names: tuple[str, ...]) -> tuple[Ring, Callable[..., Any]]:
    """Return a function whose block runs at once from now on, and what it runs."""
    ring = Ring()
    op2.init(deterministic=True, backend="sequential")

    def block(chain: Any = None, within: Callable[[], object] | None = None) -> Any:
        with chain or op2.chain() as opened:
            for name in names:
                ring.run(name)
            if within is not None:
                within()
            return len(opened.waiting), opened

    for _ in range(8):
        assert block()[0] == len(names)
    return ring, block


def test_a_block_that_runs_at_once_is_open_until_it_ends(anew: None, exits: None) -> None:
    _, block = _line_at_once(("gather", "twice p q"))
    n, chain = block()
    assert (n, repr(chain)) == (0, "<chain: 0 loops wait>")
    assert "at once: to record these loops costs" in str(chain.explain())
    assert block(chain) == (0, chain)
    with pytest.raises(UsageError, match="this block is open"):
        block(chain, lambda: chain.__enter__())
    with pytest.raises(ZeroDivisionError):
        block(chain, lambda: 1 // 0)
    with chain:  # another line
        pass
    assert str(chain.explain()) == "no loops ran"
    assert block(chain)[0] == 0
    assert block(op2.chain(passes=["fuse"]))[0] == 2  # not known of these passes
    assert block(op2.chain(passes=PASSES))[0] == 0
    assert block(op2.chain(bound=1))[0] == 0
    assert block(op2.chain(compare=True))[0] == 2
    with op2.chain():
        assert block()[0] == 2  # within another one


def test_blocks_that_run_at_once_are_of_one_thread_and_no_graph(anew: None, exits: None) -> None:
    ring, block = _line_at_once(("gather", "twice p q"))
    assert block()[0] == 0
    found: list[int] = []
    other = threading.Thread(target=lambda: found.append(block()[0]))
    other.start()
    other.join(60)
    assert found == [2]
    graph = op2.record(lambda: found.append(block()[0]))
    assert found == [2, 2]
    before = ring.dats["q"].data_ro.copy()
    graph.submit()
    np.testing.assert_array_equal(ring.dats["p"].data_ro, 2 * before)
    assert block()[0] == 0


def test_blocks_that_run_at_once_keep_nothing(anew: None, exits: None) -> None:
    _, block = _line_at_once(("gather", "twice p q"))
    chain = block()[1]
    gone, n = weakref.ref(chain), sys.getrefcount(op2.chain)
    del chain
    assert gone() is None
    for _ in range(20):
        block()
    assert abs(sys.getrefcount(op2.chain) - n) < 5


@pytest.mark.parametrize("seconds", [(3e-4, 2e-4), (2e-4, 3e-4)])
@pytest.mark.parametrize(("names", "n_before"), [(_MANY, 64), (_FEW, 8)])
def test_what_is_faster_is_measured(
    anew: None, seconds: tuple[float, float], names: tuple[str, ...], n_before: int
) -> None:
    clock, ring = _Clock(*seconds), Ring()
    with op2.backend("sequential"):
        waited, said = _timed_blocks(ring, clock, 200, names)
    assert waited[:n_before] == [True] * n_before
    assert not all(waited[n_before : n_before + 46])
    is_faster = seconds[0] < seconds[1]
    assert waited[-60:] == [is_faster] * 60
    measured = "measured here, a block takes 200.0 us so and 300.0 us recorded"
    assert (measured in said) == (not is_faster)


def test_blocks_that_take_long_are_measured_early(anew: None) -> None:
    clock, ring = _Clock(3e-2, 2e-2), Ring()
    with op2.backend("sequential"):
        waited, _ = _timed_blocks(ring, clock, 30)
    assert waited[:8] == [True] * 8
    assert waited[8:19] == [True, False] * 5 + [False]  # by turns of a block each, and then so
    assert not any(waited[18:])


def test_what_was_measured_is_measured_again_after_a_while(anew: None) -> None:
    clock, ring = _Clock(3e-2, 2e-2), Ring()
    n_rest = 64 * 10 - 1  # blocks behind the first one that the measurement decided
    with op2.backend("sequential"):
        waited, _ = _timed_blocks(ring, clock, 18 + 1 + n_rest)
        clock.seconds = 1e-2, 2e-2
        assert not any(waited[18:])
        waited, said = _timed_blocks(ring, clock, 100)
    assert waited[-60:] == [True] * 60
    assert "at once" not in said


def test_nothing_is_measured_where_results_must_not_depend_on_it(anew: None) -> None:
    op2.init(deterministic=True)
    clock, ring = _Clock(3e-4, 2e-4), Ring()
    with op2.backend("sequential"):
        assert all(_timed_blocks(ring, clock, 150)[0])
    op2.exit()


def test_who_computes_alone_is_measured_by_its_own_time(
    anew: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyop2cxx.chain.trial.time.thread_time", lambda: 7.0)
    monkeypatch.setattr("pyop2cxx.chain.trial.time.perf_counter", lambda: 8.0)
    clock = Stopwatch()
    with op2.backend("sequential"):
        assert clock() == 7.0
    with op2.backend("openmp"):
        assert clock() == 8.0


def test_one_line_is_measured_at_a_time(anew: None) -> None:
    clock, ring = _Clock(2e-4, 3e-4), Ring()
    waited = []
    with op2.backend("sequential"):
        for _ in range(150):
            _timed_blocks(ring, clock, 1)
            with op2.chain() as chain:
                for name in (*_MANY, "more q"):
                    ring.run(name)
                waited.append(bool(chain.waiting))
                clock.pass_block(len(chain.waiting))
    first_at_once = waited.index(False)
    assert first_at_once > 75  # the other line has ended by then


def test_a_block_at_once_is_not_opened_twice() -> None:
    chain = op2.chain()
    for _ in range(20):
        with chain, pytest.raises(UsageError, match="this block is open"), chain:
            pass


def test_what_was_recorded_before_an_error_has_run() -> None:
    ring = Ring()
    before = ring.dats["q"].data_ro.copy()

    def fail() -> None:
        with op2.chain():
            op2.par_loop(MORE, ring.cells, ring.dats["q"](op2.RW))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    np.testing.assert_allclose(ring.dats["q"].data_ro, before + 1)
    assert op2.chain.pending() == ()


def test_kernels_of_a_chain_may_have_tables_of_one_name(backend: str) -> None:
    cells = op2.Set(3)
    x = op2.Dat(cells, np.zeros(3))
    codes = [
        "static const double w[2] = {1, 2};\n"
        "static double at(int i) { return w[i]; }\n"
        "void first(double *x) { x[0] += at(1) + w[0]; { double w[1] = {100}; x[0] += w[0]; } }",
        "static const double w[3] = {10, 20, 30}, w_1[1] = {1000};\n"
        "void second(double *x) { double at = w[2] + w_1[0]; x[0] += at; }",
        "static double w(double w) { return w + 4; }\nvoid third(double *x) { x[0] = w(x[0]); }",
    ]
    names = ("first", "second", "third")
    kernels = [op2.Kernel(code, name) for code, name in zip(codes, names, strict=True)]
    with op2.backend(backend), op2.chain() as chain:
        for one in (*kernels, *reversed(kernels)):
            op2.par_loop(one, cells, x(op2.RW))
    assert x.data_ro.tolist() == [2 * (103 + 1030 + 4)] * 3
    assert len(chain.explain().steps) == 1


def test_wrong_arguments_are_found_where_the_loop_is_written() -> None:
    ring = Ring()
    with op2.chain(), pytest.raises(UsageError, match="flux"):
        op2.par_loop(MORE, ring.cells, ring.flux(op2.RW))


def test_a_kernel_that_does_not_compile_is_shown_with_the_line_of_its_loop() -> None:
    ring = Ring()
    broken = op2.Kernel("void broken(double *x) { x[0] = nobody_has_this(x[0]); }", "broken")
    with op2.backend("sequential"), op2.chain() as chain:
        op2.par_loop(broken, ring.cells, ring.dats["q"](op2.RW))
        line = sys._getframe().f_lineno - 1
        assert chain.waiting == ["broken"]
        with pytest.raises(CompilationError, match=f"made at .*test_chain.py:{line}"):
            chain.flush()


@pytest.mark.parametrize("read", ["", "first", "broken", "other"])
def test_what_stands_before_a_kernel_that_does_not_compile_has_run(read: str, backend: str) -> None:
    """As without the block: what comes before has run, what comes behind has not."""
    cells = op2.Set(3)
    dats = {name: op2.Dat(cells, np.zeros(3), name=name) for name in ("first", "broken", "other")}
    broken = op2.Kernel("void broken(double *x) { x[0] += nobody_has_this; }", "broken")

    def run() -> None:
        with op2.chain():
            op2.par_loop(MORE, cells, dats["first"](op2.RW))
            op2.par_loop(MORE, cells, dats["other"](op2.RW))
            op2.par_loop(broken, cells, dats["broken"](op2.RW))
            op2.par_loop(MORE, cells, dats["first"](op2.RW))
            if read:
                dats[read].data_ro  # noqa: B018  # runs what it needs

    with op2.backend(backend), pytest.raises(CompilationError, match="par_loop 'broken'"):
        run()
    assert dats["first"].data_ro[0] == (2.0 if read == "first" else 1.0)
    assert dats["other"].data_ro[0] == 1.0
    assert dats["broken"].data_ro[0] == 0.0
    assert op2.chain.pending() == ()


def test_a_loop_that_cannot_run_says_so_where_it_is_called(backend: str) -> None:
    if backend == "sequential":
        pytest.skip("it can run every strategy that keeps the order of elements")
    cells, edges = op2.Set(3), op2.Set(2)
    ends = op2.Map(edges, cells, 2, [[0, 1], [1, 2]])
    first, other, sums = (op2.Dat(cells) for _ in range(3))
    add = op2.Kernel("void add(double *x) { x[0] += 1; x[1] += 1; }", "add")
    op2.init(deterministic=True)
    try:
        with op2.backend(backend), op2.chain():
            op2.par_loop(MORE, cells, first(op2.RW))
            with pytest.raises(UnsupportedError, match="strategy 'atomic' cannot be used"):
                op2.par_loop(add, edges, sums(op2.INC, ends), strategy="atomic")
            op2.par_loop(MORE, cells, other(op2.RW))
    finally:
        op2.init(deterministic=False)
    assert (first.data_ro[0], sums.data_ro[0], other.data_ro[0]) == (1.0, 0.0, 1.0)


@pytest.mark.parametrize("read", [False, True])
def test_what_stands_before_a_loop_that_cannot_run_has_run(read: bool) -> None:
    """What does not fit is seen when it is compiled; the error has the line of the loop."""
    if not any(b.name == "opencl" and b.available for b in op2.backends()):
        pytest.skip("backends of the host find room for it")
    cells, edges = op2.Set(2), op2.Set(1)
    ends = op2.Map(edges, cells, 2, [[0, 1]])
    first, other, large = op2.Dat(cells), op2.Dat(cells), op2.Dat(cells**400_000)
    add = op2.Kernel("void add(double *x) { x[0] += 1; }", "add")
    line = 0
    with op2.backend("opencl"), pytest.raises(UnsupportedError) as caught, op2.chain():  # noqa: PT012
        op2.par_loop(MORE, cells, first(op2.RW))
        line = sys._getframe().f_lineno + 1
        op2.par_loop(add, edges, large(op2.INC, ends))
        if read:
            first.data_ro  # noqa: B018
        op2.par_loop(MORE, cells, other(op2.RW))
    assert "the backend cannot run it: its arrays take" in str(caught.value)
    assert f"test_chain.py:{line}" in str(caught.value)
    assert (first.data_ro[0], other.data_ro[0]) == (1.0, 0.0)
    assert op2.chain.pending() == ()


def test_many_loops_become_one_function_whose_name_is_not_too_long(backend: str) -> None:
    """PoCL names files after functions: it ended the program."""
    cells = op2.Set(3)
    x = op2.Dat(cells)
    names = [f"a_step_of_a_time_loop_{i}" for i in range(20)]
    kernels = [kernel(f"void {name}(double *x) {{ x[0] += 9.5; }}") for name in names]
    with op2.backend(backend), op2.chain() as chain:
        for one in kernels:
            op2.par_loop(one, cells, x(op2.RW))
    assert len(chain.explain().steps) == 1
    assert x.data_ro.tolist() == [190.0] * 3


@pytest.fixture
def impatient() -> Iterator[None]:
    """Threads change places a hundred times as often."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-5)
    yield
    sys.setswitchinterval(before)


def in_threads(n: int, work: Callable[[int], None]) -> None:
    """Call a function in threads; raise what one of them raises."""
    with ThreadPoolExecutor(n) as pool:
        for done in [pool.submit(work, i) for i in range(n)]:
            done.result(120)


@pytest.mark.usefixtures("exits", "impatient")
@pytest.mark.parametrize("how", ["blocks", "graphs", "zeros"])
def test_threads_may_have_chains_at_the_same_time(how: str, backend: str) -> None:
    cells = op2.Set(50)
    xs = [op2.Dat(cells, np.zeros(50), name=f"x{i}") for i in range(4)]
    seen: dict[int, list[float]] = {i: [] for i in range(4)}

    def step(x: op2.Dat) -> None:
        if how == "zeros":
            x *= 1.0
        for _ in range(2):
            op2.par_loop(MORE, cells, x(op2.RW))

    def work(i: int) -> None:
        graph = op2.record(lambda: step(xs[i])) if how == "graphs" and i % 2 else None
        for _ in range(30):
            if graph is not None:
                graph.submit()
            else:
                with op2.chain():
                    step(xs[i])
            seen[i].append(float(xs[i].data_ro[0]))

    with op2.backend(backend):
        for _ in range(3):
            in_threads(4, work)
    wanted = [2.0 * n for n in range(1, 91)]
    assert list(seen.values()) == [wanted] * 4


@pytest.mark.usefixtures("exits")
@pytest.mark.parametrize("how", ["reads", "writes", "runs a loop", "changes options", "waits"])
def test_other_threads_see_what_waits(how: str, backend: str) -> None:
    cells = op2.Set(3)
    x, y, other = (op2.Dat(cells, np.zeros(3), name=name) for name in ("x", "y", "other"))
    found: list[float] = []

    def work(_: int) -> None:
        if how == "reads":
            found.append(x.data_ro[0])
        elif how == "writes":
            x.data[:] += 1
        elif how == "runs a loop":
            op2.par_loop(MORE, cells, x(op2.RW))
        elif how == "changes options":
            op2.init(threads=3)
        else:
            op2.wait()

    op2.init(threads=2)
    with op2.backend(backend), op2.chain():
        for dat in (x, y):
            op2.par_loop(MORE, cells, dat(op2.RW))
        in_threads(1, lambda _: op2.par_loop(MORE, cells, other(op2.RW)))
        assert op2.chain.pending() == (MORE.name,) * 2  # nobody has asked for them
        in_threads(1, work)
        assert op2.chain.pending() == ()
        op2.par_loop(MORE, cells, x(op2.RW))
    assert x.data_ro.tolist() == [3.0 if how in ("writes", "runs a loop") else 2.0] * 3
    assert y.data_ro.tolist() == other.data_ro.tolist() == [1.0] * 3
    assert found == ([1.0] if how == "reads" else [])
    op2.init(threads=0)


@pytest.mark.usefixtures("exits", "impatient")
@pytest.mark.parametrize("how", ["waits", "waited before", "zero", "cannot wait", "par_loop"])
def test_loops_of_other_chains_come_in_the_order_of_the_calls(how: str, backend: str) -> None:
    cells = op2.Set(3)
    x, y = (op2.Dat(cells, np.zeros(3), name=name) for name in ("x", "y"))
    code = "void to(const double *x, double *y) { y[0] = x[0]; }"
    loop = op2.ParLoop(op2.Kernel(code, "to"), cells, x(op2.READ), y(op2.WRITE))
    kernel = op2.Kernel(code.replace("to(", "again("), "again")

    def work(_: int) -> None:
        with op2.backend(backend), op2.chain():
            op2.par_loop(MORE, cells, x(op2.RW))
            begun.set()
            assert ended.wait(60)

    def call() -> None:
        if how == "par_loop":
            op2.par_loop(kernel, cells, x(op2.READ), y(op2.WRITE))
        elif how == "zero":
            op2.par_loop(MORE, cells, y(op2.RW))
            x.zero()
        else:
            loop.compute()

    held = y.data if how in ("cannot wait", "par_loop") else None
    for n in range(1, 4):
        begun, ended = threading.Event(), threading.Event()
        other = threading.Thread(target=work, args=(0,))
        with op2.backend(backend), op2.chain():
            if how == "waited before":
                call()
            other.start()
            assert begun.wait(60)
            call()
            ended.set()
            other.join()
        wanted = {"zero": 0.0}.get(how, float(n))
        found = x if how == "zero" else y
        assert found.data_ro.tolist() == [wanted] * 3, n
    del held


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("bound", [5, 128])
def test_no_loop_is_lost_if_others_look_meanwhile(bound: int) -> None:
    cells = op2.Set(3)
    x, y = (op2.Dat(cells, np.zeros(3), name=name) for name in "xy")
    total = op2.Global(1, 0.0, name="total")
    more = op2.ParLoop(MORE, cells, x(op2.RW))
    add = op2.Kernel("void add(const double *x, double *t) { t[0] += x[0]; }", "add")
    is_over = threading.Event()
    seen: list[float] = []

    def look(i: int) -> None:
        while not is_over.is_set():
            seen.append(float(x.data_ro[0]) if i else float(total.data_ro[0]))
            op2.wait()

    def record() -> None:
        for i in range(600):
            more.compute()
            op2.par_loop(MORE, cells, y(op2.RW))
            if i % 3 == 0:
                y.zero()
                total.zero()
            op2.par_loop(add, cells, y(op2.READ), total(op2.INC))
            if i % 50 == 0:
                assert x.data_ro[0] == i + 1

    with op2.backend("sequential"), ThreadPoolExecutor(2) as pool:
        others = [pool.submit(look, i) for i in range(2)]
        try:
            with op2.chain(bound=bound):
                record()
        finally:
            is_over.set()
        for other in others:
            other.result(60)
    assert x.data_ro.tolist() == [600.0] * 3
    assert y.data_ro.tolist() == [2.0] * 3
    assert total.data_ro[0] == 3 * (0 + 1 + 2)
    assert len(seen) > 10


@pytest.mark.usefixtures("exits")
def test_a_lazy_program_may_have_threads() -> None:
    cells = op2.Set(3)
    x = op2.Dat(cells, np.zeros(3))
    found: list[float] = []

    def work(_: int) -> None:
        found.append(x.data_ro[0])
        with op2.backend("openmp"), op2.chain():
            op2.par_loop(MORE, cells, x(op2.RW))
            op2.par_loop(MORE, cells, x(op2.RW))
        op2.par_loop(MORE, cells, x(op2.RW))
        found.append(float(not op2.chain.pending()))

    op2.init(lazy=True)
    try:
        op2.par_loop(MORE, cells, x(op2.RW))
        in_threads(1, work)
        op2.par_loop(MORE, cells, x(op2.RW))
        assert op2.chain.pending() == (MORE.name,)
        in_threads(1, lambda _: op2.init(lazy=False))  # for the whole program
        op2.par_loop(MORE, cells, x(op2.RW))
        assert op2.chain.pending() == ()
        op2.init(lazy=True)
        op2.par_loop(MORE, cells, x(op2.RW))
        assert op2.chain.pending() == (MORE.name,)
    finally:
        op2.init(lazy=False)
    assert found == [1.0, 1.0]
    assert x.data_ro.tolist() == [7.0] * 3


@pytest.mark.usefixtures("exits")
def test_loops_of_other_threads_run_at_once() -> None:
    ring = Ring()
    with op2.chain():
        other = threading.Thread(
            target=lambda: op2.par_loop(MORE, ring.cells, ring.dats["r"](op2.RW))
        )
        other.start()
        other.join()
        assert op2.chain.pending() == ()


def test_a_block_in_a_block_runs_what_waits() -> None:
    ring = Ring()
    with op2.chain() as outer:
        op2.par_loop(MORE, ring.cells, ring.dats["q"](op2.RW))
        with op2.chain():
            assert outer.waiting == []
            op2.par_loop(MORE, ring.cells, ring.dats["q"](op2.RW))
        with pytest.raises(UsageError, match="this block is open"), outer:
            pass


def test_chains_keep_no_data_alive() -> None:
    ring = Ring()
    with op2.chain():
        _one_step(ring)
    known = weakref.ref(ring.dats["q"])
    del ring
    gc.collect()
    assert known() is None


def test_loops_that_waited_are_gone_with_their_last_holder() -> None:
    ring = Ring()
    loop = op2.ParLoop(*ring.loops()["more q"])
    for _ in range(3):
        with op2.chain():
            loop.compute()
            ring.dats["r"].zero()
    known = weakref.ref(loop)
    del loop
    assert known() is None  # at once: nothing that it waits in refers to itself


def test_what_is_known_waits_only_as_long_as_it_may(backend: str) -> None:
    """A loop that is recorded each time runs at once while the program holds its values."""
    ring = Ring()
    loop, q, r = op2.ParLoop(*ring.loops()["more q"]), ring.dats["q"], ring.dats["r"]

    def pending() -> list[str]:
        with op2.chain():
            r.zero()
            loop.compute()
            return list(op2.chain.pending())

    first = [pending() for _ in range(3)][-1]
    assert first[-1:] == ["more"]
    values = q.data
    assert "more" not in pending()
    del values
    assert pending() == first
    op2.init(check=True)
    try:
        assert "more" not in pending()
    finally:
        op2.init(check=False)


def test_exit_runs_what_waits() -> None:
    ring = Ring()
    before = ring.dats["q"].data_ro.copy()
    with op2.chain():
        op2.par_loop(MORE, ring.cells, ring.dats["q"](op2.RW))
        op2.exit()
        np.testing.assert_allclose(ring.dats["q"].data_ro, before + 1)


def _random_chain(
    names: list[str],
    passes: list[str],
    strategy: str | None,
    *,
    compare: bool = False,
    is_heavy: bool = False,
    kept: bool = False,
) -> None:
    """Run it twice, as what is known is recorded and run in another way."""
    eager, lazy = Ring(strategy, is_heavy), Ring(strategy, is_heavy)
    actions = lazy.actions(kept=kept)
    record_all_blocks()
    for _ in range(2):
        for name in names:
            eager.actions()[name]()
        with op2.chain(passes=passes, compare=compare):
            for name in names:
                actions[name]()
        assert_alike(eager, lazy)


_NAMES = st.lists(st.sampled_from(sorted(Ring().actions())), min_size=2, max_size=9)
_PASSES = st.lists(st.sampled_from(PASSES), unique=True)


@given(
    names=_NAMES,
    passes=_PASSES,
    strategy=st.sampled_from([None, "owner"]),
    compare=st.booleans(),
    kept=st.booleans(),
)
@settings(max_examples=60)
def test_random_chains_compute_what_their_loops_do(
    names: list[str], passes: list[str], strategy: str | None, compare: bool, kept: bool
) -> None:
    with op2.backend("sequential"):
        _random_chain(names, passes, strategy, compare=compare, kept=kept)


@pytest.mark.slow
def test_random_chains_are_clean_under_sanitizers() -> None:
    """More of them: tests/fuzz/chains.py."""
    done = watch("0", "2")
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.count("== ") == 4
    overrun = watch(OVERRUN)
    assert overrun.returncode != 0
    assert "-buffer-overflow" in overrun.stderr  # of the values that are handed on


@given(names=_NAMES, strategy=st.sampled_from([None, "owner"]))
@settings(max_examples=30, suppress_health_check=[*HealthCheck])
def test_random_chains_on_lanes(names: list[str], strategy: str | None) -> None:
    with op2.backend("sequential"):
        _random_chain(names, list(PASSES), strategy, is_heavy=True)


@given(names=_NAMES)
@settings(max_examples=12, suppress_health_check=[*HealthCheck])
def test_random_chains_on_a_device(device: object, names: list[str]) -> None:
    _random_chain(names, list(PASSES), "owner")


@pytest.fixture
def debugging() -> Iterator[None]:
    """Debug mode, until the test ends."""
    op2.init(debug=True)
    yield
    op2.exit()


class _Forgetful(GroupLoop):
    """A group of which a wrong pass says that its first value need not be stored."""

    def __init__(
        self, loops: Any, inverted: Any, renamed: Any, dropped: Any, *others: Any, **more: Any
    ) -> None:
        super().__init__(loops, inverted, renamed, [*dropped, (0, 0)], *others, **more)


def test_debug_says_where_a_wrong_pass_changes_a_result(debugging: None, monkeypatch: Any) -> None:
    monkeypatch.setattr("pyop2cxx.chain.compile.GroupLoop", _Forgetful)
    ring = Ring()
    ring.dats["p"].data[7] = ring.dats["q"].data[7] * 2  # this one is right all the same
    old = ring.dats["p"].data_ro.copy()
    at = "Dat 'p' on Set 'cells', element 0, component 0"
    with op2.backend("sequential"), op2.chain() as chain:
        ring.run("twice p q")
        ring.run("twice s q")
        assert chain.waiting == ["twice", "twice"]
        with pytest.raises(op2.ChainError, match=at) as found:
            chain.flush()
    error = found.value
    assert (error.loops, error.data, error.passes) == (("twice", "twice"), "p", ("fuse",))
    assert (error.element, error.component) == (0, 0)
    assert (error.value, error.expected) == (old[0], 2 * ring.dats["q"].data_ro[0])
    assert "63 of 64 values differ" in str(error)
    assert "written by 'twice + twice; not stored: p'; passes applied: fuse" in str(error)


def test_a_sum_that_a_chain_gets_wrong_is_found(monkeypatch: Any) -> None:
    ring = Ring()
    add = op2.Kernel("void add(const double *x, double *sum) { sum[0] += x[0]; }", "add")
    run = Compiled.run
    monkeypatch.setattr(Compiled, "run", lambda *given: (run(*given), run(*given)))
    with op2.backend("sequential"), op2.chain(passes=[], compare=True) as chain:
        ring.run("twice p q")
        op2.par_loop(add, ring.cells, ring.dats["p"](op2.READ), ring.sum(op2.INC))
        with pytest.raises(op2.ChainError, match="Global 'sum', component 0") as found:
            chain.flush()
    assert found.value.value == pytest.approx(2 * float(str(found.value.expected)))
    assert "passes applied: none" in str(found.value)


def test_debug_compares_and_a_healthy_chain_passes(debugging: None, backend: str) -> None:
    eager, lazy = Ring(), Ring()
    for _ in range(2):
        _one_step(eager)
        eager.sum.zero()
        with op2.chain() as chain:
            _one_step(lazy)
            lazy.sum.zero()
            assert len(chain.waiting) == 6
    assert_alike(eager, lazy)


def test_check_mode_stops_a_chain_that_compares(debugging: None) -> None:
    ring = Ring()
    root = op2.Kernel("void root(double *y, double *x) { y[0] = 1.0 / x[0]; }", "root")
    ring.dats["q"].data[3] = 0.0
    before = ring.dats["p"].data_ro.copy()
    with op2.backend("sequential"), op2.chain() as chain:
        op2.par_loop(root, ring.cells, ring.dats["p"](op2.WRITE), ring.dats["q"](op2.READ))
        ring.run("twice s q")
        with pytest.raises(op2.CheckError, match=r"element 3 .* became infinite"):
            chain.flush()
    np.testing.assert_array_equal(ring.dats["p"].data_ro, before)


def test_sums_into_globals_start_at_zero_on_devices(device: object) -> None:
    """Also where a loop is alone; a sum that is overwritten before anybody looks is not made."""
    total = op2.Kernel("void total(const double *x, double *s) { s[0] += x[0]; }", "total")
    ring = Ring()
    q = ring.dats["q"]
    ring.sum.data[:] = 7.0

    def run() -> None:
        with op2.chain() as chain:
            for _ in range(2):
                ring.sum.zero()
                op2.par_loop(total, ring.cells, q(op2.READ), ring.sum(op2.INC))
                ring.run("gather")
        found = [(step.zeroed, step.dropped) for step in chain.explain().steps if step.zeroed]
        assert found == [(("sum",), ("sum",)), (("sum",), ())]

    for _ in range(2):
        run()
        np.testing.assert_allclose(ring.sum.data_ro[0], q.data_ro.sum(), rtol=1e-14)


def test_an_exit_within_a_block_of_a_lazy_program_ends_both() -> None:
    op2.init(lazy=True)
    with op2.chain():
        op2.exit()
    assert runtime.recorder is None


def test_memory_on_a_device_stays_a_dats_in_a_chain_of_the_host(device: object) -> None:
    """It may be another library's, which is to see what later loops compute there."""
    n, name = 40, runtime.backend
    cells = op2.Set(n, "cells")
    sides = op2.Map(cells, cells, 2, np.stack([np.arange(n) - 1, np.arange(n) + 1], 1) % n, "sides")
    x, y = op2.Dat(cells, np.arange(float(n)), name="x"), op2.Dat(cells, name="y")
    mean = op2.Kernel("void mean(double *y, const double *x) { y[0] = x[0] + x[1]; }", "mean")
    copy = op2.Kernel("void copy(double *x, const double *y) { x[0] = y[0]; }", "copy")
    expected = x.data_ro.copy()
    for has_copies in (False, True):
        if has_copies:
            x.to_device()
        with op2.backend("sequential"), op2.chain() as chain:
            op2.par_loop(mean, cells, y(op2.WRITE), x(op2.READ, sides))
            op2.par_loop(copy, cells, x(op2.WRITE), y(op2.READ))
        expected = np.roll(expected, 1) + np.roll(expected, -1)
        assert (len(chain.explain().steps) == 1) != has_copies
        assert x.buffer.has_copies == has_copies
    other = op2.Dat(cells, -expected, name="other")
    x.trade(other)
    assert x.buffer.has_copies
    assert runtime.backend == name
    op2.par_loop(copy, cells, y(op2.WRITE), x(op2.READ))
    np.testing.assert_array_equal(y.data_ro, -expected)
    np.testing.assert_array_equal(other.data_ro, expected)


READ_NEXT = kernel("void next(double *y, const double *x) { y[0] = x[0] + x[1]; }")


@pytest.mark.parametrize(
    "look",
    [
        lambda x: x.data_ro,
        lambda x: x.data,
        lambda x: x.data_with_halos,
        lambda x: x._data,
        np.asarray,
        lambda x: _copied(x, "float64"),
        lambda x: _copied(x, "float32"),
    ],
    ids=["data_ro", "data", "data_with_halos", "_data", "asarray", "copy", "copy, converted"],
)
def test_who_looks_at_a_dat_sees_the_memory_that_its_chain_gave_it(look: Any) -> None:
    """A loop that changes what another one still reads writes a second buffer."""
    cells = op2.Set(4)
    ends = op2.Map(cells, cells, 2, [[0, 1], [1, 2], [2, 3], [3, 0]])
    x, y = op2.Dat(cells, np.arange(4) + 1.0), op2.Dat(cells)
    for n in range(1, 4):
        with op2.chain():
            op2.par_loop(READ_NEXT, cells, y(op2.WRITE), x(op2.READ, ends))
            op2.par_loop(MORE, cells, x(op2.RW))
            assert look(x).tolist() == [n + 1.0, n + 2.0, n + 3.0, n + 4.0]
        assert x.data_ro.tolist() == [n + 1.0, n + 2.0, n + 3.0, n + 4.0]


def test_what_is_written_after_a_chain_gave_other_memory_is_kept() -> None:
    cells = op2.Set(4)
    ends = op2.Map(cells, cells, 2, [[0, 1], [1, 2], [2, 3], [3, 0]])
    x, y = op2.Dat(cells, np.arange(4) + 1.0), op2.Dat(cells)
    other = op2.Dat(cells, np.full(4, 9.0))
    for write in (
        lambda: x.data.fill(9.0),
        lambda: x.assign(9.0),
        lambda: other.copy(x),
        lambda: other.copy(x, op2.Subset(cells, range(4))),
    ):
        with op2.chain():
            op2.par_loop(READ_NEXT, cells, y(op2.WRITE), x(op2.READ, ends))
            op2.par_loop(MORE, cells, x(op2.RW))
            write()
        assert x.data_ro.tolist() == [9.0] * 4


def _copied(x: op2.Dat, dtype: str) -> Any:
    other = op2.Dat(x.dataset, dtype=dtype)
    x.copy(other)
    return other.data_ro


def test_a_function_of_python_runs_at_once_in_a_chain() -> None:
    def more(value: Any) -> None:
        value += 1

    cells = op2.Set(3)
    x = op2.Dat(cells, np.ones(3))
    for _ in range(3):
        with op2.chain():
            op2.par_loop(MORE, cells, x(op2.RW))
            op2.par_loop(more, cells, x(op2.RW))
            op2.par_loop(MORE, cells, x(op2.RW))
    assert x.data_ro.tolist() == [10.0] * 3


def test_a_block_that_could_not_begin_does_not_bring_back_one_that_ended() -> None:
    cells = op2.Set(3)
    x = op2.Dat(cells, np.ones(3))
    inner = op2.chain()
    broken = op2.Kernel("void broken(double *x) { x[0] = unknown; }", "broken")

    def begin_within() -> None:
        with op2.chain():
            op2.par_loop(broken, cells, x(op2.RW))
            with inner:
                pass

    with pytest.raises(CompilationError):
        begin_within()
    with inner:
        op2.par_loop(MORE, cells, x(op2.RW))
    assert runtime.recorder is None
    assert x.data_ro.tolist() == [2.0] * 3


NEW = op2.Kernel("void new_values(double *y, const double *x) { y[0] = x[0]; }", "new_values")


@pytest.mark.parametrize(
    "copied", [op2.Dat, copy.deepcopy, lambda dat: pickle.loads(pickle.dumps(dat))]
)
def test_what_waits_counts_where_values_that_nobody_has_seen_are_copied(copied: Any) -> None:
    cells = op2.Set(3)
    x, y = op2.Dat(cells, [1.0, 2.0, 3.0]), op2.Dat(cells)
    with op2.chain():
        op2.par_loop(NEW, cells, y(op2.WRITE), x(op2.READ))
        other = copied(y)
        op2.par_loop(MORE, cells, y(op2.RW))
    assert other.data_ro.tolist() == [1.0, 2.0, 3.0]
    assert y.data_ro.tolist() == [2.0, 3.0, 4.0]


def test_what_waits_counts_where_values_that_nobody_has_seen_are_renumbered() -> None:
    cells, nodes = op2.Set(3), op2.Set(4)
    ends = op2.Map(cells, nodes, 2, [[3, 1], [0, 2], [2, 3]])
    x, y = op2.Dat(nodes, [3.0, 1.0, 0.0, 2.0]), op2.Dat(nodes)
    with op2.chain():
        op2.par_loop(NEW, nodes, y(op2.WRITE), x(op2.READ))
        op2.renumber([ends], [x, y], method="hilbert", coordinates=x)
    assert x.data_ro.tolist() != [3.0, 1.0, 0.0, 2.0]
    assert y.data_ro.tolist() == x.data_ro.tolist()
