# SPDX-License-Identifier: BSD-3-Clause
"""Directives, carried out by the compiler's own preprocessor."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pyop2cxx import _core
from pyop2cxx.base.folders import template_folder
from pyop2cxx.exceptions import CompilationError, ToolchainError, UsageError
from pyop2cxx.kernel.parser import branches
from pyop2cxx.kernel.parser.headers import is_known
from pyop2cxx.kernel.parser.wire import SOURCE, Asked, Expanded
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_KEPT = template_folder() / "kept"
"""Headers in front of C's, to keep macros known to kernels as names.

The macros are defined, as conditions require, and expand to themselves.
"""
_MARKER = re.compile(r'# (\d+) "((?:\\.|[^"\\])*)"([ \d]*)')
_ERROR = re.compile(r"^(.+?):(\d+):(?:\d+:)? (?:fatal )?error: (.*)$", re.MULTILINE)
_ABSENT = re.compile(r"No such file or directory|file not found")
_DEPENDENCY = re.compile(r"(?:\\[ #]|\$\$|[^\s\\$]|\\(?![\s#]))+")
_NOT_FOR_PREPROCESSORS = ("-Wl,", "-shared")


def expanded(
    compiler: _core.jit.HostCompiler, asked: Asked, marked: str, variables: Sequence[str]
) -> Expanded | None:
    """Let the compiler carry out the directives of a kernel's text.

    Args:
        compiler: Of the text's language.
        asked: The text and the options.
        marked: The text with marks.
        variables: Environment variables with folders of headers.

    Returns:
        None if the compiler cannot tell: a header is not there, or there is no place to work in.

    Raises:
        UsageError: The preprocessor rejects a directive.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="pyop2cxx-") as folder:
            words = [*asked.flags, *asked.options, *asked.include_dirs, *variables]
            return _run(compiler, asked, marked, Path(folder), words)
    except CompilationError as error:
        _refuse(str(error), branches.lines_of(marked))
    except (ToolchainError, OSError):
        pass
    return None


def _run(
    compiler: _core.jit.HostCompiler,
    asked: Asked,
    marked: str,
    folder: Path,
    words: Sequence[str],
) -> Expanded:
    source = folder / ("kernel.cpp" if asked.cpp else "kernel.c")
    prelude = "".join(f"#include {header}\n" for header in asked.extra_headers)
    source.write_text(f'{prelude}#line 1 "{SOURCE}"\n{marked}\n', "utf-8", "replace")
    given = _core.jit.base_flags(compiler)
    flags = [flag for flag in given if not flag.startswith(_NOT_FOR_PREPROCESSORS)]
    if not asked.cpp:
        flags += ["-isystem", str(_KEPT)]
    flags += [*asked.flags, *(f"-I{place}" for place in asked.include_dirs), *asked.options]
    made = {"-o": folder / "text", "-MF": folder / "read"}
    flags += ["-E", "-v", "-MD", *(word for pair in made.items() for word in map(str, pair))]
    said = runtime.engine.service.run(
        language=compiler.language, arguments=[*flags, str(source)], compiles=False
    )
    places = _Places([*_search_folders(said)], (str(folder), str(_KEPT)))
    text = made["-o"].read_text(encoding="utf-8", errors="replace")
    dependencies = made["-MF"].read_text(encoding="utf-8", errors="surrogateescape")
    found = _read(text, _dependencies(dependencies), places, words)
    users = branches.lines_of(marked)
    return found._replace(lines=[users[min(line, len(users)) - 1] for line in found.lines])


def _text_of(path: str) -> str:
    return Path(path).read_text(errors="replace") if os.path.isfile(path) else ""


def _search_folders(said: str) -> Iterator[str]:
    is_list = False
    for line in said.splitlines():
        if line.startswith("#include "):
            is_list = True
        elif is_list and line.startswith(" "):
            yield line.strip()
        else:
            is_list = False


def _dependencies(rule: str) -> list[str]:
    """Return the files of a rule of make's: ``kernel.o: kernel.c a.h``."""
    words = _DEPENDENCY.findall(rule.replace("\\\n", " "))
    names = (re.sub(r"\\([ #])", r"\1", word).replace("$$", "$") for word in words)
    return [name for name in names if not name.endswith(":")]


class _Places(NamedTuple):
    """Where files lie.

    Attributes:
        folders: Where headers are looked for.
        work: Folders of the package, with files hidden from users.
    """

    folders: list[str]
    work: tuple[str, ...]

    def name_of(self, path: str) -> str:
        """Return the name of a header within the folder of the search."""
        within = [one for one in self.folders if path.startswith(f"{one}/")]
        longest = max(within, key=len, default=os.path.dirname(path))
        return path[len(longest) :].lstrip("/")


def _read(text: str, files: Sequence[str], places: _Places, words: Sequence[str]) -> Expanded:
    rows: list[str] = []
    lines: list[int] = []
    declarations: list[str] = []
    elsewhere: dict[str, None] = {}
    of_compiler: set[str] = set()
    path, line, is_system = "", 0, False
    for row in text.split("\n"):
        marker = _MARKER.match(row)
        if marker is not None:
            here, was_system = path, is_system
            path = re.sub(r"\\(.)", r"\1", marker.group(2))
            line, flags = int(marker.group(1)), marker.group(3).split()
            if {"1", "3"} <= {*flags}:  # a 3 alone stands before an expanded macro
                of_compiler.add(path)
                if not was_system and not here.startswith("<c"):
                    elsewhere[places.name_of(path)] = None
            is_system = path in of_compiler
            continue
        if path == SOURCE and row.strip():
            rows.append(row)
            lines.append(line)
        elif not is_system and not path.startswith(("<", *places.work)):
            declarations.append(row)
        line += 1
    read = [file for file in files if not file.startswith(places.work)]
    options = [word[1:] for word in words if word.startswith("@")]
    words = [*words, *(_text_of(path) for path in options)]
    # files in folders named by the user are the user's, even if the compiler treats them as system
    # headers
    named = [one for one in places.folders if any(one in word for word in words)]
    own = [
        (places.name_of(file), file)
        for file in read
        if file not in of_compiler or any(file.startswith(f"{one}/") for one in named)
    ]
    if all(is_known(f"<{name}>") for name in elsewhere):
        read = [file for _, file in own]  # C's headers change with the compiler
    return Expanded(
        rows,
        lines,
        "\n".join(declarations),
        tuple(elsewhere),
        (*own, *((one, one) for one in options)),
        (*read, *options),
        tuple(one for one in places.folders if not one.startswith(places.work)),
    )


def _refuse(said: str, users: Sequence[int]) -> None:
    """Raise the compiler's error, except for a missing header: compiling will report the header."""
    found = _ERROR.search(said)
    if found is None or _ABSENT.search(said):
        return
    where, line, message = found.groups()
    if where == SOURCE:
        line = users[min(int(line), len(users)) - 1]
    raise UsageError(f"{where}, line {line}: the preprocessor says: {message}")
