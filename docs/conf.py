# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx: the pages are Markdown; the tables of options and errors come from the code itself."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.parsers.rst import Directive

from pyop2cxx import __version__, exceptions
from pyop2cxx.runtime.options import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sphinx.application import Sphinx

project = "pyop2cxx"
author = "the pyop2cxx developers"
version = release = __version__
extensions = ["myst_parser"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"pyop2cxx {version}"


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]], code: int) -> nodes.table:
    """Build a table whose first `code` columns are set as code."""
    group = nodes.tgroup(cols=len(titles))
    group += [nodes.colspec(colwidth=1) for _ in titles]
    head, body = nodes.thead(), nodes.tbody()
    for part, lines in ((head, [titles]), (body, rows)):
        for line in lines:
            row = nodes.row()
            for column, text in enumerate(line):
                is_code = part is body and column < code and text
                row += nodes.entry("", _paragraph(f"`{text}`" if is_code else text))
            part += row
    group += [head, body]
    return nodes.table("", group)


def _paragraph(text: str) -> nodes.paragraph:
    """Set text, with what stands between backquotes as code."""
    paragraph = nodes.paragraph()
    for i, part in enumerate(text.split("`")):
        paragraph += nodes.literal(text=part) if i % 2 else nodes.Text(part)
    return paragraph


class OptionTable(Directive):
    """Every option: its name, environment variable, default and meaning."""

    def run(self) -> list[nodes.Node]:
        """Read the table that the program itself uses."""
        rows = [
            (
                option.name,
                option.variable,
                repr(option.default),
                option.help + (f" One of {', '.join(option.choices)}." if option.choices else ""),
            )
            for option in OPTIONS
        ]
        return [_table(("option", "environment", "default", "meaning"), rows, code=3)]


class ErrorTable(Directive):
    """Every exception: its bases and when it is raised."""

    def run(self) -> list[nodes.Node]:
        """Read the classes in the order of their definition."""
        rows = [
            (name, ", ".join(base.__name__ for base in found.__bases__), _summary(found))
            for name, found in vars(exceptions).items()
            if inspect.isclass(found) and found.__module__ == exceptions.__name__
        ]
        return [_table(("class", "derives from", "raised when"), rows, code=2)]


def _summary(documented: object) -> str:
    return (inspect.getdoc(documented) or "").partition("\n\n")[0].replace("\n", " ")


def setup(app: Sphinx) -> None:
    """Make the two tables known."""
    app.add_directive("option-table", OptionTable)
    app.add_directive("error-table", ErrorTable)
