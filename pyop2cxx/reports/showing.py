# SPDX-License-Identifier: BSD-3-Clause
"""Display of Sets, Maps, Dats, Globals, Mats and Meshes in notebooks, without copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import _core
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.mats import Mat
from pyop2cxx.data.ragged import RaggedMap
from pyop2cxx.io.pyvista import grid as grid
from pyop2cxx.mesh.mesh import Mesh
from pyop2cxx.reports.small_pictures import picture as picture
from pyop2cxx.runtime import runtime
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.sets import Set, Subset
from pyop2cxx.sets.sparsities import Sparsity

if TYPE_CHECKING:
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.data.globals import Global

    Rows = list[tuple[str, str]]

_FIRST = 3
"""Rows of values shown at either end."""


def facts(thing: Any) -> tuple[str, Rows]:
    """Return a title and rows of a name and a text.

    Args:
        thing: A Set, Map, Dat, Global, Mat or Mesh.
    """
    if isinstance(thing, Set):
        return f"{type(thing).__name__} '{thing.name}'", _of_set(thing)
    if isinstance(thing, Map):
        return f"{type(thing).__name__} '{thing.name}'", _of_map(thing)
    if isinstance(thing, Mesh):
        return repr(thing), _of_mesh(thing)
    if isinstance(thing, Sparsity):
        return f"Sparsity '{thing.name}'", _of_sparsity(thing)
    rows: Rows = [("dtype", thing.dtype.name)]
    if isinstance(thing, Mat):
        rows.append(("size", f"{thing.nrows} x {thing.ncols}"))
        if not thing.is_mixed:
            rows.append(("places", f"{thing.sparsity.nz} of {thing.block_dims} values"))
    else:
        rows.append(("dim", str(thing.dim)))
    if isinstance(thing, Dat):
        on = thing.dataset.set
        rows.insert(0, ("on", f"Set '{on.name}', {_count(on)} entities"))
        rows.append(("bytes", _readable(thing.nbytes) if on.is_sized else "unknown"))
    rows += _of_values(thing)
    return f"{thing.kind} '{thing.name}'", rows


def _of_set(on: Set) -> Rows:
    rows = [("entities", _count(on))]
    if isinstance(on, Subset):
        rows += [("part of", f"Set '{on.superset.name}', {on.superset.size} entities")]
        rows += [("indices", _preview(on.indices))]
    elif on.is_sized and on.size != on.total_size:
        rows += [("core, owned, all", ", ".join(map(str, on.sizes)))]
    return rows


def _count(on: Set) -> str:
    return str(on.size) if on.is_sized else "unknown"


def _of_map(path: Map) -> Rows:
    rows = [
        ("from", f"Set '{path.iterset.name}', {_count(path.iterset)} entities"),
        ("to", f"Set '{path.toset.name}', {_count(path.toset)} entities"),
        _length_of_rows(path),
    ]
    return [*rows, ("values", _preview(path.values))] if path.has_values else rows


def _length_of_rows(path: Map) -> tuple[str, str]:
    if isinstance(path, RaggedMap):
        return "entries of a row", f"{path.shortest} to {path.longest}, {path.mean:.3g} on average"
    return "arity", str(path.arity)


def _of_sparsity(sparsity: Sparsity) -> Rows:
    if sparsity.shape != (1, 1):
        return [("blocks", f"{sparsity.shape[0]} x {sparsity.shape[1]}")]
    return [
        ("size", f"{sparsity.nrows} x {sparsity.ncols}"),
        ("places", f"{sparsity.nz}"),
    ]


def _of_mesh(mesh: Mesh) -> Rows:
    points = np.asarray(mesh.coordinates.data_ro).reshape(mesh.vertices.size, -1)
    corners = (points.min(axis=0).round(6), points.max(axis=0).round(6))
    return [
        ("cells", f"{mesh.cells.size} of kind {mesh.cell_type}"),
        ("vertices", str(mesh.vertices.size)),
        ("from", str(corners[0].tolist())),
        ("to", str(corners[1].tolist())),
        ("tags of cells", ", ".join(mesh.cell_tags) or "none"),
    ]


def _of_values(thing: Dat | Global | Mat) -> Rows:
    """Return the residence of values, and some of them if on the host."""
    if isinstance(thing, Mat) and thing.is_mixed:
        return [("blocks", f"{thing.sparsity.shape[0]} x {thing.sparsity.shape[1]}")]
    values = thing.host_values
    if values is None:
        return [("values", "zeros, not allocated yet")]
    if runtime.recorder is not None and runtime.recorder.waiting:
        return [("values", "loops of a chain wait, and are left alone")]
    where = thing.buffer.where
    place = {_core.Where.device: "on the device", _core.Where.both: "on host and device"}
    rows = [("residence", place.get(where, "on the host"))]
    if where != _core.Where.device:
        rows.append(("values", _preview(np.asarray(values))))
    return rows


def _preview(values: Array) -> str:
    with np.printoptions(threshold=2 * _FIRST * 4, edgeitems=_FIRST, precision=4, linewidth=100):
        return np.array2string(np.asarray(values))


def _readable(n_bytes: int) -> str:
    return f"{n_bytes} bytes" if n_bytes < 100_000 else f"{n_bytes / 1e6:.1f} MB"
