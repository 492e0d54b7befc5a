# SPDX-License-Identifier: BSD-3-Clause
"""Preprocessing: known includes are taken out here, the compiler carries out all else.

A kernel has the meaning given by the C compiler's preprocessor. Without a compiler, `macros`
carries out directives by tables of compilers' and C headers' definitions. The result holds for all
backends, for kernels with and without a tree: see docs/adr/0076.
"""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING, NamedTuple

from pyop2cxx import _core
from pyop2cxx.exceptions import ToolchainError, UsageError
from pyop2cxx.kernel.parser import branches, headers, reads
from pyop2cxx.kernel.parser.wire import Asked, Expanded, OpaqueKernel
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.memo import until_exit

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER_VARIABLES = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH")
"""Variables with compilers' folders of headers."""

_DIRECTIVE = re.compile(r"^[ \t\v]*(?:#|%:|\?\?=)[ \t\v]*(\w*)", re.MULTILINE)
_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+(.*)$", re.MULTILINE)
# Names of compilers' macros. Undefined ones are words of compilers.
_PREDEFINED = re.compile(
    r"\b__(?!attribute__|restrict__|inline__|const__|volatile__|extension__|asm__|func__"
    r"|FUNCTION__|PRETTY_FUNCTION__|alignof__|typeof__|signed__|complex__|real__|imag__"
    r"|int128)\w+__\b"
)
_DECIDES = re.compile(r"-[DU]|-i(?!quote|system|dirafter|sysroot|prefix|withprefix)|@|--include")
_FORCES = re.compile(r"-include|-imacros|--include|--imacros|@")
_CHOOSES = re.compile(r"^[ \t]*#[ \t]*define[ \t]+_\w+_SOURCE\b", re.MULTILINE)
# Hints to the optimiser: strategy and lanes decide here. Hints named 'pyop2' stand in kernels made
# by FFC for PyOP2.
_HINT = re.compile(
    r"omp[ \t]+simd|GCC[ \t]+(ivdep|unroll)|clang[ \t]+loop|unroll|ivdep|once|pyop2\b"
)


class Preprocessed(NamedTuple):
    """Text without directives.

    Attributes:
        text: Text for the parser.
        lines: The user's line of each line of `text`; None if they are the same.
        headers: Headers to include, with delimiters.
        declarations: The text of the user's own headers: types and functions.
        elsewhere: Headers named but not the user's, known or not.
        resolved: The user's text without conditions and untaken branches.
        contents: Name and digest, alternating, of each of the user's files.
        can_inline: Whether the user's headers can be a part of the kernel: no option includes them,
            and none selects contents of C's headers.
    """

    text: str
    lines: tuple[int, ...] | None
    headers: tuple[str, ...]
    declarations: str
    elsewhere: tuple[str, ...] = ()
    resolved: str = ""
    contents: tuple[str, ...] = ()
    can_inline: bool = True

    @property
    def stands_alone(self) -> bool:
        """Whether the user's headers can be inserted into the text, with all macros expanded."""
        has_directives = "#" in self.declarations or "#" in self.text
        return self.can_inline and bool(self.declarations.strip()) and not has_directives

    def in_one_text(self) -> str:
        """Return the text behind the contents of the user's headers; lines keep their numbers."""
        lines = self.lines or ()
        rows = [""] * max(lines, default=1)
        rows[0] = " ".join(self.declarations.split("\n"))
        for line, row in zip(lines, self.text.split("\n"), strict=True):
            rows[line - 1] += row
        return "\n".join(rows)


def preprocess(
    text: str,
    extra_headers: Sequence[str],
    include_dirs: Sequence[str],
    options: Sequence[str],
    *,
    cpp: bool = False,
) -> Preprocessed:
    """Carry out the directives of a kernel's text.

    Args:
        text: C or C++.
        extra_headers: Headers included before the text, with delimiters.
        include_dirs: Where the user's own headers are.
        options: For the compiler.
        cpp: Whether the text is C++.

    Raises:
        UsageError: The preprocessor rejects a directive.
    """
    others = _others((*extra_headers, *headers.included(text)))
    if not others and not _has_more(text, options):
        plain = text if cpp else headers.without_includes(text)
        return Preprocessed(plain, None, (), "", resolved=text)
    flags = runtime.engine.option_flags("cxxflags" if cpp else "cflags")
    asked = Asked(text, (*extra_headers,), (*include_dirs,), (*options,), flags, cpp)
    compiler, known_as = _compiler(cpp)
    variables = [os.environ.get(name, "") for name in FOLDER_VARIABLES]
    may_be_relative = any((asked.include_dirs, asked.options, flags, *variables))
    folder = _working_folder() if may_be_relative else ""
    key = (tuple(asked), known_as, variables, folder, reads.front_end())
    found: Preprocessed = reads.kept(key, lambda: _run(compiler, asked, variables))
    return found


def _working_folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # the folder has been removed
        return ""


def _compiler(cpp: bool) -> tuple[_core.jit.HostCompiler | None, str]:
    """Return the compiler, with an identification.

    None where text is generated only, or there is none.
    """
    options = runtime.configuration
    if runtime.static or options["eti_only"]:
        return None, f"static {runtime.static}"
    chosen = [str(options[name]) for name in ("cache_dir", "cc", "cxx")]
    chosen += [os.environ.get(name, "") for name in ("PYOP2CXX_CC", "PYOP2CXX_CXX", "PATH")]
    return _found_compiler(cpp, tuple(chosen))


@until_exit(8)
def _found_compiler(
    cpp: bool, chosen: tuple[str, ...]
) -> tuple[_core.jit.HostCompiler | None, str]:
    language = _core.jit.Language.cxx if cpp else _core.jit.Language.c
    try:
        found = runtime.engine.service.compiler(language)
    except ToolchainError:
        return None, "none"  # compiling will report the missing compiler
    about = (found.command, found.path, found.version, found.native_flags, found.resolved_arch)
    return found, repr(about)


def without_pragmas(text: str, lines: Sequence[int] | None) -> str:
    """Take hints to optimisers out of a text; lines keep their places.

    Raises:
        OpaqueKernel: A ``#pragma`` other than a hint.
    """
    for pragma in _PRAGMA.finditer(text):
        if _HINT.match(pragma.group(1)) is None:
            row = text.count("\n", 0, pragma.start())
            line = row + 1 if lines is None else lines[row]
            raise OpaqueKernel(
                f"'#pragma {pragma.group(1).strip()}' is not only a hint; leave it out", line
            )
    return _PRAGMA.sub("", text)


def includes_otherwise(text: str) -> bool:
    """Say whether a text names a header by a macro, or behind comments, or by digraphs."""
    found = _DIRECTIVE.findall(branches.without_comments(text)) if "include" in text else []
    return found.count("include") != headers.n_included(text)


def _has_more(text: str, options: Sequence[str]) -> bool:
    """Whether there are directives other than known includes."""
    if any(_DECIDES.match(option) for option in options):
        return True
    if any(sign in text for sign in ("#", "%:", "??=")):
        directives = _DIRECTIVE.findall(branches.without_comments(text))
        if not {*directives} <= {"include", "pragma", ""} or includes_otherwise(text):
            return True
    if "LDBL_" in text or "DECIMAL_DIG" in text:  # differ between processors
        return True
    return "__" in text and _PREDEFINED.search(text) is not None


def _others(named: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(header for header in named if not headers.is_known(header)))


def _run(
    compiler: _core.jit.HostCompiler | None, asked: Asked, variables: Sequence[str]
) -> tuple[Preprocessed, tuple[reads.FileRead, ...]]:
    began = time.time_ns()
    asked = asked._replace(text=branches.numbered(asked.text))
    conditions = branches.marked(asked.text)
    found: Expanded | None = None
    if compiler is not None:
        from pyop2cxx.kernel.parser import by_compiler

        found = by_compiler.expanded(compiler, asked, conditions.text, variables)
    if found is None:
        found = _by_tables(asked, conditions.text)._replace(is_final=compiler is None)
    taken, rows = branches.found_in(found.rows)
    kept = [i for i, row in enumerate(rows) if row.strip()]
    resolved = branches.resolved(asked.text, conditions, taken)
    own_texts = [_text_of(path) for _, path in found.own]
    places = [*found.folders, *{os.path.dirname(path) for _, path in found.own}]
    texts = [asked.text, *(f"#include {header}" for header in asked.extra_headers), *own_texts]
    absent = reads.not_there(texts, places, found.read)
    result = Preprocessed(
        text="\n".join(rows[i] for i in kept),
        lines=tuple(found.lines[i] for i in kept),
        headers=_others(
            (*asked.extra_headers, *headers.included(resolved if not asked.cpp else ""))
        ),
        declarations=found.declarations,
        elsewhere=found.elsewhere,
        resolved=resolved,
        contents=tuple(word for name, path in found.own for word in (name, reads.digest_of(path))),
        can_inline=not any(_FORCES.match(option) for option in (*asked.flags, *asked.options))
        and not any(_CHOOSES.search(own) for own in own_texts),
    )
    files = tuple(reads.file_read(path, began) for path in (*found.read, *absent))
    # open questions of the compiler are asked again
    return result, files if found.is_final else (*files, reads.NEVER)


def _by_tables(asked: Asked, marked: str) -> Expanded:
    """Carry out directives without a compiler; C++ text is left to C++ compilers."""
    from pyop2cxx.kernel.parser import macros

    try:
        found: Expanded = macros.expanded(asked, marked)
    except UsageError:
        if not asked.cpp:
            raise
        rows = marked.split("\n")
        return Expanded(rows, branches.lines_of(marked), "", (), (), (), ())
    return found


def _text_of(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
