# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx: what pages of demos and the gallery take from the programs themselves."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from sphinx.application import Sphinx

DEMOS = Path(__file__).parents[1] / "demos"
GALLERY = Path(__file__).parent / "gallery.md"


def captions(text: str) -> dict[str, str]:
    """Return the caption of each picture in the text of a gallery, by the name of the demo."""
    return dict(re.findall(r"^(\w+): (.+)$", text, re.MULTILINE))


class Demo(SphinxDirective):
    """What a demo says of itself, its picture, how to run it, and its text."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Read the program."""
        name = self.arguments[0]
        path = DEMOS / f"{name}.py"
        self.env.note_dependency(str(path))
        text = path.read_text(encoding="utf-8")
        first, *others = paragraphs(text)
        self.env.note_dependency(str(GALLERY))
        seen = captions(GALLERY.read_text(encoding="utf-8"))[name]
        image = nodes.image(uri=f"../pictures/{name}.png", alt=seen, classes=["demo"])
        picture = nodes.figure("", image, nodes.caption("", seen))
        command = f"python -m pyop2cxx demo {name} --backend openmp"
        return [
            *(nodes.paragraph(text=one) for one in (first, *others)),
            picture,
            nodes.literal_block(command, command, language="sh"),
            nodes.literal_block(body(text), body(text), language="python"),
        ]


class DemoGallery(SphinxDirective):
    """The pictures of demos side by side, each of which leads to its page."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Make a tile of each name in the content."""
        tiles = nodes.container(classes=["demos"])
        for name, seen in captions("\n".join(self.content)).items():
            link = nodes.reference(internal=True, refuri=f"demos/{name}.html")
            link += nodes.image(uri=f"pictures/{name}.png", alt=seen)
            label = nodes.paragraph()
            label += nodes.reference("", seen, refuri=f"demos/{name}.html")
            tile = nodes.container("", nodes.paragraph("", "", link), label)
            tiles += tile
        return [tiles]


def paragraphs(program: str) -> list[str]:
    """Return what a program says of itself."""
    told = ast.get_docstring(ast.parse(program)) or ""
    return [" ".join(part.split()) for part in told.split("\n\n")]


def body(program: str) -> str:
    """Return a program from its first import on."""
    tree = ast.parse(program)
    start = tree.body[1].lineno - 1  # behind the docstring
    return "\n".join(program.splitlines()[start:]).strip() + "\n"


def setup(app: Sphinx) -> None:
    """Make the directives known."""
    app.add_directive("demo", Demo)
    app.add_directive("demo-gallery", DemoGallery)
    app.add_css_file("pages.css")
