# SPDX-License-Identifier: BSD-3-Clause
"""The test of a project: a program in C++, with input values."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyop2cxx.ahead.functions import (
    MOST_LETTERS,
    identifier,
    map_type,
    offset_of,
    scalar,
    set_type,
    unused,
)
from pyop2cxx.ahead.records import homes_of, is_extruded, pairs_of, sets_of
from pyop2cxx.data.mats import Mat
from pyop2cxx.data.ragged import RaggedMap
from pyop2cxx.runtime.frames import render
from pyop2cxx.sets.extruded import ExtrudedSet
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.sets import Set

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pyop2cxx.ahead.functions import Compiled, Function
    from pyop2cxx.ahead.records import Object, Record
    from pyop2cxx.base.arrays import Array

FOLDER = "check"
PROGRAM = "check.cpp"


def write(
    folder: Path,
    usual: Mapping[str, str],
    recorded: Sequence[tuple[str, Function, Sequence[Compiled], Record]],
    missing: Sequence[str],
    graphs: Sequence[GraphCheck],
) -> None:
    """Write the program and the input values.

    Args:
        folder: Of the project.
        usual: Context for the rendering of all files.
        recorded: For each loop the name in C++, the function, the code, and a run.
        missing: Untested functions, with reasons.
        graphs: The graph of the project, if the outcome is known.
    """
    (folder / FOLDER).mkdir()
    checks: list[dict[str, object]] = []
    for name, function, compiled, run in recorded:
        backends = dict.fromkeys(code.backend for code in compiled)
        # the name of a chain joins all names of kernels, and can exceed the limit of file names
        file = name if len(name) <= MOST_LETTERS else f"{name[:MOST_LETTERS]}_{len(checks)}"
        about = described(name, function, run)
        checks.append({**about, "stored": file, "backends": [*backends]})
        values = [one.before for one in run.objects] + [one.after for one in run.objects]
        (folder / FOLDER / f"{file}.bin").write_bytes(
            b"".join(one.tobytes() for one in values if one is not None)
        )
    for graph in graphs:
        (folder / FOLDER / f"{graph.name}.bin").write_bytes(
            b"".join(one.tobytes() for one in graph.outcome.values())
        )
    of_graphs = [
        {
            "name": graph.name,
            "backends": graph.backends,
            "outputs": [
                {"label": json.dumps(name), "scalar": scalar(values.dtype)}
                for name, values in graph.outcome.items()
            ],
        }
        for graph in graphs
    ]
    context = {**usual, "checks": checks, "missing": missing, "graphs": of_graphs}
    (folder / PROGRAM).write_text(render("ahead/check.cpp.j2", context))


def described(name: str, function: Function, run: Record) -> dict[str, Any]:
    """Return the template context for the objects and the call of a function.

    Args:
        name: Of the function.
        function: The function.
        run: The objects and their values.
    """
    return _Check(name, function, run).described()


@dataclass(frozen=True, slots=True)
class GraphCheck:
    """The test of a graph.

    Attributes:
        name: Name of the function.
        backends: Backends with code.
        outcome: Values after one submit, by name.
    """

    name: str
    backends: Sequence[str]
    outcome: Mapping[str, Array]


class _Check:
    """The part of the program about a single function.

    Args:
        name: Of the function.
        function: The function.
        run: The recorded run.
    """

    def __init__(self, name: str, function: Function, run: Record) -> None:
        self._name = name
        self._run = run
        self._region = function.region
        self._parameters = [parameter for _, parameter in function.parameters]
        named = zip(run.things, function.parameters, strict=True)
        self._types = {thing.uid: of_type for thing, (of_type, _) in named}
        self._names = dict(zip((thing.uid for thing in run.things), self._parameters, strict=True))
        self._taken = set(self._parameters)

    def described(self) -> dict[str, Any]:
        """Return the template context."""
        sets = {one.uid: one for each in self._run.objects for one in sets_of(each.thing)}
        with_values = [one for one in self._run.objects if one.before is not None]
        objects = [self._described(one) for one in with_values]
        listed = {one.thing.uid for one in with_values}
        given = [*self._parameters, self._run.region if self._region else ""]
        return {
            "name": self._name,
            "file": self._unique("file"),
            "kept": self._unique("kept"),
            "folder": self._unique("folder"),
            "made": self._unique("made"),
            "sets": [self._set(one) for one in sets.values() if one.uid not in listed],
            "objects": objects,
            "parameters": ", ".join(filter(None, given)),
            "changed": [
                made
                for made, one in zip(objects, with_values, strict=True)
                if one.after is not None
            ],
        }

    def _set(self, one: Set) -> dict[str, str]:
        if isinstance(one, ExtrudedSet):
            given = [self._name_of(one.parent), str(one.layers), json.dumps(one.extruded_periodic)]
        else:
            given = [str(one.size), json.dumps(one.name)]
        return {"name": self._name_of(one), "type": set_type(one), "arguments": ", ".join(given)}

    def _described(self, one: Object) -> dict[str, Any]:
        thing, before = one.thing, one.before
        assert before is not None  # only Sets have none
        name = self._name_of(thing)
        values = self._unique(f"{name}_values")
        label = json.dumps(thing.name)
        is_fixed = isinstance(thing, Map | Set) or thing.kind == "Const"
        more = json.dumps(thing.extruded_periodic) if is_extruded(thing) else label
        return {
            "name": name,
            "type": self._type_of(thing),
            "label": label,
            "scalar": scalar(before.dtype),
            "size": before.size,
            "memory": values,
            "is_const": is_fixed,
            "arguments": ", ".join(
                [*self._made_of(thing), _given(thing, values), *offset_of(thing), more]
            ),
        }

    def _type_of(self, thing: Any) -> str:
        if isinstance(thing, Map):
            return map_type(thing)
        return set_type(thing) if is_extruded(thing) else self._types[thing.uid]

    def _made_of(self, thing: Any) -> list[str]:
        """Return the constructor arguments of an object before the values."""
        sets = [self._name_of(one) for one in homes_of(thing)]
        if not isinstance(thing, Mat):
            return sets
        pairs = ", ".join(
            f"{{{self._name_of(row)}, {self._name_of(column)}}}" for row, column in pairs_of(thing)
        )
        return [f"op2::Sparsity({', '.join(sets)}, {{{pairs}}})"]

    def _name_of(self, thing: Any) -> str:
        name = self._names.get(thing.uid)
        if name is None:
            name = self._names[thing.uid] = self._unique(identifier(thing.name))
        return name

    def _unique(self, wanted: str) -> str:
        found = unused(wanted, self._taken)
        self._taken.add(found)
        return found


def _given(thing: Any, values: str) -> str:
    """Return the values of an object as constructors take them: of a ragged Map begins first."""
    if not isinstance(thing, RaggedMap):
        return values
    n = thing.iterset.size + 1
    return f"std::span({values}).first({n}), std::span({values}).subspan({n})"
