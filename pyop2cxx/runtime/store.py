# SPDX-License-Identifier: BSD-3-Clause
"""Results that take long to compute and are equal in every process, kept in the cache directory.

The first loop of a process with its object on disk would otherwise spend most of the time importing
the kernel parser, parsing, compiling templates, and printing text.
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
    """Return the result of `make`, from the cache directory if known there.

    Args:
        kind: A short name for the kind of entry; suffix of the files.
        key: All input of the result, compared in full by `repr`.
        make: Computes the bytes. Errors are raised each time.
    """
    if runtime.static:
        return make()  # static programs need no cache directory
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
    """Identify an installed package without importing.

    Returns:
        The `stamp` of its folder; empty if there is none.
    """
    found = _core.jit.stamp_of_package(_places(tuple(sys.path)), package)
    if found:  # in a hundredth of the time of asking the finders
        return found
    spec = importlib.util.find_spec(package)
    return "" if spec is None else stamp(spec.submodule_search_locations or ())


@lru_cache(maxsize=1)
def _places(entries: tuple[object, ...]) -> list[bytes]:
    return [os.fsencode(entry) for entry in entries if isinstance(entry, str)]


def stamp(folders: Iterable[str | Path]) -> str:
    """Identify the files in some folders, not below them.

    Returns:
        A digest of name, size and time of change of each file, as in Python's own cache of modules.
    """
    return _core.jit.stamp_of([*map(os.fsencode, folders)])
