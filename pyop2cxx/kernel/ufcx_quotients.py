# SPDX-License-Identifier: BSD-3-Clause
"""Fewer divisions in FFCx output: repeated divisors become products with a reciprocal.

FFCx divides each entry of an inverse Jacobian by the determinant: nine times in three dimensions. A
division takes a processor, and more so a GPU, the time of ten products or more, and compilers keep
the divisions, since products are rounded differently.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import count
from typing import TYPE_CHECKING

from pyop2cxx.runtime.frames import render

if TYPE_CHECKING:
    from collections.abc import Iterator

_QUOTIENT = re.compile(
    r"^(?P<head>[ \t]*(?:const )?(?P<type>double|float) \w+ = \w+) / (?P<by>[A-Za-z_]\w*);$"
)
_LEAST = 3  # fewest quotients with more work than a division and as many products


def with_reciprocals(body: str) -> str:
    """Divide once, if three or more values in a row of statements have the same divisor.

    Args:
        body: C text of FFCx's; other text is returned unchanged.
    """
    numbers = count()
    out: list[str] = []
    straight: list[str] = []
    for line in body.split("\n"):
        if "{" in line or "}" in line:
            out += [*_divided_once(straight, numbers), line]
            straight = []
        else:
            straight.append(line)
    return "\n".join([*out, *_divided_once(straight, numbers)])


def _divided_once(lines: list[str], numbers: Iterator[int]) -> list[str]:
    """Rewrite statements without braces, all carried out, in order."""
    found = [_QUOTIENT.match(line) for line in lines]
    counts = Counter((one["type"], one["by"]) for one in found if one)
    wanted = {kind for kind, n in counts.items() if n >= _LEAST and not _changes(kind[1], lines)}
    names: dict[tuple[str, str], str] = {}
    out = []
    for line, quotient in zip(lines, found, strict=True):
        kind = (quotient["type"], quotient["by"]) if quotient else ("", "")
        if quotient is None or kind not in wanted:
            out.append(line)
            continue
        if kind not in names:
            names[kind] = f"reciprocal_{next(numbers)}"
            one = "1.0f" if kind[0] == "float" else "1.0"
            own = {"type": kind[0], "name": names[kind], "one": one, "by": kind[1]}
            out.append(render("kernels/reciprocal.c.j2", own))
        product = {"head": quotient["head"], "name": names[kind]}
        out.append(render("kernels/multiplied.c.j2", product))
    return out


def _changes(name: str, lines: list[str]) -> bool:
    """Say whether a variable gets another value."""
    return any(re.match(rf"[ \t]*{name} *[-+*/]?=[^=]", line) for line in lines)
