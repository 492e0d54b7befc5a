# SPDX-License-Identifier: BSD-3-Clause
"""The commands ``pyop2cxx cache info|clear|path``."""

from __future__ import annotations

import shutil
from pathlib import Path

from pyop2cxx import _core
from pyop2cxx.ahead.installed import FOLDER
from pyop2cxx.exceptions import UsageError

__all__ = [
    "COMPILE_TIMEOUT_SECONDS",
    "MAX_DISK_BYTES",
    "MAX_MEMORY_ENTRIES",
    "cache_clear",
    "cache_info",
    "cache_path",
    "make_service",
]

#: Bound of the cache directory; the entries used longest ago go first.
MAX_DISK_BYTES = 1 << 30
#: : Bound of the libraries kept loaded by a process for reuse.
MAX_MEMORY_ENTRIES = 1024
#: : A compiler running longer is stopped.
COMPILE_TIMEOUT_SECONDS = 600.0


def make_service(
    *, cache_dir: str = "", use_disk: bool = True, cc: str = "", cxx: str = ""
) -> _core.jit.Service:
    """Open the compile service with the package's bounds.

    Args:
        cache_dir: Directory of compiled kernels; empty for the environment's.
        use_disk: Whether to keep compiled kernels for later processes.
        cc: C compiler; empty for the environment's.
        cxx: C++ compiler; likewise.

    Returns:
        A service usable by several threads.
    """
    return _core.jit.Service(
        cache_dir=cache_dir,
        use_disk=use_disk,
        max_disk_bytes=MAX_DISK_BYTES,
        max_memory_entries=MAX_MEMORY_ENTRIES,
        compile_timeout_seconds=COMPILE_TIMEOUT_SECONDS,
        cc=cc,
        cxx=cxx,
    )


def cache_path(cache_dir: str = "") -> str:
    """Return the cache directory, existing or not.

    Args:
        cache_dir: As for :func:`make_service`.

    Returns:
        An absolute path; empty if the user has no home and names no directory.
    """
    return _core.jit.cache_directory(cache_dir)


def cache_info(cache_dir: str = "") -> str:
    """Describe the cache directory in a few lines.

    Args:
        cache_dir: As for :func:`make_service`.

    Returns:
        Path, number of kernels and size, or why the directory is not used.
    """
    info = make_service(cache_dir=cache_dir).info()
    lines = [f"path     {info.path or '(none)'}"]
    if info.problem:
        lines.append(f"unused   {info.problem}")
    else:
        lines.append(f"kernels  {info.n_entries}")
        lines.append(f"size     {_size(info.n_bytes)} of at most {_size(MAX_DISK_BYTES)}")
    return "\n".join(lines)


def cache_clear(cache_dir: str = "") -> str:
    """Delete every compiled kernel, and run-times of C++; processes keep their loaded kernels.

    Args:
        cache_dir: As for :func:`make_service`.

    Returns:
        The deleted number and size, in a line.

    Raises:
        UsageError: If the directory is not ours to delete from.
    """
    service = make_service(cache_dir=cache_dir)
    before = service.info()
    if before.problem:
        raise UsageError(f"nothing was deleted: {before.problem}")
    service.clear()
    shutil.rmtree(Path(before.path, FOLDER), ignore_errors=True)
    freed = before.n_bytes - service.info().n_bytes
    return f"deleted {before.n_entries} kernels ({_size(freed)}) from {before.path}"


def _size(n_bytes: int) -> str:
    """Return a readable number of bytes."""
    size = float(n_bytes)
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"
