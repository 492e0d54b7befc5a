#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How long a file of Gmsh takes to become a renumbered mesh with its facets, part by part.

Without a file, one of about a million tetrahedra in a cube is written first, shuffled as meshes of
generators are. The number to watch: at most 6 s.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

from pyop2cxx import op2
from pyop2cxx.mesh import Mesh, cube_mesh
from pyop2cxx.mesh.msh import read_msh
from pyop2cxx.mesh.reading import read


def write_cube(path: Path, n: int) -> None:
    """Write n * n * n cubes of six tetrahedra each, as text of version 4.1."""
    mesh = cube_mesh(n)
    random = np.random.default_rng(0)
    order = random.permutation(mesh.vertices.size)
    points = mesh.coordinates.data_ro[order]
    cells = np.argsort(order)[random.permutation(mesh.cell_vertices.values)]
    n_points, n_cells = len(points), len(cells)
    with path.open("w") as file:
        file.write("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 0 1\n")
        file.write("1 0 0 0 1 1 1 1 7 0\n$EndEntities\n$Nodes\n")
        file.write(f"1 {n_points} 1 {n_points}\n3 1 0 {n_points}\n")
        np.savetxt(file, np.arange(1, n_points + 1), "%d")
        np.savetxt(file, points, "%.16g")
        file.write(f"$EndNodes\n$Elements\n1 {n_cells} 1 {n_cells}\n3 1 4 {n_cells}\n")
        np.savetxt(file, np.column_stack([np.arange(1, n_cells + 1), cells + 1]), "%d")
        file.write("$EndElements\n")


def main() -> None:
    """Print the seconds of each part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path, help="a file of Gmsh, version 2.2 or 4.1")
    parser.add_argument("--cells", type=int, default=55, help="cubes a side; default: %(default)s")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    op2.init(backend="openmp")
    with tempfile.TemporaryDirectory() as folder:
        path = options.file or Path(folder, "cube.msh")
        if options.file is None:
            write_cube(path, options.cells)
        for _ in range(options.repeat):
            begin = perf_counter()
            read_msh(path)
            file = perf_counter()
            mesh: Mesh = read(path)
            made = perf_counter()
            _ = mesh.facets
            facets = perf_counter()
            _ = mesh.exterior_facets
            end = perf_counter()
            print(
                f"{mesh.cells.size} cells: {end - file:.2f} s; the file alone {file - begin:.2f}, "
                f"to a mesh {made - file:.2f}, facets {facets - made:.2f}, their sides "
                f"{end - facets:.2f}"
            )


if __name__ == "__main__":
    main()
