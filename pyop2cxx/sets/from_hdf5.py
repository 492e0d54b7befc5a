# SPDX-License-Identifier: BSD-3-Clause
"""Datasets of open HDF5 files for ``fromhdf5`` of Sets, Maps, Dats and Globals.

The layout is PyOP2's of 2013: the size of a Set is a dataset with a single integer; a Map or Dat is
a dataset with a row for each entity; a Dat's optional attribute ``type`` is the name of the C type,
followed by ``:soa`` if a structure of arrays is the better layout on devices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.exceptions import ArityTypeError, DataValueError, DimTypeError, SizeTypeError

if TYPE_CHECKING:
    from pyop2cxx.base.arrays import Array


def values_of(file: Any, name: str, what: str) -> Array:
    """Return the values of a dataset.

    Args:
        file: A file or group of h5py's, open; or a dictionary of arrays.
        name: The dataset.
        what: The class to make, for messages.

    Raises:
        DataValueError: The dataset does not exist, or is a group.
    """
    if name not in file:
        raise DataValueError(
            f"{what}.fromhdf5: {_place(file)} has no dataset {name!r}; it has: "
            f"{', '.join(sorted(file)) or 'nothing'}"
        )
    found = file[name]
    if not hasattr(found, "shape"):
        raise DataValueError(f"{what}.fromhdf5: {name!r} in {_place(file)} is not a dataset")
    values: Array = np.asarray(found[...])
    return values


def size_of(file: Any, name: str) -> int:
    """Return the size of a Set.

    Raises:
        DataValueError: The dataset does not exist.
        SizeTypeError: The dataset is not a single number.
    """
    values = values_of(file, name, "Set")
    if values.shape != (1,):
        raise SizeTypeError(
            f"Set.fromhdf5: {name!r} in {_place(file)}: expected one number, shape (1,), for the "
            f"size, got shape {values.shape}"
        )
    return int(values[0])


def rows_of(file: Any, name: str) -> Array:
    """Return the values of a Map, a row for each entity.

    Raises:
        DataValueError: The dataset does not exist.
        ArityTypeError: The dataset has no rows.
    """
    values = values_of(file, name, "Map")
    if values.ndim != 2:
        raise ArityTypeError(
            f"Map.fromhdf5: {name!r} in {_place(file)}: expected shape (entities, arity), got "
            f"shape {values.shape}"
        )
    return values


def layout_of(file: Any, name: str) -> str:
    """Return the layout requested by the attribute ``type``."""
    found = getattr(file[name], "attrs", {}).get("type", "")
    text = found.decode() if isinstance(found, bytes) else str(found)
    return "soa" if text.endswith(":soa") else "auto"


def array_of(file: Any, name: str, what: str) -> Array:
    """Return values without a Set; their shape is the dim.

    Raises:
        DataValueError: The dataset does not exist.
        DimTypeError: The dataset is a single number without a shape.
    """
    values = values_of(file, name, what)
    if not values.shape:
        raise DimTypeError(
            f"{what}.fromhdf5: {name!r} in {_place(file)} has no dim; store it with shape (1,)"
        )
    return values


def _place(file: Any) -> str:
    return str(getattr(file, "filename", None) or "the file")
