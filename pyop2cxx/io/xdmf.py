# SPDX-License-Identifier: BSD-3-Clause
"""XDMF: a small XML file beside HDF5 files with the arrays.

Format: XDMF 3, https://www.xdmf.org/index.php/XDMF_Model_and_Format
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from pyop2cxx.base import extras
from pyop2cxx.base.files import as_path, replacing
from pyop2cxx.exceptions import UsageError
from pyop2cxx.io.fields import Shown, as_components, named, show

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.data.dats import Dat
    from pyop2cxx.mesh.mesh import Mesh

_TOPOLOGY = {
    "interval": "Polyline",
    "triangle": "Triangle",
    "quadrilateral": "Quadrilateral",
    "tetrahedron": "Tetrahedron",
    "hexahedron": "Hexahedron",
}
_CURVED = {
    "interval": "Edge_3",
    "triangle": "Triangle_6",
    "quadrilateral": "Quadrilateral_9",
    "tetrahedron": "Tetrahedron_10",
    "hexahedron": "Hexahedron_27",
}
_NUMBERS = {"f": "Float", "i": "Int", "u": "UInt", "b": "UInt"}


def write_xdmf(
    path: str | os.PathLike[str],
    mesh: Mesh,
    *dats: Dat,
    numbering: str = "original",
    **fields: Dat,
) -> None:
    """Write values on a mesh for ParaView, as an .xdmf file with an .h5 file.

    Args:
        path: The file, ending in .xdmf; the arrays' file has the same name with the ending .h5.
        mesh: The mesh.
        *dats: As of `write_vtu`.
        numbering: As of `write_vtu`.
        **fields: As of `write_vtu`.

    Raises:
        UsageError: The path has another ending, a Dat is on another Set, or two have the same name.
        DatTypeError: An argument is not a Dat.
        DataTypeError: Values are complex.
        MissingExtraError: h5py is not installed.
        OSError: A file cannot be written.
    """
    target = as_path(path)
    if target.suffix != ".xdmf":
        raise UsageError(f"write_xdmf: the file must end in .xdmf, got {os.fspath(path)!r}")
    whole = named(dats, fields, "write_xdmf")
    show(mesh, whole, numbering, "write_xdmf", lambda found: _write(target, found))


def _write(target: Path, found: Shown) -> None:
    arrays = target.with_suffix(".h5")
    geometry = write_geometry(found, arrays, {**found.on_points, **found.on_cells})
    parts = [*geometry, *attributes(found, arrays.name)]
    write_document(target, ['<Grid GridType="Uniform">', *parts, "</Grid>"])


def write_geometry(found: Shown, path: Path, fields: dict[str, Array]) -> list[str]:
    """Write points, cells and fields to an HDF5 file; return the XML of points and cells."""
    width = found.cells.shape[1]
    write_arrays(path, {"points": found.points, "cells": found.cells, **_prefixed(fields)})
    kind = (_TOPOLOGY if found.degree == 1 else _CURVED)[found.cell.name]
    extra = f' NodesPerElement="{width}"' if kind == "Polyline" else ""
    return [
        f'<Topology TopologyType="{kind}" NumberOfElements="{len(found.cells)}"{extra}>',
        _item(found.cells, f"{path.name}:/cells"),
        "</Topology>",
        '<Geometry GeometryType="XYZ">',
        _item(found.points, f"{path.name}:/points"),
        "</Geometry>",
    ]


def write_arrays(path: Path, arrays: dict[str, Array]) -> None:
    """Write an HDF5 file of arrays; whole or not at all."""
    h5py: Any = extras.load("h5py", "writing XDMF")
    with replacing(path) as temporary, h5py.File(temporary, "w") as file:
        for name, values in arrays.items():
            file[name] = _plain(values)


def attributes(found: Shown, file: str) -> list[str]:
    """Return the XML of the fields in an HDF5 file."""
    lines = []
    for centre, values in (("Node", found.on_points), ("Cell", found.on_cells)):
        for name, given in values.items():
            field = as_components(given)
            width = field.shape[1] if field.ndim == 2 else 1
            kind = {1: "Scalar", 3: "Vector", 6: "Tensor6", 9: "Tensor"}.get(width, "Matrix")
            lines += [
                f'<Attribute Name={quoteattr(name)} AttributeType="{kind}" Center="{centre}">',
                _item(field, f"{file}:/fields/{_key(name)}"),
                "</Attribute>",
            ]
    return lines


def field_arrays(found: Shown) -> dict[str, Array]:
    """Return the fields as the datasets named in `attributes`."""
    return _prefixed({**found.on_points, **found.on_cells})


def write_document(path: Path, lines: Sequence[str]) -> None:
    """Write an XDMF file around grids; whole or not at all."""
    text = ['<?xml version="1.0"?>', '<Xdmf Version="3.0">', "<Domain>", *lines]
    with replacing(path) as temporary:
        temporary.write_text("\n".join([*text, "</Domain>", "</Xdmf>", ""]), encoding="utf-8")


def _prefixed(fields: dict[str, Array]) -> dict[str, Array]:
    return {f"fields/{_key(name)}": as_components(values) for name, values in fields.items()}


def _key(name: str) -> str:
    return name.replace("/", "_")


def _plain(values: Array) -> Array:
    return values.astype(np.uint8) if values.dtype.kind == "b" else values


def _item(values: Array, place: str) -> str:
    plain = _plain(values)
    shape = " ".join(map(str, plain.shape))
    return (
        f'<DataItem Dimensions="{shape}" NumberType="{_NUMBERS[plain.dtype.kind]}" '
        f'Precision="{plain.itemsize}" Format="HDF">{escape(place)}</DataItem>'
    )
