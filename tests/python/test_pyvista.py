# SPDX-License-Identifier: BSD-3-Clause
"""Meshes in PyVista, which measures them by VTK."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import UsageError
from pyop2cxx.mesh import Mesh, cube_mesh, interval_mesh, square_mesh

if TYPE_CHECKING:
    from collections.abc import Callable

pytest.importorskip("pyvista")

GENERATED: dict[str, Callable[[], Mesh]] = {
    "interval": lambda: interval_mesh(4),
    "triangle": lambda: square_mesh(3),
    "quadrilateral": lambda: square_mesh(3, cell="quadrilateral"),
    "tetrahedron": lambda: cube_mesh(2),
    "hexahedron": lambda: cube_mesh(2, cell="hexahedron"),
}


@pytest.mark.parametrize("kind", GENERATED)
def test_vtk_finds_cells_of_the_same_size(kind: str) -> None:
    mesh = GENERATED[kind]()
    x = np.asarray(mesh.coordinates.data_ro).reshape(mesh.vertices.size, -1)
    sized = mesh.to_pyvista(mesh.cell_volumes, x0=op2.Dat(mesh.vertices, x[:, 0]))
    found = sized.compute_cell_sizes()
    size = found.cell_data[{1: "Length", 2: "Area", 3: "Volume"}[mesh.tdim]]
    assert np.allclose(np.abs(size), sized.cell_data["cell_volumes"])
    assert (np.asarray(size) > 0).all()
    assert np.array_equal(sized.point_data["x0"], sized.points[:, 0])


def test_vectors_and_numbers_of_the_source() -> None:
    plain = square_mesh(3)
    mesh = Mesh.from_arrays(
        "triangle", plain.coordinates.data_ro, plain.cell_vertices.values, renumber=True
    )
    at = op2.Dat(mesh.vertices**2, np.asarray(mesh.coordinates.data_ro), name="at")
    for numbering in ("original", "mesh"):
        found = mesh.to_pyvista(at, numbering=numbering)
        assert np.array_equal(found.point_data["at"], found.points)
    assert np.array_equal(mesh.to_pyvista().points[:, :2], plain.coordinates.data_ro)


def test_arrays_are_copies() -> None:
    mesh = square_mesh(2)
    mesh.to_pyvista().points[:] = 7
    assert mesh.coordinates.data_ro.max() == 1


def test_other_sets_are_refused() -> None:
    mesh = square_mesh(2)
    with pytest.raises(UsageError, match=r"Mesh\.to_pyvista: field 'on_edges' is on Set"):
        mesh.to_pyvista(on_edges=op2.Dat(mesh.edges.set))
