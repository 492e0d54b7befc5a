# SPDX-License-Identifier: BSD-3-Clause
"""Prints records of random tests as one table: `python tests/fuzz/table.py RECORD.json...`.

Records are written by `run.py`, `chains.py`, `hostile.py` and `kills.py` with `--json`. Lines that
differ in nothing but their seeds are one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

HEAD = (
    "| what | where | seeds | runs | failures | commit | machine |\n|---|---|---|---:|---:|---|---|"
)


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
    """

    what: str
    where: str
    commit: str
    machine: str
    seeds: str
    runs: int
    failures: int


def lines_of(record: dict[str, Any]) -> list[Line]:
    """Return the lines of a record."""
    machine = record["machine"]
    here = machine.get("commit", ""), f"{machine['processor']}, {machine['cores']} cores"
    if "calls" in record:
        n, first = record["calls"], record["first_seed"]
        return [Line("hostile calls", "", *here, _range(first, n), n, len(record["faults"]))]
    if "backends" in record:
        return [
            Line(
                "kills", backend, *here, str(record["seed"]), found["killed"], len(found["noticed"])
            )
            for backend, found in record["backends"].items()
        ]
    found = []
    for series in record["series"]:
        n = series["chains"] if "chains" in series else series["loops"]
        seeds, failures = _range(series["first_seed"], n), series["failures"]
        for backend, n_runs in series.get("runs_of", {series["backend"]: n}).items():
            # several backends may have run the same loops
            own = [
                one
                for one in failures
                if f"backend='{backend}'" in one.get("way", f"backend='{backend}'")
            ]
            found.append(Line(_what(series), backend, *here, seeds, n_runs, len(own)))
    return found


def _range(first: int, n: int) -> str:
    return f"{first} to {first + n - 1}" if n else "none"


def _what(series: dict[str, Any]) -> str:
    if "chains" in series:
        return f"chains, loops joined in {series['joined']}"
    words = ["loops", *(f"with {kind}" for kind in series["kinds"])]
    words += ["in check mode"] * bool(series["check"])
    chained = series.get("chained", 0)
    return " ".join(words + [f"in chains of {chained}"] * bool(chained))


def table(records: list[dict[str, Any]]) -> str:
    """Return all of them as one table in Markdown."""
    alike: dict[tuple[str, str, str, str], list[Line]] = {}
    for record in records:
        for line in lines_of(record):
            alike.setdefault(line[:4], []).append(line)
    rows = [HEAD]
    for (what, where, commit, machine), lines in alike.items():
        seeds = ", ".join(dict.fromkeys(line.seeds for line in lines))
        runs, failures = (
            sum(counts) for counts in zip(*(line[-2:] for line in lines), strict=True)
        )
        rows.append(f"| {what} | {where} | {seeds} | {runs} | {failures} | {commit} | {machine} |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(table([json.loads(Path(name).read_text()) for name in sys.argv[1:]]))
