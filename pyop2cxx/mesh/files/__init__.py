# SPDX-License-Identifier: BSD-3-Clause
"""Meshes in files: HDF5 in the layout of PyOP2's airfoil demo, NumPy's npz, OP2's text format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyop2cxx.base.files import as_path
from pyop2cxx.base.waiting import waiting
from pyop2cxx.exceptions import UsageError
from pyop2cxx.mesh.files.hdf5 import read_hdf5, read_hdf5_fields, write_hdf5
from pyop2cxx.mesh.files.npz import read_npz, write_npz
from pyop2cxx.mesh.files.text import read_text, write_text

if TYPE_CHECKING:
    import os

    from pyop2cxx.mesh.airfoil import AirfoilMesh

__all__ = [
    "read_hdf5",
    "read_hdf5_fields",
    "read_mesh",
    "read_npz",
    "read_text",
    "write_hdf5",
    "write_mesh",
    "write_npz",
    "write_text",
]

_SUFFIXES = ".npz, .h5, .hdf5 or .dat"


def read_mesh(path: str | os.PathLike[str]) -> AirfoilMesh:
    """Read a mesh in the format given by the file's suffix.

    Args:
        path: A file ending in .npz, .h5, .hdf5 or .dat.

    Returns:
        The mesh.

    Raises:
        UsageError: The suffix is unknown, or the contents do not make a mesh.
        OSError: The file cannot be read.
        MissingExtraError: The file is HDF5 and h5py is not installed.

    Example:
        >>> read_mesh("mesh.vtk")
        Traceback (most recent call last):
        ...
        pyop2cxx.exceptions.UsageError: mesh.vtk: expected .npz, .h5, .hdf5 or .dat, got '.vtk'
    """
    with waiting(f"reading {as_path(path).name}"):
        match as_path(path).suffix:
            case ".npz":
                return read_npz(path)
            case ".h5" | ".hdf5":
                return read_hdf5(path)
            case ".dat":
                return read_text(path)
            case suffix:
                raise UsageError(f"{path}: expected {_SUFFIXES}, got '{suffix}'")


def write_mesh(mesh: AirfoilMesh, path: str | os.PathLike[str]) -> None:
    """Write a mesh in the format given by the file's suffix.

    The file appears whole or not at all; an existing file is replaced.

    Args:
        mesh: The mesh to write.
        path: A file ending in .npz, .h5, .hdf5 or .dat.

    Raises:
        UsageError: The suffix is unknown.
        OSError: The file cannot be written.
        MissingExtraError: The file is HDF5 and h5py is not installed.

    Example:
        >>> import tempfile
        >>> from pyop2cxx.mesh import airfoil_arrays
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_mesh(airfoil_arrays(4, 3), f"{folder}/mesh.npz")
        ...     read_mesh(f"{folder}/mesh.npz").n_cells
        36
    """
    match as_path(path).suffix:
        case ".npz":
            write_npz(mesh, path)
        case ".h5" | ".hdf5":
            write_hdf5(mesh, path)
        case ".dat":
            write_text(mesh, path)
        case suffix:
            raise UsageError(f"{path}: expected {_SUFFIXES}, got '{suffix}'")
