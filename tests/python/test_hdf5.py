# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import os
import sys

import h5py
import numpy as np
import pytest

from pyop2cxx.exceptions import DataTypeError, DataValueError, MissingExtraError, UsageError
from pyop2cxx.mesh import airfoil_arrays, free_stream
from pyop2cxx.mesh.files import read_hdf5, read_hdf5_fields, write_hdf5


@pytest.fixture(scope="module")
def mesh():
    return airfoil_arrays(6, 4)


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
