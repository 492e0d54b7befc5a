# SPDX-License-Identifier: BSD-3-Clause
"""How entries repeat."""

from __future__ import annotations

from pyop2cxx.chain.periods import period_of, whole_periods


def test_whole_repetitions_are_found() -> None:
    found = {keys: whole_periods(keys) for keys in ("", "a", "aaa", "ababa", "abcab", "xababab")}
    assert found == {"": 0, "a": 1, "aaa": 3, "ababa": 4, "abcab": 5, "xababab": 7}


def test_a_period_is_where_the_first_ones_come_again() -> None:
    found = {keys: period_of(keys) for keys in ("", "abc", "abab", "abcab", "aaaa")}
    assert found == {"": 0, "abc": 3, "abab": 2, "abcab": 3, "aaaa": 1}
