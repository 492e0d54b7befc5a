# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the notebook are those of their records, and pages link to places that exist."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

from record_table import NOTEBOOK, filled, records_of, table

ROOT = Path(__file__).parents[2]
NOTES = sorted(NOTEBOOK.glob("20*.md"))


def slug(title: str) -> str:
    """Return the anchor of a heading as the manual makes it."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


@pytest.mark.parametrize("page", NOTES, ids=lambda page: page.stem)
def test_tables_are_those_of_the_records(page: Path) -> None:
    text, records = page.read_text(), records_of(page)
    assert filled(text, records) == text, "run tools/record_table.py"
    named = re.findall(r"^<!-- record: (\S+) -->$", text, re.MULTILINE)
    assert sorted(named) == sorted(records)
    assert text.count("\n|---") == len(records), "a table without a record"


@pytest.mark.parametrize("page", NOTES, ids=lambda page: page.stem)
def test_records_have_a_cell_for_each_column(page: Path) -> None:
    for name, record in records_of(page).items():
        assert {len(row) for row in record["rows"]} == {len(record["columns"])}, name


def test_rows_of_the_page_on_performance_lead_to_sections_of_the_notebook() -> None:
    text = (ROOT / "docs" / "performance.md").read_text()
    links = re.findall(r"\]\((notebook/2\S+?\.md)(?:#(\S+?))?\)", text)
    assert len(links) > 15
    for page, anchor in links:
        note = (ROOT / "docs" / page).read_text()
        titles = [slug(title) for title in re.findall(r"^#+ (.*)$", note, re.MULTILINE)]
        assert not anchor or anchor in titles, f"{page}#{anchor}"


def test_a_table_is_rendered() -> None:
    record = {"columns": ["", "ms"], "right": [1], "rows": [["a", 1.5], ["", "**2**"]]}
    assert table(record) == "| | ms |\n|---|---:|\n| a | 1.5 |\n| | **2** |\n"
    text = "x\n<!-- record: r -->\n| old |\n|---|\n\ny\n"
    assert filled(text, {"r": record}) == f"x\n<!-- record: r -->\n{table(record)}\ny\n"


def test_a_place_without_a_record_is_an_error() -> None:
    with pytest.raises(KeyError, match="none"):
        filled("<!-- record: none -->\n", {})
