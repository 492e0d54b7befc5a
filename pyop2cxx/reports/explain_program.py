# SPDX-License-Identifier: BSD-3-Clause
"""How each loop of a program runs, and why: ``python -m pyop2cxx explain``."""

from __future__ import annotations

import runpy
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyop2cxx.exceptions import UsageError
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyop2cxx.pipeline.explain import Explanation


@contextmanager
def watched() -> Iterator[list[Explanation]]:
    """Collect the explanations of all loops that are generated or run in a `with` block.

    Loops that are decided alike appear once.
    """
    found: list[Explanation] = []

    def note(loop: Any) -> None:
        made = loop.explain()
        if made not in found:
            found.append(made)

    outer, runtime.on_loop = runtime.on_loop, note
    try:
        yield found
    finally:
        runtime.on_loop = outer


def explain_program(path: str, arguments: Sequence[str]) -> list[Explanation]:
    """Run a Python program and say of each of its loops how it ran.

    Args:
        path: The program.
        arguments: What it finds in `sys.argv` behind its own name.

    Raises:
        UsageError: There is no such file.
    """
    program = Path(path)
    if not program.is_file():
        raise UsageError(f"explain: there is no file '{path}'; pass a Python program")
    before = sys.argv, sys.path[:]
    sys.argv = [path, *arguments]
    sys.path.insert(0, str(program.resolve().parent))
    with watched() as found:
        try:
            runpy.run_path(path, run_name="__main__")
        except SystemExit as end:
            if end.code not in (None, 0):
                raise
        finally:
            sys.argv, sys.path[:] = before
    return found
