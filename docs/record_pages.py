# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx: the record of measurements, as tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from sphinx.application import Sphinx

RECORD = Path(__file__).parents[1] / "benchmarks" / "record.json"
SHOWN = 6
"""Measurements of a machine in a table of the history: the last ones."""


def described(machine: dict[str, Any]) -> str:
    """Return a machine in words."""
    return (
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB, "
        f"{machine['compiler']}, Python {machine['python']}, NumPy {machine['numpy']}"
    )


def readable(seconds: float | None) -> str:
    """Return a time with three digits and a unit."""
    if seconds is None:
        return ""
    scale, unit = next(
        (pair for pair in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")) if seconds >= pair[0]),
        (1e-9, "ns"),
    )
    return f"{seconds / scale:.3g} {unit}"


def tables(entries: list[dict[str, Any]]) -> list[str]:
    """Return the lines of all tables, in Markdown."""
    machines: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        machines.setdefault(described(entry["machine"]), []).append(entry)
    lines: list[str] = []
    last = {name: found[-1] for name, found in machines.items()}
    lines += ["## Last measurements", ""]
    for number, (name, entry) in enumerate(last.items(), 1):
        lines += [f"- *Machine {number}*: {name}; {entry['date']}, commit `{entry['commit']}`, "]
        lines[-1] += f"load {entry['load']}"
    lines += ["", *_table([f"machine {i}" for i in range(1, len(last) + 1)], list(last.values()))]
    for number, found in enumerate(machines.values(), 1):
        shown = found[-SHOWN:]
        heads = [f"{one['date']} `{one['commit']}` load {one['load']}" for one in shown]
        lines += ["", f"## History of machine {number}", "", *_table(heads, shown)]
    return lines


def _table(heads: list[str], entries: list[dict[str, Any]]) -> list[str]:
    names = list(dict.fromkeys(name for entry in entries for name in entry["seconds"]))
    rows = [
        f"| {name} | " + " | ".join(readable(one["seconds"].get(name)) for one in entries) + " |"
        for name in names
    ]
    rule = "|---|" + "---:|" * len(entries)
    return [f"| measured | {' | '.join(heads)} |", rule, *rows]


class BenchRecord(SphinxDirective):
    """The last measurement of each machine, and the history."""

    def run(self) -> list[nodes.Node]:
        """Read the record."""
        self.env.note_dependency(str(RECORD))
        lines = tables(json.loads(RECORD.read_text(encoding="utf-8")))
        target = nodes.section()
        target.document = self.state.document
        self.state.nested_parse(StringList(lines, "record"), 0, target, match_titles=True)
        return list(target.children)


def setup(app: Sphinx) -> None:
    """Make the directive known."""
    app.add_directive("bench-record", BenchRecord)
