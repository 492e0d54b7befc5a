# SPDX-License-Identifier: BSD-3-Clause
"""Facts about sizes and values for the choice of a loop's text, and the bytes moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.base.access import READ
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
_LIGHT_BYTES, _LIGHT_OPERATIONS = 128, 64
"""Bytes and operations of a light entity; a heavier entity counts as several, as in
`PreparedLoop`."""


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
        self._last_sizes: _core.LoopSizes | None = None

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
        tuning = tuning_of(backend.facts, given.get("tuning", ()))
        deterministic = given.get("deterministic", configured["deterministic"])
        semantics = _core.Semantics(
            deterministic=bool(deterministic),
            by_element=deterministic == "ranks",
            debug=bool(given.get("debug", configured["debug"])),
            elementary=runtime.configuration["lane_functions"],
            convention=given.get("convention", 1),
        )
        self._last_sizes = self.sizes(built.loop.n_slots())
        widths = _core.widths_of(
            whole=self._last_sizes,
            members=self.members(),
            facts=backend.facts,
            tuning=tuning,
            plans=runtime.engine.plans,
            n_threads=self.n_threads,
        )
        return _core.LoweringOptions(semantics=semantics, widths=widths, tuning=tuning)

    def map_facts(self, map_: Any) -> _core.plan.MapFacts:
        """Targets are tested for being distinct only in Maps of written arguments.

        Otherwise, and in static mode, targets may repeat. Entries that lead nowhere are known to a
        Map with values; a Map without values has none.
        """
        written = any(part.target is map_ and part.access != READ for part in self.parts)
        table = map_.current_table() if map_.has_values else None
        if runtime.static or table is None or not written or self.items.extruded:
            width = 4 if table is None else table.index_bytes
            return _core.plan.MapFacts(index_bytes=width, has_negative=map_.is_partial)
        return runtime.engine.plans.facts(table, self.items.whole.exec_size, self.n_threads)

    @property
    def n_threads(self) -> int:
        """Threads for the loop and the plan, by the default tuning.

        The number of available threads is not requested for loops too small for two threads: the
        request takes as long as loading compiled code.
        """
        tosets = (map_.toset for part in self.parts for map_ in part.maps)
        sizes = (toset.total_size for toset in tosets if toset.is_sized)
        return 1 if max(self.items.n, *sizes, 0) < _ALONE else runtime.engine.n_threads

    def threads_for(self, operations: int) -> int:
        """Return the threads, where heavy entities count as several.

        Args:
            operations: Floating-point operations of a call; -1 if unknown.
        """
        heavy = max(self.useful_bytes // _LIGHT_BYTES, operations // _LIGHT_OPERATIONS)
        return self.n_threads if heavy < _ALONE else runtime.engine.n_threads

    def sizes(self, n_slots: int = 1) -> _core.LoopSizes:
        """Return the sizes of the loop for the rules about meshes.

        Args:
            n_slots: Slots of an element among written targets.
        """
        used = {map_.uid: map_ for part in self.parts for map_ in part.maps}
        numbers = {uid: i for i, uid in enumerate(used)}
        items, iterset = self.items, self.iterset
        return _core.LoopSizes(
            n_items=items.n,
            n_entities=self._n_entities,
            n_whole=items.whole.total_size if items.whole.is_sized else -1,
            is_whole=iterset is items.whole and not items.extruded,
            n_slots=n_slots,
            maps=[_sized_map(map_) for map_ in used.values()],
            arguments=[self._sized(part, numbers) for part in self.parts],
        )

    @property
    def _n_entities(self) -> int:
        """Number of visited entities: columns, where the Set is extruded."""
        if not self.items.extruded:
            return self.items.n
        return self.iterset.size if self.iterset.is_sized else 0

    def members(self) -> list[_core.LoopSizes]:
        """Return the sizes of the loops of a function; empty for a single loop."""
        return []

    def _sized(self, part: Part, numbers: Mapping[int, int]) -> _core.SizedArgument:
        """Return the sizes of an argument for the rules about meshes.

        Args:
            part: The argument.
            numbers: Indices of the Maps, by uid.
        """
        through = [numbers[map_.uid] for map_ in part.maps]
        is_row, by_places = part.kind is Kind.ROWS, part.path is not None
        itemsize = part.dtype.itemsize if is_row or part.is_of_matrix else 1
        rows = self.items.base if part.map_ is None else part.map_.toset
        n_bytes = part.data.nbytes if part.is_of_matrix and not runtime.static else 0
        return _core.SizedArgument(
            data=part.data.uid if is_row or part.is_of_matrix else 0,
            access=_core.Access(int(part.access)),
            map=through[0] if through else -1,
            columns=through[1] if by_places else -1,
            target=-1 if part.target is None else numbers[part.target.uid],
            n_scalars=part.n_scalars,
            n_rows=rows.total_size if is_row and rows.is_sized else 0,
            row_scalars=max(part.stride, part.dim),
            row_bytes=part.dim * itemsize,
            matrix_bytes=n_bytes,
            matrix_scalars=n_bytes // itemsize if by_places else 0,
            position_bytes=self.position_bytes() if by_places else 1,
            is_soa=is_row and part.buffer.is_soa,
        )

    @property
    def inserted(self) -> tuple[Part, ...]:
        """Blocks of matrices with entries to be found."""
        return tuple(part for part in self.parts if part.path is not None)

    def position_bytes(self) -> int:
        """Bytes of a place within the longest row of all matrices."""
        longest = [one.data.sparsity.longest_row for one in self.inserted if not runtime.static]
        return _core.plan.position_bytes(max(longest, default=0))

    n_first_targets = -1
    """The targets visited, if all of the process are; -1: also those of others."""

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
            n_first_targets=self.n_first_targets,
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
        if not are_known(built):
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

    def part_mixed(self, built: symbolic.Symbolic, lanes: int) -> float:
        """Return the share of columns of neighbours with both slots of the Map; 1: unknown.

        Costs a plan at the first call, of the columns themselves.

        Args:
            built: The symbolic loop, with reductions through a Map of two targets.
            lanes: Targets side by side.
        """
        if not are_known(built):
            return 1.0
        return _core.part_mixed(
            loop=built.loop,
            binding=self.binding(built),
            plans=runtime.engine.plans,
            lanes=lanes,
            n_threads=self.n_threads,
        )

    @property
    def useful_bytes(self) -> int:
        """Bytes that one call must move: each Dat and Map entry once, INC and RW both ways.

        The sizes that have chosen the text serve once more, for the preparation of its run.
        """
        sizes, self._last_sizes = self._last_sizes, None
        return _core.useful_bytes([sizes or self.sizes()])


def work_of(loops: Sequence[Any]) -> tuple[int, int]:
    """Return the floating-point operations of loops, and bytes of the widest operand.

    Each kernel is called once for an element, however often a strategy repeats a call. The
    operations are -1 if unknown for a kernel.
    """
    each = [(*loop.kernel.work, loop.items.n) for loop in loops]
    n = -1 if any(one[0] < 0 for one in each) else sum(one[0] * one[2] for one in each)
    return n, max(one[1] for one in each)


def are_known(built: symbolic.Symbolic) -> bool:
    """Say whether choices may depend on the values of a loop's Maps."""
    return not runtime.static and all(map_.has_values for map_ in built.maps)


def table_of(map_: Any) -> _core.MapTable:
    """Return the values of a Map as they are now."""
    table: _core.MapTable = map_.current_table()
    return table


def _sized_map(map_: Any) -> _core.SizedMap:
    """Return what the rules about meshes see of a Map."""
    table = map_.current_table() if map_.has_values else None
    return _core.SizedMap(
        id=map_.uid,
        table=None if runtime.static or map_.is_ragged else table,  # type: ignore[arg-type]  # None is allowed
        n_targets=map_.toset.total_size if map_.toset.is_sized else -1,
        arity=map_.typical_arity + map_.is_ragged,  # and the begins
        index_bytes=map_.dtype.itemsize if table is None else table.index_bytes,
        slots=list(map_.slots or ()),
    )


def _positions(part: Part, n_bytes: int) -> _core.plan.PositionSpec:
    """Return the matrix positions needed by a part."""
    path, (row_dim, col_dim) = part.path, part.data.block_dims
    assert path is not None  # a part found by places
    return _core.plan.PositionSpec(
        sparsity=part.data.sparsity.table("loops"),
        n_elements=path.rows.iterset.exec_size,
        rows=table_of(path.rows),
        columns=table_of(path.cols),
        row_mask=path.row_mask,  # type: ignore[arg-type]  # None is allowed
        column_mask=path.col_mask,  # type: ignore[arg-type]  # None is allowed
        row_dim=row_dim if path.unrolled else 1,
        column_dim=col_dim if path.unrolled else 1,
        bytes=n_bytes,
    )
