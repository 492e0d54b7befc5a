# SPDX-License-Identifier: BSD-3-Clause
"""Preprocessing: includes are taken out here, other directives by `macros`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from pyop2cxx.kernel.parser import headers
from pyop2cxx.kernel.parser.wire import OpaqueKernel
from pyop2cxx.runtime import seams

if TYPE_CHECKING:
    from collections.abc import Sequence

_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w*)", re.MULTILINE)
_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+(.*)$", re.MULTILINE)
# Hints to the optimiser: what they ask for is decided by strategy and lanes here. Those of 'pyop2'
# stand in kernels that FFC made for it.
_HINT = re.compile(
    r"omp[ \t]+simd|GCC[ \t]+(ivdep|unroll)|clang[ \t]+loop|unroll|ivdep|once|pyop2\b"
)


class Preprocessed(NamedTuple):
    """Text without directives.

    Attributes:
        text: What the parser reads.
        lines: The user's line of each line of `text`; None if they are the same.
        headers: What has to be included, with delimiters.
        declarations: The text of headers found in the user's folders: types and functions.
        elsewhere: The names of headers that are not there, known or the compiler's.
    """

    text: str
    lines: tuple[int, ...] | None
    headers: tuple[str, ...]
    declarations: str
    elsewhere: frozenset[str] = frozenset()


def preprocess(
    text: str, extra_headers: Sequence[str], include_dirs: Sequence[str], options: Sequence[str]
) -> Preprocessed:
    """Take the directives out of a kernel's text.

    Raises:
        UsageError: The preprocessor rejects a directive.
        OpaqueKernel: A ``#pragma`` that is more than a hint.
    """
    _check_pragmas(text)
    named = (*extra_headers, *headers.included(text))
    others = tuple(dict.fromkeys(header for header in named if not headers.is_known(header)))
    macros = _defines(options)
    directives = set(_DIRECTIVE.findall(text)) - {"include", "pragma", ""}
    if not directives and not macros and not others:
        return Preprocessed(_PRAGMA.sub("", headers.without_includes(text)), None, (), "")
    return _run(text, extra_headers, others, include_dirs, macros)


def _check_pragmas(text: str) -> None:
    for pragma in _PRAGMA.finditer(text):
        if _HINT.match(pragma.group(1)) is None:
            line = text.count("\n", 0, pragma.start()) + 1
            raise OpaqueKernel(f"'#pragma {pragma.group(1).strip()}' is not only a hint", line)


def _defines(options: Sequence[str]) -> tuple[str, ...]:
    macros = (option[2:] for option in options if option.startswith("-D") and len(option) > 2)
    return tuple(macro.replace("=", " ", 1) if "=" in macro else f"{macro} 1" for macro in macros)


def _run(
    text: str,
    extra_headers: Sequence[str],
    others: Sequence[str],
    include_dirs: Sequence[str],
    macros: Sequence[str],
) -> Preprocessed:
    prelude = "".join(f"#include {header}\n" for header in extra_headers if header in others)
    found = seams.macros().expanded(
        prelude, _without_known_includes(text), others, include_dirs, macros
    )
    used = tuple(header for header in others if header[1:-1] in found.seen)
    return Preprocessed(found.text, found.lines, used, found.declarations, found.elsewhere)


def _without_known_includes(text: str) -> str:
    for header in headers.included(text):
        if headers.is_known(header):
            text = re.sub(rf"(?m)^[ \t]*#[ \t]*include[ \t]*{re.escape(header)}.*$", "", text)
    return _PRAGMA.sub("", text)
