# SPDX-License-Identifier: BSD-3-Clause
"""Display of objects in notebooks and at IPython's prompt; `repr` stays PyOP2's."""

from __future__ import annotations

from typing import Any

from pyop2cxx.base.listing import Listed
from pyop2cxx.base.quoting import in_html
from pyop2cxx.runtime import seams


class Shown(Listed):
    """Objects displayed as a table of facts; see `pyop2cxx.reports.showing`."""

    def as_table(self) -> tuple[str, list[tuple[str, str]]]:
        """Return a title, and rows of name and text."""
        return seams.showing().facts(self)

    def _picture(self) -> str:
        """Return a small picture as SVG, or nothing."""
        return seams.showing().picture(self)

    def _repr_html_(self) -> str:
        title, rows = self.as_table()
        lines = "".join(
            f"<tr><th style='text-align: left'>{in_html(name)}</th>"
            f"<td style='text-align: left'>{_cell(text)}</td></tr>"
            for name, text in rows
        )
        return f"<table><caption>{in_html(title)}</caption>{lines}</table>{self._picture()}"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        title, rows = self.as_table()
        width = max((len(name) for name, _ in rows), default=0)
        lines = [
            f"  {name if i == 0 else '':{width}}  {line}".rstrip()
            for name, text in rows
            for i, line in enumerate(text.splitlines() or [""])
        ]
        printer.text("\n".join([title, *lines]))


class Told:
    """Objects with a readable `str`, displayed by notebooks and IPython's prompt."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return f"<pre>{in_html(str(self))}</pre>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


class Tabled(Told):
    """Told objects with rows: notebooks display a table."""

    __slots__ = ()

    def _as_rows(self) -> tuple[str, list[tuple[str, ...]], str]:
        """Return a caption, the rows, headed by the titles, and the text below."""
        raise NotImplementedError

    def __str__(self) -> str:
        _, cells, _ = self._as_rows()
        widths = [max(len(line[i]) for line in cells) for i in range(len(cells[0]))]
        lines = ("  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) for line in cells)
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self) -> str:
        caption, (titles, *rows), below = self._as_rows()
        style = "style='text-align: left'"
        head = "".join(f"<th {style}>{in_html(title)}</th>" for title in titles)
        lines = "".join(
            f"<tr>{''.join(f'<td {style}>{_cell(text)}</td>' for text in row)}</tr>" for row in rows
        )
        head = f"<tr>{head}</tr>" if any(titles) else ""
        title = f"<caption>{in_html(caption)}</caption>" if caption else ""
        under = f"<p>{in_html(below)}</p>" if below else ""
        return f"<table>{title}{head}{lines}</table>{under}"


def _cell(text: str) -> str:
    return f"<pre>{in_html(text)}</pre>" if "\n" in text else in_html(text)
