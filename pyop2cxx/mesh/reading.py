# SPDX-License-Identifier: BSD-3-Clause
"""Meshes from files of Gmsh, from files readable by meshio, and from models of the gmsh module."""

from __future__ import annotations

import contextlib
import io
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base import extras, hdf5
from pyop2cxx.base.arrays import distinct
from pyop2cxx.base.files import as_path
from pyop2cxx.base.waiting import counting, waiting
from pyop2cxx.exceptions import MeshFileError, Op2Error, UsageError
from pyop2cxx.mesh.blocks import BY_KIND, BY_MESHIO, Block, in_vtk_order
from pyop2cxx.mesh.duplicates import first_alike, first_there
from pyop2cxx.mesh.mesh import Mesh
from pyop2cxx.mesh.mixed import N_CORNERS, MixedMesh
from pyop2cxx.mesh.msh import read_msh_with_links
from pyop2cxx.mesh.nodes import degree_of, full_rows, vtk_places
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.mesh.cells import ReferenceCell
    from pyop2cxx.mesh.topology import Numbers

# Integer cell data used for regions by formats other than Gmsh's, by their names in meshio.
_FAMILIES = "cell_tags"
_REGIONS = ("medit:ref", "avsucd:material", "flac3d:group", _FAMILIES, "name_to_read")
_PHYSICAL = "gmsh:physical"
_HEAVY = re.compile(r"([^<>\s:]+\.h5):")
_SIGNATURE = b"\x89HDF\r\n\x1a\n"


def read(
    path: str | os.PathLike[str],
    *,
    renumber: bool = True,
    gdim: int | None = None,
    name: str | None = None,
    degree: int | None = None,
    periodic: bool | Sequence[tuple[str, str]] = (),
) -> Mesh:
    """Read a mesh from a file of Gmsh (.msh), VTK, XDMF, Exodus, or another meshio format.

    The cells are the elements of the highest dimension in the file; they must be of a single kind.
    Named and numbered regions (Gmsh's physical groups, sets) of cells and facets become tags; a
    region without a name is called by its number. Unused nodes are left out; a repeated cell is
    taken once, with the tags of all entries.

    Elements of order two make a curved mesh, with coordinates on `Mesh.nodes`; of elements of
    higher order only the corners are taken.

    Args:
        path: The file.
        renumber: Whether cells and vertices are renumbered for locality, for faster loops. The mesh
            keeps the way back.
        gdim: The geometric dimension; None drops trailing coordinates equal to zero everywhere,
            down to the dimension of the cells.
        name: Name in messages; by default the name of the file.
        degree: 1 takes the corners of all elements: sides become straight, and coordinates are on
            the vertices. None takes elements as they are.
        periodic: Pairs of facet tags, as ``[("left", "right")]``: sides of the boundary to be
            joined, equal up to a translation; see `Mesh.from_arrays`. True follows the section
            $Periodic of a file of Gmsh (``setPeriodic``).

    Raises:
        MissingExtraError: meshio is not installed, but needed by all files other than Gmsh's of
            version 2.2 or 4.1.
        FileNotFoundError: The file does not exist.
        MeshFileError: The file cannot be read as a mesh, or has cells of several kinds, or of kinds
            unsupported by `Mesh`.
        DataValueError: The contents are inconsistent.
    """
    place = as_path(path)
    points, blocks, links = _elements(place, periodic is True)
    wanted = _Wanted(renumber, gdim, name or place.stem, degree, periodic)
    with _fitting_arrays(place):
        return _mesh_of(points, blocks, links, wanted, f"{place}")


def read_mixed(
    path: str | os.PathLike[str],
    *,
    renumber: bool = True,
    gdim: int | None = None,
    name: str | None = None,
) -> MixedMesh:
    """Read a mesh with cells of several kinds, or of prisms or pyramids.

    Otherwise as `read`; of elements of higher order only the corners are taken.

    Args:
        path: As of `read`.
        renumber: As of `read`.
        gdim: As of `read`.
        name: As of `read`.

    Raises:
        FileNotFoundError, MissingExtraError, DataValueError: As of `read`.
        MeshFileError: The file cannot be read as a mesh, or has polygons or polyhedra.
    """
    place = as_path(path)
    points, blocks, _ = _elements(place, False)
    wanted = _Wanted(renumber, gdim, name or place.stem, 1, ())
    with _fitting_arrays(place):
        return _mixed_of(points, blocks, wanted, f"{place}")


@contextlib.contextmanager
def _fitting_arrays(place: Path) -> Iterator[None]:
    """Name the file in errors caused by its arrays."""
    try:
        yield
    except (IndexError, TypeError, ValueError, OverflowError) as error:
        if isinstance(error, Op2Error):
            raise
        raise MeshFileError(f"{place}: its arrays do not fit together: {error}") from None


def _elements(place: Path, with_links: bool) -> tuple[Array, list[Block], list[tuple[int, Array]]]:
    """Return the points of a file, the elements in VTK's order, and the periodic links."""
    if not place.is_file():
        raise FileNotFoundError(f"mesh.read: there is no file {os.fspath(place)!r}")
    with waiting(f"reading {place.name}"):
        found = read_msh_with_links(place, with_links) if place.suffix == ".msh" else None
        if found is None:
            return *_read(place), []
    with _fitting_arrays(place):
        for block in found[1]:
            block.rows = in_vtk_order(block.kind, block.rows)
    return found


def from_gmsh(
    model: Any,
    *,
    renumber: bool = True,
    gdim: int | None = None,
    name: str | None = None,
    degree: int | None = None,
    periodic: bool | Sequence[tuple[str, str]] = (),
) -> Mesh:
    """Make a mesh of the current model of the gmsh module, after ``gmsh.model.mesh.generate``.

    Args:
        model: ``gmsh.model``.
        renumber: As of `read`.
        gdim: As of `read`.
        name: Name in messages; by default the name of the model.
        degree: As of `read`.
        periodic: As of `read`.

    Raises:
        UsageError: The argument is no model of gmsh's.
        MeshFileError: The model has no mesh, or a mesh unsupported by `Mesh`.
    """
    if not hasattr(getattr(model, "mesh", None), "getNodes"):
        raise UsageError(f"from_gmsh: expected gmsh.model, got {model!r}")
    tags, flat, _ = model.mesh.getNodes()
    title = name or model.getCurrent() or "gmsh"
    if len(tags) == 0:
        raise MeshFileError(
            f"gmsh model '{title}' has no mesh; call gmsh.model.mesh.generate(dim) before"
        )
    number = np.full(int(tags.max()) + 1, -1, np.int64)
    number[tags.astype(np.int64)] = np.arange(len(tags))
    entities, blocks = model.getEntities(), []
    with counting(f"reading gmsh model '{title}'", len(entities)) as add:
        for dim, entity in entities:
            blocks += _gmsh_blocks(model, dim, entity)
            add(1)
        for block in blocks:
            block.rows = in_vtk_order(block.kind, number[block.rows])
    links = [
        (dim, number[np.stack(pairs[1:3], axis=1).astype(np.int64)])
        for dim, entity in (entities if periodic is True else ())
        for pairs in [model.mesh.getPeriodicNodes(dim, entity, True)]
    ]
    wanted = _Wanted(renumber, gdim, title, degree, periodic)
    return _mesh_of(flat.reshape(-1, 3), blocks, links, wanted, f"gmsh model '{title}'")


def _gmsh_blocks(model: Any, dim: int, entity: int) -> list[Block]:
    groups = {
        model.getPhysicalName(dim, group) or str(group)
        for group in model.getPhysicalGroupsForEntity(dim, entity)
    }
    blocks = []
    for element, _, nodes in zip(*model.mesh.getElements(dim, entity), strict=True):
        title, _, _, n_nodes, _, _ = model.mesh.getElementProperties(element)
        family = title.split()[0]
        kind = {"Line": "line", "Triangle": "triangle", "Quadrilateral": "quad"}.get(family)
        kind = kind or {"Tetrahedron": "tetra", "Point": "vertex"}.get(family) or family.lower()
        rows = nodes.astype(np.int64).reshape(-1, n_nodes)
        blocks.append(
            Block(kind=kind, rows=rows, tags={tag: np.arange(len(rows)) for tag in groups})
        )
    return blocks


def _read(path: Path) -> tuple[Array, list[Block]]:
    found = _by_meshio(extras.load("meshio", "reading a mesh"), path)
    return np.asarray(found.points), _blocks_of(found, f"{path}")


def _check_hdf5(path: Path) -> None:
    """Check a file, if HDF5, and the HDF5 files named by an .xdmf file."""
    files = [path]
    if path.suffix == ".xdmf":
        text = path.read_text(encoding="utf-8", errors="replace")
        files = [path.parent / name for name in {*_HEAVY.findall(text)}]
    for file in files:
        if file.is_file() and _starts_as_hdf5(file):
            wrong = hdf5.what_is_wrong(file, "reading a mesh")
            if wrong:
                raise MeshFileError(f"{file}: {wrong}")


def _starts_as_hdf5(file: Path) -> bool:
    with file.open("rb") as start:
        return start.read(len(_SIGNATURE)) == _SIGNATURE


def _by_meshio(meshio: Any, path: Path) -> Any:
    _check_hdf5(path)
    # meshio prints errors on the screen, and then ends the program.
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            return meshio.read(path)
    except (Exception, SystemExit) as error:
        reason = " ".join(said.getvalue().split()) or str(error) or type(error).__name__
        raise MeshFileError(f"{path}: meshio cannot read a mesh from it: {reason}") from None


def _blocks_of(found: Any, what: str) -> list[Block]:
    blocks = [
        Block(kind=re.sub(r"\d+$", "", block.type), rows=np.asarray(block.data))
        for block in found.cells
        if isinstance(block.data, np.ndarray) and block.data.ndim == 2
    ]
    if len(blocks) != len(found.cells):
        raise MeshFileError(f"{what}: a mesh has no polygons or polyhedra")
    for name, parts in found.cell_sets.items():
        if not name.startswith("gmsh:"):
            for block, part in zip(blocks, parts, strict=True):
                if part is not None and len(part):
                    block.tags[name] = np.asarray(part, np.int64)
    _tag_by_numbers(blocks, found)
    return blocks


def _tag_by_numbers(blocks: list[Block], found: Any) -> None:
    """Tag elements by the numbers of their regions, possibly named; 0 is no region."""
    names = {
        (int(pair[0]), int(pair[1])): name
        for name, pair in found.field_data.items()
        if np.shape(pair) == (2,) and np.asarray(pair).dtype.kind in "iu"
    }
    for key in (_PHYSICAL, *_REGIONS):
        # in files of MED a number stands for a family, possibly with several names
        families = getattr(found, key, {}) if key == _FAMILIES else {}
        for block, numbers in zip(blocks, found.cell_data.get(key, ()), strict=False):
            regions = np.asarray(numbers)
            if regions.ndim != 1 or len(regions) != len(block.rows):
                continue
            for region in np.unique(regions[np.isfinite(regions)]):
                if region and region == int(region):
                    here = np.flatnonzero(regions == region)
                    number = int(region)
                    named = names.get((number, block.tdim), str(number))
                    for name in families.get(number, [named]):
                        block.tags[name] = np.union1d(block.tags.get(name, here), here)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The caller's options; see `read`."""

    renumber: bool
    gdim: int | None
    name: str
    degree: int | None
    periodic: bool | Sequence[tuple[str, str]]


def _mesh_of(
    points: Array,
    blocks: list[Block],
    links: list[tuple[int, Array]],
    wanted: _Wanted,
    what: str,
) -> Mesh:
    cell, own, there = _sorted_out(blocks, what)
    n_given = len(points)
    rows, points = _nodes_of(cell, own, points, wanted.degree, what)
    if rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= len(points):
        raise MeshFileError(
            f"{what}: cells name points {rows.min()} to {rows.max()}, but the file has "
            f"{len(points)}; is it damaged?"
        )
    rows, place = _each_once(rows, cell.name, what)
    used = np.zeros(len(points), np.bool_)
    used[rows] = True
    number = np.cumsum(used) - 1
    if not used[:n_given].all():
        n_left = int((~used[:n_given]).sum())
        runtime.logger.info("%s: %d nodes belong to no cell; left out", what, n_left)
    _say_coincident(points[:n_given][used[:n_given]], what)
    cell_tags: dict[str, list[Numbers]] = {}
    start = 0
    for block in own:
        for tag, numbers in block.tags.items():
            cell_tags.setdefault(tag, []).append(place[start + numbers])
        start += len(block.rows)
    where = _without_zeros(points[used], cell.tdim, wanted.gdim, what)
    sides = _tagged(there, cell.tdim - 1, len(cell.facets[0]), used, number)
    points_of = _tagged(there, 0, 1, used, number) if cell.tdim > 1 else {}
    both = [number[pairs[used[pairs].all(axis=1)]] for d, pairs in links if d == cell.tdim - 1]
    seams = _seams(wanted.periodic, both, sides, where, what)
    return Mesh.from_arrays(
        cell.name,
        where,
        number[rows],
        cell_tags={tag: distinct(np.concatenate(parts)) for tag, parts in cell_tags.items()},
        facet_tags=sides,
        vertex_tags=points_of,
        periodic=seams,
        renumber=wanted.renumber,
        name=wanted.name,
    )


def _nodes_of(
    cell: ReferenceCell, own: list[Block], points: Array, degree: int | None, what: str
) -> tuple[Array, Array]:
    """Return the nodes of each cell in Basix's order, and all points."""
    if degree not in (None, 1, 2):
        raise UsageError(f"{what}: degree must be 1 or None, got {degree!r}")
    widths = {block.rows.shape[1] for block in own}
    full = None
    if degree != 1 and len(widths) == 1:
        full = full_rows(cell, np.concatenate([block.rows for block in own]), points)
    if full is None:
        if degree != 1 and max(widths) > cell.n_vertices:
            runtime.logger.warning(
                "%s: elements of more than order two, or of several orders: only their corners are "
                "taken, sides become straight",
                what,
            )
        corners = np.concatenate([block.rows[:, : cell.n_vertices] for block in own])
        full = corners, points
    if full[0].shape[1] > cell.n_vertices:
        runtime.logger.info(
            "%s: elements of order two: the mesh is curved, and its coordinates are on mesh.nodes; "
            "degree=1 takes the corners",
            what,
        )
    places = vtk_places(cell, degree_of(cell, full[0].shape[1]))
    return full[0][:, np.argsort(places)], full[1]


def _mixed_of(points: Array, blocks: list[Block], wanted: _Wanted, what: str) -> MixedMesh:
    there = [block for block in blocks if len(block.rows)]
    tdim = max((block.tdim for block in there), default=0)
    own = [block for block in there if block.tdim == tdim]
    kinds = list(dict.fromkeys(block.kind for block in own))
    if tdim == 0 or any(kind not in BY_KIND for kind in kinds):
        raise MeshFileError(
            f"{what}: cells are {', '.join(BY_KIND)}; found {', '.join(kinds) or 'no element'}"
        )
    rows: dict[str, Array] = {}
    cell_tags: dict[str, dict[str, Numbers]] = {}
    for kind in kinds:
        name, order = BY_KIND[kind]
        same = [block for block in own if block.kind == kind]
        given = np.concatenate([block.rows[:, : len(order)] for block in same])[:, list(order)]
        rows[name], place = _each_once(given, name, what)
        starts = np.cumsum([0, *(len(block.rows) for block in same)])
        for block, start in zip(same, starts, strict=False):
            for tag, numbers in block.tags.items():
                by_kind = cell_tags.setdefault(tag, {})
                found = place[start + numbers]
                by_kind[name] = distinct(np.concatenate([by_kind.get(name, found), found]))
    if any(block.rows.shape[1] > len(BY_KIND[block.kind][1]) for block in own):
        runtime.logger.warning(
            "%s: elements of higher order: only their corners are taken, sides become straight",
            what,
        )
    used = np.zeros(len(points), np.bool_)
    used[np.concatenate([part.ravel() for part in rows.values()])] = True
    number = np.cumsum(used) - 1
    _say_coincident(points[used], what)
    return MixedMesh(
        _without_zeros(points[used], tdim, wanted.gdim, what),
        {name: number[part] for name, part in rows.items()},
        cell_tags=cell_tags,
        facet_tags=_mixed_sides(there, tdim, used, number),
        renumber=wanted.renumber,
        name=wanted.name,
    )


def _mixed_sides(
    blocks: list[Block], tdim: int, used: Array, number: Numbers
) -> dict[str, list[Array]]:
    """Return for each tag the vertices of facets, grouped by kind."""
    found: dict[str, list[Array]] = {}
    for block in blocks:
        if block.tdim == tdim - 1:
            for tag, chosen in block.tags.items():
                rows = block.rows[chosen, : BY_MESHIO[block.kind].n_vertices if tdim > 1 else 1]
                found.setdefault(tag, []).append(number[rows[used[rows].all(axis=1)]])
    return found


def _seams(
    periodic: bool | Sequence[tuple[str, str]],
    links: list[Array],
    sides: Mapping[str, Array],
    points: Array,
    what: str,
) -> list[Array]:
    """Return pairs of vertices for each seam."""
    if not isinstance(periodic, bool):
        return [_joined(pair, sides, points, what) for pair in periodic]
    seams = [pairs for pairs in links if len(pairs)]
    if periodic and not seams:
        raise UsageError(
            f"{what}: periodic=True: Gmsh says of no side that it is another one moved; give pairs "
            "of facet tags"
        )
    return seams


def _joined(pair: tuple[str, str], sides: Mapping[str, Array], points: Array, what: str) -> Array:
    """Return pairs of vertices on two sides, equal up to a translation."""
    for tag in pair:
        if tag not in sides or not len(sides[tag]):
            known = ", ".join(map(repr, sides)) or "none"
            raise UsageError(f"{what}: periodic: no facets have tag {tag!r}; there are: {known}")
    first, second = (distinct(sides[tag]) for tag in pair)
    size = float(np.ptp(points, axis=0).max())
    if len(first) == len(second):
        ordered = []
        for nodes in (first, second):
            moved = points[nodes] - points[nodes].mean(axis=0)
            keys = np.rint(moved / size * 1e6 + 0.25)
            order = np.lexsort(keys.T)
            ordered.append((nodes[order], moved[order]))
        if np.abs(ordered[0][1] - ordered[1][1]).max() < 1e-6 * size:
            return np.stack([ordered[1][0], ordered[0][0]], axis=1)
    raise MeshFileError(
        f"{what}: periodic: sides {pair[0]!r} and {pair[1]!r}, of {len(first)} and {len(second)} "
        "vertices, are not the same side moved; make them so (in Gmsh by setPeriodic), or join "
        "vertices by Mesh.from_arrays(periodic=...)"
    )


def _each_once(rows: Array, kind: str, what: str) -> tuple[Array, Numbers]:
    """Drop repeated cells, as in files of Gmsh 2.2 for each physical group.

    Returns:
        The kept rows; and for each cell of the file the new number.
    """
    corners = rows[:, : N_CORNERS[kind]]
    first = first_alike(corners)
    is_first = first == np.arange(len(rows))
    number = np.cumsum(is_first) - 1
    again = np.flatnonzero(~is_first)
    # The corners of a box in another order may also belong to another cell of a periodic mesh.
    is_box = kind not in ("triangle", "tetrahedron")
    turned = again[(corners[again] != corners[first[again]]).any(axis=1)] if is_box else again[:0]
    if turned.size:
        pair = [int(first[turned[0]]), int(turned[0])]
        raise MeshFileError(
            f"{what}: cells {pair[0]} and {pair[1]} have the same vertices in two orders, "
            f"{corners[pair[0]].tolist()} and {corners[pair[1]].tolist()}; take one of them out of "
            "the file, or, if the mesh closes on itself after two cells, give each side "
            "vertices of its own and join them by Mesh.from_arrays(periodic=...)"
        )
    if again.size:
        runtime.logger.info(
            "%s: %d of %d cells are listed again; each is taken once, with the tags of all its "
            "entries",
            what,
            again.size,
            len(rows),
        )
    return rows[is_first], number[first]


def _say_coincident(points: Array, what: str) -> None:
    """Warn of nodes at the same place: cells on both sides are not connected."""
    n = int((first_there(points) != np.arange(len(points))).sum())
    if n:
        runtime.logger.warning(
            "%s: %d nodes lie where another node lies; cells that do not share nodes are not "
            "connected, so facets there belong to the boundary",
            what,
            n,
        )


def _tagged(
    blocks: list[Block], tdim: int, width: int, used: Array, number: Numbers
) -> dict[str, Array]:
    """Return for each tag the vertices of elements of a dimension, if used by cells."""
    tagged: dict[str, list[Array]] = {}
    for block in blocks:
        if block.tdim == tdim:
            for tag, chosen in block.tags.items():
                rows = block.rows[chosen, :width]
                tagged.setdefault(tag, []).append(number[rows[used[rows].all(axis=1)]])
    return {tag: np.concatenate(parts) for tag, parts in tagged.items()}


def _sorted_out(blocks: list[Block], what: str) -> tuple[ReferenceCell, list[Block], list[Block]]:
    """Return the kind of the cells, the blocks of cells, and the blocks of all elements."""
    there = [block for block in blocks if len(block.rows)]
    tdim = max((block.tdim for block in there), default=0)
    own = [block for block in there if block.tdim == tdim]
    kinds = sorted({block.kind for block in own})
    if tdim == 0 or len(kinds) != 1 or kinds[0] not in BY_MESHIO:
        counts = ", ".join(
            f"{sum(len(b.rows) for b in there if b.kind == kind)} of kind '{kind}'"
            for kind in sorted({block.kind for block in there})
        )
        is_mixed = tdim > 0 and all(kind in BY_KIND for kind in kinds)
        hint = "; mesh.read_mixed gives a Set of cells for each kind" if is_mixed else ""
        raise MeshFileError(
            f"{what}: a mesh has cells of one kind: {', '.join(BY_MESHIO)}; found elements: "
            f"{counts or 'none'}{hint}"
        )
    cell = BY_MESHIO[kinds[0]]
    left_out = {tag for block in there if 0 < block.tdim < tdim - 1 for tag in block.tags}
    if left_out:
        runtime.logger.info(
            "%s: regions of edges in space are left out: %s", what, ", ".join(sorted(left_out))
        )
    return cell, own, there


def _without_zeros(points: Array, tdim: int, gdim: int | None, what: str) -> Array:
    width = points.shape[1]
    if gdim is None:
        gdim = width
        while gdim > tdim and not points[:, gdim - 1].any():
            gdim -= 1
    if not tdim <= gdim <= width:
        raise UsageError(f"{what}: gdim must be {tdim} to {width}, got {gdim!r}")
    return points[:, :gdim]
