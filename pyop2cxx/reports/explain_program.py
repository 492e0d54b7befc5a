# SPDX-License-Identifier: BSD-3-Clause
"""How each loop of a program runs, and why: ``python -m pyop2cxx explain``."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyop2cxx.ahead import programs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyop2cxx.graph.graph import Graph
    from pyop2cxx.pipeline.explain import Explanation


_MOST_KEPT = 16
"""Of a program's graphs, which keep their Dats in memory."""


@contextmanager
def watched(pictures: list[str] | None = None) -> Iterator[list[Explanation]]:
    """Collect the explanations of all loops that are generated or run in a `with` block.

    Loops that are decided alike appear once, at the end of the block with what they have cost.

    Args:
        pictures: Gets a picture of each graph that is instantiated, as SVG, with how often it ran,
            and how; of the last 16 that is said at the end of the block.
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
    """Put the picture of a graph in its place."""
    one = graphs[i]
    graphs[i] = drawn = one if isinstance(one, str) else one.to_svg()
    return drawn


def explain_program(
    path: str, arguments: Sequence[str], pictures: list[str] | None = None
) -> list[Explanation]:
    """Run a Python program and say of each of its loops how it ran.

    Args:
        path: The program.
        arguments: What it finds in `sys.argv` behind its own name.
        pictures: As for `watched`.

    Raises:
        UsageError: There is no such file.
    """
    with watched(pictures) as found:
        programs.run_program(path, arguments, "explain")
    return found
