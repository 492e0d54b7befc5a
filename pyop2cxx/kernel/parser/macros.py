# SPDX-License-Identifier: BSD-3-Clause
"""Directives without a compiler, by pcpp and tables of compilers' macros.

pcpp takes 75 ms to import, so only kernels with a need import the module.
"""

from __future__ import annotations

import os
import platform
import re
from typing import TYPE_CHECKING, Any

import pcpp

from pyop2cxx.base.c_names import (
    INTEGER_SUFFIXES,
    LITERALS,
    LONG_DOUBLES,
    MACROS,
    NEAREST_MINIMUM,
)
from pyop2cxx.base.folders import template_folder
from pyop2cxx.exceptions import UsageError
from pyop2cxx.kernel.parser import branches
from pyop2cxx.kernel.parser.tokens import token_stream
from pyop2cxx.kernel.parser.wire import SOURCE, Asked, Expanded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FOLDERS = ("-I", "-iquote", "-isystem", "-idirafter")
_PREDEFINED = {
    **{"__STDC__": "1", "__STDC_VERSION__": "201112L", "__STDC_HOSTED__": "1", "__GNUC__": "12"},
    **{"__GNUC_MINOR__": "2", "__GNUC_PATCHLEVEL__": "0", "__VERSION__": '"12.2.0"'},
    **{"__OPTIMIZE__": "1", "__NO_MATH_ERRNO__": "1", "__PIC__": "2", "__pic__": "2"},
    **{"__linux__": "1", "__linux": "1", "linux": "1", "__gnu_linux__": "1", "__ELF__": "1"},
    **{"__unix__": "1", "__unix": "1", "unix": "1", "__LP64__": "1", "_LP64": "1"},
    **{"__STDC_IEC_559__": "1", "__STDC_IEC_559_COMPLEX__": "1", "__STDC_UTF_16__": "1"},
    **{"__STDC_UTF_32__": "1", "__STDC_ISO_10646__": "201706L", "__CHAR_BIT__": "8"},
    **{"__ORDER_LITTLE_ENDIAN__": "1234", "__ORDER_BIG_ENDIAN__": "4321"},
    **{"__BYTE_ORDER__": "__ORDER_LITTLE_ENDIAN__", "__FLT_RADIX__": "2"},
    **{"__FLOAT_WORD_ORDER__": "__ORDER_LITTLE_ENDIAN__", "__BIGGEST_ALIGNMENT__": "16"},
    **{f"__SIZEOF_{kind}__": "8" for kind in ("LONG", "LONG_LONG", "POINTER", "SIZE_T", "DOUBLE")},
    **{f"__SIZEOF_{kind}__": "4" for kind in ("INT", "FLOAT", "WCHAR_T", "WINT_T")},
    **{"__SIZEOF_SHORT__": "2", "__SIZEOF_PTRDIFF_T__": "8", "__SIZEOF_LONG_DOUBLE__": "16"},
    **{"__SIZEOF_INT128__": "16"},
    **{"__SCHAR_MAX__": "0x7f", "__SHRT_MAX__": "0x7fff", "__INT_MAX__": "0x7fffffff"},
    **{f"__{kind}_MAX__": "0x7fffffffffffffffL" for kind in ("LONG", "INTMAX", "PTRDIFF")},
    **{"__LONG_LONG_MAX__": "0x7fffffffffffffffLL", "__SIZE_MAX__": "0xffffffffffffffffUL"},
    **{"__UINTMAX_MAX__": "0xffffffffffffffffUL", "__WCHAR_MAX__": "0x7fffffff"},
    **{f"__{name}__": value for name, value in MACROS["float.h"].items() if name != "FLT_ROUNDS"},
}
"""Macros of gcc on the machines of loops, without options for a processor."""
_OF_MACHINE = {
    "x86_64": ("__x86_64__", "__x86_64", "__amd64__", "__amd64", "__SSE__", "__SSE2__"),
    "aarch64": ("__aarch64__", "__ARM_NEON"),
}
_OTHERS = {
    "math.h": {"math_errhandling": "(MATH_ERRNO | MATH_ERREXCEPT)", "HUGE_VALL": "HUGE_VALL"},
    "complex.h": {"complex": "_Complex"},
    "stdbool.h": {"bool": "_Bool", "__bool_true_false_are_defined": "1"},
    "stddef.h": {"NULL": "((void *)0)", "offsetof": "offsetof"},
    "stdalign.h": {"alignas": "_Alignas", "alignof": "_Alignof"},
    "stdlib.h": {"EXIT_SUCCESS": "0", "EXIT_FAILURE": "1", "RAND_MAX": "2147483647"},
    "float.h": dict(LONG_DOUBLES),
    "stdint.h": {
        f"{name}(c)": f"c ## {end}" if end else "c" for name, end in INTEGER_SUFFIXES.items()
    },
}
"""Macros of headers other than literals."""
_HAS_INCLUDE = re.compile(r'\b__has_include\s*\(\s*[<"]([^>"\n]+)[>"]\s*\)')
_OF_C = frozenset(
    f"{name}.h"
    for name in (
        *("assert", "complex", "ctype", "errno", "fenv", "float", "inttypes", "iso646", "limits"),
        *("locale", "math", "setjmp", "signal", "stdalign", "stdarg", "stdatomic", "stdbool"),
        *("stddef", "stdint", "stdio", "stdlib", "stdnoreturn", "string", "tgmath", "time"),
        *("uchar", "wchar", "wctype", "unistd", "sys/types"),
    )
)
_GIVES_NULL = frozenset({"string.h", "stdlib.h", "stdio.h", "time.h", "locale.h", "wchar.h"})


def expanded(asked: Asked, marked: str) -> Expanded:
    """Carry out the directives of a kernel's text.

    Args:
        asked: The text and the options.
        marked: The text with marks.

    Raises:
        UsageError: The preprocessor rejects a directive.
    """
    prelude = "".join(f"#include {header}\n" for header in asked.extra_headers)
    options = (*asked.flags, *asked.options)
    folders = [*asked.include_dirs, *_values(options, *_FOLDERS)]
    prelude = "".join(f'#include "{name}"\n' for name in _values(options, "-include")) + prelude
    processor = _Processor(prelude.count("\n"), branches.lines_of(marked), folders)
    for option in options:
        if option.startswith("-D") and len(option) > 2:
            name, _, value = option[2:].partition("=")
            processor.define(f"{name} {value if '=' in option else 1}")
        elif option.startswith("-U") and len(option) > 2:
            processor.undef(option[2:])
    processor.parse(prelude + _asks_for_files(marked, folders), SOURCE)
    return processor.laid_out()


def _values(options: Sequence[str], *names: str) -> Iterator[str]:
    """Yield the values of options, in the same word or in the next."""
    before = ""
    for option in options:
        name = next((name for name in names if option.startswith(name)), "")
        if before in names:
            yield option
        elif name and option != name:
            yield option[len(name) :]
        before = option


def _asks_for_files(text: str, folders: Sequence[str]) -> str:
    """Replace each ``__has_include``, unknown to pcpp."""

    def is_there(match: re.Match[str]) -> str:
        name = match.group(1)
        there = name in _OF_C or any(os.path.isfile(os.path.join(one, name)) for one in folders)
        return "1" if there else "0"

    return _HAS_INCLUDE.sub(is_there, text)


def _macros_of(header: str) -> Iterator[str]:
    """Yield the definitions of a header of C's."""
    kept = template_folder() / "kept" / header
    names = re.findall(r"#define (\w+) \1\n", kept.read_text()) if kept.is_file() else []
    for name in names:
        yield f"{name} {name}"
    for name, value in {**MACROS.get(header, {}), **_OTHERS.get(header, {})}.items():
        if name not in names:
            yield f"{name} {f'({value})' if value[0] == '-' else value}"
    for least, most in NEAREST_MINIMUM.items():
        if most in MACROS.get(header, {}):
            yield f"{least} (-{LITERALS[most]} - 1)"
    if header in _GIVES_NULL:
        yield "NULL ((void *)0)"


def _would_join(token: Any, following: Any) -> bool:
    """Whether two tokens, one from a macro, would be joined if adjacent.

    ``-X`` for an `X` defined as ``-a`` is no ``--a``.
    """
    both = (token, following)
    if not any(getattr(one, "expanded_from", None) for one in both):
        return False
    texts = [one.value for one in both]
    if any(not text or text[0].isspace() for text in texts):
        return False
    if _is_word(texts[0][-1]) or _is_word(texts[1][0]):
        return False
    if texts[1] == "=":  # pcpp reads ^= as two tokens; no other operator may stand before =
        return False
    # the begin of a comment is recognised by the end
    return token_stream("".join(texts) + " */") != (*texts, "*", "/")


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


class _Processor(pcpp.Preprocessor):  # type: ignore[misc] # pcpp has no types
    def __init__(self, n_prelude: int, users: Sequence[int], folders: Sequence[str]) -> None:
        super().__init__()
        self._n_prelude = n_prelude
        self._users = users
        self._folders = folders
        self._included: set[str] = set()
        self._elsewhere: dict[str, None] = {}
        self._files: dict[str, str] = {}
        self.line_directive = None
        for builtin in ("__PCPP__", "__DATE__", "__TIME__"):
            self.undef(builtin)
        self.define("__has_include __has_include")
        for name, value in _PREDEFINED.items():
            self.define(f"{name} {value}")
        for name in _OF_MACHINE.get(platform.machine(), ()):
            self.define(f"{name} 1")
        for folder in folders:
            self.add_path(folder)

    def on_include_not_found(self, malformed: bool, system: bool, folder: str, path: str) -> Any:
        self._elsewhere[path] = None
        if path not in self._included:
            self._included.add(path)
            for macro in _macros_of(path):
                self.define(macro)
        raise pcpp.OutputDirective(pcpp.Action.IgnoreAndRemove)

    def on_file_open(self, system: bool, path: str) -> Any:
        opened = super().on_file_open(system, path)
        within = [one for one in self._folders if path.startswith(f"{one}/")]
        longest = max(within, key=len, default=os.path.dirname(path))
        self._files.setdefault(path, path[len(longest) :].lstrip("/"))
        return opened

    def on_directive_unknown(self, directive: Any, tokens: Any, *others: Any) -> Any:
        if directive.value == "error":
            message = "".join(token.value for token in tokens).strip()
            self.on_error(directive.source, directive.lineno, f"#error {message}")
        if directive.value == "warning":
            raise pcpp.OutputDirective(pcpp.Action.IgnoreAndRemove)
        return super().on_directive_unknown(directive, tokens, *others)

    def on_error(self, source: str, line: int, message: str) -> Any:
        line = self._users_line(line) if source == SOURCE else line
        raise UsageError(f"{source}, line {line}: the preprocessor says: {message}")

    def _users_line(self, line: int) -> int:
        return self._users[min(max(line - self._n_prelude, 1), len(self._users)) - 1]

    def laid_out(self) -> Expanded:
        """Return the parsed text."""
        rows: list[list[str]] = []
        lines: list[int] = []
        declarations = []
        before = None
        while (token := self.token()) is not None:
            if token.source != SOURCE:
                declarations.append(token.value)
                continue
            line = token.lineno
            if not lines or lines[-1] != line:
                rows.append([])
                lines.append(line)
            elif _would_join(before, token):
                rows[-1].append(" ")
            before = token
            rows[-1].append(" " if token.value.isspace() else token.value.replace("\n", " "))
        return Expanded(
            ["".join(row) for row in rows],
            [self._users_line(line) for line in lines],
            "".join(declarations),
            tuple(self._elsewhere),
            tuple((name, path) for path, name in self._files.items()),
            tuple(self._files),
            (*self._folders,),
        )
