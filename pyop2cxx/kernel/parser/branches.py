# SPDX-License-Identifier: BSD-3-Clause
"""Which lines of a text stand in branches of ``#if`` that are taken: a mark in each tells."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from pyop2cxx.kernel.parser.tokens import COMMENT, STRING

if TYPE_CHECKING:
    from collections.abc import Sequence

_HIDDEN = re.compile(rf"{STRING}|(?P<comment>{COMMENT})", re.DOTALL)
_CONDITION = re.compile(
    r"^[ \t\v]*#[ \t\v]*(?:if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b"
    r"(?:\\\r?\n|[^\n])*",
    re.MULTILINE,
)
_NAME = "op2_branch_{}_is_taken"
_MARK = re.compile(rf"[ \t]*{_NAME}[ \t]*".format(r"(\d+)"))
_ANY = re.compile(r"[^\n]+")


class Marked(NamedTuple):
    """A text with a line behind each of its conditions.

    Attributes:
        text: With the marks.
        ends: Where each condition begins and ends in the text without marks.
    """

    text: str
    ends: tuple[tuple[int, int], ...]


def marked(text: str, *, numbers: bool) -> Marked:
    """Put a mark behind each ``#if``, ``#elif``, ``#else`` and ``#endif``.

    Args:
        text: C or C++.
        numbers: Whether a ``#line`` follows each mark, so that lines keep their numbers.
    """
    ends = tuple(found.span() for found in _CONDITION.finditer(_without_comments(text)))
    parts, before, line = [], 0, 1
    for i, (_, end) in enumerate(ends):
        parts.append(text[before:end])
        line += parts[-1].count("\n")
        parts.append(f"\n{_NAME.format(i)}" + (f"\n#line {line + 1}" if numbers else ""))
        before = end
    parts.append(text[before:])
    return Marked("".join(parts), ends)


def lines_of(text: str) -> list[int]:
    """Return the line, from 1, in the text without marks of each line of a text with marks."""
    lines, line = [], 0
    for row in text.split("\n"):
        line += _MARK.fullmatch(row) is None
        lines.append(line)
    return lines


def found_in(rows: Sequence[str]) -> tuple[frozenset[int], list[int]]:
    """Return the marks in some lines, and the places of the lines that are none."""
    marks = [_MARK.fullmatch(row) for row in rows]
    taken = frozenset(int(mark.group(1)) for mark in marks if mark is not None)
    return taken, [i for i, mark in enumerate(marks) if mark is None]


def resolved(text: str, conditions: Marked, taken: frozenset[int]) -> str:
    """Return a text without conditions and branches not taken; lines keep their numbers.

    Args:
        text: The text without marks.
        conditions: What `marked` said of it.
        taken: The marks that a preprocessor has left.
    """
    parts, before, is_live = [], 0, True
    for i, (begin, end) in enumerate(conditions.ends):
        parts.append(text[before:begin] if is_live else _ANY.sub("", text[before:begin]))
        parts.append(_ANY.sub("", text[begin:end]))
        before, is_live = end, i in taken
    parts.append(text[before:] if is_live else _ANY.sub("", text[before:]))
    return "".join(parts)


def _without_comments(text: str) -> str:
    """Return a text of the same length with blanks for comments, in which no line ends."""
    return _HIDDEN.sub(_blank, text) if "/" in text else text


def _blank(match: re.Match[str]) -> str:
    comment = match.group("comment")
    return match.group() if comment is None else re.sub(r"[^\n]", " ", comment).replace("\n", "\v")
