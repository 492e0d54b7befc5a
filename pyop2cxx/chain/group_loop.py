# SPDX-License-Identifier: BSD-3-Clause
"""Several loops in a single function: numbered, generated and bound together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from pyop2cxx import _core
from pyop2cxx.base.access import READ
from pyop2cxx.chain.rename import trader
from pyop2cxx.data.ghosts import REDUCED
from pyop2cxx.loop import symbolic as building
from pyop2cxx.loop.execute import launch_of
from pyop2cxx.loop.facts import LoopFacts, are_known, table_of, work_of
from pyop2cxx.loop.options import LoopOptions
from pyop2cxx.pipeline import flow
from pyop2cxx.pipeline.request import Request
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyop2cxx.chain.rename import Spares
    from pyop2cxx.data.dats import Dat
    from pyop2cxx.data.lent import Lent
    from pyop2cxx.loop.parloop import ParLoop
    from pyop2cxx.loop.parts import Part
    from pyop2cxx.pipeline.request import Choice, Corners
    from pyop2cxx.sets.maps import Map
    from pyop2cxx.sets.sets import Set


class GroupFacts(LoopFacts):
    """Facts for the text of several loops: all loops must fit.

    Args:
        main: The loop with the counted elements.
        loops: All loops, in their order.
        parts: Their arguments.
        dropped: Numbers of Dats not stored.
        zeroed: Numbers of Dats with known values, not read.
        targets: Set of the targets visited; None: elements are visited.
    """

    def __init__(
        self,
        main: ParLoop,
        loops: Sequence[ParLoop],
        parts: Sequence[Sequence[Part]],
        dropped: frozenset[int],
        zeroed: frozenset[int],
        targets: Set | None,
    ) -> None:
        # members run over different Sets, and not in phases
        items = replace(main.items, n_boundary=0)
        super().__init__(main.iterset, items, [part for own in parts for part in own])
        self._main = main
        self._loops = loops
        self._parts_of_each = parts
        self._dropped = dropped
        self._zeroed = zeroed
        if targets is not None:
            self.n_first_targets = targets.size

    def members(self) -> list[_core.LoopSizes]:
        """Return the sizes of the loops; the loop with counted incidences comes first."""
        loops = [self._main, *(loop for loop in self._loops if loop is not self._main)]
        return [loop.facts.sizes(loop.symbolic().loop.n_slots()) for loop in loops]

    def map_facts(self, map_: Map) -> _core.plan.MapFacts:
        """Degrees in the writing loop: rows of the Map are elements there."""
        users = [
            (any(part.access != READ for part in through), loop)
            for loop, own in zip(self._loops, self._parts_of_each, strict=True)
            if (through := [part for part in own if part.target is map_])
        ]
        writers = [loop for writes, loop in users if writes]
        loop = writers[0] if writers else users[0][1] if users else self._main
        return loop.map_facts(map_)

    def part_elsewhere(
        self, built: building.Symbolic, of_elements: int, of_targets: int, lanes: int
    ) -> float | None:
        """Return the share of incidences with entries missing in the targets' own Map.

        Args:
            built: The symbolic loops.
            of_elements: Number of the Map from the elements.
            of_targets: Number of the Map from their targets.
            lanes: Number of targets side by side; then the share of columns whose lanes have
                entries in different places counts, too. 0: each incidence for itself.
        """
        if not are_known(built):
            return None
        engine = runtime.engine
        return _core.part_elsewhere(
            loop=built.loop,
            binding=self.binding(built),
            plans=engine.plans,
            of_elements=of_elements,
            of_targets=of_targets,
            lanes=lanes,
            n_threads=engine.n_threads,
        )

    def bytes_of_entries(self, map_: Map) -> int:
        """Return the bytes saved by a byte for each incidence in the place of a Map's entries."""
        users = [
            loop
            for loop, own in zip(self._loops, self._parts_of_each, strict=True)
            if any(map_ in part.maps for part in own)
        ]
        if len(users) > 1:
            return 0  # another loop reads the entries
        n_slots: int = users[0].symbolic().loop.n_slots()
        entry_bytes: int = map_.arity * table_of(map_).index_bytes
        n_elements: int = users[0].items.n
        return n_elements * (entry_bytes - n_slots)

    @property
    def useful_bytes(self) -> int:
        """Bytes moved at least, without the values handed on between the loops."""
        each = zip(self._loops, self._parts_of_each, strict=True)
        members = [LoopFacts(loop.iterset, loop.items, own).sizes() for loop, own in each]
        return _core.useful_bytes(members, zeroed=set(self._zeroed), dropped=set(self._dropped))


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """An argument reading values from the source of a copy.

    Attributes:
        loop: Index of the loop in the group.
        arg: Index of the argument in the loop.
        data: The Dat to read.
        from_second: Whether the second buffer is read.
    """

    loop: int
    arg: int
    data: Dat
    from_second: bool


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """A function of a chain, run without Python.

    Attributes:
        prepared: The function, bound.
        lent: Memory lent by arrays of the program and taken over by a device.
        exchanged: Memory of Dats and of their second buffers, exchanged after the run on a device.
        trades: The same exchanges on the host.
    """

    prepared: _core.PreparedLoop
    lent: tuple[Lent, ...] = ()
    exchanged: tuple[tuple[_core.Buffer, _core.Buffer], ...] = ()
    trades: tuple[Callable[[], None], ...] = ()


def _targets_of(loop: ParLoop) -> Set:
    """Return the Set of the targets that a loop adds to."""
    return next(
        part.map_.toset for part in loop.parts if part.map_ is not None and part.access in REDUCED
    )


class GroupLoop:
    """The loops of a function of a chain, with the interface of a `ParLoop`.

    A single loop is possible, to run differently from a loop alone.

    Args:
        loops: In their order.
        inverted: Indices of the loops visited from their targets.
        renamed: Pairs (index of the loop, index of the argument) using a second buffer.
        dropped: Pairs of arguments without a store.
        zeroed: Pairs of arguments adding to known zeros.
        redirected: Arguments that read another Dat with equal values.
        spares: Second buffers.
        has_geometry: Whether Map entries of elements may be taken from their targets' own Map.

    Attributes:
        name: Names of the kernels, joined.
        iterset: The Set of the loop with the counted elements.
        is_inverted: Whether a loop is visited from the targets.
        dropped: Names of the Dats not stored.
        zeroed: Names of the Dats known to be zero.
        redirected: Names of the Dats read from another Dat.
    """

    keeps_elements = False
    """Loops with targets in the order of elements are in no group."""
    template = template_key = None
    """A group is analysed once."""
    prepared: _core.PreparedLoop
    lent: tuple[Lent, ...] = ()

    def __init__(
        self,
        loops: Sequence[ParLoop],
        inverted: Sequence[int],
        renamed: Sequence[tuple[int, int]],
        dropped: Sequence[tuple[int, int]],
        zeroed: Sequence[tuple[int, int]],
        redirected: Sequence[Elsewhere],
        spares: Spares,
        *,
        has_geometry: bool = False,
    ) -> None:
        # the user's line: chains add loops of their own
        first = next((loop for loop in loops if not loop.kernel.is_written_here), loops[0])
        self.kernel = first.kernel
        self.name = "_".join(loop.kernel.shown_name for loop in loops)
        self.label = f"chain of {' + '.join(loop.kernel.shown_name for loop in loops)}"
        self.line = first.line
        strategy = loops[0].options.strategy if len(loops) == 1 else None
        lanes = 0 if any(loop.options.lanes == 0 for loop in loops) else None
        self.options = LoopOptions(strategy="owner" if inverted else strategy, lanes=lanes)
        self.is_inverted = bool(inverted)
        main = inverted[0] if inverted else 0
        self.iterset, self.items, self._loops = loops[main].iterset, loops[main].items, tuple(loops)
        parts = [list(loop.parts) for loop in loops]
        not_stored, known = (
            frozenset(parts[i][k].data.uid for i, k in of) for of in (dropped, zeroed)
        )
        self.dropped = tuple(sorted({parts[i][k].data.name for i, k in dropped}))
        self.zeroed = tuple(sorted({parts[i][k].data.name for i, k in zeroed}))
        self._renamed: dict[int, tuple[Dat, Dat]] = {}
        for i, k in renamed:
            dat = parts[i][k].data
            self._renamed[dat.uid] = (dat, spares.of(dat))
            parts[i][k] = replace(parts[i][k], data=spares.of(dat))
        self.redirected = tuple(sorted({parts[one.loop][one.arg].data.name for one in redirected}))
        for one in redirected:
            data = spares.of(one.data) if one.from_second else one.data
            parts[one.loop][one.arg] = replace(parts[one.loop][one.arg], data=data)
        targets = _targets_of(loops[main]) if inverted else None
        self.facts = GroupFacts(loops[main], loops, parts, not_stored, known, targets)
        self.parts = self.facts.parts
        built = building.build_together(
            [
                building.Member(loop.kernel, own, loop.items)
                for loop, own in zip(loops, parts, strict=True)
            ]
        )
        group = _core.chain.group_of(
            loops=[one.loop for one in built],
            inverted=list(inverted),
            dropped=[built[i].aliases[k].data for i, k in dropped],
            zeroed=[built[i].aliases[k].data for i, k in zeroed],
            apart=[(one.loop, one.arg) for one in redirected if one.from_second],
        )
        self.built = replace(built[main], loop=group)
        self._has_geometry = has_geometry

    @property
    def renamed(self) -> tuple[str, ...]:
        """Names of the Dats with a second buffer; tuple of str."""
        return tuple(dat.name for dat, _ in self._renamed.values())

    @property
    def useful_bytes(self) -> int:
        """Bytes moved by a call, at least."""
        picked = [maps[0] for one, maps in self._looked_at() if not one.why_not]
        return self.facts.useful_bytes - sum(map(self.facts.bytes_of_entries, picked))

    @property
    def work(self) -> tuple[int, int]:
        """Floating-point operations of a call, -1 if unknown; bytes of the widest operand."""
        return work_of(self._loops)

    @property
    def corners(self) -> tuple[tuple[str, str], ...]:
        """Pairs of names of Maps: from elements, and from the targets supplying the entries."""
        return tuple(
            (maps[0].name, maps[1].name) for one, maps in self._looked_at() if not one.why_not
        )

    @property
    def why_no_corners(self) -> tuple[str, ...]:
        """Reasons why entries of other Maps are not taken from the targets' Maps; tuple of str."""
        return tuple(
            f"entries of {maps[0].name} are not taken from {maps[1].name}: {one.why_not}"
            for one, maps in self._looked_at()
            if one.why_not
        )

    def _looked_at(self) -> list[tuple[Corners, tuple[Map, Map]]]:
        maps = self.built.maps
        return [(one, (maps[one.of_elements], maps[one.of_targets])) for one in self.choice.corners]

    @property
    def choice(self) -> Choice:
        """Strategy and lanes, and why."""
        return flow.wanted(self.request(self.built, {})).choice

    def launched(self) -> Task:
        """Compile and bind the function; return the task."""
        launch_of(self)
        if runtime.device is None:
            trades = tuple(trader(dat, spare) for dat, spare in self._renamed.values())
            return Task(self.prepared, self.lent, (), trades)
        exchanged = tuple((dat.buffer, spare.buffer) for dat, spare in self._renamed.values())
        return Task(self.prepared, self.lent, exchanged)

    def symbolic(self) -> building.Symbolic:
        """Return the loops without data."""
        return self.built

    def request(self, built: building.Symbolic, given: Mapping[str, object]) -> Request:
        """Return the input for the choice of a text."""
        backend = runtime.engine.backend(str(given.get("backend", runtime.backend)))
        return Request(
            name=self.name,
            line=self.line,
            kernel=self.kernel,
            loop=built.loop,
            backend=backend,
            map_facts=tuple(self.facts.map_facts(map_) for map_ in built.maps),
            n_elements=self.items.n,
            options=self.facts.options(built, backend, given),
            strategy=self.options.strategy,
            lanes=self.options.lanes,
            tuning=self.options.tuning,
            column_fill=partial(self.facts.column_fill, built),
            elsewhere=partial(self.facts.part_elsewhere, built) if self._has_geometry else None,
        )
