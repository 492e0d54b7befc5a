# SPDX-License-Identifier: BSD-3-Clause
"""Measured choices: ``op2.tune``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyop2cxx.chain.costs import costs_of
from pyop2cxx.pipeline import flow
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.showing import Tabled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyop2cxx.runtime.tuned_file import Entry

__all__ = ["Answer", "Report", "lookup", "report"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The source of a loop's choice.

    Attributes:
        level: ``"exact"``: measured for this loop and size on this device; ``"size"``: for another
            size or other facts about Maps; ``"device"``: on another device, or by the maker of a
            loaded table; ``"alike"``: for two similar loops; ``"rule"``: not measured.
        way: Strategy, lanes and tuning; of a rule, the rules' choice.
        us: Microseconds of a run as measured, with ``"alike"`` of the more similar loop; None for a
            rule.
        rule_us: Microseconds in the way of the rules; None for a rule.
        size: Bits of the number of elements of the measurement; None for a rule.
        when: Date and time; empty for a rule.
        refused: Ways found wrong, or crashing, with reasons.
    """

    level: str
    way: Mapping[str, Any]
    us: float | None = None
    rule_us: float | None = None
    size: int | None = None
    when: str = ""
    refused: Mapping[str, str]

    @property
    def gain(self) -> float:
        """Time of the rules' way divided by the time of the way; 1 for a rule."""
        return 1.0 if not self.us or not self.rule_us else self.rule_us / self.us


class Report(Tabled):
    """Measured choices used by this process; `print` shows a table.

    Attributes:
        mode: The option `tune`.
        file: File for the present backend; empty if unknown.
        entries: Measurements there and of this process.
        n_new: Number of measurements in this process.
        problems: A line for each file or entry not used.
    """

    def __init__(self) -> None:
        tuned, backend = runtime.engine.tuned, runtime.backend
        self.mode = str(runtime.configuration["tune"])
        place, folder = tuned.place(backend), tuned.folder
        self.file = "" if place is None or folder is None else str(folder / place.file_name)
        self.entries = tuple(tuned.all_of(backend))
        self.n_new = tuned.n_new
        self.problems = tuple(tuned.problems)

    def _as_rows(self) -> tuple[str, list[tuple[str, ...]], str]:
        head = f"tune={self.mode!r}: {self.file or 'no file'}, {self.n_new} new measurements"
        below = [*tables_of(self.entries), "; ".join(self.problems)]
        return head, rows_of(self.entries), "\n".join(filter(None, below))

    def __str__(self) -> str:
        tables = tables_of(self.entries)
        return "\n".join([self._as_rows()[0], super().__str__(), *tables, *self.problems])


class Table(Tabled):
    """Rows under a head.

    Args:
        rows: The head, and the rows.
    """

    def __init__(self, rows: list[tuple[str, ...]]) -> None:
        self._rows = rows

    def _as_rows(self) -> tuple[str, list[tuple[str, ...]], str]:
        return "", self._rows, ""


def tables_of(entries: Iterable[Entry]) -> list[str]:
    """Return the gain of each pass, a table for each measured chain.

    Args:
        entries: Measurements of all kinds.
    """
    found = map(costs_of, sorted(entries, key=lambda one: (one.name, one.size)))
    return [str(one) for one in found if one is not None]


def rows_of(entries: tuple[Entry, ...]) -> list[tuple[str, ...]]:
    """Return a table of measurements, with a head.

    Args:
        entries: The measurements.
    """
    rows: list[tuple[str, ...]] = [("subject", "kind", "size", "rule us", "best us", "gain", "way")]
    for one in sorted(entries, key=lambda one: (one.kind, one.name, one.size)):
        rows.append(
            (
                one.name,
                one.kind,
                f"2^{one.size}",
                f"{one.rule_us:.1f}",
                f"{one.us:.1f}",
                f"{one.gain:.2f}",
                one.way_text + "".join(f"; not {way}: {why}" for way, why in one.refused.items()),
            )
        )
    return rows


def lookup(loop: Any) -> Answer:
    """Say where the choice of a loop comes from; nothing is compiled, run or measured.

    Args:
        loop: A `ParLoop`.

    Raises:
        UnsupportedError: The loop is not possible on the backend.

    Example:
        >>> from pyop2cxx import op2
        >>> x = op2.Dat(op2.Set(3))
        >>> double = op2.Kernel("void twice(double *x) { x[0] *= 2; }", "twice")
        >>> op2.tune.lookup(op2.ParLoop(double, x.dataset.set, x(op2.RW), strategy="direct")).level
        'rule'
    """
    request, choice = flow.as_it_runs(loop.current_request())
    found = flow.known(request)
    refused = {} if found is None else found.entry.refused
    if found is None or choice.level == "rule":
        way = {"strategy": choice.strategy, "lanes": choice.options.lanes, "tuning": {}}
        return Answer(level="rule", way=way, refused=refused)
    entry = found.entry
    return Answer(
        level=choice.level,
        way=entry.way,
        us=entry.us,
        rule_us=entry.rule_us,
        size=entry.size,
        when=entry.when,
        refused=refused,
    )


def report() -> Report:
    """Return the measured choices known for the present backend, and problems with their files."""
    return Report()
