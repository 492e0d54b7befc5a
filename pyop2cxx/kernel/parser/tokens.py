# SPDX-License-Identifier: BSD-3-Clause
"""The token stream of a kernel, from which the key is made: blanks and comments do not count."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

STRING = r'"(?:\\.|[^"\\\n])*"' + r"|'(?:\\.|[^'\\\n])*'"
COMMENT = r"/\*.*?\*/|//[^\n]*"
_RAW_STRING = r'R"(?P<fence>[^()\\\s]*)\(.*?\)(?P=fence)"'
_WORD = r"(?<![\w.])\.?\d(?:[eEpP][+-]|[\w.])*|\w+"
_SIGN = r"\.\.\.|<<=|>>=|->\*?|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|##|::|."
_BLANK = rf"[ \t\r\f\v\n]+|{COMMENT}"
_PLAIN_TOKEN = re.compile(rf"{_BLANK}|({STRING}|{_WORD}|{_SIGN})", re.DOTALL)
_TOKEN = re.compile(
    rf"(?P<skip>{_BLANK})|(?P<token>{_RAW_STRING}|{STRING}|{_WORD}|{_SIGN})", re.DOTALL
)
_LINE_WITH_HASH = re.compile(r"^([ \t]*#(?!#)[^\n]*(?:\n|\Z))", re.MULTILINE)
_CONTINUED = re.compile(r"\\\r?\n")


def token_stream(text: str) -> tuple[str, ...]:
    """Return the tokens of C or C++ `text`; the end of a preprocessor line counts as a token."""
    text = _CONTINUED.sub(" ", text)
    if 'R"' in text:
        return _with_directives(text)
    parts = _LINE_WITH_HASH.split(text) if "#" in text else [text]
    if any("#" in part for part in parts[::2]) or (len(parts) > 1 and "/*" in text):
        return _with_directives(text)
    stream: list[str] = []
    for i, part in enumerate(parts):  # directives at odd places
        stream += filter(None, _PLAIN_TOKEN.findall(part))
        if part.endswith("\n") and i % 2:
            stream.append("\n")
    return tuple(stream)


def _with_directives(text: str) -> tuple[str, ...]:
    stream = []
    in_directive = False
    line_is_fresh = True
    for match in _TOKEN.finditer(text):
        if match.lastgroup == "skip" or match.group("skip") is not None:
            if "\n" in match.group():
                line_is_fresh = True
                if in_directive:
                    stream.append("\n")
                in_directive = False
            continue
        token = match.group("token")
        in_directive = in_directive or (line_is_fresh and token == "#")
        line_is_fresh = False
        stream.append(token)
    return tuple(stream)


def tokens_with_rows(text: str) -> Iterator[tuple[str, int]]:
    """Yield the tokens of C or C++ `text`, without directives, and their rows, from 0."""
    row, fresh_until, directive_until = 0, 0, -1
    for match in _TOKEN.finditer(text):
        token = match.group("token")
        at = match.start()
        if token == "#" and not text[text.rfind("\n", 0, at) + 1 : at].strip():
            directive_until = _end_of_directive(text, at)
        row += text.count("\n", fresh_until, at)
        fresh_until = at
        if token is not None and at >= directive_until:
            yield token, row


def _end_of_directive(text: str, at: int) -> int:
    """Return the end of a directive: the first line end without a backslash."""
    end = text.find("\n", at)
    while end > 0 and text[max(end - 2, 0) : end].rstrip("\r").endswith("\\"):
        end = text.find("\n", end + 1)
    return len(text) if end < 0 else end


def substitute(text: str, replacements: Mapping[str, str]) -> str:
    """Replace whole identifiers of `text`, but not inside comments, strings and characters."""
    names = "|".join(re.escape(name) for name in replacements)
    pattern = re.compile(rf"{COMMENT}|{STRING}|\b(?P<name>{names})\b", re.DOTALL)

    def replaced(match: re.Match[str]) -> str:
        name = match.group("name")
        return match.group() if name is None else replacements[name]

    return pattern.sub(replaced, text)
