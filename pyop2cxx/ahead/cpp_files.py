# SPDX-License-Identifier: BSD-3-Clause
"""The files for a C++ program with loops: a header, a source file, and the run-time."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.ahead import check_files, example_files, leaf_files
from pyop2cxx.ahead.functions import identifier, unused
from pyop2cxx.ahead.graph_files import FILE, in_cpp
from pyop2cxx.base.folders import core_folder
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.frames import render

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from pyop2cxx.ahead.device_files import Image
    from pyop2cxx.ahead.entries import Entry
    from pyop2cxx.ahead.functions import Compiled, Function
    from pyop2cxx.ahead.graph_files import SavedGraph

RUNTIME = "runtime"
_FIRST = (
    *("api/loops.hpp", "api/graph_builder.hpp", "api/renumber.hpp", "api/mesh_file.hpp"),
    "api/report.hpp",
)
_UNNAMED = ("runtime/*/adaptor.hpp", "libs/host/*.cpp")  # files that make themselves known
_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
_LITERAL_BYTES = 24
_KERNEL_DIGITS = 6
_STANDALONE = "base/standalone/fmt/format.h"  # source files include it as <fmt/format.h>


def write(
    folder: Path,
    name: str,
    entries: Sequence[Entry],
    images: Sequence[Image],
    graph: SavedGraph | None,
    facts: Any,
) -> bool:
    """Write the header, the source file of the declarations, the test, and the run-time's sources.

    Args:
        folder: Of the project.
        name: Of the project.
        entries: The loops.
        images: Images loaded by devices.
        graph: The graph of the loops; None for no graph.
        facts: Facts of the manifest about the graph's file.

    Returns:
        Whether there is a test.
    """
    usual = {"name": name, "scope": identifier(name), "version": _core.__version__}
    functions, records, examples = [], [], []
    names: dict[tuple[Function, str], str] = {}
    for signature, function_name, function, compiled, entry in _functions(entries):
        functions.append((function_name, function, compiled))
        records.append(entry.record)
        examples.append((function_name, function, entry.things))
        names[function.unnamed(), signature] = function_name
    of_graph: dict[str, Any] = {"graph": None, "saved": None}
    if graph is not None:
        made, function, values = in_cpp(
            graph,
            lambda one, signature: f"::{usual['scope']}::{names[one.unnamed(), signature]}",
            names.values(),
        )
        saved = check_files.described(made["name"], function, values)
        of_graph = {"graph": made, "saved": {**saved, **facts, "path": FILE}}
    missing = dict.fromkeys(
        f"{entry.description['kernel']}: {entry.no_function}"
        for entry in entries
        if entry.no_function
    )
    (folder / f"{name}.hpp").write_text(
        render(
            "ahead/program.hpp.j2",
            {
                **usual,
                "functions": [_declared(*one) for one in functions],
                "missing": [*missing],
                "graph": of_graph["graph"],
            },
        )
    )
    codes = [code for _, _, compiled in functions for code in compiled]
    symbols = [code.symbol for code in codes if not code.images]
    used = {symbol for code in codes for _, symbol in code.images}
    arrays = [one for one in images if one.symbol in used]
    vendors = {
        one.description["backend"]: one.toolchain.vendor if one.toolchain else "" for one in entries
    }
    (folder / f"{name}.cpp").write_text(
        render(
            "ahead/program.cpp.j2",
            {
                **usual,
                **of_graph,
                "backends": {code.backend: vendors[code.backend] for code in codes},
                "has_teams": any(
                    runtime.engine.backend(code.backend).facts.threads for code in codes
                ),
                "functions": [_defined(*one) for one in functions],
                "symbols": symbols,
                "images": arrays,
            },
        )
    )
    (folder / "images.c").write_text(
        render(
            "ahead/images.c.j2",
            {
                "name": name,
                "version": _core.__version__,
                "images": [_literal(one) for one in arrays],
            },
        )
    )
    write_runtime(folder / RUNTIME)
    on_host = [code.backend for code in codes if not code.images]  # every machine has processors
    first = min(on_host or [code.backend for code in codes], default="")
    example_files.write(folder, usual, examples, first)
    pairs = list(zip(functions, records, strict=True))
    recorded = [(*one, run) for one, run in pairs if not isinstance(run, str)]
    untested = [f"{one[0]}: {run}" for one, run in pairs if isinstance(run, str)]
    graphs = _graph_checks(graph, of_graph, entries, untested)
    if recorded or graphs:
        check_files.write(folder, usual, recorded, untested, graphs)
    return bool(recorded or graphs)


def _graph_checks(
    graph: SavedGraph | None,
    of_graph: Mapping[str, Any],
    entries: Sequence[Entry],
    untested: list[str],
) -> list[check_files.GraphCheck]:
    if graph is None:
        return []
    name = of_graph["graph"]["name"]
    if isinstance(graph.outcome, str):
        untested.append(f"{name}: {graph.outcome}")
        return []
    backends = dict.fromkeys(entry.description["backend"] for entry in entries)
    return [check_files.GraphCheck(name, [*backends], graph.outcome)]


def runtime_files(*, units: bool = True) -> list[str]:
    """Return the files of the run-time: the headers included by programs, and the source files.

    Args:
        units: Whether source files count.
    """
    root, found, waiting = core_folder(), set[str](), [*_FIRST]
    if units:
        waiting.append(_STANDALONE)
        waiting += [str(file.relative_to(root)) for one in _UNNAMED for file in root.glob(one)]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        waiting += _INCLUDE.findall((root / name).read_text())
        unit = f"{name.rpartition('.')[0]}.cpp"
        if units and (root / unit).is_file():
            waiting.append(unit)
    return sorted(found)


def write_runtime(folder: Path) -> None:
    """Write the sources of the run-time, a CMake project, into an empty folder."""
    files = runtime_files()
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(core_folder() / file, folder / file)
    leaves = leaf_files.write(folder)
    headers = [*runtime_files(units=False), *leaf_files.HEADERS]
    (folder / "CMakeLists.txt").write_text(
        render(
            "ahead/runtime_CMakeLists.txt.j2",
            {
                "version": _core.__version__,
                "units": [file for file in files if file.endswith(".cpp")],
                "leaves": leaves,
                "headers": [(one, one.rpartition("/")[0]) for one in headers],
            },
        )
    )


def _functions(
    entries: Iterable[Entry],
) -> Iterable[tuple[str, str, Function, list[Compiled], Entry]]:
    """Put the backends of each loop together, and give different loops different names.

    Functions of the same kernel are numbered. Kernels with the same name get a part of their text's
    digest in the name, so programs cannot call the wrong kernel after a change. A function's
    parameters are named after the first loop's objects; loops with other objects share the
    function.
    """
    found: dict[tuple[str, Function], list[Compiled]] = {}
    first: dict[tuple[str, Function], tuple[Function, Entry]] = {}
    texts: dict[str, set[tuple[str, ...]]] = {}
    for entry in entries:
        texts.setdefault(entry.description["kernel"], set()).add(entry.kernel)
        if entry.function is not None and entry.compiled is not None:
            key = (entry.description["signature"], entry.function.unnamed())
            found.setdefault(key, []).append(entry.compiled)
            first.setdefault(key, (entry.function, entry))
    taken: set[str] = set()
    for (key, compiled), (function, entry) in zip(found.items(), first.values(), strict=True):
        wanted = function.name
        if len(texts[entry.description["kernel"]]) > 1:
            wanted += f"_{_core.digest(repr(entry.kernel))[:_KERNEL_DIGITS]}"
        name = unused(wanted, taken)
        taken.add(name)
        # the first code that suits the mesh is taken: special code comes before general code
        yield key[0], name, function, sorted(compiled, key=_knows_less), entry


def _knows_less(code: Compiled) -> tuple[int, int, int, bool]:
    return -sum(code.injective), code.position_bytes, code.wide_bytes, not code.padded


def _literal(image: Image) -> dict[str, Any]:
    """Return an image as string literals of C: compilers take them faster than numbers."""
    lines = (
        image.content[at : at + _LITERAL_BYTES]
        for at in range(0, len(image.content), _LITERAL_BYTES)
    )
    return {
        "symbol": image.symbol,
        "size": len(image.content),
        "lines": ["".join(f"\\{byte:03o}" for byte in line) for line in lines],
    }


def _parameters(function: Function, default: str = "") -> str:
    given = [f"const op2::{of_type}& {name}" for of_type, name in function.parameters]
    if function.region:
        given.append(f"op2::Region {function.region}{default}")
    return ", ".join(given)


def _declared(name: str, function: Function, compiled: Sequence[Compiled]) -> dict[str, Any]:
    uses = list(function.uses)
    if function.region:
        uses.append((function.region, "which cells of each column: all, bottom or top"))
    return {
        "name": name,
        "iterset": function.iterset,
        "uses": uses,
        "parameters": _parameters(function, " = op2::Region::all"),
        "what": _what(function),
    }


def _what(function: Function) -> str:
    if function.facets:
        return "pairs of a cell and the one above it, in the columns"
    return "cells of the columns" if function.columns else "entities"


def _visited(function: Function) -> str:
    """Return the iteration set of a loop as C++ text."""
    if not function.columns:
        return function.iterset
    region = "op2::Region::interior_facets" if function.facets else function.region
    return f"{{{function.iterset}, {region}}}"


def _map(function: Function, map_: str | int) -> str:
    if isinstance(map_, int):
        return f"op2::api::own_columns({function.iterset}, {map_})"
    return f"{map_}.state()"


def _state(function: Function, i: int, name: str) -> str:
    if i in function.counts:
        return f"op2::api::counts_of(*{name}.state())"
    return f"{name}.state()"


def _columns(function: Function) -> str:
    if not function.columns:
        return "op2::Layers::none" if function.paths else ""
    flags = (json.dumps(flag) for flag in (function.periodic, function.facets))
    return f"op2::Layers::{function.columns}, {', '.join(flags)}"


def _path(arity: int, width: int, rows: Sequence[tuple[int, ...]]) -> str:
    entries = ", ".join(f"{{{', '.join(map(str, row))}}}" for row in rows)
    return f"{{{arity}, 0, {width}, {{{entries}}}}}"


def _defined(name: str, function: Function, compiled: Sequence[Compiled]) -> dict[str, Any]:
    return {
        "name": name,
        "kernel": function.kernel,
        "parameters": _parameters(function),
        "spaces": ", ".join(map(str, function.spaces)),
        "data": ", ".join(
            f"{{{_state(function, i, data)}, {row}, {column}}}"
            for i, (data, row, column) in enumerate(function.data)
        ),
        "index_bytes": function.index_bytes,
        "slots": function.slots,
        "maps": ", ".join(_map(function, map_) for map_ in function.maps),
        "visited": _visited(function),
        "columns": _columns(function),
        "paths": ", ".join(_path(*one) for one in function.paths),
        "constants": ", ".join(f"{constant}.state()" for constant in function.constants),
        "compiled": [_code(code) for code in compiled],
    }


def _code(code: Compiled) -> dict[str, Any]:
    images = ", ".join(
        f"{{{json.dumps(target or code.options)}, {symbol}, sizeof {symbol}}}"
        for target, symbol in code.images
    )
    measured = f", {json.dumps(code.key)}, {json.dumps(code.way)}" if code.key else ""
    longest = ", ".join(map(str, code.longest)) if any(code.longest) else ""
    of_device = (
        f", {{{images}}}, {json.dumps(code.for_processor)}, {json.dumps(code.padded)}, "
        f"{code.wide_bytes}{measured}"
    )
    if not (images or measured):
        of_device = ""
    return {
        "backend": code.backend,
        "symbol": "nullptr" if images else code.symbol,
        "rest": f", {{{longest}}}" + of_device if longest or of_device else "",
        "executable": json.dumps(code.executable),
        "block_size": code.block_size,
        "injective": ", ".join(json.dumps(flag) for flag in code.injective),
        "tuning": ", ".join(
            f"{{{json.dumps(name)}, {_number(value)}}}" for name, value in code.tuning.items()
        ),
    }


def _number(value: bool | int | float) -> str:
    return f"std::int64_t{{{value}}}" if type(value) is int else json.dumps(value)
