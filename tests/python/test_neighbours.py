# SPDX-License-Identifier: BSD-3-Clause
"""Similar measured loops: which are near, and when they are trusted."""

from __future__ import annotations

from typing import Any

import pytest

from pyop2cxx.runtime.neighbours import Traits, neighbours
from pyop2cxx.runtime.tuned_file import LOOP, Entry, text_of


def entry(operations: int, lanes: int = 4, size: int = 9, **times: float) -> Entry:
    way: dict[str, Any] = {"strategy": "direct", "lanes": lanes, "tuning": {}}
    usual = {**way, "lanes": 0}
    known = {text_of(way): 1.0, text_of(usual): 3.0} | times
    return Entry(
        kind=LOOP,
        key=f"{operations}",
        size=size,
        name=f"loop{operations}",
        way=way,
        us=known[text_of(way)],
        rule_us=3.0,
        times=known,
        traits=Traits("shape", (operations, 8, 0)).stored(),
    )


def test_the_two_nearest_answer() -> None:
    found = neighbours([entry(60), entry(80), entry(110)], Traits("shape", (100, 8, 0)), 9)
    assert found is not None
    assert [one.name for one in found] == ["loop110", "loop80"]


@pytest.mark.parametrize(
    "known",
    [
        [],
        [entry(80)],
        [entry(80), entry(110)],  # nothing is shown by others
        [entry(80), entry(110), entry(110, size=8)],  # two sizes of one loop
        [entry(60), entry(80), entry(110, lanes=8)],  # other ways
        [entry(60), entry(80), entry(300)],  # one is too far to be predicted, or to predict
        [entry(80, size=20), entry(90, size=20), entry(110, size=20)],  # other sizes
        [entry(80, lanes=0), entry(90, lanes=0), entry(110, lanes=0)],  # the rules' way
        [entry(80), entry(110), entry(105, lanes=8, **{"direct, 4 lanes": 90.0})],  # they mislead
    ],
)
def test_else_the_rules_decide(known: list[Entry]) -> None:
    assert neighbours(known, Traits("shape", (100, 8, 0)), 9) is None


def test_another_shape_is_no_neighbour() -> None:
    assert neighbours([entry(60), entry(80), entry(110)], Traits("other", (100, 8, 0)), 9) is None
    assert neighbours([entry(60), entry(80), entry(110)], Traits("shape", (100, 8)), 9) is None
