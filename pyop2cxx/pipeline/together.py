# SPDX-License-Identifier: BSD-3-Clause
"""Several loops compiled for a device as one program.

A device's compiler takes its time for every program before it looks at the first loop: PoCL 0.6 s,
and 0.03 s for each loop in it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.pipeline import flow
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.frames import render

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyop2cxx.pipeline.request import GeneratedCode

# What generated texts have at file scope: functions, kernels and tables, types of structs, and
# types of vectors.
_AT_FILE_SCOPE = re.compile(
    r"^(?:static|extern|__kernel|__constant|__global__)\b(?: inline __attribute__\(\(\w+\)\))?"
    r"[^\n;{(=\[]*?(\w+)\s*[(\[=]|^\} (\w+);$"
    r"|^typedef [^\n;{(]*?(\w+)(?: __attribute__\(\([^\n]*\)\))?;$",
    re.MULTILINE,
)


def compile_together(loops: Iterable[Any]) -> int:
    """Compile loops for the device that loops run on now as one program.

    Each then runs as if it had been compiled by itself. Loops that are known already are left out.
    Nothing happens on the host, where a loop is an object of its own.

    Args:
        loops: `ParLoop`s. One that was asked for the next need not be kept.

    Returns:
        How many loops were compiled.

    Raises:
        CompilationError: The compiler rejects a kernel; the message shows generated lines, so
            compile that loop by itself.
        ToolchainError: There is no device, or its compiler broke.
        UnsupportedError: The device cannot do what a loop needs; or nothing may be compiled, as
            with the option ``eti_only``.

    Example:
        >>> from pyop2cxx import op2
        >>> from pyop2cxx.pipeline.together import compile_together
        >>> cells = op2.Set(3)
        >>> x = op2.Dat(cells)
        >>> kernel = op2.Kernel("void fill(double *x) { x[0] = 1.0; }", "fill")
        >>> with op2.backend("sequential"):
        ...     compile_together([op2.ParLoop(kernel, cells, x(op2.WRITE))])
        0
    """
    groups: dict[tuple[str, ...], list[tuple[flow.Wanted, GeneratedCode]]] = {}
    for loop in loops:
        wanted = flow.wanted(loop._current_request())
        if wanted.device is None or runtime.engine.dispatcher.resolve(wanted.query) is not None:
            continue
        flow.check_may_compile(wanted)
        group = groups.setdefault(wanted.flags, [])
        if all(other.choice.key != wanted.choice.key for other, _ in group):
            group.append((wanted, flow.generate(wanted.request, wanted.choice)))
    for group in groups.values():
        _compile(group)
    return sum(map(len, groups.values()))


def _compile(group: Sequence[tuple[flow.Wanted, GeneratedCode]]) -> None:
    engine, first = runtime.engine, group[0][0]
    device = first.device
    assert device is not None
    text = joined([code for _, code in group])
    with engine.compiling.one(f"{len(group)} loops as one program"):
        made = engine.device_service.compile(
            device.compiler, text, list(first.flags), _core.__version__
        )
    program = device.device.load(made)
    runtime.engine.tell_notices()
    for number, (wanted, code) in enumerate(group):
        executable = _core.read_device_executable(code.written, program, _suffix(number))
        engine.jit_table.insert(wanted.query, executable)


def _suffix(number: int) -> str:
    return f"_loop{number}"


def joined(texts: Sequence[str]) -> str:
    """Return texts as one, in which each calls what it defines by names of its own.

    Args:
        texts: Generated ones. What number i defines as `f` is called `f_loop<i>`.
    """
    parts = []
    for number, text in enumerate(texts):
        found = (one[one.lastindex or 0] for one in _AT_FILE_SCOPE.finditer(text))
        names = [*dict.fromkeys(found)]
        parts.append({"names": names, "text": text, "suffix": _suffix(number)})
    return render("kernels/joined.c.j2", {"parts": parts})
