# SPDX-License-Identifier: BSD-3-Clause
"""``op2.i`` and ``map[op2.i[0]]``: how kernels of PyOP2's older conventions ask for entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyop2cxx.base.arrays import is_integer
from pyop2cxx.exceptions import IndexTypeError, IndexValueError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyop2cxx.sets.maps import Map
    from pyop2cxx.sets.mixed_sets import MixedMap


class IterationIndex:
    """A dimension of the space of calls of a kernel in the older conventions.

    ``op2.i[0]`` runs over the entries of a Map, ``op2.i[1]`` over the entries of a second Map.

    Args:
        index: The dimension; None for plain ``op2.i``.

    Raises:
        IndexTypeError: The index is not an integer.

    Example:
        >>> IterationIndex()[1]
        IterationIndex(1)
    """

    __slots__ = ("_index",)

    def __init__(self, index: int | None = None) -> None:
        if index is not None and not is_integer(index):
            raise IndexTypeError(f"op2.i: the index must be an integer, got {index!r}")
        self._index = None if index is None else int(index)

    @property
    def index(self) -> int | None:
        """The dimension."""
        return self._index

    def __getitem__(self, index: int) -> IterationIndex:
        return IterationIndex(index)

    def of_map(self, map_: Map | MixedMap) -> IndexedMap:
        """Return ``map[op2.i[k]]``.

        Raises:
            IndexValueError: The dimension is neither 0 nor 1.
        """
        if self._index not in (0, 1):
            raise IndexValueError(
                f"Map '{map_.name}': the dimension must be op2.i[0] or op2.i[1], got {self!r}"
            )
        return IndexedMap(map_, self._index)

    def __iter__(self) -> Iterator[IterationIndex]:
        yield self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IterationIndex):
            return NotImplemented
        return self._index == other._index

    def __hash__(self) -> int:
        return hash(self._index)

    def __str__(self) -> str:
        return f"OP2 IterationIndex: {self._index}"

    def __repr__(self) -> str:
        return f"IterationIndex({self._index!r})"


class IndexedMap:
    """All entries of a Map, in sequence: ``map[op2.i[0]]``.

    Args:
        map_: The Map, or the MixedMap.
        index: 0 or 1, the dimension.

    Attributes:
        whole: The Map.
        index: As given.
    """

    __slots__ = ("index", "whole")

    def __init__(self, map_: Map | MixedMap, index: int) -> None:
        self.whole: Any = map_
        self.index = index


i = IterationIndex()
