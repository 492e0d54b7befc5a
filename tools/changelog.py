#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Assembles the changelog from the fragments in `changelog/`: `python tools/changelog.py`.

A fragment `TOPIC.KIND.md` has a line for each thing that users notice; kinds are added, changed and
fixed. The program writes them into the section `[Unreleased]` of `CHANGELOG.md`. `--release 1.0.0`
gives the section this name and today's date, begins a new one, and removes the fragments.
"""

from __future__ import annotations

import argparse
import datetime
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


def main() -> None:
    """Write the changelog."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--release", metavar="VERSION", help="name the section, remove fragments")
    given = parser.parse_args()
    folder, changelog = ROOT / "changelog", ROOT / "CHANGELOG.md"
    new = section(folder)
    if given.release:
        new = section(folder, f"[{given.release}] - {datetime.date.today()}")
        new = f"## [Unreleased]\n\n{new}"
    text = changelog.read_text(encoding="utf-8")
    changelog.write_text(SECTION.sub(lambda _: new + "\n", text).rstrip("\n") + "\n", "utf-8")
    if given.release:
        for path in fragments(folder):
            path.unlink()


if __name__ == "__main__":
    main()
