# SPDX-License-Identifier: BSD-3-Clause
"""VTK's XML files of unstructured grids (.vtu), with raw appended data.

Format: VTK File Formats, https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html
"""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

import numpy as np

from pyop2cxx.base.files import as_path, replacing
from pyop2cxx.exceptions import UsageError
from pyop2cxx.io.fields import Shown, as_components, named, piece, show
from pyop2cxx.mesh.nodes import VTK_TYPES
from pyop2cxx.sets.spread import agree, by_first

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

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

    If processes share the mesh, all must call. The first writes a .vtu file, equal to the file of a
    single process. For a .pvtu file each writes the own cells, to a .vtu file beside, with their
    numbers in the whole mesh as ``cell_numbers`` and ``point_numbers``.

    Args:
        path: The file, ending in .vtu or .pvtu.
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
    ending = as_path(path).suffix
    if ending not in (".vtu", ".pvtu"):
        raise UsageError(f"write_vtu: the file must end in .vtu or .pvtu, got {os.fspath(path)!r}")
    whole = named(dats, fields, "write_vtu")
    if ending == ".pvtu":
        _write_pieces(as_path(path), mesh, whole, numbering)
        return
    show(mesh, whole, numbering, "write_vtu", partial(write_document, path))


def write_document(path: str | os.PathLike[str], found: Shown) -> None:
    """Write the file; whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_bytes(_document(found))


def _write_pieces(path: Path, mesh: Mesh, fields: Mapping[str, Dat], numbering: str) -> None:
    """Write a file for each process, and a file that names them, which comes last."""
    found = piece(mesh, fields, numbering, "write_vtu")
    comm = mesh.cells.ranks if mesh.cells.is_distributed else None
    rank, n = (0, 1) if comm is None else (comm.rank, comm.size)
    names = [f"{path.stem}_{i:04d}.vtu" for i in range(n)]
    failed = None
    try:
        write_document(path.with_name(names[rank]), found)
    except Exception as error:
        failed = error
    agree(comm, failed, "write_vtu of pieces")
    by_first(comm, (), partial(_write_list, path, found, names), "write_vtu of a .pvtu file")


def _write_list(path: Path, found: Shown, names: Sequence[str]) -> None:
    def section(tag: str, values: Mapping[str, Array]) -> list[str]:
        lines = [_array("PDataArray", name, as_components(one)) for name, one in values.items()]
        return [f"<{tag}>", *(f"{line}/>" for line in lines), f"</{tag}>"]

    lines = [
        '<?xml version="1.0"?>',
        f'<VTKFile type="PUnstructuredGrid" version="1.0" byte_order="{_byte_order()}" '
        'header_type="UInt64">',
        '<PUnstructuredGrid GhostLevel="0">',
        *section("PPoints", {"Points": found.points}),
        *section("PPointData", found.on_points),
        *section("PCellData", found.on_cells),
        *(f"<Piece Source={quoteattr(name)}/>" for name in names),
        "</PUnstructuredGrid>",
        "</VTKFile>",
        "",
    ]
    with replacing(path) as temporary:
        temporary.write_text("\n".join(lines), encoding="utf-8")


def _array(tag: str, name: str, values: Array) -> str:
    """Return the begin of an array's tag."""
    kind = "u" if values.dtype.kind == "b" else values.dtype.kind
    components = values.shape[1] if values.ndim == 2 else 1
    return (
        f'<{tag} type="{_TYPES[kind]}{8 * values.itemsize}" Name={quoteattr(name)} '
        f'NumberOfComponents="{components}"'
    )


def _document(found: Shown) -> bytes:
    """Return the bytes of the file: XML, followed by all arrays, each behind its length."""
    blobs: list[bytes] = []
    offset = 0

    def array(name: str, given: Array) -> str:
        nonlocal offset
        values = np.ascontiguousarray(given)
        if values.dtype.kind == "b":
            values = values.astype(np.uint8)
        blob = np.uint64(values.nbytes).tobytes() + values.tobytes()
        text = f'{_array("DataArray", name, values)} format="appended" offset="{offset}"/>'
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
