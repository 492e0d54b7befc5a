# SPDX-License-Identifier: BSD-3-Clause
"""HDF5 files are checked by another process first: damaged files hang or crash libhdf5."""

from __future__ import annotations

import faulthandler
import os
import signal
import warnings
from typing import TYPE_CHECKING, Any

from pyop2cxx.base import extras

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SECONDS = 20
_BYTES_A_SECOND = 20_000_000
_MOST_PACKED = 1000
"""Largest ratio of a dataset's values to their stored bytes."""
_MOST_READ = 1_000_000_000
"""Largest dataset in chunks read for a trial, in bytes."""


def what_is_wrong(path: str | os.PathLike[str], purpose: str) -> str:
    """Check an HDF5 file in a separate process, since the check may hang or crash.

    Links to other files, values in other files and circular links are refused, so reading ends and
    stays within the file. Datasets must not be larger than the file can hold.

    Args:
        path: The file.
        purpose: The use of h5py, for the message if not installed.

    Returns:
        The fault; empty if none.

    Raises:
        MissingExtraError: h5py is not installed.
    """
    h5py = extras.load("h5py", purpose)
    seconds = _SECONDS + os.path.getsize(path) // _BYTES_A_SECOND
    said, status = _elsewhere(lambda: _found(h5py, path), seconds)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number == signal.SIGALRM:
            return f"reading it has not ended in {seconds} s; it is damaged"
        return f"reading it has ended a process by {signal.Signals(number).name}; it is damaged"
    return said


def _elsewhere(ask: Callable[[], str], seconds: int) -> tuple[str, int]:
    """Return a function's answer from a process with a time limit, and the status."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        # the child uses only HDF5, and h5py holds a lock over the fork
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        faulthandler.disable()  # the parent process reports crashes
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(seconds)
        try:
            os.write(write, ask().encode(errors="replace")[:4000])
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read().decode(errors="replace")
    return said, os.waitpid(child, 0)[1]


def _found(h5py: Any, path: str | os.PathLike[str]) -> str:
    try:
        with h5py.File(path, "r") as file:
            return next(_problems(h5py, file, os.path.getsize(path)), "")
    except Exception as error:
        return f"not an HDF5 file, cut off, or damaged: {type(error).__name__}: {error}"


def _problems(h5py: Any, file: Any, size: int) -> Iterator[str]:
    seen, waiting = {h5py.h5o.get_info(file.id).addr}, [file]
    _ = dict(file.attrs)
    while waiting:
        group = waiting.pop()
        for name in group:
            link = group.get(name, getlink=True)
            if not isinstance(link, h5py.HardLink):
                if isinstance(link, h5py.ExternalLink):
                    yield f"'{group.name}/{name}' leads to another file"
                continue
            found = group[name]
            _ = dict(found.attrs)
            if isinstance(found, h5py.Dataset):
                yield from _problems_of(found, size)
            elif isinstance(found, h5py.Group):
                place = h5py.h5o.get_info(found.id).addr
                if place in seen:
                    yield f"group {found.name} is in itself, or has two names"
                seen.add(place)
                waiting.append(found)


def _problems_of(dataset: Any, size: int) -> Iterator[str]:
    n_bytes = int(dataset.nbytes or 0) if dataset.shape is not None else 0
    if dataset.external or dataset.is_virtual:
        yield f"the values of {dataset.name} are in another file"
    is_whole = dataset.chunks is None
    stored = dataset.id.get_storage_size()
    if n_bytes > size * _MOST_PACKED or (is_whole and stored and n_bytes > size):
        yield f"{dataset.name} has {n_bytes} bytes, but the file has {size}"
    if not is_whole and n_bytes <= _MOST_READ:
        _ = dataset[...]
