# SPDX-License-Identifier: BSD-3-Clause
"""Detection of kernels that read arguments declared as increments.

Kernels of 2013 and 2016 got pointers to the values in place, so reading or assigning an INC
argument used the old values; today's argument holds only the element's share. If the text shows a
read or an assignment, the argument is passed as RW. Arguments passed to other functions count as
increments.
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
    """Return whether a function surely reads or assigns the target of a parameter.

    Args:
        code: C text.
        function: A function defined in the text.
        parameter: Name of the parameter.
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
    """Return the tokens between the braces of a function; empty if not found."""
    for at, token in enumerate(tokens[:-1]):
        if token == function and tokens[at + 1] == "(":
            start = _after(tokens, at + 1)
            if start < len(tokens) and tokens[start] == "{":
                return tokens[start + 1 : _after(tokens, start) - 1]
    return ()


def _after(tokens: Sequence[str], at: int) -> int:
    """Return the position behind a bracket and its contents."""
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
        return False  # a pointer, passed on
    is_increment = after < len(tokens) and tokens[after] in _INCREMENTS
    return not is_increment and not (before >= 0 and tokens[before] in ("++", "--"))


def _is_name(token: str) -> bool:
    return token.isidentifier() and token not in ("return", "if", "while", "switch")
