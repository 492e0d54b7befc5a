# SPDX-License-Identifier: BSD-3-Clause
"""Files read by a preprocessor, recorded so that another process can check for changes."""

from __future__ import annotations

import os
import pickle
import re
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pyop2cxx import _core
from pyop2cxx.base.folders import template_folder
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.memo import until_exit
from pyop2cxx.runtime.store import installed, stamp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_PARSERS = ("tree_sitter", "tree_sitter_c", "pcpp")
_NAMED = re.compile(r'(?:include|include_next|embed)\s*\(?\s*(?:<([^>"\n]+)>|"([^">\n]+)")')
_SETTLED_NS = 2_000_000_000  # a file changed later may change again within the same time stamp


class FileRead(NamedTuple):
    """State of a file.

    Attributes:
        path: Absolute.
        stamp: Number, size and times of change; empty if only the content can tell.
        digest: Digest of the content; empty for a missing file.
    """

    path: str
    stamp: tuple[int, ...]
    digest: str

    def is_as_it_was(self) -> bool:
        """Whether the content is unchanged, or the file still missing."""
        try:
            found = os.stat(self.path)
        except OSError:
            return not self.digest
        if self.stamp and self.stamp == _stamp(found):
            return True
        return bool(self.digest) and digest_of(self.path) == self.digest


NEVER = FileRead("", (), "changes")
"""A state never found unchanged."""


def file_read(path: str, began: int = 0) -> FileRead:
    """Return the present state of a file.

    Args:
        path: Of the file.
        began: Time of the read, in nanoseconds since 1970. A later change means a changed file.
    """
    whole = os.path.abspath(path)
    try:
        found = os.stat(whole)
    except OSError:
        return FileRead(whole, (), "")
    if began and found.st_ctime_ns > began:
        return FileRead(whole, (), NEVER.digest)
    age = time.time_ns() - max(found.st_mtime_ns, found.st_ctime_ns)
    return FileRead(whole, _stamp(found) if age > _SETTLED_NS else (), digest_of(whole))


def digest_of(path: str) -> str:
    """Return a digest of a file's content; for an unreadable file a digest of nothing."""
    try:
        content = Path(path).read_bytes()
    except OSError:
        content = b""
    return _core.digest(content.decode("latin-1"))  # a character for each byte


def not_there(texts: Iterable[str], folders: Sequence[str], found: Iterable[str]) -> list[str]:
    """Return missing files that would be read, or tested, if present.

    Args:
        texts: Texts with possible includes, or tests by ``__has_include``.
        folders: Where files are looked for.
        found: The files read: each may be hidden by a file of the same name.
    """
    names = {"".join(pair) for text in texts for pair in _NAMED.findall(text)}
    for path in found:
        names |= {os.path.relpath(path, one) for one in folders if path.startswith(f"{one}/")}
    places = {os.path.join(folder, name) for folder in folders for name in names}
    return sorted(place for place in places if not os.path.exists(place))


def kept(key: object, make: Callable[[], tuple[Any, tuple[FileRead, ...]]]) -> Any:
    """Return the result of `make`, unless known and all files read are unchanged.

    The process is searched first, then the cache directory.

    Args:
        key: All input of the result besides files; compared by `repr`.
        make: Computes the result and the list of files read.
    """
    whole = repr(key)
    cell = _cell(whole)
    if cell and _holds(cell[0][1]):
        return cell[0][0]
    stored = None if runtime.static else runtime.engine.service.recall("read", whole)
    # Read back only from files trusted by Store to run as code: the user's, not writable by others.
    entry = None if stored is None else pickle.loads(stored)
    if entry is None or not _holds(entry[1]):
        entry = make()
        if not runtime.static:
            runtime.engine.service.keep("read", whole, pickle.dumps(entry))
    cell[:] = [entry]
    return entry[0]


@cache
def front_end() -> tuple[object, ...]:
    """Dependences of a kernel's tree besides the text: the package, and the parsers."""
    folders = (os.path.dirname(__file__), template_folder() / "kernels")
    return (stamp(folders), *(installed(package) for package in _PARSERS))


@until_exit(512)
def _cell(whole: str) -> list[tuple[Any, tuple[FileRead, ...]]]:
    """Return the place of an entry in the process, empty at first."""
    return []


def _holds(files: Iterable[FileRead]) -> bool:
    return all(file.is_as_it_was() for file in files)


def _stamp(found: os.stat_result) -> tuple[int, ...]:
    return (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
