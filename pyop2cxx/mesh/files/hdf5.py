# SPDX-License-Identifier: BSD-3-Clause
"""Meshes as HDF5 in the layout of ``new_grid.h5``, the file of PyOP2's airfoil demo.

Sizes of sets (``nodes``, ``edges``, ``bedges``, ``cells``) are datasets with a single integer, maps
(``pedge``, ``pecell``, ``pbedge``, ``pbecell``, ``pcell``) and data (``p_x``, ``p_q``, ``p_qold``,
``p_adt``, ``p_res``, ``p_bound``) have a row per entity, and data have an attribute ``type`` with
the name of the C type, as read by ``Set.fromhdf5``, ``Map.fromhdf5`` and ``Dat.fromhdf5``.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pyop2cxx.base import extras, hdf5
from pyop2cxx.base.arrays import c_name
from pyop2cxx.base.files import replacing
from pyop2cxx.exceptions import DataValueError, Op2Error, UsageError
from pyop2cxx.mesh.airfoil import AirfoilMesh, FloatArray, free_stream
from pyop2cxx.mesh.files.checks import floats, indices, mesh_of, shaped

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

_SIZES = {"nodes": "p_x", "cells": "pcell", "edges": "pedge", "bedges": "pbedge"}
_NAMES = {
    "x": "p_x",
    "cell2node": "pcell",
    "edge2node": "pedge",
    "edge2cell": "pecell",
    "bedge2node": "pbedge",
    "bedge2cell": "pbecell",
    "bound": "p_bound",
}
_FIELD_DIMS = {"q": 4, "qold": 4, "adt": 1, "res": 4}


def read_hdf5(path: str | os.PathLike[str]) -> AirfoilMesh:
    """Read a mesh from an HDF5 file.

    Args:
        path: The file.

    Returns:
        The mesh.

    Raises:
        DataValueError: The file is not HDF5 or damaged, a dataset is missing, or a shape, size or
            value does not fit.
        DataTypeError: A dataset has the wrong kind of numbers.
        OSError: The file cannot be read.
        MissingExtraError: h5py is not installed.
    """
    with _opened(path) as file:
        for name, counted in _SIZES.items():
            _check_size(path, file, name, counted)
        arrays = {field: _dataset(path, file, name) for field, name in _NAMES.items()}
    return mesh_of(path, arrays, _NAMES)


def read_hdf5_fields(path: str | os.PathLike[str]) -> dict[str, FloatArray]:
    """Read the fields on cells: ``q``, ``qold``, ``adt`` and ``res``.

    Args:
        path: The file.

    Returns:
        The fields by name, shape (n_cells, 4), ``adt`` (n_cells,).

    Raises:
        DataValueError: The file is not HDF5 or damaged, or a dataset is missing or has the wrong
            shape.
        DataTypeError: A dataset does not hold real numbers.
        OSError: The file cannot be read.
        MissingExtraError: h5py is not installed.
    """
    with _opened(path) as file:
        n_cells = len(_dataset(path, file, "pcell"))
        return {
            field: _checked_field(path, field, _dataset(path, file, f"p_{field}"), n_cells)
            for field in _FIELD_DIMS
        }


def write_hdf5(
    mesh: AirfoilMesh,
    path: str | os.PathLike[str],
    fields: Mapping[str, npt.NDArray[np.float64]] | None = None,
) -> None:
    """Write a mesh and cell fields as HDF5, whole or not at all.

    Args:
        mesh: The mesh to write.
        path: The file; replaced if existing.
        fields: Any of ``q``, ``qold``, ``adt`` and ``res``. Missing fields start as in the demo:
            ``q`` undisturbed, the others zero.

    Raises:
        UsageError: A field has another name.
        DataValueError: A field has the wrong shape.
        OSError: The file cannot be written.
        MissingExtraError: h5py is not installed.
    """
    given = fields or {}
    unknown = sorted(given.keys() - _FIELD_DIMS.keys())
    if unknown:
        raise UsageError(f"{path}: field '{unknown[0]}': expected one of {', '.join(_FIELD_DIMS)}")
    sizes = {name: len(mesh.arrays()[field]) for name, field in _size_fields().items()}
    with replacing(path) as temporary, _h5py().File(temporary, "w") as file:
        for name, size in sizes.items():
            file[name] = np.array([size], np.int32)
        for field, name in _NAMES.items():
            _write(file, name, mesh.arrays()[field])
        for field in _FIELD_DIMS:
            values = given[field] if field in given else _initial(field, mesh.n_cells)
            _write(file, f"p_{field}", _checked_field(path, field, values, mesh.n_cells))


def _initial(field: str, n_cells: int) -> FloatArray:
    if field == "q":
        return np.tile(free_stream(), (n_cells, 1))
    return np.zeros(_field_shape(field, n_cells))


def _checked_field(
    path: str | os.PathLike[str], field: str, values: npt.NDArray[np.generic], n_cells: int
) -> FloatArray:
    where = f"{path}: dataset 'p_{field}'"
    return floats(where, shaped(where, np.asarray(values), _field_shape(field, n_cells)))


def _field_shape(field: str, n_cells: int) -> tuple[int, ...]:
    dim = _FIELD_DIMS[field]
    return (n_cells,) if dim == 1 else (n_cells, dim)


def _size_fields() -> dict[str, str]:
    """Return the mesh attribute with the length of each set."""
    field_of = {name: field for field, name in _NAMES.items()}
    return {name: field_of[counted] for name, counted in _SIZES.items()}


def _h5py() -> Any:
    return extras.load("h5py", "reading or writing a mesh as HDF5")


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[Any]:
    """Open a file for reading; errors of h5py name the file."""
    if wrong := hdf5.what_is_wrong(path, "reading a mesh as HDF5"):
        raise DataValueError(f"{path}: {wrong}")
    try:
        with _h5py().File(path, "r") as file:
            yield file
    except (OSError, RuntimeError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, Op2Error):
            raise
        raise DataValueError(f"{path}: damaged: {type(error).__name__}: {error}") from None


def _dataset(path: str | os.PathLike[str], file: Any, name: str) -> npt.NDArray[np.generic]:
    if name not in file:
        there = ", ".join(sorted(file)) or "none"
        raise DataValueError(f"{path}: dataset '{name}' is missing; the file has {there}")
    if not hasattr(file[name], "shape"):
        raise DataValueError(f"{path}: '{name}' is a group, not a dataset")
    values: npt.NDArray[np.generic] = np.asarray(file[name])
    return values


def _check_size(path: str | os.PathLike[str], file: Any, name: str, counted: str) -> None:
    """Check the size of a set against the rows: a contradiction means a damaged file."""
    where = f"{path}: dataset '{name}'"
    values = _dataset(path, file, name)
    size = indices(where, shaped(where, values.reshape(-1), (1,)), 0, np.iinfo(np.int32).max)
    n_rows = len(_dataset(path, file, counted))
    if size[0] != n_rows:
        raise DataValueError(
            f"{where}: expected {n_rows}, the number of rows of '{counted}', got {size[0]}"
        )


def _write(file: Any, name: str, values: npt.NDArray[np.generic]) -> None:
    rows = values.reshape(-1, 1) if values.ndim == 1 else values
    file.create_dataset(name, data=rows).attrs["type"] = c_name(values.dtype)
