# SPDX-License-Identifier: BSD-3-Clause
"""Origins of the numbers of a Set, for files to tell numberings apart.

A Set keeps the original number of each entity. Sets of a mesh also keep the tables behind their
numbers. Sizes alone are not enough: a mesh renumbered on reading has as many vertices as the
original mesh.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from pyop2cxx.exceptions import StoredFileError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from pyop2cxx.base.arrays import Array

    Numbers: TypeAlias = npt.NDArray[np.int64]


@dataclass(slots=True)
class Way:
    """The way back from the present numbers to the original numbers of a Set.

    Attributes:
        order: The original number of each entity, shape (total_size,), int64; None for unchanged
            numbers.
    """

    order: Numbers | None = None

    def follow(self, order: Numbers) -> None:
        """Note another renumbering.

        Args:
            order: The old number of each entity i, shape (total_size,).
        """
        found = order if self.order is None else self.order[order]
        self.order = None if np.array_equal(found, np.arange(len(found))) else found


@dataclass(frozen=True, slots=True)
class Digests:
    """Digests to tell numberings of mesh entities apart; empty strings for unknown.

    Attributes:
        in_use: Digest of the present tables: Sets with equal digests have the same numbers.
        original: Digest of the cells in the mesh's original numbers: Sets with equal digests have
            the same entities, and their ways back lead to the same numbers.
    """

    in_use: str = ""
    original: str = ""

    def now(self) -> Digests:
        """Return the digests."""
        return self

    def renumbered(self) -> Digests:
        """Return the digests still valid after a renumbering."""
        return Digests("", self.original)


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """The tables of a mesh behind the numbers of a Set.

    Attributes:
        tables: Values of Maps, the vertices of each cell first; as they are now.
        ways: The ways back of cells and vertices.
        goes_back: Whether the Set has a way back; edges and facets have none, since their numbers
            and their directions change with the numbering of the mesh.
    """

    tables: tuple[Array, ...]
    ways: tuple[Way, Way]
    goes_back: bool

    @property
    def was_renumbered(self) -> bool:
        """Whether cells or vertices have other than their original numbers."""
        return any(way.order is not None for way in self.ways)

    def now(self) -> Digests:
        """Return the digests."""
        if not self.goes_back:
            return Digests(_digest(self.tables))
        cells, vertices = (way.order for way in self.ways)
        rows = self.tables[0].astype(np.int64) if vertices is None else vertices[self.tables[0]]
        original = np.sort(rows, axis=1)
        if cells is not None:
            original[cells] = original.copy()
        return Digests(_digest(self.tables), _digest((original,)))

    def renumbered(self) -> Tables:
        """Return the same object: the tables are renumbered, too."""
        return self


def follow_tables(on: Any, maps: tuple[Any, ...], like: Any = None) -> None:
    """Note the origin of the numbers of a Set.

    Args:
        on: The Set.
        maps: Maps of a mesh, the vertices of each cell first.
        like: The Set of cells or vertices with the same numbers; None for others.
    """
    if all(one.host_values is not None for one in maps):
        ways = maps[0].iterset.reordering, maps[0].toset.reordering
        on.origin = Tables(tuple(one.host_values for one in maps), ways, like is not None)
        if like is not None and like is not on:
            on.reordering.order = like.reordering.order


def rows_between(
    there: Digests, old: Callable[[], Numbers | None], on: Any, what: str, was_on: str
) -> Numbers | None:
    """Return the row of a file for each entity of a Set; None for equal numbers.

    Args:
        there: The digests of the Set in the file.
        old: Reads the way back in the file.
        on: The target Set of the values, of the same size.
        what: The file and the name of the values, for messages.
        was_on: The name of the Set in the file.

    Raises:
        StoredFileError: The values belong to another mesh, or to entities without a way back.
    """
    here = Digests() if on.origin is None else on.origin.now()
    if there.in_use and there.in_use == here.in_use:
        return None
    if there.original and here.original and there.original != here.original:
        raise StoredFileError(
            f"{what} was saved on another mesh than that of Set '{on.name}': their cells have "
            "other vertices. io.load gives the values as they were saved"
        )
    if there.in_use and here.in_use and not (there.original and here.original):
        raise StoredFileError(
            f"{what} was saved on Set '{was_on}' in another numbering than that of Set "
            f"'{on.name}', and only values on cells and vertices can be renumbered; read the mesh "
            "as it was read then, with the same renumber=, and make the space of the same element"
        )
    before = old()
    now: Numbers | None = on.reordering.order
    if before is now or (before is not None and now is not None and np.array_equal(before, now)):
        return None
    if before is None:
        return now
    places = np.empty(len(before), np.int64)
    places[before] = np.arange(len(before))
    return places if now is None else places[now]


def refuse_left_out(what: str, numbering: int, on: Any) -> None:
    """Refuse values left out of a renumbering of their Set.

    Raises:
        UsageError: The values were left out, so a file or a copy would give them to other entities.
    """
    if numbering != on.numbering:
        raise UsageError(
            f"{what} was left out when op2.renumber, or its undo, renumbered Set '{on.name}': its "
            "values belong to other entities. Give it to op2.renumber with the others before it is "
            "written or copied"
        )


def _digest(tables: tuple[Array, ...]) -> str:
    found = blake2b(digest_size=16)
    for table in tables:
        found.update(f"{table.dtype.str}{table.shape}".encode())
        found.update(np.ascontiguousarray(table).reshape(-1).view(np.uint8).data)
    return found.hexdigest()
