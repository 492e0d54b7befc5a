#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make the pictures of the manual anew: ``python docs/pictures/make.py [NAME ...]``; in minutes."""

from __future__ import annotations

import importlib
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import ufl
from PIL import Image

from pyop2cxx import fem, op2
from pyop2cxx.mesh import Mesh, airfoil_arrays, disk_mesh
from pyop2cxx.mesh.files import write_mesh
from pyop2cxx.plot import (
    plot_colours,
    plot_mesh,
    plot_numbering,
    plot_partition,
    plot_sparsity,
    plot_values,
)

if TYPE_CHECKING:
    from collections.abc import Callable

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


OF_FORMS = {
    **{"advection_diffusion": 16, "burgers": 24, "dg_advection": 24, "elasticity": 6},
    **{"hyperelasticity": 12, "mass_laplace": 16, "matrix_free": 6, "maxwell": 7},
    **{
        "mixed_poisson": 10,
        "stokes": 12,
        "wave": 24,
        "column_sum": 12,
        "condensation": 8,
        "multigrid": 3,
    },
}
"""Demos that solve a problem on two meshes, and cells a side of the coarser one."""


def main(*names: str) -> None:
    """Draw what the package can draw, and run the demos; or only those of some names."""
    works: dict[str, Callable[[], object]] = {
        name: partial(demo, name, "--cells", n) for name, n in OF_FORMS.items()
    }
    works |= {
        "numberings": numberings,
        "sets": sets,
        "parts": parts,
        "graph": graph,
        "plate": lambda: plate(disk_mesh(30)),
        "aero": potential,
        "airfoil": airfoil,
        "cylinder": channel,
        "jacobi": partial(demo, "jacobi", "--cells", 40, "--steps", 300),
        "shallow_water": partial(demo, "shallow_water", "--steps", 250),
        "poisson": lambda: draw("poisson", "--plot", HERE / "poisson.png"),
        "heat": heat,
        "voronoi": lambda: draw("voronoi", "--cells", 12, "--plot", HERE / "voronoi.png"),
        "virtual_elements": lambda: draw(
            "virtual_elements", "--cells", 8, "--plot", HERE / "virtual_elements.png"
        ),
        "conjugate_gradients": conjugate_gradients,
        "two_forms": two_forms,
        "roofline": roofline,
    }
    before = {path: path.stat().st_mtime_ns for path in HERE.glob("*.png")}
    for name in names or works:
        works[name]()
    for path in HERE.glob("*.png"):  # a fifth of the size, and the same to the eye
        if before.get(path) != path.stat().st_mtime_ns:
            with Image.open(path) as picture:
                small = picture.convert("RGB").quantize(96)
            small.save(path, optimize=True)


def numberings() -> None:
    """Draw orders, colours and a matrix."""
    plot_numbering(shuffled(disk_mesh(14), renumber=False), HERE / "shuffled.png")
    plot_numbering(shuffled(disk_mesh(14), renumber=True), HERE / "renumbered.png")
    mesh = disk_mesh(8)
    plot_colours(mesh, HERE / "colours.png")
    c2v, nodes = mesh.cell_vertices, mesh.vertices**1
    plot_sparsity(op2.Sparsity((nodes, nodes), [(c2v, c2v, None)]), HERE / "sparsity.png")


def sets() -> None:
    """Draw a small mesh with the numbers of two Sets, and a row of the Map between."""
    mesh = disk_mesh(2)
    points, cells = mesh.coordinates.data_ro, mesh.cell_vertices.values
    figure = plot_mesh(mesh)
    axes = figure.axes[0]
    for i, point in enumerate(points):
        axes.text(
            *point,
            str(i),
            color="tab:blue",
            weight="bold",
            ha="center",
            va="center",
            bbox={"boxstyle": "circle", "facecolor": "white", "edgecolor": "tab:blue"},
        )
    for i, cell in enumerate(cells):
        axes.text(*points[cell].mean(axis=0), str(i), color="tab:red", ha="center", va="center")
    axes.set_title(f"cell 0 (red) leads to the vertices {cells[0].tolist()} (blue)")
    axes.set_axis_off()
    figure.savefig(HERE / "sets.png", dpi=110, bbox_inches="tight")


def parts() -> None:
    """Draw the parts of a mesh for four processes: the cells follow Hilbert's curve."""
    plot_partition(shuffled(disk_mesh(14), renumber=True), 4, HERE / "parts.png")


def graph() -> None:
    """Draw the graph of the manual's page on graphs."""
    text = (HERE.parent / "graphs.md").read_text("utf-8")
    values: dict[str, Any] = {}
    exec(text.split("```python\n")[1].split("```")[0], values)
    (HERE / "graph.svg").write_text(values["graph"].to_svg(), "utf-8")


def airfoil() -> None:
    """Draw the Mach number when the flow is steady."""
    with tempfile.TemporaryDirectory() as folder:
        mesh_file = Path(folder) / "airfoil.npz"
        write_mesh(airfoil_arrays(100, 120), mesh_file)
        options = ("--backend", "openmp", "--iterations", "4000", "--mesh", mesh_file)
        draw("airfoil", "--plot", HERE / "airfoil.png", *options)


def roofline() -> None:
    """Draw the loops of demo airfoil below the ceilings of this machine."""
    options = ("--backend", "openmp", "-o", HERE / "roofline.svg")
    command = (*options, DEMOS / "airfoil.py", "--iterations", 100)
    subprocess.run([sys.executable, "-m", "pyop2cxx", "roofline", *map(str, command)], check=True)


def program(module: str, kind: str, n: int, n_steps: int) -> Any:
    """Return a program of a demo after some steps."""
    made = getattr(importlib.import_module(module), kind)(n)
    for _ in range(n_steps):
        made.step()
    return made


def heat() -> None:
    """Draw the temperature after some time."""
    made = program("heat", "Heat", 32, 300)
    plot_values(made.mesh, made.u, HERE / "heat.png", title="temperature", cmap="inferno")


def conjugate_gradients() -> None:
    """Draw the solution."""
    made = program("conjugate_gradients", "System", 10, 60)
    plot_values(made.mesh, made.u, HERE / "conjugate_gradients.png", title="x + 2 y - z")


def two_forms() -> None:
    """Draw what the stiffness makes of a product of sines."""
    made = program("two_forms", "TwoForms", 24, 1)
    plot_values(made.mesh, made.k, HERE / "two_forms.png", title="stiffness times sines")


def plate(mesh: Mesh) -> None:
    """Draw the temperature of the tutorial, from its exact solution."""
    r2 = (np.asarray(mesh.coordinates.data_ro) ** 2).sum(axis=1)
    u = op2.Dat(mesh.vertices, (1 - r2) / 4, name="u")
    plot_values(mesh, u, HERE / "plate.png", title="Temperature of the plate")


def potential() -> None:
    """Draw how fast the flow of demo aero is, close to the aerofoil."""
    phi, _ = importlib.import_module("aero").flow(80)
    mesh = phi.space.mesh
    speed = fem.FunctionSpace(mesh, ("DG", 0))
    speed = fem.interpolate(ufl.sqrt(ufl.grad(phi) ** 2), speed)
    figure = plot_values(mesh, fem.on_mesh(speed), title="Speed, 1 far away")
    axes = figure.axes[0]
    axes.set(xlim=(-0.6, 1.6), ylim=(-0.7, 0.7))
    figure.savefig(HERE / "aero.png", dpi=150, bbox_inches="tight")


def channel() -> None:
    """Draw the flow of demo cylinder, which is long and low."""
    _, flow = importlib.import_module("cylinder").solve(12)
    look = {"title": "Speed of the flow", "cmap": "inferno"}
    figure = plot_values(flow.space.mesh, fem.on_mesh(flow), **look)
    figure.axes[0].set(xlim=(0.0, 1.2))
    figure.set_size_inches(9.0, 3.5)
    figure.savefig(HERE / "cylinder.png", dpi=110, bbox_inches="tight")


def draw(name: str, *arguments: object) -> None:
    """Run a demo that draws."""
    subprocess.run([sys.executable, DEMOS / f"{name}.py", *map(str, arguments)], check=True)


def demo(name: str, *arguments: object) -> None:
    """Run a demo that draws into a file of its name."""
    draw(name, "--picture", HERE / f"{name}.png", *arguments)


if __name__ == "__main__":
    sys.path.insert(0, str(DEMOS))
    main(*sys.argv[1:])
