# SPDX-License-Identifier: BSD-3-Clause
"""Variables outliving a call, in kernels without an AST: found among the tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyop2cxx.exceptions import UsageError
from pyop2cxx.kernel.parser.tokens import tokens_with_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

_KEPT = frozenset({"static", "thread_local", "_Thread_local", "__thread"})
_CONSTANT = frozenset({"const", "constexpr"})
_BEGINS_AFTER = frozenset({";", "{", "}", "(", ")", ":"})
_ENDS_AT = frozenset({";", "=", "{", "[", "(", ","})
_NO_VARIABLE = frozenset(
    ("typedef", "extern", "struct", "union", "enum", "class", "namespace", "using", "template")
)


def refuse_kept_values(text: str, lines: Sequence[int] | None = None) -> None:
    """Raise if a kernel keeps values between calls.

    Args:
        text: Of the kernel, C or C++.
        lines: The user's line of each line; None if equal.

    Raises:
        UsageError: The text declares a variable, `static` or outside of all functions, and not
            constant.
    """
    tokens = list(tokens_with_rows(text))
    depth, begin = 0, 0
    for i, (token, row) in enumerate(tokens):
        if token in _KEPT and (i == 0 or tokens[i - 1][0] != "["):
            declared = _declaration([name for name, _ in tokens[_start(tokens, i) :]])
        elif depth == 0 and i == begin and token not in _NO_VARIABLE:
            declared = _declaration([name for name, _ in tokens[i:]])
            declared = declared if len(declared) > 1 else []
        else:
            declared = []
        if declared and not _is_constant(declared):
            raise _error(declared, row + 1 if lines is None else lines[row])
        depth += (token == "{") - (token == "}")
        if depth == 0 and token in (";", "}"):
            begin = i + 1


def _start(tokens: Sequence[tuple[str, int]], i: int) -> int:
    while i > 0 and tokens[i - 1][0] not in _BEGINS_AFTER:
        i -= 1
    return i


def _declaration(names: Sequence[str]) -> list[str]:
    """Return the specifiers and the name of a variable; nothing if a function is declared."""
    angles = 0
    for i, token in enumerate(names):
        angles += (token == "<") - (token == ">") - 2 * (token == ">>")
        if angles == 0 and token in _ENDS_AT:
            return [] if token == "(" else list(names[:i])
    return []


def _is_constant(declared: Sequence[str]) -> bool:
    if "constexpr" in declared:
        return True
    stars = [i for i, token in enumerate(declared) if token in ("*", "&")]
    return bool(_CONSTANT & {*declared[stars[-1] if stars else 0 :]})


def _error(declared: Sequence[str], line: int) -> UsageError:
    return UsageError(
        f"line {line}: '{' '.join(declared)}' keeps a value from one call to the next, but calls "
        "run in any order and on many threads; make it const, or pass a Dat or a Global"
    )
