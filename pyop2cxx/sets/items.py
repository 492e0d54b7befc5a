# SPDX-License-Identifier: BSD-3-Clause
"""Work items of a loop over a Set, with the lists of visited elements."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.arrays import MOST_INT32, MOST_INT64, address_of
from pyop2cxx.base.regions import ALL, IterationRegion
from pyop2cxx.base.waiting import waiting
from pyop2cxx.exceptions import IterateValueError, MapValueError, SizeTypeError, UsageError
from pyop2cxx.sets.extruded import ExtrudedSet
from pyop2cxx.sets.sets import Subset

if TYPE_CHECKING:
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.sets.maps import Map
    from pyop2cxx.sets.sets import Set


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """The work items of a loop.

    Attributes:
        iteration: Their kind, the symbolic part.
        n: How many there are; 0 if the Set has no size.
        facets: Whether an item is a pair of vertically adjacent cells.
        base: The Set of Dats without a Map.
        whole: The source Set of Maps.
        tables: Index lists used by generated code, in order.
        arrays: The memory of the lists.
        n_boundary: Number of items outside of the core, placed last.
        of_cells: Region and use of the layer, for cells of columns.
    """

    iteration: _core.Iteration
    n: int
    facets: bool
    base: Set
    whole: Set
    tables: tuple[_core.MapTable, ...] = ()
    arrays: tuple[Array, ...] = ()
    n_boundary: int = 0
    of_cells: tuple[IterationRegion, bool] = (ALL, False)

    @property
    def extruded(self) -> bool:
        """Whether the items are cells of columns."""
        return isinstance(self.whole, ExtrudedSet)


def items_of(iterset: Set, region: IterationRegion | None, pass_layer: bool, what: str) -> Items:
    """Return the work items of a loop over a Set.

    Args:
        iterset: A Set, a Subset, or an extruded Set.
        region: The part of each column; None means all cells.
        pass_layer: Whether the kernel gets the layer.
        what: The loop, for messages.

    Raises:
        IterateValueError: A region was given for a Set without extrusion.
        UsageError: Layers were requested for a Set without extrusion.
    """
    whole = iterset.superset if isinstance(iterset, Subset) else iterset
    if isinstance(whole, ExtrudedSet):
        return _known_cells(iterset, whole, (region or ALL, pass_layer))
    if region is not None and region != ALL:
        raise IterateValueError(
            f"{what}: region {region.name} is a part of columns, but Set '{whole.name}' is not "
            "extruded; loop over an ExtrudedSet"
        )
    if pass_layer:
        raise UsageError(
            f"{what}: pass_layer_arg was asked for, but Set '{whole.name}' is not extruded"
        )
    if not isinstance(iterset, Subset):
        n = iterset.size if iterset.is_sized else 0
        return Items(
            iteration=_kind(iterset),
            n=n,
            facets=False,
            base=whole,
            whole=whole,
            n_boundary=_n_boundary(iterset),
        )
    return Items(
        iteration=_kind(whole, subset=True),
        n=iterset.size,
        facets=False,
        base=whole,
        whole=whole,
        tables=(iterset.table,),
        n_boundary=_n_boundary(iterset),
    )


def with_near_ghosts(items: Items, iterset: Set, *, in_order: bool) -> Items:
    """Return the items of a shared Set, near ghosts too.

    Args:
        items: The owned items.
        iterset: The Set of the loop.
        in_order: Whether the items come in the order of the whole Set.
    """
    if isinstance(items.whole, ExtrudedSet):
        return _known_cells(iterset, items.whole, items.of_cells, again=True, in_order=in_order)
    n = iterset.exec_size
    if not in_order:
        return replace(items, n=n, n_boundary=n - iterset.core_size)
    known = iterset.in_order
    if known is None:
        listed = _in_global_order(iterset, items.whole)
        known = iterset.in_order = Items(
            iteration=_kind(items.whole, subset=True),
            n=n,
            facets=False,
            base=items.base,
            whole=items.whole,
            tables=(_table(listed, items.whole.total_size),),
            arrays=(listed,),
        )
    found: Items = known
    return found


def _in_global_order(iterset: Set, whole: Set) -> Array:
    """Return the visited entities, near ghosts too, in the order of the whole Set; shape (n, 1)."""
    order = np.argsort(iterset.global_numbers[: iterset.exec_size], kind="stable")
    visited = iterset.indices[order] if isinstance(iterset, Subset) else order
    wide = whole.total_size > MOST_INT32
    return np.ascontiguousarray(visited, np.int64 if wide else np.int32).reshape(-1, 1)


def _known_cells(
    iterset: Set,
    whole: ExtrudedSet,
    of_cells: tuple[IterationRegion, bool],
    *,
    again: bool = False,
    in_order: bool = False,
) -> Items:
    key = (*of_cells, again, in_order)
    lists: dict[object, Items] = iterset.lists  # type: ignore[attr-defined]  # both have it
    if key not in lists:
        lists[key] = _cells(iterset, whole, *of_cells, again=again, in_order=in_order)
    return lists[key]


def _n_boundary(iterset: Set) -> int:
    """Return how many entities are owned but not core."""
    return iterset.size - iterset.core_size if iterset.is_sized else 0


def _kind(whole: Set, *, subset: bool = False, **layers: bool) -> _core.Iteration:
    wide = whole.is_sized and whole.total_size > MOST_INT32
    usual = {
        "extruded": False,
        "constant_layers": False,
        "periodic": False,
        "pass_layer": False,
    }
    return _core.Iteration(subset=subset, **(usual | layers), index_bytes=8 if wide else 4)


def one_cell(whole: ExtrudedSet) -> _core.Iteration:
    """Return the iteration of a loop over a single cell at a given level: layers count as constant.

    Args:
        whole: The Set.
    """
    return _kind(
        whole,
        extruded=True,
        constant_layers=True,
        periodic=whole.extruded_periodic,
        pass_layer=False,
    )


def levels_of(whole: ExtrudedSet, n_levels: Any, region: IterationRegion) -> tuple[Any, Any]:
    """Return the number of visited cells of a column, and the level of the first."""
    zero = n_levels - n_levels
    one = zero + (n_levels > 0)  # or none, in a column without cells
    if region == IterationRegion.BOTTOM:
        return one, zero
    if region == IterationRegion.TOP:
        return one, n_levels - one
    if region == IterationRegion.INTERIOR_FACETS and not whole.extruded_periodic:
        return n_levels - one, zero
    return n_levels, zero


def reached(map_: Map, rows: Array, levels: Any, n_levels: Any, items: Items) -> Array:
    """Return the entities reached by a Map from cells; entries leading nowhere do so everywhere.

    Args:
        map_: The Map.
        rows: The Map's values for the cells' columns, shape (n, arity), int64.
        levels: Of the cells in their columns, from 0; a number, or shape (n, 1).
        n_levels: Cells of the columns, in the same form.
        items: The visited items.
    """
    if not items.extruded or map_.offset is None:
        return rows
    quotient = map_.offset_quotient
    start = 0 if quotient is None else quotient.astype(np.int64)
    if items.whole.extruded_periodic:  # type: ignore[attr-defined]  # it is extruded
        levels = (levels + start) % n_levels - start % n_levels
    return np.where(rows < 0, rows, rows + map_.offset * levels)


def _cells(
    iterset: Set,
    whole: ExtrudedSet,
    region: IterationRegion,
    pass_layer: bool,
    *,
    again: bool,
    in_order: bool,
) -> Items:
    facets = region == IterationRegion.INTERIOR_FACETS
    constant = whole.constant_layers
    kind = _kind(
        whole,
        subset=constant and (in_order or isinstance(iterset, Subset)),
        extruded=True,
        constant_layers=constant,
        periodic=whole.extruded_periodic,
        pass_layer=pass_layer,
    )
    if constant:
        visited, first = levels_of(whole, whole.layers - 1, region)
        layers = np.array([[visited, first, 0, whole.layers - 1]], np.int64)
        n_columns = (iterset.exec_size if again else iterset.size) if iterset.is_sized else 0
        n = n_columns * visited
        n_boundary = 0 if in_order or not n else (n_columns - iterset.core_size) * visited
        tables, arrays = [_table(layers)], [layers]
        if n > MOST_INT64:
            raise SizeTypeError(
                f"Set '{whole.name}': {iterset.size} columns of {visited} cells are more than "
                "int64 can number"
            )
        if in_order:
            arrays.append(_in_global_order(iterset, whole))
            tables.append(_table(arrays[1], whole.total_size))
        elif isinstance(iterset, Subset):
            tables.append(iterset.table)
    else:
        if in_order:
            columns = _in_global_order(iterset, whole).reshape(-1)
        else:
            n_columns = iterset.exec_size if again else iterset.size
            indices = iterset.indices if isinstance(iterset, Subset) else np.arange(n_columns)
            columns = indices[:n_columns]
        n, arrays = _listed_cells(columns, whole, region)
        inner = 0 if in_order else _listed_cells(columns[: iterset.core_size], whole, region)[0]
        n_boundary = 0 if in_order else n - inner
        tables = [_table(array) for array in arrays]
    return Items(
        iteration=kind,
        n=n,
        facets=facets,
        base=whole.parent,
        whole=whole,
        tables=tuple(tables),
        arrays=tuple(arrays),
        n_boundary=n_boundary,
        of_cells=(region, pass_layer),
    )


def _listed_cells(
    columns: Array, whole: ExtrudedSet, region: IterationRegion
) -> tuple[int, list[Array]]:
    """Return the number of visited cells of columns, and the cells."""
    bounds = whole.layers_array - [0, 1]  # 1 past the top cell
    n_levels = bounds[columns, 1] - bounds[columns, 0]
    visited, first = levels_of(whole, n_levels, region)
    starts = np.cumsum(visited) - visited
    n = int(visited.sum())
    wide = whole.total_size > MOST_INT32
    index = np.dtype(np.int64 if wide else np.int32)
    with waiting(f"extrusion of '{whole.name}': listing {n} cells"):
        levels = np.arange(n) - np.repeat(starts - first, visited)
        found = [np.repeat(columns, visited).astype(index), levels.astype(index)]
    return n, [*(one.reshape(-1, 1) for one in found), np.ascontiguousarray(bounds)]


def _table(array: Array, n_targets: int = MOST_INT32) -> _core.MapTable:
    return _core.MapTable(
        address=address_of(array),
        index_bytes=array.itemsize,
        n_rows=array.shape[0],
        arity=array.shape[1],
        n_targets=n_targets,
    )


def path_of(map_: Map, items: Items, toset: int) -> _core.MapRef:
    """Return the symbolic path of a Map in a loop.

    Args:
        map_: The Map.
        items: The visited items.
        toset: The number of the Map's target Set.
    """
    if map_.is_ragged and not items.extruded:
        arity = _core.MOST_RAGGED
        return _core.MapRef(arity=arity, toset=toset, width=0, rows=[], ragged=True)
    rows = [_core.RowRef(*row) for row in rows_of(map_, items)]
    return _core.MapRef(arity=len(rows) or map_.arity, toset=toset, width=map_.width, rows=rows)


def rows_of(map_: Map, items: Items) -> list[tuple[int, int, int, int]]:
    """Return the used entries of a Map's rows: slot, offset, quotient, cells above.

    Args:
        map_: The Map.
        items: The visited items.

    Returns:
        Empty if all entries are used in order, without extrusion.
    """
    slots = map_.slots
    if not items.extruded:
        return [(slot, 0, 0, 0) for slot in slots or ()]
    if slots is None:
        slots = tuple(range(map_.arity))
    offsets = [0] * len(slots) if map_.offset is None else map_.offset.tolist()
    quotient = map_.offset_quotient
    quotients = [0] * len(slots) if quotient is None else quotient.tolist()
    return [
        (slot, offset, start, above)
        for above in range(2 if items.facets and not map_.is_of_columns else 1)
        for slot, offset, start in zip(slots, offsets, quotients, strict=True)
    ]


def check_reach(map_: Map, items: Items, iterset: Set, what: str) -> None:
    """Check the targets of a Map from every cell of a loop.

    Entries leading nowhere do so from all cells; `check_defined` finds them.

    Raises:
        MapValueError: Offsets lead out of the target Set; the message names column and level.
    """
    whole = items.whole
    if not isinstance(whole, ExtrudedSet) or map_.offset is None or not items.n:
        return
    columns = _with_cells(iterset, items)
    bounds = whole.layers_array
    highest = bounds[:, 1] - bounds[:, 0] - 2  # the level of the top cell
    top = highest if whole.constant_layers else highest[columns]
    quotient = map_.offset_quotient
    start = np.zeros(map_.arity, np.int64) if quotient is None else quotient.astype(np.int64)
    start = start % (top[:, None] + 1) if whole.extruded_periodic else start * 0
    values = map_.values_with_halo[columns].astype(np.int64)
    n_targets = map_.toset.total_size
    for ends in (-start, top[:, None] - start):
        reached = values + map_.offset * ends
        wrong = np.argwhere((values >= 0) & ((reached < 0) | (reached >= n_targets)))
        if wrong.size:
            row, slot = (int(i) for i in wrong[0])
            raise MapValueError(
                f"{what}: Map '{map_.name}' leads from column {int(columns[row])}, slot {slot}, to "
                f"{int(reached[row, slot])}, but Set '{map_.toset.name}' has entities 0 to "
                f"{n_targets - 1}; check its offset {map_.offset.tolist()}"
            )


def _with_cells(iterset: Set, items: Items) -> Array:
    """Return the visited entities: columns without cells are not visited."""
    whole = items.whole
    visited = iterset.owned_indices if isinstance(iterset, Subset) else np.arange(iterset.size)
    if not isinstance(whole, ExtrudedSet) or whole.constant_layers:
        return visited
    bounds = whole.layers_array[visited]
    return visited[bounds[:, 1] - bounds[:, 0] > 1]


def check_defined(map_: Map, items: Items, iterset: Set, what: str) -> None:
    """Check the existence of a Map's targets from every element of a loop.

    Raises:
        MapValueError: An entry is -1; the message names element and slot.
    """
    if not map_.is_partial:
        return
    visited = _with_cells(iterset, items)
    wrong = np.argwhere(map_.values_with_halo[visited] < 0)
    if wrong.size:
        row, slot = (int(i) for i in wrong[0])
        raise MapValueError(
            f"{what}: Map '{map_.name}' leads nowhere from element "
            f"{items.whole.number_of(visited[row])}, slot "
            f"{slot}, of Set '{items.whole.name}'; loop over the Subset of the elements that lead "
            "somewhere"
        )
