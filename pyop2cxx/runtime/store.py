# SPDX-License-Identifier: BSD-3-Clause
"""What takes long to find out and is the same in every process, kept in the cache directory.

The first loop of a process whose object is on disk would otherwise spend most of its time on
importing the parser of kernels, on parsing, on compiling templates, and on printing its text.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from pyop2cxx import _core
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
def installed(package: str) -> str:
    """Identify an installed package without importing it.

    Returns:
        The `stamp` of its folder; empty if there is none.
    """
    found = _core.jit.stamp_of_package(_places(tuple(sys.path)), package)
    if found:  # in a hundredth of the time that asking the finders takes
        return found
    spec = importlib.util.find_spec(package)
    return "" if spec is None else stamp(spec.submodule_search_locations or ())


@lru_cache(maxsize=1)
def _places(entries: tuple[object, ...]) -> list[bytes]:
    return [os.fsencode(entry) for entry in entries if isinstance(entry, str)]


def stamp(folders: Iterable[str | Path]) -> str:
    """Identify what lies in some folders, not below them.

    Returns:
        A digest of name, size and time of change of each file. This is what Python's own cache of
        compiled modules goes by.
    """
    return _core.jit.stamp_of([*map(os.fsencode, folders)])
