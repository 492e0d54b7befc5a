# SPDX-License-Identifier: BSD-3-Clause
"""Kernels with words of CUDA, OpenCL or C++ without a meaning in a kernel."""

from __future__ import annotations

import re

from pyop2cxx.base.quoting import quoted
from pyop2cxx.exceptions import UsageError
from pyop2cxx.kernel.parser.tokens import COMMENT, STRING

_INDICES = "threadIdx|blockIdx|blockDim|gridDim"
_CALLS = "get_(?:global|local|group)_(?:id|size)|get_num_groups|__syncthreads|__syncwarp"
_QUALIFIERS = "__global__|__kernel"
_WORDS = re.compile(
    rf"{COMMENT}|{STRING}|\b(?P<std>std)\s*::\s*(?P<name>\w+)"
    rf"|\b(?P<word>(?:{_INDICES})(?=\s*\.\s*[xyz]\b)|(?:{_CALLS})(?=\s*\()|(?:{_QUALIFIERS})(?=\s[\w\s]*\bvoid\b))",
    re.DOTALL,
)


def refuse_other_languages(code: str, name: str, *, cpp: bool) -> None:
    """Raise for words of other languages, unless defined in the text.

    Args:
        code: The kernel's text.
        name: Name of the kernel.
        cpp: Whether the text is C++, with `std`.

    Raises:
        UsageError: The text names a thread, or C++'s library in C.
    """
    for found in _WORDS.finditer(code):
        word = found["word"]
        if found["std"] and not cpp and "__cplusplus" not in code:
            what = (
                f"'std::{found['name']}' is C++, and the kernel is C: write '{found['name']}' "
                "(mathematics needs no header), or pass cpp=True, which runs on hosts only"
            )
            raise _error(code, name, found, what)
        if word and not _declares(code, word):
            what = (
                f"'{word}' is a word of CUDA or OpenCL: a kernel here is a plain function of one "
                "element, called for each of the Set, and there is no thread index; the arguments "
                "are the element's values, such as double *x with x[0], and its number "
                "can be passed as a Dat of integers"
            )
            raise _error(code, name, found, what)


def _declares(code: str, word: str) -> bool:
    """Say whether the text defines a word: as a macro, a function or a variable."""
    macro = rf"#\s*define\s+{word}\b"
    function = rf"\b{word}\s*\([^;{{}}]*\)\s*\{{"
    variable = rf"(?:\w|\*)\s*\b{word}\s*(?:[=;,)\[]|$)"
    return re.search(f"{macro}|{function}|{variable}", code) is not None


def _error(code: str, name: str, found: re.Match[str], what: str) -> UsageError:
    line = code.count("\n", 0, found.start()) + 1
    column = found.start() - code.rfind("\n", 0, found.start())
    return UsageError(f"Kernel '{name}': line {line}: {what}\n{quoted(code, line, column)}")
