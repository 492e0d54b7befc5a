# SPDX-License-Identifier: BSD-3-Clause
"""HDF5 files are looked through by another process first: damaged ones hang or crash libhdf5."""

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
"""How many times smaller than its values a dataset may be in a file."""
_MOST_READ = 1_000_000_000
"""Bytes of a dataset in pieces up to which it is read for a trial."""


def what_is_wrong(path: str | os.PathLike[str], purpose: str) -> str:
    """Look through an HDF5 file, in a process that may hang or crash instead of this one.

    Links to other files, values in other files and links in a circle are refused, so that reading
    ends and reads this file alone. Datasets must be as large as the file can hold.

    Args:
        path: The file.
        purpose: What h5py is needed for, for the message if it is not installed.

    Returns:
        What is wrong; empty if nothing is.

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
    """Return a function's answer from a process that ends in that time, and its status."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        # only HDF5 is used after the fork, and h5py holds its lock over it
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        faulthandler.disable()  # what crashes here is told by the other process
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
