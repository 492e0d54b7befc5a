# SPDX-License-Identifier: BSD-3-Clause
"""Extruded meshes: columns of cells over the cells of a mesh."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np

from pyop2cxx.base.arrays import is_integer, plain_array
from pyop2cxx.data.dats import Dat
from pyop2cxx.exceptions import DataValueError, UnsupportedError, UsageError
from pyop2cxx.mesh.topology import Tags, refuse_shared
from pyop2cxx.runtime import runtime, seams
from pyop2cxx.sets.extruded import ExtrudedSet
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.sets import Set, numbers_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.mesh.topology import Numbers

    Levels: TypeAlias = Callable[[Array, Array], npt.ArrayLike] | npt.ArrayLike | None

BaseMesh = TypeVar("BaseMesh")

_CELLS = {"interval": "quadrilateral", "triangle": "prism", "quadrilateral": "hexahedron"}
_FLAT = _CELLS | {"triangle": "tetrahedron"}
# Division of a prism whose corners are ordered by the numbers of the triangle's vertices: 0 1 2
# below, 3 4 5 above. Neighbours cut the quadrilateral between them along the same diagonal.
_TETS_OF_PRISM = ((0, 1, 2, 5), (0, 1, 4, 5), (0, 3, 4, 5))


class Downward(NamedTuple):
    """Maps of columns for loops that visit cells from the top down.

    Attributes:
        column_cells: The number of each cell, as `ExtrudedMesh.column_cells`.
        cell_vertices: The vertices of each cell, as `ExtrudedMesh.cell_vertices`.
    """

    column_cells: Map
    cell_vertices: Map


class ExtrudedMesh(Generic[BaseMesh]):
    """Columns of cells over the cells of a mesh, made by `Mesh.extruded`.

    All members serve loops: a loop over `columns` visits the cells of each from the bottom up, with
    the vertices of cells through `cell_vertices`, and values of cells through `column_cells`. With
    the Maps of `from_top` a loop goes from the top down. Data constant along columns stay on the
    base mesh, and are reached through its own Maps or directly.

    Attributes:
        base: The mesh below.
        columns: The extruded Set: an entity is a column. ``iteration_region=op2.ON_BOTTOM`` and
            ``op2.ON_TOP`` of a loop visit a single cell of each.
        vertices: The Set of vertices. Vertices of a vertical line are consecutive.
        cell_vertices: The vertices of each cell, first at the lower end in the order of the base
            cell, then at the upper end; starts on `columns`.
        coordinates: A Dat on the vertices, with an additional component to the base's.
        base_vertices: The vertex of the base below each vertex, shape (vertices.size,).
        levels: The level of each vertex, shape (vertices.size,): the level of a cell's lower end is
            the cell's number in the column.
        cell_tags: Named parts of the columns, from the base's cells.
        name: Used in messages.
    """

    base: BaseMesh
    columns: ExtrudedSet
    vertices: Set
    cell_vertices: Map
    coordinates: Dat
    base_vertices: Numbers
    levels: Numbers
    cell_tags: Tags
    name: str

    def __init__(
        self, base: BaseMesh, layers: int | npt.ArrayLike, levels: Levels, continuous: bool
    ) -> None:
        mesh: Any = base
        self.base, self.name = base, f"{mesh.name}_extruded"
        self.uid = runtime.next_uid()
        runtime.processes.note(self)
        if mesh.cell_type not in _CELLS or mesh.gdim > 2:
            raise UsageError(
                f"{self.name}: intervals, triangles and quadrilaterals in one or two dimensions "
                f"can be extruded; got {mesh.cell_type} cells in {mesh.gdim}"
            )
        if mesh.degree > 1 or mesh.is_periodic:
            raise UnsupportedError(
                f"{self.name}: the mesh is {'curved' if mesh.degree > 1 else 'periodic'}; only "
                "straight ones that do not close on themselves can be extruded"
            )
        self._cell_type, self._is_continuous = mesh.cell_type, continuous
        self._cells_of = _cells_of_columns(layers, mesh.cells.size, self.name)
        self.columns = ExtrudedSet(
            mesh.cells, layers + 1 if is_integer(layers) else _of_levels(self._cells_of)
        )
        self._corners = np.asarray(mesh.cell_vertices.values)
        fraction = self._number(mesh.vertices.size)
        self.vertices = Set(len(self.levels), "extruded_vertices")
        self.cell_vertices = self._map(
            self.vertices, np.concatenate([self._rows, self._rows + 1], 1), "extruded_cell_vertices"
        )
        self._set_coordinates(mesh.coordinates, levels, fraction)
        parts = {tag: part.indices for tag, part in mesh.cell_tags.items()}
        self.cell_tags = Tags(self.columns, parts)

    def on_sets(self) -> list[Set]:
        """Return the Sets of the mesh."""
        return [self.columns, self.vertices]

    def prepare_to_share(self) -> None:
        """Make the other members for loops, before `op2.distribute` shares the mesh."""
        _ = self.column_cells, self.from_top, self.sides
        _ = self.vertex_tags if not self._taken_tags() else None

    def become_shared(self) -> None:
        """Have the columns of this rank: Sets, Maps and Dats are shared already."""
        mesh: Any = self.base
        self._corners = np.asarray(mesh.cell_vertices.values_with_halo)
        self._rows = np.asarray(self.cell_vertices.values_with_halo)[:, : self._corners.shape[1]]
        self._cells_of = self._cells_of[mesh.cells.global_numbers]
        numbers = self.vertices.global_numbers
        self.levels = self.levels[numbers]
        self.base_vertices = numbers_of(mesh.vertices, self.base_vertices[numbers])

    def _map(self, to: Set, rows: Array, name: str, step: int = 1) -> Map:
        """Return a Map from the columns; rows are for the first cell, `step` leads to the next."""
        arity = rows.shape[1]
        return Map(self.columns, to, arity, rows, name, offset=[step] * arity)

    def _number(self, n_base: int) -> Array:
        """Number the vertices; return the relative height of each, from 0 to 1."""
        low, past = self._cells_of[:, :1], self._cells_of[:, 1:]
        lines = self._corners
        if self._is_continuous:  # a line of vertices over each vertex
            below = np.full(n_base, np.iinfo(np.int64).max)
            above = np.full(n_base, -1)
            np.minimum.at(below, lines, np.broadcast_to(low, lines.shape))
            np.maximum.at(above, lines, np.broadcast_to(past, lines.shape))
            below = np.minimum(below, above + 1)  # no line over a vertex without a cell
            count = above - below + 1
            first = np.cumsum(count) - count
            self._rows = first[lines] + low - below[lines]
            self.base_vertices = np.repeat(np.arange(n_base), count)
            self.levels = np.arange(count.sum()) + np.repeat(below - first, count)
            return np.asarray(self.levels / past.max())
        # a line for each corner of each column
        count = np.broadcast_to(past - low + 1, lines.shape).ravel()
        first = np.cumsum(count) - count
        self._rows = first.reshape(lines.shape)
        self.base_vertices = np.repeat(lines.ravel().astype(np.int64), count)
        place = np.arange(count.sum()) - np.repeat(first, count)
        self.levels = place + np.repeat(np.broadcast_to(low, lines.shape).ravel(), count)
        return np.asarray(place / np.repeat(count - 1, count))

    def _set_coordinates(self, below: Dat, levels: Levels, fraction: Array) -> None:
        gdim = below.cdim
        points = np.asarray(below.data_ro).reshape(-1, gdim)[self.base_vertices]
        n_levels = int(self.levels.max()) + 1
        if levels is None:
            height: Array = fraction
        elif callable(levels):
            height = plain_array(levels(points.T, fraction), f"{self.name}: levels")
        else:
            given = plain_array(levels, f"{self.name}: levels")
            if given.shape != (n_levels,):
                raise DataValueError(
                    f"{self.name}: there are {n_levels} levels, one more than cells; expected the "
                    f"height of each, got an array of shape {given.shape}"
                )
            height = given[self.levels]
        if height.shape != (len(points),) or height.dtype.kind not in "iuf":
            raise DataValueError(
                f"{self.name}: levels(x, s) takes points of shape {points.T.shape} and returns "
                f"{len(points)} real heights; got {height.dtype} of shape {height.shape}"
            )
        if not np.isfinite(height).all():
            bad = int(np.argmin(np.isfinite(height)))
            raise DataValueError(f"{self.name}: the height of vertex {bad} is {height[bad]}")
        values = np.concatenate([points, height[:, None]], 1).astype(points.dtype)
        self.coordinates = Dat(self.vertices ** (gdim + 1), values, name="extruded_coordinates")

    @property
    def cell_type(self) -> str:
        """The kind of the cells: "quadrilateral", "prism" or "hexahedron"."""
        return _CELLS[self._cell_type]

    @property
    def n_cells(self) -> int:
        """The number of cells of all columns; of a shared mesh those of the process."""
        owned = self._cells_of[: self.columns.size]
        return int((owned[:, 1] - owned[:, 0]).sum())

    @cached_property
    def cells(self) -> Set:
        """The Set of all cells, for Dats with values in each cell.

        Cells of a column are consecutive from the bottom up, columns as on `base`. With `n` cells
        in every column ``dat.data.reshape(-1, n)`` has a row for each column.
        """
        return Set(self.n_cells, "extruded_cells")

    @cached_property
    def column_cells(self) -> Map:
        """The number of the cell: a Map of arity 1 from `columns` to `cells`."""
        return self._map(self.cells, self._first_cells[:, None], "column_cells")

    @cached_property
    def from_top(self) -> Downward:
        """Maps like `column_cells` and `cell_vertices`, for loops from the top down.

        The n-th visited cell is the n-th from the top. All Maps of a loop that start on `columns`
        should have the same direction.
        """
        above = (self._cells_of[:, 1:] - self._cells_of[:, :1]) - 1
        rows = np.concatenate([self._rows, self._rows + 1], 1)
        return Downward(
            self._map(self.cells, self._first_cells[:, None] + above, "column_cells_down", -1),
            self._map(self.vertices, rows + above, "extruded_cell_vertices_down", -1),
        )

    @property
    def _first_cells(self) -> Array:
        """The number of the lowest cell of each column, shape (columns,)."""
        n_of = self._cells_of[:, 1] - self._cells_of[:, 0]
        return np.asarray(np.cumsum(n_of) - n_of)

    @cached_property
    def vertex_tags(self) -> Tags:
        """Named parts of the vertices: "lower", "upper", and parts above the base's facet tags.

        Raises:
            UsageError: The base has a facet tag "lower" or "upper".
        """
        mesh: Any = self.base
        tops = self._rows + (self._cells_of[:, 1:] - self._cells_of[:, :1])
        parts = {"lower": self._rows.ravel(), "upper": tops.ravel()}
        self._check_tags()
        for tag in mesh.facet_tags:
            chosen = np.zeros(mesh.vertices.size, np.bool_)
            chosen[mesh.vertices_of(tag).indices] = True
            parts[tag] = np.flatnonzero(chosen[self.base_vertices])
        return Tags(self.vertices, parts)

    @cached_property
    def sides(self) -> Sides:
        """The upright facets over the exterior facets of the base."""
        mesh: Any = self.base
        facets = mesh.exterior_facets
        cells = facets.cells.values[:, 0]
        return Sides(
            facets.set,
            self._rows[cells[:, None], _slots(mesh, facets)],
            self._cells_of[cells],
            self.vertices,
            {tag: part.indices for tag, part in facets.tags.items()},
        )

    @cached_property
    def flat(self) -> BaseMesh:
        """Result of `to_mesh`, made once: the mesh for forms, files and pictures.

        Raises:
            UsageError: As of `to_mesh`.
        """
        return self.to_mesh()

    def ufl_domain(self) -> Any:
        """Return the UFL domain, so ``ufl.dx(domain=mesh)`` integrates over all cells."""
        return seams.finite_elements().domain_of(self).ufl

    def to_mesh(self) -> BaseMesh:
        """Return the same as a mesh without columns, for forms, files and pictures.

        Quadrilaterals and hexahedra stay; a prism becomes three tetrahedra. Cells of a column are
        consecutive. Vertices keep their numbers. Facet tags are the base's, "lower" and "upper".

        Raises:
            UsageError: Columns have separate vertices; or there are vertices without a cell,
                because neighbours have no common level; or the base has a facet tag "lower" or
                "upper".
            UnsupportedError: Processes share the mesh.
        """
        mesh: Any = self.base
        refuse_shared(mesh.cells, f"{self.name}: to_mesh", "ask for flat before op2.distribute")
        if not self._is_continuous:
            raise UsageError(f"{self.name}: to_mesh joins columns; extrude with continuous=True")
        n_of = self._cells_of[:, 1] - self._cells_of[:, 0]
        column = np.repeat(np.arange(len(n_of)), n_of)
        place = np.arange(len(column)) - np.repeat(np.cumsum(n_of) - n_of, n_of)
        order = self._order_of_corners()
        rows = np.take_along_axis(self._rows, order, 1)
        below = rows[column] + place[:, None]
        cells = np.concatenate([below, below + 1], 1)
        if self._cell_type == "triangle":
            cells = self._upright(cells[:, _TETS_OF_PRISM].reshape(-1, 4))
            column = np.repeat(column, len(_TETS_OF_PRISM))
        if len(np.unique(cells)) != self.vertices.size:
            raise UsageError(f"{self.name}: there are vertices of no cell; give neighbours a level")
        tags = {"lower": rows, "upper": rows + n_of[:, None]}
        made: BaseMesh = mesh.from_arrays(
            _FLAT[self._cell_type],
            self.coordinates.data_ro,
            cells,
            cell_tags={
                tag: np.flatnonzero(np.isin(column, part.indices))
                for tag, part in self.cell_tags.items()
            },
            facet_tags=tags | self._side_tags(),
            name=self.name,
        )
        if runtime.processes.n > 1:  # so that `op2.distribute` takes both along
            flat: Any = made
            flat.column_of_cell = Map(flat.cells, mesh.cells, 1, column, "column_of_cell")
        return made

    def _taken_tags(self) -> set[str]:
        mesh: Any = self.base
        return {"lower", "upper"} & {*mesh.facet_tags}

    def _check_tags(self) -> None:
        if taken := self._taken_tags():
            raise UsageError(f"{self.name}: the base has facet tags {sorted(taken)}; rename them")

    def _order_of_corners(self) -> Array:
        if self._cell_type == "triangle":
            return np.argsort(self._corners, axis=1)
        return np.broadcast_to(np.arange(self._corners.shape[1]), self._corners.shape)

    def _upright(self, tets: Array) -> Array:
        """Reorient tetrahedra with negative volume."""
        x = np.asarray(self.coordinates.data_ro)[tets]
        is_turned = np.linalg.det(x[:, 1:] - x[:, :1]) < 0
        tets[is_turned, 2:] = tets[is_turned, :1:-1]
        return tets

    def _side_tags(self) -> dict[str, Array]:
        mesh: Any = self.base
        self._check_tags()
        found: dict[str, list[Array]] = {}
        for facets in (mesh.exterior_facets, mesh.interior_facets):
            for tag, rows in self._sides_of(facets):
                found.setdefault(tag, []).append(rows)
        return {tag: np.concatenate(rows) for tag, rows in found.items()}

    def _sides_of(self, facets: Any) -> Iterator[tuple[str, Array]]:
        """Yield vertices of the upright facets over each tag, within the first cells' columns."""
        slots = _slots(self.base, facets)
        for tag, part in facets.tags.items():
            cells = facets.cells.values[part.indices, 0]
            chosen = slots[part.indices]
            if self._cell_type == "triangle":
                corners = self._corners[cells[:, None], chosen]
                chosen = np.take_along_axis(chosen, np.argsort(corners, axis=1), 1)
            n_of = self._cells_of[cells, 1] - self._cells_of[cells, 0]
            rows = np.repeat(self._rows[cells[:, None], chosen], n_of, axis=0)
            place = np.arange(len(rows)) - np.repeat(np.cumsum(n_of) - n_of, n_of)
            below = rows + place[:, None]
            both = np.concatenate([below, below + 1], 1)
            is_cut = self._cell_type == "triangle"
            yield tag, both[:, ((0, 1, 3), (0, 2, 3))].reshape(-1, 3) if is_cut else both

    def __repr__(self) -> str:
        n_of = (self._cells_of[:, 1] - self._cells_of[:, 0])[: self.columns.size]
        if not len(n_of):
            return f"ExtrudedMesh('{self.name}': no columns, {self.coordinates.cdim}-D)"
        depth = f"{n_of[0]}" if (n_of == n_of[0]).all() else f"{n_of.min()} to {n_of.max()}"
        return (
            f"ExtrudedMesh('{self.name}': {len(n_of)} columns of {depth} {self.cell_type} cells, "
            f"{self.vertices.size} vertices, {self.coordinates.cdim}-D)"
        )


class Sides:
    """Upright facets: columns over the exterior facets of a mesh.

    Attributes:
        set: The extruded Set of them; an entity is a column of facets.
        vertices: The vertices of each, first at the lower end; a Map from `set`.
        tags: Named parts of them.
    """

    set: ExtrudedSet
    vertices: Map
    tags: Tags

    def __init__(
        self, on: Set, rows: Array, cells_of: Array, vertices: Set, tags: dict[str, Array]
    ) -> None:
        self.set = ExtrudedSet(on, _of_levels(cells_of))
        self.vertices = Map(
            self.set,
            vertices,
            2 * rows.shape[1],
            np.concatenate([rows, rows + 1], 1),
            "side_vertices",
            offset=[1] * (2 * rows.shape[1]),
        )
        self.tags = Tags(self.set, tags)

    def __repr__(self) -> str:
        return f"Sides({self.set.size} columns of facets, tags: {list(self.tags)})"


def _slots(mesh: Any, facets: Any) -> Array:
    """Return the corners of facets in their cells; int, shape (n, corners of a facet)."""
    table = np.array(mesh.cell.facets)
    numbers = np.asarray(facets.local_numbers.data_ro).reshape(facets.set.size, -1)
    found: Array = table[numbers[:, 0]]
    return found


def _of_levels(cells_of: Array) -> Array:
    """Return the lowest level of columns, and the highest plus 1."""
    return np.stack([cells_of[:, 0], cells_of[:, 1] + 1], 1)


def _cells_of_columns(layers: int | npt.ArrayLike, n_columns: int, what: str) -> Numbers:
    """Return the number of the lowest cell of each column, and of the highest plus 1."""
    given = plain_array(layers, what)
    if given.dtype.kind in "iu" and given.shape in ((), (n_columns,)):
        past = np.broadcast_to(given, n_columns).astype(np.int64)
        given = np.stack([np.zeros_like(past), past], 1)
    if given.dtype.kind not in "iu" or given.shape != (n_columns, 2):
        raise UsageError(
            f"{what}: layers is the number of cells of a column, an integer, or of each of the "
            f"{n_columns}, shape ({n_columns},), or the lowest cell of each and one past the "
            f"highest, shape ({n_columns}, 2); got {given.dtype} of shape {given.shape}"
        )
    found = given.astype(np.int64)
    wrong = np.flatnonzero((found[:, 0] < 0) | (found[:, 1] <= found[:, 0]))
    if wrong.size:
        bad = int(wrong[0])
        raise UsageError(
            f"{what}: a column has at least one cell, numbered from 0; column {bad} has cells "
            f"{found[bad, 0]} to {found[bad, 1] - 1}"
        )
    return found
