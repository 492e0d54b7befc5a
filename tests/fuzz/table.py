# SPDX-License-Identifier: BSD-3-Clause
"""Prints what random tests have run, as tables: `python tests/fuzz/table.py [RECORD.json...]`.

Records are written by `run.py`, `chains.py`, `hostile.py` and `kills.py` with `--json`; without one
those of the repository are shown, `records.json`, to which `--add` appends the given ones. Lines
that differ in nothing but their seeds and dates are one; below them are the sums for each backend.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.records import Seeds, seeds_of, sessions_in

if TYPE_CHECKING:
    from collections.abc import Iterable

KEPT = Path(__file__).parent / "records.json"
HEAD = (
    "| what | where | seeds | runs | failures | commit | machine | date |\n"
    "|---|---|---|---:|---:|---|---|---|"
)
SUMS_HEAD = "| what | where | runs | failures |\n|---|---|---:|---:|"
SUMMED = {"loops": "random loops", "chains,": "random chains of loops"}  # by their first word


class Line(NamedTuple):
    """What is printed of a series.

    Attributes:
        what: What was run.
        where: On which backend.
        commit: Of what.
        machine: The processor and its cores.
        seeds: First and last.
        runs: How often.
        failures: Of these.
        date: When.
        note: What else is to be known, such as what was wrong.
    """

    what: str
    where: str
    commit: str
    machine: str
    seeds: str
    runs: int
    failures: int
    date: str = ""
    note: str = ""


def lines_of(record: dict[str, Any]) -> list[Line]:
    """Return the lines of a session."""
    machine, date = record["machine"], record.get("date", "")
    here = machine.get("commit", ""), f"{machine['processor']}, {machine['cores']} cores"
    if "calls" in record:
        n, first = record["calls"], record["first_seed"]
        seeds = str(Seeds.of(record["seeds"])) if "seeds" in record else f"from {first} on"
        return [Line("hostile calls", "", *here, seeds, n, len(record["faults"]), date)]
    if "backends" in record:
        return [
            Line("kills", name, *here, _seeds(record, found), found["killed"], n_noticed, date)
            for name, found in record["backends"].items()
            for n_noticed in [len(found["noticed"])]
        ]
    found = []
    for series in record["series"]:
        n = series["chains"] if "chains" in series else series["loops"]
        seeds, failures = str(seeds_of(series)), series["failures"]
        for backend, n_runs in series.get("runs_of", {series["backend"]: n}).items():
            # several backends may have run the same loops
            own = [
                one
                for one in failures
                if f"backend='{backend}'" in one.get("way", f"backend='{backend}'")
            ]
            found.append(Line(_what(series), backend, *here, seeds, n_runs, len(own), date))
    return found


def _seeds(record: dict[str, Any], found: dict[str, Any]) -> str:
    return str(Seeds.of(found["seeds"])) if "seeds" in found else f"from {record['seed']} on"


def _what(series: dict[str, Any]) -> str:
    if "chains" in series:
        return f"chains, loops joined in {series['joined']}"
    words = ["loops", *(f"with {kind}" for kind in series["kinds"])]
    words += ["in check mode"] * bool(series["check"])
    chained = series.get("chained", 0)
    return " ".join(words + [f"in chains of {chained}"] * bool(chained))


def table(lines: Iterable[Line]) -> str:
    """Return lines as one table in Markdown."""
    alike: dict[tuple[str, str, str, str], list[Line]] = {}
    for line in lines:
        alike.setdefault(line[:4], []).append(line)
    rows = [HEAD]
    for (what, where, commit, machine), same in alike.items():
        seeds, dates = (
            ", ".join(dict.fromkeys(filter(None, words)))
            for words in ([line.seeds for line in same], [line.date for line in same])
        )
        runs, failures = sum(line.runs for line in same), sum(line.failures for line in same)
        rows.append(
            f"| {what} | {where} | {seeds} | {runs} | {failures} | {commit} | {machine} | {dates} |"
        )
    return "\n".join(rows)


def sums(lines: Iterable[Line]) -> str:
    """Return how much each backend has run of what, as a table in Markdown."""
    runs, failures = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for line in lines:
        what = SUMMED.get(line.what.split()[0], line.what)
        runs[what, line.where] += line.runs
        failures[what, line.where] += line.failures
    rows = [f"| {' | '.join(key)} | {n} | {failures[key]} |" for key, n in runs.items()]
    return "\n".join([SUMS_HEAD, *sorted(rows)])


def kept() -> list[Line]:
    """Return the lines of the repository."""
    return [Line(**one) for one in json.loads(KEPT.read_text())]


def keep(lines: Iterable[Line]) -> None:
    """Append lines to those of the repository, but for what stands there already."""
    every = dict.fromkeys([*kept(), *(line for line in lines if line.runs)])
    rows = [json.dumps(line._asdict()) for line in every]
    KEPT.write_text("[\n" + ",\n".join(rows) + "\n]\n")


def main() -> None:
    """Print records, and keep them if that is wanted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("records", nargs="*", type=Path, help="files; none: the repository's")
    parser.add_argument("--add", action="store_true", help="append them to the repository's")
    given = parser.parse_args()
    lines = [
        line for path in given.records for one in sessions_in(path) for line in lines_of(one)
    ] or kept()
    if given.add:
        keep(lines)
    print(f"{table(lines)}\n\n{sums(lines)}")


if __name__ == "__main__":
    main()
