# SPDX-License-Identifier: BSD-3-Clause
"""Meshes of one kind of cell: Sets, Maps, coordinates, facets, and named parts."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.arrays import distinct, plain_array
from pyop2cxx.base.waiting import waiting
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.renumber import Renumbering, renumber, to_original
from pyop2cxx.exceptions import DataValueError
from pyop2cxx.mesh.cells import ReferenceCell, reference_cell
from pyop2cxx.mesh.extruded import ExtrudedMesh
from pyop2cxx.mesh.measures import volumes
from pyop2cxx.mesh.topology import (
    Facets,
    MeshEntities,
    Tags,
    marked_points,
    points_of,
    split_facets,
)
from pyop2cxx.runtime import runtime, seams
from pyop2cxx.runtime.showing import Shown
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.origins import follow_tables
from pyop2cxx.sets.sets import Set, Subset

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.mesh.extruded import Levels
    from pyop2cxx.mesh.topology import Marker, Numbers


class Mesh(Shown):
    """Cells of one kind, their vertices, and what lies between.

    Made by `Mesh.from_arrays`, by generators such as `square_mesh`, or by `read`. Edges and facets
    are built when they are first asked for. Vertices of a cell and its facets are numbered as in
    Basix, so that kernels from FFCx run on it; see `pyop2cxx.mesh.cells`.

    Attributes:
        cell: The reference cell.
        cells: The Set of cells.
        vertices: The Set of vertices.
        cell_vertices: The vertices of each cell.
        coordinates: A Dat on the vertices; its dim is the geometric dimension.
        cell_tags: Named parts of the cells, `Tags`: ``mesh.cell_tags["steel"]`` is a Subset.
        renumbering: The way back to the numbers that were given; None if they are in use.
        name: Used in messages.

    Example:
        >>> from pyop2cxx.mesh import Mesh
        >>> mesh = Mesh.from_arrays(
        ...     "triangle",
        ...     [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]],
        ...     [[0, 1, 2], [0, 2, 3]],
        ...     facet_tags={"floor": [[0, 1]]},
        ... )
        >>> mesh
        Mesh('mesh': 2 triangles, 4 vertices, 2-D, tags: floor)
        >>> mesh.exterior_facets.set.size, mesh.interior_facets.cells.values.tolist()
        (4, [[0, 1]])
        >>> mesh.exterior_facets.tags["floor"].size
        1
    """

    cell: ReferenceCell
    cells: Set
    vertices: Set
    cell_vertices: Map
    coordinates: Dat
    cell_tags: Tags
    renumbering: Renumbering | None
    name: str

    def __init__(
        self,
        cell: ReferenceCell,
        cell_vertices: Map,
        coordinates: Dat,
        *,
        cell_tags: Mapping[str, npt.ArrayLike] | None = None,
        renumbering: Renumbering | None = None,
        name: str = "mesh",
    ) -> None:
        self.cell = cell
        self.cells, self.vertices = cell_vertices.iterset, cell_vertices.toset
        self.cell_vertices, self.coordinates = cell_vertices, coordinates
        self.cell_tags = Tags(self.cells, cell_tags or {})
        self.renumbering = renumbering
        for on in (self.cells, self.vertices):
            follow_tables(on, (cell_vertices,), like=on)
        self.name = name
        self._facet_numbers: dict[str, Numbers] = {}

    @classmethod
    def from_arrays(
        cls,
        cell_type: str,
        points: npt.ArrayLike,
        cells: npt.ArrayLike,
        *,
        cell_tags: Mapping[str, npt.ArrayLike] | None = None,
        facet_tags: Mapping[str, npt.ArrayLike] | None = None,
        renumber: bool = False,
        name: str = "mesh",
    ) -> Mesh:
        """Make a mesh of arrays.

        Args:
            cell_type: "interval", "triangle", "quadrilateral", "tetrahedron" or "hexahedron".
            points: Coordinates of the vertices, shape (n_vertices, gdim), real; float32 stays
                float32, all else becomes float64.
            cells: Vertices of each cell, shape (n_cells, vertices of a cell), integers; those of
                quadrilaterals and hexahedra in tensor order.
            cell_tags: For each name the numbers of cells.
            facet_tags: For each name rows of vertices of facets, shape (n, vertices of a facet),
                each row in any order.
            renumber: Whether cells and vertices are renumbered for locality. The mesh then keeps
                the way back, in `renumbering`.
            name: Used in messages.

        Raises:
            UsageError: There is no such kind of cell, or a cell names a vertex twice.
            DataValueError: Arrays have another shape, are not finite, or numbers are out of range;
                a tagged facet is none of the mesh.
        """
        kind = reference_cell(cell_type)
        with waiting(f"{name}: checking {len(np.asarray(cells))} cells"):
            where = _as_points(points, kind, name)
            rows = _as_cells(cells, kind, len(where), name)
        cell_set, vertex_set = Set(len(rows), "cells"), Set(len(where), "vertices")
        cell_vertices = Map(cell_set, vertex_set, kind.n_vertices, rows, "cell_vertices")
        gdim = where.shape[1]
        coordinates = Dat(vertex_set**gdim, where, name="coordinates")
        way = _renumbered(cell_vertices, coordinates) if renumber else None
        mesh = cls(
            kind,
            cell_vertices,
            coordinates,
            cell_tags={
                tag: _numbered(found, cell_set, way, f"{name}: cell tag '{tag}'")
                for tag, found in (cell_tags or {}).items()
            },
            renumbering=way,
            name=name,
        )
        if facet_tags:
            mesh._tag_facets(facet_tags)
        return mesh

    @property
    def cell_type(self) -> str:
        """The kind of its cells: "interval", "triangle", "quadrilateral", ..."""
        return self.cell.name

    @property
    def tdim(self) -> int:
        """The topological dimension: of a cell."""
        return self.cell.tdim

    @property
    def gdim(self) -> int:
        """The geometric dimension: of the coordinates."""
        return self.coordinates.cdim

    @cached_property
    def edges(self) -> MeshEntities:
        """All edges; those of an interval mesh are its cells, those of a flat one its facets."""
        return self.facets if self.tdim == 2 else self._entities(1, "edges")

    @cached_property
    def facets(self) -> MeshEntities:
        """All facets: those on the boundary and those between two cells."""
        return self._entities(self.tdim - 1, "facets")

    @cached_property
    def _sides(self) -> tuple[Facets, Facets]:
        return split_facets(self.facets, self.cell_vertices, self.coordinates, self._facet_numbers)

    @property
    def exterior_facets(self) -> Facets:
        """The facets of just one cell.

        Raises:
            UsageError: More than two cells share a facet.
        """
        return self._sides[0]

    @property
    def interior_facets(self) -> Facets:
        """The facets between two cells.

        Raises:
            UsageError: More than two cells share a facet.
        """
        return self._sides[1]

    @cached_property
    def cell_volumes(self) -> Dat:
        """A Dat of the length, area or volume of each cell.

        They belong to the coordinates at the first time that they are asked for.

        Example:
            >>> from pyop2cxx.mesh import square_mesh
            >>> square_mesh(2).cell_volumes.data_ro[:2].tolist()
            [0.125, 0.125]
        """
        corners = points_of(self.coordinates)[self.cell_vertices.values_with_halo]
        found = volumes(self.cell, corners).astype(self.coordinates.dtype)
        return Dat(self.cells, found, name="cell_volumes")

    @cached_property
    def facet_tags(self) -> Tags:
        """Named parts of all facets."""
        return Tags(self.facets.set, self._facet_numbers)

    @property
    def cell_facets(self) -> Map:
        """The facets of each cell, in the order of the reference cell."""
        return self.facets.of_cells

    @property
    def cell_edges(self) -> Map:
        """The edges of each cell, in the order of the reference cell."""
        return self.edges.of_cells

    def vertices_where(self, marker: Marker) -> Subset:
        """Return the vertices that fulfil a condition.

        Args:
            marker: Takes coordinates of shape (gdim, n), and returns n truth values.

        Raises:
            DataValueError: It returns something else.

        Example:
            >>> from pyop2cxx.mesh import square_mesh
            >>> square_mesh(4).vertices_where(lambda x: x[0] + x[1] < 0.3).indices.tolist()
            [0, 1, 5]
        """
        return Subset(self.vertices, np.flatnonzero(marked_points(self.coordinates, marker)))

    def extruded(
        self, layers: int | npt.ArrayLike, levels: Levels = None, *, continuous: bool = True
    ) -> ExtrudedMesh[Mesh]:
        """Return columns of cells over the cells of this mesh, one dimension higher.

        Intervals become quadrilaterals, triangles prisms, quadrilaterals hexahedra.

        Args:
            layers: The number of cells of a column; or of each column, shape (cells.size,); or for
                each column the number of its lowest cell and one past that of its highest, shape
                (cells.size, 2). Levels count from 0, the lower end of cell 0.
            levels: How high the levels are: a number for each, or a function ``levels(x, s)`` of
                the points below, shape (gdim, n), and how far up a vertex is, shape (n,), which
                returns n heights. ``s`` goes from 0 at level 0 to 1 at the highest level of all
                columns, or, where columns have vertices of their own, from the lower to the upper
                end of each. None means heights from 0 to 1.
            continuous: Whether columns share the vertices between them. If not, each has its own,
                so that neighbours may be divided in different ways.

        Raises:
            UsageError: The cells are of three dimensions, or lie on a surface in space, or a column
                has no cell.
            DataValueError: There are other than the right number of heights, or one is not finite.

        Example:
            >>> from pyop2cxx.mesh import square_mesh
            >>> square_mesh(2).extruded(3, lambda x, s: s * (1 + x[0]))
            ExtrudedMesh('square_mesh_extruded': 8 columns of 3 prism cells, 36 vertices, 3-D)
        """
        return ExtrudedMesh(self, layers, levels, continuous)

    def to_original(self, data: Dat | npt.ArrayLike, on: Set | None = None) -> Array:
        """Return a copy of data on cells or vertices in the numbering that was given.

        Args:
            data: A Dat, or an array with a row for each entity of ``on``.
            on: The Set that an array belongs to.

        Raises:
            UsageError: The array has another number of rows, or no Set was given with it; or the
                Dat was left out of a renumbering, or is on edges or facets of a renumbered mesh.
        """
        return to_original(data, on)

    def ufl_domain(self) -> Any:
        """Return the mesh as UFL sees it, so that ``ufl.SpatialCoordinate(mesh)`` takes it.

        Raises:
            MissingExtraError: UFL is not installed.
        """
        return seams.ufl_domain(self)

    def _entities(self, dim: int, name: str) -> MeshEntities:
        with waiting(f"{self.name}: finding {name} of {self.cells.size} cells"):
            return MeshEntities(self.cell, dim, self.cell_vertices, name)

    def _tag_facets(self, tags: Mapping[str, npt.ArrayLike]) -> None:
        for tag, rows in tags.items():
            what = f"{self.name}: facet tag '{tag}'"
            found = _as_rows(rows, self.facets.vertices.arity, self.vertices.size, what)
            if self.renumbering is not None:
                found = _new_numbers(self.renumbering, self.vertices)[found]
            numbers = self.facets.find(found)
            if (numbers < 0).any():
                bad = int(np.argmax(numbers < 0))
                given = np.asarray(rows)[bad].tolist()
                raise DataValueError(
                    f"{what}: row {bad}: no cell has a facet with vertices {given}"
                )
            self._facet_numbers[tag] = distinct(numbers)

    def __repr__(self) -> str:
        plural = "hexahedra" if self.cell_type == "hexahedron" else f"{self.cell_type}s"
        plural = "tetrahedra" if self.cell_type == "tetrahedron" else plural
        counts = f"{self.cells.size} {plural}, {self.vertices.size} vertices, {self.gdim}-D"
        tags = [*self.cell_tags, *self._facet_numbers]
        parts = (f", tags: {', '.join(tags)}" if tags else "") + (
            ", renumbered" if self.renumbering else ""
        )
        return f"Mesh('{self.name}': {counts}{parts})"


def _renumbered(cell_vertices: Map, coordinates: Dat) -> Renumbering:
    """Renumber in place, and say so, as numbers in the file no longer hold."""
    way = renumber([cell_vertices], [coordinates], coordinates=coordinates)
    runtime.logger.info(
        "mesh of %d cells: cells and vertices were renumbered for locality; mesh.to_original gives "
        "data in the numbering of the file, renumber=False keeps it",
        cell_vertices.iterset.size,
    )
    return way


def _as_points(points: npt.ArrayLike, cell: ReferenceCell, name: str) -> Array:
    given = plain_array(points, f"{name}: points")
    if given.dtype.kind not in "iuf":
        raise DataValueError(f"{name}: points must be real numbers, got {given.dtype}")
    dtype = np.float32 if given.dtype == np.float32 else np.float64
    found = np.array(given, dtype, order="C")  # a copy: renumbering moves it
    if found.ndim == 1 and cell.tdim == 1:
        found = found[:, None]
    if found.ndim != 2 or not cell.tdim <= found.shape[1] <= 3:
        raise DataValueError(
            f"{name}: points of {cell.name} cells have shape (n_vertices, gdim) with gdim "
            f"{cell.tdim} to 3, got {found.shape}"
        )
    is_finite = np.isfinite(found).all(axis=1)
    if not is_finite.all():
        bad = int(np.argmin(is_finite))
        raise DataValueError(f"{name}: point {bad} is not finite: {found[bad].tolist()}")
    return found


def _as_cells(cells: npt.ArrayLike, cell: ReferenceCell, n_vertices: int, name: str) -> Array:
    what = f"{name}: cells"
    found = _as_rows(cells, cell.n_vertices, n_vertices, what)
    if len(found) == 0:
        raise DataValueError(f"{what}: there is none")
    ordered = np.sort(found, axis=1)
    is_twice = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    if is_twice.any():
        bad = int(np.argmax(is_twice))
        raise DataValueError(f"{what}: cell {bad} names a vertex twice: {found[bad].tolist()}")
    return found.astype(np.int32)


def _as_rows(rows: npt.ArrayLike, width: int, n_vertices: int, what: str) -> Array:
    found = plain_array(rows, what)
    if found.size == 0:
        return np.empty((0, width), np.int32)
    if found.dtype.kind not in "iu" or found.ndim != 2 or found.shape[1] != width:
        raise DataValueError(
            f"{what}: expected integers of shape (n, {width}), got {found.dtype} of shape "
            f"{found.shape}"
        )
    if found.min() < 0 or found.max() >= n_vertices:
        is_wrong = ((found < 0) | (found >= n_vertices)).any(axis=1)
        bad = int(np.argmax(is_wrong))
        raise DataValueError(
            f"{what}: row {bad} names vertices {found[bad].tolist()}, there are 0 to "
            f"{n_vertices - 1}; is the numbering from 1?"
        )
    return found


def _numbered(given: npt.ArrayLike, on: Set, way: Renumbering | None, what: str) -> Array:
    found = plain_array(given, what)
    if found.size == 0:
        found = found.astype(np.int64)
    if found.dtype.kind not in "iu" or found.ndim != 1:
        raise DataValueError(
            f"{what}: expected numbers of cells, shape (n,), got {found.dtype} of shape "
            f"{found.shape}"
        )
    if found.size and (found.min() < 0 or found.max() >= on.size):
        raise DataValueError(
            f"{what}: there is no cell {found.min() if found.min() < 0 else found.max()}; there "
            f"are 0 to {on.size - 1}"
        )
    return found if way is None else _new_numbers(way, on)[found]


def _new_numbers(way: Renumbering, on: Set) -> Numbers:
    """The numbers now in use, by those that were given."""
    numbers: Numbers = way.to_original(np.arange(on.size), on)
    return numbers
