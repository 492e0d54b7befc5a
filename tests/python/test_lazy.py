# SPDX-License-Identifier: BSD-3-Clause
"""Whether the loops of a program wait under ``init(lazy=True)``, as the time passes."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from ring import Ring

from pyop2cxx import op2
from pyop2cxx.chain.lazy import LazyChain
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMES = ("gather", "twice p q", "more r", "set sum")


class _Program:
    """Steps of a program, for which time passes in loops only.

    Args:
        waiting: Seconds of a loop as long as loops are recorded.
        at_once: Those of one as long as they are not.
        kept: Whether its loops are objects.
        look: Whether it looks at values in the middle of each step, which needs a part of what
            waits.
        names: Its loops, and what else a step does.
    """

    def __init__(
        self,
        waiting: float,
        at_once: float,
        *,
        kept: bool,
        look: bool,
        names: tuple[str, ...] = _NAMES,
    ) -> None:
        self.now = 0.0
        self.seconds = at_once, waiting
        self.look = look
        self.names = names
        self.ring, self.eager = Ring(), Ring()
        self.actions = self.ring.actions(kept=kept)
        self.waited: list[bool] = []
        self.n_steps = 0

    def clock(self) -> float:
        return self.now

    def step(self) -> None:
        self.n_steps += 1
        recorder = runtime.lazy_recorder
        for name in self.names:
            self.actions[name]()
            if name.startswith("set"):
                continue
            records = runtime.recorder is recorder and recorder is not None and recorder.records
            self.waited.append(records)
            self.now += self.seconds[records]
            if self.look and name == "twice p q":
                _ = self.ring.dats["p"].data_ro

    def run(self, n: int) -> list[bool]:
        """Which of the loops of some steps waited."""
        before = len(self.waited)
        for _ in range(n):
            self.step()
        return self.waited[before:]

    def check(self) -> None:
        """Compare with the loops one after the other."""
        found = {name: dat.data_ro.copy() for name, dat in self.ring.dats.items()}
        actions = self.eager.actions()
        with runtime.at_once():
            for _ in range(self.n_steps):
                for name in self.names:
                    actions[name]()
            for name, values in found.items():
                np.testing.assert_array_equal(values, self.eager.dats[name].data_ro)
            assert self.ring.sum.data_ro[0] == self.eager.sum.data_ro[0]


@pytest.fixture(params=[False, True], ids=["calls", "objects"])
def kept(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture(params=[False, True], ids=["bound", "looks"])
def look(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Begins a lazy program whose time passes as given."""
    op2.exit()

    def begin(
        waiting: float,
        at_once: float,
        *,
        kept: bool = False,
        look: bool = True,
        names: tuple[str, ...] = _NAMES,
        **options: Any,
    ) -> _Program:
        made = _Program(waiting, at_once, kept=kept, look=look, names=names)
        monkeypatch.setattr("pyop2cxx.chain.lazy.of_program", lambda: LazyChain(made.clock))
        op2.init(lazy=True, backend="sequential", **options)
        return made

    yield begin
    op2.init(lazy=False)
    op2.exit()


def test_loops_run_at_once_where_that_is_faster(start: Any, kept: bool, look: bool) -> None:
    program = start(3e-5, 2e-5, kept=kept, look=look)
    assert all(program.run(60))
    program.run(2500)  # measures
    assert not any(program.run(100))
    assert op2.chain.pending() == ()
    said = str(op2.chain.explain_lazy())
    assert "measured in this program, a loop takes 19.40 us so and 30.00 us recorded" in said
    assert "loops became" in said
    program.check()


def test_loops_wait_where_that_is_faster(start: Any, kept: bool, look: bool) -> None:
    program = start(2e-5, 3e-5, kept=kept, look=look)
    assert not all(program.run(2500))  # measures
    assert all(program.run(100))
    assert "at once" not in str(op2.chain.explain_lazy())
    program.check()


def test_it_is_measured_again_after_a_while(start: Any) -> None:
    program = start(3e-5, 2e-5)
    program.run(2000)
    assert runtime.recorder is None
    program.now += 0.9
    assert not any(program.run(100))
    program.seconds = 3e-5, 2e-5
    program.now += 0.1
    assert not all(program.run(2000))
    assert all(program.run(2000))
    assert "at once" not in str(op2.chain.explain_lazy())
    program.check()


def test_who_does_not_look_is_asked_when_there_are_new_loops(start: Any) -> None:
    program = start(3e-5, 2e-5, look=False)
    program.run(2500)
    assert runtime.recorder is None
    program.now += 2.0
    assert not any(program.run(100))
    for n in range(40):
        x = op2.Dat(op2.Set(2), [1.0, 2.0], name=f"x{n}")
        op2.par_loop(*program.ring.loops()["more q"][:1], x.dataset.set, x(op2.RW))
    assert op2.chain.pending() != ()
    program.check()


_JOINED = ("twice p q", "twice s q", "more r", "more q") * 3
_APART = ("gather", "twice p q")
"""Of these nothing is joined, so that the model says that recording them does not pay."""


@pytest.mark.parametrize("seconds", [(3e-5, 2e-5), (2e-5, 3e-5)])
def test_the_model_decides_where_results_must_not_depend_on_time(
    start: Any, kept: bool, seconds: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Program, "clock", lambda _: pytest.fail("the time was asked for"))
    program = start(*seconds, kept=kept, names=_APART, deterministic=True)
    assert all(program.run(64))
    n_looks = 4096
    assert not any(program.run(n_looks - 100))
    said = str(op2.chain.explain_lazy())
    assert "at once: to record these loops costs about 1.6 us each time that they run" in said
    assert runtime.recorder is None
    waited = program.run(300)  # is looked at again, and for longer then not
    assert waited.index(True) in (2 * 98, 2 * 99)  # loops that get ready count, too
    assert sum(waited) == 2 * 64
    assert not any(program.run(2 * n_looks - 200))
    program.check()


@pytest.mark.parametrize("look", [False, True], ids=["bound", "looks"])
def test_what_pays_by_the_model_waits_however_long_it_takes(start: Any, look: bool) -> None:
    program = start(3e-5, 2e-5, look=look, names=_JOINED, deterministic=True)
    assert all(program.run(500))
    assert "at once" not in str(op2.chain.explain_lazy())
    program.check()


def test_other_options_are_measured_anew(start: Any) -> None:
    program = start(3e-5, 2e-5)
    program.run(2000)
    assert runtime.recorder is None
    op2.init(threads=2)
    program.run(2)
    assert all(program.run(50))
    program.check()


def test_a_program_that_does_not_repeat_waits(start: Any) -> None:
    program = start(3e-5, 2e-5)
    more = program.ring.loops()["more q"][0]
    for n in range(30):
        program.run(10)
        x = op2.Dat(op2.Set(2), [1.0, 2.0], name=f"x{n}")
        op2.par_loop(more, x.dataset.set, x(op2.RW))
        assert x.data_ro[0] == 2.0
    assert all(program.waited)


def test_blocks_and_graphs_while_loops_run_at_once(start: Any) -> None:
    program = start(3e-5, 2e-5)
    program.run(2000)
    ring = program.ring
    with op2.chain():
        ring.run("more q")
        assert op2.chain.pending() == ("more",)
    assert runtime.recorder is None
    graph = op2.record(lambda: ring.run("more q"))
    before = ring.dats["q"].data_ro.copy()
    program.now += 5.0
    graph.submit()
    with runtime.at_once():
        for _ in range(100):
            _ = ring.dats["q"].data_ro
        assert runtime.recorder is None
    np.testing.assert_array_equal(ring.dats["q"].data_ro, before + 1)


def test_loops_at_once_of_other_threads_wake_nobody(start: Any) -> None:
    """What another thread runs at once leaves this one's loops to be measured again."""
    program = start(3e-5, 2e-5)
    within, may_go = threading.Event(), threading.Event()

    def at_once() -> None:
        with runtime.at_once():
            within.set()
            may_go.wait(60)

    other = threading.Thread(target=at_once)
    other.start()
    try:
        assert within.wait(60)
        program.run(2000)
        assert runtime.recorder is None
    finally:
        may_go.set()
        other.join()
    program.now += 5.0
    assert any(program.run(100))
    program.check()


def test_lazy_is_switched_off_by_another_thread_while_loops_run_at_once(start: Any) -> None:
    program = start(3e-5, 2e-5)
    program.run(2000)
    assert runtime.recorder is None
    other = threading.Thread(target=lambda: op2.init(lazy=False))
    other.start()
    other.join()
    program.now += 5.0
    assert not any(program.run(100))
    program.check()


def test_lazy_is_switched_off_and_on_while_loops_run_at_once(start: Any) -> None:
    program = start(3e-5, 2e-5)
    program.run(2000)
    assert runtime.recorder is None
    op2.init(lazy=False)
    program.now += 5.0
    assert not any(program.run(100))
    assert str(op2.chain.explain_lazy()) == "no loops ran"
    op2.init(lazy=True)
    assert all(program.run(20))
    program.check()
