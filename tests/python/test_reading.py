# SPDX-License-Identifier: BSD-3-Clause
"""Meshes from files and from gmsh's models."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx.exceptions import DataValueError, MeshFileError, UsageError
from pyop2cxx.mesh import Mesh, cube_mesh, from_gmsh, interval_mesh, read, square_mesh

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

meshio = pytest.importorskip("meshio")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:meshio")

MSH = """$MeshFormat
4.1 0 8
$EndMeshFormat
$PhysicalNames
2
1 3 "floor"
2 5 "plate"
$EndPhysicalNames
$Entities
0 1 1 0
1 0 0 0 1 0 0 1 3 0
1 0 0 0 1 1 0 1 5 0
$EndEntities
$Nodes
1 5 1 9
2 1 0 5
1
2
3
4
9
0 0 0
1 0 0
1 1 0
0 1 0
5 5 0
$EndNodes
$Elements
2 3 1 3
1 1 1 1
1 1 2
2 1 2 2
2 1 2 3
3 1 3 4
$EndElements
"""


def write(path: Path, mesh: Mesh, **more: Any) -> Path:
    points = mesh.coordinates.data_ro.reshape(mesh.vertices.size, -1)
    points = np.pad(points, ((0, 0), (0, 3 - points.shape[1])))
    rows = mesh.cell_vertices.values[:, list(mesh.cell.vtk_order)]
    cells = [(mesh.cell.meshio_name, np.asarray(rows))]
    meshio.Mesh(points, cells, **more).write(path)
    return path


def test_a_file_of_gmsh_is_read_with_its_names(tmp_path: Path) -> None:
    path = tmp_path / "plate.msh"
    path.write_text(MSH)
    mesh = read(path, renumber=False)
    assert repr(mesh) == "Mesh('plate': 2 triangles, 4 vertices, 2-D, tags: plate, floor)"
    assert mesh.cell_vertices.values.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert mesh.coordinates.data_ro.tolist() == [[0, 0], [1, 0], [1, 1], [0, 1]]
    assert mesh.cell_tags["plate"].size == 2
    [floor] = mesh.exterior_facets.tags["floor"].indices
    assert mesh.exterior_facets.vertices.values[floor].tolist() == [0, 1]
    assert read(path, gdim=3).gdim == 3
    with pytest.raises(UsageError, match="gdim must be 2 to 3, got 1"):
        read(path, gdim=1)


@pytest.mark.parametrize(
    ("generate", "suffix"),
    [
        (lambda: interval_mesh(3), "vtk"),
        (lambda: square_mesh(3), "vtu"),
        (lambda: square_mesh(3, cell="quadrilateral"), "vtk"),
        (lambda: cube_mesh(2), "xdmf"),
        (lambda: cube_mesh(2, cell="hexahedron"), "vtu"),
    ],
)
def test_other_formats_are_read_in_tensor_order(
    tmp_path: Path, generate: Callable[[], Mesh], suffix: str
) -> None:
    mesh = generate()
    found = read(write(tmp_path / f"mesh.{suffix}", mesh), renumber=False)
    assert found.cell_type == mesh.cell_type
    assert np.array_equal(found.cell_vertices.values, mesh.cell_vertices.values)
    assert np.array_equal(found.coordinates.data_ro, mesh.coordinates.data_ro)


def test_a_mesh_is_renumbered_on_reading_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(tmp_path / "mesh.vtk", square_mesh(5))
    with caplog.at_level(logging.INFO, "pyop2cxx"):
        mesh = read(path)
    assert [record.message for record in caplog.records if "renumbered" in record.message]
    given = square_mesh(5).coordinates.data_ro
    assert not np.array_equal(mesh.coordinates.data_ro, given)
    assert np.array_equal(mesh.to_original(mesh.coordinates), given)


def test_regions_without_names_go_by_their_numbers(tmp_path: Path) -> None:
    mesh = square_mesh(2)
    numbers = np.array([4, 4, 0, 0, 0, 2, 2, 2])
    path = write(tmp_path / "m.vtu", mesh, cell_data={"medit:ref": [numbers]})
    found = read(path)
    assert {tag: part.size for tag, part in found.cell_tags.items()} == {"2": 3, "4": 2}


def test_families_of_med_go_by_their_names(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    x = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    cells = [("triangle", np.array([[0, 1, 2], [1, 2, 3]])), ("line", np.array([[0, 1]]))]
    found = meshio.Mesh(x, cells, cell_data={"cell_tags": [np.array([-1, -2]), np.array([-3])]})
    found.cell_tags = {-1: ["wood", "all"], -2: ["steel", "all"], -3: ["inlet"]}
    meshio.write(tmp_path / "a.med", found)
    mesh = read(tmp_path / "a.med", renumber=False)
    tags = {name: part.indices.tolist() for name, part in mesh.cell_tags.items()}
    assert tags == {"wood": [0], "all": [0, 1], "steel": [1]}
    assert list(mesh.exterior_facets.tags) == ["inlet"]


@pytest.mark.parametrize("n_nodes", [6, 10])
def test_elements_of_higher_order_give_their_corners(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, n_nodes: int
) -> None:
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    points = np.concatenate([corners, np.full((n_nodes - 3, 3), [0.5, 0.5, 0])])
    points[3:] *= np.linspace(0.1, 0.9, n_nodes - 3)[:, None]
    cells = [(f"triangle{n_nodes}", [list(range(n_nodes))])]
    meshio.Mesh(points, cells).write(tmp_path / "m.msh", file_format="gmsh")
    mesh = read(tmp_path / "m.msh", degree=1 if n_nodes == 6 else None)
    assert (mesh.cell_type, mesh.vertices.size, mesh.degree) == ("triangle", 3, 1)
    assert mesh.nodes is mesh.vertices
    assert ("sides become straight" in caplog.text) == (n_nodes == 10)


GROUPS = """$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
3
2 1 "all"
2 2 "left"
1 3 "rim"
$EndPhysicalNames
$Nodes
4
1 0 0 0
2 1 0 0
3 1 1 0
4 0 1 0
$EndNodes
$Elements
6
1 1 2 3 1 1 2
2 1 2 4 1 2 1
3 2 2 1 1 1 2 3
4 2 2 1 1 1 3 4
5 2 2 2 1 1 3 4
6 2 2 9 1 1 2 3
$EndElements
"""


def test_a_cell_of_several_groups_is_one_cell(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "two.msh").write_text(GROUPS)
    with caplog.at_level(logging.INFO, "pyop2cxx"):
        mesh = read(tmp_path / "two.msh", renumber=False)
    tags = {name: part.indices.tolist() for name, part in mesh.cell_tags.items()}
    assert tags == {"all": [0, 1], "left": [1], "9": [0]}
    assert (mesh.cells.size, mesh.cell_volumes.data_ro.sum()) == (2, 1.0)
    assert mesh.exterior_facets.set.size == 4
    sizes = {name: part.size for name, part in mesh.exterior_facets.tags.items()}
    assert sizes == {"rim": 1, "4": 1}
    lines = [record.message for record in caplog.records if "listed again" in record.message]
    assert len(lines) == 1
    assert "2 of 4 cells" in lines[0]


@pytest.mark.parametrize("suffix", ["vtk", "vtu", "xdmf", "inp", "med"])
@pytest.mark.parametrize("cell", ["triangle", "tetra", "quad", "hexahedron", "line"])
def test_no_format_makes_a_cell_of_two(tmp_path: Path, suffix: str, cell: str) -> None:
    by_name = {"triangle": square_mesh(2), "quad": square_mesh(2, cell="quadrilateral")}
    by_name |= {"tetra": cube_mesh(1), "hexahedron": cube_mesh(2, cell="hexahedron")}
    mesh = by_name.get(cell) or interval_mesh(4)
    points = mesh.coordinates.data_ro.reshape(mesh.vertices.size, -1)
    points = np.pad(points, ((0, 0), (0, 3 - points.shape[1])))
    rows = np.asarray(mesh.cell_vertices.values)[:, list(mesh.cell.vtk_order)]
    twice = np.concatenate([rows, rows[[1, 0]]])
    if cell in ("triangle", "tetra"):
        twice[len(rows) :] = np.roll(twice[len(rows) :], 1, axis=1)  # in another order
    meshio.Mesh(points, [(cell, twice)]).write(tmp_path / f"m.{suffix}")
    found = read(tmp_path / f"m.{suffix}")
    assert found.cells.size == len(rows)
    assert found.cell_volumes.data_ro.sum() == pytest.approx(mesh.cell_volumes.data_ro.sum())
    assert found.exterior_facets.set.size == mesh.exterior_facets.set.size


def test_boxes_in_two_orders_may_be_two_cells_and_are_refused(tmp_path: Path) -> None:
    points = [[0, 0, 0], [0.5, 0, 0], [0.5, 1, 0], [0, 1, 0]]
    cells = [("quad", [[0, 1, 2, 3], [1, 0, 3, 2]])]
    meshio.Mesh(points, cells).write(tmp_path / "m.vtk")
    with pytest.raises(MeshFileError, match="cells 0 and 1 have the same vertices in two orders"):
        read(tmp_path / "m.vtk")


def test_nodes_at_one_place_are_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    meshio.Mesh(points, [("triangle", [[0, 1, 2], [3, 4, 5]])]).write(tmp_path / "m.vtk")
    assert read(tmp_path / "m.vtk").exterior_facets.set.size == 6
    assert "2 nodes lie where another node lies" in caplog.text


def test_sides_with_tags_are_joined(tmp_path: Path) -> None:
    mesh = square_mesh(3)
    rows = np.asarray(mesh.cell_vertices.values)
    tags = mesh.exterior_facets.tags
    sides = [mesh.exterior_facets.vertices.values[tags[name].indices] for name in tags]
    lines = np.concatenate(sides)
    numbers = np.repeat(np.arange(1, 5), [len(side) for side in sides])
    x = np.pad(mesh.coordinates.data_ro, ((0, 0), (0, 1)))
    data = {"medit:ref": [np.zeros(len(rows), int), numbers]}
    meshio.Mesh(x, [("triangle", rows), ("line", lines)], cell_data=data).write(tmp_path / "m.vtu")
    ring = read(tmp_path / "m.vtu", periodic=[("1", "2")])
    assert (ring.vertices.size, ring.exterior_facets.set.size) == (12, 6)
    assert [*ring.interior_facets.tags], [*ring.exterior_facets.tags] == (["1", "2"], ["3", "4"])
    assert ring.cell_volumes.data_ro.sum() == pytest.approx(1.0)
    assert read(tmp_path / "m.vtu", periodic=[("1", "2"), ("3", "4")]).vertices.size == 9
    with pytest.raises(MeshFileError, match="'1' and '3', of 4 and 4 vertices, are not the same"):
        read(tmp_path / "m.vtu", periodic=[("1", "3")])
    with pytest.raises(UsageError, match="no facets have tag 'x'; there are: '1', '2', '3', '4'"):
        read(tmp_path / "m.vtu", periodic=[("1", "x")])


def test_files_without_a_mesh_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read(tmp_path / "none.msh")
    cut = tmp_path / "cut.msh"
    cut.write_text(MSH[: MSH.index("5 5 0")])
    with pytest.raises(MeshFileError, match=r"cut\.msh: line 16, in \$Nodes: "):
        read(cut)
    strange = tmp_path / "mesh.strange"
    strange.write_text("?")
    with pytest.raises(MeshFileError, match="Could not deduce file format"):
        read(strange)
    points = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0]]
    mixed = [("triangle", [[1, 4, 2]]), ("quad", [[0, 1, 2, 3]])]
    meshio.Mesh(points, mixed).write(tmp_path / "mixed.vtu")
    with pytest.raises(MeshFileError, match="1 of kind 'quad', 1 of kind 'triangle'"):
        read(tmp_path / "mixed.vtu")


@pytest.fixture
def gmsh() -> Iterator[Any]:
    try:
        import gmsh
    except (ImportError, OSError) as error:
        pytest.skip(f"gmsh: {error}")
    gmsh.initialize(interruptible=False)
    gmsh.option.setNumber("General.Terminal", 0)
    yield gmsh
    gmsh.finalize()


def test_a_model_of_gmsh_becomes_a_mesh(gmsh: Any, tmp_path: Path) -> None:
    gmsh.model.add("hole")
    with pytest.raises(MeshFileError, match="'hole' has no mesh"):
        from_gmsh(gmsh.model)
    square = gmsh.model.occ.addRectangle(0, 0, 0, 1, 1)
    disk = gmsh.model.occ.addDisk(0.5, 0.5, 0, 0.2, 0.2)
    gmsh.model.occ.fragment([(2, square)], [(2, disk)])
    gmsh.model.occ.synchronize()
    gmsh.model.addPhysicalGroup(2, [disk], name="inside")
    gmsh.model.addPhysicalGroup(2, [3], 7)
    around = gmsh.model.getBoundary([(2, disk)], oriented=False)
    gmsh.model.addPhysicalGroup(1, [line for _, line in around], name="circle")
    gmsh.option.setNumber("Mesh.MeshSizeMax", 0.1)
    gmsh.model.mesh.generate(2)
    mesh = from_gmsh(gmsh.model)
    assert mesh.gdim == 2
    assert set(mesh.cell_tags) == {"inside", "7"}
    assert sum(part.size for part in mesh.cell_tags.values()) == mesh.cells.size
    circle = mesh.interior_facets.vertices_of("circle").indices
    radius = np.linalg.norm(mesh.coordinates.data_ro[circle] - 0.5, axis=1)
    assert radius == pytest.approx(0.2)
    for version in (2.2, 4.1):
        gmsh.option.setNumber("Mesh.MshFileVersion", version)
        path = tmp_path / f"{version}.msh"
        gmsh.write(str(path))
        again = read(path)
        assert (again.cells.size, again.vertices.size) == (mesh.cells.size, mesh.vertices.size)
        assert again.cell_tags["inside"].size == mesh.cell_tags["inside"].size
        assert again.interior_facets.tags["circle"].size == len(circle)


def test_only_a_model_is_taken_for_a_model() -> None:
    with pytest.raises(UsageError, match=r"expected gmsh\.model"):
        from_gmsh("square.geo")


POINTS = """$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
2
0 4 "pin"
2 5 "plate"
$EndPhysicalNames
$Nodes
4
1 0 0 0
2 1 0 0
3 1 1 0
4 0 1 0
$EndNodes
$Elements
4
1 15 2 4 1 3
2 15 2 4 2 3
3 2 2 5 1 1 2 3
4 2 2 5 1 1 3 4
$EndElements
"""


@pytest.mark.parametrize("renumber", [False, True])
def test_points_with_a_name_tag_vertices(tmp_path: Path, renumber: bool) -> None:
    (tmp_path / "m.msh").write_text(POINTS)
    mesh = read(tmp_path / "m.msh", renumber=renumber)
    [pin] = mesh.vertex_tags["pin"].indices
    assert mesh.coordinates.data_ro[pin].tolist() == [1, 1]
    fem = pytest.importorskip("pyop2cxx.fem")
    for space in (fem.FunctionSpace(mesh, ("P", 1)), fem.FunctionSpace(mesh, ("P", 2))):
        for place in ("pin", mesh.vertex_tags["pin"]):
            [dof] = fem.DirichletBC(space, 0.0, place).dofs
            assert space.dof_coordinates[dof].tolist() == [1, 1]
    for wrong, message in (([7], "names vertices"), ([0.5], "expected integers")):
        with pytest.raises(DataValueError, match=message):
            Mesh.from_arrays("triangle", np.eye(3), [[0, 1, 2]], vertex_tags={"a": wrong})


def _ring(gmsh: Any, path: Path) -> None:
    """A box of which the sides and the ends are pairs, with groups that overlap."""
    gmsh.model.occ.addBox(0, 0, 0, 1, 1, 0.5)
    gmsh.model.occ.synchronize()
    moved = {axis: np.eye(4) for axis in (0, 1)}
    for axis, low, high in ((0, 1, 2), (1, 3, 4)):
        moved[axis][axis, 3] = 1
        gmsh.model.mesh.setPeriodic(2, [high], [low], moved[axis].ravel().tolist())
    gmsh.model.addPhysicalGroup(3, [1], 1, "all")
    gmsh.model.addPhysicalGroup(3, [1], 2, "again")
    for side, name in ((1, "left"), (2, "right"), (3, "front"), (4, "back")):
        gmsh.model.addPhysicalGroup(2, [side], name=name)
    gmsh.option.setNumber("Mesh.MeshSizeMin", 0.3)
    gmsh.option.setNumber("Mesh.MeshSizeMax", 0.3)
    gmsh.model.mesh.generate(3)
    gmsh.write(str(path))


@pytest.mark.parametrize("version", [2.2, 4.1])
@pytest.mark.parametrize("binary", [0, 1])
@pytest.mark.parametrize("order", [1, 2])
def test_what_gmsh_says_is_periodic_can_be_joined(
    gmsh: Any, tmp_path: Path, version: float, binary: int, order: int
) -> None:
    gmsh.option.setNumber("Mesh.MshFileVersion", version)
    gmsh.option.setNumber("Mesh.Binary", binary)
    gmsh.option.setNumber("Mesh.ElementOrder", order)
    path = tmp_path / "ring.msh"
    _ring(gmsh, path)
    apart = read(path)
    n = apart.cells.size
    assert {name: part.size for name, part in apart.cell_tags.items()} == {"all": n, "again": n}
    assert apart.cell_volumes.data_ro.sum() == pytest.approx(0.5)
    pairs = [("left", "right"), ("front", "back")]
    said = (read(path, periodic=True), from_gmsh(gmsh.model, periodic=True))
    for mesh in (read(path, periodic=pairs), *said):
        assert (mesh.is_periodic, mesh.degree, mesh.cells.size) == (True, order, n)
        assert mesh.cell_volumes.data_ro.sum() == pytest.approx(0.5)
        outer = mesh.exterior_facets
        assert set(np.unique(mesh.coordinates.data_ro[outer.nodes.values][:, :, 2])) == {0, 0.5}
        counts = (mesh.vertices, mesh.edges.set, mesh.facets.set, mesh.cells)
        assert sum((-1) ** d * one.size for d, one in enumerate(counts)) == 0  # of a torus
        assert np.abs(_flux(mesh)).max() < 1e-14 if order == 1 else True
    (tmp_path / "plain.msh").write_text(MSH)
    with pytest.raises(UsageError, match="periodic=True: Gmsh says of no side"):
        read(tmp_path / "plain.msh", periodic=True)


def _flux(mesh: Mesh) -> np.ndarray:
    """The sum of the normals of each cell."""
    found = np.zeros((mesh.cells.size, mesh.gdim))
    for facets, signs in ((mesh.exterior_facets, (1,)), (mesh.interior_facets, (1, -1))):
        for k, sign in enumerate(signs):
            np.add.at(found, facets.cells.values[:, k], sign * facets.normals.data_ro)
    return found
