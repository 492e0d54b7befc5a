# SPDX-License-Identifier: BSD-3-Clause
"""Meshes as plain arrays: generators for the demos, the tests and the examples.

A mesh here is a frozen bundle of NumPy arrays; the caller makes Sets, Maps and Dats of them.
"""

from pyop2cxx.mesh.airfoil import AirfoilMesh, airfoil_mesh, free_stream, shuffle_mesh
from pyop2cxx.mesh.square import SquareMesh, unit_square_mesh

__all__ = [
    "AirfoilMesh",
    "SquareMesh",
    "airfoil_mesh",
    "free_stream",
    "shuffle_mesh",
    "unit_square_mesh",
]
