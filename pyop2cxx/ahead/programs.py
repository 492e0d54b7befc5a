# SPDX-License-Identifier: BSD-3-Clause
"""Running a user's program in this process, as ``python program.py`` would."""

from __future__ import annotations

import runpy
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyop2cxx.exceptions import UsageError
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


@contextmanager
def watched(
    note: Callable[[Any], None], note_graph: Callable[[Any], None] | None = None
) -> Iterator[None]:
    """Call a function with each loop that is generated or made ready to run in a `with` block.

    Args:
        note: Gets a `ParLoop`, or several loops that a chain has made one of.
        note_graph: Gets each graph that is instantiated.
    """
    outer, runtime.on_loop = runtime.on_loop, note
    outer_graph, runtime.on_graph = runtime.on_graph, note_graph
    try:
        yield
    finally:
        runtime.on_loop, runtime.on_graph = outer, outer_graph


def run_program(path: str, arguments: Sequence[str], command: str) -> None:
    """Run a Python program.

    Args:
        path: The program.
        arguments: What it finds in `sys.argv` behind its own name.
        command: Who asks for it, for messages.

    Raises:
        UsageError: There is no such file.
        SystemExit: The program has ended with a status that is not 0.
    """
    program = Path(path)
    if not program.is_file():
        raise UsageError(f"{command}: there is no file '{path}'; pass a Python program")
    before = sys.argv, sys.path[:]
    sys.argv = [path, *arguments]
    sys.path.insert(0, str(program.resolve().parent))
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    finally:
        sys.argv, sys.path[:] = before
