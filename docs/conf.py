# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx: the pages are Markdown; the tables of options and errors come from the code itself."""

from __future__ import annotations

import enum
import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx.pycode import ModuleAnalyzer

from pyop2cxx import __version__, exceptions
from pyop2cxx.base.listing import INNER, inner_members
from pyop2cxx.runtime.options import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))  # demo_pages

project = "pyop2cxx"
author = "the pyop2cxx authors"
copyright = f"2026, {author}"
version = release = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "cpp_pages",
    "demo_pages",
    "notebook_pages",
    "record_pages",
]
myst_enable_extensions = ["dollarmath"]
html_math_renderer = "mathml"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {
    "members": True,
    # not what is Python's, NumPy's or UFL's
    "inherited-members": "int,tuple,Exception,Mapping,ndarray,Generic,"
    "Coefficient,Constant,FunctionSpace,FormArgument,Terminal,Expr,Counted,UFLObject",
    "special-members": "__call__",
}
napoleon_use_rtype = False
# Names in signatures: some, such as Constant, exist in op2 and in fem.
suppress_warnings = ["ref.python"]
myst_heading_anchors = 3
html_theme = "furo"
html_static_path = ["_static"]
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


class DecisionTable(Directive):
    """Every page on a decision: its number, its title and its status."""

    def run(self) -> list[nodes.Node]:
        """Read the first lines of the pages, and let MyST set the table."""
        lines = ["| number | decision | status |", "|---|---|---|"]
        for page in sorted((Path(__file__).parent / "adr").glob("*.md")):
            title, _, status = page.read_text(encoding="utf-8").splitlines()[:3]
            number, name = title[2:6], title[6:].lstrip(": ")
            told = status.removeprefix("Status: ").replace("](", "](adr/")
            lines.append(f"| {number} | [{name}](adr/{page.name}) | {told} |")
        target = nodes.section()
        target.document = self.state.document
        self.state.nested_parse(StringList(lines, "pages on decisions"), 0, target)
        return list(target.children)


class PublicNames(Directive):
    """Every public name of a module, from its docstrings: what ``__all__`` has, in its order."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Let autodoc describe each name; another name of the same thing only points to it."""
        module = importlib.import_module(self.arguments[0])
        lines: list[str] = []
        known: dict[int, str] = {}
        for name in module.__all__:
            found = getattr(module, name)
            first = known.setdefault(id(found), name)
            if first != name and not isinstance(found, (int, str)):
                same = f"   The same as ``{first}``."
                lines += [f".. py:data:: {module.__name__}.{name}", "", same]
            else:
                lines += _described(module.__name__, name, found)
            lines.append("")
        target = nodes.section()
        target.document = self.state.document
        place = f"names of {module.__name__}"
        self.state.nested_parse(StringList(lines, place), 0, target)
        return list(target.children)


def _described(module: str, name: str, found: object) -> list[str]:
    whole = f"{module}.{name}"
    if inspect.isclass(found):
        return [f".. autoclass:: {whole}"]
    if inspect.ismodule(found):
        rows = [line for n in _public(found) for line in (f"   * ``{name}.{n}``", "")]
        return [f".. py:data:: {whole}", "", f"   {_summary(found)}", "", *rows]
    if callable(found):
        return [f".. autofunction:: {whole}"]
    return [f".. py:data:: {whole}", "", f"   {_told(module, name, found)}"]


def _told(module: str, name: str, found: object) -> str:
    """Return what is said of a value: where it is set, or where its class is."""
    kind = type(found)
    if isinstance(found, enum.Enum):
        lines = ModuleAnalyzer.for_module(kind.__module__).find_attr_docs()
        told = lines.get((kind.__name__, found.name), [])
        return " ".join([f"``{kind.__name__}.{found.name}``.", *told])
    within = [one for one in sys.modules if one == module or one.startswith(f"{module}.")]
    for one in within:
        lines = ModuleAnalyzer.for_module(one).find_attr_docs()
        if ("", name) in lines:
            return " ".join(lines["", name])
    return _summary(kind)


def _public(module: object) -> list[str]:
    return [
        f"{name}()"
        for name, found in vars(module).items()
        if inspect.isfunction(found)
        and not name.startswith("_")
        and found.__module__ == getattr(module, "__name__", "")
    ]


def _summary(documented: object) -> str:
    return (inspect.getdoc(documented) or "").partition("\n\n")[0].replace("\n", " ")


def _escape_shapes(*event: object) -> None:
    """Let the star of ``(size, *dim)`` be a star, where a docstring has it outside of code."""
    lines: list[str] = event[-1]  # type: ignore[assignment]
    lines[:] = [re.sub(r"(?<=[ (,])\*(\w+)(?=[),])", r"\\*\1", line) for line in lines]


def _skips_inner(*event: object) -> bool | None:
    """Leave out members for the rooms of the package; None leaves the choice to autodoc."""
    _, _, name, found, _, _ = event
    maker = getattr(found, "fget", None) or getattr(found, "func", None) or found
    owner = getattr(maker, "__qualname__", "").rpartition(".")[0]
    kind = getattr(sys.modules.get(getattr(maker, "__module__", "")), owner, None)
    inner = inner_members(kind) if inspect.isclass(kind) else frozenset().union(*INNER.values())
    return True if name in inner else None


def setup(app: Sphinx) -> None:
    """Make the tables and the reference known."""
    app.add_directive("option-table", OptionTable)
    app.add_directive("error-table", ErrorTable)
    app.add_directive("decision-table", DecisionTable)
    app.add_directive("public-names", PublicNames)
    app.connect("autodoc-process-docstring", _escape_shapes)
    app.connect("autodoc-skip-member", _skips_inner)
