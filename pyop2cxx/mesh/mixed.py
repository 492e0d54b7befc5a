# SPDX-License-Identifier: BSD-3-Clause
"""Meshes with several kinds of cells and common vertices."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.arrays import distinct
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.renumber import Renumbering, renumber
from pyop2cxx.exceptions import DataValueError, UsageError
from pyop2cxx.mesh.cells import CELLS
from pyop2cxx.mesh.given import as_mixed, as_numbers, as_rows, new_numbers
from pyop2cxx.mesh.measures import first_fold, normals, volumes
from pyop2cxx.mesh.mesh import Mesh
from pyop2cxx.mesh.topology import Geometry, Tags, points_of
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.showing import Shown
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.sets import Set

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.mesh.cells import Corners

_FACETS: Mapping[str, Corners] = {
    **{name: cell.facets for name, cell in CELLS.items()},
    "prism": ((0, 1, 2), (0, 1, 3, 4), (0, 2, 3, 5), (1, 2, 4, 5), (3, 4, 5)),
    "pyramid": ((0, 1, 2, 3), (0, 1, 4), (0, 2, 4), (1, 3, 4), (2, 3, 4)),
}
N_CORNERS: Mapping[str, int] = {
    **{name: cell.n_vertices for name, cell in CELLS.items()},
    "prism": 6,
    "pyramid": 5,
}
"""The kinds of cells, and how many vertices they have."""
_AS_HEXAHEDRON = {"prism": [0, 1, 2, 2, 3, 4, 5, 5], "pyramid": [0, 1, 2, 3, 4, 4, 4, 4]}
_FACET_KINDS = {1: "point", 2: "interval", 3: "triangle", 4: "quadrilateral"}


class MixedFacets:
    """Facets of cells of given kinds: on the boundary, or between two cells.

    Attributes:
        set: The Set of them.
        vertices: The vertices of each, in the order of the reference cell, seen from the first
            cell.
        cells: A Map of arity 1 to the cell of each; of facets between two cells two Maps.
        local_numbers: Index of each facet in its cell, or in its two cells: a Dat of int32 of dim 1
            or 2.
        tags: Named parts of them.
    """

    set: Set
    vertices: Map
    cells: tuple[Map, ...]
    local_numbers: Dat
    tags: Tags

    def __init__(
        self,
        kinds: tuple[str, ...],
        mesh: MixedMesh,
        rows: Array,
        uses: list[tuple[Array, Array]],
        tags: Mapping[str, Array],
    ) -> None:
        name = "_".join(kinds) + "_facets"
        self.set = Set(len(rows), name)
        self.vertices = Map(self.set, mesh.vertices, rows.shape[1], rows, f"{name}_vertices")
        self.cells = tuple(
            Map(self.set, mesh.cells[kind], 1, cells, f"{name}_{kind}")
            for kind, (cells, _) in zip(kinds, uses, strict=True)
        )
        local = np.stack([numbers for _, numbers in uses], axis=1)
        dim = len(uses)
        self.local_numbers = Dat(self.set**dim, local.astype(np.int32), name=f"{name}_local")
        self.tags = Tags(self.set, tags)
        self._coordinates, self._corners = mesh.coordinates, mesh.cell_vertices[kinds[0]]
        if dim == 2 and mesh.gdim == mesh.tdim:
            middles = [mesh.middles(k)[cells] for k, (cells, _) in zip(kinds, uses, strict=True)]
            self._check_unfolded(np.stack(middles, axis=1))

    def _check_unfolded(self, middles: Array) -> None:
        points = points_of(self._coordinates)[self.vertices.values]
        bad = first_fold(points, middles)
        if bad >= 0:
            cells = [int(path.values[bad, 0]) for path in self.cells]
            raise UsageError(
                f"Set '{self.set.name}': cells {cells} lie on the same side of their facet with "
                f"vertices {self.vertices.values[bad].tolist()}, one over the other"
            )

    @cached_property
    def normals(self) -> Dat:
        """Facet normals pointing out of the first cell, scaled by facet area; a Dat of dim gdim."""
        points = points_of(self._coordinates)
        corners = self._corners.values_with_halo[self.cells[0].values_with_halo[:, 0]]
        middles = points[corners].mean(axis=1)
        found = normals(points[self.vertices.values_with_halo], middles) + 0.0
        values = np.asarray(found, self._coordinates.dtype)
        made = Dat(self.set ** points.shape[1], values, name=f"{self.set.name}_normals")
        made.halo_valid = not self.set.is_distributed
        return made

    def __repr__(self) -> str:
        return f"MixedFacets({self.set.size} {self.set.name}, tags: {list(self.tags)})"


class MixedMesh(Shown):
    """Cells of several kinds, and their common vertices; made by `read_mixed` or of arrays.

    There is a Set for each kind of cells, and a loop runs over a single Set. Vertices and facets of
    cells are numbered as in Basix. Forms are not supported.

    Args:
        points: Coordinates of the vertices, shape (n_vertices, gdim).
        cells: For each kind, as "triangle" or "prism", the vertices of its cells, shape (n_cells,
            vertices of a cell).
        cell_tags: For each name numbers of cells, by kind.
        facet_tags: For each name rows of vertices of facets, an array for each kind of facet.
        renumber: Whether cells and vertices are renumbered for locality.
        name: Used in messages.

    Attributes:
        cells: The Set of cells of each kind.
        vertices: The Set of vertices.
        cell_vertices: The vertices of cells of each kind.
        coordinates: A Dat on the vertices.
        cell_tags: Named parts of the cells of each kind: ``cell_tags["triangle"]["steel"]``.
        tdim: The topological dimension.
        renumbering: The way back to the given numbers; None if they are in use.
        name: Used in messages.

    Raises:
        UsageError: A kind of cell does not exist, or kinds have different dimensions.
        DataValueError: As of `Mesh.from_arrays`.

    Example:
        >>> mesh = MixedMesh([[0, 0], [1, 0], [2, 0], [0, 1], [1, 1]],
        ...                  {"quadrilateral": [[0, 1, 3, 4]], "triangle": [[1, 2, 4]]})
        >>> mesh
        MixedMesh('mesh': 1 quadrilateral, 1 triangle, 5 vertices, 2-D)
        >>> {kinds: facets.set.size for kinds, facets in mesh.interior_facets.items()}
        {('quadrilateral', 'triangle', 'interval'): 1}
    """

    cells: dict[str, Set]
    vertices: Set
    cell_vertices: dict[str, Map]
    coordinates: Dat
    cell_tags: dict[str, Tags]
    tdim: int
    renumbering: Renumbering | None
    name: str

    def __init__(
        self,
        points: npt.ArrayLike,
        cells: Mapping[str, npt.ArrayLike],
        *,
        cell_tags: Mapping[str, Mapping[str, npt.ArrayLike]] | None = None,
        facet_tags: Mapping[str, Sequence[npt.ArrayLike]] | None = None,
        renumber: bool = False,
        name: str = "mesh",
    ) -> None:
        self.name, self.tdim = name, _dimension(cells, name)
        self.uid = runtime.next_uid()
        runtime.processes.note(self)
        where, rows = as_mixed(points, cells, N_CORNERS, self.tdim, name)
        self.vertices = Set(len(where), "vertices")
        self.cells = {kind: Set(len(part), f"{kind}_cells") for kind, part in rows.items()}
        self.cell_vertices = {
            kind: Map(self.cells[kind], self.vertices, part.shape[1], part, f"{kind}_vertices")
            for kind, part in rows.items()
        }
        self.coordinates = Dat(self.vertices ** where.shape[1], where, name="coordinates")
        self.renumbering = self._renumbered() if renumber else None
        self.cell_tags = self._tags_of_cells(cell_tags or {})
        self._sides = {
            tag: [self._checked(tag, part) for part in parts]
            for tag, parts in (facet_tags or {}).items()
        }

    def on_sets(self) -> list[Set]:
        """Return the Sets of the mesh."""
        return [*self.cells.values(), self.vertices]

    def prepare_to_share(self) -> None:
        """Find the facets and the parts, before `op2.distribute` shares the mesh."""
        _ = self._facets
        for part in self.parts.values():
            part.prepare_to_share()

    def become_shared(self) -> None:
        """Have the entities of this rank: all parts are Sets, Maps and Dats, shared already."""

    @property
    def gdim(self) -> int:
        """The geometric dimension: of the coordinates."""
        return self.coordinates.cdim

    @cached_property
    def cell_volumes(self) -> dict[str, Dat]:
        """For each kind a Dat of the length, area or volume of each cell."""
        found = {}
        for kind, cells in self.cells.items():
            corners = self._corners(kind)
            cell = CELLS.get(kind, CELLS["hexahedron"])
            sizes = volumes(cell, corners[:, _AS_HEXAHEDRON.get(kind, slice(None))])
            values = sizes.astype(self.coordinates.dtype)
            found[kind] = Dat(cells, values, name=f"{kind}_volumes")
            found[kind].halo_valid = not cells.is_distributed
        return found

    @cached_property
    def parts(self) -> dict[str, Mesh]:
        """The cells of each kind as a `Mesh`, with the same Sets, for pictures and files.

        Facets to cells of another kind become exterior facets of a part. There are no parts for
        prisms and pyramids.
        """
        return {
            kind: Mesh(
                cell_vertices,
                Geometry(
                    cell=CELLS[kind],
                    degree=1,
                    cell_nodes=cell_vertices,
                    coordinates=self.coordinates,
                    is_plain=True,
                    seams=None,
                ),
                cell_tags={tag: part.indices for tag, part in self.cell_tags[kind].items()},
                renumbering=self.renumbering,
                is_part=True,
                name=f"{self.name}_{kind}",
            )
            for kind, cell_vertices in self.cell_vertices.items()
            if kind in CELLS
        }

    @property
    def exterior_facets(self) -> dict[tuple[str, ...], MixedFacets]:
        """The facets of a single cell, by kind of cell and of facet, ``("prism", "triangle")``."""
        return self._facets[0]

    @property
    def interior_facets(self) -> dict[tuple[str, ...], MixedFacets]:
        """The facets between two cells: by the kinds of both cells, and of the facet."""
        return self._facets[1]

    def middles(self, kind: str) -> Array:
        """Return the mean of the vertices of each cell of a kind, shape (n_cells, gdim)."""
        found: Array = self._corners(kind)[: self.cells[kind].size].mean(axis=1)
        return found

    def _corners(self, kind: str) -> Array:
        found: Array = points_of(self.coordinates)[self.cell_vertices[kind].values_with_halo]
        return found

    @cached_property
    def _facets(
        self,
    ) -> tuple[dict[tuple[str, ...], MixedFacets], dict[tuple[str, ...], MixedFacets]]:
        found: tuple[dict[tuple[str, ...], MixedFacets], ...] = ({}, {})
        seen = {
            tag: [np.zeros(len(part), bool) for part in parts] for tag, parts in self._sides.items()
        }
        for width in (1, 2, 3, 4):
            rows, uses = self._uses(width)
            if len(rows):
                for kinds, facets in self._sorted_out(rows, uses, seen):
                    key = (*kinds, _FACET_KINDS[width])
                    found[len(kinds) - 1][key] = facets
        for tag, parts in seen.items():
            for part, rows in zip(parts, self._sides[tag], strict=True):
                if not part.all():
                    bad = rows[np.argmin(part)].tolist()
                    raise DataValueError(
                        f"{self.name}: facet tag '{tag}': no cell has a facet with vertices {bad}"
                    )
        return found[0], found[1]

    def _uses(self, width: int) -> tuple[Array, Array]:
        """Return vertices of all facets of a width, and kind, cell, number of each."""
        rows, uses = [np.zeros((0, width), np.int64)], [np.zeros((0, 3), np.int64)]
        for place, (kind, path) in enumerate(self.cell_vertices.items()):
            for number, corners in enumerate(_FACETS[kind]):
                if len(corners) == width:
                    rows.append(path.values[:, list(corners)])
                    n = len(rows[-1])
                    columns = [np.full(n, place), np.arange(n), np.full(n, number)]
                    uses.append(np.stack(columns, axis=1))
        found, by = np.concatenate(rows), np.concatenate(uses)
        order = np.lexsort(by.T[::-1])
        return found[order], by[order]

    def _sorted_out(
        self, rows: Array, uses: Array, seen: dict[str, list[Array]]
    ) -> Iterator[tuple[tuple[str, ...], MixedFacets]]:
        """Yield the facets of each kind of cell, or pair of kinds.

        Args:
            rows: Vertices of the facets of all cells, by kind, cell and number.
            uses: Kind, cell and number of each.
            seen: For each tag a mask of facets found; updated.
        """
        tagged = [
            (tag, i, part)
            for tag, parts in self._sides.items()
            for i, part in enumerate(parts)
            if part.shape[1] == rows.shape[1]
        ]
        every = np.concatenate([np.sort(part, axis=1) for part in (rows, *(t[2] for t in tagged))])
        _, which = np.unique(every, axis=0, return_inverse=True)
        mine, rest = np.split(which.reshape(-1), [len(rows)])
        n = int(which.max()) + 1
        counts = np.bincount(mine, minlength=n)
        if (counts > 2).any():
            bad = rows[np.argmax(counts[mine] > 2)].tolist()
            raise UsageError(
                f"{self.name}: the facet with vertices {bad} belongs to more than two cells"
            )
        marks: dict[str, Array] = {}
        for (tag, i, _), numbers in (
            zip(tagged, np.split(rest, np.cumsum([len(t[2]) for t in tagged])[:-1]), strict=True)
            if tagged
            else ()
        ):
            seen[tag][i] = counts[numbers] > 0
            marks.setdefault(tag, np.zeros(n, bool))[numbers] = True
        by_facet = np.argsort(mine, kind="stable")
        ends = np.cumsum(counts)
        for sides in (1, 2):
            there = np.flatnonzero(counts == sides)
            places = [by_facet[ends[there] - sides + k] for k in range(sides)]
            yield from self._by_kind(rows, uses, places, {t: m[there] for t, m in marks.items()})

    def _by_kind(
        self, rows: Array, uses: Array, places: list[Array], marks: Mapping[str, Array]
    ) -> Iterator[tuple[tuple[str, ...], MixedFacets]]:
        """Yield facets by the places of their uses, with tags."""
        names = list(self.cells)
        keys = np.stack([uses[place, 0] for place in places], axis=1)
        for key in np.unique(keys, axis=0):
            chosen = (keys == key).all(axis=1)
            parts = {tag: np.flatnonzero(mark[chosen]) for tag, mark in marks.items()}
            kinds = tuple(names[i] for i in key)
            picked = [place[chosen] for place in places]
            facets = MixedFacets(
                kinds,
                self,
                rows[picked[0]],
                [(uses[place, 1], uses[place, 2]) for place in picked],
                {tag: part for tag, part in parts.items() if part.size},
            )
            yield kinds, facets

    def _renumbered(self) -> Renumbering:
        maps = [*self.cell_vertices.values()]
        return renumber(maps, [self.coordinates], coordinates=self.coordinates)

    def _tags_of_cells(self, tags: Mapping[str, Mapping[str, npt.ArrayLike]]) -> dict[str, Tags]:
        parts: dict[str, dict[str, Array]] = {kind: {} for kind in self.cells}
        for tag, by_kind in tags.items():
            for kind, given in by_kind.items():
                what = f"{self.name}: cell tag '{tag}' of {kind} cells"
                if kind not in self.cells:
                    raise UsageError(f"{what}: there are none; there are: {', '.join(self.cells)}")
                numbers = as_numbers(given, self.cells[kind], self.renumbering, what)
                parts[kind][tag] = distinct(numbers)
        return {kind: Tags(self.cells[kind], found) for kind, found in parts.items()}

    def _checked(self, tag: str, given: npt.ArrayLike) -> Array:
        what = f"{self.name}: facet tag '{tag}'"
        width = np.asarray(given).shape[-1] if np.ndim(given) == 2 else 2
        rows = as_rows(given, width, self.vertices.size, what)
        if self.renumbering is not None:
            rows = new_numbers(self.renumbering, self.vertices)[rows]
        return rows

    def as_table(self) -> tuple[str, list[tuple[str, str]]]:
        """Return the title and the rows of the picture in a notebook."""
        rows = [(f"{kind} cells", str(cells.size)) for kind, cells in self.cells.items()]
        return f"MixedMesh '{self.name}'", [*rows, ("vertices", str(self.vertices.size))]

    def __repr__(self) -> str:
        counts = ", ".join(f"{cells.size} {kind}" for kind, cells in self.cells.items())
        of_cells = [tag for tags in self.cell_tags.values() for tag in tags]
        tags = ", ".join(dict.fromkeys([*of_cells, *self._sides]))
        size = f"{self.vertices.size} vertices, {self.gdim}-D"
        return f"MixedMesh('{self.name}': {counts}, {size}{f', tags: {tags}' if tags else ''})"


def _dimension(cells: Mapping[str, Any], name: str) -> int:
    """Return the dimension of cells of several kinds."""
    unknown = [kind for kind in cells if kind not in N_CORNERS]
    if unknown or not cells:
        raise UsageError(
            f"{name}: there is no cell {unknown[0]!r}; there are: {', '.join(N_CORNERS)}"
            if unknown
            else f"{name}: there are no cells"
        )
    dims = {CELLS[kind].tdim if kind in CELLS else 3 for kind in cells}
    if len(dims) > 1:
        raise UsageError(f"{name}: cells {', '.join(cells)} are of different dimensions")
    return dims.pop()
