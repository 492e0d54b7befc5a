# SPDX-License-Identifier: BSD-3-Clause
"""Directives, by pcpp. It takes 75 ms to import, so only a kernel that has some needs this file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pcpp

from pyop2cxx.exceptions import UsageError
from pyop2cxx.kernel.parser.tokens import token_stream

if TYPE_CHECKING:
    from collections.abc import Sequence

_SOURCE = "<kernel>"


class Expanded(NamedTuple):
    """What directives and macros have become.

    Attributes:
        text: The user's text, one line for each run of tokens from one of the user's lines.
        lines: The user's line of each line of `text`.
        declarations: The text of headers found in the user's folders.
        seen: The names of headers that were read or asked for.
        elsewhere: Those of them that are not there.
    """

    text: str
    lines: tuple[int, ...]
    declarations: str
    seen: frozenset[str]
    elsewhere: frozenset[str]


def expanded(
    prelude: str,
    text: str,
    headers: Sequence[str],
    include_dirs: Sequence[str],
    macros: Sequence[str],
) -> Expanded:
    """Carry out the directives of a kernel's text.

    Args:
        prelude: Lines before the text, which are not counted.
        text: The text.
        headers: Those that are not known, with delimiters.
        include_dirs: Where they are looked for.
        macros: Names and values.

    Raises:
        UsageError: The preprocessor rejects a directive.
    """
    processor = _Processor(headers, prelude.count("\n"))
    for macro in macros:
        processor.define(macro)
    for folder in include_dirs:
        processor.add_path(folder)
    processor.parse(prelude + text, _SOURCE)
    return processor.laid_out()


def _would_join(token: Any, following: Any) -> bool:
    """Whether two tokens, one of a macro, would be read as others if nothing stood between them.

    ``-X`` of an `X` that is ``-a`` is no ``--a``.
    """
    both = (token, following)
    if not any(getattr(one, "expanded_from", None) for one in both):
        return False
    texts = [one.value for one in both]
    if any(not text or text[0].isspace() for text in texts):
        return False
    if _is_word(texts[0][-1]) or _is_word(texts[1][0]):
        return False
    if texts[1] == "=":  # pcpp reads ^= as two; no other operator may stand before this one
        return False
    # what would begin a comment is told by its end
    return token_stream("".join(texts) + " */") != (*texts, "*", "/")


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


class _Processor(pcpp.Preprocessor):  # type: ignore[misc] # pcpp has no types
    def __init__(self, headers: Sequence[str], n_prelude: int) -> None:
        super().__init__()
        self._headers = headers
        self._n_prelude = n_prelude
        self._seen: set[str] = set()
        self._elsewhere: set[str] = set()
        self.line_directive = None
        for builtin in ("__PCPP__", "__DATE__", "__TIME__"):
            self.undef(builtin)

    def on_include_not_found(self, malformed: bool, system: bool, folder: str, path: str) -> Any:
        self._seen.add(path)
        self._elsewhere.add(path)
        raise pcpp.OutputDirective(pcpp.Action.IgnoreAndRemove)

    def on_file_open(self, system: bool, path: str) -> Any:
        self._seen.update(header[1:-1] for header in self._headers if path.endswith(header[1:-1]))
        return super().on_file_open(system, path)

    def on_directive_handle(self, directive: Any, tokens: Any, *others: Any) -> Any:
        if directive.value == "error":
            message = "".join(token.value for token in tokens).strip()
            self.on_error(_SOURCE, directive.lineno, f"#error {message}")
        if directive.value == "warning":
            raise pcpp.OutputDirective(pcpp.Action.IgnoreAndRemove)
        return super().on_directive_handle(directive, tokens, *others)

    def on_error(self, source: str, line: int, message: str) -> Any:
        line -= self._n_prelude if source == _SOURCE else 0
        raise UsageError(f"{source}, line {line}: the preprocessor says: {message}")

    def laid_out(self) -> Expanded:
        """Return what was parsed."""
        rows: list[list[str]] = []
        lines: list[int] = []
        declarations = []
        before = None
        while (token := self.token()) is not None:
            if token.source != _SOURCE:
                declarations.append(token.value)
                continue
            line = token.lineno - self._n_prelude
            if not lines or lines[-1] != line:
                rows.append([])
                lines.append(line)
            elif _would_join(before, token):
                rows[-1].append(" ")
            before = token
            rows[-1].append(" " if token.value.isspace() else token.value.replace("\n", " "))
        text = "\n".join("".join(row) for row in rows)
        seen, elsewhere = frozenset(self._seen), frozenset(self._elsewhere)
        return Expanded(text, tuple(lines), "".join(declarations), seen, elsewhere)
