# SPDX-License-Identifier: BSD-3-Clause
"""Edges and facets of a mesh, and the names of parts of it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pyop2cxx._core import mesh as room
from pyop2cxx.base.arrays import plain_array
from pyop2cxx.data.dats import Dat
from pyop2cxx.exceptions import DataValueError, SetTypeError, UnknownTagError, UsageError
from pyop2cxx.mesh.measures import normals
from pyop2cxx.runtime import runtime
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.origins import follow_tables
from pyop2cxx.sets.sets import Set, Subset

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.mesh.cells import ReferenceCell

Numbers: TypeAlias = "npt.NDArray[np.int64]"
Marker: TypeAlias = "Callable[[Array], npt.ArrayLike]"


class Tags(Mapping[str, Subset]):
    """Named parts of a Set, in the order in which they were given.

    Args:
        on: The Set.
        numbers: The entities of each part.

    Example:
        >>> tags = Tags(Set(3, "cells"), {"left": [0, 2]})
        >>> tags["left"].indices.tolist(), list(tags)
        ([0, 2], ['left'])
    """

    def __init__(self, on: Set, numbers: Mapping[str, npt.ArrayLike]) -> None:
        self._set = on
        self._parts = {name: Subset(on, np.asarray(part)) for name, part in numbers.items()}

    def __getitem__(self, name: str) -> Subset:
        """Return a part.

        Raises:
            UnknownTagError: There is none of this name; the message lists those there are.
        """
        try:
            return self._parts[name]
        except KeyError:
            known = ", ".join(map(repr, self._parts)) or "none"
            raise UnknownTagError(
                f"Set '{self._set.name}' has no tag {name!r}; it has: {known}"
            ) from None

    def __contains__(self, name: object) -> bool:
        return name in self._parts

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __repr__(self) -> str:
        counts = ", ".join(f"{name!r}: {part.size}" for name, part in self._parts.items())
        return f"Tags({{{counts}}} on Set '{self._set.name}')"


class MeshEntities:
    """All edges, or all facets, of a mesh.

    Attributes:
        set: The Set of them.
        vertices: The vertices of each, a Map of as many as an edge or facet has. Their order is
            the one of the reference cell, seen from the first cell.
        of_cells: The edges or facets of each cell, a Map in the order of the reference cell.
        crowded: The first of them that more than two cells share; -1 if there is none.
    """

    def __init__(self, cell: ReferenceCell, dim: int, cell_vertices: Map, name: str) -> None:
        corners = np.array(cell.corners[dim], np.int32)
        n_local, self._n_corners = corners.shape
        table = cell_vertices._current_table()
        assert table is not None  # a mesh's Map has values
        found = room.number_entities(table, corners, self._n_corners, n_threads())
        self._vertices = found.vertices  # arrays, which can be pickled, as `found` cannot
        self._uses = found.first_use, found.second_use
        self.crowded = int(found.crowded)
        self._n_local = n_local
        n = len(found.first_use)
        self.set = Set(n, name)
        self.vertices = Map(
            self.set,
            cell_vertices.toset,
            self._n_corners,
            found.vertices.reshape(n, self._n_corners),
            f"{name}_vertices",
        )
        self.of_cells = Map(
            cell_vertices.iterset,
            self.set,
            n_local,
            found.of_cells.reshape(-1, n_local),
            f"cell_{name}",
        )
        follow_tables(self.set, (cell_vertices, self.of_cells))

    def cells_of(self, number: int) -> list[int]:
        """The cells around one of them, as many as there are; ascending."""
        places = np.flatnonzero(self.of_cells.values == number)
        return [int(place) // self._n_local for place in places]

    def uses(self) -> tuple[Numbers, Numbers]:
        """The first and the second appearance of each in a cell, -1 where there is no second.

        Returns:
            Two arrays of shape (set.size,): ``cell * n + local``, where a cell has ``n`` of them.
        """
        return self._uses

    def find(self, vertices: Array) -> Numbers:
        """Find entities by their vertices.

        Args:
            vertices: A row of vertices, in any order, for each; shape (n, corners).

        Returns:
            Their numbers, shape (n,); -1 where the mesh has no such entity.
        """
        rows = np.ascontiguousarray(vertices, np.int32)
        found: Numbers = room.find_entities(self._vertices, rows, self._n_corners, n_threads())
        return found

    def __repr__(self) -> str:
        return f"MeshEntities({self.set.size} {self.set.name})"


class Facets:
    """The facets on the boundary of a mesh, or those between two cells.

    Attributes:
        set: The Set of them.
        cells: The cell, or the two cells, of each: a Map of arity 1 or 2. Of two, the one with the
            lower number is first.
        vertices: The vertices of each, in the order of the reference cell, seen from the first
            cell.
        local_numbers: Which facet of its cell, or of its two cells, each is: a Dat of int32 of
            dim 1 or 2.
        facets: Their numbers among all facets, a Map of arity 1 to ``mesh.facets.set``.
        tags: Named parts of them.
    """

    def __init__(
        self,
        whole: MeshEntities,
        cell_vertices: Map,
        numbers: Numbers,
        uses: npt.NDArray[np.int64],
        tags: Mapping[str, Numbers],
        name: str,
        coordinates: Dat,
    ) -> None:
        n, arity = uses.shape
        n_local = whole.of_cells.arity
        self.set = Set(n, name)
        self.cells = Map(self.set, cell_vertices.iterset, arity, uses // n_local, f"{name}_cells")
        self.vertices = Map(
            self.set,
            whole.vertices.toset,
            whole.vertices.arity,
            whole.vertices.values_with_halo[numbers],
            f"{name}_vertices",
        )
        self.local_numbers = Dat(
            self.set**arity, (uses % n_local).astype(np.int32), name=f"{name}_local_numbers"
        )
        self.facets = Map(self.set, whole.set, 1, numbers, f"{name}_numbers")
        follow_tables(self.set, (cell_vertices, self.cells))
        here = np.full(whole.set.size, -1, np.int64)
        here[numbers] = np.arange(n)
        parts = {tag: here[found][here[found] >= 0] for tag, found in tags.items()}
        self.tags = Tags(self.set, {tag: part for tag, part in parts.items() if part.size})
        self._coordinates, self._cell_vertices = coordinates, cell_vertices

    @cached_property
    def normals(self) -> Dat:
        """A Dat of vectors that stand on the facets, out of the first cell, as long as these large.

        Those of a cell add up to zero. They belong to the coordinates at the first time that they
        are asked for.

        Example:
            >>> from pyop2cxx.mesh import square_mesh
            >>> facets = square_mesh(4).exterior_facets
            >>> facets.normals.data_ro[facets.tags["left"].indices[0]].tolist()
            [-0.25, 0.0]
        """
        points = points_of(self._coordinates)
        cells = self._cell_vertices.values_with_halo[self.cells.values_with_halo[:, 0]]
        found = normals(points[self.vertices.values_with_halo], points[cells].mean(axis=1))
        found = np.asarray(found + 0.0, self._coordinates.dtype)  # no -0.0
        return Dat(self.set ** points.shape[1], found, name=f"{self.set.name}_normals")

    def where(self, marker: Marker) -> Subset:
        """Return the facets whose vertices all fulfil a condition.

        Args:
            marker: Takes coordinates of shape (gdim, n), and returns n truth values.

        Raises:
            DataValueError: It returns something else.

        Example:
            >>> from pyop2cxx.mesh import square_mesh
            >>> square_mesh(4).exterior_facets.where(lambda x: x[1] == 0).size
            4
        """
        chosen = marked_points(self._coordinates, marker)
        return Subset(self.set, np.flatnonzero(chosen[self.vertices.values].all(axis=1)))

    def vertices_of(
        self, part: str | list[str] | tuple[str, ...] | set[str] | Subset | None = None
    ) -> Subset:
        """Return the vertices of these facets, or of a part of them.

        Args:
            part: The name of a tag or several names, or a Subset of ``set``; None means all.

        Raises:
            UnknownTagError: There is no such tag.
            SetTypeError: The Subset is a part of another Set.

        Example:
            >>> from pyop2cxx.mesh import square_mesh
            >>> square_mesh(4).exterior_facets.vertices_of("left").size
            5
        """
        names = (part,) if isinstance(part, str) else part
        rows = self.vertices.values
        if isinstance(names, list | tuple | set) and all(isinstance(name, str) for name in names):
            chosen = [self.tags[name].owned_indices for name in names]
            rows = rows[np.concatenate([*chosen, np.zeros(0, np.int64)]).astype(np.int64)]
        elif isinstance(part, Subset) and part.superset is self.set:
            rows = rows[part.owned_indices]
        elif part is not None:
            raise SetTypeError(
                "vertices_of: expected a tag, a list of tags or a Subset of Set "
                f"'{self.set.name}', got {part!r}"
            )
        return Subset(self.vertices.toset, np.asarray(rows).ravel())

    def __repr__(self) -> str:
        return f"Facets({self.set.size} {self.set.name}, tags: {list(self.tags)})"


def points_of(coordinates: Dat) -> Array:
    """Return where vertices are, shape (n_vertices, gdim)."""
    return np.asarray(coordinates.data_ro).reshape(coordinates.dataset.set.size, -1)


def marked_points(coordinates: Dat, marker: Marker) -> npt.NDArray[np.bool_]:
    """Return which vertices a condition holds for, shape (n_vertices,).

    Raises:
        DataValueError: The marker does not return a truth value for each point.
    """
    points = points_of(coordinates).T
    found = plain_array(marker(points), "a marker")
    if found.shape != (points.shape[1],) or found.dtype.kind != "b":
        raise DataValueError(
            f"a marker takes points of shape {points.shape} and returns {points.shape[1]} truth "
            f"values; got shape {found.shape} of {found.dtype}"
        )
    return found


def split_facets(
    whole: MeshEntities, cell_vertices: Map, coordinates: Dat, tags: Mapping[str, Numbers]
) -> tuple[Facets, Facets]:
    """Return the facets on the boundary and those between two cells.

    Raises:
        UsageError: More than two cells share a facet.
    """
    if whole.crowded >= 0:
        vertices = whole.vertices.values[whole.crowded].tolist()
        raise UsageError(
            f"the facet with vertices {vertices} belongs to cells {whole.cells_of(whole.crowded)}; "
            "facets of a mesh have one or two"
        )
    first, second = whole.uses()
    is_outer = second < 0
    outer, inner = np.flatnonzero(is_outer), np.flatnonzero(~is_outer)
    pairs, rows = np.stack([first[inner], second[inner]], 1), cell_vertices
    return (
        Facets(whole, rows, outer, first[outer][:, None], tags, "exterior_facets", coordinates),
        Facets(whole, rows, inner, pairs, tags, "interior_facets", coordinates),
    )


def n_threads() -> int:
    """How many threads may work on a mesh."""
    return runtime.engine.n_threads
