# SPDX-License-Identifier: BSD-3-Clause
"""Meshes from files of Gmsh, from files that meshio reads, and from models of the gmsh module."""

from __future__ import annotations

import contextlib
import io
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base import extras, hdf5
from pyop2cxx.base.waiting import counting, waiting
from pyop2cxx.exceptions import MeshFileError, Op2Error, UsageError
from pyop2cxx.mesh.blocks import BY_MESHIO, Block
from pyop2cxx.mesh.mesh import Mesh
from pyop2cxx.mesh.msh import read_msh
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.mesh.cells import ReferenceCell
    from pyop2cxx.mesh.topology import Numbers

# Integers of each cell that formats other than Gmsh's use for regions, by their names in meshio.
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
) -> Mesh:
    """Read a mesh from a file of Gmsh (.msh), VTK, XDMF, Exodus, or what else meshio reads.

    The cells are those of the highest dimension in the file; they must be of one kind. Named and
    numbered regions (Gmsh's physical groups, sets) of them and of their facets become tags; a
    region that has no name is called by its number. Nodes that no cell uses are left out, and of
    elements of higher order only the corners are taken.

    Args:
        path: The file.
        renumber: Whether cells and vertices are renumbered for locality, which makes loops faster.
            The mesh keeps the way back.
        gdim: The geometric dimension; None leaves out the last coordinates that are zero
            everywhere, down to the dimension of the cells.
        name: What messages call the mesh; by default the name of the file.

    Raises:
        MissingExtraError: meshio is not installed, and this is not a file of Gmsh of version 2.2
            or 4.1, which is read without it.
        FileNotFoundError: There is no such file.
        MeshFileError: The file cannot be read as a mesh, or its cells are of kinds that a `Mesh`
            does not have, or of several.
        DataValueError: What is in it does not fit together.
    """
    place = Path(path)
    if not place.is_file():
        raise FileNotFoundError(f"mesh.read: there is no file {os.fspath(path)!r}")
    with waiting(f"reading {place.name}"):
        points, blocks = (read_msh(place) if place.suffix == ".msh" else None) or _read(place)
    try:
        return _mesh_of(points, blocks, renumber, gdim, name or place.stem, f"{place}")
    except (IndexError, TypeError, ValueError, OverflowError) as error:
        if isinstance(error, Op2Error):
            raise
        raise MeshFileError(f"{place}: its arrays do not fit together: {error}") from None


def from_gmsh(
    model: Any, *, renumber: bool = True, gdim: int | None = None, name: str | None = None
) -> Mesh:
    """Make a mesh of the current model of the gmsh module, after ``gmsh.model.mesh.generate``.

    Args:
        model: ``gmsh.model``.
        renumber: As of `read`.
        gdim: As of `read`.
        name: What messages call the mesh; by default the name of the model.

    Raises:
        UsageError: This is no model of gmsh's.
        MeshFileError: The model has no mesh, or one that a `Mesh` cannot hold.
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
            block.rows = number[block.rows]
    return _mesh_of(flat.reshape(-1, 3), blocks, renumber, gdim, title, f"gmsh model '{title}'")


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
    """Look through a file that is HDF5, and through those that an .xdmf file names."""
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
    # meshio tells why it fails on the screen, and then ends the program.
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
    """Tag elements by the numbers of their regions, which may have names; 0 is no region."""
    names = {
        (int(pair[0]), int(pair[1])): name
        for name, pair in found.field_data.items()
        if np.shape(pair) == (2,) and np.asarray(pair).dtype.kind in "iu"
    }
    for key in (_PHYSICAL, *_REGIONS):
        # in files of MED a number stands for a family, which may have several names
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


def _mesh_of(
    points: Array, blocks: list[Block], renumber: bool, gdim: int | None, name: str, what: str
) -> Mesh:
    cell, own, facets = _sorted_out(blocks, what)
    rows = np.concatenate([block.rows[:, : cell.n_vertices] for block in own])
    rows = rows[:, list(cell.vtk_order)]
    used = np.zeros(len(points), np.bool_)
    if rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= len(points):
        raise MeshFileError(
            f"{what}: cells name points {rows.min()} to {rows.max()}, but the file has "
            f"{len(points)}; is it damaged?"
        )
    used[rows] = True
    number = np.cumsum(used) - 1
    if not used.all():
        runtime.logger.info("%s: %d nodes belong to no cell; left out", what, int((~used).sum()))
    cell_tags: dict[str, list[Numbers]] = {}
    start = 0
    for block in own:
        for tag, numbers in block.tags.items():
            cell_tags.setdefault(tag, []).append(start + numbers)
        start += len(block.rows)
    return Mesh.from_arrays(
        cell.name,
        _without_zeros(points[used], cell, gdim, what),
        number[rows],
        cell_tags={tag: np.concatenate(parts) for tag, parts in cell_tags.items()},
        facet_tags=_facet_rows(facets, cell, used, number),
        renumber=renumber,
        name=name,
    )


def _facet_rows(
    facets: list[Block], cell: ReferenceCell, used: Array, number: Numbers
) -> dict[str, Array]:
    width = len(cell.facets[0])
    tagged: dict[str, list[Array]] = {}
    for block in facets:
        for tag, chosen in block.tags.items():
            rows = block.rows[chosen, :width]
            tagged.setdefault(tag, []).append(number[rows[used[rows].all(axis=1)]])
    return {tag: np.concatenate(parts) for tag, parts in tagged.items()}


def _sorted_out(blocks: list[Block], what: str) -> tuple[ReferenceCell, list[Block], list[Block]]:
    """Return the kind of the cells, their blocks, and those of their facets."""
    there = [block for block in blocks if len(block.rows)]
    tdim = max((block.tdim for block in there), default=0)
    own = [block for block in there if block.tdim == tdim]
    kinds = sorted({block.kind for block in own})
    if tdim == 0 or len(kinds) != 1 or kinds[0] not in BY_MESHIO:
        counts = ", ".join(
            f"{sum(len(b.rows) for b in there if b.kind == kind)} of kind '{kind}'"
            for kind in sorted({block.kind for block in there})
        )
        raise MeshFileError(
            f"{what}: a mesh has cells of one kind: {', '.join(BY_MESHIO)}; found elements: "
            f"{counts or 'none'}"
        )
    cell = BY_MESHIO[kinds[0]]
    if any(block.rows.shape[1] > cell.n_vertices for block in own):
        runtime.logger.warning(
            "%s: elements of higher order: only their corners are taken, sides become straight",
            what,
        )
    return cell, own, [block for block in there if block.tdim == tdim - 1]


def _without_zeros(points: Array, cell: ReferenceCell, gdim: int | None, what: str) -> Array:
    width = points.shape[1]
    if gdim is None:
        gdim = width
        while gdim > cell.tdim and not points[:, gdim - 1].any():
            gdim -= 1
    if not cell.tdim <= gdim <= width:
        raise UsageError(f"{what}: gdim must be {cell.tdim} to {width}, got {gdim!r}")
    return points[:, :gdim]
