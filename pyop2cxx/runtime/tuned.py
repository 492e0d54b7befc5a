# SPDX-License-Identifier: BSD-3-Clause
"""Measured choices of this process: from files, from loaded tables, and new ones."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.runtime.neighbours import neighbours
from pyop2cxx.runtime.tuned_file import LOOP, Entry, Place, change, merged, read, size_of, times_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pyop2cxx.runtime.neighbours import Traits

_FOLDER = "tuned"
HOST = "host"
"""In place of a backend, for algebra on the host: no compiler matters there."""


@dataclass(frozen=True, slots=True)
class Known:
    """An answer about a loop.

    Attributes:
        entry: The measurement.
        level: ``"exact"``: this loop with these facts and this size, on this device; ``"size"``:
            with another size or other facts; ``"device"``: from another device of the kind;
            ``"alike"``: of two similar loops on this device.
        other: The second of the similar loops; None at other levels.
    """

    entry: Entry
    level: str
    other: Entry | None = None


class Tuned:
    """The measured choices. Nothing is read before the first question for a backend.

    Safe to use from several threads.

    Args:
        configuration: The options.
        place_of: Returns the place of a backend's loops; None if unknown, for example without a
            device.

    Attributes:
        problems: Lines about files that could not be used or written.
        n_new: Number of measurements in this process so far.
    """

    def __init__(
        self, configuration: Mapping[str, Any], place_of: Callable[[str], Place | None]
    ) -> None:
        self._configuration = configuration
        self._place_of = place_of
        self._lock = threading.RLock()
        self._places: dict[str, Place | None] = {}
        self._known: dict[str, dict[tuple[str, str], list[Entry]]] = {}  # by name of the file
        self._others: dict[str, dict[tuple[str, str], list[Entry]]] = {}  # by backend
        self._shipped: dict[tuple[str, str], list[Entry]] = {}
        self._new: dict[Place, dict[tuple[str, str, str, int], Entry]] = {}
        self._answers: dict[object, Known | None] = {}
        self._has: bool | None = None  # None: not looked yet
        self.problems: list[str] = []
        self.n_new = 0

    @property
    def is_on(self) -> bool:
        """Whether the files are used."""
        return self._configuration["tune"] != "off" and not self._configuration["static"]

    @property
    def folder(self) -> Path | None:
        """The folder of the files; None if the user has no cache directory."""
        found = _core.jit.cache_directory(str(self._configuration["cache_dir"]))
        return Path(found) / _FOLDER if found else None

    @property
    def has_loops(self) -> bool:
        """Whether anything may be known about loops."""
        if self._shipped or self._new:
            return True
        if self._has is None:
            folder = self.folder if self.is_on else None
            self._has = folder is not None and folder.is_dir()
        return self._has

    def loop(
        self,
        backend: str,
        key: str,
        facts: str,
        size: int,
        traits: Callable[[], Traits] | None = None,
    ) -> Known | None:
        """Return what is known about a loop: of this device, of others, then of similar loops.

        Args:
            backend: Name of the backend.
            key: Digest of the loop, without facts.
            facts: Digest of facts about Maps.
            size: Bits of the number of elements.
            traits: Returns the traits of the loop, by which similar loops are found.
        """
        asked = (backend, key, facts, size)
        try:  # a warm answer takes no lock
            return self._answers[asked]
        except KeyError:
            with self._lock:
                found = self._answers[asked] = self._loop(*asked, traits)
            return found

    def _loop(
        self,
        backend: str,
        key: str,
        facts: str,
        size: int,
        traits: Callable[[], Traits] | None,
    ) -> Known | None:
        own = self._of(backend).get((LOOP, key), ())
        exact = [one for one in own if (one.facts, one.size) == (facts, size)]
        if exact:
            return Known(exact[-1], "exact")
        if own:
            near = min(own, key=lambda one: (abs(one.size - size), one.facts != facts))
            return Known(near, "size")
        found = self.shipped(key, size)
        if found is None and self.is_on:
            found = _nearest(self._of_others(backend).get((LOOP, key), ()), size)
        if found is None and traits is not None and (known := self.entries(backend, LOOP)):
            pair = neighbours(known, traits(), size)
            found = None if pair is None else Known(pair[0], "alike", pair[1])
        return found

    def shipped(self, key: str, size: int) -> Known | None:
        """Return what a loaded table knows about a loop.

        Args:
            key: Digest of the loop, without facts.
            size: Bits of the number of elements.
        """
        return _nearest(self._shipped.get((LOOP, key), ()), size)

    def trial(self, backend: str, kind: str, key: str, size: int) -> dict[str, float] | None:
        """Return the microseconds of the ways of a trial, by name; None if unknown.

        Args:
            backend: Name of the backend.
            kind: One of `tuned_file.KINDS`.
            key: Digest of the subject.
            size: Bits of the size.
        """
        with self._lock:
            found = [one for one in self._of(backend).get((kind, key), ()) if one.size == size]
        return times_of(found[-1]) if found else None

    def entries(self, backend: str, kind: str) -> list[Entry]:
        """Return all entries of a kind for a backend's loops on this device."""
        with self._lock:
            table = self._of(backend)
            return [
                one for (of_kind, _), found in table.items() if of_kind == kind for one in found
            ]

    def all_of(self, backend: str) -> list[Entry]:
        """Return all entries for a backend's loops on this device."""
        with self._lock:
            return [one for found in self._of(backend).values() for one in found]

    def note(self, backend: str, entry: Entry) -> None:
        """Take a new measurement, written by `keep`.

        Args:
            backend: Name of the backend.
            entry: The measurement.
        """
        with self._lock:
            place = self._place(backend)
            if place is None or not self.is_on:
                return
            self.n_new += 1
            self._new.setdefault(place, {})[entry.identity] = entry
            table = self._of(backend)
            alike = table.setdefault((entry.kind, entry.key), [])
            alike[:] = [*(one for one in alike if one.identity != entry.identity), entry]
            self._answers.clear()

    def add_shipped(self, entries: Iterable[Entry]) -> None:
        """Take the measurements of a loaded table."""
        with self._lock:
            for one in entries:
                self._shipped.setdefault((one.kind, one.key), []).append(one)
            self._answers.clear()

    def keep(self) -> None:
        """Write new measurements. Problems are noted, never raised."""
        with self._lock:
            new, self._new, self._has = self._new, {}, None
            folder = self.folder
            if not new or folder is None or not self.is_on:
                return
            if not folder.parent.is_dir():
                self._note_problem(f"tuned choices are not kept: there is no '{folder.parent}'")
                return
            for place, entries in new.items():
                self._note_problem(change(folder, place, partial(merged, new=entries.values())))

    def follow_options(self) -> None:
        """Forget answers that depend on options: an option has changed."""
        with self._lock:
            self._answers.clear()
            self._places.clear()
            self._has = None

    def place(self, backend: str) -> Place | None:
        """Return the place of a backend's loops, if known."""
        with self._lock:
            return self._place(backend)

    def _place(self, backend: str) -> Place | None:
        if backend not in self._places:
            self._places[backend] = self._place_of(backend)
        return self._places[backend]

    def _of(self, backend: str) -> dict[tuple[str, str], list[Entry]]:
        """Return the entries of this device, by kind and key."""
        folder = self.folder
        if not self.is_on or (not self._new and (folder is None or not folder.is_dir())):
            return {}
        place = self._place(backend)
        if place is None:
            return {}
        name = f"{folder}/{place.file_name}"
        if name not in self._known:
            path = Path(name)
            self._known[name] = self._read(path, place) if path.is_file() else {}
        return self._known[name]

    def _of_others(self, backend: str) -> dict[tuple[str, str], list[Entry]]:
        """Return the entries of other devices, by kind and key."""
        folder = self.folder
        if folder is None or not folder.is_dir():
            return {}
        key = f"{folder}/{backend}"
        if key not in self._others:
            found: dict[tuple[str, str], list[Entry]] = {}
            for path in sorted(folder.glob(f"{backend}-*.json")):
                for subject, entries in self._read(path).items():
                    found.setdefault(subject, []).extend(entries)
            self._others[key] = found
        return self._others[key]

    def _read(self, path: Path, place: Place | None = None) -> dict[tuple[str, str], list[Entry]]:
        place_found, entries, problem = read(path)
        if place is not None and place_found not in (None, place):
            problem, entries = f"tuned choices in '{path}' are of another device: not used", ()
        self._note_problem(problem)
        found: dict[tuple[str, str], list[Entry]] = {}
        for one in entries:
            found.setdefault((one.kind, one.key), []).append(one)
        return found

    def _note_problem(self, line: str) -> None:
        if line and line not in self.problems:
            self.problems.append(line)
            logging.getLogger("pyop2cxx").info(line)

    def refuse(self, entry: Entry, why: str) -> None:
        """Note that an entry's way is not possible here."""
        self._note_problem(f"tuned choice for '{entry.name}' is not used: {why}")


def _nearest(entries: Sequence[Entry], size: int) -> Known | None:
    """Return the entry of the nearest size."""
    if not entries:
        return None
    return Known(min(entries, key=lambda one: abs(one.size - size)), "device")


__all__ = ["HOST", "Known", "Tuned", "size_of"]
