#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make the pictures of the gallery anew: ``python docs/pictures/make.py``. Takes a minute."""

from __future__ import annotations

import importlib
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import ufl
from PIL import Image

from pyop2cxx import fem, op2
from pyop2cxx.mesh import Mesh, airfoil_mesh, disk_mesh
from pyop2cxx.mesh.files import write_mesh
from pyop2cxx.plot import plot_colours, plot_numbering, plot_sparsity, plot_values

HERE = Path(__file__).parent
DEMOS = HERE.parents[1] / "demos"


def shuffled(mesh: Mesh, *, renumber: bool) -> Mesh:
    """Number a mesh at random, and then perhaps well."""
    random = np.random.default_rng(1)
    new = random.permutation(mesh.vertices.size)
    points = np.empty((mesh.vertices.size, 2))
    points[new] = mesh.coordinates.data_ro
    cells = random.permutation(new[mesh.cell_vertices.values])
    return Mesh.from_arrays("triangle", points, cells, renumber=renumber)


def main() -> None:
    """Draw what the package can draw, and run the demos that have pictures."""
    plot_numbering(shuffled(disk_mesh(14), renumber=False), HERE / "shuffled.png")
    plot_numbering(shuffled(disk_mesh(14), renumber=True), HERE / "renumbered.png")
    mesh = disk_mesh(8)
    plot_colours(mesh, HERE / "colours.png")
    c2v, nodes = mesh.cell_vertices, mesh.vertices**1
    plot_sparsity(op2.Sparsity((nodes, nodes), [(c2v, c2v, None)]), HERE / "sparsity.png")
    plate(disk_mesh(30))
    potential()
    draw("shallow_water", "--picture", HERE / "shallow_water.png", "--steps", "150")
    with tempfile.TemporaryDirectory() as folder:
        mesh_file = Path(folder) / "airfoil.npz"
        write_mesh(airfoil_mesh(100, 120), mesh_file)
        options = ("--backend", "openmp", "--iterations", "4000", "--mesh", mesh_file)
        draw("airfoil", "--plot", HERE / "airfoil.png", *options)
    for path in HERE.glob("*.png"):  # a fifth of the size, and the same to the eye
        with Image.open(path) as picture:
            small = picture.convert("RGB").quantize(96)
        small.save(path, optimize=True)


def plate(mesh: Mesh) -> None:
    """Draw the temperature of the tutorial, from its exact solution."""
    r2 = (np.asarray(mesh.coordinates.data_ro) ** 2).sum(axis=1)
    u = op2.Dat(mesh.vertices, (1 - r2) / 4, name="u")
    plot_values(mesh, u, HERE / "plate.png", title="Temperature of the plate")


def potential() -> None:
    """Draw how fast the flow of demo aero is, close to the aerofoil."""
    sys.path.insert(0, str(DEMOS))
    phi, _ = importlib.import_module("aero").flow(80)
    mesh = phi.space.mesh
    speed = fem.FunctionSpace(mesh, ("DG", 0))
    speed = fem.interpolate(ufl.sqrt(ufl.grad(phi) ** 2), speed)
    figure = plot_values(mesh, fem.on_mesh(speed), title="Speed, 1 far away")
    axes = figure.axes[0]
    axes.set(xlim=(-0.6, 1.6), ylim=(-0.7, 0.7))
    figure.savefig(HERE / "aero.png", dpi=150, bbox_inches="tight")


def draw(name: str, *arguments: object) -> None:
    """Run a demo that draws."""
    subprocess.run([sys.executable, DEMOS / f"{name}.py", *map(str, arguments)], check=True)


if __name__ == "__main__":
    main()
