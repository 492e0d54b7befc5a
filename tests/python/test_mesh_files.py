# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import os

import numpy as np
import pytest

from pyop2cxx.exceptions import UsageError
from pyop2cxx.mesh import airfoil_arrays
from pyop2cxx.mesh.files import read_mesh, write_mesh

SUFFIXES = (".npz", ".h5", ".hdf5", ".dat")


@pytest.fixture(scope="module")
def mesh():
    return airfoil_arrays(6, 4)


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


@pytest.mark.parametrize(
    "function", [read_mesh, lambda path: write_mesh(airfoil_arrays(2, 2), path)]
)
def test_unknown_suffixes_are_refused(function):
    with pytest.raises(UsageError, match=r"mesh\.vtk: expected \.npz, .*, got '\.vtk'"):
        function("mesh.vtk")
