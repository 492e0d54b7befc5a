# SPDX-License-Identifier: BSD-3-Clause
"""Meshes in OP2's text format (new_grid.dat): four sizes, then a line for each entity.

Nodes with x and y, cells with four nodes, interior edges with two nodes and two cells, boundary
edges with two nodes, a cell and the kind of boundary. Coordinates have six decimals.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import numpy as np
import numpy.typing as npt

from pyop2cxx.base.files import replacing
from pyop2cxx.exceptions import DataValueError
from pyop2cxx.mesh.files.checks import FIELDS, mesh_of

if TYPE_CHECKING:
    import os

    from pyop2cxx.mesh.airfoil import AirfoilMesh

_COLUMNS = (2, 4, 4, 4)
_LINES_AT_ONCE = 1 << 16


def read_text(path: str | os.PathLike[str]) -> AirfoilMesh:
    """Read a mesh in OP2's text format.

    Args:
        path: The file.

    Returns:
        The mesh.

    Raises:
        DataValueError: A word is not a number, there are too few or too many, or an index lies
            outside of the set.
        OSError: The file cannot be read.
    """
    try:
        numbers = np.fromstring(Path(path).read_text(), sep=" ")
    except ValueError as error:
        raise DataValueError(f"{path}: expected numbers only: {error}") from error
    if len(numbers) < 4:
        raise DataValueError(f"{path}: expected four sizes first, got {len(numbers)} numbers")
    sizes = [int(size) for size in numbers[:4]]
    lengths = [size * columns for size, columns in zip(sizes, _COLUMNS, strict=True)]
    if min(sizes) < 0 or len(numbers) != 4 + sum(lengths):
        raise DataValueError(
            f"{path}: sizes {sizes} need {4 + sum(lengths)} numbers, got {len(numbers)}"
        )
    parts = np.split(numbers[4:], np.cumsum(lengths)[:-1])
    x, cells, edges, bedges = (
        part.reshape(-1, columns) for part, columns in zip(parts, _COLUMNS, strict=True)
    )
    arrays = {
        "x": x,
        "cell2node": _integers(path, "cells", cells),
        "edge2node": _integers(path, "edges", edges[:, :2]),
        "edge2cell": _integers(path, "edges", edges[:, 2:]),
        "bedge2node": _integers(path, "bedges", bedges[:, :2]),
        "bedge2cell": _integers(path, "bedges", bedges[:, 2]),
        "bound": _integers(path, "bedges", bedges[:, 3]),
    }
    return mesh_of(path, arrays, {field: field for field in FIELDS})


def write_text(mesh: AirfoilMesh, path: str | os.PathLike[str]) -> None:
    """Write a mesh in OP2's text format, whole or not at all.

    Args:
        mesh: The mesh to write; coordinates are rounded to six decimals.
        path: The file; replaced if existing.

    Raises:
        OSError: The file cannot be written.
    """
    edges = np.hstack([mesh.edge2node, mesh.edge2cell])
    bedges = np.column_stack([mesh.bedge2node, mesh.bedge2cell, mesh.bound])
    with replacing(path) as temporary, temporary.open("w") as file:
        file.write(f"{mesh.n_nodes} {mesh.n_cells} {mesh.n_edges} {mesh.n_bedges}\n")
        _write_lines(file, "%f %f\n", mesh.x)
        for rows in (mesh.cell2node, edges, bedges):
            _write_lines(file, "%d %d %d %d\n", rows)


def _integers(
    path: str | os.PathLike[str], name: str, values: npt.NDArray[np.float64]
) -> npt.NDArray[np.int64]:
    integers = values.astype(np.int64)
    if not np.array_equal(integers, values):
        raise DataValueError(f"{path}: dataset '{name}': expected integers, got fractions")
    return integers


def _write_lines(file: TextIO, line: str, rows: npt.NDArray[np.generic]) -> None:
    for begin in range(0, len(rows), _LINES_AT_ONCE):
        part = rows[begin : begin + _LINES_AT_ONCE]
        file.write((line * len(part)) % tuple(part.ravel().tolist()))
