# SPDX-License-Identifier: BSD-3-Clause
"""A progress line on the terminal during long operations: text and seconds."""

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
"""Shorter operations show nothing."""
_BAR = 20
"""Characters of a bar."""
_EVERY = 0.2
"""Seconds between updates of the line."""


def is_seen() -> bool:
    """Whether somebody may look: the error output is a terminal."""
    stream = sys.stderr
    return stream is not None and not stream.closed and stream.isatty()


@contextmanager
def waiting(what: str, since: float | None = None) -> Iterator[Callable[[str], None]]:
    """Show a block's activity on a terminal from the second second on, erased at the end.

    Args:
        what: The activity, as ``reading plate.msh``.
        since: Begin of the activity, by `time.monotonic`; None means now.

    Yields:
        A callable to replace the text, as by ``compiling 3 of 5``.
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
    """Show a block's activity like `waiting`, with a bar of the completed share.

    Args:
        what: The activity.
        total: Amount of work, in any unit, for example bytes.

    Yields:
        A callable for the amount completed since its last call.
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
    """Ignore a text."""


class _Line(Thread):
    """Writes the line until stopped."""

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
        """Return the number of characters that fit on a line of the terminal, minus one."""
        with suppress(OSError, ValueError):  # a stream without a file
            return max(1, os.get_terminal_size(self._stream.fileno()).columns - 1)
        return 79

    def _write(self, text: str) -> None:
        with suppress(OSError, ValueError):  # the terminal is gone
            self._stream.write(text)
            self._stream.flush()


class Series:
    """Short operations of the same kind in quick succession, long together.

    Args:
        what: The activity, as ``compiling``.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._begin = self._end = -SECONDS
        self._n = 0

    @contextmanager
    def one(self, name: str) -> Iterator[None]:
        """Show a block's activity like `waiting`, from the second second of the series on.

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
