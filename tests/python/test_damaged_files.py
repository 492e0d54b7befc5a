# SPDX-License-Identifier: BSD-3-Clause
"""Damaged files are refused with the file's name and what is wrong, in time and before changes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.base import hdf5
from pyop2cxx.exceptions import DataValueError, MeshFileError, StoredFileError, UsageError
from pyop2cxx.io import load, restore, save, write_npz, write_vtu, write_xdmf
from pyop2cxx.mesh import airfoil_arrays, read, square_mesh
from pyop2cxx.mesh.files import read_mesh, write_mesh

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

h5py = pytest.importorskip("h5py")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    mesh = square_mesh(2)
    mat = op2.Mat(op2.Sparsity((mesh.vertices, mesh.vertices), mesh.cell_vertices))
    u = op2.Dat(mesh.vertices**2, np.arange(18.0), name="u")
    objects = {"u": u, "A": mat, "c2v": mesh.cell_vertices, "g": op2.Global(1, 2.0)}
    save(tmp_path / "a.h5", objects, attributes={"time": 0.25, "title": "heat"})
    return tmp_path / "a.h5"


def taken(path: Path) -> tuple[list[float], Any]:
    """What a program gets of the file."""
    mesh = square_mesh(2)
    u = op2.Dat(mesh.vertices**2, dtype=float)
    try:
        attributes = restore(path, {"u": u})
    except StoredFileError:
        assert not u.data_ro.any()
        raise
    return u.data_ro.ravel().tolist(), attributes


def test_flipped_bits_never_give_other_values(saved: Path) -> None:
    whole = saved.read_bytes()
    right = taken(saved)
    random = np.random.default_rng(5)
    refused: list[str] = []
    for at in random.choice(len(whole), 50, replace=False):
        changed = bytearray(whole)
        changed[at] ^= 1 << int(random.integers(8))
        saved.write_bytes(changed)
        for read_it in (taken, load):
            try:
                found = read_it(saved)
            except StoredFileError as error:
                refused.append(str(error))
            else:
                assert read_it is load or found == right
    assert refused
    assert all(saved.name in one for one in refused)


@pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_file_that_is_cut_off(saved: Path, part: float) -> None:
    whole = saved.read_bytes()
    saved.write_bytes(whole[: int(part * len(whole))])
    with pytest.raises(StoredFileError, match=r"a\.h5"):
        load(saved)
    with pytest.raises(StoredFileError, match=r"a\.h5"):
        taken(saved)


def _loop(file: Any) -> None:
    file["dats/u/again"] = file["dats"]


def _outside(file: Any) -> None:
    file["dats/v"] = h5py.ExternalLink("other.h5", "/dats/u")


def _nowhere(file: Any) -> None:
    del file["dats/u/values"]
    file["dats/u/values"] = h5py.SoftLink("/none")


def _huge(file: Any) -> None:
    file.create_dataset("dats/u/more", shape=(2**60,), dtype=float, chunks=(1024,))


def _empty(file: Any) -> None:
    del file["dats/u/values"]
    file["dats/u/values"] = h5py.Empty("f8")


def _away(name: str) -> Callable[[Any], None]:
    def remove(file: Any) -> None:
        del file[name]

    return remove


def _group_for_values(file: Any) -> None:
    del file["dats/u/values"]
    file.create_group("dats/u/values")


def _words(file: Any) -> None:
    del file["dats/u/values"]
    file["dats/u/values"] = np.array(["a", "b"], dtype=h5py.string_dtype())


def _other_set(file: Any) -> None:
    file["dats/u"].attrs["set"] = "set_77"


def _elsewhere(file: Any) -> None:
    del file["dats/u/values"]
    file["dats/u"].create_dataset(
        "values", shape=(9, 2), dtype=float, external=[("/dev/zero", 0, 144)]
    )


CHANGES = {
    "circle": _loop,
    "other file": _outside,
    "dangling": _nowhere,
    "huge": _huge,
    "empty": _empty,
    "no values": _away("dats/u/values"),
    "no sets": _away("sets"),
    "no attributes": _away("attributes"),
    "group": _group_for_values,
    "words": _words,
    "no set": _other_set,
    "external values": _elsewhere,
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("version", [1, 2])
def test_a_file_of_another_shape(saved: Path, change: str, version: int) -> None:
    with h5py.File(saved, "r+") as file:
        CHANGES[change](file)
        file.attrs["version"] = version
    for read_it in (taken, load):
        if (change, version, read_it) in (("no sets", 1, taken), ("no attributes", 1, load)):
            continue  # what is missing is not looked at there
        if (change, version, read_it) == ("no set", 1, taken):
            continue
        with pytest.raises(StoredFileError, match=r"a\.h5") as caught:
            read_it(saved)
        assert caught.value.__cause__ is None


def test_what_hangs_or_crashes_does_so_elsewhere(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hdf5, "_SECONDS", 1)

    def hangs(*_: object) -> str:
        while True:
            pass

    monkeypatch.setattr(hdf5, "_found", hangs)
    with pytest.raises(StoredFileError, match=r"a\.h5: reading it has not ended in 1 s"):
        load(saved)
    monkeypatch.setattr(hdf5, "_found", lambda *_: os.abort())
    with pytest.raises(StoredFileError, match="has ended a process by SIGABRT"):
        load(saved)


@pytest.mark.parametrize("suffix", ["h5", "npz", "dat"])
def test_damaged_airfoils(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"grid.{suffix}"
    write_mesh(airfoil_arrays(4, 3), path)
    whole = path.read_bytes()
    random, refused = np.random.default_rng(7), list[str]()
    for at in random.choice(len(whole), 60, replace=False):
        changed = bytearray(whole)
        changed[at] ^= 1 << int(random.integers(8))
        path.write_bytes(changed if at % 2 else whole[:at])
        try:
            read_mesh(path)
        except UsageError as error:
            refused.append(str(error))
    assert refused
    assert all("grid" in one for one in refused)


def test_meshes_that_are_damaged(tmp_path: Path) -> None:
    pytest.importorskip("meshio")
    mesh = square_mesh(3)
    write_vtu(tmp_path / "m.vtu", mesh)
    write_xdmf(tmp_path / "m.xdmf", mesh)
    random, refused = np.random.default_rng(9), list[str]()
    for damaged, opened in (("m.vtu", "m.vtu"), ("m.xdmf", "m.xdmf"), ("m.h5", "m.xdmf")):
        whole = (tmp_path / damaged).read_bytes()
        for at in random.choice(len(whole), 40, replace=False):
            changed = bytearray(whole)
            changed[at] ^= 1 << int(random.integers(8))
            (tmp_path / damaged).write_bytes(changed if at % 2 else whole[:at])
            try:
                read(tmp_path / opened)
            except (MeshFileError, DataValueError) as error:
                refused.append(str(error))
        (tmp_path / damaged).write_bytes(whole)
    assert refused


def test_npz_for_cpp_is_read_by_numpy(tmp_path: Path) -> None:
    write_npz(tmp_path / "m.npz", square_mesh(2))
    assert np.load(tmp_path / "m.npz")["cells"].shape == (8, 3)
