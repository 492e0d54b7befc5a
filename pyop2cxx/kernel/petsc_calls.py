# SPDX-License-Identifier: BSD-3-Clause
"""Detection of PETSc calls in the text of kernels."""

from __future__ import annotations

import re

HEADER = "<petscts.h>"
"""Declares all handles, from vectors to time steppers."""

_NAMES = ("Mat", "Vec", "IS", "DM", "PC", "KSP", "SNES", "TS")
_KINDS = "|".join(_NAMES)
_HANDLE = re.compile(rf"\b(?:{_KINDS})\s+\*?\s*\w+\s*[,;=)]")
_CALL = re.compile(rf"\b(?:{_KINDS})[A-Z]\w+\s*\(")
_OWN = re.compile(rf"\b(?:typedef|struct)\b[^;]*\b(?:{_KINDS})\s*[;{{]")


def calls_petsc(code: str) -> bool:
    """Return whether a kernel's text has handles of PETSc's and calls of PETSc's functions.

    Example:
        >>> calls_petsc("void f(Mat m) { MatZeroEntries(m); }")
        True
        >>> calls_petsc("typedef struct { double x; } Vec; void f(Vec v) { VecAdd(v); }")
        False
    """
    if not any(name in code for name in _NAMES):
        return False  # true for nearly every kernel: patterns take a hundred times as long
    found = _HANDLE.search(code) and _CALL.search(code) and not _OWN.search(code)
    return bool(found)
