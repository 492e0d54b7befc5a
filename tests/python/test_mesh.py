# SPDX-License-Identifier: BSD-3-Clause
"""Meshes: from arrays and generators; their edges, facets, tags and numberings."""

from __future__ import annotations

import doctest
import importlib
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import (
    DataValueError,
    MapValueError,
    SetTypeError,
    UnknownTagError,
    UsageError,
)
from pyop2cxx.mesh import (
    CELLS,
    Mesh,
    airfoil_arrays,
    box_mesh,
    cube_mesh,
    disk_mesh,
    interval_mesh,
    rectangle_mesh,
    reference_cell,
    square_arrays,
    square_mesh,
)

if TYPE_CHECKING:
    from collections.abc import Callable

GENERATED: dict[str, Callable[[int], Mesh]] = {
    "interval": interval_mesh,
    "triangle": square_mesh,
    "quadrilateral": lambda n: square_mesh(n, cell="quadrilateral"),
    "tetrahedron": cube_mesh,
    "hexahedron": lambda n: cube_mesh(n, cell="hexahedron"),
}


@pytest.mark.parametrize("name", CELLS)
def test_cells_are_numbered_as_in_basix(name: str) -> None:
    basix = pytest.importorskip("basix")
    cell = reference_cell(name)
    kind = basix.CellType[name]
    assert [list(map(list, corners)) for corners in cell.corners] == basix.topology(kind)
    assert np.array_equal(np.array(cell.points), basix.geometry(kind))
    assert cell.facet_type == basix.cell.subentity_types(kind)[-2][0].name


@pytest.mark.parametrize("name", CELLS)
def test_vtk_order_goes_around_faces(name: str) -> None:
    cell = reference_cell(name)
    points = np.array(cell.points)[list(cell.vtk_order)]
    if name in ("quadrilateral", "hexahedron"):
        steps = [b - a for a, b in pairwise(points[:4])]
        assert all(np.abs(step).sum() == 1 for step in steps)
    assert [cell.vtk_order[i] for i in cell.vtk_order] == list(range(cell.n_vertices))


def volumes(mesh: Mesh) -> np.ndarray:
    """Signed volumes: of simplices by determinants, of parallelepipeds by their first corner."""
    x = mesh.coordinates.data_ro.reshape(mesh.vertices.size, -1)[mesh.cell_vertices.values]
    tensor = mesh.cell_type in ("quadrilateral", "hexahedron")
    ends = [1, 2, 4][: mesh.tdim] if tensor else list(range(1, mesh.tdim + 1))
    jacobian = np.linalg.det(np.stack([x[:, i] - x[:, 0] for i in ends], 1))
    return jacobian / {"triangle": 2, "tetrahedron": 6}.get(mesh.cell_type, 1)


@pytest.mark.parametrize("name", GENERATED)
def test_a_generated_mesh_fills_its_box(name: str) -> None:
    mesh = GENERATED[name](3)
    assert mesh.cell_type == name
    assert (volumes(mesh) > 0).all()
    assert volumes(mesh).sum() == pytest.approx(1)
    assert mesh.gdim == mesh.tdim


def test_boxes_lie_where_they_should() -> None:
    mesh = rectangle_mesh(3, 2, (1, 2), (4, 3), cell="quadrilateral")
    assert mesh.coordinates.data_ro.min(axis=0).tolist() == [1, 2]
    assert mesh.coordinates.data_ro.max(axis=0).tolist() == [4, 3]
    assert volumes(box_mesh(2, 3, 4, (0, 0, 0), (2, 3, 4))).sum() == pytest.approx(24)
    assert interval_mesh(4, -1, 1).coordinates.data_ro.tolist() == [-1, -0.5, 0, 0.5, 1]


def test_a_disk_is_nearly_round() -> None:
    mesh = disk_mesh(20, radius=2)
    assert (volumes(mesh) > 0).all()
    assert volumes(mesh).sum() == pytest.approx(4 * np.pi, rel=1e-3)
    rim = mesh.exterior_facets.vertices_of("rim")
    assert np.linalg.norm(mesh.coordinates.data_ro[rim.indices], axis=1) == pytest.approx(2)
    assert mesh.exterior_facets.set.size == mesh.exterior_facets.tags["rim"].size


@pytest.mark.parametrize("name", GENERATED)
@pytest.mark.parametrize("renumbered", [False, True])
def test_facets_agree_with_a_dictionary(name: str, renumbered: bool) -> None:
    mesh = GENERATED[name](3)
    rows = np.array(mesh.cell_vertices.values)
    if renumbered:
        shuffled = np.random.default_rng(1).permutation(mesh.vertices.size)
        points = np.empty((mesh.vertices.size, mesh.gdim))
        points[shuffled] = mesh.coordinates.data_ro.reshape(-1, mesh.gdim)
        mesh = Mesh.from_arrays(name, points, shuffled[rows], renumber=True)
        rows = np.array(mesh.cell_vertices.values)
    cell = mesh.cell
    uses: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for number, row in enumerate(rows):
        for local, corners in enumerate(cell.facets):
            uses.setdefault(tuple(sorted(row[list(corners)])), []).append((number, local))
    assert mesh.facets.set.size == len(uses)
    seen = 0
    for facets, arity in ((mesh.exterior_facets, 1), (mesh.interior_facets, 2)):
        assert facets.cells.arity == facets.local_numbers.cdim == arity
        local = facets.local_numbers.data_ro.reshape(-1, arity)
        for i, row in enumerate(facets.vertices.values):
            found = list(zip(facets.cells.values[i].tolist(), local[i].tolist(), strict=True))
            assert uses[tuple(sorted(row))] == found
            first, place = found[0]
            assert row.tolist() == rows[first][list(cell.facets[place])].tolist()
            whole = facets.facets.values[i, 0]
            assert mesh.facets.vertices.values[whole].tolist() == row.tolist()
            assert all(mesh.cell_facets.values[c, n] == whole for c, n in found)
            seen += 1
    assert seen == len(uses)


@pytest.mark.parametrize("name", GENERATED)
def test_euler_counts_edges(name: str) -> None:
    mesh = GENERATED[name](3)
    assert mesh.cell_edges.arity == len(mesh.cell.corners[1])
    numbers = [mesh.vertices.size, mesh.edges.set.size]
    if mesh.tdim == 3:
        numbers.append(mesh.facets.set.size)
    numbers += [mesh.cells.size] if mesh.tdim > 1 else []
    assert sum((-1) ** i * n for i, n in enumerate(numbers)) == 1
    assert (mesh.edges is mesh.facets) == (mesh.tdim == 2)


def test_sides_of_boxes_have_names() -> None:
    mesh = cube_mesh(2)
    facets = mesh.exterior_facets
    assert list(facets.tags) == ["left", "right", "bottom", "top", "front", "back"]
    assert sum(part.size for part in facets.tags.values()) == facets.set.size == 48
    for axis, (low, high) in enumerate((("left", "right"), ("bottom", "top"), ("front", "back"))):
        for value, side in enumerate((low, high)):
            vertices = facets.vertices_of(side)
            assert vertices.superset is mesh.vertices
            assert (mesh.coordinates.data_ro[vertices.indices, axis] == value).all()
            assert (
                facets.where(lambda x, a=axis, v=value: x[a] == v).indices.tolist()
                == facets.tags[side].indices.tolist()
            )
    assert mesh.facet_tags["left"].size == 8
    assert facets.vertices_of().size == 26
    corner = facets.vertices_of(["left", "bottom"]).indices
    x = mesh.coordinates.data_ro[corner]
    assert corner.size == 15
    assert (x[:, :2] == 0).any(axis=1).all()
    assert facets.vertices_of([]).size == 0
    with pytest.raises(UnknownTagError, match="no tag 'wall'"):
        facets.vertices_of(("left", "wall"))


def test_interior_facets_can_have_names() -> None:
    mesh = Mesh.from_arrays(
        "triangle",
        [[0, 0], [1, 0], [1, 1], [0, 1]],
        [[0, 1, 2], [0, 2, 3]],
        cell_tags={"low": [0], "none": []},
        facet_tags={"cut": [[2, 0]], "both": [[0, 2], [1, 0]]},
    )
    assert mesh.interior_facets.tags["cut"].size == mesh.interior_facets.tags["both"].size == 1
    assert "cut" not in mesh.exterior_facets.tags
    assert mesh.facet_tags["both"].size == 2
    assert mesh.cell_tags["low"].indices.tolist() == [0]
    assert mesh.cell_tags["none"].size == 0
    with pytest.raises(UnknownTagError, match=r"no tag 'wall'; it has: 'both'$") as raised:
        mesh.exterior_facets.tags["wall"]
    assert isinstance(raised.value, KeyError)
    with pytest.raises(SetTypeError, match="a list of tags or a Subset of Set 'exterior_facets'"):
        mesh.exterior_facets.vertices_of(mesh.cell_tags["low"])


def test_tags_follow_a_renumbering() -> None:
    square = square_mesh(8)
    random = np.random.default_rng(3)
    new_vertex = random.permutation(square.vertices.size)
    new_cell = random.permutation(square.cells.size)
    points = np.empty((square.vertices.size, 2))
    points[new_vertex] = square.coordinates.data_ro
    cells = np.empty((square.cells.size, 3), np.int64)
    cells[new_cell] = new_vertex[square.cell_vertices.values]
    facets = square.exterior_facets
    left = new_vertex[facets.vertices.values[facets.tags["left"].indices]]
    mesh = Mesh.from_arrays(
        "triangle",
        points,
        cells,
        cell_tags={"some": [5, 7]},
        facet_tags={"left": left},
        renumber=True,
    )
    assert np.array_equal(mesh.to_original(mesh.coordinates), points)
    middles = mesh.coordinates.data_ro[mesh.cell_vertices.values].mean(axis=1)
    expected = points[cells].mean(axis=1)
    assert np.allclose(mesh.to_original(middles, mesh.cells), expected)
    assert sorted(middles[mesh.cell_tags["some"].indices].tolist()) == sorted(
        expected[[5, 7]].tolist()
    )
    on_left = mesh.exterior_facets.vertices_of("left")
    assert on_left.indices.tolist() == mesh.vertices_where(lambda x: x[0] == 0).indices.tolist()
    assert "renumbered" in repr(mesh)
    spread = np.ptp(mesh.cell_vertices.values, axis=1).mean()
    assert spread < np.ptp(cells, axis=1).mean() / 2


def test_from_arrays_takes_no_memory_of_its_caller() -> None:
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    mesh = Mesh.from_arrays("triangle", points, [[0, 1, 2]], renumber=True)
    mesh.coordinates.data[:] = 7
    assert points.max() == 1
    single = Mesh.from_arrays("triangle", points.astype(np.float32), [[0, 1, 2]])
    assert single.coordinates.dtype == np.float32
    assert np.array_equal(single.to_original(single.coordinates), points)


TRIANGLE = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("prism", TRIANGLE, [[0, 1, 2]]), UsageError, "no cell 'prism'; there are: interval"),
        (("triangle", [[0.0], [1.0]], [[0, 1, 1]]), DataValueError, "gdim 2 to 3"),
        (("triangle", [["a", "b"]], [[0, 1, 1]]), DataValueError, "must be real numbers"),
        (("triangle", [[0, np.nan]], [[0, 0, 0]]), DataValueError, "point 0 is not finite"),
        (("triangle", TRIANGLE, np.empty((0, 3), int)), DataValueError, "there is none"),
        (("triangle", TRIANGLE, [[0, 1]]), DataValueError, r"shape \(n, 3\)"),
        (("triangle", TRIANGLE, [[0, 1, 4]]), DataValueError, "row 0 names vertices .*from 1"),
        (("triangle", TRIANGLE, [[0, 1, 2], [3, 1, 3]]), DataValueError, "cell 1 names a vertex"),
    ],
)
def test_wrong_arrays_are_refused(
    arguments: tuple[object, ...], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Mesh.from_arrays(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        ({"cell_tags": {"a": [1]}}, "cell tag 'a': there is no cell 1; there are 0 to 0"),
        ({"cell_tags": {"a": [[0]]}}, "cell tag 'a': expected numbers of cells"),
        (
            {"facet_tags": {"b": [[0, 3]]}},
            "facet tag 'b': row 0: no cell has a facet with vertices",
        ),
        ({"facet_tags": {"b": [[0, 1, 2]]}}, r"facet tag 'b': expected integers of shape \(n, 2\)"),
    ],
)
def test_wrong_tags_are_refused(tags: dict[str, dict[str, list[int]]], message: str) -> None:
    with pytest.raises(DataValueError, match=message):
        Mesh.from_arrays("triangle", TRIANGLE, [[0, 1, 2]], **tags)  # type: ignore[arg-type]


def test_a_facet_of_three_cells_is_refused_when_it_is_asked_for() -> None:
    points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, -1, 0]]
    mesh = Mesh.from_arrays("triangle", points, [[0, 1, 2], [0, 1, 3], [0, 1, 4]])
    assert mesh.edges.set.size == 7
    with pytest.raises(UsageError, match=r"vertices \[0, 1\] belongs to cells \[0, 1, 2\]"):
        _ = mesh.exterior_facets


@pytest.mark.parametrize("wrong", [lambda x: x[0], lambda x: True, lambda x: x > 0])
def test_a_marker_must_return_truth_values(wrong: Callable[..., object]) -> None:
    with pytest.raises(DataValueError, match="25 truth values"):
        square_mesh(4).exterior_facets.where(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "call",
    [
        lambda: square_mesh(0),
        lambda: square_mesh(2.5),  # type: ignore[arg-type]
        lambda: square_mesh(2, cell="hexahedron"),
        lambda: interval_mesh(3, 1.0, 1.0),
        lambda: rectangle_mesh(1, 1, (0, 0, 0), (1, 1, 1)),
        lambda: disk_mesh(3, radius=-1),
        lambda: disk_mesh(0),
    ],
)
def test_shapes_that_do_not_exist_are_refused(call: Callable[[], Mesh]) -> None:
    with pytest.raises(UsageError):
        call()


def test_older_meshes_become_meshes() -> None:
    older = airfoil_arrays(20, 10, shuffle=4)
    mesh = older.to_mesh()
    assert mesh.cells.size == older.n_cells
    assert mesh.interior_facets.set.size == older.n_edges
    assert mesh.exterior_facets.set.size == older.n_bedges
    assert mesh.exterior_facets.tags["wall"].size == 20
    assert (np.abs(volumes(mesh)) > 0).all()
    square = square_arrays(5)
    assert square.to_mesh().exterior_facets.tags["boundary"].size == square.n_facets
    assert np.array_equal(square.to_mesh().coordinates.data_ro, square.x)


@pytest.mark.parametrize("name", ["triangle", "hexahedron"])
def test_loops_run_on_facets(name: str) -> None:
    """The lengths or areas of one side add up to one, and jumps over interior facets vanish."""
    mesh = GENERATED[name](3)
    facets = mesh.exterior_facets
    n = facets.vertices.arity
    count = op2.Global(1, [0.0], name="count")
    kernel = op2.Kernel(
        f"void mean(double *sum, const double *x) {{ for (int i = 0; i < {n}; ++i)"
        f" sum[0] += x[{mesh.gdim} * i] / {n}; }}",
        "mean",
    )
    op2.par_loop(
        kernel,
        facets.tags["right"],
        count(op2.INC),
        mesh.coordinates(op2.READ, facets.vertices),
    )
    assert count.data[0] == pytest.approx(facets.tags["right"].size)
    inner = mesh.interior_facets
    number = op2.Dat(mesh.cells, np.arange(mesh.cells.size, dtype=float))
    steps = op2.Global(1, [0.0])
    op2.par_loop(
        op2.Kernel("void step(double *s, const double *c) { s[0] += c[1] > c[0]; }", "step"),
        inner.set,
        steps(op2.INC),
        number(op2.READ, inner.cells),
    )
    assert steps.data[0] == inner.set.size


@pytest.mark.parametrize("module", ["airfoil", "cells", "generate", "mesh", "square", "topology"])
def test_examples_of_the_docstrings_hold(module: str) -> None:
    found = doctest.testmod(importlib.import_module(f"pyop2cxx.mesh.{module}"))
    assert (found.failed, found.attempted > 0) == (0, True)


def test_the_map_of_a_mesh_stays_as_its_facets_go_by_it() -> None:
    mesh = square_mesh(2)
    before = mesh.cell_vertices.values.copy()
    for change in (
        lambda: mesh.cell_vertices.update_values(before[::-1]),
        lambda: mesh.cell_vertices.values.__setitem__((0, 0), 1),
    ):
        with pytest.raises(MapValueError, match="Mesh 'square_mesh' was made of it"):
            change()
    assert np.array_equal(mesh.cell_vertices.values, before)
    op2.renumber([mesh.cell_vertices], [mesh.coordinates], coordinates=mesh.coordinates)
    assert mesh.facets.set.size == 16
