# SPDX-License-Identifier: BSD-3-Clause
"""L2 projection, cell by cell where dofs lie inside of cells; and patches around vertices."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ffcx")
ufl = importlib.import_module("ufl")

from pyop2cxx import fem, op2  # noqa: E402
from pyop2cxx.exceptions import DataValueError, UsageError  # noqa: E402
from pyop2cxx.mesh import cube_mesh, interval_mesh, square_mesh  # noqa: E402

pytestmark = pytest.mark.usefixtures("exits")
BACKENDS = [b.name for b in op2.backends() if b.available]


def _load(V: Any, x: Any) -> Any:
    f = ufl.sin(3 * x[0]) * ufl.exp(x[1])
    return ufl.as_vector([f, x[0] * x[1]]) if V.dim == 2 else f


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("cell", "element"),
    [
        ("triangle", ("DG", 2)),
        ("triangle", ("DG", 3, (2,))),
        ("quadrilateral", ("DQ", 3)),
        ("quadrilateral", ("DG", 0)),
    ],
)
def test_a_projection_is_that_of_the_whole_system(cell: str, element: Any, backend: str) -> None:
    mesh = square_mesh(3, cell=cell)
    V = fem.FunctionSpace(mesh, element)
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    f = _load(V, fem.SpatialCoordinate(mesh))
    whole = fem.Function(V)
    fem.solve(ufl.inner(u, v) * ufl.dx == ufl.inner(f, v) * ufl.dx, whole)
    with op2.backend(backend):
        assert np.allclose(fem.project(f, V).values, whole.values, atol=1e-12)


@pytest.mark.parametrize("element", [("DG", 1), ("DG", 2), ("P", 2), ("DQ", 9)])
def test_the_order_of_convergence(element: Any) -> None:
    errors = []
    for n in (2, 4) if element[1] == 9 else (4, 8, 16):
        mesh = square_mesh(n, cell="quadrilateral" if element[1] == 9 else "triangle")
        V = fem.FunctionSpace(mesh, element)
        f = _load(V, fem.SpatialCoordinate(mesh))
        errors.append(fem.error_norm(fem.project(f, V), f, degree=8))
    if element[1] == 9:
        assert max(errors) < 1e-9
    else:
        orders = np.log2(np.array(errors[:-1]) / errors[1:])
        assert (orders > element[1] + 0.7).all()


@pytest.mark.parametrize(("dtype", "most"), [("float32", 1e-5), ("complex128", 1e-13)])
def test_dtypes(dtype: str, most: float) -> None:
    mesh = square_mesh(2)
    x = fem.SpatialCoordinate(mesh)
    f = x[0] ** 2 + 2 * x[1]
    u = fem.project(f, fem.Function(fem.FunctionSpace(mesh, ("DG", 2)), dtype))
    assert fem.error_norm(u, f) < most


def test_functions_follow_their_values_and_the_mesh() -> None:
    mesh = square_mesh(2)
    V = fem.FunctionSpace(mesh, ("DG", 1))
    g = fem.interpolate(lambda x: x[0], fem.FunctionSpace(mesh, ("P", 1)))
    u = fem.Function(V)
    for factor in (1.0, 3.0):
        g.dat.data[:] *= factor
        assert fem.project(2 * g, u) is u
        assert fem.error_norm(u, 2 * g) < 1e-14
    mesh.coordinates.data[:] *= 2
    assert fem.error_norm(fem.project(g, u), g) < 1e-14
    assert fem.project(3, u).values == pytest.approx(3)


class TestRefusals:
    def test_arguments(self) -> None:
        V = fem.FunctionSpace(square_mesh(1), ("DG", 1))
        with pytest.raises(UsageError, match="is for fem"):
            fem.project(lambda x: x[0], V)
        with pytest.raises(UsageError, match=r"expression of shape \(\), got \(2,\)"):
            fem.project(fem.SpatialCoordinate(V.mesh), V)
        with pytest.raises(UsageError, match="a Function or a FunctionSpace"):
            fem.project(1.0, V.mesh)

    @pytest.mark.parametrize("place", [0.0, np.nan])
    def test_a_cell_without_volume_is_named(self, place: float) -> None:
        mesh = interval_mesh(3)
        V = fem.FunctionSpace(mesh, ("DG", 1))
        mesh.coordinates.data[-1] = mesh.coordinates.data[-2] if place == 0 else place
        with pytest.raises(DataValueError, match="the mass matrix of cell 2 has no inverse"):
            fem.project(fem.Constant(mesh, 1.0), V)


@pytest.mark.parametrize("cell", ["triangle", "quadrilateral", "tetrahedron", "hexahedron"])
@pytest.mark.parametrize("family", ["P", "DG"])
def test_stars_have_the_dofs_around_a_vertex(cell: str, family: str) -> None:
    """Dofs of P lie in a star where its function is not zero outside; checked by coordinates."""
    mesh = (square_mesh if cell in ("triangle", "quadrilateral") else cube_mesh)(2, cell=cell)
    V = fem.FunctionSpace(mesh, (family, 3))
    stars = fem.vertex_stars(V)
    cells_of: list[set[int]] = [set() for _ in range(V.dof_set.size)]
    for c, row in enumerate(V.cell_dofs.values):
        for dof in row:
            cells_of[dof].add(c)
    rows = np.split(np.asarray(stars.values), stars.offsets[1:-1])
    for vertex, row in enumerate(rows):
        star = set(np.flatnonzero((mesh.cell_vertices.values == vertex).any(axis=1)))
        around = {d for c in star for d in V.cell_dofs.values[c]}
        inner = {d for d in around if cells_of[d] <= star}
        assert set(row) <= inner
        if family == "DG":
            assert set(row) == inner
    assert set(np.concatenate(rows)) == set(range(V.dof_set.size))


def test_patches_need_fewer_steps_with_higher_degree() -> None:
    steps = {}
    for degree in (2, 4):
        V = fem.FunctionSpace(square_mesh(6), ("P", degree))
        u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
        a = ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx
        A, b = fem.assemble_system(a, v * ufl.dx, [fem.DirichletBC(V, 0.0)])
        for kind in ("jacobi", "patch"):
            patches = fem.vertex_stars(V) if kind == "patch" else None
            x = fem.Function(V)
            went = op2.solve(A, x.dat, b.dat, ksp_rtol=1e-10, pc_type=kind, pc_patches=patches)
            steps[kind, degree] = went.n_iterations
    assert steps["patch", 4] < steps["jacobi", 4] / 2
    assert steps["patch", 4] < steps["patch", 2] + 5


def test_stars_refuse_mixed_spaces() -> None:
    V = fem.FunctionSpace(square_mesh(1), ("P", 1))
    with pytest.raises(UsageError, match="not mixed"):
        fem.vertex_stars(fem.FunctionSpace(V.mesh, [V.element, V.element]))
    with pytest.raises(UsageError, match="not mixed"):
        fem.vertex_stars(V.mesh)
