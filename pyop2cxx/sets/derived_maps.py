# SPDX-License-Identifier: BSD-3-Clause
"""Maps made of other Maps: with permuted entries, or composed."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.arrays import MOST_INT32, as_name, is_integer
from pyop2cxx.exceptions import (
    ContractError,
    MapTypeError,
    MapValueError,
    NoDataError,
    UnsupportedError,
)
from pyop2cxx.runtime.tracebacks import ends_tracebacks
from pyop2cxx.sets.maps import EntriesOfMap, Map, refuse_distributed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyop2cxx import _core
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.sets.sets import Set


@ends_tracebacks("__init__")
class PermutedMap(EntriesOfMap):
    """A Map with permuted entries: entry `i` is entry `permutation[i]` of the Map.

    The values are shared with the Map. Loops with different orders are compiled separately.

    Args:
        map_: The Map.
        permutation: Each number below the arity once.

    Raises:
        MapTypeError: The first argument is not a Map.
        UnsupportedError: The Map is a ComposedMap; permute the first Map instead.
        ContractError: The numbers are no permutation.

    Example:
        >>> from pyop2cxx import op2
        >>> edges, nodes = op2.Set(1), op2.Set(2)
        >>> there = op2.Map(edges, nodes, 2, [0, 1])
        >>> PermutedMap(there, [1, 0]).permutation
        (1, 0)
    """

    def __init__(self, map_: Map, permutation: Iterable[int]) -> None:
        if not isinstance(map_, Map):
            raise MapTypeError(
                f"PermutedMap: expected a Map, got {map_!r} of type {type(map_).__name__}"
            )
        if isinstance(map_, ComposedMap):
            raise UnsupportedError(
                f"PermutedMap of ComposedMap '{map_.name}': permute the first Map that it is "
                "composed of instead"
            )
        given = tuple(permutation)
        order = tuple(int(i) for i in given if is_integer(i))
        if len(order) != len(given) or sorted(order) != list(range(map_.arity)):
            raise ContractError(
                f"PermutedMap of Map '{map_.name}': expected each of 0 to {map_.arity - 1} once, "
                f"got {given}"
            )
        self._choose(map_, order, f"permuted_{map_.name}")

    @property
    def map_(self) -> Map:
        """The Map."""
        return self.whole_map

    @property
    def permutation(self) -> tuple[int, ...]:
        """Source index of each entry; tuple of int, shape (arity,)."""
        return tuple(self._chosen)

    def __reduce__(self) -> tuple[Any, ...]:
        return (PermutedMap, (self.whole_map, self.permutation))

    def __repr__(self) -> str:
        return f"PermutedMap({self.whole_map!r}, {self.permutation!r})"


class DerivedMap(Map):
    """A Map with values computed from other Maps.

    The values are computed on first use and after changes of the Maps, so loops have a single
    indirection. Derived classes call `_derive` and implement `_looked_up`.
    """

    _maps: tuple[Map, ...]
    _seen: tuple[int, ...]
    _is_given = False
    """Whether `op2.distribute` gave the values of this rank, which are then fixed."""

    def _derive(self, maps: tuple[Map, ...]) -> None:
        for map_ in maps:
            refuse_distributed(map_)
        self._maps = maps
        self._seen = ()

    def numbered(self) -> Iterator[tuple[Map, Set, int]]:
        """Yield Maps with their Sets and numberings."""
        for map_ in self._maps:
            yield from map_.numbered()

    @property
    def has_values(self) -> bool:
        """Whether all of the Maps were given values."""
        return all(map_.has_values for map_ in self._maps)

    @property
    def is_partial(self) -> bool:  # type: ignore[override]  # as the Maps are now
        """Whether some entries lead nowhere."""
        if self._is_given and self.host_values is not None:
            return bool((self.host_values[: self._iterset.exec_size] < 0).any())
        return any(map_.is_partial for map_ in self._maps)

    def become_shared(self, values: Array, n_computed: int) -> None:
        """Have the values of this rank; other rows than those computed lead nowhere."""
        self._is_given = True
        self._adopt(self._checked(values)[0])
        self.meetings.clear()

    def current_table(self) -> _core.MapTable | None:
        """Return the values as loops read them, up to date; None if there are none."""
        if self._is_given:
            return self.table
        tables = [map_.current_table() for map_ in self._maps]
        if any(table is None for table in tables):
            return None
        seen = tuple(table.version for table in tables if table is not None)
        if self.host_values is None or self.table is None:
            self._adopt(self._stored())
        elif seen != self._seen:
            self.host_values[...] = self._stored()
            self.table.increment_version()
        self._seen = seen
        return self.table

    def take_own_memory(self) -> None:
        """Copy the values if the memory belongs to the user."""
        for map_ in self._maps:
            map_.take_own_memory()
        self.current_table()  # from the present values

    def _stored(self) -> Array:
        dtype = np.int64 if self._toset.total_size > MOST_INT32 else np.int32
        return np.require(self._looked_up(), dtype, ("C", "A", "W", "O"))

    def _looked_up(self) -> Array:
        """Return the values; shape (iterset.total_size, arity), of any integer dtype."""
        raise NotImplementedError

    def check_unchanged(self) -> None:
        """Raise an error if the user's memory has changed."""
        for map_ in self._maps:
            map_.check_unchanged()

    def view(self, member: str, n_rows: int) -> Array:
        """Return the values on the host, for a member of the public interface."""
        self.current_table()
        return super().view(member, n_rows)


@ends_tracebacks("__init__")
class ComposedMap(DerivedMap):
    """Composed Maps: ``ComposedMap(m0, m1)`` leads from `n` to ``m0[m1[n]]``.

    An entry -1 leads nowhere, and must fill the whole row of an element; loops must leave such
    elements out (`indices_active_with_halo`).

    Args:
        *maps: The last Map is applied first. All but the first have arity 1.
        name: Used in messages.

    Raises:
        MapTypeError: An argument is no Map, has another arity, or does not start at the end of the
            next Map.

    Example:
        >>> from pyop2cxx import op2
        >>> a, b, c = (op2.Set(2) for _ in range(3))
        >>> there, on = op2.Map(a, b, 1, [1, 0]), op2.Map(b, c, 1, [0, 1])
        >>> ComposedMap(on, there).values_with_halo.ravel().tolist()
        [1, 0]
    """

    def __init__(self, *maps: Map, name: str | None = None) -> None:
        if not maps or not all(isinstance(map_, Map) for map_ in maps):
            raise MapTypeError(f"ComposedMap: expected Maps, got {maps!r}")
        for outer, inner in pairwise(maps):
            if inner.arity != 1:
                raise MapTypeError(
                    f"ComposedMap: only the first Map may have an arity other than 1, but "
                    f"'{inner.name}' has {inner.arity}"
                )
            if outer.iterset is not inner.toset:
                raise MapTypeError(
                    f"ComposedMap: Map '{outer.name}' starts on Set '{outer.iterset.name}', but "
                    f"Map '{inner.name}' leads to '{inner.toset.name}'"
                )
        default = "_o_".join(map_.name for map_ in maps)
        self._init_like(maps[0], maps[-1].iterset, as_name(name, "ComposedMap", default))
        self._derive(maps)

    @property
    def maps_(self) -> tuple[Map, ...]:
        """The Maps, the last applied first; tuple."""
        return self._maps

    @property
    def flattened_maps(self) -> tuple[Map, ...]:
        """The Maps, with composed Maps flattened; tuple."""
        return tuple(part for map_ in self._maps for part in map_.flattened_maps)

    @property
    def values(self) -> Array:
        """Refuse, as PyOP2 does: ghosts may lead to owned entities.

        Raises:
            NoDataError: Always; use `values_with_halo`.
        """
        raise NoDataError(f"ComposedMap '{self._name}' has no 'values'; use values_with_halo")

    @property
    def indices_active_with_halo(self) -> Array:
        """The entities without an entry -1; int64, ascending."""
        return np.flatnonzero((self.values_with_halo >= 0).all(axis=1))

    def _looked_up(self) -> Array:
        found: Array = self._maps[-1].values_with_halo
        for map_ in reversed(self._maps[:-1]):
            leads = found[:, 0] >= 0
            rows = np.full((len(found), map_.arity), -1, np.int64)
            rows[leads] = map_.values_with_halo[found[leads, 0]]
            if ((rows < 0).any(axis=1) != (rows < 0).all(axis=1)).any():
                raise ContractError(
                    f"ComposedMap '{self._name}': an element leads nowhere by some of its entries "
                    "only; give all of them -1"
                )
            found = rows
        return found

    def replace_values(self, values: Any) -> None:
        """Refuse: the values follow from the Maps."""
        raise MapValueError(f"ComposedMap '{self._name}': update the values of one of its Maps")

    def __le__(self, other: object) -> bool:
        raise UnsupportedError(f"ComposedMap '{self._name}' cannot be compared with another Map")

    def __reduce__(self) -> tuple[Any, ...]:
        return (ComposedMap, self._maps)

    def __str__(self) -> str:
        return f"OP2 ComposedMap of Maps: {', '.join(map_.name for map_ in self._maps)}"

    def __repr__(self) -> str:
        return f"ComposedMap({', '.join(repr(map_) for map_ in self._maps)})"


class GlobalMap(Map):
    """A Map from every element to the only entity of a Global.

    Between two cells of a column the Map leads there once.

    Args:
        iterset: The source Set.
        toset: The Global's Set.

    Example:
        >>> from pyop2cxx import op2
        >>> rows = op2.GlobalDataSet(op2.Global(2)).set
        >>> GlobalMap(op2.Set(2), rows).values.tolist()
        [[0], [0]]
    """

    is_of_columns = True

    def __init__(self, iterset: Set, toset: Set) -> None:
        values = np.zeros(iterset.total_size, np.int32) if iterset.is_sized else None
        super().__init__(iterset, toset, 1, values, f"{iterset.name}_to_{toset.name}")

    def numbered(self) -> Iterator[tuple[Map, Set, int]]:
        """Yield Maps with their Sets and numberings."""
        return iter(())  # the same in all numberings


class ColumnMap(Map):
    """A Map from each column, with all cells, to the entity of the base Set below.

    Two adjacent cells lead to a single entity, not to an entity each.

    Args:
        base: The base Set.
    """

    is_of_columns = True

    def __init__(self, base: Set) -> None:
        values = np.arange(base.total_size) if base.is_sized else None
        super().__init__(base, base, 1, values, f"column_of_{base.name}")

    def numbered(self) -> Iterator[tuple[Map, Set, int]]:
        """Yield Maps with their Sets and numberings."""
        return iter(())  # the same in all numberings
