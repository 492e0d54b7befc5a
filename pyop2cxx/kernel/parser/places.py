# SPDX-License-Identifier: BSD-3-Clause
"""Places in the user's text, and mistakes there that C does not allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyop2cxx.base.quoting import quoted
from pyop2cxx.exceptions import UsageError

if TYPE_CHECKING:
    from tree_sitter import Node

    from pyop2cxx.kernel.parser.scope import Scope


def mistake(node: Node, scope: Scope, what: str, first: int = 0) -> UsageError:
    """Return the error for text refused by all C compilers.

    Errors found here have the user's names and lines, the same on all backends.

    Args:
        node: The wrong node.
        scope: Knows the user's lines.
        what: Why.
        first: The line of a conflicting declaration, if any.
    """
    line, root = scope.line(node), node
    while root.parent is not None:
        root = root.parent
    piece = (node.text or b"").decode()
    column = column_of(scope.text, line, *place_of(node, root), piece)
    before = f"; the first is in line {first}" if first else ""
    shown = quoted(scope.text, line, column)
    return UsageError(f"line {line}: {what}{before}" + (f"\n{shown}" if shown else ""))


def column_of(text: str, line: int, row: str, column: int, piece: str) -> int:
    """Return the user's column, from 1, of a parsed piece in a row; 0 if unknown."""
    lines = text.splitlines()
    given = lines[line - 1] if 1 <= line <= len(lines) else ""
    if given == row:
        return column + 1
    if not piece or given.count(piece) != row.count(piece):
        return 0
    at = -1
    for _ in range(row[: column + 1].count(piece) if len(piece) == 1 else 1):
        at = given.find(piece, at + 1)
    return at + 1


def place_of(node: Node, root: Node) -> tuple[str, int]:
    """Return the first row of a node, and the column there in characters, from 0."""
    before = (root.text or b"")[: node.start_byte - root.start_byte]
    start = len(before.split(b"\n")[-1].decode())
    rows = (root.text or b"").decode().split("\n")
    return rows[before.count(b"\n")], start
