# SPDX-License-Identifier: BSD-3-Clause
"""Turn compiler errors about generated code into errors about the user's kernel."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyop2cxx.base.quoting import quoted
from pyop2cxx.exceptions import CompilationError, UnsupportedError
from pyop2cxx.kernel.kernel import free_names
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyop2cxx.pipeline.request import Request

_MOST_LINES = 40


def explain_rejection(
    request: Request,
    error: CompilationError,
    marked: str,
    compile_text: Callable[[str], object],
) -> CompilationError:
    """Compile again with `#line`, so the message shows the user's lines.

    Args:
        request: The loop with the rejected text.
        error: Error of the first compilation.
        marked: The same text, with line markers.
        compile_text: Compiles a text.

    Returns:
        The error to raise, with `command`, `stderr` and `source_path` set.
    """
    said = error.stderr
    try:
        compile_text(marked)
    except CompilationError as second:
        said = _as_marked(second.stderr, marked)
    lines = _about_the_user(request, said)
    shown = "\n".join(f"  {line}" for line in lines[:_MOST_LINES])
    if len(lines) > _MOST_LINES:
        shown += f"\n  ... {len(lines) - _MOST_LINES} more lines in the exception's .stderr"
    quotation = _quote(request, "\n".join(lines)) + _name_strangers(request, said)
    made_at = f", made at {request.line}" if request.line else ""
    explained = CompilationError(
        f"par_loop '{request.name}'{made_at}, on backend '{request.backend.name}': the compiler "
        f"rejects the kernel:\n{shown}\n{quotation}generated source: {error.source_path}\n"
        f"command: {error.command}"
    )
    explained.command = error.command
    explained.stderr = said
    explained.source_path = error.source_path
    return explained


@contextmanager
def named_by_users(request: Request) -> Iterator[None]:
    """Use the user's name of the kernel in refusals, and add the unsupported line."""
    try:
        yield
    except UnsupportedError as error:
        raise UnsupportedError(_refused(request, str(error))) from None


def _refused(request: Request, message: str) -> str:
    kernel = request.kernel
    message = message.replace(f"par_loop '{kernel.name}'", f"par_loop '{request.name}'")
    if "syntax error" in kernel.opaque_reason:
        message = message.replace("; run this", "; correct it or, if C compilers take it, run this")
    place = re.match(r"line (\d+), column (\d+)", kernel.opaque_reason)
    if place is None or kernel.opaque_reason not in message:
        return message
    shown = quoted(kernel.shown_code, int(place.group(1)), int(place.group(2)))
    return f"{message}\n{shown}" if shown else message


def _name_strangers(request: Request, said: str) -> str:
    """Explain undeclared names: Consts are meant for such uses."""
    if not any(words in said for words in ("undeclared", "not declared", "is undefined")):
        return ""
    kernel = request.kernel
    wanted = free_names(kernel) if kernel.core.body is not None else [*runtime.constants]
    names = [name for name in wanted if re.search(rf"\b{re.escape(name)}\b", said)]
    if kernel.core.body is None:
        return _name_unseen(kernel.opaque_reason, names)
    missing = ", ".join(name for name in names if name not in runtime.constants)
    return f"no Const has the name {missing}: make it before the loop runs\n" if missing else ""


def _name_unseen(opaque_reason: str, names: list[str]) -> str:
    """Explain Consts unknown to a kernel, since nothing is added to an opaque text."""
    if not names:
        return ""
    return (
        f"Consts cannot be used in kernels that are compiled as they are written "
        f"({opaque_reason}): pass {', '.join(names)} as arguments\n"
    )


def _about_the_user(request: Request, said: str) -> list[str]:
    """Return the lines of a message, without lines about generated functions."""
    marker, shown = f"<kernel {request.kernel.name}>", f"<kernel {request.name}>"
    all_lines = _without_notes([line.replace(marker, shown) for line in said.strip().splitlines()])
    strange = f"{shown}: In function "
    ours = request.kernel.name if request.kernel.name != request.name else strange
    return [line for line in all_lines if strange not in line and ours not in line] or all_lines


def _as_marked(said: str, marked: str) -> str:
    """Apply line markers to places, for compilers counting lines of the whole text.

    NVIDIA's OpenCL does so, and calls the text `<kernel>`.
    """

    def place(found: re.Match[str]) -> str:
        before = marked.splitlines()[: int(found[1]) - 1]
        for back, line in enumerate(reversed(before)):
            marker = re.match(r'#line (\d+) "(<kernel .*>)"', line)
            if marker is not None:
                return f"{marker[2]}:{int(marker[1]) + back}:"
        return found[0]

    return re.sub(r"(?m)^<kernel>:(\d+):", place, said)


def _without_notes(lines: list[str]) -> list[str]:
    """Remove notes about generated text, with the quotations."""
    kept, is_left_out = [], False
    for line in lines:
        if re.match(r"\S+\.\w+:\d+:\d+: ", line):
            is_left_out = ": note: " in line
        elif not re.match(r" *\d* \|", line):
            is_left_out = False
        if not is_left_out:
            kept.append(line)
    return kept


def _quote(request: Request, said: str) -> str:
    """Quote the user's line of the first error, with a caret if the column is known."""
    # `file:5:14: error` of GCC and Clang, `file:5: error`, and `file(5): error` of NVRTC
    place = r"(?::(?P<line>\d+)(?::(?P<column>\d+))?|\((?P<only_line>\d+)\)):? *(?P<message>.*)"
    found = re.search(f"<kernel {re.escape(request.name)}>{place}", said)
    if found is None:
        return ""
    number, column = int(found["line"] or found["only_line"]), int(found["column"] or 0)
    lines = request.kernel.shown_code.splitlines()
    if number > len(lines):  # missing text at the end
        number = max((n for n, line in enumerate(lines, 1) if line.strip()), default=0)
        column = len(lines[number - 1]) + 1 if number else 0
    elif request.kernel.core.body is not None:
        column = _column_of(lines[number - 1], found["message"])
    shown = quoted(request.kernel.shown_code, number, column)
    return f"kernel '{request.name}', line {number}:\n{shown}\n" if shown else ""


def _column_of(line: str, message: str) -> int:
    """Return the column of a name in a message, from 1; 0 if not found exactly once.

    The compiler's columns count generated text.
    """
    for name in re.findall(r"['\"\u2018]([A-Za-z_]\w*)['\"\u2019]", message):
        places = [place.start() for place in re.finditer(rf"\b{name}\b", line)]
        if len(places) == 1:
            return places[0] + 1
    return 0
