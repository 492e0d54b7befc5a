# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx: executed notebooks as pages, and formulas as MathML, without a script from elsewhere."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from myst_parser.parsers.sphinx_ import MystParser

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class NotebookParser(MystParser):
    """Reads the cells of a notebook, with the kept outputs, as Markdown."""

    supported = ("ipynb",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Parse a notebook."""
        super().parse(as_markdown(json.loads(inputstring)), document)


def as_markdown(notebook: dict[str, Any]) -> str:
    """Return the cells of a notebook as Markdown.

    Raises:
        ValueError: An output is an error.
    """
    parts = []
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(text)
            continue
        lines = [line for line in text.splitlines() if not line.startswith("%")]
        parts.append("```py\n" + "\n".join(lines) + "\n```")
        parts += [_output(output) for output in cell["outputs"]]
    return "\n\n".join(part for part in parts if part) + "\n"


def _output(output: dict[str, Any]) -> str:
    if output["output_type"] == "error":
        raise ValueError(f"the notebook failed: {output['ename']}: {output['evalue']}")
    if output["output_type"] == "stream":
        return "```text\n" + "".join(output["text"]).rstrip() + "\n```"
    data = output["data"]
    if "image/png" in data:
        code = "".join(data["image/png"]).replace("\n", "")
        return f'<p><img alt="Picture of the result" src="data:image/png;base64,{code}"></p>'
    if "text/html" in data:
        # a blank line would end the block of HTML
        lines = [line for line in "".join(data["text/html"]).splitlines() if line.strip()]
        return "<div>" + "\n".join(lines) + "</div>"
    return "```text\n" + "".join(data["text/plain"]).rstrip() + "\n```"


def _math(translator: Any, node: nodes.Element, *, is_block: bool) -> None:
    found = tex2mathml(node.astext())
    if is_block:
        found = found.replace("<math ", '<math display="block" ', 1)
        found = f'<div class="math">{found}</div>'
    translator.body.append(found)
    raise nodes.SkipNode


def _inline(translator: Any, node: nodes.Element) -> None:
    _math(translator, node, is_block=False)


def _block(translator: Any, node: nodes.Element) -> None:
    _math(translator, node, is_block=True)


def setup(app: Sphinx) -> None:
    """Make notebooks and formulas known."""
    app.add_source_suffix(".ipynb", "ipynb")
    app.add_source_parser(NotebookParser)
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
