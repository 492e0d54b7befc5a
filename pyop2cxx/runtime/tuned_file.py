# SPDX-License-Identifier: BSD-3-Clause
"""Measured choices on disk: a readable file for each device, replaced as a whole under a lock."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import re
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from pyop2cxx import _core
from pyop2cxx.base.files import replacing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

SCHEMA = 2
LOOP, PASSES = "loop", "passes"
KINDS = (LOOP, "algebra", "replay", "while", "chain", "lazy", PASSES)
_MOST_ENTRIES = 4096
_MOST_BYTES = 1 << 26
_LOCK = ".lock"
_PATIENCE_SECONDS = 15.0
_MOST_LETTERS = 40


class Place(NamedTuple):
    """Where measurements hold.

    Attributes:
        backend: Name of the backend.
        device: Name of the device, or of the processor.
        driver: Version of the driver; empty on the host.
        compiler: Compiler with version and additional flags.
        threads: Threads of a loop; of a device the number of multiprocessors.
    """

    backend: str
    device: str
    driver: str
    compiler: str
    threads: int

    @property
    def file_name(self) -> str:
        """Name of the file: readable, and different for each place."""
        words = re.sub(r"[^A-Za-z0-9]+", "-", self.device).strip("-")[:_MOST_LETTERS] or "device"
        digest = hashlib.sha256(repr(tuple(self)).encode()).hexdigest()[:12]
        return f"{self.backend}-{words}-{digest}.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A measured choice.

    Attributes:
        kind: One of `KINDS`.
        key: Digest of the subject, without sizes.
        facts: Digest of facts about Maps; empty if none matter.
        size: Bits of the number of elements, so sizes within a factor of two share an entry.
        name: Name of the subject, for readers.
        way: The fastest way. Of a trial, the time of each way by name.
        us: Microseconds of a run in this way.
        rule_us: Microseconds of a run in the way of the rules.
        spread: Relative distance between the shortest and the median run.
        n: Number of compared ways.
        when: Date and time of the measurement.
        refused: Ways not to be taken, with reasons.
        times: Microseconds of each way of a loop, by the text of the way.
        traits: Shape and work of a loop, see `neighbours.Traits`.
        apart: Microseconds with wide Dats in ``layout="soa"`` as `us`; empty without.
    """

    kind: str
    key: str
    size: int
    name: str
    way: dict[str, Any]
    us: float
    rule_us: float
    facts: str = ""
    spread: float = 0.0
    n: int = 0
    when: str = ""
    refused: dict[str, str] = field(default_factory=dict)
    times: dict[str, float] = field(default_factory=dict)
    traits: dict[str, Any] = field(default_factory=dict)
    apart: dict[str, Any] = field(default_factory=dict)

    @property
    def identity(self) -> tuple[str, str, str, int]:
        """Kind, key, facts and size: an entry with equal identity is replaced; tuple."""
        return self.kind, self.key, self.facts, self.size

    @property
    def way_text(self) -> str:
        """The way for readers; of a trial, the name of the fastest way."""
        if self.kind == LOOP:
            return text_of(self.way)
        if self.kind == PASSES:
            return "as a chain"
        return min(self.way, key=lambda name: float(self.way[name]), default="")

    @property
    def gain(self) -> float:
        """Time of the rules' way divided by the time of this way."""
        return self.rule_us / self.us if self.us > 0 else 1.0


class Contents(NamedTuple):
    """A file as read.

    Attributes:
        place: Where the entries were measured; None if unreadable.
        entries: The entries; none if something is wrong.
        problem: A line about the damage; empty if all is well.
    """

    place: Place | None
    entries: tuple[Entry, ...]
    problem: str = ""


def text_of(way: Mapping[str, Any]) -> str:
    """Return strategy, lanes and tuning of a loop's way, for readers."""
    numbers = "".join(f", {name} {value}" for name, value in way.get("tuning", {}).items())
    return f"{way.get('strategy')}, {way.get('lanes')} lanes{numbers}"


def now() -> str:
    """Return date and time, for an entry."""
    return time.strftime("%Y-%m-%d %H:%M:%S")


def size_of(n: int) -> int:
    """Return the size of an entry for a number of elements."""
    return max(int(n), 0).bit_length()


def of_trial(
    kind: str, key: str, size: int, name: str, us: dict[str, float], rule_us: float
) -> Entry:
    """Return the entry of a trial.

    Args:
        kind: One of `KINDS`.
        key: Digest of the subject.
        size: Bits of the size.
        name: Name of the subject, for readers.
        us: Microseconds of each way.
        rule_us: Those of the way taken without a trial.
    """
    return Entry(
        kind=kind,
        key=key,
        size=size,
        name=name,
        way=us,
        us=min(us.values()),
        rule_us=rule_us,
        n=len(us),
        when=now(),
    )


def times_of(entry: Entry) -> dict[str, float] | None:
    """Return the microseconds of each way of a trial; None if the entry has other contents."""
    if not entry.way or not all(type(us) in (int, float) and us > 0 for us in entry.way.values()):
        return None
    return {way: float(us) for way, us in entry.way.items()}


def written(place: Place, entries: Iterable[Entry]) -> str:
    """Return the text of a file.

    Args:
        place: Where the entries were measured.
        entries: The entries.
    """
    found = sorted(entries, key=lambda one: (one.kind, one.name, one.identity))
    body = {"place": place._asdict(), "entries": [asdict(one) for one in found]}
    whole = {"schema": SCHEMA, "checksum": _checksum(body), **body}
    return json.dumps(whole, indent=1, sort_keys=True) + "\n"


def read(path: Path) -> Contents:
    """Read a file. Damage of any kind is a line in the result, and never an exception.

    Args:
        path: The file.
    """
    try:
        if path.stat().st_size > _MOST_BYTES:
            return _bad(path, f"it has more than {_MOST_BYTES >> 20} MiB")
        if why := _core.why_untrusted(str(path.absolute()), "the file"):
            return _bad(path, why)
        return parsed(path, json.loads(path.read_bytes()))
    except OSError as error:
        return _bad(path, error.strerror or str(error))
    except (ValueError, RecursionError):
        return _bad(path, "it is cut short, or no file of this kind")


def parsed(path: Path, found: Any) -> Contents:
    """Return the contents of a file, or a line about the damage.

    Args:
        path: The file, for the line.
        found: The decoded JSON.
    """
    try:
        if found["schema"] != SCHEMA:
            return _bad(path, f"it has schema {found['schema']!r}; this version reads {SCHEMA}")
        body = {"place": found["place"], "entries": found["entries"]}
        if found["checksum"] != _checksum(body):
            return _bad(path, "its checksum is wrong")
        place = Place(*(kind(found["place"][name]) for name, kind in _PLACE))
        entries = tuple(_entry(one) for one in found["entries"])
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return _bad(path, "it is cut short, or no file of this kind")
    return Contents(place, entries)


_PLACE: tuple[tuple[str, Any], ...] = (
    *((name, str) for name in ("backend", "device", "driver", "compiler")),
    ("threads", int),
)
_NUMBERS = {"us", "rule_us", "spread"}
_TEXTS = {"kind", "key", "facts", "name", "when"}
_COUNTS = {"size", "n"}
_TABLES = {"way", "refused", "times", "traits", "apart"}


def _entry(found: dict[str, Any]) -> Entry:
    for names, kinds in (
        (_NUMBERS, (int, float)),
        (_TEXTS, (str,)),
        (_COUNTS, (int,)),
        (_TABLES, (dict,)),
    ):
        if not all(type(found[name]) in kinds for name in names):
            raise TypeError(found)
    return Entry(**found)


def _bad(path: Path, why: str) -> Contents:
    return Contents(None, (), f"tuned choices in '{path}' are not used: {why}")


def _checksum(body: dict[str, Any]) -> str:
    return str(_core.digest(json.dumps(body, sort_keys=True, separators=(",", ":"))))


def change(
    folder: Path, place: Place, changed: Callable[[tuple[Entry, ...]], Sequence[Entry]]
) -> str:
    """Replace the entries of a file, with other processes kept out meanwhile.

    Args:
        folder: The folder of all files; made if missing, below an existing folder.
        place: Names the file.
        changed: Gets the present entries, and returns the new ones; none: the file is removed.

    Returns:
        A line about the problem if nothing could be written, or if the old file was damaged.
    """
    path = folder / place.file_name
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        if why := _core.why_untrusted(str(folder.absolute()), "the folder"):
            return f"tuned choices are not kept: {why}"
        with _alone(folder):
            for left in folder.glob(f".{path.stem}-*{path.suffix}"):
                left.unlink(missing_ok=True)  # of a killed process: nobody else writes now
            before = read(path) if path.exists() else Contents(place, ())
            entries = changed(before.entries)
            if not entries:
                path.unlink(missing_ok=True)
                return before.problem
            kept = sorted(entries, key=lambda one: one.when)[-_MOST_ENTRIES:]
            with replacing(path) as temporary:
                temporary.write_text(written(place, kept))
        return before.problem
    except OSError as error:
        return f"tuned choices are not kept in '{folder}': {error.strerror or error}"


def merged(old: Iterable[Entry], new: Iterable[Entry]) -> list[Entry]:
    """Return old and new entries, where a new entry replaces its predecessor."""
    return list({one.identity: one for one in (*old, *new)}.values())


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other processes out; the system ends the lock of a killed process."""
    number = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        end = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > end:
                    raise OSError(errno.EBUSY, "another process holds the lock") from None
                time.sleep(0.002)
        yield
    finally:
        os.close(number)
