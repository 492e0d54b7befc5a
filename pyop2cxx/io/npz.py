# SPDX-License-Identifier: BSD-3-Clause
"""A mesh with values as arrays of NumPy, for programs in C++: `op2::read_mesh`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pyop2cxx.base.files import replacing
from pyop2cxx.exceptions import UsageError
from pyop2cxx.io.fields import check_fields, named
from pyop2cxx.mesh.topology import refuse_shared

if TYPE_CHECKING:
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.data.dats import Dat
    from pyop2cxx.mesh.mesh import Mesh
    from pyop2cxx.mesh.topology import Facets


def write_npz(
    path: str | os.PathLike[str],
    mesh: Mesh,
    *dats: Dat,
    facets: bool = True,
    **fields: Dat,
) -> None:
    """Write a mesh with values for programs in C++, as an .npz file; whole or not at all.

    `op2::read_mesh` and `numpy.load` read the file. All numbers are the present numbers. The
    arrays:

    - ``cell_type``: VTK's number of the kind of cells, shape (1,)
    - ``points``, shape (n_vertices, gdim); ``cells``, shape (n_cells, vertices of a cell)
    - ``cells.tags.NAME``: the cells of a tag
    - ``cells.order``, ``vertices.order``: for a renumbered mesh the original numbers
    - ``exterior_facets.cells``, ``.vertices``, ``.local_numbers``, ``.tags.NAME``, and the same of
      ``interior_facets``, with two cells each
    - ``values.NAME``: values of a Dat

    Args:
        path: The file, ending in .npz.
        mesh: The mesh.
        *dats: Dats on the vertices or cells, stored by name; or functions, by `fem.on_mesh`.
        facets: Whether facets are written, too.
        **fields: More Dats, by the names in the file.

    Raises:
        UsageError: The path has another ending, a Dat is on another Set, two have the same name, or
            more than two cells share a facet.
        DatTypeError: An argument is not a Dat.
        DataTypeError: Values are complex.
        OSError: The file cannot be written.

    Example:
        >>> import tempfile
        >>> from pyop2cxx.mesh import square_mesh
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_npz(f"{folder}/a.npz", square_mesh(4), facets=False)
        ...     sorted(np.load(f"{folder}/a.npz"))
        ['cell_type', 'cells', 'points']
    """
    if Path(path).suffix != ".npz":
        raise UsageError(f"write_npz: the file must end in .npz, got {os.fspath(path)!r}")
    whole = named(dats, fields, "write_npz")
    check_fields(mesh, whole, "write_npz")
    refuse_shared(mesh.cells, "write_npz", "write the file before op2.distribute")
    arrays: dict[str, Array] = {
        "cell_type": np.array([mesh.cell.vtk_type], np.uint8),
        "points": np.asarray(mesh.coordinates.data_ro).reshape(mesh.vertices.size, -1),
        "cells": np.asarray(mesh.cell_vertices.values),
    }
    for name, on in (("cells", mesh.cells), ("vertices", mesh.vertices)):
        if on.reordering.order is not None:
            arrays[f"{name}.order"] = on.reordering.order
    for tag, part in mesh.cell_tags.items():
        arrays[f"cells.tags.{tag}"] = part.owned_indices
    if facets:
        arrays |= _of_facets("exterior_facets", mesh.exterior_facets)
        arrays |= _of_facets("interior_facets", mesh.interior_facets)
    arrays |= {f"values.{name}": np.asarray(dat.data_ro) for name, dat in whole.items()}
    rows = {name: np.ascontiguousarray(one) for name, one in arrays.items()}
    with replacing(path) as temporary, open(temporary, "wb") as file:
        np.savez(file, **rows)  # type: ignore[arg-type]  # numpy types **kwds as bool too


def _of_facets(name: str, facets: Facets) -> dict[str, Array]:
    found = {
        f"{name}.cells": np.asarray(facets.cells.values),
        f"{name}.vertices": np.asarray(facets.vertices.values),
        f"{name}.local_numbers": np.asarray(facets.local_numbers.data_ro),
    }
    for tag, part in facets.tags.items():
        found[f"{name}.tags.{tag}"] = part.owned_indices
    return found
