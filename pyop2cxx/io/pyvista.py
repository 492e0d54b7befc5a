# SPDX-License-Identifier: BSD-3-Clause
"""Meshes with values for PyVista."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base import extras
from pyop2cxx.io.fields import as_components, named, shown
from pyop2cxx.mesh.nodes import VTK_TYPES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyop2cxx.data.dats import Dat
    from pyop2cxx.mesh.mesh import Mesh


def grid(mesh: Mesh, dats: tuple[Dat, ...], fields: Mapping[str, Dat], numbering: str) -> Any:
    """Return a mesh with copied values as ``pyvista.UnstructuredGrid``.

    Args:
        mesh: The mesh.
        dats: As of `Mesh.to_pyvista`.
        fields: As of `Mesh.to_pyvista`.
        numbering: As of `Mesh.to_pyvista`.
    """
    what = "Mesh.to_pyvista"
    pyvista = extras.load("pyvista", f"{what}()")
    found = shown(mesh, named(dats, fields, what), numbering, what)
    n_cells, width = found.cells.shape
    kind = VTK_TYPES[found.cell.name] if found.degree > 1 else found.cell.vtk_type
    rows = np.insert(found.cells, 0, width, axis=1)
    made = pyvista.UnstructuredGrid(rows.ravel(), np.full(n_cells, kind, np.uint8), found.points)
    for data, given in ((made.point_data, found.on_points), (made.cell_data, found.on_cells)):
        for name, values in given.items():
            data[name] = as_components(values)
    return made
