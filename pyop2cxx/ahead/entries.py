# SPDX-License-Identifier: BSD-3-Clause
"""Loops of a program as entries of a table: texts, and the parameters of each function."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.ahead.functions import (
    MOST_LETTERS,
    NoFunctionError,
    compiled_of,
    function_of,
    region_of,
)
from pyop2cxx.ahead.programs import watched
from pyop2cxx.ahead.records import NoRecordError, record
from pyop2cxx.backends._backend import DeviceToolchain
from pyop2cxx.chain.group_loop import GroupLoop
from pyop2cxx.exceptions import Op2Error, UsageError
from pyop2cxx.pipeline import flow
from pyop2cxx.pipeline.covering import general
from pyop2cxx.pipeline.nearest import fields_of
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime import tuned_file as store
from pyop2cxx.runtime.tuned import Known, size_of
from pyop2cxx.tune.measure import decide

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyop2cxx.ahead.functions import Compiled, Function
    from pyop2cxx.ahead.records import Record
    from pyop2cxx.loop.parts import Part
    from pyop2cxx.loop.symbolic import Symbolic
    from pyop2cxx.pipeline.request import GeneratedCode, Request

_KEY_DIGITS = 12
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_ONLY_LINKED = ("-l", "-L", "-Wl,")
_LINKED = (*_ONLY_LINKED, "-fopenmp", "-pthread")  # also passed to the compiler
_FOLDERS = ("-I", "-isystem", "-iquote", "-L")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A loop, generated for a backend.

    Attributes:
        description: Entry of the manifest.
        text: Source text to compile.
        flags: Compiler flags, beyond the common flags of all loops.
        link_flags: Of the linker, in the user's order: libraries, their folders, files.
        is_cpp: Whether the text is C++.
        is_verbatim: Whether the kernel is compiled as written, with names possibly used by others.
        toolchain: Of a device; None for the host.
        targets: Kinds of devices to compile for; "" for devices that load the text.
        function: The function for C++ programs; None if there is none.
        compiled: Facts about the code for the function.
        no_function: Reason why there is no function; empty otherwise.
        record: Input and output of a run in the program, for the project's test; or a reason for
            having none.
        kernel: Text and options of the user's kernel of the name; empty for a kernel written by
            pyop2cxx, or for several kernels.
        line: Where the user made the loop.
        things: The program's objects for the function's parameters.
    """

    description: dict[str, Any]
    text: str
    flags: tuple[str, ...]
    link_flags: tuple[str, ...]
    is_cpp: bool
    is_verbatim: bool
    toolchain: DeviceToolchain | None = None
    targets: tuple[str, ...] = ()
    function: Function | None = None
    compiled: Compiled | None = None
    no_function: str = ""
    record: Record | str = ""
    kernel: tuple[str, ...] = ()
    line: str = ""
    things: tuple[Any, ...] = ()


class Collected:
    """The loops of a program, each once, generated for some backends.

    Args:
        backends: Names; empty means the backend of each loop.
        gpus: Kinds of GPUs to compile for: "sm_90".
        records: Whether loops are run for the test of the project.
        tuned: Whether loops are measured in all possible ways, to choose the fastest.

    Raises:
        UsageError: A backend is unknown.
    """

    def __init__(
        self,
        backends: Sequence[str],
        gpus: Sequence[str] = (),
        *,
        records: bool = True,
        tuned: bool = False,
    ) -> None:
        known = runtime.backend_names()
        for name in backends:
            if name not in known:
                raise UsageError(f"there is no backend '{name}'; there are: {', '.join(known)}")
        self._backends = tuple(backends)
        self._gpus = tuple(gpus)
        self._wants_records = records
        self._wants_tuned = tuned
        self.decisions: dict[tuple[str, str, int], store.Entry | str] = {}
        self.entries: dict[str, Entry] = {}
        self.refused: list[str] = []
        self._records: dict[object, Record | str] = {}

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Collect the loops that run in a `with` block, including loops used before."""
        runtime.epoch += 1  # makes prepared loops prepare again
        with watched(self.note):
            yield

    def note(self, loop: Any) -> None:
        """Collect a loop."""
        for backend in self._backends or (runtime.backend,):
            request = loop.request(loop.symbolic(), {"backend": backend})
            if self._wants_tuned:
                self._decide(loop, request)
            for kind in _kinds(request):
                self._add(loop, kind)
                self._add(loop, general(kind))  # the special text may know this mesh only

    def _decide(self, loop: Any, request: Request) -> None:
        """Take the measurement of a loop on a backend from the store, or measure now."""
        backend = request.backend.name
        subject = (request.loop.signature(), backend, size_of(request.n_elements))
        if subject in self.decisions:
            return
        known = flow.known(flow.here(request))
        found = known.entry if known and known.level == "exact" else decide(loop, backend)
        if isinstance(found, store.Entry):
            runtime.engine.tuned.note(backend, found)
            self.decisions[subject] = found
        else:
            self.decisions[subject] = f"'{request.name}' on {backend}: {found}"

    def measurements(self) -> Iterator[str]:
        """Yield the measurements, and the loops without any."""
        for (_, backend, _), found in self.decisions.items():
            if isinstance(found, store.Entry):
                times = f"{found.us:.1f} us, and {found.rule_us:.1f} us by the rules"
                yield f"tuned: '{found.name}' on {backend}: {found.way_text}: {times}"
            else:
                yield f"not tuned: {found}"

    def not_in_cpp(self) -> Iterator[str]:
        """Yield the loops without C++ functions, once for each backend and reason."""
        found: dict[tuple[str, str], dict[str, None]] = {}
        counts = Counter(one.description["backend"] for one in self.entries.values())
        for one in self.entries.values():
            if one.no_function:
                about = one.description
                found.setdefault((about["backend"], one.no_function), {})[about["kernel"]] = None
        n_left = Counter(
            one.description["backend"] for one in self.entries.values() if one.no_function
        )
        for (backend, why), kernels in found.items():
            is_all = n_left[backend] == counts[backend]
            which = "no loop" if is_all else f"not: {', '.join(kernels)}"
            yield f"callable from C++ on {backend}: {which} ({why})"

    def tuned(self) -> dict[str, str]:
        """Return the files of the store for loaders, by name."""
        found: dict[str, list[store.Entry]] = {}
        for (_, backend, _), one in self.decisions.items():
            if isinstance(one, store.Entry):
                found.setdefault(backend, []).append(one)
        places = {backend: runtime.engine.tuned.place(backend) for backend in found}
        return {
            place.file_name: store.written(place, found[backend])
            for backend, place in places.items()
            if place is not None
        }

    def _add(self, loop: Any, request: Request) -> None:
        built = loop.symbolic()
        backend = request.backend.name
        size = size_of(request.n_elements)
        found = self.decisions.get((request.loop.signature(), backend, size))
        if isinstance(found, store.Entry) and found.key == flow.measured_key(request):
            request = (
                flow.in_way(request, Known(found, "exact")) if flow.is_free(request) else request
            )
        try:
            choice = flow.choose(request, asks_store=False)
            if choice.key in self.entries:
                return
            code = flow.generate(request, choice)
        except Op2Error as error:
            self.refused.append(f"'{request.name}' on {backend}: {error}")
            return
        made = _entry(request, code, built, loop.parts, self._gpus)
        made = replace(made, kernel=_written_by_user(loop))
        self.entries[choice.key] = self._with_function(made, loop, request, built)

    def _with_function(self, entry: Entry, loop: Any, request: Request, built: Symbolic) -> Entry:
        """Add the function of a C++ program, and the record for the test."""
        if entry.toolchain is not None and not entry.targets:
            why = f"its GPU is not known: --arch {entry.toolchain.kinds}... compiles for one"
            return replace(entry, no_function=why)
        try:
            function, things = function_of(loop, built, request.name)
        except NoFunctionError as error:
            return replace(entry, no_function=str(error))
        key = (entry.description["signature"], function)
        if key not in self._records:
            try:
                if not self._wants_records:
                    raise NoRecordError("it is tested with its graph")
                self._records[key] = record(loop, things, region_of(loop))
            except NoRecordError as error:
                self._records[key] = str(error)
        about = entry.description
        symbol = about.get("symbol") or Path(about["file"]).stem
        compiled = compiled_of(loop, request, symbol, about, entry.targets)
        if self._wants_tuned:
            way = store.text_of({**about, "tuning": dict(request.tuning)})
            compiled = replace(compiled, key=flow.measured_key(request), way=way)
        run = self._records[key]
        return replace(entry, function=function, compiled=compiled, record=run, things=things)


def _kinds(request: Request) -> Iterator[Request]:
    """Yield the request for each kind of devices with a text of its own on a backend."""
    yield request
    toolchain = request.backend.toolchain
    if isinstance(toolchain, DeviceToolchain) and toolchain.has_processors:
        facts = request.backend.facts.on(is_processor=True, has_float64=True)
        yield flow.suited(request, facts)


def _entry(
    request: Request,
    code: GeneratedCode,
    built: Symbolic,
    parts: Sequence[Part],
    gpus: tuple[str, ...],
) -> Entry:
    toolchain = request.backend.toolchain
    on_device = isinstance(toolchain, DeviceToolchain)
    flags = flow.compile_flags_of(request)
    link_flags: tuple[str, ...] = ()
    key = _core.digest(code.key)[:_KEY_DIGITS]
    (name,) = code.files
    stem, _, suffix = name.rpartition(".")
    symbol, module = f"{code.symbol}_{key}", code.module
    description: dict[str, Any] = {
        "kernel": request.name,
        "backend": request.backend.name,
        "strategy": code.strategy,
        "lanes": code.lanes,
        "file": f"src/{stem[:MOST_LETTERS]}_{key}.{suffix}",
        "prototype": code.signature,
        "arguments": list(_arguments(module, built, parts)),
        "key": _core.digest(code.key),
        "signature": _core.digest(request.loop.signature()),
        "fields": fields_of(request, code.choice),
        "executable": code.written,
    }
    if not on_device:
        description["symbol"] = symbol
        description["range"] = _core.range_of(module)
    else:
        steps = json.loads(_core.launches_of(module))
        description["launch"] = {"steps": steps, "c": list(_in_c(steps))}
        description["for_processor"] = request.backend.facts.device_class == "processor"
        description["options"] = " ".join(flags)
    text = str(code)
    if not on_device:
        # two loops of the same kernel share a library, built by CMake in another folder
        flags = tuple(_placed(flags))
        also = (flag for flag in flags if flag.startswith(_LINKED))
        link_flags = (*also, *_placed(flow.link_flags_of(request)))
        flags = tuple(flag for flag in flags if not flag.startswith(_ONLY_LINKED))
        if request.kernel.core.body is None:  # the object file is changed before linking
            flags = (*flags, "-fno-lto")
        text = f"#define {code.symbol} {symbol}\n{text}"
    return Entry(
        description=description,
        text=text,
        flags=flags,
        link_flags=link_flags,
        is_cpp=request.kernel.cpp,
        is_verbatim=request.kernel.core.body is None,
        toolchain=toolchain if isinstance(toolchain, DeviceToolchain) else None,
        targets=_targets(toolchain, gpus) if isinstance(toolchain, DeviceToolchain) else (),
        line=request.line,
    )


def _in_c(
    steps: Sequence[dict[str, Any]], indent: str = "", known: frozenset[str] = frozenset()
) -> Iterator[str]:
    """Yield the lines of C that would carry the steps of a launch out, with names of no library.

    Args:
        steps: Of the core.
        indent: Blanks before each line.
        known: Variables around the steps.
    """
    for step in steps:
        kind = step["step"]
        if kind == "set":
            name = step["variable"]
            yield f"{indent}{'' if name in known else 'int64_t '}{name} = {step['value']};"
            known |= {name}
        elif kind == "allocate":
            function = "zeros" if step["zero"] else "memory"
            yield f"{indent}void *{step['memory']} = {function}({step['bytes']});"
        elif kind == "launch":
            given = ", ".join((f"{step['grid']}({step['items']})", *step["arguments"]))
            yield f"{indent}launch({step['kernel']}, {given});"
        else:
            i = step.get("variable")
            head = (
                f"for (int64_t {i} = {step['begin']}; {i} < {step['end']}; ++{i})"
                if kind == "repeat"
                else f"if ({step['condition']})"
            )
            yield f"{indent}{head} {{"
            yield from _in_c(step.get("body") or step.get("then") or (), indent + "  ", known)
            yield f"{indent}}}"


def _placed(flags: Sequence[str]) -> Iterator[str]:
    """Yield flags with absolute paths, for a compiler in another folder."""
    for flag, folder in _with_folders(flags):
        place = flag if os.path.isfile(flag) else folder
        yield flag.removesuffix(place) + os.path.abspath(place) if place else flag


def _with_folders(flags: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield flags, each with the named folder, in the same word or alone; else with ""."""
    before = ""
    for flag in flags:
        name = next((name for name in _FOLDERS if flag.startswith(name)), "")
        is_folder = before in _FOLDERS
        yield flag, flag if is_folder else flag.removeprefix(name) if name else ""
        before = flag


def _written_by_user(loop: Any) -> tuple[str, ...]:
    """Return a key for kernels of equal names, independent of the layout of the text."""
    kernel = loop.kernel
    if kernel.is_written_here or isinstance(loop, GroupLoop):
        return ()
    words = _COMMENT.sub(" ", kernel.shown_code).split()
    # folders differ between machines, but names must not
    named = _with_folders(kernel.core.options)
    options = (flag for flag, folder in named if not folder and flag not in _FOLDERS)
    return (" ".join(words), *options, *kernel.core.headers, *kernel.description.header_contents)


def _targets(toolchain: DeviceToolchain, gpus: tuple[str, ...]) -> tuple[str, ...]:
    """Kinds of devices for the generated code."""
    if toolchain.compiler_for is None:
        return ("",)
    return tuple(gpu for gpu in gpus if gpu.startswith(toolchain.kinds))


def _arguments(
    module: _core.Module, built: Symbolic, parts: Sequence[Part]
) -> Iterator[dict[str, Any]]:
    """Yield a description of each argument of the launch function."""
    for one in _core.arguments_of(module):
        if one["role"] == "data":
            part = parts[one["number"]]
            one["access"] = part.access.name
            one["dim"] = part.dim
            one["object"] = f"{type(part.data).__name__} '{part.data.name}'"
            if part.home is not None:
                one["shape"] = f"[entities of '{part.home.name}', {part.dim}]"
            if part.map_ is not None:
                one["map"] = part.map_.name
        elif one["role"] == "map":
            map_ = built.maps[one["number"]]
            one["object"] = f"Map '{map_.name}'"
            rows = "begins and entries" if map_.is_ragged else map_.arity
            one["shape"] = f"[entities of '{map_.iterset.name}', {rows}]"
        elif one["role"] == "constant":
            constant = built.constants[one["number"]]
            one["object"] = f"Const '{constant.name}'"
            one["shape"] = f"[{constant.cdim}]"
        yield one
