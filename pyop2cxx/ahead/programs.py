# SPDX-License-Identifier: BSD-3-Clause
"""Running a user's program inside the process, like ``python program.py``."""

from __future__ import annotations

import runpy
import sys
import traceback
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyop2cxx.exceptions import UsageError
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType


@contextmanager
def watched(
    note: Callable[[Any], None] | None,
    note_graph: Callable[[Any], None] | None = None,
    note_chain: Callable[[Any, Any, frozenset[str]], None] | None = None,
) -> Iterator[None]:
    """Call a function with each loop generated or made ready in a `with` block.

    Args:
        note: Gets a `ParLoop`, or a group of loops made by a chain; None: nobody asks.
        note_graph: Gets each instantiated graph.
        note_chain: Gets each compiled chain about to run, the recorded entries, and the passes.
    """
    outer, runtime.on_loop = runtime.on_loop, note
    outer_graph, runtime.on_graph = runtime.on_graph, note_graph
    outer_chain, runtime.on_chain = runtime.on_chain, note_chain
    try:
        yield
    finally:
        runtime.on_loop, runtime.on_graph, runtime.on_chain = outer, outer_graph, outer_chain


@dataclass(frozen=True, slots=True)
class End:
    """The end of a program.

    Attributes:
        status: Exit status.
        how: Description for messages; empty for status 0.
        shown: The traceback, or the text given to `sys.exit`; complete lines.
    """

    status: int = 0
    how: str = ""
    shown: str = ""


def run_to_the_end(path: str, arguments: Sequence[str], command: str) -> End:
    """Run a Python program, and return the way of the end, whatever is raised.

    Args:
        path: The program.
        arguments: `sys.argv` of the program, behind the name.
        command: The asking command, for messages.

    Raises:
        UsageError: The file does not exist.
        KeyboardInterrupt: The user has interrupted the program.
    """
    check_file(path, command)
    try:
        run_program(path, arguments, command)
    except SystemExit as end:
        if isinstance(end.code, int):
            return End(end.code, f"status {int(end.code)}")
        return End(1, f"status 1: {end.code}", f"{end.code}\n")
    except Exception as error:
        trace = _of_program(error.__traceback__, path)
        lines = traceback.format_exception(type(error), error, trace)
        return End(1, f"status 1: {lines[-1].strip()}", "".join(lines))
    return End()


def _of_program(trace: TracebackType | None, path: str) -> TracebackType | None:
    """Return the frames of a program and of called functions; all, if the program has none."""
    found = trace
    while found is not None and found.tb_frame.f_code.co_filename != path:
        found = found.tb_next
    return found or trace


def check_file(path: str, command: str) -> None:
    """Raise UsageError if there is no such program.

    Args:
        path: The program.
        command: The asking command, for the message.
    """
    if not Path(path).is_file():
        raise UsageError(f"{command}: there is no file '{path}'; pass a Python program")


def run_program(path: str, arguments: Sequence[str], command: str) -> None:
    """Run a Python program.

    Args:
        path: The program.
        arguments: `sys.argv` of the program, behind the name.
        command: The asking command, for messages.

    Raises:
        UsageError: The file does not exist.
        SystemExit: The program has ended with a status other than 0.
    """
    check_file(path, command)
    before = sys.argv, sys.path[:]
    sys.argv = [path, *arguments]
    sys.path.insert(0, str(Path(path).resolve().parent))
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    finally:
        sys.argv, sys.path[:] = before
