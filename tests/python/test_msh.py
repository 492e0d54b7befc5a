# SPDX-License-Identifier: BSD-3-Clause
"""Files of Gmsh read in C++: against meshio and gmsh, and when they are damaged."""

from __future__ import annotations

import contextlib
import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyop2cxx.exceptions import MeshFileError
from pyop2cxx.mesh import read, square_mesh
from pyop2cxx.mesh.msh import read_msh

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:meshio")

FORMATS = [("gmsh", False), ("gmsh", True), ("gmsh22", False), ("gmsh22", True)]
KINDS = {"vertex": 1, "line": 2, "triangle": 3, "quad": 4, "tetra": 4, "wedge": 6, "tetra10": 10}


@st.composite
def meshes(draw: st.DrawFn, most_kinds: int) -> tuple[Any, list[tuple[str, Any]]]:
    """Points, and blocks of elements of any nodes."""
    n = draw(st.integers(1, 20))
    real = st.floats(-1e300, 1e300)
    points = np.array(draw(st.lists(st.tuples(real, real, real), min_size=n, max_size=n)))
    kind = st.sampled_from(sorted(KINDS))
    kinds = draw(st.lists(kind, min_size=1, max_size=most_kinds, unique=True))
    blocks = []
    for kind in kinds:
        row = st.lists(st.integers(0, n - 1), min_size=KINDS[kind], max_size=KINDS[kind])
        blocks.append((kind, np.array(draw(st.lists(row, min_size=1, max_size=6)))))
    return points, blocks


@pytest.mark.parametrize(("version", "binary"), FORMATS)
def test_random_files_are_read_as_meshio_reads_them(
    tmp_path_factory: pytest.TempPathFactory, version: str, binary: bool
) -> None:
    meshio = pytest.importorskip("meshio")
    path = tmp_path_factory.mktemp("msh") / "m.msh"

    @given(meshes(4 if version == "gmsh22" else 1))  # meshio writes no more into 4.1
    def same(mesh: tuple[Any, list[tuple[str, Any]]]) -> None:
        points, blocks = mesh
        meshio.Mesh(points, blocks).write(path, file_format=version, binary=binary)
        expected = meshio.read(path)
        found = read_msh(path)
        assert found is not None
        assert np.array_equal(found[0], expected.points)
        one_each = {block.type: block.data for block in expected.cells}
        assert {block.kind for block in found[1]} == {kind.rstrip("10") for kind in one_each}
        for block in found[1]:
            kind = f"{block.kind}10" if block.rows.shape[1] == 10 else block.kind
            # meshio turns nodes of higher order around, corners it leaves
            width = KINDS[block.kind]
            assert np.array_equal(block.rows[:, :width], one_each[kind][:, :width])

    same()


@pytest.mark.parametrize(("version", "binary"), FORMATS)
def test_no_damage_does_more_than_raise(tmp_path: Path, version: str, binary: bool) -> None:
    meshio = pytest.importorskip("meshio")
    path = tmp_path / "m.msh"
    mesh = square_mesh(2)
    points = np.pad(mesh.coordinates.data_ro, ((0, 0), (0, 1)))
    cells = [("triangle", np.asarray(mesh.cell_vertices.values))]
    meshio.Mesh(points, cells).write(path, file_format=version, binary=binary)
    whole = path.read_bytes()
    end = whole.rindex(b"$EndElements") + len(b"$EndElements")
    for length in range(end):
        path.write_bytes(whole[:length])
        with contextlib.suppress(MeshFileError):
            assert read_msh(path) is None  # cut in the header: perhaps another format
            assert length < whole.index(b"$EndMeshFormat")
    random = np.random.default_rng(0)
    for _ in range(2000):
        damaged = bytearray(whole)
        for place in random.integers(0, len(whole), random.integers(1, 4)):
            damaged[place] = random.integers(0, 256)
        path.write_bytes(damaged)
        with contextlib.suppress(MeshFileError):
            read_msh(path)


def test_a_cut_binary_file_names_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "m.msh"
    head = b"$MeshFormat\n4.1 1 8\n\x01\0\0\0\n$EndMeshFormat\n$Nodes\n"
    path.write_bytes(head + struct.pack("<QQQQ", 1, 1, 1, 1))
    with pytest.raises(MeshFileError, match=r"m\.msh: byte 79, in \$Nodes: the file ends where"):
        read(path)
    path.write_bytes(head + struct.pack("<QQQQ", 10**12, 1, 1, 1))
    with pytest.raises(MeshFileError, match="number of blocks is 1000000000000, but only 24 bytes"):
        read(path)
    path.write_bytes(head + struct.pack("<QQQQ", 0, 0, 1, 1) + b"\n$EndNodes\n$Elements\n")
    with pytest.raises(MeshFileError, match=rf"byte {len(head) + 53}, in \$Elements: the file"):
        read(path)


@pytest.mark.parametrize("version", [2.2, 4.1])
@pytest.mark.parametrize("binary", [False, True])
def test_what_gmsh_writes_is_read_with_its_groups(
    tmp_path: Path, version: float, binary: bool
) -> None:
    gmsh = pytest.importorskip("gmsh")
    gmsh.initialize(interruptible=False)
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        gmsh.option.setNumber("Mesh.MshFileVersion", version)
        gmsh.option.setNumber("Mesh.Binary", binary)
        box = gmsh.model.occ.addBox(0, 0, 0, 1, 1, 1)
        gmsh.model.occ.synchronize()
        gmsh.option.setNumber("Mesh.MeshSizeMax", 0.4)
        gmsh.model.addPhysicalGroup(3, [box], 4, name="a solid")
        gmsh.model.addPhysicalGroup(2, [1, 2], 4, name="two sides")
        gmsh.model.addPhysicalGroup(2, [3], 9)
        gmsh.model.mesh.generate(3)
        path = tmp_path / "box.msh"
        gmsh.write(str(path))
        n_tets = len(gmsh.model.mesh.getElementsByType(4)[0])
        mesh = read(path)
        n_sides = sum(len(gmsh.model.mesh.getElements(2, side)[1][0]) for side in (1, 2))
    finally:
        gmsh.finalize()
    assert (mesh.cell_type, mesh.cells.size) == ("tetrahedron", n_tets)
    assert mesh.cell_tags["a solid"].size == n_tets
    tags = mesh.exterior_facets.tags
    assert list(tags) == ["two sides", "9"]
    assert tags["two sides"].size == n_sides
    x = mesh.coordinates.data_ro[mesh.exterior_facets.vertices_of("two sides").indices]
    assert (np.isclose(x[:, 0], 0) | np.isclose(x[:, 0], 1)).all()


def test_every_kind_has_the_nodes_that_gmsh_gives_it(tmp_path: Path) -> None:
    gmsh = pytest.importorskip("gmsh")
    gmsh.initialize(interruptible=False)
    known = {"line": "Line", "triangle": "Triangle", "quad": "Quadrilateral"}
    known |= {"tetra": "Tetrahedron", "vertex": "Point", "wedge": "Prism"}
    path = tmp_path / "one.msh"
    try:
        for kind in (*range(1, 22), 23, *range(25, 32), 36, 37, 38, 42, 47, 62, 71, 92, 93):
            name, _, _, n_nodes, *_ = gmsh.model.mesh.getElementProperties(kind)
            nodes = "".join(f"{i + 1} 0 0 0\n" for i in range(n_nodes))
            row = " ".join(str(i + 1) for i in range(n_nodes))
            path.write_text(
                f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{n_nodes}\n{nodes}$EndNodes\n"
                f"$Elements\n1\n1 {kind} 0 {row}\n$EndElements\n"
            )
            found = read_msh(path)
            assert found is not None
            [block] = found[1]
            assert block.rows.tolist() == [list(range(n_nodes))]
            assert name.startswith(known.get(block.kind, block.kind.capitalize()))
    finally:
        gmsh.finalize()


OLDER = """$MeshFormat
4.0 0 8
$EndMeshFormat
$Nodes
1 3
1 2 0 3
1 0 0 0
2 1 0 0
3 0 1 0
$EndNodes
$Elements
1 1
1 2 2 1
1 1 2 3
$EndElements
"""


def test_older_versions_go_to_meshio(tmp_path: Path) -> None:
    pytest.importorskip("meshio")
    path = tmp_path / "m.msh"
    path.write_text(OLDER)
    assert read_msh(path) is None
    mesh = read(path)
    assert (mesh.cells.size, mesh.vertices.size) == (1, 3)
