# SPDX-License-Identifier: BSD-3-Clause
"""The kernel line preventing a fusion: a write to an argument used by other loops."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAMED = re.compile(r"arg \d+ \('(\w+)'\) of '(\w+)'")


def deciding_lines(why: str, codes: Mapping[str, str]) -> list[str]:
    """Return the kernel lines writing the arguments named in a reason.

    Args:
        why: The reason.
        codes: The texts of kernels, by name.

    Returns:
        For each argument written by name: the number and the text of the line.
    """
    found = []
    for parameter, kernel in dict.fromkeys(_NAMED.findall(why)):
        line = _writing_line(codes.get(kernel, ""), kernel, parameter)
        if line is not None:
            found.append(f"'{kernel}', line {line[0]}: {line[1]}")
    return found


def _writing_line(code: str, kernel: str, parameter: str) -> tuple[int, str] | None:
    begin, end = _body_of(code, kernel)
    target = rf"\b{parameter}\b\s*(?:\[[^\]]*\]\s*)*"
    write = re.compile(
        rf"{target}(?:[-+*/%&|^]|<<|>>)?=(?!=)|{target}(?:\+\+|--)|(?:\+\+|--|\*\s*){target}\s*(?:"
        r"(?:[-+*/%&|^]|<<|>>)?=(?!=)|;)"
    )
    match = write.search(code, begin, end)
    if match is None:
        return None
    first = code.rfind("\n", 0, match.start()) + 1
    last = code.find("\n", match.start())
    text = code[first : len(code) if last < 0 else last]
    return code.count("\n", 0, match.start()) + 1, text.strip()


def _body_of(code: str, kernel: str) -> tuple[int, int]:
    """Return the begin and end of a function's body in a text; (0, 0) if absent."""
    head = re.search(rf"\b{kernel}\s*\([^)]*\)\s*\{{", code)
    if head is None:
        return 0, 0
    depth, at = 1, head.end()
    while at < len(code) and depth:
        depth += {"{": 1, "}": -1}.get(code[at], 0)
        at += 1
    return head.end(), at
