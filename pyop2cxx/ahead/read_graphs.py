# SPDX-License-Identifier: BSD-3-Clause
"""A graph rebuilt from a description, with new Sets, Maps, Dats, kernels and nodes."""

from __future__ import annotations

import ctypes
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.access import Access
from pyop2cxx.data.conditions import Condition
from pyop2cxx.data.constants import Const, Constant
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.globals import Global
from pyop2cxx.data.mats import Mat
from pyop2cxx.exceptions import NoDataError, Op2Error, UsageError, user_stacklevel
from pyop2cxx.graph.graph import Graph
from pyop2cxx.graph.library_calls import Copy, Fill, Scan
from pyop2cxx.graph.operations import Inner, LoopOperation, Operation, Placed, While
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.loop.parloop import ParLoop
from pyop2cxx.runtime import runtime
from pyop2cxx.sets.extruded import ExtrudedSet
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.sets import Set, Subset
from pyop2cxx.sets.sparsities import Sparsity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyop2cxx.base.arrays import Array


class GraphParts:
    """The objects and loops of a described graph; the graph is built on demand.

    Args:
        description: As `Written.description`.
        values: Values of each object, not copied; None for a Set.
        where: Source of the description, for messages.

    Attributes:
        things: The objects.
        loops: The loops.

    Raises:
        UsageError: The description is invalid.
    """

    def __init__(
        self, description: Mapping[str, Any], values: Sequence[Array | None], where: str
    ) -> None:
        self._description = description
        self._where = where
        self.things: list[Any] = []
        self.loops: list[LoopOperation] = []
        try:
            for one, held in zip(description["objects"], values, strict=True):
                self.things.append(self._thing(one, held))
            self.loops += [LoopOperation(self._loop(one)) for one in description["loops"]]
        except (LookupError, TypeError, ValueError) as error:
            if isinstance(error, Op2Error):
                raise
            raise UsageError(f"load_graph: {where} is damaged: {error!r}") from None

    def graph(self) -> Graph:
        """Return the graph, ready to run.

        Raises:
            CompilationError: A loop has no compiled code, and the compiler rejects the kernel.
        """
        given = self._description
        slots = {self.things[i].uid: self.things[i] for i in given["slots"]}
        for thing in self.things:
            if isinstance(thing, (Dat, Global)):
                slots[thing.uid] = thing
        return Graph(given["name"], self._nodes(given["nodes"]), slots, given["on_race"])

    # Objects

    def _thing(self, given: Mapping[str, Any], values: Array | None) -> Any:
        kind, name = given["kind"], given["name"]
        if kind == "Set":
            return Set(given["size_of_set"], name)
        if kind == "ExtrudedSet":
            layers = given["layers"] if values is None else values.reshape(-1, 2)
            return ExtrudedSet(self.things[given["set"]], layers, given["periodic"])
        if kind == "Subset":
            return Subset(self.things[given["set"]], () if values is None else values)
        if kind == "Map":
            start, end = self.things[given["from"]], self.things[given["to"]]
            offsets = (given["offset"], given["offset_quotient"])
            return Map(start, end, given["arity"], values, name, *offsets)
        if kind == "Dat":
            home = self.things[given["set"]] ** tuple(given["dim"])
            apart = given.get("compute")
            return Dat(home, values, name=name, layout=given["layout"], compute=apart)
        dim = tuple(given.get("dim", ()))
        if kind == "Global":
            return Global(dim, values, name=name)
        if kind == "Constant":
            return Constant(dim, values, name=name)
        if kind == "Const":
            return self._const(dim, values, name)
        if kind == "Mat":
            return self._mat(given, values)
        raise UsageError(f"load_graph: {self._where}: there are no objects of kind {kind!r}")

    @staticmethod
    def _const(dim: tuple[int, ...], values: Array | None, name: str) -> Const:
        try:
            known = runtime.constants.get(name)
            before = None if known is None else known.data_ro.copy()
        except NoDataError:
            before = None
        made = Const(dim, values, name)
        now = made.data_ro
        if before is not None and before.tobytes() != now.tobytes():
            warnings.warn(
                f"load_graph: Const '{name}' is {now.tolist()} now, as when the graph was saved; "
                f"it was {before.tolist()}, which other loops of this program may need. Set its "
                "data again, or load graphs before Consts get their values",
                RuntimeWarning,
                stacklevel=user_stacklevel(),
            )
        return made

    def _mat(self, given: Mapping[str, Any], values: Array | None) -> Mat:
        rows, columns = (self.things[side["set"]] ** tuple(side["dim"]) for side in given["sides"])
        pairs = [(self.things[row], self.things[column], None) for row, column in given["pairs"]]
        places, apart = Sparsity((rows, columns), pairs), given.get("compute")
        made: Mat = Mat(places, dtype=given["dtype"], name=given["name"], compute=apart)
        made.allocated("load_graph")
        assert values is not None
        n_bytes = made.buffer.n_bytes
        if n_bytes != values.nbytes:
            raise UsageError(f"load_graph: {self._where}: Mat '{made.name}' has other entries")
        if n_bytes:
            memory: Any = (ctypes.c_char * n_bytes).from_address(made.buffer.address)
            np.frombuffer(memory, made.dtype)[:] = values
        made.buffer.increment_version()
        return made

    # Nodes

    def _loop(self, given: Mapping[str, Any]) -> ParLoop:
        kernel = Kernel(**given["kernel"])
        args = []
        for number, access, maps in given["args"]:
            data = self.things[number]
            path = [self.things[i] for i in maps]
            mode = Access[access]
            if isinstance(data, Mat):
                args.append(data(mode, tuple(path)))
            else:
                args.append(data(mode, *path))
        options = {name: value for name, value in given["options"].items() if value is not None}
        loop = ParLoop(kernel, self.things[given["set"]], *args, **options)
        if loop.symbolic().loop.signature() != given["signature"]:
            raise UsageError(
                f"load_graph: {self._where}: kernel '{kernel.name}' makes another loop than the "
                "one that was written; save the graph again by this version"
            )
        return loop

    def _nodes(self, given: Sequence[Mapping[str, Any]]) -> list[Placed]:
        return [
            Placed(self._operation(one), tuple(one["after"]), f"{self._where}, node {i}")
            for i, one in enumerate(given)
        ]

    def _operation(self, given: Mapping[str, Any]) -> Operation:
        kind = given["do"]
        if kind == "loop":
            loop: LoopOperation = self.loops[given["loop"]]
            return loop
        if kind == "fill":
            target = self.things[given["target"]]
            return Fill(target, _number(given["value"], target.dtype))
        if kind == "copy":
            source, target = self.things[given["source"]], self.things[given["target"]]
            return Copy(source, target, given["casting"])
        if kind == "scan":
            ends = self.things[given["source"]], self.things[given["target"]]
            of, is_inclusive = given["operation"], given["inclusive"]
            return Scan(*ends, of, inclusive=is_inclusive, may_compile=False)
        if kind == "while":
            left, right = (self._side(given[side]) for side in ("left", "right"))
            condition = Condition(left, given["sign"], right)
            return While(condition, self._nodes(given["body"]), given["most"])
        if kind == "graph":
            shown = given.get("shown")
            if shown is not None:
                shown = [(self.things[number], Access[access]) for number, access in shown]
            return Inner(given["name"], self._nodes(given["body"]), shown)
        raise UsageError(f"load_graph: {self._where}: there are no nodes of kind {kind!r}")

    def _side(self, given: Mapping[str, Any]) -> Any:
        return self.things[given["data"]] if "data" in given else given["number"]


def _number(given: Any, dtype: np.dtype[Any]) -> Any:
    number = complex(*given) if isinstance(given, list) else given
    return np.asarray(number).astype(dtype)[()]
