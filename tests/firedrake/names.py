# SPDX-License-Identifier: BSD-3-Clause
"""The names that Firedrake and PyOP2's tests import of ``pyop2``, and those that are missing here.

``python names.py`` lists what is missing, and ``python names.py FOLDER...`` writes ``names.txt``
anew from the Python files in folders: Firedrake's packages ``firedrake`` and ``tsfc``, and PyOP2's
tests.
"""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LIST = Path(__file__).with_name("names.txt")


def imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield names in a module, and the places below ``pyop2`` that they stand for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "pyop2":
            for name in node.names:
                if name.name != "*":
                    yield name.asname or name.name, f"{node.module}.{name.name}"
        elif isinstance(node, ast.Import):
            for name in node.names:
                if name.name.partition(".")[0] == "pyop2":
                    yield (name.asname, name.name) if name.asname else ("pyop2", "pyop2")
                    yield "", name.name


def used(tree: ast.Module) -> Iterator[str]:
    """Yield the dotted names below ``pyop2`` that a module uses."""
    pairs = list(imported(tree))
    yield from (place for _, place in pairs)
    known = dict(pairs)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            start = known.get(node.value.id, "")
            if start and start.count(".") <= 1:  # of a module, not of a class
                yield f"{start}.{node.attr}"


def collected(folders: Iterable[str]) -> list[str]:
    """Return the names used by all files in folders, sorted."""
    found: set[str] = set()
    for folder in folders:
        for path in (*Path(folder).rglob("*.py"), *Path(folder).rglob("*.pyx")):
            try:
                tree = ast.parse(path.read_text(encoding="utf-8"))
            except SyntaxError:  # Cython's
                continue
            found.update(used(tree))
    return sorted(name for name in found if "." in name and "__" not in name)


def is_there(name: str) -> bool:
    """Return whether a name of ``pyop2`` is found here, as a module or as an attribute."""
    place = f"pyop2cxx.{name}"
    parts = place.split(".")
    for n in range(len(parts), 1, -1):
        try:
            found = importlib.import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        for part in parts[n:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def missing() -> list[str]:
    """Return the listed names that are not there."""
    return [name for name in LIST.read_text(encoding="utf-8").split() if not is_there(name)]


if __name__ == "__main__":
    if sys.argv[1:]:
        LIST.write_text("\n".join(collected(sys.argv[1:])) + "\n", encoding="utf-8")
    gone = missing()
    print("\n".join(gone) if gone else "nothing is missing")
    sys.exit(bool(gone))
