# SPDX-License-Identifier: BSD-3-Clause
"""The user's text in messages, with a caret under the place that it is about, and in HTML."""

from __future__ import annotations

from pyop2cxx.exceptions import UsageError

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


def check_text(text: str, what: str, error: type[UsageError] = UsageError) -> str:
    """Return a name or text that files, compilers and C++ can hold.

    Args:
        text: The name or text.
        what: What it is, for the message.
        error: The class to raise.

    Raises:
        UsageError: It has a NUL, which ends strings of C, or half of a surrogate pair, which UTF-8
            has no bytes for.
    """
    if "\0" in text:
        shown = _around(text, text.index("\0"))
        raise error(f"{what} must not contain a NUL character, got {shown}")
    try:
        text.encode()
    except UnicodeEncodeError as found:
        raise error(
            f"{what} must be text that UTF-8 can hold, but it has a lone surrogate, got "
            f"{_around(text, found.start)}"
        ) from None
    return text


def _around(text: str, place: int) -> str:
    shown = ascii(text[max(place - 20, 0) : place + 20])
    row = text.count("\n", 0, place)
    return f"{shown} in line {row + 1}" if row else shown
