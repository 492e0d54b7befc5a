# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of graphs: for Graphviz, and as SVG without Graphviz."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyop2cxx import _core
from pyop2cxx.base.quoting import in_html

if TYPE_CHECKING:
    from collections.abc import Sequence

_CHARACTER = 7  # pixels
_HEIGHT = 40
_GAP = 24


def dot(name: str, labels: Sequence[tuple[str, str]], edges: Sequence[Sequence[int]]) -> str:
    """Return a graph in the language of Graphviz.

    Args:
        name: Of the graph.
        labels: Name and operation of each node.
        edges: Dependencies of each node.
    """
    lines = [f"digraph {_quoted(name)} {{", "  node [shape=box, fontname=sans];"]
    for i, (title, detail) in enumerate(labels):
        lines.append(f"  n{i} [label={_quoted(title, detail)}];")
    for i, after in enumerate(edges):
        lines += [f"  n{before} -> n{i};" for before in after]
    return "\n".join([*lines, "}", ""])


def _quoted(*lines: str) -> str:
    escaped = [line.replace("\\", "\\\\").replace('"', '\\"') for line in lines if line]
    return '"' + "\\n".join(escaped) + '"'


def svg(
    name: str,
    labels: Sequence[tuple[str, str]],
    edges: Sequence[Sequence[int]],
    notes: Sequence[str],
) -> str:
    """Return a picture: a row for each level, nodes side by side in it.

    Args:
        name: Of the graph.
        labels: Name and operation of each node.
        edges: Dependencies of each node.
        notes: Lines below.
    """
    levels = _core.graph.levels([_core.graph.Node(after, []) for after in edges])
    widths = [
        _CHARACTER * max(len(title), len(detail)) + 2 * _CHARACTER for title, detail in labels
    ]
    ends = [_GAP] * (max(levels, default=0) + 1)
    boxes: list[tuple[int, int, int]] = []
    for level, width in zip(levels, widths, strict=True):
        boxes.append((ends[level], _GAP + level * (_HEIGHT + 2 * _GAP), width))
        ends[level] += width + _GAP
    across = max([*ends, *(_CHARACTER * len(note) + 2 * _GAP for note in notes), 2 * _GAP])
    below = _GAP + (max(levels, default=-1) + 1) * (_HEIGHT + 2 * _GAP)
    down = below + _GAP * len(notes)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across} {down}" width="{across}" '
        f'height="{down}" font-family="sans-serif" font-size="12">',
        f"<title>{in_html(name)}</title>",
    ]
    for (x, y, width), after in zip(boxes, edges, strict=True):
        for before in after:
            from_x, from_y, from_width = boxes[before]
            parts.append(
                f'<line x1="{from_x + from_width // 2}" y1="{from_y + _HEIGHT}" '
                f'x2="{x + width // 2}" y2="{y}" stroke="#667"/>'
            )
    for (x, y, width), (title, detail) in zip(boxes, labels, strict=True):
        middle = x + width // 2
        parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{_HEIGHT}" rx="4" fill="#eef2fa" '
            'stroke="#446"/>'
        )
        for text, at, colour in ((title, 17, "#000"), (detail, 32, "#557")):
            parts.append(
                f'<text x="{middle}" y="{y + at}" text-anchor="middle" fill="{colour}">'
                f"{in_html(text)}</text>"
            )
    for i, note in enumerate(notes):
        parts.append(f'<text x="{_GAP}" y="{below + _GAP * i}" fill="#557">{in_html(note)}</text>')
    return "\n".join([*parts, "</svg>", ""])
