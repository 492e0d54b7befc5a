# SPDX-License-Identifier: BSD-3-Clause
"""Values in files and the numberings they belong to: brought to that in use, or refused."""

from __future__ import annotations

import copy
import pickle
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import fem, op2
from pyop2cxx.exceptions import DataValueError, StoredFileError, UsageError
from pyop2cxx.io import TimeSeries, load, restore, save, write_vtu
from pyop2cxx.mesh import Mesh, square_mesh

if TYPE_CHECKING:
    from pathlib import Path

h5py = pytest.importorskip("h5py")


def arrays(n: int = 5, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """A square of triangles, its vertices and cells in a random order."""
    mesh, random = square_mesh(n), np.random.default_rng(seed)
    points, rows = np.array(mesh.coordinates.data_ro), np.array(mesh.cell_vertices.values)
    new = random.permutation(len(points))
    where = np.empty_like(points)
    where[new] = points
    return where, new[rows][random.permutation(len(rows))]


def mesh_of(renumber: bool, n: int = 5, seed: int = 3) -> Mesh:
    return Mesh.from_arrays("triangle", *arrays(n, seed), renumber=renumber)


def middles(mesh: Mesh) -> np.ndarray:
    return np.asarray(mesh.coordinates.data_ro)[mesh.cell_vertices.values].mean(axis=1)


WAYS = [(True, False), (False, True), (True, True), (False, False)]


@pytest.mark.parametrize(("saved", "read"), WAYS)
def test_values_come_to_the_numbers_of_the_mesh_at_hand(
    tmp_path: Path, saved: bool, read: bool
) -> None:
    old, new = mesh_of(saved), mesh_of(read)
    on_points = op2.Dat(old.vertices**2, np.array(old.coordinates.data_ro), name="p")
    on_cells = op2.Dat(old.cells**2, middles(old), np.float32, name="c")
    save(tmp_path / "a.h5", {"p": on_points, "c": on_cells, "cv": old.cell_vertices})
    p, c = op2.Dat(new.vertices**2, dtype=float), op2.Dat(new.cells**2, dtype=np.float32)
    restore(tmp_path / "a.h5", {"p": p, "c": c})
    assert np.array_equal(p.data_ro, new.coordinates.data_ro)
    assert np.array_equal(c.data_ro, middles(new).astype(np.float32))


@pytest.mark.parametrize(("saved", "read"), WAYS)
def test_what_was_loaded_knows_its_numbering(tmp_path: Path, saved: bool, read: bool) -> None:
    old, new = mesh_of(saved), mesh_of(read)
    save(tmp_path / "a.h5", {"p": op2.Dat(old.vertices**2, np.array(old.coordinates.data_ro))})
    loaded: Any = load(tmp_path / "a.h5")["p"]
    assert np.array_equal(loaded.data_ro, old.coordinates.data_ro)
    save(tmp_path / "b.h5", {"p": loaded})
    p = op2.Dat(new.vertices**2, dtype=float)
    restore(tmp_path / "b.h5", {"p": p})
    assert np.array_equal(p.data_ro, new.coordinates.data_ro)
    save(tmp_path / "c.h5", {"p": p})
    loaded.zero()
    restore(tmp_path / "c.h5", {"p": loaded})
    assert np.array_equal(loaded.data_ro, old.coordinates.data_ro)


def mass(mesh: Mesh) -> op2.Mat:
    """A matrix whose entry of two vertices tells both of them, and its block of two columns."""
    c2v, x = mesh.cell_vertices, np.asarray(mesh.coordinates.data_ro)
    mat = op2.Mat(op2.Sparsity((mesh.vertices, mesh.vertices**2), [(c2v, c2v, None)]))
    rows = np.repeat(np.arange(mesh.vertices.size), np.diff(mat.sparsity.rowptr))
    parts = x[rows] * [3, 7] + x[mat.sparsity.colidx] * [11, 0.5]
    mat.array[...] = parts.reshape(mat.array.shape)
    return mat


@pytest.mark.parametrize(("saved", "read"), WAYS)
def test_entries_of_mats_come_to_their_places(tmp_path: Path, saved: bool, read: bool) -> None:
    old, new = mass(mesh_of(saved)), mass(mesh_of(read))
    save(tmp_path / "a.h5", {"A": old})
    kept = new.values.copy()
    new.zero()
    restore(tmp_path / "a.h5", {"A": new})
    assert np.array_equal(new.values, kept)


def test_a_diagonal_mat_has_the_same_places_in_any_numbering(tmp_path: Path) -> None:
    old, new = mesh_of(True), mesh_of(False)
    mats = []
    for mesh in (old, new):
        same = op2.Map(mesh.vertices, mesh.vertices, 1, np.arange(mesh.vertices.size))
        mats.append(op2.Mat(op2.Sparsity((mesh.vertices, mesh.vertices), [(same, same, None)])))
    mats[0].array[...] = np.asarray(old.coordinates.data_ro)[:, :1].reshape(mats[0].array.shape)
    save(tmp_path / "a.h5", {"A": mats[0]})
    restore(tmp_path / "a.h5", {"A": mats[1]})
    assert np.array_equal(mats[1].array.reshape(-1), np.asarray(new.coordinates.data_ro)[:, 0])


def test_renumbered_by_hand(tmp_path: Path) -> None:
    """Plain Sets and Maps, without a Mesh; renumbered once, twice, and back."""

    def world() -> SimpleNamespace:
        points, rows = arrays()
        cells, nodes = op2.Set(len(rows)), op2.Set(len(points))
        return SimpleNamespace(
            c2n=op2.Map(cells, nodes, 3, rows), x=op2.Dat(nodes**2, points), nodes=nodes
        )

    def restored(one: SimpleNamespace) -> bool:
        found = op2.Dat(one.nodes**2, dtype=float)
        restore(tmp_path / "a.h5", {"x": found})
        return np.array_equal(found.data_ro, one.x.data_ro)

    one, other = world(), world()
    first = op2.renumber([one.c2n], [one.x], method="hilbert", coordinates=one.x)
    op2.renumber([one.c2n], [one.x], method="lines", coordinates=one.x)
    save(tmp_path / "a.h5", {"x": one.x})
    assert restored(other)
    assert restored(one)
    with pytest.raises(UsageError, match="was renumbered again since"):
        first.to_original(one.x)
    way = op2.renumber([other.c2n], [other.x], method="morton", coordinates=other.x)
    assert restored(other)
    way.undo()
    assert other.nodes.reordering.order is None
    assert restored(other)


def test_a_mesh_renumbered_twice_is_written_as_it_was_given(tmp_path: Path) -> None:
    meshio = pytest.importorskip("meshio")
    mesh = mesh_of(True)
    points, rows = arrays()
    op2.renumber([mesh.cell_vertices], [mesh.coordinates], coordinates=mesh.coordinates)
    assert np.array_equal(mesh.to_original(mesh.coordinates), points)
    write_vtu(tmp_path / "a.vtu", mesh)
    found = meshio.read(tmp_path / "a.vtu")
    assert np.array_equal(found.points[:, :2], points)
    assert np.array_equal(found.cells[0].data, rows)


def test_values_that_were_left_out_of_a_renumbering_are_not_written(tmp_path: Path) -> None:
    mesh = mesh_of(False)
    left_out = op2.Dat(mesh.vertices, np.arange(mesh.vertices.size, dtype=float), name="u")
    facet_vertices = mesh.facets.vertices
    op2.renumber([mesh.cell_vertices], [mesh.coordinates], coordinates=mesh.coordinates)
    for wrong in (
        lambda: save(tmp_path / "a.h5", {"u": left_out}),
        lambda: save(tmp_path / "a.h5", {"m": facet_vertices}),
        lambda: write_vtu(tmp_path / "a.vtu", mesh, left_out),
        lambda: TimeSeries(tmp_path / "a.pvd", mesh).write(0.0, left_out),
        lambda: mesh.to_original(left_out),
        lambda: pickle.dumps(left_out),
        lambda: copy.deepcopy(left_out),
        lambda: pickle.dumps(facet_vertices),
    ):
        with pytest.raises(UsageError, match=r"left out when op2\.renumber"):
            wrong()
    assert list(tmp_path.iterdir()) == []
    left_out.zero()
    save(tmp_path / "a.h5", {"u": left_out})


ELEMENTS = [("P", 1), ("P", 2), ("P", 3), ("DP", 0), ("DP", 1), ("RT", 1), ("P", 1, (2,))]


@pytest.mark.parametrize("element", ELEMENTS, ids=str)
@pytest.mark.parametrize(("saved", "read"), WAYS)
def test_functions(tmp_path: Path, element: Any, saved: bool, read: bool) -> None:
    def made(mesh: Mesh) -> fem.Function:
        u = fem.Function(fem.FunctionSpace(mesh, element))
        if element[0] == "RT" or len(element) > 2:
            return fem.interpolate(lambda x: np.stack([x[0] + 2, x[1] * x[0]]), u)
        return fem.interpolate(lambda x: 1 + x[0] + 7 * x[1], u)

    old, new = made(mesh_of(saved)), made(mesh_of(read))
    save(tmp_path / "u.h5", {"u": old.dat})
    kept = new.values.copy()
    new.dat.zero()
    if saved != read and element[:2] not in (("P", 1), ("DP", 0)):
        with pytest.raises(StoredFileError, match="in another numbering than that of Set"):
            restore(tmp_path / "u.h5", {"u": new.dat})
        assert not new.values.any()
    else:
        restore(tmp_path / "u.h5", {"u": new.dat})
        assert np.allclose(new.values, kept, 1e-14)


@pytest.mark.parametrize("which", ["facets", "exterior_facets", "interior_facets"])
def test_facets_have_no_way_back(tmp_path: Path, which: str) -> None:
    old, new, same = mesh_of(True), mesh_of(False), mesh_of(True)
    u = op2.Dat(getattr(old, which).set, np.arange(getattr(old, which).set.size))
    save(tmp_path / "u.h5", {"u": u})
    there = op2.Dat(getattr(same, which).set, dtype=u.dtype)
    restore(tmp_path / "u.h5", {"u": there})
    assert np.array_equal(there.data_ro, u.data_ro)
    with pytest.raises(StoredFileError, match="only values on cells and vertices can be"):
        restore(tmp_path / "u.h5", {"u": op2.Dat(getattr(new, which).set, dtype=u.dtype)})
    with pytest.raises(UsageError, match="was numbered after its mesh was renumbered"):
        old.to_original(u)
    assert np.array_equal(new.to_original(op2.Dat(new.facets.set, 1.0)), np.ones(85))


def test_values_of_another_mesh_of_that_size_are_refused(tmp_path: Path) -> None:
    old, new = mesh_of(True), mesh_of(True, seed=4)
    save(tmp_path / "u.h5", {"u": op2.Dat(old.vertices, 1.0), "c": op2.Dat(old.cells, 1.0)})
    for name, on in (("u", new.vertices), ("c", new.cells)):
        with pytest.raises(StoredFileError, match="was saved on another mesh than that of Set"):
            restore(tmp_path / "u.h5", {name: op2.Dat(on, 1.0)})


@pytest.mark.parametrize("copied", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy])
def test_copies_know_their_numbering(tmp_path: Path, copied: Any) -> None:
    old, new = mesh_of(True), mesh_of(False)
    p = op2.Dat(old.vertices**2, np.array(old.coordinates.data_ro), name="p")
    edge = op2.Dat(old.facets.set, np.arange(old.facets.set.size), name="e")
    p, edge = copied((p, edge))
    save(tmp_path / "a.h5", {"p": p, "e": edge})
    q = op2.Dat(new.vertices**2, dtype=float)
    restore(tmp_path / "a.h5", {"p": q})
    assert np.array_equal(q.data_ro, new.coordinates.data_ro)
    with pytest.raises(StoredFileError, match="in another numbering"):
        restore(tmp_path / "a.h5", {"e": op2.Dat(new.facets.set, dtype=edge.dtype)})
    restore(tmp_path / "a.h5", {"p": p, "e": edge})
    assert np.array_equal(p.data_ro, old.coordinates.data_ro)


def test_files_of_version_1_are_taken_as_they_are(tmp_path: Path) -> None:
    mesh = mesh_of(True)
    u = op2.Dat(mesh.vertices, np.arange(mesh.vertices.size, dtype=float))
    save(tmp_path / "u.h5", {"u": u})
    with h5py.File(tmp_path / "u.h5", "r+") as file:
        file.attrs["version"] = 1
        for group in file["sets"].values():
            del group.attrs["in_use"], group.attrs["original"], group["order"]
    v = op2.Dat(mesh.vertices, dtype=float)
    restore(tmp_path / "u.h5", {"u": v})
    assert np.array_equal(u.data_ro, v.data_ro)
    assert np.array_equal(load(tmp_path / "u.h5")["u"].data_ro, u.data_ro)  # type: ignore[union-attr]


def test_an_order_that_numbers_nothing_is_damage(tmp_path: Path) -> None:
    mesh = mesh_of(True)
    mesh.vertices.reordering.order = np.zeros(mesh.vertices.size, np.int64)
    save(tmp_path / "u.h5", {"u": op2.Dat(mesh.vertices, 1.0)})
    with pytest.raises(StoredFileError, match=r"/order does not number its 36 entities"):
        load(tmp_path / "u.h5")


@pytest.mark.parametrize(("saved", "read"), WAYS)
def test_files_of_numpy_come_to_the_numbers_at_hand(
    tmp_path: Path, saved: bool, read: bool
) -> None:
    old, new = mesh_of(saved), mesh_of(read)
    op2.Dat(old.vertices**2, np.array(old.coordinates.data_ro)).save(tmp_path / "x")
    assert np.array_equal(np.load(tmp_path / "x.npy"), old.coordinates.data_ro)
    x = op2.Dat(new.vertices**2, dtype=float)
    x.load(tmp_path / "x")
    assert np.array_equal(x.data_ro, new.coordinates.data_ro)
    facets = op2.Dat(old.facets.set, np.arange(85))
    facets.save(tmp_path / "f")
    there = op2.Dat(new.facets.set, dtype=facets.dtype)
    if saved == read:
        there.load(tmp_path / "f")
        assert np.array_equal(there.data_ro, facets.data_ro)
    else:
        with pytest.raises(StoredFileError, match="in another numbering"):
            there.load(tmp_path / "f")
    with pytest.raises(StoredFileError, match="on another mesh"):
        op2.Dat(mesh_of(read, seed=4).vertices ** 2, dtype=float).load(tmp_path / "x")


def test_files_of_numpy_by_others_and_damaged(tmp_path: Path) -> None:
    x = op2.Dat(mesh_of(True).vertices, dtype=float)
    np.save(tmp_path / "x.npy", np.arange(36.0))
    x.load(tmp_path / "x")
    assert np.array_equal(x.data_ro, np.arange(36.0))
    x.save(tmp_path / "x")
    whole = (tmp_path / "x.npy").read_bytes()
    for n in (0, 5, 100, len(whole) - 3):
        (tmp_path / "x.npy").write_bytes(whole[:n])
        with pytest.raises(DataValueError, match=r"x\.npy is damaged|x\.npy: what stands"):
            x.load(tmp_path / "x")
