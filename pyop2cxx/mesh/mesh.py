# SPDX-License-Identifier: BSD-3-Clause
"""Meshes with a single kind of cell: Sets, Maps, coordinates, facets, and named parts."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.arrays import distinct
from pyop2cxx.base.waiting import waiting
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.renumber import Renumbering, renumber, to_original
from pyop2cxx.exceptions import DataValueError
from pyop2cxx.mesh.cells import reference_cell
from pyop2cxx.mesh.extruded import ExtrudedMesh
from pyop2cxx.mesh.given import as_numbers, as_rows, given_arrays, new_numbers
from pyop2cxx.mesh.measures import volumes
from pyop2cxx.mesh.nodes import degree_of, node_corners
from pyop2cxx.mesh.periodic import seams_by_images, seams_by_vertices
from pyop2cxx.mesh.topology import (
    Facets,
    Geometry,
    MeshEntities,
    Tags,
    marked_points,
    points_of,
    refuse_shared,
    split_facets,
    vertices_of,
)
from pyop2cxx.runtime import runtime, seams
from pyop2cxx.runtime.processes import refuse_several
from pyop2cxx.runtime.showing import Shown
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.origins import follow_tables
from pyop2cxx.sets.sets import Set, Subset

_NO_MESHES = (
    "meshes are not carried over processes yet; make the Sets and Maps of the loops from arrays, "
    "and call op2.distribute, or run in one process"
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.mesh.cells import ReferenceCell
    from pyop2cxx.mesh.extruded import Levels
    from pyop2cxx.mesh.given import Given
    from pyop2cxx.mesh.periodic import Seams
    from pyop2cxx.mesh.topology import Marker, Numbers, Part


class Mesh(Shown):
    """Cells of a single kind, with vertices, edges and facets.

    Made by `Mesh.from_arrays`, by generators, for example `square_mesh`, or by `read`. Edges and
    facets are built on first use. Vertices of a cell and its facets are numbered as in Basix, as
    required by kernels from FFCx; see `pyop2cxx.mesh.cells`.

    Attributes:
        cell: The reference cell.
        cells: The Set of cells.
        vertices: The Set of vertices.
        cell_vertices: The vertices of each cell.
        coordinates: A Dat on `nodes`; the dim is the geometric dimension.
        shape: Geometry of the cells: the nodes, their degree, and periodic seams.
        cell_tags: Named parts of the cells, `Tags`: ``mesh.cell_tags["steel"]`` is a Subset.
        vertex_tags: Named parts of the vertices.
        renumbering: The way back to the given numbers; None if they are in use.
        is_part: Whether the mesh holds the cells of a single kind of a `MixedMesh`.
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
    shape: Geometry
    cell_tags: Tags
    vertex_tags: Tags
    renumbering: Renumbering | None
    is_part: bool
    name: str

    def __init__(
        self,
        cell_vertices: Map,
        shape: Geometry,
        *,
        cell_tags: Mapping[str, npt.ArrayLike] | None = None,
        renumbering: Renumbering | None = None,
        is_part: bool = False,
        name: str = "mesh",
    ) -> None:
        refuse_several([cell_vertices.iterset, cell_vertices.toset], f"Mesh '{name}'", _NO_MESHES)
        self.uid = runtime.next_uid()
        runtime.processes.note(self)
        self.is_part = is_part
        self.cell, self.shape, self.coordinates = shape.cell, shape, shape.coordinates
        self.cells, self.vertices = cell_vertices.iterset, cell_vertices.toset
        self.cell_vertices = cell_vertices
        for table in (cell_vertices, shape.cell_nodes):
            table.followed_by = f"Mesh '{name}'"
        self.cell_tags = Tags(self.cells, cell_tags or {})
        self.vertex_tags = Tags(self.vertices, {})
        self.renumbering = renumbering
        for on in (self.cells, self.vertices):
            follow_tables(on, (cell_vertices,), like=on)
        if not shape.is_plain:
            follow_tables(self.nodes, (shape.cell_nodes,), like=self.nodes)
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
        vertex_tags: Mapping[str, npt.ArrayLike] | None = None,
        periodic: Sequence[npt.ArrayLike] = (),
        renumber: bool = False,
        name: str = "mesh",
    ) -> Mesh:
        """Make a mesh of arrays.

        Args:
            cell_type: "interval", "triangle", "quadrilateral", "tetrahedron" or "hexahedron".
            points: Coordinates of the vertices, shape (n_vertices, gdim), real; float32 stays
                float32, other dtypes become float64. For a periodic mesh they may be given for each
                corner of each cell, shape (n_cells, corners, gdim): facets with the same vertices
                and equal up to a translation are then joined.
            cells: Vertices of each cell, shape (n_cells, vertices of a cell), integers; for
                quadrilaterals and hexahedra in tensor order. For curved cells all nodes of degree
                two in Basix's order: vertices, then middles of edges, faces, cells.
            cell_tags: For each name the numbers of cells.
            facet_tags: For each name rows of vertices of facets, shape (n, vertices of a facet),
                each row in any order.
            vertex_tags: For each name numbers of vertices.
            periodic: For each periodic direction pairs of vertices, shape (n, 2): a vertex on a
                side, and the same vertex on the opposite side. Both have points of their own, so
                cells keep their shapes; the mesh has a single vertex for both.
            renumber: Whether cells and vertices are renumbered for locality. The mesh then keeps
                the way back, in `renumbering`.
            name: Used in messages.

        Raises:
            UsageError: The kind of cell does not exist.
            DataValueError: Arrays have another shape, are not finite, or numbers are out of range;
                a cell names a vertex twice, or is given twice; a tagged facet is none of the mesh;
                both sides of a seam are divided in different ways.

        Example:
            >>> from pyop2cxx.mesh import Mesh
            >>> ring = Mesh.from_arrays("interval", [0.0, 0.5, 1.0], [[0, 1], [1, 2]],
            ...                         periodic=[[[2, 0]]])
            >>> ring.interior_facets.set.size, ring.cell_volumes.data_ro.tolist()
            (2, [0.5, 0.5])
        """
        kind = reference_cell(cell_type)
        with waiting(f"{name}: checking {len(np.asarray(cells))} cells"):
            given = given_arrays(kind, points, cells, periodic, name)
        cell_vertices, shape = _entities(kind, given)
        way = _renumbered(cell_vertices, shape) if renumber else None
        if given.is_closed:
            shape = replace(shape, seams=_seams(given, shape, way, name))
        mesh = cls(
            cell_vertices,
            shape,
            cell_tags={
                tag: as_numbers(found, cell_vertices.iterset, way, f"{name}: cell tag '{tag}'")
                for tag, found in (cell_tags or {}).items()
            },
            renumbering=way,
            name=name,
        )
        if facet_tags:
            mesh._tag_facets(facet_tags, given.is_by_corner)
        mesh._tag_vertices(vertex_tags or {}, given.is_by_corner)
        return mesh

    def on_sets(self) -> list[Set]:
        """Return the Sets of the mesh."""
        return [self.cells, self.vertices]

    def prepare_to_share(self) -> None:
        """Find the facets, before `op2.distribute` shares the mesh."""
        _ = self._sides, self.facet_tags

    def become_shared(self) -> None:
        """Have the entities of this rank: all parts are Sets, Maps and Dats, shared already."""

    @property
    def cell_type(self) -> str:
        """The kind of the cells: "interval", "triangle", "quadrilateral", ..."""
        return self.cell.name

    @property
    def tdim(self) -> int:
        """The topological dimension: of a cell."""
        return self.cell.tdim

    @property
    def gdim(self) -> int:
        """The geometric dimension: of the coordinates."""
        return self.coordinates.cdim

    @property
    def degree(self) -> int:
        """The degree of the geometry: 1, or 2 where sides are curved."""
        return self.shape.degree

    @property
    def is_periodic(self) -> bool:
        """Whether the mesh is periodic."""
        return self.shape.seams is not None

    @property
    def nodes(self) -> Set:
        """The Set of the `coordinates`: `vertices`, unless curved or periodic."""
        return self.shape.cell_nodes.toset

    @property
    def cell_nodes(self) -> Map:
        """The nodes of each cell, corners first: `cell_vertices`, unless curved or periodic."""
        return self.shape.cell_nodes

    @cached_property
    def edges(self) -> MeshEntities:
        """All edges; in an interval mesh the cells, in a flat mesh the facets."""
        return self.facets if self.tdim == 2 else self._entities(1, "edges")

    @cached_property
    def facets(self) -> MeshEntities:
        """All facets: on the boundary and between two cells."""
        return self._entities(self.tdim - 1, "facets")

    @cached_property
    def _sides(self) -> tuple[Facets, Facets]:
        return split_facets(self.facets, self.shape, self._facet_numbers)

    @property
    def exterior_facets(self) -> Facets:
        """The facets of a single cell.

        Raises:
            UsageError: More than two cells share a facet, or two cells lie on the same side of a
                facet.
        """
        return self._sides[0]

    @property
    def interior_facets(self) -> Facets:
        """The facets between two cells.

        Raises:
            UsageError: More than two cells share a facet, or two cells lie on the same side of a
                facet.
        """
        return self._sides[1]

    @cached_property
    def cell_volumes(self) -> Dat:
        """A Dat of the length, area or volume of each cell.

        Values are computed on first use, from the coordinates at the time.

        Raises:
            UsageError: Two cells lie on the same side of their facet: the mesh is periodic, but has
                no points for both sides.

        Example:
            >>> from pyop2cxx.mesh import square_mesh
            >>> square_mesh(2).cell_volumes.data_ro[:2].tolist()
            [0.125, 0.125]
        """
        if self.gdim == self.tdim:
            _ = self._sides  # refuses overlapping cells
        nodes = points_of(self.coordinates)[self.cell_nodes.values_with_halo]
        found = volumes(self.cell, nodes, self.degree).astype(self.coordinates.dtype)
        made = Dat(self.cells, found, name="cell_volumes")
        made.halo_valid = not self.cells.is_distributed
        return made

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
        """Return the vertices with a given property.

        Args:
            marker: Takes coordinates of shape (gdim, n), and returns n truth values.

        Raises:
            DataValueError: The marker returns other values.

        Example:
            >>> from pyop2cxx.mesh import square_mesh
            >>> square_mesh(4).vertices_where(lambda x: x[0] + x[1] < 0.3).indices.tolist()
            [0, 1, 5]
        """
        marked = marked_points(self.coordinates, marker)
        if self.shape.is_plain:
            return Subset(self.vertices, np.flatnonzero(marked))
        refuse_shared(self.cells, "vertices_where of a curved or periodic mesh")
        corners = self.cell_nodes.values[:, : self.cell.n_vertices]
        return Subset(self.vertices, distinct(self.cell_vertices.values[marked[corners]]))

    def vertices_of(self, part: Part) -> Subset:
        """Return the vertices of facets, both on the boundary and inside.

        Args:
            part: The name or number of a tag or several of them; or a Subset of ``facets.set``.

        Raises:
            UnknownTagError: The tag does not exist.
            SetTypeError: The Subset is a part of another Set.

        Example:
            >>> from pyop2cxx.mesh import square_mesh
            >>> square_mesh(4).vertices_of(["left", "top"]).size
            9
        """
        return vertices_of(self.facets.set, self.facets.vertices, self.facet_tags, part)

    def at_nodes(self, values: Array) -> Array:
        """Return values at vertices as values at the nodes of the geometry.

        Args:
            values: A row for each vertex, shape (vertices.size, ...).

        Returns:
            Shape (nodes.size, ...): in the middle of an edge the mean of the ends.
        """
        if self.shape.is_plain:
            return values
        refuse_shared(self.cells, "at_nodes of a curved or periodic mesh")
        found = np.zeros((self.nodes.size, *values.shape[1:]), np.result_type(values, np.float32))
        rows = self.cell_vertices.values
        for k, corners in enumerate(node_corners(self.cell, self.degree)):
            found[self.cell_nodes.values[:, k]] = values[rows[:, list(corners)]].mean(axis=1)
        return found if self.degree > 1 else found.astype(values.dtype)

    def extruded(
        self, layers: int | npt.ArrayLike, levels: Levels = None, *, continuous: bool = True
    ) -> ExtrudedMesh[Mesh]:
        """Return columns of cells over the cells of the mesh, in an additional dimension.

        Intervals become quadrilaterals, triangles prisms, quadrilaterals hexahedra.

        Args:
            layers: The number of cells of a column; or of each column, shape (cells.size,); or for
                each column the number of the lowest cell and of the highest plus 1, shape
                (cells.size, 2). Levels count from 0, the lower end of cell 0.
            levels: Heights of the levels: a number for each, or a function ``levels(x, s)`` of the
                points below, shape (gdim, n), and of relative heights, shape (n,), returning n
                heights. ``s`` goes from 0 at level 0 to 1 at the highest level of all columns, or,
                for columns with separate vertices, from the lower to the upper end of each. None
                means heights from 0 to 1.
            continuous: Whether columns share the vertices between them. Otherwise each has separate
                vertices, and neighbours may be divided in different ways.

        Raises:
            UsageError: The cells are of three dimensions, or lie on a surface in space, or a column
                has no cell.
            UnsupportedError: The mesh is curved or periodic.
            DataValueError: The number of heights is wrong, or a height is not finite.

        Example:
            >>> from pyop2cxx.mesh import square_mesh
            >>> square_mesh(2).extruded(3, lambda x, s: s * (1 + x[0]))
            ExtrudedMesh('square_mesh_extruded': 8 columns of 3 prism cells, 36 vertices, 3-D)
        """
        return ExtrudedMesh(self, layers, levels, continuous)

    def to_original(self, data: Dat | npt.ArrayLike, on: Set | None = None) -> Array:
        """Return a copy of data on cells or vertices in the given numbering.

        Args:
            data: A Dat, or an array with a row for each entity of ``on``.
            on: The Set of an array.

        Raises:
            UsageError: The array has another number of rows, or no Set was given; or the Dat was
                left out of a renumbering, or is on edges or facets of a renumbered mesh.
        """
        return to_original(data, on)

    def ufl_domain(self) -> Any:
        """Return the UFL domain, as used by ``ufl.SpatialCoordinate(mesh)``.

        Raises:
            MissingExtraError: UFL is not installed.
        """
        return seams.finite_elements().domain_of(self).ufl

    def to_pyvista(self, *dats: Dat, numbering: str = "original", **fields: Dat) -> Any:
        """Return the mesh with values for PyVista; all arrays are copies.

        Args:
            *dats: Dats on the vertices or cells, by their names; or functions, by `fem.on_mesh`.
            numbering: "original", of the mesh's source file; or "mesh", the present numbering.
            **fields: More Dats, by other names.

        Returns:
            A ``pyvista.UnstructuredGrid``; for example ``mesh.to_pyvista(u).plot()`` draws u.

        Raises:
            UsageError: A Dat is on another Set, or two have the same name.
            DatTypeError: An argument is not a Dat.
            DataTypeError: Values are complex.
            MissingExtraError: PyVista is not installed.
        """
        return seams.showing().grid(self, dats, fields, numbering)

    def _entities(self, dim: int, name: str) -> MeshEntities:
        refuse_shared(self.cells, f"{name} of '{self.name}'")
        with waiting(f"{self.name}: finding {name} of {self.cells.size} cells"):
            return MeshEntities(self.cell, dim, self.cell_vertices, name, self.shape.seams)

    def _tag_facets(self, tags: Mapping[str, npt.ArrayLike], by_vertices: bool) -> None:
        on = self.vertices if by_vertices else self.nodes
        for tag, rows in tags.items():
            what = f"{self.name}: facet tag '{tag}'"
            found = as_rows(rows, self.facets.vertices.arity, on.size, what)
            if self.renumbering is not None:
                found = new_numbers(self.renumbering, on)[found]
            if self.degree > 1 and not self.is_periodic:  # facets are found by vertices
                found = self._vertex_of_nodes()[found]
            numbers = self._by_vertices(found, what) if by_vertices else self.facets.find(found)
            if (numbers < 0).any():
                bad = int(np.argmax(numbers < 0))
                given = np.asarray(rows)[bad].tolist()
                raise DataValueError(
                    f"{what}: row {bad}: no cell has a facet with vertices {given}"
                )
            self._facet_numbers[tag] = distinct(numbers)

    def _tag_vertices(self, tags: Mapping[str, npt.ArrayLike], by_vertices: bool) -> None:
        on = self.vertices if by_vertices else self.nodes
        numbers = {}
        for tag, given in tags.items():
            what = f"{self.name}: vertex tag '{tag}'"
            rows = as_rows(np.asarray(given).reshape(-1, 1), 1, on.size, what)
            if self.renumbering is not None:
                rows = new_numbers(self.renumbering, on)[rows]
            found = rows if on is self.vertices else self._vertex_of_nodes()[rows]
            if (found < 0).any():
                bad = np.asarray(given).reshape(-1)[np.argmax(found.reshape(-1) < 0)]
                raise DataValueError(f"{what}: node {bad} is no vertex of a cell")
            numbers[tag] = distinct(found)
        self.vertex_tags = Tags(self.vertices, numbers)

    def _vertex_of_nodes(self) -> Array:
        """The vertex at each node, shape (nodes.size,); -1 where there is none."""
        found = np.full(self.nodes.size, -1)
        found[self.cell_nodes.values[:, : self.cell.n_vertices]] = self.cell_vertices.values
        return found

    def _by_vertices(self, rows: Array, what: str) -> Numbers:
        """Find facets by vertices where two may have the same; -1 for none."""
        have = np.sort(self.facets.vertices.values, axis=1)
        both = np.concatenate([have, np.sort(rows, axis=1)])
        _, which = np.unique(both, axis=0, return_inverse=True)
        which = which.reshape(-1)
        there = np.bincount(which[: len(have)], minlength=int(which.max()) + 1)
        wanted = which[len(have) :]
        if (there[wanted] > 1).any():
            bad = int(np.argmax(there[wanted] > 1))
            raise DataValueError(
                f"{what}: row {bad}: several facets have vertices {rows[bad].tolist()}; give "
                "vertices their own numbers on each side, and join them by periodic="
            )
        number = np.full(len(there), -1)
        number[which[: len(have)]] = np.arange(len(have))
        return np.asarray(number[wanted])

    def __repr__(self) -> str:
        plural = "hexahedra" if self.cell_type == "hexahedron" else f"{self.cell_type}s"
        plural = "tetrahedra" if self.cell_type == "tetrahedron" else plural
        counts = f"{self.cells.size} {plural}, {self.vertices.size} vertices, {self.gdim}-D"
        tags = dict.fromkeys([*self.cell_tags, *self._facet_numbers, *self.vertex_tags])
        parts = (", curved" if self.degree > 1 else "") + (", periodic" if self.is_periodic else "")
        parts += f", tags: {', '.join(tags)}" if tags else ""
        parts += ", renumbered" if self.renumbering else ""
        return f"Mesh('{self.name}': {counts}{parts})"


def _entities(cell: ReferenceCell, given: Given) -> tuple[Map, Geometry]:
    """Return the vertices of cells, and where they are, without seams."""
    cells, vertices = Set(len(given.nodes), "cells"), Set(given.n_vertices, "vertices")
    cell_vertices = Map(cells, vertices, cell.n_vertices, given.vertices, "cell_vertices")
    cell_nodes, is_plain = cell_vertices, given.vertex_of is None
    if not is_plain:
        nodes = Set(len(given.points), "nodes")
        cell_nodes = Map(cells, nodes, given.nodes.shape[1], given.nodes, "cell_nodes")
    on = cell_nodes.toset ** given.points.shape[1]
    shape = Geometry(
        cell=cell,
        degree=degree_of(cell, cell_nodes.arity),
        cell_nodes=cell_nodes,
        coordinates=Dat(on, given.points, name="coordinates"),
        is_plain=is_plain,
        seams=None,
    )
    return cell_vertices, shape


def _seams(given: Given, shape: Geometry, way: Renumbering | None, name: str) -> Seams:
    """Find the seams of a periodic mesh."""
    nodes, cell = shape.cell_nodes.toset, shape.cell
    corners = shape.cell_nodes
    if shape.degree > 1:
        rows = corners.values[:, : cell.n_vertices]
        corners = Map(corners.iterset, nodes, cell.n_vertices, rows, "cell_corners")
    apart = MeshEntities(cell, cell.tdim - 1, corners, "facets", None)
    outer = apart.vertices.values[apart.uses()[1] < 0]
    number = np.arange(nodes.size) if way is None else new_numbers(way, nodes)
    if not given.is_by_corner:
        to = []
        for image in given.images:
            moved = np.full(nodes.size, -1)
            moved[number] = np.where(image < 0, -1, number[image])
            to.append(moved)
        return seams_by_images(corners, outer, apart.find, to, name)
    assert given.vertex_of is not None  # given for points of each corner
    vertex_of = np.empty(nodes.size, np.int64)
    vertex_of[number] = given.vertex_of
    return seams_by_vertices(corners, outer, vertex_of, points_of(shape.coordinates), name)


def _renumbered(cell_vertices: Map, shape: Geometry) -> Renumbering:
    """Renumber in place, and say so, as numbers in the file no longer hold."""
    maps = [cell_vertices] if shape.is_plain else [shape.cell_nodes, cell_vertices]
    way = renumber(maps, [shape.coordinates], coordinates=shape.coordinates)
    runtime.logger.info(
        "mesh of %d cells: cells and vertices were renumbered for locality; mesh.to_original gives "
        "data in the numbering of the file, renumber=False keeps it",
        cell_vertices.iterset.size,
    )
    return way
