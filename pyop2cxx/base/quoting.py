# SPDX-License-Identifier: BSD-3-Clause
"""The user's text in messages, with a caret below a place, and in HTML."""

from __future__ import annotations

from pyop2cxx.exceptions import UsageError

_IN_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})


def in_html(text: str) -> str:
    """Return a text escaped for HTML and SVG, also in attributes.

    Like ``html.escape``, but that module loads tables of a thousand names.
    """
    return text.translate(_IN_HTML)


def quoted(text: str, line: int, column: int = 0) -> str:
    """Return a line of a text with the number, and a caret below.

    Args:
        text: The whole text.
        line: From 1.
        column: From 1; 0 if unknown, without a caret.

    Returns:
        The lines; empty if the text has no line of the number.
    """
    lines = text.splitlines()
    if not 1 <= line <= len(lines):
        return ""
    shown = lines[line - 1]
    margin = f"  {line} | "
    if column < 1:
        return margin + shown
    # tabs stay tabs, so the caret is placed right for any width of tabs
    blanks = "".join(c if c == "\t" else " " for c in shown[: column - 1].ljust(column - 1))
    return f"{margin}{shown}\n{'| '.rjust(len(margin))}{blanks}^"


def check_text(text: str, what: str, error: type[UsageError] = UsageError) -> str:
    """Return a name or text accepted by files, compilers and C++.

    Args:
        text: The name or text.
        what: Description of the text, for the message.
        error: The class to raise.

    Raises:
        UsageError: The text has a NUL, the end of C strings, or half of a surrogate pair, without
            bytes in UTF-8.
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
