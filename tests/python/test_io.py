# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import os
import sys

import h5py
import numpy as np
import pytest

from pyop2cxx.exceptions import DataTypeError, DataValueError, MissingExtraError, UsageError
from pyop2cxx.io import (
    read_hdf5,
    read_hdf5_fields,
    read_mesh,
    read_npz,
    read_text,
    write_hdf5,
    write_mesh,
    write_npz,
    write_text,
)
from pyop2cxx.io.atomic import replacing
from pyop2cxx.mesh import airfoil_mesh, free_stream

SUFFIXES = (".npz", ".h5", ".hdf5", ".dat")


@pytest.fixture(scope="module")
def mesh():
    return airfoil_mesh(6, 4)


@pytest.fixture
def h5(mesh, tmp_path):
    path = tmp_path / "grid.h5"
    write_hdf5(mesh, path)
    return path


def replace_dataset(path, name, values):
    with h5py.File(path, "a") as file:
        del file[name]
        if values is not None:
            file[name] = values


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_mesh_comes_back_bit_for_bit(mesh, tmp_path, suffix):
    path = tmp_path / f"mesh{suffix}"
    write_mesh(mesh, path)
    for name, values in read_mesh(path).arrays().items():
        assert values.dtype == mesh.arrays()[name].dtype
        assert values.flags.c_contiguous
        np.testing.assert_array_equal(values, mesh.arrays()[name], err_msg=name)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_writing_leaves_one_file_and_replaces_what_was_there(mesh, tmp_path, suffix):
    path = tmp_path / f"mesh{suffix}"
    path.write_text("old")
    write_mesh(mesh, path)
    assert os.listdir(tmp_path) == [path.name]
    assert read_mesh(path).n_cells == mesh.n_cells


@pytest.mark.parametrize("function", [read_mesh, lambda path: write_mesh(airfoil_mesh(2, 2), path)])
def test_unknown_suffixes_are_refused(function):
    with pytest.raises(UsageError, match=r"mesh\.vtk: expected \.npz, .*, got '\.vtk'"):
        function("mesh.vtk")


def test_a_failed_write_keeps_the_old_file(tmp_path):
    path = tmp_path / "result.txt"
    path.write_text("old")

    def fail():
        with replacing(path) as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert os.listdir(tmp_path) == ["result.txt"]
    assert path.read_text() == "old"


def test_new_files_have_the_mode_of_any_other(tmp_path):
    (tmp_path / "plain").write_text("")
    with replacing(tmp_path / "replaced") as temporary:
        temporary.write_text("")
    assert (tmp_path / "replaced").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_hdf5_has_the_layout_of_new_grid(mesh, h5):
    rows = {
        "pedge": (mesh.n_edges, 2),
        "pecell": (mesh.n_edges, 2),
        "pbedge": (mesh.n_bedges, 2),
        "pbecell": (mesh.n_bedges, 1),
        "pcell": (mesh.n_cells, 4),
        "p_x": (mesh.n_nodes, 2),
        "p_q": (mesh.n_cells, 4),
        "p_qold": (mesh.n_cells, 4),
        "p_adt": (mesh.n_cells, 1),
        "p_res": (mesh.n_cells, 4),
        "p_bound": (mesh.n_bedges, 1),
    }
    sizes = {
        "nodes": [mesh.n_nodes],
        "edges": [mesh.n_edges],
        "bedges": [mesh.n_bedges],
        "cells": [mesh.n_cells],
    }
    with h5py.File(h5) as file:
        assert {name: file[name].shape for name in rows} == rows
        assert {name: file[name][:].tolist() for name in sizes} == sizes
        assert set(file) == rows.keys() | sizes.keys()
        assert (file["p_x"].attrs["type"], file["p_bound"].attrs["type"]) == ("double", "int")


def test_hdf5_fields_start_undisturbed(h5):
    fields = read_hdf5_fields(h5)
    assert (fields["q"] == free_stream()).all()
    assert not any(fields[name].any() for name in ("qold", "adt", "res"))


def test_hdf5_fields_come_back(mesh, tmp_path):
    path = tmp_path / "grid.h5"
    q = np.random.default_rng(1).random((mesh.n_cells, 4))
    adt = np.arange(mesh.n_cells, dtype=float)
    write_hdf5(mesh, path, {"q": q, "adt": adt})
    fields = read_hdf5_fields(path)
    np.testing.assert_array_equal(fields["q"], q)
    np.testing.assert_array_equal(fields["adt"], adt)


def test_hdf5_refuses_fields_that_do_not_fit(mesh, tmp_path):
    path = tmp_path / "grid.h5"
    with pytest.raises(UsageError, match="field 'speed': expected one of q, qold, adt, res"):
        write_hdf5(mesh, path, {"speed": np.zeros(3)})
    with pytest.raises(DataValueError, match=r"'p_q': expected shape \(72, 4\), got \(72, 3\)"):
        write_hdf5(mesh, path, {"q": np.zeros((mesh.n_cells, 3))})
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "values", "error", "message"),
    [
        ("pcell", None, DataValueError, "dataset 'pcell' is missing; the file has bedges, "),
        (
            "pecell",
            np.zeros((3, 2), int),
            DataValueError,
            r"expected shape \(.*, 2\), got \(3, 2\)",
        ),
        (
            "pcell",
            np.zeros((72, 4)),
            DataTypeError,
            "'pcell': expected integers, got dtype float64",
        ),
        ("p_bound", np.full((32, 1), 7), DataValueError, r"'p_bound': expected values in \[1, 3\)"),
        (
            "pbecell",
            np.full((32, 1), 72),
            DataValueError,
            r"\[0, 72\), got values from 72 to 72",
        ),
        ("cells", np.array([9]), DataValueError, "'cells': expected 72, .* rows of 'pcell', got 9"),
        ("p_x", np.full((95, 2), b"a"), DataTypeError, "'p_x': expected real numbers"),
    ],
)
def test_hdf5_errors_name_file_dataset_and_shapes(mesh, h5, name, values, error, message):
    assert (mesh.n_cells, mesh.n_bedges) == (72, 32)
    replace_dataset(h5, name, values)
    with pytest.raises(error, match=message) as raised:
        read_hdf5(h5)
    assert str(h5) in str(raised.value)


def test_wide_integers_are_narrowed(mesh, h5):
    replace_dataset(h5, "pcell", mesh.cell2node.astype(np.int64))
    assert read_hdf5(h5).cell2node.dtype == np.int32


def test_without_h5py_the_extra_is_named(monkeypatch, mesh, tmp_path):
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(MissingExtraError, match=r"HDF5 needs h5py.*pyop2cxx\[io\]"):
        write_hdf5(mesh, tmp_path / "grid.h5")


def test_npz_names_the_missing_array(mesh, tmp_path):
    path = tmp_path / "mesh.npz"
    np.savez(path, **{k: v for k, v in mesh.arrays().items() if k != "edge2cell"})
    with pytest.raises(DataValueError, match=r"mesh\.npz: dataset 'edge2cell' is missing"):
        read_npz(path)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 and then nothing", b"plain text"])
def test_npz_that_is_no_archive_is_refused(tmp_path, content):
    path = tmp_path / "mesh.npz"
    path.write_bytes(content)
    with pytest.raises(DataValueError, match=r"mesh\.npz: not a NumPy archive"):
        read_npz(path)


def test_npz_with_one_bare_array_is_refused(tmp_path):
    path = tmp_path / "mesh.npz"
    with path.open("wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(DataValueError, match=r"mesh\.npz: not a NumPy archive"):
        read_npz(path)


def test_text_starts_with_the_sizes(mesh, tmp_path):
    path = tmp_path / "new_grid.dat"
    write_text(mesh, path)
    lines = path.read_text().splitlines()
    assert lines[0].split() == [str(n) for n in (95, 72, 128, 32)]
    assert len(lines) == 1 + 95 + 72 + 128 + 32
    assert lines[1].split() == [f"{value:f}" for value in mesh.x[0]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text + " 7", "need .* numbers, got"),
        (lambda text: text[: len(text) // 2], "need .* numbers, got"),
        (lambda text: text.replace("72", "x", 1), "expected numbers only"),
        (lambda text: "1 2", "expected four sizes first, got 2"),
        (lambda text: text.rstrip()[:-1] + "1.5", "'bedges': expected integers"),
    ],
)
def test_text_errors_name_the_file(mesh, tmp_path, change, message):
    path = tmp_path / "new_grid.dat"
    write_text(mesh, path)
    path.write_text(change(path.read_text()))
    with pytest.raises(DataValueError, match=message) as raised:
        read_text(path)
    assert str(path) in str(raised.value)


def test_write_npz_to_a_missing_folder_is_an_os_error(mesh, tmp_path):
    with pytest.raises(FileNotFoundError):
        write_npz(mesh, tmp_path / "nowhere" / "mesh.npz")
