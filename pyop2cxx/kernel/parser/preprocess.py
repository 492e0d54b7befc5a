# SPDX-License-Identifier: BSD-3-Clause
"""Preprocessing: includes are taken out here, other directives go through pcpp."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from pyop2cxx.exceptions import UsageError
from pyop2cxx.kernel.parser import headers
from pyop2cxx.kernel.parser.wire import OpaqueKernel

if TYPE_CHECKING:
    from collections.abc import Sequence

_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w*)", re.MULTILINE)
_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+(.*)$", re.MULTILINE)
# Hints to the optimiser: what they ask for is decided by strategy and lanes here. Those of 'pyop2'
# stand in kernels that FFC made for it.
_HINT = re.compile(
    r"omp[ \t]+simd|GCC[ \t]+(ivdep|unroll)|clang[ \t]+loop|unroll|ivdep|once|pyop2\b"
)
_SOURCE = "<kernel>"


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
    import pcpp  # 75 ms, and most kernels need no macros

    class Processor(pcpp.Preprocessor):  # type: ignore[misc] # pcpp has no types
        seen: set[str]
        elsewhere: set[str]
        n_prelude: int

        def on_include_not_found(
            self, malformed: bool, system: bool, folder: str, path: str
        ) -> Any:
            self.seen.add(path)
            self.elsewhere.add(path)
            raise pcpp.OutputDirective(pcpp.Action.IgnoreAndRemove)

        def on_file_open(self, system: bool, path: str) -> Any:
            self.seen.update(header[1:-1] for header in others if path.endswith(header[1:-1]))
            return super().on_file_open(system, path)

        def on_directive_handle(self, directive: Any, tokens: Any, *others: Any) -> Any:
            if directive.value == "error":
                message = "".join(token.value for token in tokens).strip()
                self.on_error(_SOURCE, directive.lineno, f"#error {message}")
            if directive.value == "warning":
                raise pcpp.OutputDirective(pcpp.Action.IgnoreAndRemove)
            return super().on_directive_handle(directive, tokens, *others)

        def on_error(self, source: str, line: int, message: str) -> Any:
            line -= self.n_prelude if source == _SOURCE else 0
            raise UsageError(f"{source}, line {line}: the preprocessor says: {message}")

    processor = Processor()
    processor.seen, processor.elsewhere = set(), set()
    processor.line_directive = None
    for builtin in ("__PCPP__", "__DATE__", "__TIME__"):
        processor.undef(builtin)
    for macro in macros:
        processor.define(macro)
    for folder in include_dirs:
        processor.add_path(folder)
    prelude = "".join(f"#include {header}\n" for header in extra_headers if header in others)
    processor.n_prelude = prelude.count("\n")
    processor.parse(prelude + _without_known_includes(text), _SOURCE)
    kernel, lines, declarations = _laid_out(processor)
    used = tuple(header for header in others if header[1:-1] in processor.seen)
    return Preprocessed(kernel, lines, used, declarations, frozenset(processor.elsewhere))


def _without_known_includes(text: str) -> str:
    for header in headers.included(text):
        if headers.is_known(header):
            text = re.sub(rf"(?m)^[ \t]*#[ \t]*include[ \t]*{re.escape(header)}.*$", "", text)
    return _PRAGMA.sub("", text)


def _laid_out(processor: Any) -> tuple[str, tuple[int, ...], str]:
    # One line of output for each run of tokens from one line of the user's.
    rows: list[list[str]] = []
    lines: list[int] = []
    declarations = []
    while (token := processor.token()) is not None:
        if token.source != _SOURCE:
            declarations.append(token.value)
            continue
        line = token.lineno - processor.n_prelude
        if not lines or lines[-1] != line:
            rows.append([])
            lines.append(line)
        rows[-1].append(" " if token.value.isspace() else token.value.replace("\n", " "))
    return "\n".join("".join(row) for row in rows), tuple(lines), "".join(declarations)
