# SPDX-License-Identifier: BSD-3-Clause
"""Unclosed brackets, quotes and comments, invalid anywhere in C."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import NamedTuple

from pyop2cxx.kernel.parser.tokens import COMMENT, STRING

_SKIPPED = re.compile(f"{COMMENT}|{STRING}", re.DOTALL)
_PIECE = re.compile(
    rf"(?P<skip>{_SKIPPED.pattern})|(?P<open>/\*|[\"'])|(?P<bracket>[()\[\]{{}}])", re.DOTALL
)
_OTHER = re.compile(r"[^()\[\]{}\"']+")
_OPENER = {")": "(", "]": "[", "}": "{"}


class Mistake(NamedTuple):
    """A mistake and the place.

    Attributes:
        what: The sentence.
        row: Of the text, from 0.
        column: From 0.
    """

    what: str
    row: int
    column: int


class _Bracket(NamedTuple):
    """An open bracket.

    Attributes:
        character: The bracket.
        row: Of the text, from 0.
        column: From 0.
        indent: Blanks before the first word of the line.
    """

    character: str
    row: int
    column: int
    indent: int


def mistake_in(text: str) -> Mistake | None:
    """Return the first bracket, quote or comment of C text without a counterpart.

    If a brace is missing, the unclosed brace is guessed from the indentation.
    """
    return None if _is_whole(text) else _first_mistake(text)


def _is_whole(text: str) -> bool:
    """Return whether nothing is left open, faster than finding the place."""
    bare = _SKIPPED.sub(" ", text)
    if "/*" in bare:
        return False
    opened: list[str] = []
    for character in _OTHER.sub("", bare):
        if character in "([{":
            opened.append(character)
        elif not opened or opened.pop() != _OPENER.get(character):  # a quote has none
            return False
    return not opened


def _first_mistake(text: str) -> Mistake | None:
    rows = text.split("\n")
    starts = list(accumulate((len(line) + 1 for line in rows), initial=0))
    opened: list[_Bracket] = []
    odd: tuple[_Bracket, int] | None = None
    row = 0
    for piece in _PIECE.finditer(text):
        if piece.group("skip") is not None:
            continue
        while starts[row + 1] <= piece.start():
            row += 1
        character, column = piece.group(), piece.start() - starts[row]
        if piece.group("open") is not None:
            return Mistake(f"{character} is never closed", row, column)
        here = _Bracket(character, row, column, len(rows[row]) - len(rows[row].lstrip()))
        if character not in _OPENER:
            opened.append(here)
            continue
        wrong = _unmatched(opened, here)
        if wrong is not None:
            return wrong
        closed = opened.pop()
        if odd is None and _ends_an_outer_one(closed, here, opened):
            odd = closed, row
    return _left_open(opened, odd)


def _unmatched(opened: list[_Bracket], here: _Bracket) -> Mistake | None:
    wanted = _OPENER[here.character]
    if opened and opened[-1].character == wanted:
        return None
    if not any(one.character == wanted for one in opened):
        return Mistake(f"'{here.character}' closes nothing", here.row, here.column)
    inner = opened[-1]
    what = f"'{inner.character}' is never closed: a '{here.character}' follows first"
    return Mistake(what, inner.row, inner.column)


def _ends_an_outer_one(closed: _Bracket, here: _Bracket, opened: list[_Bracket]) -> bool:
    """Return whether a brace at the start of a line is aligned with another than its opener."""
    return (
        here.character == "}"
        and here.column == here.indent < closed.indent
        and any(one.indent == here.indent for one in opened)
    )


def _left_open(opened: list[_Bracket], odd: tuple[_Bracket, int] | None) -> Mistake | None:
    if not opened:
        return None
    found = opened[-1]
    if found.character == "{" and odd is not None:
        found = odd[0]
    return Mistake(f"'{found.character}' is never closed", found.row, found.column)
