# SPDX-License-Identifier: BSD-3-Clause
"""A line on the terminal while one thing takes long: what it is, and for how many seconds."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING

from pyop2cxx.base import extras

if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS = 1.0
"""What takes less shows nothing."""
_EVERY = 0.2
"""Seconds after which the line is written anew."""


def is_seen() -> bool:
    """Whether somebody may look: the error output is a terminal, and tqdm is installed."""
    stream = sys.stderr
    return stream is not None and stream.isatty() and extras.installed()["tqdm"]


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Say on a terminal what a block is at, from its second second on; nothing is left of it.

    Args:
        what: What it is at, such as ``reading plate.msh``.
    """
    if not is_seen():
        yield
        return
    ended = Event()
    thread = Thread(target=_tell, args=(what, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _tell(what: str, ended: Event) -> None:
    start = monotonic()
    if ended.wait(SECONDS):
        return
    tqdm = extras.load("tqdm", "a line that says what takes long")
    with tqdm.tqdm(bar_format="{desc}", leave=False) as line:
        while True:
            line.set_description_str(f"{what}: {monotonic() - start:.0f} s")
            if ended.wait(_EVERY):
                return
