# SPDX-License-Identifier: BSD-3-Clause
"""Meshes of several kinds of cells."""

from __future__ import annotations

import doctest
import importlib
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import DataValueError, MeshFileError, UnsupportedError, UsageError
from pyop2cxx.mesh import MixedMesh, cube_mesh, read, read_mixed, square_mesh
from pyop2cxx.mesh.mixed import _FACETS

if TYPE_CHECKING:
    from pathlib import Path


def flat(renumber: bool = False, **more: Any) -> MixedMesh:
    """The unit square: quadrilaterals to the left, triangles to the right."""
    mesh = square_mesh(4, cell="quadrilateral")
    rows, x = np.asarray(mesh.cell_vertices.values), mesh.coordinates.data_ro
    is_left = x[rows].mean(axis=1)[:, 0] < 0.5
    right = rows[~is_left]
    cells = {
        "quadrilateral": rows[is_left],
        "triangle": right[:, [[0, 1, 3], [0, 3, 2]]].reshape(-1, 3),
    }
    return MixedMesh(x, cells, renumber=renumber, **more)


def solid(renumber: bool = False, **more: Any) -> MixedMesh:
    """The unit cube: hexahedra, pyramids and tetrahedra from the middle, and prisms."""
    mesh = cube_mesh(3, cell="hexahedron")
    rows, x = np.asarray(mesh.cell_vertices.values), mesh.coordinates.data_ro
    middle = x[rows].mean(axis=1)
    is_centre = np.isclose(middle, 0.5).all(axis=1)
    is_prism = middle[:, 0] > 0.7
    points = np.concatenate([x, middle[is_centre]])
    apex = np.full((1, 1), len(x))
    centre = rows[is_centre]
    faces = centre[:, list(_FACETS["hexahedron"])][0]
    split = faces[:1][:, [[0, 1, 3], [0, 3, 2]]].reshape(-1, 3)
    cells = {
        "hexahedron": rows[~is_centre & ~is_prism],
        "prism": rows[is_prism][:, [[0, 1, 3, 4, 5, 7], [0, 3, 2, 4, 7, 6]]].reshape(-1, 6),
        "pyramid": np.concatenate([faces[1:], apex.repeat(5, axis=0)], axis=1),
        "tetrahedron": np.concatenate([split, apex.repeat(2, axis=0)], axis=1),
    }
    below = (middle[:, 2] < 0.3) & np.isclose(middle[:, :2], 0.5).all(axis=1)
    under = rows[below]  # its upper side is cut as the two tetrahedra are
    cells["hexahedron"] = np.delete(
        cells["hexahedron"], np.flatnonzero((cells["hexahedron"] == under).all(axis=1)), axis=0
    )
    cut = under[:, [[4, 5, 7, 0, 1, 3], [4, 7, 6, 0, 3, 2]]].reshape(-1, 6)
    cells["prism"] = np.concatenate([cells["prism"], cut])
    return MixedMesh(points, cells, renumber=renumber, **more)


MESHES = {"flat": flat, "solid": solid}


def by_hand(mesh: MixedMesh) -> dict[frozenset[int], list[tuple[str, int, int]]]:
    """For each facet the cells that have it."""
    found: dict[frozenset[int], list[tuple[str, int, int]]] = {}
    for kind, path in mesh.cell_vertices.items():
        for cell, row in enumerate(path.values.tolist()):
            for number, corners in enumerate(_FACETS[kind]):
                key = frozenset(row[i] for i in corners)
                found.setdefault(key, []).append((kind, cell, number))
    return found


@pytest.mark.parametrize("renumber", [False, True])
@pytest.mark.parametrize("name", MESHES)
def test_facets_agree_with_a_dictionary(name: str, renumber: bool) -> None:
    mesh = MESHES[name](renumber)
    wanted, n = by_hand(mesh), 0
    for group in (mesh.exterior_facets, mesh.interior_facets):
        for (*kinds, _), facets in group.items():
            for i, row in enumerate(facets.vertices.values.tolist()):
                local = facets.local_numbers.data_ro.reshape(facets.set.size, -1)[i]
                cells = [int(path.values[i, 0]) for path in facets.cells]
                assert wanted[frozenset(row)] == [*zip(kinds, cells, local, strict=True)]
                first = mesh.cell_vertices[kinds[0]].values[cells[0]]
                assert row == [first[k] for k in _FACETS[kinds[0]][local[0]]]
            n += facets.set.size
    assert n == len(wanted)


@pytest.mark.parametrize("renumber", [False, True])
@pytest.mark.parametrize("name", MESHES)
def test_volumes_and_normals_close_all_cells(name: str, renumber: bool) -> None:
    mesh = MESHES[name](renumber)
    assert sum(dat.data_ro.sum() for dat in mesh.cell_volumes.values()) == pytest.approx(1.0)
    flux = {kind: np.zeros((cells.size, mesh.gdim)) for kind, cells in mesh.cells.items()}
    for group in (mesh.exterior_facets, mesh.interior_facets):
        for (*kinds, _), facets in group.items():
            for kind, path, sign in zip(kinds, facets.cells, (1, -1), strict=False):
                np.add.at(flux[kind], path.values[:, 0], sign * facets.normals.data_ro)
    for found in flux.values():
        np.testing.assert_allclose(found, 0, atol=1e-14)


def test_loops_go_over_each_kind_and_between_two() -> None:
    mesh = flat()
    count = op2.Dat(mesh.vertices, name="count")
    for kind, path in mesh.cell_vertices.items():
        body = " ".join(f"n[{i}] += 1;" for i in range(path.arity))
        kernel = op2.Kernel(f"void add(double *n) {{ {body} }}", "add")
        op2.par_loop(kernel, mesh.cells[kind], count(op2.INC, path))
    assert count.data_ro.sum() == 4 * 8 + 3 * 16
    between = mesh.interior_facets["quadrilateral", "triangle", "interval"]
    assert between.set.size == 4
    left, right = (op2.Dat(mesh.cells[kind]) for kind in ("quadrilateral", "triangle"))
    kernel = op2.Kernel("void meet(double *a, double *b) { a[0] += 1; b[0] += 1; }", "meet")
    first, second = between.cells
    op2.par_loop(kernel, between.set, left(op2.INC, first), right(op2.INC, second))
    assert (left.data_ro.sum(), right.data_ro.sum(), right.data_ro.max()) == (4, 4, 1)


@pytest.mark.parametrize("renumber", [False, True])
def test_tags_are_found_on_all_kinds(renumber: bool) -> None:
    x = square_mesh(4).coordinates.data_ro
    on_bottom = np.flatnonzero(x[:, 1] == 0)
    between = np.flatnonzero(x[:, 0] == 0.5)
    lines = [np.stack([row[:-1], row[1:]], axis=1) for row in (on_bottom, between)]
    mesh = flat(
        renumber,
        cell_tags={"some": {"triangle": [0, 3], "quadrilateral": [1]}, "one": {"triangle": [2]}},
        facet_tags={"floor": [lines[0]], "seam": [lines[1]]},
    )
    sizes = {
        kind: {tag: part.size for tag, part in tags.items()}
        for kind, tags in mesh.cell_tags.items()
    }
    assert sizes == {"quadrilateral": {"some": 1}, "triangle": {"some": 2, "one": 1}}
    floor = [facets.tags["floor"].size for facets in mesh.exterior_facets.values()]
    assert floor == [2, 2]
    seam = mesh.interior_facets["quadrilateral", "triangle", "interval"].tags
    assert {tag: part.size for tag, part in seam.items()} == {"seam": 4}
    wrong = flat(facet_tags={"none": [[[0, 24]]]})
    with pytest.raises(DataValueError, match=r"tag 'none': no cell has a facet .* \[0, 24\]"):
        _ = wrong.exterior_facets


def test_parts_are_meshes_without_forms() -> None:
    fem = pytest.importorskip("pyop2cxx.fem")
    parts = flat().parts
    assert {kind: part.cells.size for kind, part in parts.items()} == {
        "quadrilateral": 8,
        "triangle": 16,
    }
    for mesh in (parts["triangle"], flat()):
        with pytest.raises(UnsupportedError, match="several kinds of cells; there are no forms"):
            fem.FunctionSpace(mesh, ("P", 1))
    assert set(solid().parts) == {"hexahedron", "tetrahedron"}


@pytest.mark.parametrize(
    ("cells", "error", "message"),
    [
        ({}, UsageError, "there are no cells"),
        ({"polygon": [[0, 1, 2]]}, UsageError, "there is no cell 'polygon'"),
        ({"triangle": [[0, 1, 2]], "interval": [[0, 1]]}, UsageError, "of different dimensions"),
        ({"triangle": [[0, 1, 1]]}, DataValueError, "names a vertex twice"),
        ({"triangle": [[0, 1, 2], [1, 2, 0]]}, DataValueError, "have the same vertices"),
        ({"triangle": [[0, 1, 9]]}, DataValueError, "names vertices"),
        ({"quadrilateral": [[0, 1, 2]]}, DataValueError, r"shape \(n, 4\)"),
    ],
)
def test_wrong_cells_are_refused(cells: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        MixedMesh([[0, 0], [1, 0], [0, 1], [1, 1]], cells)


def test_cells_that_lie_on_each_other_are_refused() -> None:
    points = [[0, 0], [1, 0], [0, 1], [1, 1], [0.4, 0.3]]
    mesh = MixedMesh(points, {"quadrilateral": [[0, 1, 2, 3]], "triangle": [[0, 1, 4]]})
    with pytest.raises(UsageError, match=r"cells \[0, 0\] lie on the same side of their facet"):
        _ = mesh.interior_facets
    rows = [[0, 1, i] for i in (2, 3, 4)]
    mesh = MixedMesh(points, {"triangle": rows})
    with pytest.raises(UsageError, match="belongs to more than two cells"):
        _ = mesh.exterior_facets


@pytest.mark.parametrize("name", MESHES)
@pytest.mark.parametrize("suffix", ["vtu", "msh", "xdmf"])
def test_files_with_several_kinds_are_read(tmp_path: Path, name: str, suffix: str) -> None:
    meshio = pytest.importorskip("meshio")
    pytest.importorskip("h5py")
    mesh = MESHES[name]()
    names = {"quadrilateral": "quad", "prism": "wedge", "tetrahedron": "tetra"}
    around = {"quadrilateral": [0, 1, 3, 2], "hexahedron": [0, 1, 3, 2, 4, 5, 7, 6]}
    around["pyramid"] = [0, 1, 3, 2, 4]
    cells = []
    for kind, path in mesh.cell_vertices.items():
        rows = np.asarray(path.values)[:, around.get(kind, slice(None))]
        cells.append(
            (names.get(kind, kind), np.concatenate([rows, rows[:1]]))
        )  # one is there twice
    x = mesh.coordinates.data_ro
    points = np.pad(x, ((0, 0), (0, 3 - x.shape[1])))
    given = meshio.Mesh(points, cells)
    given.write(tmp_path / f"m.{suffix}", **({"file_format": "gmsh22"} if suffix == "msh" else {}))
    found = read_mixed(tmp_path / f"m.{suffix}", renumber=False)
    for kind, path in mesh.cell_vertices.items():
        assert found.cell_vertices[kind].values.tolist() == path.values.tolist()
    assert read_mixed(tmp_path / f"m.{suffix}").vertices.size == mesh.vertices.size
    with pytest.raises(MeshFileError, match="read_mixed gives a Set of cells for each kind"):
        read(tmp_path / f"m.{suffix}")


def test_groups_of_gmsh_are_tags(tmp_path: Path) -> None:
    (tmp_path / "m.msh").write_text(
        '$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n2 1 "all"\n$EndPhysicalNames\n'
        "$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 2 0 0\n$EndNodes\n"
        "$Elements\n6\n1 1 2 8 1 1 2\n2 1 2 8 1 2 5\n3 3 2 1 1 1 2 3 4\n4 2 2 1 1 2 5 3\n"
        "5 2 2 2 1 2 5 3\n6 1 2 9 1 2 3\n$EndElements\n"
    )
    mesh = read_mixed(tmp_path / "m.msh")
    assert repr(mesh) == (
        "MixedMesh('m': 1 quadrilateral, 1 triangle, 5 vertices, 2-D, tags: all, 2, 8, 9)"
    )
    tags = [facets.tags for facets in mesh.exterior_facets.values()]
    assert [tag["8"].size for tag in tags] == [1, 1]
    assert mesh.interior_facets["quadrilateral", "triangle", "interval"].tags["9"].size == 1


def test_numbers_of_facets_are_those_of_basix() -> None:
    basix = pytest.importorskip("basix")
    for kind, facets in _FACETS.items():
        topology = basix.topology(getattr(basix.CellType, kind))
        assert [list(corners) for corners in facets] == topology[-2]
        vertices = {vertex for corners in facets for vertex in corners}
        assert vertices == set(range(len(topology[0])))
        assert all(set(a) != set(b) for a, b in combinations(facets, 2))


def test_examples_of_the_docstrings_hold() -> None:
    found = doctest.testmod(importlib.import_module("pyop2cxx.mesh.mixed"))
    assert (found.failed, found.attempted > 0) == (0, True)
