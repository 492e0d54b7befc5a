# SPDX-License-Identifier: BSD-3-Clause
"""``op2.i`` and ``map[op2.i[0]]``: how kernels of PyOP2's older conventions ask for entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyop2cxx.base.arrays import is_integer
from pyop2cxx.exceptions import IndexTypeError, IndexValueError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyop2cxx.data.mixed import MixedMap
    from pyop2cxx.sets.maps import Map


class IterationIndex:
    """A dimension of the space that a kernel of the older conventions is called over.

    ``op2.i[0]`` runs over the entries of a Map, ``op2.i[1]`` over those of a second one.

    Args:
        index: The dimension; None for ``op2.i`` itself.

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
    """All entries of a Map, one after the other: ``map[op2.i[0]]``.

    Args:
        map_: The Map, or the MixedMap.
        index: 0 or 1, the dimension.
    """

    __slots__ = ("index", "map_")

    def __init__(self, map_: Map | MixedMap, index: int) -> None:
        self.map_: Any = map_
        self.index = index


def indexed(map_: Map | MixedMap, index: Any) -> IndexedMap | int:
    """Return ``map[op2.i[k]]``, or the entry that ``map[k]`` means.

    Raises:
        IndexTypeError: The index is neither an integer nor made of `op2.i`.
        IndexValueError: There is no such entry, or the dimension is neither 0 nor 1.
        UnsupportedError: It is a slice.
    """
    what = f"Map '{map_.name}'"
    if isinstance(index, slice):
        raise UnsupportedError(f"{what}: slices of Maps do not exist; pass the Map, or one entry")
    if isinstance(index, IterationIndex):
        if index.index not in (0, 1):
            raise IndexValueError(
                f"{what}: the dimension must be op2.i[0] or op2.i[1], got {index!r}"
            )
        return IndexedMap(map_, index.index)
    if not is_integer(index):
        raise IndexTypeError(f"{what}: the index must be an integer or of op2.i, got {index!r}")
    if not 0 <= index < map_.arity:
        raise IndexValueError(f"{what} has entries 0 to {map_.arity - 1}, got index {index}")
    return int(index)


def plain_maps(path: Any) -> Any:
    """Return a pair of Maps without the indices of older conventions; all else as it is."""
    if not isinstance(path, tuple | list):
        return path
    return tuple(one.map_ if isinstance(one, IndexedMap) else one for one in path)


i = IterationIndex()
