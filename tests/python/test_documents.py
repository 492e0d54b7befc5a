# SPDX-License-Identifier: BSD-3-Clause
"""Every Python block of the README and of the manual runs and prints what the page says."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from pyop2cxx import op2

ROOT = Path(__file__).parents[2]
PAGES = [
    "README.md",
    *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").glob("*.md")),
    *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs" / "demos").glob("*.md")),
]
NOTES = sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs" / "notebook").glob("*.md"))
FENCE = re.compile(r"^```(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+?)(?:#[^)]*)?\)")


class Example(NamedTuple):
    """A block of Python and the output that follows it, if the page shows one."""

    code: str
    line: int
    output: str | None


def examples(text: str) -> list[Example]:
    blocks = list(FENCE.finditer(text))
    following = [*blocks, None][1:]
    return [
        Example(
            block[2],
            text.count("\n", 0, block.start(2)) + 1,
            after[2] if after is not None and after[1] == "text" else None,
        )
        for block, after in zip(blocks, following, strict=True)
        if block[1] == "python"
    ]


def run(page: str, found: list[Example]) -> None:
    """Run the blocks of one page one after the other, as a reader would."""
    names: dict[str, object] = {"__name__": "__main__"}
    for example in found:
        printed = io.StringIO()
        # Blank lines in front let a traceback show the line of the page.
        code = compile("\n" * (example.line - 1) + example.code, page, "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        if example.output is not None:
            assert printed.getvalue() == example.output, f"{page}:{example.line}"


@pytest.mark.parametrize("page", PAGES)
def test_examples_print_what_the_page_says(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # pages write pictures
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    try:
        run(page, examples((ROOT / page).read_text()))
    finally:
        op2.exit()
        # installed by the page about PyOP2
        for name in [name for name in sys.modules if name.partition(".")[0] == "pyop2"]:
            del sys.modules[name]


@pytest.mark.parametrize("page", [*PAGES, *NOTES])
def test_links_lead_somewhere(page: str) -> None:
    text = FENCE.sub("", (ROOT / page).read_text())
    broken = [
        link for link in LINK.findall(text) if not (ROOT / page).parent.joinpath(link).exists()
    ]
    assert broken == []


def test_every_demo_has_a_page_with_its_picture_and_a_place_in_the_gallery() -> None:
    docs = ROOT / "docs"
    pages = {p.stem: p.read_text() for p in (docs / "demos").glob("*.md")}
    programs = [p for p in (ROOT / "demos").glob("*.py") if "__main__" in p.read_text()]
    assert pages.keys() == {program.stem for program in programs}
    for name, text in pages.items():
        assert f"```{{demo}} {name}\n```" in text
        assert text.startswith("# ")
        assert len(text.split()) > 25, f"{name}: what the page is about"
        picture = (docs / "pictures" / f"{name}.png").read_bytes()
        assert picture.startswith(b"\x89PNG")
        assert len(picture) > 3000
    blocks = re.findall(
        r"```{demo-gallery}\n(.*?)```", (docs / "gallery.md").read_text(), re.DOTALL
    )
    captions = dict(re.findall(r"^(\w+): (\S.*)$", "\n".join(blocks), re.MULTILINE))
    assert sorted(captions) == sorted(pages)
    assert all(len(caption.split()) > 4 for caption in captions.values())
    assert len({*captions.values()}) == len(captions)


def test_the_readme_opens_with_twenty_lines_that_can_be_pasted() -> None:
    text = (ROOT / "README.md").read_text()
    example = examples(text)[0]
    above = text.partition("```python")[0].splitlines()
    assert above[0] == "# pyop2cxx"
    assert 2 < len(above) <= 6, "a sentence or two say what it is"
    assert len(example.code.splitlines()) <= 20
    assert example.output


def test_a_page_without_blocks_is_fine() -> None:
    assert examples("# Title\n") == []


def test_a_wrong_output_is_found() -> None:
    page = "```python\nprint(1)\n```\n\n```text\n2\n```\n"
    with pytest.raises(AssertionError, match=r"page\.md:2"):
        run("page.md", examples(page))


def test_blocks_share_their_names_and_only_python_runs() -> None:
    page = "```sh\nexit 1\n```\n```python\na = 1\n```\n```python\nprint(a)\n```\n```text\n1\n```\n"
    found = examples(page)
    assert [(example.line, example.output) for example in found] == [(5, None), (8, "1\n")]
    run("page.md", found)
