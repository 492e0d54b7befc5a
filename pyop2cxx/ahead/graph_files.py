# SPDX-License-Identifier: BSD-3-Clause
"""A saved graph in a folder: the values, and the graph in C++."""

from __future__ import annotations

import json
import math
import zlib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import _core
from pyop2cxx.ahead.functions import Function, identifier, object_type, region_of, scalar, unused
from pyop2cxx.ahead.records import Object, Record
from pyop2cxx.ahead.trust import file_within
from pyop2cxx.exceptions import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from pyop2cxx.ahead.written_graphs import Written
    from pyop2cxx.base.arrays import Array

FILE = "graph.bin"
_FORMAT = 4
_MOST_INT64 = 2**63


@dataclass(frozen=True, slots=True)
class SavedGraph:
    """A graph to be written.

    Attributes:
        written: The description and the values.
        outcome: Values after one submit, by name; or a reason why they are unknown.
    """

    written: Written
    outcome: Mapping[str, Array] | str


# Values


def write_values(folder: Path, written: Written) -> dict[str, Any]:
    """Write the values, and return the graph's entry of the manifest.

    Args:
        folder: Of the project.
        written: The graph.
    """
    digest = _core.digest(json.dumps(written.description, sort_keys=True))
    title = f"pyop2cxx graph {_FORMAT} {digest}"
    n_bytes = checksum = 0
    with (folder / FILE).open("wb") as file:
        file.write(f"{title}\n".encode())
        for values in written.values:
            if values is not None:
                data = values.tobytes()
                file.write(data)
                checksum = zlib.crc32(data, checksum)
                n_bytes += len(data)
    described = json.loads(json.dumps(written.description))
    file_facts = {"title": title, "n_bytes": n_bytes, "checksum": checksum}
    return {**described, "file": file_facts}


def read_values(folder: Path, manifest: Mapping[str, Any]) -> list[Array | None]:
    """Return the values of each object of a graph; None of a Set.

    Args:
        folder: Of the project.
        manifest: The manifest of the project.

    Raises:
        UsageError: They are missing, elsewhere, of another graph or version, cut short or damaged.
    """
    file, graph = file_within(folder, FILE, "load_graph"), dict(manifest["graph"])
    try:
        facts = graph.pop("file")
        digest = _core.digest(json.dumps(graph, sort_keys=True))
        is_same = facts["title"] == f"pyop2cxx graph {_FORMAT} {digest}"
    except (LookupError, TypeError) as error:
        raise UsageError(f"load_graph: the manifest in '{folder}' is damaged: {error!r}") from None
    if not is_same:
        raise UsageError(
            f"load_graph: the manifest in '{folder}' was changed after it was written, or is of "
            "another version; save the graph again"
        )
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UsageError(f"load_graph: cannot read '{file}': {error}") from None
    title, _, values = data.partition(b"\n")
    if title != facts["title"].encode():
        raise UsageError(
            f"load_graph: '{file}' is of another graph, or of another version; expected the title "
            f"'{facts['title']}'"
        )
    if len(values) != facts["n_bytes"]:
        raise UsageError(
            f"load_graph: '{file}' should have {facts['n_bytes']} bytes of values, but has "
            f"{len(values)}; save the graph again"
        )
    if zlib.crc32(values) != facts["checksum"]:
        raise UsageError(f"load_graph: '{file}' was changed after it was written")
    found: list[Array | None] = []
    begin = 0
    for one in graph["objects"]:
        if "size" not in one:
            found.append(None)
            continue
        own = np.frombuffer(values, one["dtype"], one["size"], begin).copy()
        found.append(own)
        begin += own.nbytes
    return found


# C++


def in_cpp(
    saved: SavedGraph, name_of_loop: Callable[[Function, str], str], taken: Iterable[str]
) -> tuple[dict[str, Any], Function, Record]:
    """Return the template context of a graph, and the graph as a function.

    Args:
        saved: The graph.
        name_of_loop: Returns the name of a loop's function, by function and signature.
        taken: Names of other functions.
    """
    written = saved.written
    function, things = _function(written)
    steps = _Steps(written, function, name_of_loop)
    added = steps.of(written.description["nodes"], steps.variable)
    graph = written.graph
    inputs, outputs = (
        {data.uid for data in found.values()} for found in (graph.inputs, graph.outputs)
    )
    values = [
        {
            "label": json.dumps(name),
            "dtype": data.dtype.name,
            "object": steps.names[data.uid],
            "is_input": data.uid in inputs,
            "is_output": data.uid in outputs,
        }
        for name, data in graph.data.items()
    ]
    made = {
        "name": unused(function.name, set(taken)),
        "label": json.dumps(graph.name),
        "parameters": function.parameters,
        "loops": steps.loops,
        "added": added,
        "named": values,
        "steps": steps.variable,
    }
    objects = tuple(
        Object(thing=thing, before=values)
        for thing, values in zip(written.things, written.values, strict=True)
    )
    return made, function, Record(things, objects)  # in the order of the file


def _function(written: Written) -> tuple[Function, tuple[Any, ...]]:
    """Return a graph as a function of the objects used by the nodes."""
    used: dict[int, Any] = {}
    for one in written.loops:
        used |= {thing.uid: thing for thing in one.things}
    used |= {data.uid: data for data in written.graph.data.values()}
    taken: list[str] = []
    for thing in used.values():
        taken.append(unused(identifier(thing.name), taken))
    made = Function(
        name=identifier(written.graph.name),
        kernel=written.graph.name,
        parameters=tuple(
            (object_type(thing), name) for thing, name in zip(used.values(), taken, strict=True)
        ),
        uses=(),
        iterset="",
        data=(),
        maps=(),
        constants=(),
        spaces=(),
        index_bytes=4,
        slots=1,
    )
    return made, tuple(used.values())


class _Steps:
    """The statements of a graph's function.

    Attributes:
        names: Names of the objects, by uid.
        variable: Variable of the steps.
        loops: For each loop the variable, the function and the arguments.
    """

    def __init__(
        self, written: Written, function: Function, name_of_loop: Callable[[Function, str], str]
    ) -> None:
        self._things = written.things
        _, things = _function(written)
        parameters = (name for _, name in function.parameters)
        self.names = dict(zip((one.uid for one in things), parameters, strict=True))
        self._taken = set(self.names.values())
        self.variable = self._unique("steps")
        self.loops: list[dict[str, Any]] = []
        self._loops: list[str] = []
        for number, one in enumerate(written.loops):
            variable = self._unique(f"loop_{number}")
            signature = _core.digest(one.loop.symbolic().loop.signature())
            called = name_of_loop(one.function, signature)
            given = [self.names[thing.uid] for thing in one.things]
            if one.function.region:
                given.append(region_of(one.loop))
            self._loops.append(variable)
            self.loops.append({"variable": variable, "function": called, "given": given})

    def of(self, nodes: Sequence[Mapping[str, Any]], steps: str) -> list[dict[str, Any]]:
        """Return the template context for statements that add nodes to steps."""
        return [one for node in nodes for one in self._node(node, steps)]

    def _node(self, node: Mapping[str, Any], steps: str) -> list[dict[str, Any]]:
        kind = node["do"]
        made: dict[str, Any] = {"do": kind, "steps": steps}
        if kind == "graph":
            return self.of(node["body"], steps)
        if kind == "loop":
            made["loop"] = self._loops[node["loop"]]
        elif kind == "fill":
            target = self._things[node["target"]]
            value = literal(node["value"], target.dtype)
            made |= {"target": self.names[target.uid], "value": value}
        elif kind in ("copy", "scan"):
            for end in ("source", "target"):
                made[end] = self.names[self._things[node[end]].uid]
            made["how"] = _scanned(node) if kind == "scan" else ""
        else:
            inside = self._unique("again")
            begin = {"do": "begin", "steps": inside}
            made |= {"inside": inside, "most": node["most"], **self._condition(node)}
            return [begin, *self.of(node["body"], inside), made]
        return [made]

    def _condition(self, node: Mapping[str, Any]) -> dict[str, Any]:
        sides = (node["left"], node["right"])
        data = [self._things[side["data"]] for side in sides if "data" in side]
        compared = [
            {"data": self.names[self._things[side["data"]].uid], "number": ""}
            if "data" in side
            else {"data": "", "number": _compared(side["number"], data[0].dtype)}
            for side in sides
        ]
        captured = dict.fromkeys(side["data"] for side in compared if side["data"])
        return {"captured": [*captured], "sides": compared, "sign": node["sign"]}

    def _unique(self, wanted: str) -> str:
        found = unused(wanted, self._taken)
        self._taken.add(found)
        return found


def _scanned(node: Mapping[str, Any]) -> str:
    """Return the operation of a scan in C++; empty for exclusive sums."""
    access = {"sum": "inc"}.get(node["operation"], node["operation"])
    is_usual = access == "inc" and not node["inclusive"]
    return "" if is_usual else f", op2::Access::{access}, {json.dumps(node['inclusive'])}"


def _compared(number: float, dtype: np.dtype[Any]) -> str:
    """Return a number in the form compared by NumPy with values of a dtype."""
    if dtype.kind == "f" or (dtype.name == "uint64" and isinstance(number, int)):
        return literal(number, dtype)
    return literal(number, np.dtype(np.int64 if isinstance(number, int) else np.float64))


def literal(value: Any, dtype: np.dtype[Any]) -> str:
    """Return a number in C++, to the last bit.

    Args:
        value: The number; a complex number as two.
        dtype: Type of the literal.
    """
    if dtype.kind == "c":
        part = np.dtype(np.float32 if dtype.itemsize == np.dtype(np.complex64).itemsize else float)
        parts = value if isinstance(value, list) else [value, 0.0]
        return f"{scalar(dtype)}({', '.join(map(partial(literal, dtype=part), parts))})"
    kind = scalar(dtype)
    if dtype.kind == "f":
        number = float(np.asarray(value, dtype))
        if math.isnan(number):
            return f"std::numeric_limits<{kind}>::quiet_NaN()"
        if math.isinf(number):
            return f"{'-' if number < 0 else ''}std::numeric_limits<{kind}>::infinity()"
        return f"{number!r}{'f' if kind == 'float' else ''}"
    if value <= -_MOST_INT64:
        return f"std::numeric_limits<{kind}>::min()"
    return f"{kind}{{{int(value)}{'U' if dtype.kind == 'u' else ''}}}"
