# SPDX-License-Identifier: BSD-3-Clause
"""The user's text in messages and in HTML."""

from __future__ import annotations

from html import escape

import pytest

from pyop2cxx.base.quoting import in_html, quoted

TEXT = "first\n\tif (x) {\n    third\n"


@pytest.mark.parametrize(
    ("line", "column", "wanted"),
    [
        (1, 0, "  1 | first"),
        (1, 1, "  1 | first\n    | ^"),
        (2, 5, "  2 | \tif (x) {\n    | \t   ^"),
        (3, 10, "  3 |     third\n    |          ^"),
        (3, 12, "  3 |     third\n    |            ^"),
        (0, 1, ""),
        (4, 1, ""),
    ],
)
def test_a_caret_stands_below_its_place(line: int, column: int, wanted: str) -> None:
    assert quoted(TEXT, line, column) == wanted


def test_the_margin_is_as_wide_as_the_number() -> None:
    assert quoted("\n" * 99 + "x", 100, 1) == "  100 | x\n      | ^"


@pytest.mark.parametrize("text", ["", "plain", "<b> & \"x\" 'y'", "&amp;", "a\n<ü>"])
def test_html_shows_a_text_as_it_is(text: str) -> None:
    assert in_html(text) == escape(text)
