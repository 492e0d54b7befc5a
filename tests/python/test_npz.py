# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import numpy as np
import pytest

from pyop2cxx.exceptions import DataValueError
from pyop2cxx.mesh import airfoil_arrays
from pyop2cxx.mesh.files import read_npz, write_npz


@pytest.fixture(scope="module")
def mesh():
    return airfoil_arrays(6, 4)


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


def test_write_npz_to_a_missing_folder_is_an_os_error(mesh, tmp_path):
    with pytest.raises(FileNotFoundError):
        write_npz(mesh, tmp_path / "nowhere" / "mesh.npz")
