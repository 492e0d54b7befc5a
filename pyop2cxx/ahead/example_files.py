# SPDX-License-Identifier: BSD-3-Clause
"""An example program in C++ with all loops of a project, on an artificial mesh."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pyop2cxx.ahead.functions import identifier, map_type, offset_of, scalar, set_type, unused
from pyop2cxx.ahead.records import NoRecordError, homes_of, pairs_of
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.mats import Mat
from pyop2cxx.runtime.frames import render
from pyop2cxx.sets.extruded import ExtrudedSet
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.sets import Set, Subset

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from pyop2cxx.ahead.functions import Function

PROGRAM = "example.cpp"
_SIZE = 100  # of a Set in static mode
_LAYERS = 2  # of columns: a single cell
_WIDE = "std::int64_t"


def write(
    folder: Path,
    usual: Mapping[str, str],
    functions: Iterable[tuple[str, Function, Sequence[Any]]],
    backend: str,
) -> None:
    """Write the program.

    Args:
        folder: Of the project.
        usual: Context for the rendering of all files.
        functions: For each loop the name in C++, the function, and the program's objects.
        backend: Default backend.
    """
    made = _Example()
    for name, function, things in functions:
        made.add(name, function, things)
    (folder / PROGRAM).write_text(
        render("ahead/example.cpp.j2", {**usual, **made.described(), "backend": backend})
    )


class _Example:
    """The objects of some loops, each once, and the calls."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._taken = {"around", "run", "main", "step"}
        self._sets: list[dict[str, Any]] = []
        self._objects: dict[str, list[dict[str, Any]]] = {"maps": [], "subsets": [], "data": []}
        self._loops: list[dict[str, str]] = []
        self._left_out: list[str] = []

    def add(self, name: str, function: Function, things: Sequence[Any]) -> None:
        """Add a loop and the needed objects."""
        try:
            pairs = {one.uid: pairs_of(one) for one in things if isinstance(one, Mat)}
        except NoRecordError as error:
            self._left_out.append(f"{name}: {error}")
            return
        for thing, (of_type, _) in zip(things, function.parameters, strict=True):
            self._object(thing, of_type, pairs.get(thing.uid, ()))
        given = ", ".join(self._names[thing.uid] for thing in things)
        variable = self._unique(f"{name}_loop")
        self._loops.append({"name": name, "variable": variable, "parameters": given})

    def described(self) -> dict[str, Any]:
        """Return the template context."""
        about = {"loops": self._loops, "left_out": self._left_out, "sets": self._sets}
        return {**about, **self._objects}

    def _object(self, thing: Any, of_type: str, pairs: Sequence[tuple[Map, Map]]) -> str:
        """Return the name of an object, made if necessary."""
        if thing.uid in self._names:
            return self._names[thing.uid]
        homes = [self._object(one, set_type(one), ()) for one in homes_of(thing)]
        couplings = [
            f"{{{', '.join(self._object(map_, map_type(map_), ()) for map_ in pair)}}}"
            for pair in pairs
        ]
        name = self._names[thing.uid] = self._unique(identifier(thing.name))
        label = json.dumps(thing.name)
        if isinstance(thing, Set) and not isinstance(thing, Subset):
            self._sets.append({"name": name, "type": of_type, **self._set(thing, name, homes)})
            return name
        made = {
            "name": name,
            "type": of_type,
            "label": label,
            "memory": self._unique(f"{name}_values"),
            "homes": homes,
            "first": ", ".join(homes),
        }
        if isinstance(thing, Subset):
            self._objects["subsets"].append({**made, "size": thing.owned_indices.size})
        elif isinstance(thing, Map):
            index = _WIDE if _WIDE in of_type else "int"
            offset = "".join(f", {one}" for one in offset_of(thing))
            begins, n = "", f"{homes[0]}.size() + 1"
            if thing.is_ragged:  # rows of one entry each
                begins = f"around<{index}>({n}, {n}), "
            arity = 1 if thing.is_ragged else thing.arity
            about = {"index": index, "arity": arity, "offset": offset, "begins": begins}
            self._objects["maps"].append({**made, **about})
        else:
            self._objects["data"].append(self._data(thing, made, couplings))
        return name

    def _set(self, thing: Set, name: str, homes: Sequence[str]) -> dict[str, str]:
        """Return the declaration of a Set: columns have a single cell, so Maps stay in range."""
        if not isinstance(thing, ExtrudedSet):
            size = thing.size if thing.is_sized else _SIZE
            return {"layers": "", "base": "", "arguments": f"{size}, {json.dumps(thing.name)}"}
        base, periodic = homes[0], json.dumps(thing.extruded_periodic)
        layers = "" if thing.constant_layers else self._unique(f"{name}_layers")
        arguments = f"{base}, {layers or _LAYERS}, {periodic}"
        return {"layers": layers, "base": base, "arguments": arguments}

    def _data(self, thing: Any, made: dict[str, Any], couplings: list[str]) -> dict[str, Any]:
        sparsity, size = "", str(thing.cdim) if not isinstance(thing, Mat) else ""
        if isinstance(thing, Mat):
            rows, columns = thing.block_dims
            sparsity = self._unique(f"places_of_{made['name']}")
            size = f"{sparsity}.n_entries() * {rows * columns}"
        elif isinstance(thing, Dat):
            size = f"{made['first']}.size() * {thing.cdim}"
        return {
            **made,
            "scalar": scalar(thing.dtype),
            "size": size,
            "sparsity": sparsity,
            "couplings": ", ".join(couplings),
            "first": sparsity or made["first"],
            "is_shown": not made["type"].startswith("Const"),
        }

    def _unique(self, wanted: str) -> str:
        found = unused(wanted, self._taken)
        self._taken.add(found)
        return found
