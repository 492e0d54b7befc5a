# SPDX-License-Identifier: BSD-3-Clause
"""A graph ready to run: immutable, only submitted."""

from __future__ import annotations

import os
import textwrap
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.base.access import READ
from pyop2cxx.base.listing import Listed
from pyop2cxx.base.waiting import waiting
from pyop2cxx.exceptions import GraphClosedError, GraphRaceError, UsageError
from pyop2cxx.graph import pictures
from pyop2cxx.graph.memory import numbered
from pyop2cxx.graph.names import changed_by, data_of, needed_by
from pyop2cxx.graph.operations import Inner, Placed, While, bound_nodes
from pyop2cxx.graph.segments import prepared
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.engine import Bounded
from pyop2cxx.runtime.seams import saved_graphs
from pyop2cxx.runtime.tracebacks import ends_tracebacks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyop2cxx.graph.operations import Operation
    from pyop2cxx.graph.pieces import Regions, Repeats

ON_RACE = ("error", "serialise", "ignore")
_MOST_BOUND = 16
_MOST_SHOWN = 8
_NOTE_LETTERS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Measured gain of running a piece of a graph as a unit.

    A unit is a recording on a device, and a parallel region shared by loops on ``openmp``.

    Attributes:
        alone_ms: Milliseconds of a submit, loop by loop; None before the measurement.
        as_one_ms: The same for the whole piece in a single order.
        side_by_side_ms: The same with unordered loops side by side; None without such loops, or
            before the measurement.
        several_ms: The same for several submits requested together and run as one; None before.
        kept: The chosen way: ``"as one"``, ``"side by side"``, ``"loop by loop"`` or
            ``"several as one"``; ``"undecided"`` during the measurement of the first three.
    """

    alone_ms: float | None
    as_one_ms: float
    side_by_side_ms: float | None
    several_ms: float | None
    kept: str

    def __str__(self) -> str:
        times = {
            "as one": self.as_one_ms,
            "side by side": self.side_by_side_ms,
            "loop by loop": self.alone_ms,
            "several as one": self.several_ms,
        }
        found = (f"{way} {ms:.4f} ms" for way, ms in times.items() if ms is not None)
        return f"{', '.join(found)}; kept: {self.kept}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphStats:
    """Size of a graph, and numbers of runs.

    Attributes:
        nodes: Nodes.
        edges: Dependences: pairs of nodes.
        levels: Nodes on the longest path.
        segments: Pieces without Python inside, separated by calls on the host.
        submits: Number of submits.
        instantiations: Number of preparations of the loops: once, and after each change of options.
        instantiate_ms: Milliseconds of the last preparation, including compilers.
        backend: Backend of the loops.
        replays: For each segment that can run as a unit, the measured gain: as a recording of a
            device, or in shared parallel regions of ``openmp``. Empty elsewhere, and before a try.
        not_replayed: For each segment on a device launched loop by loop in the last submit, the
            reason and a remedy: too large scratch memory, too few launches. Empty if single
            launches were measured to be faster.
        regions: For each segment on ``openmp``, the number of loops in shared parallel regions, or
            a reason for none.
        repeats: For each ``while_``, whether the host or the device repeats the body.
    """

    nodes: int
    edges: int
    levels: int
    segments: int
    submits: int
    instantiations: int
    instantiate_ms: float
    backend: str
    replays: tuple[Replay, ...]
    not_replayed: tuple[str, ...]
    regions: tuple[Regions, ...]
    repeats: tuple[Repeats, ...]


@ends_tracebacks("submit", "bind")
class Graph(Listed):
    """Loops with their order, compiled, checked for races and bound to their data.

    `GraphBuilder.instantiate` makes a graph. Dats stay alive with the graph. A submit uses the
    present values of Dats, Globals and Consts.
    """

    def __init__(
        self,
        name: str,
        nodes: Sequence[Placed],
        slots: Mapping[int, Any],
        on_race: str,
        *,
        to_save: bool = False,
    ) -> None:
        if on_race not in ON_RACE:
            raise UsageError(
                f"graph '{name}': on_race must be one of {', '.join(map(repr, ON_RACE))}, got "
                f"{on_race!r}"
            )
        self.uid = runtime.next_uid()
        runtime.processes.note(self)
        self._name = name
        self.slots = dict(slots)
        self.on_race = on_race
        self.backend: str = runtime.backend
        self._edges = _checked(name, nodes, on_race)
        self.nodes = tuple(
            Placed(one.operation, tuple(after), one.line)
            for one, after in zip(nodes, self._edges, strict=True)
        )
        self._bound = Bounded(_MOST_BOUND)
        self._n_submits = 0
        self._n_instantiations = 0
        self._lock = threading.Lock()
        self._submitting = 0  # submitting thread
        if to_save:
            saved_graphs().written_down(self)
        self._prepare()
        if runtime.on_graph is not None:
            runtime.on_graph(self)

    @property
    def name(self) -> str:
        """Name in messages and pictures."""
        return self._name

    @property
    def native(self) -> tuple[int, ...]:
        """Addresses of the ``CUgraphExec`` of each piece replayed by a GPU; tuple of int.

        Empty before the second submit, and on other backends: they call the bound loops in
        sequence.
        """
        return self._program.native

    @property
    def data(self) -> dict[str, Any]:
        """Dats, Globals, Consts and Mats of the nodes, by name.

        The second object of the same name is called ``name_2``.
        """
        return data_of(self.nodes)

    @property
    def inputs(self) -> dict[str, Any]:
        """The part of `data` with values needed by a submit."""
        needed = needed_by(self.nodes)
        return {name: data for name, data in self.data.items() if data.uid in needed}

    @property
    def outputs(self) -> dict[str, Any]:
        """The part of `data` changed by a submit."""
        changed = changed_by(self.nodes)
        return {name: data for name, data in self.data.items() if data.uid in changed}

    def submit(self, n: int = 1) -> None:
        """Run all nodes, each behind its dependencies. On a device they are enqueued.

        Args:
            n: Number of runs, in sequence.

        Raises:
            GraphClosedError: The backend of loops is not the backend of the instantiation.
            HaloFrozenError: A Dat's frozen halo was promised another access.
            ExecutionError: A loop failed; later nodes did not run.
            UsageError: n is not a positive number; or a function of the graph submits the graph.
        """
        if not isinstance(n, int) or isinstance(n, bool) or n < 1:
            raise UsageError(f"graph '{self._name}': submit: n must be positive, got {n!r}")
        runtime.settle()
        if self._submitting == threading.get_ident():
            raise UsageError(
                f"graph '{self._name}': a function of the graph submits the graph itself, which "
                "would never end; while_() runs nodes again"
            )
        with self._lock, runtime.at_once():
            self._submitting = threading.get_ident()
            try:
                self._run(n)
            finally:
                self._submitting = 0

    def wait(self) -> None:
        """Wait until all submitted work is done.

        Reading values waits for the writing loops automatically.

        Raises:
            ExecutionError: A loop has failed; the message names the loop.
        """
        for opened in runtime.engine.devices:
            opened.device.finish()

    def bind(self, replaced: Mapping[Any, Any]) -> Graph:
        """Return the same graph with other Dats or Globals in the places of slots.

        Results are kept: the same objects give the same graph again.

        Args:
            replaced: For slots of `GraphBuilder.slot`, or their names in `data`, the replacements:
                of the same kind, Set, dim and dtype. A slot may be given unchanged, or replace
                another slot.

        Raises:
            UsageError: An object is no slot, does not fit, or is used by a function of the program.
            GraphRaceError: The replacements make two nodes a race.
        """
        new: dict[int, Any] = {}
        named = self.data if any(isinstance(old, str) for old in replaced) else {}
        for given, data in replaced.items():
            old = named.get(given, given) if isinstance(given, str) else given
            uid = getattr(old, "uid", None)
            if uid not in self.slots:
                slots = ", ".join(f"'{one.name}'" for one in self.slots.values()) or "none"
                raise UsageError(
                    f"graph '{self._name}': {getattr(old, 'name', old)!r} is no slot; slots are: "
                    f"{slots}; g.slot(dat) makes one while the graph is built"
                )
            _check_fits(self._name, old, data)
            if data is not old:
                new[uid] = data
        if not new:
            return self
        key = tuple(sorted((uid, data.uid) for uid, data in new.items()))
        known: Graph | None = self._bound.find(key)
        if known is None:
            known = self._made_with(new)
            self._bound.keep(key, known)
        return known

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        name: str | None = None,
        backends: Sequence[str] = (),
        arch: str = "native",
        build: bool = True,
    ) -> None:
        """Write the graph to a folder: compiled loops, meshes, and the present values.

        `op2.load_graph` reads the folder without compiling. The folder is also a CMake project for
        programs in C++; see the chapter about graphs.

        Args:
            path: The folder: missing, empty, or a project to be replaced.
            name: Of the project, a C identifier; None means the graph's name.
            backends: Backends to compile for: ``"sequential"``, ``"openmp"`` or both; empty means
                the graph's backend, or ``"openmp"`` for a device.
            arch: Value of the C compiler's ``-march``.
            build: Whether loops are compiled now. Sources are written in any case.

        Raises:
            UnsupportedError: Nodes or their data cannot be saved: the message names all of them.
                Nothing is written.
            UsageError: The name is no C identifier, or the folder holds something else.
            CompilationError: The compiler rejects a loop.
        """
        saved_graphs().save(
            self, os.fspath(path), name=name, backends=tuple(backends), arch=arch, build=build
        )

    def stats(self) -> GraphStats:
        """Size of the graph, and numbers of runs."""
        levels = _core.graph.levels([_core.graph.Node(after, []) for after in self._edges])
        return GraphStats(
            nodes=len(self.nodes),
            edges=sum(map(len, self._edges)),
            levels=max(levels, default=-1) + 1,
            segments=self._program.n_segments,
            submits=self._n_submits,
            instantiations=self._n_instantiations,
            instantiate_ms=self._milliseconds,
            backend=self.backend,
            replays=tuple(map(_replay, self._program.trials)),
            not_replayed=self._program.not_replayed,
            regions=self._program.regions,
            repeats=self._program.repeats,
        )

    def to_dot(self) -> str:
        """Return the graph in the language of Graphviz."""
        return pictures.dot(self._name, self._labels(), self._edges)

    def to_svg(self) -> str:
        """Return a picture of the graph as SVG, with numbers of runs and timings below."""
        return pictures.svg(self._name, self._labels(), self._edges, self._notes())

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def __reduce__(self) -> tuple[Any, ...]:
        raise UsageError(
            f"graph '{self._name}': a graph cannot be copied or pickled; bind() returns it with "
            "other data, and save() writes it to a folder"
        )

    def on_sets(self) -> list[Any]:
        """Return the Sets of the values."""
        return [one.set for one in data_of(self.nodes) if hasattr(one, "set")]

    def __repr__(self) -> str:
        return f"<graph '{self._name}' of {len(self.nodes)} nodes on {self.backend}>"

    def _notes(self) -> list[str]:
        if not self._n_submits:
            return []
        times = "once" if self._n_submits == 1 else f"{self._n_submits} times"
        return [
            f"submitted {times} on {self.backend}",
            *(str(_replay(trial)) for trial in self._program.trials),
            *(
                line
                for why in self._program.not_replayed
                for line in textwrap.wrap(f"not replayed: {why}", _NOTE_LETTERS)
            ),
            *map(str, self._program.regions),
            *map(str, self._program.repeats),
        ]

    def _labels(self) -> list[tuple[str, str]]:
        return [(one.operation.name, _what_of(one.operation)) for one in self.nodes]

    def _run(self, n: int) -> None:
        if self._epoch != runtime.epoch:
            self._prepare()
        if runtime.n_frozen:
            self._program.check_frozen()
        self._program.run(n)
        self._n_submits += n

    def _prepare(self) -> None:
        if runtime.backend != self.backend:
            raise GraphClosedError(
                f"graph '{self._name}' was instantiated for backend '{self.backend}', but loops "
                f"run on '{runtime.backend}' now; build it again, or go back to that backend"
            )
        start = time.perf_counter()
        with waiting(f"graph '{self._name}': compiling {len(self.nodes)} operations"):
            self._program = prepared(self.nodes)
        self._epoch = runtime.epoch
        self._milliseconds = 1000 * (time.perf_counter() - start)
        self._n_instantiations += 1

    def _made_with(self, new: Mapping[int, Any]) -> Graph:
        nodes = bound_nodes(self.nodes, new)
        slots = {data.uid: data for data in (new.get(uid, old) for uid, old in self.slots.items())}
        return Graph(self._name, nodes, slots, self.on_race)


_WAYS = {
    _core.graph.Way.undecided: "undecided",
    _core.graph.Way.alone: "loop by loop",
    _core.graph.Way.as_one: "as one",
    _core.graph.Way.side_by_side: "side by side",
    _core.graph.Way.several: "several as one",
}


def _replay(trial: _core.graph.ReplayTrial) -> Replay:
    def milliseconds(way: _core.graph.Way) -> float | None:
        nanoseconds = trial.shortest(way)
        return None if nanoseconds is None else nanoseconds / 1e6

    return Replay(
        alone_ms=milliseconds(_core.graph.Way.alone),
        as_one_ms=milliseconds(_core.graph.Way.as_one) or 0.0,
        side_by_side_ms=milliseconds(_core.graph.Way.side_by_side),
        several_ms=milliseconds(_core.graph.Way.several),
        kept=_WAYS[trial.kept],
    )


def _check_fits(name: str, old: Any, data: Any) -> None:
    def kind(one: Any) -> tuple[Any, ...]:
        home = getattr(getattr(one, "dataset", None), "set", None)
        return (type(one).__name__, getattr(one, "dim", None), str(getattr(one, "dtype", "")), home)

    if kind(data)[:3] != kind(old)[:3] or (
        type(old).__name__ == "Dat" and data.dataset.set is not old.dataset.set
    ):
        raise UsageError(
            f"graph '{name}': the place of {type(old).__name__} '{old.name}' of dim {old.dim} and "
            f"dtype {old.dtype} can be taken by one like it on the same Set, got {data!r}"
        )


def _checked(name: str, nodes: Sequence[Placed], on_race: str) -> list[list[int]]:
    """Return the dependencies of each node, after a check for races."""
    edges = [list(one.after) for one in nodes]
    if on_race == "ignore":
        return edges
    symbolic, names = numbered(nodes)
    found = _core.graph.races(symbolic)
    if found and on_race == "error":
        raise GraphRaceError(_message(name, nodes, found, names))
    for one in found:
        edges[one.later].append(one.earlier)
    return [sorted(set(after)) for after in edges]


def _message(
    name: str,
    nodes: Sequence[Placed],
    found: Sequence[_core.graph.Conflict],
    names: Mapping[int, str],
) -> str:
    lines = []
    for one in found[:_MOST_SHOWN]:
        first, second = nodes[one.earlier], nodes[one.later]
        lines.append(
            f"  node {one.earlier} '{first.operation.name}' ({first.line}) and node {one.later} "
            f"'{second.operation.name}' ({second.line}): {names[one.memory]}"
        )
    if len(found) > _MOST_SHOWN:
        lines.append(f"  and {len(found) - _MOST_SHOWN} more")
    return (
        f"graph '{name}': nothing orders nodes that use the same data, and one of them writes it:\n"
        + "\n".join(lines)
        + "\nput one behind the other with then() or when_all(), or say on_race='serialise'"
    )


def _what_of(operation: Operation) -> str:
    """Return a node's uses of data, for pictures."""
    if isinstance(operation, (While, Inner)):
        return f"{len(operation.body)} nodes"
    uses: dict[str, str] = {}
    for data, access in operation.uses():
        if access != READ:
            uses[data.name] = access.name
    return ", ".join(f"{data} {access}" for data, access in uses.items())
