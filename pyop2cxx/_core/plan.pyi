# SPDX-License-Identifier: BSD-3-Clause
"""
Everything derived from the values of maps.
"""

from __future__ import annotations
import collections.abc
import numpy
import numpy.typing
import pyop2cxx._core
import typing

__all__: list[str] = [
    "BlockPlan",
    "CacheStatistics",
    "ColourStatistics",
    "Conflict",
    "Curve",
    "ElementPlan",
    "EntryOrigin",
    "IncidenceOrder",
    "InverseMap",
    "InverseSpec",
    "MapFacts",
    "MapPair",
    "Occurrence",
    "PaddedInverse",
    "PlanCache",
    "PositionSpec",
    "Positions",
    "Sparsity",
    "all_slots",
    "build_sparsity",
    "check_range",
    "colour_blocks",
    "colour_elements",
    "curve_keys",
    "inverse_permutation",
    "invert",
    "map_facts",
    "order_by_key",
    "pad",
    "path_table",
    "permute_rows",
    "position_bytes",
    "relabel",
    "target_keys",
    "visitor_keys",
]

class MapFacts:
    def __eq__(self, other: typing.Any) -> bool: ...
    def __hash__(self) -> int: ...
    def __init__(
        self,
        index_bytes: typing.SupportsInt | typing.SupportsIndex,
        injective: bool = False,
        has_negative: bool = True,
    ) -> None: ...
    @property
    def has_negative(self) -> bool: ...
    @property
    def index_bytes(self) -> int: ...
    @property
    def injective(self) -> bool: ...

class Conflict:
    def __init__(
        self,
        map: pyop2cxx._core.MapTable,
        slot: typing.SupportsInt | typing.SupportsIndex,
        space: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...

class Occurrence:
    def __init__(
        self, map: pyop2cxx._core.MapTable, slot: typing.SupportsInt | typing.SupportsIndex
    ) -> None: ...

class IncidenceOrder:
    """
    Members:

      by_element

      by_slot
    """

    __members__: typing.ClassVar[dict[str, IncidenceOrder]]
    by_element: typing.ClassVar[IncidenceOrder]
    by_slot: typing.ClassVar[IncidenceOrder]
    @typing.overload
    def __eq__(self, other: IncidenceOrder) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    def __getstate__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __ne__(self, other: IncidenceOrder) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class EntryOrigin:
    """
    Members:

      element

      position
    """

    __members__: typing.ClassVar[dict[str, EntryOrigin]]
    element: typing.ClassVar[EntryOrigin]
    position: typing.ClassVar[EntryOrigin]
    @typing.overload
    def __eq__(self, other: EntryOrigin) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    def __getstate__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __ne__(self, other: EntryOrigin) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class InverseSpec:
    def __init__(
        self,
        n: typing.SupportsInt | typing.SupportsIndex,
        subset: pyop2cxx._core.MapTable,
        occurrences: collections.abc.Sequence[Occurrence],
        order: IncidenceOrder,
        origin: EntryOrigin,
        touched_only: bool,
    ) -> None: ...

class ColourStatistics:
    @property
    def n_colours(self) -> int: ...
    @property
    def n_items_max(self) -> int: ...
    @property
    def n_items_min(self) -> int: ...
    @property
    def n_shared(self) -> int: ...
    @property
    def n_touched(self) -> int: ...

class BlockPlan:
    @property
    def block_of(self) -> numpy.ndarray: ...
    @property
    def block_offset(self) -> numpy.ndarray: ...
    @property
    def block_size(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def colour_offset(self) -> numpy.ndarray: ...
    @property
    def statistics(self) -> ColourStatistics: ...

class ElementPlan:
    @property
    def bytes(self) -> int: ...
    @property
    def colour_offset(self) -> numpy.ndarray: ...
    @property
    def elements(self) -> numpy.ndarray: ...
    @property
    def statistics(self) -> ColourStatistics: ...

class InverseMap:
    @property
    def bytes(self) -> int: ...
    @property
    def degree_max(self) -> int: ...
    @property
    def degree_mean(self) -> float: ...
    @property
    def entries(self) -> numpy.ndarray: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_targets(self) -> int: ...
    @property
    def offset(self) -> numpy.ndarray: ...
    @property
    def rows(self) -> numpy.ndarray: ...

class PaddedInverse:
    @property
    def bytes(self) -> int: ...
    @property
    def columns(self) -> numpy.ndarray: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_targets(self) -> int: ...
    @property
    def rows(self) -> numpy.ndarray: ...
    @property
    def width(self) -> int: ...

class CacheStatistics:
    @property
    def bytes(self) -> int: ...
    @property
    def hits(self) -> int: ...
    @property
    def misses(self) -> int: ...
    @property
    def n_plans(self) -> int: ...

class PlanCache:
    def __init__(self) -> None: ...
    def blocks(
        self,
        n: typing.SupportsInt | typing.SupportsIndex,
        subset: pyop2cxx._core.MapTable,
        conflicts: collections.abc.Sequence[Conflict],
        block_size: typing.SupportsInt | typing.SupportsIndex,
        n_threads: typing.SupportsInt | typing.SupportsIndex,
    ) -> BlockPlan: ...
    def clear(self) -> None: ...
    def elements(
        self,
        n: typing.SupportsInt | typing.SupportsIndex,
        subset: pyop2cxx._core.MapTable,
        conflicts: collections.abc.Sequence[Conflict],
        n_threads: typing.SupportsInt | typing.SupportsIndex,
    ) -> ElementPlan: ...
    def facts(
        self,
        map: pyop2cxx._core.MapTable,
        n: typing.SupportsInt | typing.SupportsIndex,
        n_threads: typing.SupportsInt | typing.SupportsIndex,
    ) -> MapFacts: ...
    def inverse(
        self, spec: InverseSpec, n_threads: typing.SupportsInt | typing.SupportsIndex
    ) -> InverseMap: ...
    def padded(
        self, spec: InverseSpec, n_threads: typing.SupportsInt | typing.SupportsIndex
    ) -> PaddedInverse: ...
    def statistics(self) -> CacheStatistics: ...

class Curve:
    """
    Members:

      hilbert

      morton

      lines
    """

    __members__: typing.ClassVar[dict[str, Curve]]
    hilbert: typing.ClassVar[Curve]
    lines: typing.ClassVar[Curve]
    morton: typing.ClassVar[Curve]
    @typing.overload
    def __eq__(self, other: Curve) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    def __getstate__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __ne__(self, other: Curve) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class MapPair:
    def __init__(
        self,
        rows: pyop2cxx._core.MapTable,
        columns: pyop2cxx._core.MapTable,
        n_elements: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...

class Sparsity:
    @property
    def bytes(self) -> int: ...
    @property
    def columns(self) -> numpy.ndarray: ...
    @property
    def longest_row(self) -> int: ...
    @property
    def n_columns(self) -> int: ...
    @property
    def n_entries(self) -> int: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def row_offset(self) -> numpy.ndarray: ...

class PositionSpec:
    def __init__(
        self,
        sparsity: Sparsity,
        n_elements: typing.SupportsInt | typing.SupportsIndex,
        rows: pyop2cxx._core.MapTable,
        columns: pyop2cxx._core.MapTable,
        row_mask: pyop2cxx._core.MapTable,
        column_mask: pyop2cxx._core.MapTable,
        row_dim: typing.SupportsInt | typing.SupportsIndex,
        column_dim: typing.SupportsInt | typing.SupportsIndex,
        bytes: typing.SupportsInt | typing.SupportsIndex,
    ) -> None: ...

class Positions:
    @property
    def values(self) -> numpy.ndarray: ...

def build_sparsity(
    n_rows: typing.SupportsInt | typing.SupportsIndex,
    n_columns: typing.SupportsInt | typing.SupportsIndex,
    pairs: collections.abc.Sequence[MapPair],
    diagonal: bool,
    n_threads: typing.SupportsInt | typing.SupportsIndex,
) -> Sparsity: ...
def check_range(
    map: pyop2cxx._core.MapTable,
    name: str,
    negative_allowed: bool,
    n_threads: typing.SupportsInt | typing.SupportsIndex,
) -> None: ...
def colour_blocks(
    n: typing.SupportsInt | typing.SupportsIndex,
    subset: pyop2cxx._core.MapTable,
    conflicts: collections.abc.Sequence[Conflict],
    block_size: typing.SupportsInt | typing.SupportsIndex,
    n_threads: typing.SupportsInt | typing.SupportsIndex,
) -> BlockPlan: ...
def colour_elements(
    n: typing.SupportsInt | typing.SupportsIndex,
    subset: pyop2cxx._core.MapTable,
    conflicts: collections.abc.Sequence[Conflict],
    n_threads: typing.SupportsInt | typing.SupportsIndex,
) -> ElementPlan: ...
def curve_keys(
    curve: Curve,
    coordinates: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    dim: typing.SupportsInt | typing.SupportsIndex,
    n_threads: typing.SupportsInt | typing.SupportsIndex,
) -> numpy.typing.NDArray[numpy.uint64]: ...
def inverse_permutation(
    permutation: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
    n_threads: typing.SupportsInt | typing.SupportsIndex,
) -> numpy.typing.NDArray[numpy.int64]: ...
def invert(
    spec: InverseSpec, n_threads: typing.SupportsInt | typing.SupportsIndex
) -> InverseMap: ...
def map_facts(
    map: pyop2cxx._core.MapTable,
    n: typing.SupportsInt | typing.SupportsIndex,
    n_threads: typing.SupportsInt | typing.SupportsIndex,
) -> MapFacts: ...
def order_by_key(
    keys: typing.Annotated[numpy.typing.ArrayLike, numpy.uint64],
    part_offset: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
    n_threads: typing.SupportsInt | typing.SupportsIndex,
) -> numpy.typing.NDArray[numpy.int64]: ...
def pad(
    inverse: InverseMap, n_threads: typing.SupportsInt | typing.SupportsIndex
) -> PaddedInverse: ...
def path_table(
    map: pyop2cxx._core.MapTable,
    path: pyop2cxx._core.MapRef,
    iteration: pyop2cxx._core.Iteration,
    items: collections.abc.Sequence[pyop2cxx._core.MapTable],
    n: typing.SupportsInt | typing.SupportsIndex,
    n_threads: typing.SupportsInt | typing.SupportsIndex,
) -> pyop2cxx._core.MapTable: ...
def permute_rows(
    source: numpy.ndarray,
    target: numpy.ndarray,
    old_of_new: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
    n_threads: typing.SupportsInt | typing.SupportsIndex,
) -> None: ...
def position_bytes(longest_row: typing.SupportsInt | typing.SupportsIndex) -> int: ...
def relabel(
    map: pyop2cxx._core.MapTable,
    old_of_new: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
    new_of_old: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
    values: numpy.ndarray,
    n_threads: typing.SupportsInt | typing.SupportsIndex,
) -> None: ...
def target_keys(
    map: pyop2cxx._core.MapTable,
    new_of_old: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
    n_threads: typing.SupportsInt | typing.SupportsIndex,
) -> numpy.typing.NDArray[numpy.uint64]: ...
def visitor_keys(
    map: pyop2cxx._core.MapTable, old_of_new: typing.Annotated[numpy.typing.ArrayLike, numpy.int64]
) -> numpy.typing.NDArray[numpy.uint64]: ...

all_slots: int = -1
