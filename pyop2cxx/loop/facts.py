# SPDX-License-Identifier: BSD-3-Clause
"""Facts about sizes and values for the choice of a loop's text, and the bytes moved."""

from __future__ import annotations

from math import ceil, prod
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.base.access import INC, MAX, MIN, READ, WRITE
from pyop2cxx.base.arrays import MOST_INT32
from pyop2cxx.loop.parts import Kind
from pyop2cxx.pipeline.tuning import tuning_of
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyop2cxx.backends._backend import Backend
    from pyop2cxx.loop import symbolic
    from pyop2cxx.loop.parts import Part
    from pyop2cxx.sets.items import Items
    from pyop2cxx.sets.sets import Set

_ALONE = 1000
"""Number of entities too small for a second thread: see `thread_elements` and
`least_block_elements` of the tuning."""


class LoopFacts:
    """Index widths, Map properties and bytes: facts depending on sizes and values.

    Attributes:
        iterset: Set of the loop.
        items: The same, as work items.
        parts: The arguments, mixed arguments field by field.
    """

    def __init__(self, iterset: Set, items: Items, parts: Sequence[Part]) -> None:
        self.iterset = iterset
        self.items = items
        self.parts = parts

    def options(
        self, built: symbolic.Symbolic, backend: Backend, given: Mapping[str, Any]
    ) -> _core.LoweringOptions:
        """Say how the loop is lowered, before the rules have chosen.

        Args:
            built: The symbolic loop.
            backend: Backend of the lowering.
            given: Options of ``generate()``; the others are as configured.
        """
        configured = runtime.configuration
        element, entry, target = self.widths(built)
        on_grid = backend.facts.lanes == _core.Lanes.grid
        tuning = tuning_of(backend.facts, given.get("tuning", ()))
        padding = tuning["most_padding"] if on_grid else 0
        padded = on_grid and self.is_evenly_covered(built, padding)
        on_gpu = on_grid and backend.facts.device_class == "gpu"
        is_much = on_gpu and self.n_added() >= tuning["least_summed_scalars"]
        summed = is_much and self.shares_targets(tuning)
        semantics = _core.Semantics(
            deterministic=bool(given.get("deterministic", configured["deterministic"])),
            debug=bool(given.get("debug", configured["debug"])),
            convention=given.get("convention", 1),
        )
        widths = _core.Widths(
            element_bytes=element,
            entry_bytes=entry,
            target_bytes=target,
            position_bytes=self.position_bytes(),
            padded=padded,
            columns=self.longest_row() if padded else 0,
            summed=summed,
            scattered=summed and self.is_scattered(tuning),
            index_bytes=self.index_bytes(built, padding) if on_grid else 8,
            soa=self.columns() if on_grid else [],
        )
        return _core.LoweringOptions(semantics=semantics, widths=widths, tuning=tuning)

    def map_facts(self, map_: Any) -> _core.plan.MapFacts:
        """Degrees cost a pass over the values, so they are found only where something is written.

        Elsewhere, and in static mode, any degrees will do. Whether entries lead nowhere is known to
        a Map with values; without values none does.
        """
        written = any(part.target is map_ and part.access != READ for part in self.parts)
        table = map_._current_table() if map_.has_values else None
        if runtime.static or table is None or not written or self.items.extruded:
            width = 4 if table is None else table.index_bytes
            return _core.plan.MapFacts(index_bytes=width, has_negative=map_._is_partial)
        return runtime.engine.plans.facts(table, self.items.whole.size, self.n_threads)

    @property
    def n_threads(self) -> int:
        """Threads for the loop and the plan, by the default tuning.

        The number of available threads is not requested for loops too small for two threads: the
        request takes as long as loading compiled code.
        """
        tosets = [map_.toset.total_size for part in self.parts for map_ in part.maps]
        return 1 if max(self.items.n, *tosets, 0) < _ALONE else runtime.engine.n_threads

    def widths(self, built: symbolic.Symbolic) -> tuple[int, int, int]:
        """Bytes of element numbers, of incidences and of target numbers in plan arrays."""
        if not self.iterset.is_sized:
            return 4, 4, 4
        n = self.items.n
        targets = [m.toset.total_size for m in built.maps if m.toset.is_sized]
        counts = (n, n * max(built.loop.n_slots(), 1), max(targets, default=0))
        element, entry, target = (4 if count <= MOST_INT32 else 8 for count in counts)
        return element, entry, target

    @property
    def inserted(self) -> tuple[Part, ...]:
        """Blocks of matrices with entries to be found."""
        return tuple(part for part in self.parts if part.path is not None)

    def position_bytes(self) -> int:
        """Bytes of a place within the longest row of all matrices."""
        longest = [one.data.sparsity.longest_row for one in self.inserted if not runtime.static]
        return _core.plan.position_bytes(max(longest, default=0))

    def binding(self, built: symbolic.Symbolic, **data: Any) -> _core.Binding:
        """Bind the loop to the present elements and Maps.

        Args:
            built: The symbolic loop.
            **data: Other fields of a `Binding`; plans need none of them.
        """
        none: dict[str, Any] = {
            "arguments": [],
            "constants": [],
            "matrices": [],
            "matrix_paths": [],
        }
        return _core.Binding(
            maps=[table_of(map_) for map_ in built.maps],
            spaces=list(built.spaces),
            n_elements=self.items.n,
            n_boundary=self.items.n_boundary,
            paths=built.loop.maps,
            iteration=built.loop.iteration,
            items=list(self.items.tables),
            map_users=[self._user_of(map_) for map_ in built.maps],
            matrix_users=[part.number for part in self.inserted],
            **(none | data),
        )

    def _user_of(self, map_: Any) -> int:
        """The first argument using a Map, for messages."""
        return next(part.number for part in self.parts if any(m is map_ for m in part.maps))

    def matrices(self, n_bytes: int) -> list[_core.plan.PositionSpec]:
        """Return the matrix positions needed by the loop.

        Args:
            n_bytes: Width in the code of the loop; 0 if open.
        """
        n_bytes = n_bytes or self.position_bytes()
        return [_positions(part, n_bytes) for part in self.inserted]

    def matrix_paths(self, built: symbolic.Symbolic) -> list[tuple[int, int]]:
        """Return the Maps to rows and columns of matrices, by index."""
        pairs = (part.maps for part in self.inserted)
        return [(built.maps.index(rows), built.maps.index(cols)) for rows, cols in pairs]

    def index_bytes(self, built: symbolic.Symbolic, most_padding: float) -> int:
        """4 if every index into an argument, a Map or a plan's array fits, with room to stride.

        Args:
            built: The symbolic loop.
            most_padding: Largest number of padded entries for each incidence.
        """
        sets = [self.iterset, *(map_.toset for map_ in built.maps)]
        if not all(one.is_sized for one in sets):
            return 8
        n = max(self.items.n, self.items.whole.total_size)
        counts = [n * max(built.loop.n_slots(), 1)]
        # a Map composed with padded columns has more rows than elements
        padded = n * max(ceil(most_padding) * built.loop.n_slots(), 1)
        counts += [padded * map_.arity for map_ in built.maps]
        both = 2 if self.items.facets else 1
        for part in self.parts:
            if part.path is not None:
                counts.append(n * _extent(part) * both**2)
                if not runtime.static:
                    counts.append(part.data.nbytes // part.dtype.itemsize)  # places of values
            elif part.kind is Kind.ROWS:
                rows = self.items.base if part.map_ is None else part.map_.toset
                counts.append(rows.total_size * max(part.stride, part.dim))
                counts += [n * map_.arity * part.dim * both for map_ in part.maps]  # scratch
        return 4 if max(counts) <= MOST_INT32 // 2 else 8

    def columns(self) -> list[int]:
        """Arguments stored as a structure of arrays on a device."""
        return [
            i for i, part in enumerate(self.parts) if part.kind is Kind.ROWS and part.buffer.is_soa
        ]

    def is_evenly_covered(self, built: symbolic.Symbolic, most_padding: float) -> bool:
        """Return whether targets have similar numbers of elements, so padding costs little.

        Args:
            built: The symbolic loop.
            most_padding: Largest number of padded entries for each incidence.
        """
        reduced = self._reduced_maps()
        if not reduced or self.items.extruded or self.iterset is not self.items.whole:
            return False
        if runtime.static or not all(map_.has_values for map_ in reduced.values()):
            return True  # as on most meshes
        engine = runtime.engine
        n_entries = n_padded = 0
        for map_ in reduced.values():
            facts = engine.plans.facts(table_of(map_), self.iterset.size, engine.n_threads)
            n_entries += self.iterset.size * map_.arity
            n_padded += facts.degree_max * map_.toset.total_size
        return n_padded <= most_padding * n_entries

    def n_added(self) -> int:
        """Return how many values all elements add through Maps; 0 where sizes are open."""
        if not self.iterset.is_sized:
            return 0
        added = (part for part in self.parts if part.target is not None and part.access == INC)
        return self.items.n * sum(part.n_scalars for part in added)

    def shares_targets(self, tuning: _core.Tuning) -> bool:
        """Return whether most increments of a block of elements go to shared targets.

        Args:
            tuning: Thresholds of the decision.
        """
        most = tuning["most_distinct"]
        if runtime.static or self.items.extruded or self.iterset is not self.items.whole:
            return True  # as on most meshes
        plans, n = runtime.engine.plans, self.iterset.size

        def part(map_: Any) -> float:
            n_elements = min(tuning["summed_elements"], tuning["summed_entries"] // map_.arity)
            return plans.distinct_targets(table_of(map_), n, max(n_elements, 1))

        return all(part(map_) <= most for map_ in self._reduced_maps().values() if map_.has_values)

    def is_scattered(self, tuning: _core.Tuning) -> bool:
        """Say whether lanes side by side would add to memory far apart, through any Map.

        Args:
            tuning: Thresholds: distance, and share of elements.
        """
        if self.items.extruded or self.iterset is not self.items.whole:
            return False
        most, window = tuning["most_scatter"], tuning["interleaved_window"]
        if runtime.static or most == 0:
            return bool(most == 0)
        plans, n = runtime.engine.plans, self.iterset.size
        reduced = [map_ for map_ in self._reduced_maps().values() if map_.has_values]
        return any(plans.scatter(table_of(map_), n, window) > most for map_ in reduced)

    def longest_row(self) -> int:
        """Return the largest number of elements of a target, for the only Map of a reduction.

        0 where there are several, or nothing is known.
        """
        reduced = list(self._reduced_maps().values())
        if len(reduced) != 1 or runtime.static or not reduced[0].has_values:
            return 0
        engine = runtime.engine
        facts = engine.plans.facts(table_of(reduced[0]), self.iterset.size, engine.n_threads)
        return int(facts.degree_max)

    def _reduced_maps(self) -> dict[int, Any]:
        """Return the Maps of reductions, by uid."""
        return {
            map_._uid: map_
            for map_, access in ((part.target, part.access) for part in self.parts)
            if map_ is not None and access in (INC, MIN, MAX)
        }

    def column_fill(
        self, built: symbolic.Symbolic, lanes: int, tuning: _core.Tuning, least: float
    ) -> float:
        """Return the fill of columns of a slot: the share of places holding incidences.

        Costs a plan at the first call. Columns are kept for the loop if they are full enough.

        Args:
            built: The symbolic loop, with reductions through Maps.
            lanes: Targets side by side.
            tuning: How many of them are sorted together.
            least: From where on columns are kept.
        """
        if runtime.static or not all(map_.has_values for map_ in built.maps):
            return 1.0  # as on meshes with a regular numbering
        engine = runtime.engine
        return _core.column_fill(
            loop=built.loop,
            binding=self.binding(built),
            plans=engine.plans,
            lanes=lanes,
            tuning=tuning,
            least=least,
            n_threads=engine.n_threads,
        )

    @property
    def useful_bytes(self) -> int:
        """Bytes moved by a call, at least: each Dat and Map entry once, INC and RW both ways."""
        n = self.items.n
        dats: dict[int, int] = {}
        maps: dict[int, int] = {}
        for part in self.parts:
            # column Maps of a matrix with places are not read
            for map_ in part.maps[:1]:
                maps[map_._uid] = n * map_.arity * table_of(map_).index_bytes
            moved = self.moved_bytes(part)
            dats[part.data._uid] = max(dats.get(part.data._uid, 0), moved)
        return sum(dats.values()) + sum(maps.values())

    def moved_bytes(self, part: Part) -> int:
        """Bytes of data, and of places in a matrix, moved by a part in a call."""
        n = self.items.n
        if part.is_of_matrix:
            places = n * prod(map_.arity for map_ in part.maps) if part.path is not None else 0
            return int(2 * part.data.nbytes + places * self.position_bytes())
        if part.home is None:
            return 0
        rows = n if part.map_ is None else min(n * part.map_.arity, part.home.total_size)
        ways = 1 if part.access in (READ, WRITE) else 2
        return rows * part.dim * part.dtype.itemsize * ways


def table_of(map_: Any) -> _core.MapTable:
    """Return the values of a Map as they are now."""
    table: _core.MapTable = map_._current_table()
    return table


def _extent(part: Part) -> int:
    """Entries of an element's tensor."""
    return prod(map_.arity for map_ in part.maps) * part.dim


def _positions(part: Part, n_bytes: int) -> _core.plan.PositionSpec:
    """Return the matrix positions needed by a part."""
    path, (row_dim, col_dim) = part.path, part.data.block_dims
    assert path is not None  # a part found by places
    return _core.plan.PositionSpec(
        sparsity=part.data.sparsity._table("loops"),
        n_elements=path.rows.iterset.size,
        rows=table_of(path.rows),
        columns=table_of(path.cols),
        row_mask=path.row_mask,  # type: ignore[arg-type]  # None is allowed
        column_mask=path.col_mask,  # type: ignore[arg-type]  # None is allowed
        row_dim=row_dim if path.unrolled else 1,
        column_dim=col_dim if path.unrolled else 1,
        bytes=n_bytes,
    )
