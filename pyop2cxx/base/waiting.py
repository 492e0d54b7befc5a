# SPDX-License-Identifier: BSD-3-Clause
"""A line on the terminal while something takes long: what it is, and for how many seconds."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SECONDS = 1.0
"""What takes less shows nothing."""
_BAR = 20
"""Characters of a bar."""
_EVERY = 0.2
"""Seconds after which the line is written anew."""


def is_seen() -> bool:
    """Whether somebody may look: the error output is a terminal."""
    stream = sys.stderr
    return stream is not None and not stream.closed and stream.isatty()


@contextmanager
def waiting(what: str, since: float | None = None) -> Iterator[Callable[[str], None]]:
    """Say on a terminal what a block is at, from its second second on; nothing is left of it.

    Args:
        what: What it is at, such as ``reading plate.msh``.
        since: When that began, by `time.monotonic`; None means now.

    Yields:
        What takes another text in place of `what`, such as ``compiling 3 of 5``.
    """
    if not is_seen():
        yield _unseen
        return
    line = _Line(what, monotonic() if since is None else since)
    line.start()
    try:
        yield line.say
    finally:
        line.end()


@contextmanager
def counting(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Say as `waiting` does what a block is at, and how much of it is done, with a bar.

    Args:
        what: What it is at.
        total: How much there is to do, in any unit, such as bytes.

    Yields:
        What takes how much more has been done.
    """
    done = 0
    with waiting(_with_bar(what, 0.0)) as say:

        def add(n: int) -> None:
            nonlocal done
            done += n
            say(_with_bar(what, min(1.0, done / total) if total else 1.0))

        yield add


def _with_bar(what: str, share: float) -> str:
    full = int(share * _BAR)
    return f"{what}: {share:4.0%} |{'#' * full}{' ' * (_BAR - full)}|"


def _unseen(_: str) -> None:
    """Take a text that nobody sees."""


class _Line(Thread):
    """Writes what something is at as long as it takes."""

    def __init__(self, what: str, since: float) -> None:
        super().__init__(daemon=True)
        self._what = what
        self._since = since
        self._stream = sys.stderr
        self._ended = Event()

    def say(self, what: str) -> None:
        self._what = what

    def end(self) -> None:
        self._ended.set()
        self.join()

    def run(self) -> None:
        if self._ended.wait(max(0.0, self._since + SECONDS - monotonic())):
            return
        width = 0
        while not self._ended.is_set():
            text = f"{self._what}: {monotonic() - self._since:.0f} s"[: self._columns()]
            self._write(f"\r{text:{width}}")
            width = len(text)
            self._ended.wait(_EVERY)
        self._write(f"\r{'':{width}}\r")

    def _columns(self) -> int:
        """Return how many characters fit on a line of the terminal without filling it."""
        with suppress(OSError, ValueError):  # a stream without a file
            return max(1, os.get_terminal_size(self._stream.fileno()).columns - 1)
        return 79

    def _write(self, text: str) -> None:
        with suppress(OSError, ValueError):  # the terminal is gone
            self._stream.write(text)
            self._stream.flush()


class Series:
    """Things of one kind that may each be short, and take long one soon after the other.

    Args:
        what: What is done to them, such as ``compiling``.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._begin = self._end = -SECONDS
        self._n = 0

    @contextmanager
    def one(self, name: str) -> Iterator[None]:
        """Say what a block does as `waiting` does, from the second second of the series on.

        Args:
            name: Of the thing.
        """
        now = monotonic()
        if now - self._end > SECONDS:
            self._begin, self._n = now, 0
        self._n += 1
        so_far = f", {self._n} so far" if self._n > 1 else ""
        try:
            with waiting(f"{self._what} {name}{so_far}", self._begin):
                yield
        finally:
            self._end = monotonic()
