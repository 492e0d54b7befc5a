# SPDX-License-Identifier: BSD-3-Clause
"""Meshes for forms: geometry, edges, faces, and the facets of integrals."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pyop2cxx.base.arrays import plain_array
from pyop2cxx.data.dats import Dat
from pyop2cxx.exceptions import DataValueError, IndexValueError, UnsupportedError, UsageError
from pyop2cxx.fem import cells as reference
from pyop2cxx.fem._packages import basix, elements, ufl
from pyop2cxx.mesh.cells import reference_cell
from pyop2cxx.mesh.extruded import ExtrudedMesh
from pyop2cxx.mesh.mixed import MixedMesh
from pyop2cxx.mesh.nodes import node_corners
from pyop2cxx.mesh.topology import points_of, refuse_shared
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.memo import Memo, until_exit
from pyop2cxx.sets.maps import Map, map_here
from pyop2cxx.sets.sets import Set, Subset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyop2cxx.base.arrays import Array

FIRST_NAMED = 1 << 20
"""What stands in forms for the first tag that has a name; those below are numbers themselves."""

_AROUND = {"quadrilateral": (0, 1, 3, 2), "hexahedron": (0, 1, 3, 2, 4, 5, 7, 6)}
"""Tensor order of the vertices of cells that are given around their faces, as by Gmsh and VTK."""
_PART = 1 << 15
"""Cells that are checked at a time."""
_MOST_FORMS = 32
"""Of expressions, that are kept for a mesh."""


class MeshLike(Protocol):
    """Members needed of a mesh.

    Attributes:
        cells: The cells.
        vertices: The vertices.
        cell_vertices: The vertices of each cell, in Basix's order of the reference cell.
        coordinates: Coordinates of the vertices: a Dat with the dimension of the space as dim.

    A curved or periodic mesh has `degree`, `cell_nodes` (the nodes of each cell, with the
    coordinates), `is_periodic`, `edges` and `facets`, too, as in `pyop2cxx.mesh.Mesh`.
    """

    @property
    def cell_type(self) -> str:
        """Name of the reference cell, ``"triangle"`` or ``"hexahedron"`` for example."""

    cells: Set
    vertices: Set
    cell_vertices: Map
    coordinates: Dat


class Facets:
    """Facets of a mesh: of its boundary, with one cell each, or inside, with two.

    Attributes:
        set: The facets.
        cells: The cells of each, arity 1 or 2; the first is UFL's ``"+"``.
        local_numbers: The number of the facet in each cell, int32, dim 1 or 2.
        permutations: Orientation of the facet in each cell, uint8, dim 1 or 2; as in FFCx.
        tags: Subsets by name.
    """

    def __init__(self, domain: Domain, cells: Map, local_numbers: Array, tags: Any) -> None:
        self.set = cells.iterset
        self.cells = cells
        name = cells.iterset.name
        arity = cells.arity
        numbers = np.ascontiguousarray(local_numbers, np.int32)
        self.local_numbers = Dat(self.set**arity, numbers, np.int32, f"{name}_local_numbers")
        turned = domain.facet_states[cells.values, numbers]
        self.permutations = Dat(self.set**arity, turned, np.uint8, f"{name}_permutations")
        self.tags = tags

    def __repr__(self) -> str:
        return f"Facets({self.set.size} {self.set.name})"


class _Mesh(ufl.Mesh):
    """Mesh in UFL, held by all forms over the mesh."""

    def __reduce__(self) -> tuple[Any, ...]:
        raise UsageError(
            "pyop2cxx.fem: forms, and expressions of coordinates, can neither be pickled nor "
            "copied deeply; pickle their functions, constants and spaces, and write them again"
        )


class Domain:
    """Mesh with data for forms; unique for each mesh, made by `domain_of`.

    Attributes:
        mesh: The mesh.
        cell_type: Of its cells.
        tdim: Dimension of the cells.
        gdim: Dimension of the space.
        ufl: The mesh in UFL.
        cell_vertices: The vertices of each cell, in the order of kernels: of simplices
            ascending.
        cell_nodes: The nodes of each cell, as rows of the coordinates, in the same order.
        degree: Of the geometry.
        numberings: Of dofs, by element.
        derived: Forms of expressions and their tensors, until `pyop2cxx.op2.exit`.
        stand_ins: Placeholders for functions and constants in the derived forms.
        lock: Held while tensors of derived forms are in use.
    """

    def __init__(self, mesh: MeshLike) -> None:
        if isinstance(mesh, MixedMesh) or getattr(mesh, "is_part", False):
            raise UnsupportedError(
                f"pyop2cxx.fem: {mesh!r} has, or is a part of a mesh that has, several kinds of "
                "cells; there are no forms on these, but loops"
            )
        missing = [
            name
            for name in ("cell_type", "cells", "vertices", "cell_vertices", "coordinates")
            if not hasattr(mesh, name)
        ]
        if missing:
            raise UsageError(
                f"pyop2cxx.fem: a mesh has cell_type, cells, vertices, cell_vertices, coordinates; "
                f"this {type(mesh).__name__} has no {', '.join(missing)}"
            )
        self.mesh = mesh
        self.cell_type = mesh.cell_type
        self.tdim = reference.DIMS.get(self.cell_type, 0)
        self.gdim = mesh.coordinates.cdim
        n_corners = len(reference.topology(self.cell_type)[0])
        if mesh.cell_vertices.arity != n_corners:
            raise UsageError(
                f"pyop2cxx.fem: a {self.cell_type} has {n_corners} vertices, but Map "
                f"'{mesh.cell_vertices.name}' has arity {mesh.cell_vertices.arity}"
            )
        if mesh.cells.may_have_ghosts:
            raise UnsupportedError(
                f"pyop2cxx.fem: Set '{mesh.cells.name}' has cells of other processes; make "
                "function spaces of the whole mesh, and call op2.distribute afterwards"
            )
        self.uid = runtime.next_uid()
        runtime.processes.note(self)
        self.degree: int = getattr(mesh, "degree", 1)
        self._refuse_doubled()
        geometry = elements.element("P", self.cell_type, self.degree, shape=(self.gdim,))
        self.ufl = _Mesh(geometry, ufl_id=mesh.cells.uid, cargo=self)
        self._place = self._sorted_places()
        self.cell_vertices = self._kernel_vertices()
        self.cell_nodes = self._kernel_nodes()
        self._coordinates: dict[np.dtype[Any], Dat] = {}
        self.numberings: dict[Any, Any] = {}
        self.derived = Memo(_MOST_FORMS)
        self.stand_ins: dict[Any, Any] = {}
        self.lock = RLock()
        self._entities: dict[int, tuple[Array, int]] = {}
        self._maps: dict[int, Map] = {}  # of a shared mesh, from cells to edges and faces
        self._refuse_tangled()

    def __repr__(self) -> str:
        return f"<Domain of {self.mesh!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (domain_of, (self.mesh,))

    # Processes

    def on_sets(self) -> list[Set]:
        """Return the Sets of the mesh."""
        return [self.mesh.cells, self.mesh.vertices]

    @property
    def is_shared(self) -> bool:
        """Whether `op2.distribute` has shared the mesh among processes."""
        return self.mesh.cells.is_distributed

    def prepare_to_share(self) -> None:
        """Make edges, faces, and Maps from facets, before `op2.distribute` shares the mesh.

        Spaces made afterwards have dofs on these. Of spaces with dofs inside of cells only, such as
        DG, forms use facets between cells, too.
        """
        for dim in range(1, 1 if self._maps else self.tdim):
            numbers, n = self.entities(dim)
            on = self.entity_set(dim, n)
            name = f"cell_{on.name}"
            self._maps[dim] = Map(self.mesh.cells, on, numbers.shape[1], numbers, name)
        for one in (self.cell_vertices, *self._maps.values()):
            self.facet_map("exterior_facet", one)
        spaces = [one for one in self.numberings.values() if hasattr(one, "cell_dofs")]
        self.facet_map("exterior_facet", self.cell_nodes)
        self.facets("interior_facet")
        for one in spaces:
            self.facet_map("exterior_facet", one.cell_dofs)
        apart = [one for one in spaces if one.is_apart]
        for one in spaces if apart else ():
            self.facet_map("interior_facet", self.cell_nodes)
            self.facet_map("interior_facet", one.cell_dofs)

    def become_shared(self) -> None:
        """Have the cells of this rank."""
        if self._place is not None:
            self._place = self._place[self.mesh.cells.global_numbers]
        self._entities.clear()
        for name in ("corners", "_numbered_corners", "facet_states"):
            self.__dict__.pop(name, None)
        kept = getattr(self.mesh, "__dict__", {}).get("_pyop2cxx_domain")
        if kept is not None:
            kept.epoch = runtime.epoch

    def ufl_id(self) -> int:
        """Return the number that identifies a mesh in UFL."""
        return self.mesh.cells.uid

    def _refuse_tangled(self) -> None:
        """Refuse quadrilaterals and hexahedra whose Jacobian changes its sign between vertices.

        Raises:
            DataValueError: A cell is tangled, or has its vertices in another order.
        """
        around = _AROUND.get(self.cell_type)
        if around is None or self.gdim - self.tdim > 1:
            return
        corners = self._geometry.points[: len(around)]
        found, nodes = self.mesh.cell_vertices.computed_values, self.cell_nodes.computed_values
        for start in range(0, len(nodes), _PART):
            bad = _tangled(self.jacobians(corners, nodes[start : start + _PART]))
            if not bad.size:
                continue
            cell = start + int(bad[0])
            turned = nodes[[cell]]
            turned[:, : len(around)] = nodes[cell, list(around)]
            hint = "move its vertices"
            if not _tangled(self.jacobians(corners, turned)).size:
                hint = (
                    "its vertices go around the cell; give them in tensor order, "
                    f"cells[:, {[*around]}]"
                )
            raise DataValueError(
                f"pyop2cxx.fem: cell {cell} of {self.mesh!r}, with vertices "
                f"{found[cell].tolist()}, is turned inside out at some of its vertices: {hint}"
            )

    def _sorted_places(self) -> Array | None:
        """Return each vertex's place in ascending order, of simplices; None if all are sorted."""
        given = self.mesh.cell_vertices.values
        if self.cell_type not in reference.SIMPLICES or (given[:, 1:] > given[:, :-1]).all():
            return None
        return np.argsort(np.argsort(given, axis=1), axis=1)

    def _kernel_vertices(self) -> Map:
        mesh = self.mesh
        if self._place is None:
            return mesh.cell_vertices
        ordered = np.sort(mesh.cell_vertices.values, axis=1)
        name = f"ascending_{mesh.cell_vertices.name}"
        return Map(mesh.cells, mesh.vertices, ordered.shape[1], ordered, name)

    def _refuse_doubled(self) -> None:
        """Refuse meshes with cells on top of each other, or with a vertex twice in a cell."""
        if self.gdim == self.tdim:
            _ = getattr(self.mesh, "interior_facets", None)  # a Mesh checks the cells here
        rows = np.sort(self.mesh.cell_vertices.values, axis=1)
        is_twice = (rows[:, 1:] == rows[:, :-1]).any(axis=1)
        if is_twice.any():
            raise UnsupportedError(
                f"pyop2cxx.fem: cell {int(np.argmax(is_twice))} has a vertex twice, as the mesh "
                "closes on itself after one cell; finite elements need two cells around"
            )

    def _columns(self, subsets: Sequence[Sequence[int]]) -> Array:
        """Return columns of the mesh's Maps for edges, faces or nodes given by corners.

        Args:
            subsets: The corners of each entity in the reference cell.

        Returns:
            Shape (n_cells, n): the column of the mesh for each entity of the kernel.
        """
        if self._place is None:
            return np.broadcast_to(np.arange(len(subsets)), (len(self.corners), len(subsets)))
        bits = 1 << np.argsort(self._place, axis=1)
        table = np.zeros(1 << bits.shape[1], np.int64)
        for k, corners in enumerate(subsets):
            table[sum(1 << i for i in corners)] = k
        masks = [bits[:, list(corners)].sum(axis=1) for corners in subsets]
        return np.asarray(table[np.stack(masks, axis=1)])

    def _kernel_nodes(self) -> Map:
        given = getattr(self.mesh, "cell_nodes", self.mesh.cell_vertices)
        if given is self.mesh.cell_vertices:
            return self.cell_vertices
        if self._place is None:
            found: Map = given
            return found
        columns = self._columns(node_corners(reference_cell(self.cell_type), self.degree))
        rows = np.take_along_axis(np.asarray(given.values), columns, axis=1)
        return Map(self.mesh.cells, given.toset, given.arity, rows, f"ascending_{given.name}")

    def coordinates(self, dtype: np.dtype[Any]) -> Dat:
        """Return the coordinates of vertices in a precision; the mesh's own Dat if possible."""
        own = self.mesh.coordinates
        if own.dtype == dtype:
            return own
        if dtype not in self._coordinates:
            self._coordinates[dtype] = Dat(own.dataset, dtype=dtype, name=f"{own.name}_{dtype}")
        copied = self._coordinates[dtype]
        copied.data_wo_with_halos[...] = own.data_ro_with_halos
        return copied

    @cached_property
    def corners(self) -> Array:
        """Vertices of each cell, in the order of kernels; shape (n_cells, n).

        Of a shared mesh the cells are those that loops visit: near ghosts, too.
        """
        return np.asarray(self.cell_vertices.computed_values)

    @cached_property
    def _numbered_corners(self) -> Array:
        """The corners in the numbers of the whole mesh, on which orientations depend."""
        return self.mesh.vertices.global_numbers[self.corners] if self.is_shared else self.corners

    def entities(self, dim: int) -> tuple[Array, int]:
        """Return the numbers of the entities of each cell, shape (n_cells, n), and their count.

        Args:
            dim: 0, 1, 2, 3; at most the dimension of the cells.
        """
        if dim == 0:
            return self.corners, self.mesh.vertices.size
        if dim == self.tdim:
            return np.arange(len(self.corners))[:, None], len(self.corners)
        if self.is_shared:
            return np.asarray(self._maps[dim].computed_values), self._maps[dim].toset.size
        if dim not in self._entities and getattr(self.mesh, "is_periodic", False):
            # two facets may have the same vertices, so the mesh's numbers are used
            mesh: Any = self.mesh
            found = mesh.facets if dim == self.tdim - 1 else mesh.edges
            columns = self._columns(reference.topology(self.cell_type)[dim])
            numbers = np.take_along_axis(np.asarray(found.of_cells.values), columns, axis=1)
            self._entities[dim] = (numbers.astype(np.int64), found.set.size)
        if dim not in self._entities:
            local = np.array(reference.topology(self.cell_type)[dim])
            n_vertices = self.mesh.vertices.size
            self._entities[dim] = reference.numbered(self.corners[:, local], n_vertices)
        return self._entities[dim]

    def entity_set(self, dim: int, n: int) -> Set:
        """Return the Set of the entities of a dimension.

        Args:
            dim: 0, 1, 2, 3; at most the dimension of the cells.
            n: How many there are, of a mesh that is not shared.
        """
        if dim in (0, self.tdim):
            return self.mesh.vertices if dim == 0 else self.mesh.cells
        return self._maps[dim].toset if self.is_shared else Set(n, f"entities_{dim}")

    def states(self, dim: int, entity: int) -> Array:
        """Return the orientation of an edge or a face of each cell; see `cells.states`."""
        local = np.array(reference.topology(self.cell_type)[dim][entity])
        return reference.states(self._numbered_corners[:, local])

    @cached_property
    def facet_states(self) -> Array:
        """Orientation of each cell's facets."""
        lists = reference.topology(self.cell_type)[self.tdim - 1]
        corners = self._numbered_corners
        columns = [reference.permutations(corners[:, np.array(one)]) for one in lists]
        return np.stack(columns, axis=1)

    def facets(self, kind: str) -> Facets:
        """Return the facets of integrals.

        Args:
            kind: ``"exterior_facet"`` or ``"interior_facet"``.
        """
        return self._exterior if kind == "exterior_facet" else self._interior

    @cached_property
    def _exterior(self) -> Facets:
        given = getattr(self.mesh, "exterior_facets", None)
        return self._found_facets(1) if given is None else self._given_facets(given)

    @cached_property
    def _interior(self) -> Facets:
        given = getattr(self.mesh, "interior_facets", None)
        return self._found_facets(2) if given is None else self._given_facets(given)

    def _given_facets(self, given: Any) -> Facets:
        """Take the mesh's own facets; a sorted simplex numbers facets in another order."""
        numbers = np.asarray(given.local_numbers.data_ro).reshape(given.set.size, given.cells.arity)
        if self._place is not None:  # the number of a facet is the number of the opposite vertex
            numbers = self._place[given.cells.values, numbers]
        return Facets(self, given.cells, numbers, getattr(given, "tags", None))

    def _found_facets(self, n_cells: int) -> Facets:
        """Find the facets of as many cells."""
        numbers, n = self.entities(self.tdim - 1)
        flat = numbers.reshape(-1)
        order = np.argsort(flat, kind="stable")
        starts = np.searchsorted(flat[order], np.arange(n + 1))
        first = starts[:-1][np.diff(starts) == n_cells]
        places = order[first[:, None] + np.arange(n_cells)]
        found, local = np.divmod(places, numbers.shape[1])
        name = "exterior_facets" if n_cells == 1 else "interior_facets"
        facets = Set(len(found), name)
        map_ = Map(facets, self.mesh.cells, n_cells, found, f"{name}_cells")
        return Facets(self, map_, local, None)

    def facet_map(self, kind: str, map_: Map) -> Map:
        """Return the composition of a Map from cells with the Map from facets to cells."""
        facets = self.facets(kind)
        key = (kind, map_.uid)
        if key not in self.numberings:
            if kind == "interior_facet" and not map_.is_inside:
                refuse_shared(
                    self.mesh.cells, f"the first integral over {facets.set.name} of '{map_.name}'"
                )
            cells = facets.cells.computed_values
            values = map_.values_with_halo[cells].reshape(
                facets.set.exec_size, facets.cells.arity * map_.arity
            )
            name = f"{facets.set.name}_{map_.name}"
            if self.is_shared and self.is_any((values < 0).any(), name):
                refuse_shared(self.mesh.cells, f"the first integral over '{name}'")
            self.numberings[key] = map_here(facets.set, map_.toset, values, name)
        found: Map = self.numberings[key]
        return found

    def is_any(self, is_here: Any, what: str) -> bool:
        """Say whether a fact holds on a rank of a shared mesh."""
        ranks = self.mesh.cells.ranks
        return bool(runtime.processes.combined(ranks, np.array(is_here, int), "sum", what))

    def part(self, kind: str, number: int) -> Set:
        """Return the cells or facets of a subdomain.

        Args:
            kind: Of integral.
            number: The number in a form: the key of a tag, or for names `FIRST_NAMED` plus the
                place of the tag.

        Raises:
            IndexValueError: No subdomain has the number.
        """
        tags = self.tags(kind)
        if isinstance(tags, Mapping) and number >= FIRST_NAMED:
            return self._as_part(tags[list(tags)[number - FIRST_NAMED]], self._whole(kind))
        found = self.tagged(kind, number)
        if found is None:
            raise IndexValueError(f"pyop2cxx.fem: {self.no_tag(kind, number)}")
        return found

    def tagged(self, kind: str, tag: str | int) -> Subset | None:
        """Return the cells or facets of a tag; None where there are none.

        Args:
            kind: Of integral.
            tag: The name or number of the tag.
        """
        tags = self.tags(kind)
        if isinstance(tags, Mapping):
            name = next((name for name in (tag, str(tag)) if name in tags), None)
            return None if name is None else self._as_part(tags[name], self._whole(kind))
        if tags is None or isinstance(tag, str):
            return None
        values = plain_array(getattr(tags, "data_ro", tags), "subdomain_data").reshape(-1)
        indices = np.flatnonzero(values == tag)
        return Subset(self._whole(kind), indices) if indices.size else None

    def no_tag(self, kind: str, tag: str | int) -> str:
        """Return a message with the existing tags, and other kinds with the same tag."""
        other = {"exterior_facet": "interior_facet", "interior_facet": "exterior_facet"}.get(kind)
        where = {"exterior_facet": "on the boundary: fem.ds", "interior_facet": "inside: fem.dS"}
        hint = ""
        if other and hasattr(self.mesh, f"{other}s") and self.tagged(other, tag) is not None:
            hint = f". All facets of tag {tag!r} are {where[other]}(mesh, {tag!r})"
        noun = "tag" if isinstance(tag, str) else "subdomain"
        name = self._whole(kind).name
        return f"Set '{name}': there is no {noun} {tag!r}; there are: {self.known(kind)}{hint}"

    def known(self, kind: str) -> str:
        """Return the names or numbers of tags, for messages."""
        tags = self.tags(kind)
        if tags is None or isinstance(tags, Mapping):
            return ", ".join(map(repr, tags or ())) or "none"
        return ", ".join(map(str, np.unique(getattr(tags, "data_ro", tags))))

    def _whole(self, kind: str) -> Set:
        return self.mesh.cells if kind == "cell" else self.facets(kind).set

    def tags(self, kind: str) -> Any:
        """Return the named parts of the cells or the facets of an integral."""
        if kind == "cell":
            return getattr(self.mesh, "cell_tags", None)
        return self.facets(kind).tags

    @staticmethod
    def _as_part(found: Any, whole: Set) -> Subset:
        return found if isinstance(found, Subset) else Subset(whole, found)

    def at(self, points: Array) -> Array:
        """Return the coordinates in each cell of points of the reference cell.

        Args:
            points: Shape (n, tdim).

        Returns:
            Shape (n_cells, n, gdim).
        """
        # rounded, so that points on a vertex, or on an axis, are exact
        values = np.round(self._geometry.tabulate(0, points)[0, :, :, 0], 14)
        where = points_of(self.mesh.coordinates)[self.cell_nodes.computed_values]
        found: Array = np.einsum("qv,cvd->cqd", values, where)
        return found

    def jacobians(self, points: Array, nodes: Array | None = None) -> Array:
        """Return derivatives of the map from the reference cell at points of each cell.

        Args:
            points: Shape (n, tdim).
            nodes: Rows of the coordinates for each cell, shape (n_cells, n); None means those of
                all cells.

        Returns:
            Shape (n_cells, n, gdim, tdim).
        """
        slopes = self._geometry.tabulate(1, points)[1:, :, :, 0]
        nodes = self.cell_nodes.computed_values if nodes is None else nodes
        where = points_of(self.mesh.coordinates)[nodes]
        found: Array = np.einsum("tqv,cvd->cqdt", slopes, where)
        return found

    @cached_property
    def _geometry(self) -> Any:
        cell = reference.basix_cell(self.cell_type)
        return basix.create_element(
            basix.ElementFamily.P, cell, self.degree, basix.LagrangeVariant.gll_warped
        )


def _tangled(jacobians: Array) -> Array:
    """Return the cells with volumes of both signs; on surfaces normals are compared.

    Args:
        jacobians: Shape (n_cells, n, gdim, tdim).
    """
    columns = np.moveaxis(jacobians, (2, 3), (1, 0))  # np.linalg.det takes ten times as long
    if jacobians.shape[2] == 2:
        (a, b), (c, d) = columns
        volumes = a * d - b * c
    else:
        normals = np.cross(columns[0], columns[1], axis=0)
        volumes = np.sum(normals * (columns[2] if len(columns) > 2 else normals[..., :1]), axis=0)
    least, most = volumes.min(axis=1), volumes.max(axis=1)
    rounding = 1e-10 * np.maximum(-least, most)
    return np.flatnonzero((least < -rounding) & (most > rounding))


class _Key:
    """Mesh as a key, compared by identity."""

    __slots__ = ("mesh",)

    def __init__(self, mesh: Any) -> None:
        self.mesh = mesh

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and other.mesh is self.mesh

    def __hash__(self) -> int:
        return id(self.mesh)


def domain_of(mesh: Any) -> Domain:
    """Return the `Domain` of a mesh; always the same object for a mesh.

    Args:
        mesh: A mesh; or a space or function on it. Of an extruded mesh, the mesh without columns.

    Raises:
        UsageError: No mesh, or an extruded mesh refused by `ExtrudedMesh.to_mesh`.
        UnsupportedError: The type of cells has no finite elements here.
    """
    found = getattr(getattr(mesh, "space", mesh), "domain", None)
    if isinstance(found, Domain):
        return found
    mesh = mesh.flat if isinstance(mesh, ExtrudedMesh) else mesh
    if not hasattr(mesh, "__dict__"):
        return _made(_Key(mesh))
    kept = mesh.__dict__.get("_pyop2cxx_domain")
    is_known = kept is not None and kept.domain is not None and kept.domain.mesh is mesh
    if not is_known or (kept.epoch != runtime.epoch and not kept.domain.is_shared):
        kept = _Kept(runtime.epoch, Domain(mesh))
        mesh.__dict__["_pyop2cxx_domain"] = kept  # so that both are dropped together
    made: Domain = kept.domain
    return made


class _Kept:
    """Domain of a mesh, kept in the mesh; copies of the mesh and pickles have none."""

    def __init__(self, epoch: int | None = None, domain: Domain | None = None) -> None:
        self.epoch, self.domain = epoch, domain

    def __reduce__(self) -> tuple[Any, ...]:
        return _Kept, ()


@until_exit(16)
def _made(key: _Key) -> Domain:
    return Domain(key.mesh)
