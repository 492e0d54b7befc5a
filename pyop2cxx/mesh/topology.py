# SPDX-License-Identifier: BSD-3-Clause
"""Edges and facets of a mesh, and named parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from pyop2cxx._core import mesh as room
from pyop2cxx.base.arrays import distinct, is_integer, plain_array
from pyop2cxx.data.dats import Dat
from pyop2cxx.exceptions import (
    DataValueError,
    SetTypeError,
    UnknownTagError,
    UnsupportedError,
    UsageError,
)
from pyop2cxx.mesh.measures import first_fold, normals
from pyop2cxx.mesh.nodes import facet_nodes
from pyop2cxx.mesh.periodic import joined
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.showing import Shown
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.origins import follow_tables
from pyop2cxx.sets.sets import Set, Subset

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    import numpy.typing as npt

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.mesh.cells import ReferenceCell
    from pyop2cxx.mesh.periodic import Seams

Numbers: TypeAlias = "npt.NDArray[np.int64]"
Marker: TypeAlias = "Callable[[Array], npt.ArrayLike]"
_AT_ONCE = 1 << 14
"""Number of facets processed at a time: so large arrays stay in caches."""
Part: TypeAlias = "str | int | Collection[str | int] | Subset | None"


class Tags(Mapping[str, Subset]):
    """Named parts of a Set, in the given order.

    A number finds the tag of the same name: ``tags[7]`` is ``tags["7"]``.

    Args:
        on: The Set.
        numbers: The entities of each part.
        elsewhere: Names of tags without any entity of the Set, for messages.
        hint: The place of other tags.

    Example:
        >>> tags = Tags(Set(3, "cells"), {"left": [0, 2], "7": [1]})
        >>> tags["left"].indices.tolist(), tags[7].indices.tolist(), list(tags)
        ([0, 2], [1], ['left', '7'])
    """

    def __init__(
        self,
        on: Set,
        numbers: Mapping[str, npt.ArrayLike],
        elsewhere: Collection[str] = (),
        hint: str = "",
    ) -> None:
        self._set = on
        self._parts = {
            name: Subset(on, plain_array(part, f"tag '{name}'")) for name, part in numbers.items()
        }
        self._elsewhere, self._hint = frozenset(elsewhere), hint

    def __getitem__(self, name: str | int) -> Subset:
        """Return a part.

        Raises:
            UnknownTagError: The name does not exist; the message lists the existing names.
        """
        called = as_tag(name)
        try:
            return self._parts[called]
        except (KeyError, TypeError):
            known = ", ".join(map(repr, self._parts)) or "none"
            hint = ""
            if isinstance(called, str) and called in self._elsewhere:
                hint = f"; tag {called!r} is in {self._hint}"
            raise UnknownTagError(
                f"Set '{self._set.name}' has no tag {name!r}; it has: {known}{hint}"
            ) from None

    def __contains__(self, name: object) -> bool:
        called = as_tag(name)
        return isinstance(called, str) and called in self._parts

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __repr__(self) -> str:
        counts = ", ".join(f"{name!r}: {part.size}" for name, part in self._parts.items())
        return f"Tags({{{counts}}} on Set '{self._set.name}')"


def as_tag(name: Any) -> Any:
    """Return the name of a tag given by name or number; other objects unchanged."""
    return str(int(name)) if is_integer(name) else name


@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """Where the cells of a mesh are.

    Attributes:
        cell: The kind of cells.
        degree: 1, or 2 where sides are curved.
        cell_nodes: The nodes of each cell, corners first, in Basix's order; a Map.
        coordinates: A Dat on the nodes.
        is_plain: Whether the nodes are just the vertices.
        seams: Seams of a periodic mesh; None otherwise.
    """

    cell: ReferenceCell
    degree: int
    cell_nodes: Map
    coordinates: Dat
    is_plain: bool
    seams: Seams | None

    def corners(self) -> Array:
        """Where the corners of each cell are, shape (n_cells, corners, gdim)."""
        found: Array = points_of(self.coordinates)[
            self.cell_nodes.values_with_halo[:, : self.cell.n_vertices]
        ]
        return found


class MeshEntities(Shown):
    """All edges, or all facets, of a mesh.

    Attributes:
        set: The Set of them.
        vertices: The vertices of each, a Map with the arity of an edge or facet. The order is the
            reference cell's, seen from the first cell.
        of_cells: The edges or facets of each cell, a Map in the order of the reference cell.
        crowded: The first entity shared by more than two cells; -1 if there is none.
    """

    def __init__(
        self, cell: ReferenceCell, dim: int, cell_vertices: Map, name: str, seams: Seams | None
    ) -> None:
        corners = np.array(cell.corners[dim], np.int32)
        self._n_local, self._n_corners = corners.shape
        table = (cell_vertices if seams is None else seams.corners).current_table()
        assert table is not None  # a mesh's Map has values
        found = room.number_entities(table, corners, self._n_corners, n_threads())
        self._vertices, self._classes = found.vertices, None
        self._uses = found.first_use, found.second_use
        self.crowded = int(found.crowded)
        of_cells = found.of_cells.reshape(-1, self._n_local)
        rows = found.vertices.reshape(-1, self._n_corners)
        if seams is not None:
            here, there = (self._among_all(side) for side in seams.pairs(cell, dim))
            self._classes = joined(len(rows), here, there)
            of_cells = self._classes[of_cells]
            self._uses, self.crowded = _uses_of(of_cells)
            cells, local = np.divmod(self._uses[0], self._n_local)
            rows = cell_vertices.values[cells[:, None], corners[local]]
        self.set = Set(len(rows), name)
        self.vertices = Map(
            self.set, cell_vertices.toset, self._n_corners, rows, f"{name}_vertices"
        )
        self.of_cells = Map(
            cell_vertices.iterset, self.set, self._n_local, of_cells, f"cell_{name}"
        )
        follow_tables(self.set, (cell_vertices, self.of_cells))

    def cells_of(self, number: int) -> list[int]:
        """Return all cells around an entity; ascending."""
        refuse_shared(self.of_cells.iterset, "cells_of")
        places = np.flatnonzero(self.of_cells.values == number)
        return [int(place) // self._n_local for place in places]

    def uses(self) -> tuple[Numbers, Numbers]:
        """The first and the second appearance of each in a cell, -1 where there is no second.

        Returns:
            Two arrays of int64, shape (set.size,): ``cell * n + local``, for cells with ``n``
            entities. If more than two cells share an entity, `crowded` is its number, else -1.
        """
        refuse_shared(self.of_cells.iterset, "uses")
        return self._uses

    def find(self, vertices: Array) -> Numbers:
        """Find entities by their vertices.

        Args:
            vertices: A row of vertices, in any order, for each; shape (n, corners). For a periodic
                mesh nodes, separate on both sides of a seam.

        Returns:
            The numbers, int64, shape (n,); -1 for a missing entity.
        """
        refuse_shared(self.of_cells.iterset, "find")
        found = self._among_all(vertices)
        if self._classes is None:
            return found
        return np.where(found < 0, -1, self._classes[found])

    def _among_all(self, vertices: Array) -> Numbers:
        """Find entities, with separate numbers on both sides of a seam."""
        rows = np.ascontiguousarray(vertices, np.int32)
        found: Numbers = room.find_entities(self._vertices, rows, self._n_corners, n_threads())
        return found

    def __repr__(self) -> str:
        return f"MeshEntities({self.set.size} {self.set.name})"

    def as_table(self) -> tuple[str, list[tuple[str, str]]]:
        """Return a title and rows, for notebooks."""
        per_cell = f"{self.of_cells.arity} of each of {self.of_cells.iterset.size} cells"
        rows = [("set", repr(self.set.name)), ("cells", per_cell)]
        return f"{self.set.size} {self.set.name}", rows


def _uses_of(of_cells: Array) -> tuple[tuple[Numbers, Numbers], int]:
    """Return the first and second use of each entity, and the first with more; -1 for none."""
    flat = of_cells.reshape(-1)
    order = np.argsort(flat, kind="stable")
    starts = np.searchsorted(flat[order], np.arange(flat.max() + 2))
    counts = np.diff(starts)
    second = order[np.minimum(starts[:-1] + 1, len(flat) - 1)]
    crowded = int(np.argmax(counts > 2)) if (counts > 2).any() else -1
    return (order[starts[:-1]], np.where(counts > 1, second, -1)), crowded


class Facets(Shown):
    """The facets on the boundary of a mesh, or between two cells.

    Attributes:
        set: The Set of them.
        cells: The cell, or the two cells, of each: a Map of arity 1 or 2. The cell with the lower
            number is first.
        vertices: The vertices of each, in the order of the reference cell, seen from the first
            cell.
        nodes: The nodes of each for ``mesh.coordinates``, seen from the first cell; the same Map as
            `vertices`, unless the mesh is curved or periodic.
        local_numbers: Index of each facet in its cell, or in its two cells: a Dat of int32 of dim 1
            or 2.
        facets: Their numbers among all facets, a Map of arity 1 to ``mesh.facets.set``.
        tags: Named parts of them.
    """

    def __init__(
        self,
        whole: MeshEntities,
        shape: Geometry,
        numbers: Numbers,
        uses: npt.NDArray[np.int64],
        tags: Mapping[str, Numbers],
        name: str,
    ) -> None:
        n, arity = uses.shape
        n_local = whole.of_cells.arity
        self.set = Set(n, name)
        cells, local = uses // n_local, uses % n_local
        self.cells = Map(self.set, whole.of_cells.iterset, arity, cells, f"{name}_cells")
        self.vertices = Map(
            self.set,
            whole.vertices.toset,
            whole.vertices.arity,
            whole.vertices.values_with_halo[numbers],
            f"{name}_vertices",
        )
        self.nodes = self.vertices
        if not shape.is_plain:
            slots = facet_nodes(shape.cell, shape.degree)[local[:, 0]]
            rows = shape.cell_nodes.values[cells[:, :1], slots]
            toset = shape.cell_nodes.toset
            self.nodes = Map(self.set, toset, slots.shape[1], rows, f"{name}_nodes")
        self.local_numbers = Dat(
            self.set**arity, local.astype(np.int32), name=f"{name}_local_numbers"
        )
        self.facets = Map(self.set, whole.set, 1, numbers, f"{name}_numbers")
        follow_tables(self.set, (shape.cell_nodes, self.cells))
        here = np.full(whole.set.size, -1, np.int64)
        here[numbers] = np.arange(n)
        parts = {tag: here[found][here[found] >= 0] for tag, found in tags.items()}
        other = "mesh.interior_facets.tags" if arity == 1 else "mesh.exterior_facets.tags"
        self.tags = Tags(
            self.set,
            {tag: part for tag, part in parts.items() if part.size},
            {tag for tag, found in tags.items() if found.size and not parts[tag].size},
            f"{other} and mesh.facet_tags",
        )
        self._shape = shape

    @cached_property
    def normals(self) -> Dat:
        """Facet normals pointing out of the first cell, scaled by facet area; a Dat of dim gdim.

        The normals of a cell sum to zero. Values are computed on first use, from the coordinates at
        the time.

        Example:
            >>> from pyop2cxx.mesh import square_mesh
            >>> facets = square_mesh(4).exterior_facets
            >>> facets.normals.data_ro[facets.tags["left"].indices[0]].tolist()
            [-0.25, 0.0]
        """
        shape, n_corners = self._shape, self.vertices.arity
        points = points_of(shape.coordinates)
        if shape.degree > 1 and (n_corners, points.shape[1]) != (2, 2):
            raise UnsupportedError(
                f"Set '{self.set.name}': normals of curved facets are not the same everywhere on "
                "them; integrate ufl's fem.FacetNormal(mesh)"
            )
        middles = shape.corners()[self.cells.values_with_halo[:, 0]].mean(axis=1)
        found = normals(points[self.nodes.values_with_halo[:, :n_corners]], middles)
        found = np.asarray(found + 0.0, shape.coordinates.dtype)  # no -0.0
        made = Dat(self.set ** points.shape[1], found, name=f"{self.set.name}_normals")
        made.halo_valid = not self.set.is_distributed
        return made

    def where(self, marker: Marker) -> Subset:
        """Return the facets with a property at all vertices; for curved facets at all nodes.

        Args:
            marker: Takes coordinates of shape (gdim, n), and returns n truth values.

        Raises:
            DataValueError: The marker returns other values.

        Example:
            >>> from pyop2cxx.mesh import square_mesh
            >>> square_mesh(4).exterior_facets.where(lambda x: x[1] == 0).size
            4
        """
        chosen = marked_points(self._shape.coordinates, marker)
        return Subset(self.set, np.flatnonzero(chosen[self.nodes.computed_values].all(axis=1)))

    def vertices_of(self, part: Part = None) -> Subset:
        """Return the vertices of the facets, or of a part of them.

        Args:
            part: The name or number of a tag or several of them, or a Subset of ``set``; None means
                all. For a tag with facets on the boundary and inside only the facets of ``set``
                count; see `Mesh.vertices_of`.

        Raises:
            UnknownTagError: The tag does not exist.
            SetTypeError: The Subset is a part of another Set.

        Example:
            >>> from pyop2cxx.mesh import square_mesh
            >>> square_mesh(4).exterior_facets.vertices_of("left").size
            5
        """
        return vertices_of(self.set, self.vertices, self.tags, part)

    def __repr__(self) -> str:
        return f"Facets({self.set.size} {self.set.name}, tags: {list(self.tags)})"

    def as_table(self) -> tuple[str, list[tuple[str, str]]]:
        """Return a title and rows, for notebooks."""
        rows = [("cells", f"{self.cells.arity} at each facet")]
        rows += [(f"tag '{name}'", f"{part.size} facets") for name, part in self.tags.items()]
        return f"{self.set.size} {self.set.name}", rows


def vertices_of(on: Set, vertices: Map, tags: Tags, part: Part) -> Subset:
    """Return the vertices of facets; see `Facets.vertices_of`.

    Args:
        on: The Set of facets.
        vertices: Vertices of each facet.
        tags: Named parts of the facets.
        part: The part.
    """
    rows = vertices.computed_values
    names = list(part) if isinstance(part, list | tuple | set | frozenset) else [part]
    if all(isinstance(name, str) or is_integer(name) for name in names):
        chosen = [_computed(tags[name]) for name in names]  # type: ignore[index]  # checked above
        rows = rows[np.concatenate([*chosen, np.zeros(0, np.int64)]).astype(np.int64)]
    elif isinstance(part, Subset) and part.superset is on:
        rows = rows[_computed(part)]
    elif part is not None:
        raise SetTypeError(
            f"vertices_of: expected a tag, a list of tags or a Subset of Set '{on.name}', got "
            f"{part!r}"
        )
    return Subset(vertices.toset, with_owners(vertices.toset, np.asarray(rows).ravel()))


def with_owners(on: Set, numbers: Array) -> Array:
    """Return entities, ascending; of a shared Set ghosts are there if their owners name them.

    Args:
        on: The Set.
        numbers: Entities; for a shared Set all processes must call.
    """
    if not on.is_distributed:
        return distinct(numbers)
    marks = Dat(on, np.zeros(on.total_size, np.uint8), name="marks")
    marks.data[distinct(numbers[(numbers >= 0) & (numbers < on.size)])] = 1
    return np.flatnonzero(marks.data_ro_with_halos)


def _computed(part: Subset) -> Array:
    """Return the entities that loops visit: of a shared Set near ghosts, too."""
    return part.indices[: part.exec_size]


def refuse_shared(cells: Set, what: str, advice: str = "ask before op2.distribute") -> None:
    """Refuse the work of a whole mesh, if `op2.distribute` has shared the cells.

    Args:
        cells: The cells.
        what: The work.
        advice: What to do instead.

    Raises:
        UnsupportedError: The cells are shared.
    """
    if cells.is_distributed:
        raise UnsupportedError(f"{what}: a process has only a part of the cells; {advice}")


def points_of(coordinates: Dat) -> Array:
    """Return where vertices are, of ghosts, too; shape (n_vertices, gdim)."""
    return np.asarray(coordinates.data_ro_with_halos).reshape(-1, coordinates.cdim)


def marked_points(coordinates: Dat, marker: Marker) -> npt.NDArray[np.bool_]:
    """Return the vertices with a property, bool, shape (n_vertices,).

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
    whole: MeshEntities, shape: Geometry, tags: Mapping[str, Numbers]
) -> tuple[Facets, Facets]:
    """Return the facets on the boundary and the facets between two cells.

    Raises:
        UsageError: More than two cells share a facet, or two cells lie on the same side.
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
    pairs = np.stack([first[inner], second[inner]], 1)
    found = (
        Facets(whole, shape, outer, first[outer][:, None], tags, "exterior_facets"),
        Facets(whole, shape, inner, pairs, tags, "interior_facets"),
    )
    if shape.seams is None:
        _check_unfolded(found[1], shape)
    return found


def _check_unfolded(inner: Facets, shape: Geometry) -> None:
    """Refuse overlapping cells, as in a periodic mesh without seams."""
    if shape.coordinates.cdim != shape.cell.tdim:
        return
    points, rows = points_of(shape.coordinates), shape.cell_nodes.values_with_halo
    n = shape.cell.n_vertices
    middles = np.asarray(sum(points[rows[:, k]] for k in range(n))) / n
    cells, nodes = inner.cells.values, inner.nodes.values[:, : inner.vertices.arity]
    for begin in range(0, inner.set.size, _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        bad = first_fold(points[nodes[part]], middles[cells[part]])
        if bad < 0:
            continue
        bad += begin
        raise UsageError(
            f"cells {inner.cells.values[bad].tolist()} lie on the same side of their facet with "
            f"vertices {inner.vertices.values[bad].tolist()}, one over the other. If the mesh "
            "closes on itself (is periodic), give coordinates for each corner of each cell, points "
            "of shape (n_cells, corners, gdim), or vertices on both sides and "
            "Mesh.from_arrays(periodic=...). Else a coordinate or a cell is wrong"
        )


def n_threads() -> int:
    """How many threads may work on a mesh."""
    return runtime.engine.n_threads
