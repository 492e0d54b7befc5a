# SPDX-License-Identifier: BSD-3-Clause
"""The user's text in messages, with a caret under the place that it is about, and in HTML."""

from __future__ import annotations

_IN_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})


def in_html(text: str) -> str:
    """Return a text so that HTML and SVG show it as it is, also in an attribute.

    As ``html.escape``, whose package loads tables of a thousand names while we are imported.
    """
    return text.translate(_IN_HTML)


def quoted(text: str, line: int, column: int = 0) -> str:
    """Return a line of a text with its number, and a caret below.

    Args:
        text: The whole text.
        line: From 1.
        column: From 1; 0 if it is not known, for no caret.

    Returns:
        One or two lines; empty if the text has no such line.
    """
    lines = text.splitlines()
    if not 1 <= line <= len(lines):
        return ""
    shown = lines[line - 1]
    margin = f"  {line} | "
    if column < 1:
        return margin + shown
    # tabs stay tabs, so that the caret stands below whatever a tab is worth
    blanks = "".join(c if c == "\t" else " " for c in shown[: column - 1].ljust(column - 1))
    return f"{margin}{shown}\n{'| '.rjust(len(margin))}{blanks}^"
