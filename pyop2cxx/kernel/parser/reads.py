# SPDX-License-Identifier: BSD-3-Clause
"""What a preprocessor has read, so that another process knows whether it would read the same."""

from __future__ import annotations

import os
import pickle
import re
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pyop2cxx import _core
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.memo import until_exit
from pyop2cxx.runtime.store import installed, stamp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_PARSERS = ("tree_sitter", "tree_sitter_c", "pcpp")
_NAMED = re.compile(r'(?:include|include_next|embed)\s*\(?\s*(?:<([^>"\n]+)>|"([^">\n]+)")')
_SETTLED_NS = 2_000_000_000  # a file that was changed later may change again within its time stamp


class FileRead(NamedTuple):
    """A file as it was.

    Attributes:
        path: Absolute.
        stamp: Number, size and times of change; empty where only the content can tell.
        digest: Of the content; empty if there was no such file.
    """

    path: str
    stamp: tuple[int, ...]
    digest: str

    def is_as_it_was(self) -> bool:
        """Whether it has the same content, or is still not there."""
        try:
            found = os.stat(self.path)
        except OSError:
            return not self.digest
        if self.stamp and self.stamp == _stamp(found):
            return True
        return bool(self.digest) and digest_of(self.path) == self.digest


NEVER = FileRead("", (), "changes")
"""What is never as it was."""


def file_read(path: str, began: int = 0) -> FileRead:
    """Describe a file as it is now.

    Args:
        path: Of the file.
        began: When it was read, in nanoseconds since 1970. What was changed later is not as it was.
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
    """Return a digest of a file's content; of what cannot be read one of nothing."""
    try:
        content = Path(path).read_bytes()
    except OSError:
        content = b""
    return _core.digest(content.decode("latin-1"))  # one character for each byte


def not_there(texts: Iterable[str], folders: Sequence[str], found: Iterable[str]) -> list[str]:
    """Return the files that would be read, or asked for, if they were there.

    Args:
        texts: What may include files, or ask for them by ``__has_include``.
        folders: Where files are looked for.
        found: The files that were read: each may be hidden by another of its name.
    """
    names = {"".join(pair) for text in texts for pair in _NAMED.findall(text)}
    for path in found:
        names |= {os.path.relpath(path, one) for one in folders if path.startswith(f"{one}/")}
    places = {os.path.join(folder, name) for folder in folders for name in names}
    return sorted(place for place in places if not os.path.exists(place))


def kept(key: object, make: Callable[[], tuple[Any, tuple[FileRead, ...]]]) -> Any:
    """Return what `make` returns, unless it is known and all that was read for it is as it was.

    It is looked for in this process, then in the cache directory.

    Args:
        key: All that the result depends on besides files; compared by its `repr`.
        make: Finds the result out, and what was read for it.
    """
    whole = repr(key)
    cell = _cell(whole)
    if cell and _holds(cell[0][1]):
        return cell[0][0]
    stored = None if runtime.static else runtime.engine.service.recall("read", whole)
    # Read back only from files that Store trusts to run as code: ours, writable by nobody else.
    entry = None if stored is None else pickle.loads(stored)
    if entry is None or not _holds(entry[1]):
        entry = make()
        if not runtime.static:
            runtime.engine.service.keep("read", whole, pickle.dumps(entry))
    cell[:] = [entry]
    return entry[0]


@cache
def front_end() -> tuple[object, ...]:
    """What is made of a kernel's text depends on besides it: this package, and the parsers."""
    return (stamp((os.path.dirname(__file__),)), *(installed(package) for package in _PARSERS))


@until_exit(512)
def _cell(whole: str) -> list[tuple[Any, tuple[FileRead, ...]]]:
    """Return the place of an entry of this process, empty at first."""
    return []


def _holds(files: Iterable[FileRead]) -> bool:
    return all(file.is_as_it_was() for file in files)


def _stamp(found: os.stat_result) -> tuple[int, ...]:
    return (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
