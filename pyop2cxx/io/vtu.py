# SPDX-License-Identifier: BSD-3-Clause
"""VTK's XML files of unstructured grids (.vtu), with raw appended data.

Format: VTK File Formats, https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

import numpy as np

from pyop2cxx.base.files import as_path, replacing
from pyop2cxx.exceptions import UsageError
from pyop2cxx.io.fields import Shown, as_components, named, shown
from pyop2cxx.mesh.nodes import VTK_TYPES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.data.dats import Dat
    from pyop2cxx.mesh.mesh import Mesh

_TYPES = {"f": "Float", "i": "Int", "u": "UInt"}


def write_vtu(
    path: str | os.PathLike[str],
    mesh: Mesh,
    *dats: Dat,
    numbering: str = "original",
    **fields: Dat,
) -> None:
    """Write values on a mesh for ParaView, as a .vtu file; whole or not at all.

    Args:
        path: The file, ending in .vtu.
        mesh: The mesh.
        *dats: Dats on the vertices or cells, stored by name; or functions, by `fem.on_mesh`.
        numbering: Numbering of points and cells in the file: "original", of the mesh's source file;
            or "mesh", the present numbering.
        **fields: More Dats, by the names in the file.

    Raises:
        UsageError: The path has another ending, a Dat is on another Set, or two have the same name.
        DatTypeError: An argument is not a Dat.
        DataTypeError: Values are complex.
        OSError: The file cannot be written.

    Example:
        >>> import tempfile
        >>> from pyop2cxx import op2
        >>> from pyop2cxx.mesh import square_mesh
        >>> mesh = square_mesh(4)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_vtu(f"{folder}/a.vtu", mesh, height=op2.Dat(mesh.vertices, 1.0))
        ...     os.listdir(folder)
        ['a.vtu']
    """
    if as_path(path).suffix != ".vtu":
        raise UsageError(f"write_vtu: the file must end in .vtu, got {os.fspath(path)!r}")
    write_document(path, shown(mesh, named(dats, fields, "write_vtu"), numbering, "write_vtu"))


def write_document(path: str | os.PathLike[str], found: Shown) -> None:
    """Write the file; whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_bytes(_document(found))


def _document(found: Shown) -> bytes:
    """Return the bytes of the file: XML, followed by all arrays, each behind its length."""
    blobs: list[bytes] = []
    offset = 0

    def array(name: str, given: Array, n_components: int = 0) -> str:
        nonlocal offset
        values = np.ascontiguousarray(given)
        if values.dtype.kind == "b":
            values = values.astype(np.uint8)
        kind = f"{_TYPES[values.dtype.kind]}{8 * values.itemsize}"
        components = n_components or (values.shape[1] if values.ndim == 2 else 1)
        blob = np.uint64(values.nbytes).tobytes() + values.tobytes()
        text = (
            f'<DataArray type="{kind}" Name={quoteattr(name)} NumberOfComponents="{components}" '
            f'format="appended" offset="{offset}"/>'
        )
        blobs.append(blob)
        offset += len(blob)
        return text

    def section(tag: str, values: Mapping[str, Array]) -> list[str]:
        lines = [array(name, as_components(field)) for name, field in values.items()]
        return [f"<{tag}>", *lines, f"</{tag}>"]

    n_cells, width = found.cells.shape
    kind = VTK_TYPES[found.cell.name] if found.degree > 1 else found.cell.vtk_type
    lines = [
        '<?xml version="1.0"?>',
        f'<VTKFile type="UnstructuredGrid" version="1.0" byte_order="{_byte_order()}" '
        'header_type="UInt64">',
        "<UnstructuredGrid>",
        f'<Piece NumberOfPoints="{len(found.points)}" NumberOfCells="{n_cells}">',
        "<Points>",
        array("Points", found.points),
        "</Points>",
        "<Cells>",
        array("connectivity", found.cells.reshape(-1)),
        array("offsets", np.arange(1, n_cells + 1, dtype=np.int64) * width),
        array("types", np.full(n_cells, kind, np.uint8)),
        "</Cells>",
        *section("PointData", found.on_points),
        *section("CellData", found.on_cells),
        "</Piece>",
        "</UnstructuredGrid>",
        '<AppendedData encoding="raw">',
    ]
    head = "\n".join(lines).encode() + b"\n_"
    return head + b"".join(blobs) + b"\n</AppendedData>\n</VTKFile>\n"


def _byte_order() -> str:
    return "LittleEndian" if sys.byteorder == "little" else "BigEndian"
