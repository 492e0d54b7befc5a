# SPDX-License-Identifier: BSD-3-Clause
"""Kernels that are compiled as they are written, beside others in one library.

Two loops of such a kernel both have its functions, and so do two kernels with helper functions of
one name; to a linker these are the same names. In C they get names of the loop's own, by macros. In
C++, where this module knows fewer functions, they are put in an unnamed namespace.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyop2cxx.kernel.parser.linkage import linked_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyop2cxx.kernel.kernel import Kernel

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b.*$", re.MULTILINE)
_CONDITION = re.compile(r"^[ \t]*#[ \t]*(if|endif)", re.MULTILINE)
_SCOPE = re.compile(r"(?<!using )\bnamespace\s+\w")
_RENAMED = re.compile(r"^#define (\w+) (\w+_kernel)$", re.MULTILINE)
_NOTHING = re.compile(r'"(?:\\.|[^"\\\n])*"|//.*?$|/\*.*?\*/', re.MULTILINE | re.DOTALL)


def of_its_own(text: str, kernel: Kernel, symbol: str) -> str:
    """Return a loop's text of which a linker sees no name that another loop's may have, too.

    What the kernel only declares is a library's and stays as it is.

    Args:
        text: The generated text, in which the kernel's stands as it is.
        kernel: The loop's.
        symbol: Its last part, the digits, tells the loop from others.
    """
    written = kernel.core.text
    if kernel.core.body is not None or written not in text:
        return text
    linked = linked_names(written)
    names = linked.defined | linked.defined_as_c
    begin = _begin(written) if kernel.core.cpp and not linked.declared else None
    if begin is not None:
        names = linked.defined_as_c
        inside = f"{written[:begin]}namespace {{\n{written[begin:]}\n}}  // namespace"
        text = text.replace(written, inside, 1)
    renamed = dict(_RENAMED.findall(text))
    digits = symbol.rpartition("_")[-1]
    defines = (f"#define {name} {name}_{digits}\n" for name in _shown(names, renamed))
    return "".join(defines) + text


def _shown(names: Iterable[str], renamed: dict[str, str]) -> list[str]:
    return sorted(renamed.get(name, name) for name in names)


def _begin(text: str) -> int | None:
    """Where an unnamed namespace can begin: behind what is included.

    None if the text has namespaces itself, which may be those of others, or includes something in
    the midst of a scope.
    """
    bare = _NOTHING.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    if _SCOPE.search(bare):
        return None
    begin = max((found.end() + 1 for found in _INCLUDE.finditer(bare)), default=0)
    depth = 0
    for condition in _CONDITION.finditer(bare):
        if condition.start() >= begin and depth == 0:
            break
        depth += 1 if condition[1] == "if" else -1
        if depth == 0 and condition.start() >= begin:
            begin = bare.find("\n", condition.start()) + 1 or len(bare)
    before = bare[:begin]
    return begin if before.count("{") == before.count("}") else None
