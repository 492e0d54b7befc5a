# SPDX-License-Identifier: BSD-3-Clause
"""Checks of a file's arrays before they become a mesh."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pyop2cxx.exceptions import DataTypeError, DataValueError
from pyop2cxx.mesh.airfoil import FAR_FIELD, WALL, AirfoilMesh, FloatArray, IntArray

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

FIELDS = tuple(AirfoilMesh.__dataclass_fields__)


def mesh_of(
    path: str | os.PathLike[str],
    arrays: Mapping[str, npt.NDArray[np.generic]],
    names: Mapping[str, str],
) -> AirfoilMesh:
    """Make a mesh of the arrays of a file, checked for consistency.

    Args:
        path: The file, for messages.
        arrays: The arrays by the attribute of `AirfoilMesh` they become.
        names: Names of the arrays in the file, for messages.

    Returns:
        The mesh; suitable arrays are not copied.

    Raises:
        DataTypeError: An array does not hold integers or floats as required.
        DataValueError: A shape does not fit, or an index lies outside of the set.
    """

    def where(field: str) -> str:
        return f"{path}: dataset '{names[field]}'"

    def numbers(field: str, shape: tuple[int | None, ...]) -> npt.NDArray[np.generic]:
        return shaped(where(field), arrays[field], shape)

    x = floats(where("x"), numbers("x", (None, 2)))
    cell2node = numbers("cell2node", (None, 4))
    edge2node = numbers("edge2node", (None, 2))
    bound = numbers("bound", (None,))
    n_nodes, n_cells, n_edges, n_bedges = len(x), len(cell2node), len(edge2node), len(bound)
    return AirfoilMesh(
        x=x,
        cell2node=indices(where("cell2node"), cell2node, 0, n_nodes),
        edge2node=indices(where("edge2node"), edge2node, 0, n_nodes),
        edge2cell=indices(where("edge2cell"), numbers("edge2cell", (n_edges, 2)), 0, n_cells),
        bedge2node=indices(where("bedge2node"), numbers("bedge2node", (n_bedges, 2)), 0, n_nodes),
        bedge2cell=indices(where("bedge2cell"), numbers("bedge2cell", (n_bedges,)), 0, n_cells),
        bound=indices(where("bound"), bound, WALL, FAR_FIELD + 1),
    )


def shaped(
    where: str, values: npt.NDArray[np.generic], shape: tuple[int | None, ...]
) -> npt.NDArray[np.generic]:
    """Check a shape; None fits any length; a last axis of length 1 may be missing or extra."""
    got = values.shape
    if len(got) == len(shape) + 1 and got[-1] == 1:
        values = values[..., 0]
    fits = len(values.shape) == len(shape) and all(
        expected in (None, length) for expected, length in zip(shape, values.shape, strict=True)
    )
    if not fits:
        expected = ", ".join("any" if length is None else str(length) for length in shape)
        raise DataValueError(f"{where}: expected shape ({expected}), got {got}")
    return values


def floats(where: str, values: npt.NDArray[np.generic]) -> FloatArray:
    """Check for real numbers and return them as contiguous float64."""
    if values.dtype.kind not in "fiu":
        raise DataTypeError(f"{where}: expected real numbers, got dtype {values.dtype}")
    return np.ascontiguousarray(values, np.float64)


def indices(where: str, values: npt.NDArray[np.generic], begin: int, end: int) -> IntArray:
    """Check for integers in [begin, end) and return them as contiguous int32."""
    if values.dtype.kind not in "iu":
        raise DataTypeError(f"{where}: expected integers, got dtype {values.dtype}")
    integers = values.astype(np.int64, copy=False)
    if integers.size and not (begin <= integers.min() and integers.max() < end):
        raise DataValueError(
            f"{where}: expected values in [{begin}, {end}), got values from "
            f"{integers.min()} to {integers.max()}"
        )
    return np.ascontiguousarray(integers, np.int32)
