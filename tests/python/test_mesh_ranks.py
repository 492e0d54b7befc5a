# SPDX-License-Identifier: BSD-3-Clause
"""Meshes of several kinds of cells, and extruded meshes, shared by op2.distribute."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from on_ranks import failure, outputs

from pyop2cxx.base import extras

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not extras.installed()["mpi4py"], reason="mpi4py is not installed")

HEAD = """
from mpi4py import MPI
from pyop2cxx import io
from pyop2cxx.mesh import Mesh, MixedMesh, interval_mesh, square_mesh
op2.init(comm=MPI.COMM_WORLD, backend="sequential")
n = MPI.COMM_WORLD.size
said = []

def text(body, *names):
    return op2.Kernel(f"void k({', '.join(f'double *{one}' for one in names)}) {{ {body} }}", "k")

def partition(on, seed):
    random = np.random.default_rng([seed, n])
    some = random.permutation(n)[: random.integers(1, n + 1)]
    return some[random.integers(len(some), size=on.size)] if seed else "metis"
"""
MIXED = (
    HEAD
    + """
def mesh_of(random):
    points = np.stack(np.meshgrid(np.arange(6.0), np.arange(5.0), indexing="ij"), -1).reshape(-1, 2)
    points += 0.1 * random.random(points.shape)
    corner = (np.arange(5)[:, None] * 5 + np.arange(4)).reshape(-1)
    quads = corner[:, None] + [0, 1, 5, 6]
    split = random.random(len(quads)) < 0.5
    halves = np.concatenate([quads[split][:, [0, 1, 2]], quads[split][:, [1, 2, 3]]])
    return MixedMesh(points, {"triangle": halves, "quadrilateral": quads[~split]},
                     cell_tags={"some": {"triangle": [0, 3], "quadrilateral": [1]}},
                     facet_tags={"left": [[[i, i + 1] for i in range(4)]]})

def solid():
    points = np.array([[i, j, k] for k in range(2) for j in range(2) for i in range(3)], float)
    hexahedron, prism = [0, 1, 3, 4, 6, 7, 9, 10], [[1, 2, 4, 7, 8, 10], [2, 4, 5, 8, 10, 11]]
    return MixedMesh(points, {"hexahedron": [hexahedron], "prism": prism})

for seed in range(int(sys.argv[1])):
    random = np.random.default_rng(seed)
    mesh = solid() if seed == 3 else mesh_of(random)
    u = op2.Dat(mesh.vertices, random.random(mesh.vertices.size), name="u")
    w = op2.Dat(mesh.vertices, name="w")
    values = {kind: op2.Dat(on, random.random(on.size)) for kind, on in mesh.cells.items()}
    found = {kind: op2.Dat(on) for kind, on in mesh.cells.items()}
    if seed % 2:
        facets = mesh.exterior_facets, mesh.interior_facets
    bases = [mesh.vertices, *mesh.cells.values()]
    base = bases[seed % len(bases)]
    op2.distribute(base, partition(base, seed))
    for kind, on in mesh.cells.items():
        path, volumes = mesh.cell_vertices[kind], mesh.cell_volumes[kind]
        k = path.arity
        loop = text(f"for (int i = 0; i < {k}; i++) w[i] += v[0] * (u[i] + i);", *"uwv")
        op2.par_loop(loop, on, u(op2.READ, path), w(op2.INC, path), volumes(op2.READ))
        said += [w.norm, volumes.sum()]
        for part in mesh.cell_tags[kind].values():
            op2.par_loop(loop, part, u(op2.READ, path), w(op2.INC, path), volumes(op2.READ))
            said.append(w.norm)
    for key, facets in sorted(mesh.interior_facets.items()):
        one, two = facets.cells
        loop = text("double f = (a[0] - b[0]) * m[0] + m[1] + u[0] - u[1];"
                       "p[0] += f; q[0] -= f;", *"abmupq")
        a, b = key[:2]
        op2.par_loop(loop, facets.set, values[a](op2.READ, one), values[b](op2.READ, two),
                     facets.normals(op2.READ), u(op2.READ, facets.vertices),
                     found[a](op2.INC, one), found[b](op2.INC, two))
        said += [facets.normals.norm, found[a].norm, found[b].norm]
        said += [*np.ravel(facets.local_numbers.sum())]
    for key, facets in sorted(mesh.exterior_facets.items()):
        loop = text("w[0] += n[0] + 2 * n[1] + p[0]; w[1] -= p[0];", *"wnp")
        for on in (facets.set, *facets.tags.values()):
            op2.par_loop(loop, on, w(op2.INC, facets.vertices), facets.normals(op2.READ),
                         values[key[0]](op2.READ, facets.cells[0]))
            said += [w.norm, *facets.normals.sum()]
    for kind, part in mesh.parts.items():
        said += [part.cell_volumes.sum(), part.exterior_facets.set.global_size]
        if len(sys.argv) > 2 and seed == 1:
            io.write_vtu(f"{sys.argv[2]}_{kind}.vtu", part, found[kind], w)
    assert set(mesh.parts) == set(mesh.cells) - {"prism"}
print(*(f"{one:.9e}" for one in said))
"""
)


def agree(found: list[str], wanted: list[str]) -> None:
    """Compare lines of numbers; sums that cancel, as those of normals, end in rounding."""
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(
            np.array(one.split(), float), np.array(other.split(), float), rtol=2e-9, atol=1e-12
        )


def test_meshes_of_several_kinds_of_cells_are_as_on_one(tmp_path: Path) -> None:
    usual = outputs(MIXED, 1, "9", str(tmp_path / "1"))
    for n in (2, 3, 4):
        agree(outputs(MIXED, n, "9", str(tmp_path / str(n))), usual * n)
        for kind in ("triangle", "quadrilateral"):
            files = [tmp_path / f"{k}_{kind}.vtu" for k in (1, n)]
            assert len({one.stat().st_size for one in files}) == 1


EXTRUDED = (
    HEAD
    + """
for seed in range(int(sys.argv[1])):
    random = np.random.default_rng(seed)
    base = [lambda: square_mesh(3), lambda: square_mesh(3, cell="quadrilateral"),
            lambda: interval_mesh(6)][seed % 3]()
    if seed % 2:
        low = random.integers(0, 2, base.cells.size)
        layers = np.stack([low, low + random.integers(2, 4, base.cells.size)], 1)
    else:
        layers = 3
    mesh = base.extruded(layers, lambda x, s: s * (1 + x[0]), continuous=seed != 4)
    u = op2.Dat(mesh.vertices, random.random(mesh.vertices.size), name="u")
    w = op2.Dat(mesh.vertices, name="w")
    c, d = (op2.Dat(mesh.cells, random.random(mesh.cells.size), name=one) for one in "cd")
    flat = op2.Dat(base.cells, random.random(base.cells.size), name="flat")
    one_of_each = mesh.n_cells
    heights = np.array(mesh.levels), np.array(mesh.base_vertices)
    op2.distribute(base.cells, partition(base.cells, seed))
    assert (mesh.levels == heights[0][mesh.vertices.global_numbers]).all()
    below = base.vertices.global_numbers[mesh.base_vertices]
    assert (below == heights[1][mesh.vertices.global_numbers]).all() and (
        mesh.base_vertices >= 0).all()
    assert MPI.COMM_WORLD.allreduce(mesh.n_cells) == one_of_each, mesh
    k = mesh.cell_vertices.arity
    for path, cells in ((mesh.cell_vertices, mesh.column_cells), mesh.from_top[::-1]):
        loop = text(f"for (int i = 0; i < {k}; i++) {{ w[i] += c[0] * (u[i] + i) + f[0];"
                       " d[0] += u[i]; } f[0] = 0.5 * f[0] + d[0];", *"uwcdf")
        op2.par_loop(loop, mesh.columns, u(op2.READ, path), w(op2.INC, path),
                     c(op2.READ, cells), d(op2.RW, cells), flat(op2.RW))
        said += [w.norm, d.norm, flat.norm]
    tops = text(f"for (int i = 0; i < {k}; i++) w[i] += u[i] * c[0];", *"uwc")
    path = mesh.cell_vertices
    op2.par_loop(tops, mesh.columns, u(op2.READ, path), w(op2.INC, path),
                 c(op2.READ, mesh.column_cells), iteration_region=op2.ON_TOP)
    sides = mesh.sides
    k = sides.vertices.arity
    loop = text(f"for (int i = 0; i < {k}; i++) w[i] += u[i] * (i + 1);", *"uw")
    for on in (sides.set, *sides.tags.values()):
        op2.par_loop(loop, on, u(op2.READ, sides.vertices), w(op2.INC, sides.vertices))
        said.append(w.norm)
    for tag, part in mesh.vertex_tags.items():
        op2.par_loop(text("w[0] += 1 + u[0];", *"uw"), part, u(op2.READ), w(op2.RW))
        said.append(w.norm)
    said += [u.norm, mesh.coordinates.norm]
print(*(f"{one:.9e}" for one in said))
"""
)


def test_extruded_meshes_are_as_on_one() -> None:
    usual = outputs(EXTRUDED, 1, "9")
    for n in (2, 3, 4):
        agree(outputs(EXTRUDED, n, "9"), usual * n)


FLAT = (
    HEAD
    + """
import ufl
from pyop2cxx import fem
for cell, when in (("triangle", "columns"), ("quadrilateral", "flat")):
    mesh = square_mesh(3, cell=cell).extruded(3, lambda x, s: s * (1 + x[0]))
    V = fem.FunctionSpace(mesh, ("P" if cell == "triangle" else "Q", 1))
    bcs = [fem.DirichletBC(V, 0.0, ["lower", "left"]), fem.DirichletBC(V, 1.0, "upper")]
    w = op2.Dat(mesh.vertices, name="w")
    on = mesh.base.cells if when == "columns" else mesh.flat.cells
    op2.distribute(on, partition(on, 1))
    assert mesh.columns.ranks is not None or n == 1
    u, v, found = ufl.TrialFunction(V), ufl.TestFunction(V), fem.Function(V)
    a = ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx
    L = v * ufl.dx + v * fem.ds(mesh.flat, "right")
    fem.solve(a == L, found, bcs)
    said += [found.dat.norm, fem.norm(found, "H1"), fem.assemble(found * ufl.ds)]
    loop = text("for (int i = 0; i < 4; i++) w[i] += 1;", "w")
    op2.par_loop(loop, mesh.columns, w(op2.INC, mesh.cell_vertices))
    said.append(w.norm)
    if len(sys.argv) > 1:
        io.write_vtu(f"{sys.argv[1]}_{cell}.vtu", mesh.flat, found)
print(*(f"{one:.8e}" for one in said))
"""
)


@pytest.mark.skipif(not extras.installed()["ufl"], reason="UFL is not installed")
def test_forms_on_extruded_meshes_are_as_on_one(tmp_path: Path) -> None:
    usual = outputs(FLAT, 1, str(tmp_path / "1"))
    for n in (2, 3):
        agree(outputs(FLAT, n, str(tmp_path / str(n))), usual * n)


def test_a_shared_extruded_mesh_refuses_to_be_flattened_by_name() -> None:
    text = (
        HEAD
        + """
mesh = square_mesh(2).extruded(2)
op2.distribute(mesh.base.cells)
mesh.flat
"""
    )
    said = failure(text, 2)
    assert "to_mesh: a process has only a part of the cells; ask for flat before" in said
