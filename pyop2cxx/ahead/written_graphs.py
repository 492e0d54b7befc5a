# SPDX-License-Identifier: BSD-3-Clause
"""A graph as numbers and texts: objects with values, kernels and nodes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.ahead.functions import Function, NoFunctionError, function_of, object_type
from pyop2cxx.ahead.records import NoRecordError, host_values, pairs_of, values_of
from pyop2cxx.chain.entries import span_of
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.mats import Mat
from pyop2cxx.exceptions import UnsupportedError
from pyop2cxx.graph.library_calls import Copy, Fill, Scan
from pyop2cxx.graph.operations import HostCall, Inner, LoopOperation, While
from pyop2cxx.sets.extruded import ExtrudedSet
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.sets import Set, Subset

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.data.conditions import Condition
    from pyop2cxx.graph.graph import Graph
    from pyop2cxx.graph.operations import Operation, Placed
    from pyop2cxx.kernel.kernel import Kernel
    from pyop2cxx.loop.parloop import ParLoop
    from pyop2cxx.loop.parts import Part

_MOST_SHOWN = 8
_NUMBERS = "iufc"  # kinds of dtypes


@dataclass(frozen=True, slots=True)
class WrittenLoop:
    """A loop of a graph.

    Attributes:
        loop: The loop.
        function: The function for C++ programs.
        things: Arguments of the function.
    """

    loop: ParLoop
    function: Function
    things: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """A graph that can be saved.

    Attributes:
        graph: The graph.
        description: Entry of the manifest, without the file.
        things: Objects, each behind the objects of its constructor.
        values: Values of each object; None for a Set.
        loops: Loops, indexed as in the description.
    """

    graph: Graph
    description: dict[str, Any]
    things: tuple[Any, ...]
    values: tuple[Array | None, ...]
    loops: tuple[WrittenLoop, ...]


def written_down(graph: Graph) -> Written:
    """Return a graph as numbers and texts.

    Raises:
        UnsupportedError: Some nodes or objects cannot be saved: all are named.
    """
    return _Writer(graph).written()


class _RefusedError(Exception):
    """A node or object cannot be saved; the text gives the reason."""


class _Writer:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._numbers: dict[int, int] = {}
        self._things: list[Any] = []
        self._objects: list[dict[str, Any]] = []
        self._values: list[Array | None] = []
        self._loops: dict[int, int] = {}
        self._written: list[WrittenLoop] = []
        self._described: list[dict[str, Any]] = []
        self._refused: list[str] = []

    def written(self) -> Written:
        graph = self._graph
        nodes = self._all(graph.nodes, "node")
        self._check_memory()
        if self._refused:
            more = len(self._refused) - _MOST_SHOWN
            lines = [*self._refused[:_MOST_SHOWN], *([f"and {more} more"] if more > 0 else ())]
            raise UnsupportedError(
                f"graph '{graph.name}' cannot be saved:\n  " + "\n  ".join(lines)
            )
        description = {
            "name": graph.name,
            "on_race": graph.on_race,
            "objects": self._objects,
            "loops": self._described,
            "nodes": nodes,
            "slots": [self._numbers[uid] for uid in graph.slots if uid in self._numbers],
        }
        return Written(
            graph, description, tuple(self._things), tuple(self._values), tuple(self._written)
        )

    # Nodes

    def _all(self, nodes: Iterable[Placed], where: str) -> list[dict[str, Any]]:
        found = []
        for i, one in enumerate(nodes):
            place = f"{where} {i} '{one.operation.name}' ({one.line})"
            try:
                found.append({"after": list(one.after), **self._node(one.operation, place)})
            except (_RefusedError, NoFunctionError, NoRecordError) as error:
                self._refused.append(f"{place}: {error}")
        return found

    def _node(self, operation: Operation, place: str) -> dict[str, Any]:
        if isinstance(operation, LoopOperation):
            return {"do": "loop", "loop": self._loop(operation.loop)}
        if isinstance(operation, Fill):
            target, value = operation.target, operation.value
            number = self._number(target)
            if target.dtype.kind not in _NUMBERS:
                raise _RefusedError(f"'{target.name}' is of dtype {target.dtype}")
            return {"do": "fill", "target": number, "value": _json(value)}
        if isinstance(operation, Scan) and not isinstance(operation.operation, str):
            return self._node(operation.as_loops(), place)
        if isinstance(operation, (Copy, Scan)):
            return self._moved(operation)
        if isinstance(operation, While):
            return {
                "do": "while",
                **self._condition(operation.condition),
                "most": operation.most,
                "body": self._all(operation.body, f"{place}, node"),
            }
        if isinstance(operation, Inner):
            body = self._all(operation.body, f"{place}, node")
            made = {"do": "graph", "name": operation.name, "body": body}
            if operation.shown is None:
                return made
            shown = [[self._number(data), access.name] for data, access in operation.shown]
            return {**made, "shown": shown}
        if isinstance(operation, HostCall):
            raise _RefusedError("it calls a function of the program, which only Python has")
        raise _RefusedError(
            "it is a chain, whose loops are compiled together; record them without op2.chain()"
        )

    def _moved(self, operation: Copy | Scan) -> dict[str, Any]:
        source, target = operation.source, operation.target
        ends = {"source": self._number(source), "target": self._number(target)}
        if isinstance(operation, Scan):
            if source.dtype != target.dtype:
                raise _RefusedError(
                    f"it adds up {source.dtype} into {target.dtype}; scan into the same dtype"
                )
            how = {"operation": operation.operation, "inclusive": operation.inclusive}
            return {"do": "scan", **ends, **how}
        if not np.can_cast(source.dtype, target.dtype, "safe"):
            raise _RefusedError(
                f"it converts {source.dtype} to {target.dtype}, which may not hold the values; "
                "only conversions that lose nothing are saved"
            )
        return {"do": "copy", **ends, "casting": operation.casting}

    def _condition(self, condition: Condition) -> dict[str, Any]:
        sides = {"left": condition.left, "right": condition.right}
        dtypes = {one.dtype for one in condition.data}
        if len(dtypes) > 1 and any(one.kind != "f" for one in dtypes):
            raise _RefusedError(f"it compares {' with '.join(sorted(map(str, dtypes)))}")
        written: dict[str, Any] = {"sign": condition.sign}
        for name, side in sides.items():
            is_data = any(side is one for one in condition.data)
            if not is_data and not _is_comparable(side, *dtypes):
                raise _RefusedError(
                    f"it compares {' with '.join(map(str, dtypes))} with {side!r} of "
                    f"{type(side).__name__}; compare with a number of Python in its range"
                )
            written[name] = {"data": self._number(side)} if is_data else {"number": _json(side)}
        return written

    def _loop(self, loop: ParLoop) -> int:
        """Return the number of a loop, possibly shared by several nodes."""
        if id(loop) in self._loops:
            return self._loops[id(loop)]
        if loop.effects.ghosts:
            raise _RefusedError("its Dats have a Halo, whose values are exchanged around it")
        if loop.wants_checks():
            raise _RefusedError("it runs in check mode, which only Python has")
        parts = [part for part in loop.parts if part.is_field or part.stride]
        if parts:
            raise _RefusedError(f"'{parts[0].data.name}' is a part of a Dat, or mixed")
        function, things = function_of(loop, loop.symbolic(), loop.kernel.shown_name)
        described = {
            "kernel": _kernel(loop.kernel),
            "set": self._number(loop.iterset),
            "args": [self._argument(loop, part) for part in loop.parts],
            "constants": [self._number(one) for one in loop.symbolic().constants],
            "options": {
                name: dict(value) if name == "tuning" else value
                for name, value in loop.options._asdict().items()
                if value or name == "lanes"
            },
            "signature": loop.symbolic().loop.signature(),
        }
        number = self._loops[id(loop)] = len(self._described)
        self._described.append(described)
        self._written.append(WrittenLoop(loop, function, things))
        return number

    def _argument(self, loop: ParLoop, part: Part) -> list[Any]:
        """Return an argument: data, access, and Maps."""
        # a direct access to columns has a Map of its own and another access mode inside the loop
        maps = [] if part.maps and part.maps[0].is_of_columns else part.maps
        access = loop.args[part.number].access
        return [self._number(part.data), access.name, [self._number(map_) for map_ in maps]]

    # Objects

    def _number(self, thing: Any) -> int:
        """Return the number of an object, described at the first use."""
        if thing.uid in self._numbers:
            return self._numbers[thing.uid]
        object_type(thing)  # raises if C++ has no type
        described = self._object(thing)
        values = _values(thing)
        if values is not None:
            described |= {"dtype": values.dtype.name, "size": int(values.size)}
        if isinstance(thing, Dat | Mat) and thing.compute != thing.dtype:
            described["compute"] = thing.compute.name
        self._objects.append(described)
        self._things.append(thing)
        self._values.append(values)
        self._numbers[thing.uid] = len(self._objects) - 1
        return self._numbers[thing.uid]

    def _object(self, thing: Any) -> dict[str, Any]:
        kind = getattr(thing, "kind", type(thing).__name__)
        usual = {"kind": kind, "name": thing.name}
        if isinstance(thing, Subset):
            return {**usual, "set": self._number(thing.superset)}
        if isinstance(thing, Set):
            if thing.size != thing.total_size:
                raise _RefusedError(
                    f"Set '{thing.name}' has ghosts: {thing.size} of {thing.total_size} entities "
                    "are owned"
                )
            if isinstance(thing, ExtrudedSet):
                layers = thing.layers if thing.constant_layers else None
                about = {"layers": layers, "periodic": thing.extruded_periodic}
                return {**usual, "set": self._number(thing.parent), **about}
            return {**usual, "size_of_set": thing.size}
        if isinstance(thing, Map):
            sets = {"from": self._number(thing.iterset), "to": self._number(thing.toset)}
            offsets = {"offset": thing.offset, "offset_quotient": thing.offset_quotient}
            moved = {name: None if one is None else one.tolist() for name, one in offsets.items()}
            return {**usual, **sets, "arity": thing.arity, **moved}
        if isinstance(thing, Mat):
            pairs = [[self._number(row), self._number(column)] for row, column in pairs_of(thing)]
            sides = [
                {"set": self._number(side.set), "dim": list(side.dim)}
                for side in thing.sparsity.dsets
            ]
            return {**usual, "sides": sides, "pairs": pairs}
        if isinstance(thing, Dat):
            home = {"set": self._number(thing.dataset.set), "layout": thing.layout}
            return {**usual, **home, "dim": list(thing.dataset.dim)}
        return {**usual, "dim": list(thing.dim)}

    def _check_memory(self) -> None:
        """Refuse objects with shared memory: loading gives each object separate memory."""
        spans = sorted(
            (*span_of(thing), thing.name) for thing in self._things if hasattr(thing, "buffer")
        )
        for (_, end, name), (begin, _, other) in pairwise(spans):
            if begin < end:
                self._refused.append(f"'{name}' and '{other}' share memory; give each its own")


def _is_comparable(number: Any, dtype: np.dtype[Any]) -> bool:
    """Say whether a comparison with a number is the same in C++."""
    if isinstance(number, np.generic):
        return number.dtype == dtype
    if isinstance(number, int) and dtype.kind in "iu":
        limits = np.iinfo(np.uint64 if dtype.name == "uint64" else np.int64)
        return int(limits.min) <= number <= int(limits.max)
    return isinstance(number, (int, float))


def _values(thing: Any) -> Array | None:
    if isinstance(thing, (Set, Map)):
        return values_of(thing)
    if getattr(thing, "_is_given", True) is False:
        raise _RefusedError(f"Const '{thing.name}' has no value yet")
    if hasattr(thing, "allocated"):
        thing.allocated("save")
    return host_values(thing)


def _kernel(kernel: Kernel) -> dict[str, Any]:
    given = kernel.description
    if any(given.header_contents[1::2]):  # others come from the compiler
        raise _RefusedError(f"kernel '{kernel.name}' includes headers of the program's own")
    options = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in kernel.options().items()
    }
    return {"code": kernel.text, "name": kernel.name, "abi": kernel.abi, **options}


def _json(value: Any) -> int | float | Sequence[float]:
    """Return a number for JSON; a complex number as two."""
    number = value.item() if isinstance(value, np.generic) else value
    if isinstance(number, complex):
        return [number.real, number.imag]
    return number if isinstance(number, (int, float)) else float(number)
