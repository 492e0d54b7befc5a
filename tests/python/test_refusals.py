# SPDX-License-Identifier: BSD-3-Clause
"""A chain says why a loop shares no function with others, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyop2cxx import op2
from pyop2cxx.chain.candidate import Candidate
from pyop2cxx.op2 import INC, READ, RW
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("exits")

CELLS, EDGES = op2.Set(64, "cells"), op2.Set(64, "edges")
GHOSTS = op2.Set((60, 62, 64), "ghosts")
ENDS = op2.Map(EDGES, CELLS, 2, [[i, (i + 1) % 64] for i in range(64)], "ends")
ADD = "void add(double *x) { x[0] += 1; }"
SPREAD = "void spread(double *x, const double *y) { x[0] += y[0]; x[1] -= y[0]; }"


def add(code: str = ADD, on: op2.Set = CELLS, loop: dict | None = None, **kernel: object):
    whole = getattr(on, "superset", on)
    made = op2.Kernel(code, "add", **kernel)
    return op2.ParLoop(made, on, op2.Dat(whole)(RW), **(loop or {}))


def spread(on: op2.Set = EDGES, ends: op2.Map = ENDS) -> op2.ParLoop:
    x, y = op2.Dat(CELLS), op2.Dat(ENDS.iterset if ends is ENDS else ends.iterset)
    return op2.ParLoop(op2.Kernel(SPREAD, "spread"), on, x(INC, ends), y(READ))


ALONE: dict[str, tuple[Callable[[], op2.ParLoop], str]] = {
    "verbatim": (lambda: add("void add(double *x) { goto a; a: x[0] += 1; }"), "can be parsed"),
    "headers": (lambda: add(opts=["-DA=1"]), "into its text"),
    "strategy": (lambda: add(loop={"strategy": "direct"}), "leave out strategy=, lanes= and"),
    "lanes": (lambda: add(loop={"lanes": 4}), "leave out strategy=, lanes= and"),
    "ghosts": (lambda: add(on=GHOSTS), "call it outside of the chain"),
}


@pytest.mark.parametrize("case", ALONE)
def test_what_stays_alone_is_told_what_to_change(case: str) -> None:
    op2.init(backend="sequential")
    make, advice = ALONE[case]
    assert advice in Candidate(make()).why_alone


def test_what_is_not_visited_from_its_targets() -> None:
    op2.init(backend="sequential")
    part = op2.Subset(EDGES, [1, 2])
    assert "a loop over the whole Set can be" in Candidate(spread(part)).why_no_invert
    few = op2.Map(op2.Set(4, "few"), CELLS, 2, [[0, 1], [1, 2], [2, 3], [3, 4]], "few_ends")
    assert "leave it as it is" in Candidate(spread(few.iterset, few)).why_no_invert
    assert "strategy='owner' at the loop asks" in Candidate(spread()).why_no_invert
    mat = op2.Mat(op2.Sparsity((CELLS, CELLS), [(ENDS, ENDS, None)]))
    kernel = op2.Kernel("void fill(double *a) { for (int i = 0; i < 4; ++i) a[i] += 1; }", "fill")
    assembles = op2.ParLoop(kernel, EDGES, mat(INC, (ENDS, ENDS)))
    assert "assemble before or behind the chain" in Candidate(assembles).why_no_invert


def test_lanes_that_were_asked_away() -> None:
    op2.init(backend="sequential")
    loop = add(loop={"lanes": 0})
    assert Candidate(loop).why_no_lanes(4).endswith("leave it out")
    assert Candidate(loop).why_no_columns(4).endswith("leave it out")
    assert runtime.backend == "sequential"
