# SPDX-License-Identifier: BSD-3-Clause
"""Several loops compiled at the same time.

For the host several compilers run at once. For a device the loops become a single program, since a
compiler has a fixed cost for every program: PoCL takes 0.6 s, and 0.03 s more for each loop.
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.base.waiting import waiting
from pyop2cxx.pipeline import flow
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.frames import render

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyop2cxx.pipeline.request import GeneratedCode

# Names at file scope in generated texts: functions, kernels and tables, types of structs, and types
# of vectors.
_AT_FILE_SCOPE = re.compile(
    r"^(?:static|extern|__kernel|__constant|__global__)\b(?: inline __attribute__\(\(\w+\)\))?"
    r"(?:[^\n(]* __launch_bounds__\([\d, ]+\))?[^\n;{(=\[]*?(\w+)\s*[(\[=]|^\} (\w+);$"
    r"|^typedef [^\n;{(]*?(\w+)(?: __attribute__\(\([^\n]*\)\))?;$",
    re.MULTILINE,
)


def compile_together(loops: Iterable[Any]) -> int:
    """Compile loops for their present backend, all at the same time.

    Each loop then runs as if compiled alone. Known loops are skipped.

    Args:
        loops: `ParLoop`s, possibly generated lazily.

    Returns:
        How many loops were compiled.

    Raises:
        CompilationError: The compiler rejects a kernel. On a device the message shows generated
            lines, so compile the loop alone for a better message.
        ToolchainError: A compiler or a device is missing or broken.
        UnsupportedError: The device does not support a need of a loop; or compiling is forbidden,
            as by the option ``eti_only``.

    Example:
        >>> from pyop2cxx import op2
        >>> from pyop2cxx.pipeline.together import compile_together
        >>> cells = op2.Set(3)
        >>> x = op2.Dat(cells)
        >>> kernels = [op2.Kernel(f"void put(double *x) {{ x[0] = {i}; }}", "put") for i in (1, 2)]
        >>> with op2.backend("sequential"):
        ...     compile_together([op2.ParLoop(kernel, cells, x(op2.WRITE)) for kernel in kernels])
        2
    """
    host: dict[object, flow.Wanted] = {}
    programs: dict[object, dict[object, flow.Wanted]] = {}
    for loop in loops:
        wanted = flow.wanted(loop.current_request())
        if runtime.engine.dispatcher.resolve(wanted.query) is not None:
            continue
        flow.check_may_compile(wanted)
        group = host if wanted.device is None else programs.setdefault(wanted.flags, {})
        group.setdefault((wanted.choice.key, wanted.flags), wanted)
    if len(host) == 1:
        (alone,) = host.values()
        flow.executable(alone.request, alone)
    elif host:
        _compile_at_once([*host.values()])
    for program in programs.values():
        _compile_as_one([*program.values()])
    return len(host) + sum(map(len, programs.values()))


def _compile_at_once(group: Sequence[flow.Wanted]) -> None:
    """Run a compiler for each loop, as many at once as there are processors.

    A failing loop is compiled again alone, for the error message.
    """

    def load(wanted: flow.Wanted, code: GeneratedCode) -> tuple[_core.jit.Loaded, int, int]:
        start = _core.trace_clock()
        loaded = flow.load(wanted, str(code), flow.depends_on(wanted.request))
        return loaded, start, _core.trace_clock() - start

    codes = [flow.generate(one.request, one.choice) for one in group]
    n, n_workers = len(group), min(len(group), _core.available_threads())
    with waiting(f"compiling 1 of {n}") as say, ThreadPoolExecutor(n_workers) as pool:
        made = {pool.submit(load, *pair): pair for pair in zip(group, codes, strict=True)}
        for n_done, one in enumerate(as_completed(made), 1):
            say(f"compiling {min(n_done + 1, n)} of {n}")
            if one.exception() is None:
                (wanted, code), (loaded, start, spent) = made[one], one.result()
                executable = _core.read_executable(code.written, loaded.library, code.symbol)
                flow.enter(wanted, executable, loaded.origin, (start, 0, spent))
    runtime.engine.tell_notices()
    for one, (wanted, _) in made.items():
        if one.exception() is not None:
            flow.executable(wanted.request, wanted)


def _compile_as_one(group: Sequence[flow.Wanted]) -> None:
    engine, first = runtime.engine, group[0]
    device = first.device
    assert device is not None
    codes = [flow.generate(one.request, one.choice) for one in group]
    with engine.compiling.one(f"{len(group)} loops as one program"):
        made = engine.device_service.compile(
            device.compiler, joined(codes), list(first.flags), _core.__version__
        )
    program = device.device.load(made)
    runtime.engine.tell_notices()
    for number, (wanted, code) in enumerate(zip(group, codes, strict=True)):
        executable = _core.read_device_executable(code.written, program, _suffix(number))
        engine.jit_table.insert(wanted.query, executable)


def _suffix(number: int) -> str:
    return f"_loop{number}"


def joined(texts: Sequence[str]) -> str:
    """Return texts joined, each with unique names for definitions.

    Args:
        texts: Generated texts. Name `f` of text i becomes `f_loop<i>`.
    """
    parts = []
    for number, text in enumerate(texts):
        found = (one[one.lastindex or 0] for one in _AT_FILE_SCOPE.finditer(text))
        names = [*dict.fromkeys(found)]
        parts.append({"names": names, "text": text, "suffix": _suffix(number)})
    return render("kernels/joined.c.j2", {"parts": parts})
