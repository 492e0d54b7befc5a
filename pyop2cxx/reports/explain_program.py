# SPDX-License-Identifier: BSD-3-Clause
"""Explanations of each loop of a program: ``python -m pyop2cxx explain``."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyop2cxx.ahead import programs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyop2cxx.graph.graph import Graph
    from pyop2cxx.pipeline.explain import Explanation


_MOST_KEPT = 16
"""Graphs of a program, which keep their Dats in memory."""


@contextmanager
def watched(pictures: list[str] | None = None) -> Iterator[list[Explanation]]:
    """Collect the explanations of all loops generated or run in a `with` block.

    Loops with equal decisions appear once, at the end of the block with the measured cost.

    Args:
        pictures: Gets an SVG picture of each instantiated graph, with numbers and ways of runs; for
            the last 16 at the end of the block.
    """
    found: list[Explanation] = []
    graphs: list[Graph | str] = []

    def note(loop: Any) -> None:
        made = loop.explain()
        if made not in found:
            found.append(made)

    def note_graph(graph: Graph) -> None:
        graphs.append(graph)
        if len(graphs) > _MOST_KEPT:
            _draw(graphs, len(graphs) - _MOST_KEPT - 1)

    with programs.watched(note, None if pictures is None else note_graph):
        yield found
    if pictures is not None:
        pictures += [_draw(graphs, i) for i in range(len(graphs))]
    found[:] = [one.timed() for one in found]


def _draw(graphs: list[Graph | str], i: int) -> str:
    """Replace a graph by its picture."""
    one = graphs[i]
    graphs[i] = drawn = one if isinstance(one, str) else one.to_svg()
    return drawn


def explain_program(
    path: str, arguments: Sequence[str], pictures: list[str] | None = None
) -> list[Explanation]:
    """Run a Python program and return the explanations of its loops.

    Args:
        path: The program.
        arguments: `sys.argv` of the program, behind the name.
        pictures: As for `watched`.

    Raises:
        UsageError: The file does not exist.
    """
    with watched(pictures) as found:
        programs.run_program(path, arguments, "explain")
    return found
