#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the tables of the notebook from their records: `python tools/record_table.py`.

`docs/notebook/records/PAGE.json` has the records of `docs/notebook/PAGE.md`. A record is a title of
a section, columns, the columns set to the right, and rows. Its table stands below the line
`<!-- record: NAME -->`. After a change of a record, run this program; a new record needs that line.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).parents[1] / "docs" / "notebook"
PLACE = re.compile(r"^<!-- record: (\S+) -->\n((?:\|.*\n)*)", re.MULTILINE)


def records_of(page: Path) -> dict[str, dict[str, Any]]:
    """Return the records of a page of the notebook, by name."""
    path = page.parent / "records" / f"{page.stem}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def table(record: dict[str, Any]) -> str:
    """Return a record as a table in Markdown."""
    columns, right = record["columns"], set(record["right"])
    rule = "|".join("---:" if i in right else "---" for i in range(len(columns)))
    rows = [_row(columns), f"|{rule}|", *(_row(row) for row in record["rows"])]
    return "".join(f"{row}\n" for row in rows)


def _row(cells: list[object]) -> str:
    return "|" + "|".join(f" {cell} " if cell != "" else " " for cell in cells) + "|"


def filled(text: str, records: dict[str, dict[str, Any]]) -> str:
    """Return the text of a page with the table of each record in its place.

    Raises:
        KeyError: A place names no record.
    """
    return PLACE.sub(lambda at: f"<!-- record: {at[1]} -->\n{table(records[at[1]])}", text)


def main() -> None:
    """Write the tables of all pages."""
    for page in sorted(NOTEBOOK.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        page.write_text(filled(text, records_of(page)), encoding="utf-8")


if __name__ == "__main__":
    main()
