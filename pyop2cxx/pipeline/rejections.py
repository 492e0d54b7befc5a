# SPDX-License-Identifier: BSD-3-Clause
"""Turn a compiler's complaint about generated code into one about the user's kernel."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pyop2cxx.exceptions import CompilationError
from pyop2cxx.kernel.kernel import free_names
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyop2cxx.pipeline.request import Request

_MOST_LINES = 40


def explain_rejection(
    request: Request,
    error: CompilationError,
    compile_marked: Callable[[], object],
) -> CompilationError:
    """Compile once more with `#line`, so that the message points at the user's lines.

    Args:
        request: The loop whose text was rejected.
        error: What the first compilation raised.
        compile_marked: Compiles the same text with line markers.

    Returns:
        The error to raise, with `command`, `stderr` and `source_path` set.
    """
    said = error.stderr
    try:
        compile_marked()
    except CompilationError as second:
        said = second.stderr
    lines = said.strip().splitlines()
    shown = "\n".join(f"  {line}" for line in lines[:_MOST_LINES])
    if len(lines) > _MOST_LINES:
        shown += f"\n  ... {len(lines) - _MOST_LINES} more lines in the exception's .stderr"
    quoted = _quote(request, said) + _name_strangers(request, said)
    made_at = f", made at {request.line}" if request.line else ""
    explained = CompilationError(
        f"par_loop '{request.name}'{made_at}, on backend '{request.backend.name}': the compiler "
        f"rejects the kernel:\n{shown}\n{quoted}generated source: {error.source_path}\n"
        f"command: {error.command}"
    )
    explained.command = error.command
    explained.stderr = said
    explained.source_path = error.source_path
    return explained


def _name_strangers(request: Request, said: str) -> str:
    """Say of names that nobody declares that Consts are meant to be used like that."""
    if "undeclared" not in said and "not declared" not in said:
        return ""
    names = [
        name
        for name in free_names(request.kernel)
        if name not in runtime.constants and re.search(rf"\b{re.escape(name)}\b", said)
    ]
    if not names:
        return ""
    return f"no Const has the name {', '.join(names)}: make it before the loop runs\n"


def _quote(request: Request, said: str) -> str:
    """Quote the user's line that the first error is about."""
    found = re.search(rf"<kernel {re.escape(request.name)}>:(\d+)", said)
    if found is None:
        return ""
    number = int(found.group(1))
    lines = request.kernel.code.splitlines()
    if not 1 <= number <= len(lines):
        return ""
    return f"kernel '{request.name}', line {number}: {lines[number - 1].strip()}\n"
