# SPDX-License-Identifier: BSD-3-Clause
"""How each loop of a program runs, and why: ``python -m pyop2cxx explain``."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyop2cxx.ahead import programs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyop2cxx.pipeline.explain import Explanation


@contextmanager
def watched(pictures: list[str] | None = None) -> Iterator[list[Explanation]]:
    """Collect the explanations of all loops that are generated or run in a `with` block.

    Loops that are decided alike appear once, at the end of the block with what they have cost.

    Args:
        pictures: Gets a picture of each graph that is instantiated, as SVG.
    """
    found: list[Explanation] = []
    drawn = [] if pictures is None else pictures

    def note(loop: Any) -> None:
        made = loop.explain()
        if made not in found:
            found.append(made)

    with programs.watched(note, lambda graph: drawn.append(graph.to_svg())):
        yield found
    found[:] = [one.timed() for one in found]


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
