# SPDX-License-Identifier: BSD-3-Clause
"""How objects show themselves in notebooks and at IPython's prompt; `repr` stays PyOP2's."""

from __future__ import annotations

import importlib
from html import escape
from typing import Any


class Shown:
    """Objects that show what they are as a table; see `pyop2cxx.reports.showing`."""

    def _as_table(self) -> tuple[str, list[tuple[str, str]]]:
        """Return a title, and what there is to know: rows of a name and a text."""
        found: tuple[str, list[tuple[str, str]]]
        found = importlib.import_module("pyop2cxx.reports.showing").facts(self)
        return found

    def _repr_html_(self) -> str:
        title, rows = self._as_table()
        lines = "".join(
            f"<tr><th style='text-align: left'>{escape(name)}</th>"
            f"<td style='text-align: left'>{_cell(text)}</td></tr>"
            for name, text in rows
        )
        return f"<table><caption>{escape(title)}</caption>{lines}</table>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        title, rows = self._as_table()
        width = max((len(name) for name, _ in rows), default=0)
        lines = [
            f"  {name if i == 0 else '':{width}}  {line}".rstrip()
            for name, text in rows
            for i, line in enumerate(text.splitlines() or [""])
        ]
        printer.text("\n".join([title, *lines]))


class Told:
    """Objects whose `str` is made to be read: notebooks and IPython's prompt show that."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


def _cell(text: str) -> str:
    return f"<pre>{escape(text)}</pre>" if "\n" in text else escape(text)
