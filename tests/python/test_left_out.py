# SPDX-License-Identifier: BSD-3-Clause
"""What `explain` says of what chains leave out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from ring import Ring, kernel, record_all_blocks

from pyop2cxx import op2
from pyop2cxx.chain.compile import PASSES
from pyop2cxx.chain.unapplied import NO_PASSES, lines_on
from pyop2cxx.exceptions import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


@pytest.mark.parametrize("name", sorted(NO_PASSES))
def test_who_asks_for_what_is_no_pass_is_told_what_there_is(name: str) -> None:
    assert name not in PASSES
    with pytest.raises(UsageError, match=f"there is no pass '{name}'.*'{name}': ") as raised:
        op2.chain(passes=["fuse", name])
    assert NO_PASSES[name] in str(raised.value)


def _explained_actions(actions: Iterable[Callable[[], object]]) -> str:
    record_all_blocks()
    with op2.backend("sequential"), op2.chain() as chain:
        for do in actions:
            do()
    return str(chain.explain())


def _explained(ring: Ring, *names: str) -> str:
    return _explained_actions(ring.actions()[name] for name in names)


def test_a_chain_of_one_step_says_that_several_could_be_joined() -> None:
    once = _explained(Ring(), "twice p q", "more r")
    assert "rotate: these loops come once" in once
    twice = _explained(Ring(), "twice p q", "more r", "twice p q", "more r")
    assert "rotate: twice joins twice + more of the step before" in twice
    apart = _explained(Ring(), "gather", "step", "gather", "step")
    assert "rotate: the same comes again after 2 loops, and none of them joins" in apart
    assert "rotate" not in _explained(Ring(), "more r")


def test_what_no_other_function_gathers_is_not_weighed() -> None:
    assert "recompute: " in _explained(Ring(), "twice p q", "spread s")
    assert "recompute" not in _explained(Ring(), "twice p q", "twice s q")
    assert "recompute" not in _explained(Ring(), "twice p q", "set p", "spread")


_HARD = kernel(
    "void hard(double *y, const double *x) "
    "{ double v = x[0]; for (int i = 0; i < 30; ++i) v = v / (v + 1.5); y[0] = v; }"
)
_BOTH = kernel(
    "void both(double *r, const double *p, const double *q) "
    "{ r[0] += p[1] - q[1]; r[1] -= p[0] - q[0]; }"
)


@pytest.mark.parametrize("make", ["hard", "twice"])
def test_operations_are_compared_with_bytes(make: str) -> None:
    """Where readers cannot compute a value, it is still said whether that would pay."""
    ring = Ring()
    p, q, r, _ = ring.dats.values()
    first = ring.loops()["twice p q"]
    if make == "hard":
        first = (_HARD, *first[1:])
    loops = [
        op2.ParLoop(*first, strategy="direct"),
        op2.ParLoop(
            _BOTH, ring.edges, r(op2.INC, ring.ends), p(op2.READ, ring.ends), q(op2.READ, ring.ends)
        ),
    ]
    text = _explained_actions(loop.compute for loop in loops)
    assert "operations for each byte saved" in text
    assert ("where 3.3 is what a GPU has" in text) == (make == "hard")
    why = "which could pay, but its strategy, its lanes or its tuning were asked for"
    assert (why in text) == (make == "twice")


def test_bytes_decide_where_readers_lack_what_values_are_made_of() -> None:
    """Of all readers together: the value is stored as long as one of them reads it."""
    ring = Ring()
    p, q, r, _ = ring.dats.values()
    pair = kernel("void pair(double *p, const double *e) { p[0] = e[0] + e[1]; }")
    sides = op2.Map(ring.cells, ring.edges, 2, [[i, (i + 1) % 64] for i in range(64)], "sides")
    loops = [
        op2.ParLoop(pair, ring.cells, p(op2.WRITE), ring.flux(op2.READ, sides)),
        op2.ParLoop(*ring.loops()["spread s"]),
        op2.ParLoop(
            _BOTH, ring.edges, r(op2.INC, ring.ends), p(op2.READ, ring.ends), q(op2.READ, ring.ends)
        ),
    ]
    text = _explained_actions(loop.compute for loop in loops)
    (line,) = [line for line in text.splitlines() if "recompute:" in line]
    assert "p, which spread and both read through a Map, is stored" in line
    assert "flux by a Map that leads where pair goes by 'sides'" in line


def test_nothing_is_said_of_nothing() -> None:
    assert lines_on([], [], [], [], [], {}) == ()
