# SPDX-License-Identifier: BSD-3-Clause
"""Meshes: of simple shapes, from arrays, from files.

`Mesh` has Sets, Maps, coordinates, edges, facets and named parts, ready for loops. For programs
that declare Sets and Maps themselves, `airfoil_arrays` and `square_arrays` return NumPy arrays,
`AirfoilMesh` and `SquareMesh`.
"""

from pyop2cxx.mesh.airfoil import (
    AirfoilMesh,
    airfoil_arrays,
    airfoil_mesh,
    free_stream,
    shuffle_mesh,
)
from pyop2cxx.mesh.cells import CELLS, ReferenceCell, reference_cell
from pyop2cxx.mesh.extruded import ExtrudedMesh, Sides
from pyop2cxx.mesh.generate import (
    box_mesh,
    cube_mesh,
    disk_mesh,
    interval_mesh,
    rectangle_mesh,
    square_mesh,
)
from pyop2cxx.mesh.mesh import Mesh
from pyop2cxx.mesh.mixed import MixedFacets, MixedMesh
from pyop2cxx.mesh.reading import from_gmsh, read, read_mixed
from pyop2cxx.mesh.square import SquareMesh, square_arrays, unit_square_mesh
from pyop2cxx.mesh.topology import Facets, MeshEntities, Tags

__all__ = [
    "CELLS",
    "AirfoilMesh",
    "ExtrudedMesh",
    "Facets",
    "Mesh",
    "MeshEntities",
    "MixedFacets",
    "MixedMesh",
    "ReferenceCell",
    "Sides",
    "SquareMesh",
    "Tags",
    "airfoil_arrays",
    "airfoil_mesh",
    "box_mesh",
    "cube_mesh",
    "disk_mesh",
    "free_stream",
    "from_gmsh",
    "interval_mesh",
    "read",
    "read_mixed",
    "rectangle_mesh",
    "reference_cell",
    "shuffle_mesh",
    "square_arrays",
    "square_mesh",
    "unit_square_mesh",
]
