#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Assembles the changelog from the fragments in `changelog/`: `python tools/changelog.py`.

A fragment `TOPIC.KIND.md` has a line for each thing that users notice; kinds are added, changed and
fixed. The program writes them into the section `[Unreleased]` of `CHANGELOG.md`. With the word
`release` the section gets the version of `pyproject.toml` and the date of `CITATION.cff`, a new one
begins, and the fragments are removed.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
KINDS = ("added", "changed", "fixed")
LONGEST_LINE = 200
SECTION = re.compile(r"^## \[Unreleased\]\n.*?(?=^## \[|\Z)", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"([\w-]+)\.(added|changed|fixed)\.md")


def fragments(folder: Path) -> list[Path]:
    """Return the fragments in their order: by kind, then by topic.

    Raises:
        ValueError: A file has another name, or a line that is no item or is too long.
    """
    found = sorted(folder.glob("*"))
    for path in found:
        if not NAME.fullmatch(path.name):
            raise ValueError(f"{path.name}: fragments are called TOPIC.KIND.md, KIND is {KINDS}")
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line.startswith("- ") or len(line) > LONGEST_LINE:
                raise ValueError(
                    f"{path.name}: a line begins with '- ' and has at most {LONGEST_LINE} "
                    f"characters: {line}"
                )
    return sorted(found, key=lambda path: (KINDS.index(path.name.split(".")[1]), path.name))


def section(folder: Path, title: str = "[Unreleased]") -> str:
    """Return the section of a release, in Markdown."""
    lines, kind = [f"## {title}\n"], ""
    for path in fragments(folder):
        topic, of, _ = path.name.split(".")
        if of != kind:
            kind = of
            lines.append(f"\n### {kind.capitalize()}\n")
        lines.append(f"\n**{topic.replace('-', ' ').capitalize()}**\n\n{path.read_text('utf-8')}")
    return "".join(lines)


def released(root: Path) -> tuple[str, str]:
    """Return the version of `pyproject.toml` and the date of `CITATION.cff`.

    Raises:
        ValueError: A file lacks the line, or `CITATION.cff` is of another version.
    """
    version = _line_of(root / "pyproject.toml", r'version = "([^"]+)"')
    cited = _line_of(root / "CITATION.cff", r"version: (\S+)")
    if cited != version:
        raise ValueError(
            f"CITATION.cff is of version {cited}, and pyproject.toml of {version}; give "
            "CITATION.cff the version and the date of the release"
        )
    return version, _line_of(root / "CITATION.cff", r"date-released: (\d{4}-\d\d-\d\d)")


def _line_of(file: Path, line: str) -> str:
    found = re.search(f"^{line}$", file.read_text("utf-8"), re.MULTILINE)
    if found is None:
        raise ValueError(f"{file.name} has no line {line}")
    return found[1]


def write(root: Path, *, release: bool = False) -> None:
    """Write the first section of the changelog; for a release also the next, and drop fragments.

    Raises:
        ValueError: A fragment is wrong, the version has a section, or nothing is to be released.
    """
    folder, changelog = root / "changelog", root / "CHANGELOG.md"
    text = changelog.read_text("utf-8")
    new = section(folder)
    if release:
        version, date = released(root)
        if f"## [{version}]" in text:
            raise ValueError(f"CHANGELOG.md has a section [{version}]; raise the version first")
        if not fragments(folder):
            raise ValueError("changelog/ has no fragments, so nothing is to be released")
        new = f"## [Unreleased]\n\n{section(folder, f'[{version}] - {date}')}"
    changelog.write_text(SECTION.sub(lambda _: new + "\n", text).rstrip("\n") + "\n", "utf-8")
    if release:
        for path in fragments(folder):
            path.unlink()


def main() -> None:
    """Write the changelog."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", choices=["release"], help="name and date the section")
    write(ROOT, release=parser.parse_args().what is not None)


if __name__ == "__main__":
    main()
