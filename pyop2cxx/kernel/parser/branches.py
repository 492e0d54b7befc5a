# SPDX-License-Identifier: BSD-3-Clause
"""Lines of a text in taken branches of ``#if``, found by marks in the branches."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from pyop2cxx.kernel.parser.tokens import COMMENT, STRING, substitute

if TYPE_CHECKING:
    from collections.abc import Sequence

_HIDDEN = re.compile(rf"{STRING}|(?P<comment>{COMMENT})", re.DOTALL)
_CONDITION = re.compile(
    r"^[ \t\v]*(?:#|%:)[ \t\v]*(?:if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b"
    r"(?:\\\r?\n|[^\n])*",
    re.MULTILINE,
)
_RENUMBERS = re.compile(r"^[ \t]*#[ \t]*(?:line\b|\d)[^\n]*", re.MULTILINE)
_DEFINES = re.compile(r"[ \t]*#[ \t]*define\b")
_PREFIX = "op2_branch_"
_NAME = f"{_PREFIX}{{}}_is_taken"
_MARK = re.compile(rf"[ \t]*{_NAME}[ \t]*".format(r"(\d+)"))
_ANY = re.compile(r"[^\n]+")


class Marked(NamedTuple):
    """A text with a line behind each condition.

    Attributes:
        text: With the marks.
        ends: Where each condition begins and ends in the text without marks.
    """

    text: str
    ends: tuple[tuple[int, int], ...]


def numbered(text: str) -> str:
    """Return a text without ``#line`` and ``__LINE__``: lines are counted plainly."""
    text = _RENUMBERS.sub("", text)
    if "__LINE__" not in text:
        return text
    lines = enumerate(text.split("\n"), 1)
    return "\n".join(
        line if _DEFINES.match(line) else substitute(line, {"__LINE__": str(n)})
        for n, line in lines
    )


def marked(text: str) -> Marked:
    """Put a mark behind each ``#if``, ``#elif``, ``#else`` and ``#endif`` of C or C++."""
    ends = tuple(found.span() for found in _CONDITION.finditer(without_comments(text)))
    parts, before = [], 0
    for i, (_, end) in enumerate(ends):
        parts.append(f"{text[before:end]}\n{_NAME.format(i)}")
        before = end
    return Marked("".join((*parts, text[before:])), ends)


def lines_of(text: str) -> list[int]:
    """Return the line, from 1, in the text without marks of each line of a text with marks."""
    lines, line = [], 0
    for row in text.split("\n"):
        line += _MARK.fullmatch(row) is None
        lines.append(line)
    return lines


def found_in(rows: Sequence[str]) -> tuple[frozenset[int], list[str]]:
    """Return the marks in some lines, and the lines without them, empty if there is no more."""
    marks = {int(mark) for row in rows if _PREFIX in row for mark in _MARK.findall(row)}
    return frozenset(marks), [_MARK.sub("", row) if _PREFIX in row else row for row in rows]


def resolved(text: str, conditions: Marked, taken: frozenset[int]) -> str:
    """Return a text without conditions and branches not taken; lines keep their numbers.

    Args:
        text: The text without marks.
        conditions: Result of `marked`.
        taken: Marks left by a preprocessor.
    """
    parts, before, is_live = [], 0, True
    for i, (begin, end) in enumerate(conditions.ends):
        parts.append(text[before:begin] if is_live else _ANY.sub("", text[before:begin]))
        parts.append(_ANY.sub("", text[begin:end]))
        before, is_live = end, i in taken
    parts.append(text[before:] if is_live else _ANY.sub("", text[before:]))
    return "".join(parts)


@lru_cache(maxsize=1)
def without_comments(text: str) -> str:
    """Return a text of equal length with blanks for comments, without line ends inside them."""
    return _HIDDEN.sub(_blank, text) if "/" in text else text


def _blank(match: re.Match[str]) -> str:
    comment = match.group("comment")
    return match.group() if comment is None else re.sub(r"[^\n]", " ", comment).replace("\n", "\v")
