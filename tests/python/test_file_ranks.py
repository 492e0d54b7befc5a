# SPDX-License-Identifier: BSD-3-Clause
"""Files of Sets shared by op2.distribute: written by P processes, read by Q, as by one process."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import numpy as np
import pytest
from on_ranks import failure, outputs

from pyop2cxx.base import extras

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(
    not (extras.installed()["mpi4py"] and extras.installed()["h5py"]),
    reason="mpi4py or h5py is not installed",
)

MESH = """
from mpi4py import MPI
from pyop2cxx import io
from pyop2cxx.exceptions import StoredFileError
from pyop2cxx.mesh import Mesh, square_mesh
op2.init(comm=MPI.COMM_WORLD, backend="sequential")
rank, n = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
random = np.random.default_rng(3)
plain = square_mesh(5)
points, rows = np.array(plain.coordinates.data_ro), np.array(plain.cell_vertices.values)
moved = random.permutation(len(points))
mesh = Mesh.from_arrays("triangle", points[np.argsort(moved)], moved[rows], name="m")
c2v, vertices, cells = mesh.cell_vertices, mesh.vertices, mesh.cells
u = op2.Dat(vertices**2, np.arange(2.0 * vertices.size).reshape(-1, 2), name="u")
c = op2.Dat(cells, np.arange(cells.size), "int32", name="c")
g = op2.Global(2, [1.0, 2.0], name="g")
A = op2.Mat(op2.Sparsity((vertices**2, vertices**2), [(c2v, c2v, None)]), name="A")
put = op2.Kernel("void put(double *A, const double *u) { for (int i = 0; i < 36; i++)"
                 " A[i] += u[i / 6] + 100 * u[i % 6]; }", "put")
stars = op2.RaggedMap(vertices, cells, [np.flatnonzero((c2v.values == v).any(axis=1))
                                        for v in range(vertices.size)], name="stars")
in_stars = np.array(stars.offsets), np.array(stars.values)
objects = {"u": u, "c": c, "g": g, "A": A, "c2v": c2v, "vertices": vertices, "stars": stars}
wrong = random.integers(0, n, cells.size)
op2.distribute(cells, wrong * (wrong != 2))  # the rank 2 has nothing
"""
SAVE = (
    MESH
    + """
op2.par_loop(put, cells, A(op2.INC, (c2v, c2v)), u(op2.READ, c2v))
A.assemble()
u.data[...] += 0.5
io.save(sys.argv[1], objects, attributes={"time": 2.5})
u.save(sys.argv[2])
print("saved")
"""
)
RESTORE = (
    MESH
    + """
whole = io.load(sys.argv[1])  # all have all
values = np.array(whole["u"].data_ro)
matrix = whole["A"].to_scipy().toarray()
def same():
    assert (u.gathered() == values).all() and g.data_ro.tolist() == [1, 2]
    assert (u.data_ro_with_halos == values[vertices.global_numbers]).all()
    assert (c.gathered() == np.arange(cells.global_size)).all()
    assert (A.gathered().toarray() == matrix).all() and (matrix != 0).sum() > 400
    y = A @ u
    assert abs(y.gathered().ravel() - matrix @ values.ravel()).max() < 1e-9
for dat in (u, c, g, A):
    dat.zero()
assert io.restore(sys.argv[1], {"u": u, "c": c, "g": g, "A": A}) == {"time": 2.5}
same()
u.zero()
u.load(sys.argv[2])
same()
assert (whole["stars"].offsets == in_stars[0]).all()
assert (whole["stars"].values == in_stars[1]).all()
on = whole["c2v"].iterset
op2.distribute(on, np.arange(on.size) * n // on.size)
assert (whole["u"].gathered() == values).all() and (whole["A"].gathered().toarray() == matrix).all()
x = op2.Dat(vertices, name="x")
for what in (lambda: io.restore(sys.argv[1], {"u": x}), lambda: io.restore(sys.argv[1], {"x": u})):
    try:
        what()
    except StoredFileError:
        pass
    else:
        raise AssertionError
same()
print("right")
"""
)


def test_files_of_some_ranks_are_read_by_others(tmp_path: Path) -> None:
    files = {}
    for n in (1, 2, 3):
        names = [str(tmp_path / f"{n}.{ending}") for ending in ("h5", "npy")]
        assert outputs(SAVE, n, *names) == ["saved"] * n
        files[n] = names
    assert len({(tmp_path / f"{n}.h5").read_bytes() for n in files}) == 1
    assert len({(tmp_path / f"{n}.npy").read_bytes() for n in files}) == 1
    for n, source in ((1, 3), (2, 1), (4, 2)):
        assert outputs(RESTORE, n, *files[source]) == ["right"] * n


def test_a_failure_of_the_first_rank_is_raised_by_all_and_leaves_the_older_file(
    tmp_path: Path,
) -> None:
    text = (
        MESH
        + """
import os
io.save(sys.argv[1], {"u": u})
before = open(sys.argv[1], "rb").read() if rank == 0 else b""
for path, given in ((sys.argv[1] + "/no/a.h5", {"u": u}), (sys.argv[1], {"u": u, "e": 3})):
    try:
        io.save(path, given)
    except Exception as error:
        print(type(error).__name__)
assert rank or open(sys.argv[1], "rb").read() == before
u.data[...] = 7
if rank:
    os.kill(os.getpid(), 9)
io.save(sys.argv[1], objects)
"""
    )
    said = failure(text, 2, str(tmp_path / "a.h5"))
    assert "Traceback" not in said, said
    assert sorted(path.name for path in tmp_path.iterdir() if path.name[0] != ".") == ["a.h5"]
    restored = MESH + "io.restore(sys.argv[1], {'u': u})\nprint(u.gathered()[:2].tolist())\n"
    assert outputs(restored, 1, str(tmp_path / "a.h5")) == ["[[0.0, 1.0], [2.0, 3.0]]"]
    text = MESH + "io.save(sys.argv[1], {'u': u} if rank else {'c': c})\n"
    said = failure(text, 2, str(tmp_path / "b.h5"), PYOP2CXX_PATIENCE="2")
    assert re.search(r"ranks disagree: rank 0 is at sum of .*; rank 1 is at sum of ", said), said


PICTURES = """
import os
from mpi4py import MPI
from pyop2cxx import fem, io, plot
from pyop2cxx.base import extras
from pyop2cxx.mesh import Mesh, square_mesh
op2.init(comm=MPI.COMM_WORLD, backend="sequential")
rank, n = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
random = np.random.default_rng(3)
plain = square_mesh(5)
points, rows = np.array(plain.coordinates.data_ro), np.array(plain.cell_vertices.values)
moved = random.permutation(len(points))
mesh = Mesh.from_arrays("triangle", points[np.argsort(moved)], moved[rows], name="m")
P1, P2, DG = (fem.FunctionSpace(mesh, one) for one in (("P", 1), ("P", 2), ("DG", 0)))
c = op2.Dat(mesh.cells**3, np.arange(3.0 * mesh.cells.size).reshape(-1, 3), name="c")
op2.distribute(mesh.cells, random.integers(0, n, mesh.cells.size))
u, w, d = (fem.Function(space, name=name) for space, name in ((P1, "u"), (P2, "w"), (DG, "d")))
for one in (u, w, d):
    one.interpolate(lambda x: x[0] - 2 * x[1] ** 2)
c.data[...] += 1
os.chdir(sys.argv[1])
io.write_vtu("a.vtu", mesh, c, u, d)
io.write_vtu("b.vtu", mesh, d, numbering="mesh")
series = io.TimeSeries("s.pvd", mesh)
other = io.TimeSeries("t.xdmf", mesh)
for step in range(2):
    series.write(step, u, d)
    other.write(step, d, u)
assert series.times == (0, 1)
io.write_xdmf("x.xdmf", mesh, c, u)
if extras.installed()["h5netcdf"]:
    io.write_ugrid("g.nc", mesh, c, u)
io.write_vtu("p.pvtu", mesh, c, u, d)
made = [fem.on_mesh(f) for f in (u, w, d)]
print(*(f"{one.norm:.12e} {one.sum():.12e}" for one in made))
if n > 1:
    for call in (lambda: mesh.to_original(c), lambda: io.write_npz("a.npz", mesh),
                 mesh.to_pyvista, lambda: io.to_ugrid(mesh), lambda: plot.plot_mesh(mesh),
                 lambda: plot.plot_values(mesh, u.dat)):
        try:
            call()
        except op2.MPI.Exception:
            raise
        except Exception as error:
            assert type(error).__name__ in ("UnsupportedError", "MissingExtraError"), error
        else:
            raise AssertionError(call)
"""


def assert_the_pieces_are_the_whole(folder: Path, n: int) -> None:
    """Each cell is in the piece of one process, and all have the points and values of the whole."""
    meshio = pytest.importorskip("meshio")
    listed = [one.get("Source") for one in ElementTree.parse(folder / "p.pvtu").iter("Piece")]
    assert listed == [f"p_{rank:04d}.vtu" for rank in range(n)]
    whole, cells_met = meshio.read(folder / "a.vtu"), []
    for name in listed:
        piece = meshio.read(folder / name)
        points = piece.point_data.pop("point_numbers").ravel().astype(int)
        (cells,) = piece.cell_data.pop("cell_numbers")
        cells = cells.ravel().astype(int)
        cells_met.extend(cells)
        np.testing.assert_array_equal(piece.points, whole.points[points])
        np.testing.assert_array_equal(points[piece.cells[0].data], whole.cells[0].data[cells])
        assert piece.point_data.keys() == whole.point_data.keys()
        assert piece.cell_data.keys() == whole.cell_data.keys()
        for field, values in piece.point_data.items():
            np.testing.assert_allclose(values, whole.point_data[field][points], rtol=1e-14)
        for field, (values,) in piece.cell_data.items():
            np.testing.assert_array_equal(values, whole.cell_data[field][0][cells])
    assert sorted(cells_met) == list(range(len(whole.cells[0].data)))


def test_pictures_of_ranks_are_those_of_one(tmp_path: Path) -> None:
    found = {}
    for n in (1, 2, 4):
        folder = tmp_path / str(n)
        folder.mkdir()
        lines = outputs(PICTURES, n, str(folder))
        assert len(set(lines)) == 1
        files = {path.name: path.read_bytes() for path in folder.iterdir()}
        pieces = {name for name in files if name.startswith("p")}
        assert pieces == {"p.pvtu", *(f"p_{rank:04d}.vtu" for rank in range(n))}
        assert_the_pieces_are_the_whole(folder, n)
        found[n] = lines[0], {name: files[name] for name in files.keys() - pieces}
    assert len(found[1][1]) == 11 + extras.installed()["h5netcdf"]
    assert found[1] == found[2] == found[4]


def test_a_rank_reads_the_own_rows_and_the_first_checks_all(tmp_path: Path) -> None:
    text = """
from mpi4py import MPI
import h5py
from pyop2cxx import io
op2.init(comm=MPI.COMM_WORLD, backend="sequential")
rank, n = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
cells, edges = op2.Set(1000, "cells"), op2.Set(999, "edges")
ends = op2.Map(edges, cells, 2, np.stack([np.arange(999), np.arange(1, 1000)], 1), "ends")
u = op2.Dat(cells, np.arange(1000.0), name="u")
op2.distribute(cells, np.minimum(np.arange(1000) // 100, n - 1) if n > 1 else [0] * 1000)
io.save(sys.argv[1], {"u": u})
u.zero()
read, n_rows = h5py.Dataset.read_direct, []
def counted(self, to, *where):
    n_rows.append(len(to))
    return read(self, to, *where)
h5py.Dataset.read_direct = counted
io.restore(sys.argv[1], {"u": u})
assert (u.data_ro_with_halos == cells.global_numbers).all()
print(rank, sum(n_rows))
if rank == 0:
    with h5py.File(sys.argv[1], "r+") as file:
        file["dats/u/values"][5] = 7.5
MPI.COMM_WORLD.Barrier()
try:
    io.restore(sys.argv[1], {"u": u})
except Exception as error:
    print(rank, type(error).__name__)
assert (u.data_ro_with_halos == cells.global_numbers).all()
"""
    found = outputs(text, 3, str(tmp_path / "u.h5"))
    assert found == [
        *("0 1000", "0 StoredFileError", "1 102", "1 RanksError", "2 801", "2 RanksError"),
    ]
