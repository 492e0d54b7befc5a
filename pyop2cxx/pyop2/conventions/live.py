# SPDX-License-Identifier: BSD-3-Clause
"""Whether a kernel looks at values that the loop says it only increments.

Kernels of 2013 and 2016 got pointers to the values themselves, so one that reads or assigns an INC
argument worked on what was there; today's holds this element's share only. Where the text shows
such a use the argument is passed as RW. What is handed to another function counts as an increment.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from pyop2cxx.kernel.parser.tokens import token_stream

if TYPE_CHECKING:
    from collections.abc import Sequence

_INCREMENTS = ("+=", "-=", "++", "--")
_CLOSING = {"(": ")", "[": "]", "{": "}"}


@lru_cache(maxsize=256)
def uses_value(code: str, function: str, parameter: str, depth: int) -> bool:
    """Say whether a function surely reads or assigns what a parameter points to.

    Args:
        code: C text.
        function: Defined in it.
        parameter: Its name.
        depth: Of pointers: 1 of ``T *``, 2 of ``T **``.

    Example:
        >>> uses_value("void k(double *x) { *x += 1; }", "k", "x", 1)
        False
        >>> uses_value("void k(double *x) { if (*x == 0) *x += 1; }", "k", "x", 1)
        True
    """
    tokens = _body(token_stream(code), function)
    return any(token == parameter and _is_use(tokens, at, depth) for at, token in enumerate(tokens))


def _body(tokens: Sequence[str], function: str) -> Sequence[str]:
    """Return the tokens between the braces of a function; none if it is not found."""
    for at, token in enumerate(tokens[:-1]):
        if token == function and tokens[at + 1] == "(":
            start = _after(tokens, at + 1)
            if start < len(tokens) and tokens[start] == "{":
                return tokens[start + 1 : _after(tokens, start) - 1]
    return ()


def _after(tokens: Sequence[str], at: int) -> int:
    """Return where the tokens go on after a bracket and what it holds."""
    opening, depth = tokens[at], 0
    for i in range(at, len(tokens)):
        depth += (tokens[i] == opening) - (tokens[i] == _CLOSING[opening])
        if depth == 0:
            return i + 1
    return len(tokens)


def _is_use(tokens: Sequence[str], at: int, depth: int) -> bool:
    before, after = at - 1, at + 1
    while after < len(tokens) and tokens[after] == "[":
        after = _after(tokens, after)
        depth -= 1
    while depth > 0 and before >= 0 and tokens[before] == "*":
        before -= 1
        depth -= 1
    while before >= 0 and after < len(tokens) and (tokens[before], tokens[after]) == ("(", ")"):
        if before > 0 and _is_name(tokens[before - 1]):
            break  # of a call
        before, after = before - 1, after + 1
    if depth > 0:
        return False  # a pointer, for somebody else
    is_increment = after < len(tokens) and tokens[after] in _INCREMENTS
    return not is_increment and not (before >= 0 and tokens[before] in ("++", "--"))


def _is_name(token: str) -> bool:
    return token.isidentifier() and token not in ("return", "if", "while", "switch")
