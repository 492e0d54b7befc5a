# SPDX-License-Identifier: BSD-3-Clause
"""Meshes as NumPy archives: an array for each attribute of `AirfoilMesh`, by name."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import numpy.typing as npt

from pyop2cxx.base.files import replacing
from pyop2cxx.exceptions import DataValueError, UsageError
from pyop2cxx.mesh.files.checks import FIELDS, mesh_of

if TYPE_CHECKING:
    import os

    from pyop2cxx.mesh.airfoil import AirfoilMesh


def read_npz(path: str | os.PathLike[str]) -> AirfoilMesh:
    """Read a mesh from a NumPy archive.

    Args:
        path: The file.

    Returns:
        The mesh.

    Raises:
        DataValueError: The file is no archive, an array is missing, or a shape or value does not
            fit.
        DataTypeError: An array has the wrong kind of numbers.
        OSError: The file cannot be read.
    """
    with Path(path).open("rb") as file:
        if not zipfile.is_zipfile(file):
            raise DataValueError(f"{path}: not a NumPy archive: expected a zip file of arrays")
        file.seek(0)
        try:
            arrays = _arrays(path, file)
        except UsageError:
            raise
        except Exception as error:  # zlib's, zipfile's and NumPy's
            raise DataValueError(f"{path}: not a NumPy archive: {error}") from error
    return mesh_of(path, arrays, {field: field for field in FIELDS})


def write_npz(mesh: AirfoilMesh, path: str | os.PathLike[str]) -> None:
    """Write a mesh as a NumPy archive, whole or not at all.

    Args:
        mesh: The mesh to write.
        path: The file; replaced if existing.

    Raises:
        OSError: The file cannot be written.
    """
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **mesh.arrays())  # type: ignore[arg-type]  # numpy types **kwds as bool too


def _arrays(path: str | os.PathLike[str], file: BinaryIO) -> dict[str, npt.NDArray[np.generic]]:
    with np.load(file, allow_pickle=False) as archive:
        missing = [field for field in FIELDS if field not in archive.files]
        if missing:
            raise DataValueError(
                f"{path}: dataset '{missing[0]}' is missing; expected {', '.join(FIELDS)}, "
                f"got {', '.join(archive.files) or 'none'}"
            )
        return {field: archive[field] for field in FIELDS}
