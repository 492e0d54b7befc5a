# SPDX-License-Identifier: BSD-3-Clause
"""Volumes of cells and normals of facets, on meshes whose cells are bent and turned."""

from __future__ import annotations

import doctest
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import UsageError
from pyop2cxx.mesh import Mesh, cube_mesh, interval_mesh, square_mesh
from pyop2cxx.mesh.topology import Facets

if TYPE_CHECKING:
    from collections.abc import Callable

GENERATED: dict[str, Callable[[int], Mesh]] = {
    "interval": interval_mesh,
    "triangle": square_mesh,
    "quadrilateral": lambda n: square_mesh(n, cell="quadrilateral"),
    "tetrahedron": cube_mesh,
    "hexahedron": lambda n: cube_mesh(n, cell="hexahedron"),
}


def bent(mesh: Mesh, how: Callable[[np.ndarray], np.ndarray]) -> Mesh:
    points = mesh.coordinates.data_ro.reshape(mesh.vertices.size, -1)
    return Mesh.from_arrays(mesh.cell_type, how(points), mesh.cell_vertices.values)


def wavy(x: np.ndarray) -> np.ndarray:
    """Move what is inside of the unit box."""
    inside = (4 * x * (1 - x)).prod(axis=1, keepdims=True)
    return x + 0.1 * inside * np.sin(3 + np.arange(x.shape[1]) + x[:, ::-1])


@pytest.mark.parametrize("name", GENERATED)
def test_cells_of_a_bent_box_fill_it(name: str) -> None:
    mesh = bent(GENERATED[name](4), wavy)
    sizes = mesh.cell_volumes
    assert sizes.dataset.set is mesh.cells
    assert sizes.min() > 0
    assert np.ptp(sizes.data_ro) > 0.01 * sizes.max()
    assert sizes.sum() == pytest.approx(1, rel=1e-14)
    assert mesh.cell_volumes is sizes


@pytest.mark.parametrize("name", GENERATED)
def test_normals_close_every_cell_and_lead_out_of_the_first(name: str) -> None:
    mesh = bent(GENERATED[name](3), wavy)
    total = op2.Dat(mesh.cells**mesh.gdim, name="total")
    flux = op2.Dat(mesh.cells, name="flux")
    code = """
    static void add(const double *n, const double *x, double *total, double *flux) {
      for (int side = 0; side < SIDES; ++side)
        for (int d = 0; d < DIM; ++d) {
          double middle = 0.0;
          for (int i = 0; i < CORNERS; ++i) middle += x[DIM * i + d] / CORNERS;
          total[DIM * side + d] += side ? -n[d] : n[d];
          flux[side] += (side ? -n[d] : n[d]) * middle / DIM;
        }
    }"""
    for sides, facets in ((1, mesh.exterior_facets), (2, mesh.interior_facets)):
        numbers = {"SIDES": sides, "DIM": mesh.gdim, "CORNERS": facets.vertices.arity}
        text = code
        for key, value in numbers.items():
            text = text.replace(key, str(value))
        values = facets.normals(op2.READ), mesh.coordinates(op2.READ, facets.vertices)
        sums = total(op2.INC, facets.cells), flux(op2.INC, facets.cells)
        op2.par_loop(op2.Kernel(text, "add"), facets.set, *values, *sums)
    assert abs(total.data_ro).max() < 1e-15
    if name != "hexahedron":  # whose faces are not flat, so that a middle is not enough
        np.testing.assert_allclose(flux.data_ro, mesh.cell_volumes.data_ro, rtol=1e-13)


def test_normals_of_a_box_are_its_sides() -> None:
    facets = cube_mesh(2).exterior_facets
    for name, value in {"left": [-1, 0, 0], "right": [1, 0, 0], "top": [0, 1, 0]}.items():
        rows = facets.normals.data_ro[facets.tags[name].indices]
        np.testing.assert_allclose(rows.sum(axis=0), value, atol=1e-15)


def test_on_a_surface_in_space_normals_of_edges_lie_in_it() -> None:
    slope = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])  # the plane z = x
    mesh = bent(square_mesh(3), lambda x: x @ slope)
    assert mesh.cell_volumes.sum() == pytest.approx(math.sqrt(2))
    facets = mesh.exterior_facets
    right = np.isclose(mesh.coordinates.data_ro[facets.vertices.values][..., 0], 1).all(axis=1)
    found = facets.normals.data_ro[right].sum(axis=0)
    np.testing.assert_allclose(found, np.array([1, 0, 1]) / math.sqrt(2), atol=1e-15)


@pytest.mark.parametrize("found", [Mesh.cell_volumes, Facets.normals])
def test_examples_of_properties_are_right(found: Any) -> None:
    """Doctest does not find them by itself."""
    [example] = doctest.DocTestFinder().find(found.func, found.attrname, globs={})
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0


def test_single_precision_stays() -> None:
    mesh = square_mesh(2)
    points = mesh.coordinates.data_ro.astype(np.float32)
    small = Mesh.from_arrays("triangle", points, mesh.cell_vertices.values)
    assert small.cell_volumes.dtype == small.interior_facets.normals.dtype == np.float32


def test_three_cells_at_an_edge_have_areas_and_forms() -> None:
    """Shells may branch: only their facets have no two sides."""
    points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, -1, 0]]
    mesh = Mesh.from_arrays("triangle", points, [[0, 1, 2], [0, 1, 3], [0, 1, 4]])
    assert mesh.cell_volumes.data_ro.tolist() == [0.5, 0.5, 0.5]
    with pytest.raises(UsageError, match="facets of a mesh have one or two"):
        _ = mesh.exterior_facets
    fem = pytest.importorskip("pyop2cxx.fem")
    assert fem.assemble(fem.Constant(mesh, 1.0) * fem.dx(mesh)) == pytest.approx(1.5)
    assert fem.FunctionSpace(mesh, ("P", 2)).dof_set.size == 5 + 7
