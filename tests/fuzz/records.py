# SPDX-License-Identifier: BSD-3-Clause
"""Records of random tests: files that are written while these run, and gone on from later.

A file holds the session that wrote it last, and under "earlier" those before, each with the commit
that it tried. A session that is killed loses what came after its last writing.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzz.jobs import machine

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

SECONDS_BETWEEN = 20.0  # from one writing to the next, at least


@dataclass(slots=True)
class Seeds:
    """Seeds that were run.

    Attributes:
        ranges: They, in order; no two touch.
    """

    ranges: list[range] = field(default_factory=list)

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, int]]) -> Seeds:
        """Return those of pairs of a first and a last one, as records have them."""
        found = cls()
        for first, last in pairs:
            found.add(range(first, last + 1))
        return found

    def add(self, new: range) -> None:
        """Add some that were run, whether or not they were before."""
        joined: list[range] = []
        for one in sorted([*self.ranges, new], key=lambda part: part.start):
            if joined and one.start <= joined[-1].stop:
                joined[-1] = range(joined[-1].start, max(joined[-1].stop, one.stop))
            elif one:
                joined.append(one)
        self.ranges = joined

    def missing(self, first: int, most: int) -> range:
        """Return the next that were not run, from one on, at most so many."""
        for done in self.ranges:
            if first < done.start:
                return range(first, min(first + most, done.start))
            first = max(first, done.stop)
        return range(first, first + most)

    def __len__(self) -> int:
        return sum(map(len, self.ranges))

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Yield the first and the last of each range."""
        return ((one.start, one.stop - 1) for one in self.ranges)

    def __str__(self) -> str:
        return ", ".join(f"{first} to {last}" for first, last in self) or "none"


class Record:
    """The record of a session.

    Args:
        path: Where it is written; None: nowhere.
        goes_on: Whether to go on from what stands there, if something does.

    Attributes:
        earlier: The sessions that stand there, the oldest first.
    """

    def __init__(self, path: Path | None = None, *, goes_on: bool = False) -> None:
        self.path = path
        is_there = path is not None and goes_on and path.exists()
        self.earlier = sessions_in(path) if is_there and path is not None else []
        self._head = {"date": time.strftime("%Y-%m-%d"), "machine": machine()}
        self._began = self._written = time.monotonic()

    def seconds(self) -> float:
        """Return how long this session has lasted."""
        return time.monotonic() - self._began

    def keep(self, found: dict[str, Any], *, is_over: bool = False) -> None:
        """Write what was found so far, if the last writing is long ago or the session is over.

        Whoever reads the file sees all of this or what stood there before.
        """
        now = time.monotonic()
        if self.path is None or (now - self._written < SECONDS_BETWEEN and not is_over):
            return
        self._written = now
        whole = {**self._head, "seconds": round(self.seconds(), 1), "is_over": is_over, **found}
        whole |= {"earlier": self.earlier} if self.earlier else {}
        aside = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        aside.write_text(json.dumps(whole, indent=1) + "\n")
        aside.replace(self.path)


def sessions_in(path: Path) -> list[dict[str, Any]]:
    """Return the sessions of a file, the oldest first."""
    last = json.loads(path.read_text())
    return [*last.pop("earlier", []), last]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what all programs that keep records can be told of them."""
    parser.add_argument("--json", type=Path, default=None, help="keep a record there")
    parser.add_argument(
        "--resume", action="store_true", help="go on from the record there, if there is one"
    )


def record_of(given: argparse.Namespace) -> Record:
    """Return the record that the options ask for.

    Raises:
        SystemExit: There is no file to go on from.
    """
    if given.resume and given.json is None:
        raise SystemExit("--resume goes on from the record of --json FILE: say which")
    return Record(given.json, goes_on=given.resume)


def series_before(record: Record, like: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the series of earlier sessions that have what `like` has, the oldest first."""
    return [
        one
        for session in record.earlier
        for one in session.get("series", ())
        if like.items() <= one.items()
    ]


def seeds_of(series: dict[str, Any]) -> Seeds:
    """Return the seeds of a series; records once had the first and how many there were."""
    if "seeds" in series:
        return Seeds.of(series["seeds"])
    first, n = series["first_seed"], series["chains" if "chains" in series else "loops"]
    return Seeds.of([(first, first + n - 1)])
