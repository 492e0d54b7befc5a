# SPDX-License-Identifier: BSD-3-Clause
"""The line of a kernel that decides whether loops are combined: where it writes what others use."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAMED = re.compile(r"arg \d+ \('(\w+)'\) of '(\w+)'")


def deciding_lines(why: str, codes: Mapping[str, str]) -> list[str]:
    """Return the lines of kernels that write the arguments which a reason names.

    Args:
        why: The reason.
        codes: The texts of kernels, by name.

    Returns:
        One for each argument that is written under its own name: the line's number in the
        kernel's text and the line.
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
    """Return where a function's body begins and ends in a text; nowhere if it is not there."""
    head = re.search(rf"\b{kernel}\s*\([^)]*\)\s*\{{", code)
    if head is None:
        return 0, 0
    depth, at = 1, head.end()
    while at < len(code) and depth:
        depth += {"{": 1, "}": -1}.get(code[at], 0)
        at += 1
    return head.end(), at
