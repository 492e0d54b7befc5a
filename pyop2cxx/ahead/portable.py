# SPDX-License-Identifier: BSD-3-Clause
"""The user's headers in a project, copied to build where the user's folders are missing.

Texts of parsed kernels contain the declarations of their headers; kernels compiled as written still
include them. Flags lead to the copies, relative to the project's folder.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyop2cxx.ahead.entries import Entry

HERE = "${CMAKE_CURRENT_SOURCE_DIR}"
"""Stands in flags for the folder of the project."""

_SEARCHED = ("-I", "-isystem", "-iquote", "-idirafter")
_READ = ("-include", "-imacros")
_SYSTEM = ("/usr/", "/lib/", "/opt/rocm", "/opt/cuda")
# a macro may stand for a header's name
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*(?:include|define[ \t]+\w+)[ \t]*(<[^>\n]+>|"[^"\n]+")', re.M)


def portable(folder: Path, entries: Sequence[Entry]) -> list[Entry]:
    """Copy headers into a project.

    Args:
        folder: Of the project.
        entries: The loops.

    Returns:
        The loops, with flags for the copies.
    """
    copies = _Copies(folder)
    return [replace(one, text=copies.text_of(one), flags=copies.flags_of(one)) for one in entries]


class _Copies:
    """Headers of the user, each copied once: root folders side by side, with unchanged contents."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._roots: list[Path] = []
        self._read: set[Path] = set()

    def text_of(self, entry: Entry) -> str:
        """Copy the headers included by a text; return the text with paths of copies."""
        folders = _folders(entry.flags)
        for flag, place in _pairs(entry.flags):
            if flag in _READ and os.path.isfile(place) and not _is_system(Path(place)):
                self._copy(Path(place), folders)
        return self._followed(entry.text, None, folders)

    def flags_of(self, entry: Entry) -> tuple[str, ...]:
        """Return the flags with the places of copies, and without empty folders."""
        found: list[str] = []
        skips = False
        words = list(entry.flags)
        for at, word in enumerate(words):
            if skips:
                skips = False
                continue
            flag = next((one for one in (*_SEARCHED, *_READ) if word.startswith(one)), "")
            place = word.removeprefix(flag)
            if flag and not place and at + 1 < len(words):
                place, skips = words[at + 1], True
            if not flag or _is_system(Path(place)):
                found += words[at : at + 1 + skips]
            elif (target := self._target(Path(place))) is not None:
                found.append(f"{flag}{HERE}/{target}")
        return tuple(found)

    def _followed(self, text: str, file: Path | None, folders: Sequence[Path]) -> str:
        def place(found: re.Match[str]) -> str:
            name = found[1][1:-1]
            beside = [file.parent] if file is not None and found[1][0] == '"' else []
            header = next((d / name for d in (*beside, *folders) if (d / name).is_file()), None)
            if header is None or _is_system(header):
                return found[0]
            self._copy(header, folders)
            target, here = self._place(header), self._beside(file)
            looked = [*([here] if beside else []), *(self._place(one) for one in folders)]
            if any(os.path.normpath(one / name) == str(target) for one in looked):
                return found[0]
            return found[0].replace(found[1], f'"{os.path.relpath(target, here)}"')

        return _INCLUDE.sub(place, text)

    def _beside(self, file: Path | None) -> Path:
        """Return the folder of a copy or a source."""
        return self._folder / "src" if file is None else self._place(file).parent

    def _place(self, header: Path) -> Path:
        return self._folder / str(self._target(header))

    def _copy(self, header: Path, folders: Sequence[Path]) -> None:
        header = Path(os.path.abspath(header))
        root = next((one for one in (*self._roots, *folders) if one in header.parents), None)
        if root is None:
            root = header.parent
        if root not in self._roots:
            self._roots.append(root)
        if header in self._read:
            return
        self._read.add(header)
        text = self._followed(
            header.read_text(encoding="utf-8", errors="surrogateescape"), header, folders
        )
        target = self._place(header)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", errors="surrogateescape")

    def _target(self, place: Path) -> str | None:
        """Return the place of a user's folder or header in the project; None if absent."""
        place = Path(os.path.abspath(place))
        for number, root in enumerate(self._roots):
            if place == root or root in place.parents:
                return Path(f"include/{number}", place.relative_to(root)).as_posix()
        return None


def _pairs(flags: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each flag with a place, in one word or in two, as a pair."""
    for at, word in enumerate(flags):
        flag = next((one for one in (*_SEARCHED, *_READ) if word.startswith(one)), "")
        if flag:
            place = word.removeprefix(flag) or "".join(flags[at + 1 : at + 2])
            yield flag, os.path.abspath(place)


def _folders(flags: Sequence[str]) -> list[Path]:
    return [Path(place) for flag, place in _pairs(flags) if flag in _SEARCHED]


def _is_system(place: Path) -> bool:
    return os.path.abspath(place).startswith(_SYSTEM)
