# SPDX-License-Identifier: BSD-3-Clause
"""What takes long to find out and is the same in every process, kept in the cache directory.

The first loop of a process whose object is on disk would otherwise spend most of its time on
importing the parser of kernels, on parsing, on compiling templates, and on printing its text.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from functools import cache
from typing import TYPE_CHECKING

from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path


def remembered(kind: str, key: object, make: Callable[[], bytes]) -> bytes:
    """Return what `make` returns, from the cache directory if it is known there.

    Args:
        kind: A short name for such entries; the suffix of their files.
        key: Everything the bytes depend on. It is compared in full, by its `repr`.
        make: Finds the bytes out. What it raises is raised here, each time.
    """
    if runtime.static:
        return make()  # whoever only wants text is not asked for a cache directory
    service = runtime.engine.service
    whole = repr(key)
    known = service.recall(kind, whole)
    if known is not None:
        return known
    made = make()
    service.keep(kind, whole, made)
    return made


@cache
def installed(package: str) -> tuple[tuple[str, int, int], ...]:
    """Identify an installed package without importing it.

    Returns:
        Name, size and time of change of every file in its folder; nothing if there is none. This
        is what Python's own cache of compiled modules goes by.
    """
    for entry in sys.path:  # a tenth of the time that asking the finders takes
        if os.path.isdir(folder := os.path.join(entry, package)):
            return files((folder,))
    spec = importlib.util.find_spec(package)
    return files(() if spec is None else spec.submodule_search_locations or ())


def files(folders: Iterable[str | Path]) -> tuple[tuple[str, int, int], ...]:
    """Identify what lies in some folders, not below them: see `installed`."""
    found = []
    for folder in folders:
        for entry in os.scandir(folder):
            if entry.is_file():
                about = entry.stat()
                found.append((entry.path, about.st_size, about.st_mtime_ns))
    return tuple(sorted(found))
