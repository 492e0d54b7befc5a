# SPDX-License-Identifier: BSD-3-Clause
"""Functions of spaces as pictures and files take them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

basix = pytest.importorskip("basix.ufl")
pytest.importorskip("ffcx")

from fem_meshes import DIMS, make_mesh  # noqa: E402

from pyop2cxx import fem, op2  # noqa: E402
from pyop2cxx.exceptions import UsageError  # noqa: E402
from pyop2cxx.io import write_vtu  # noqa: E402
from pyop2cxx.mesh import square_mesh  # noqa: E402
from pyop2cxx.plot import plot_values  # noqa: E402


def linear(x: Any) -> Any:
    return 1 + 2 * x[0] - 3 * x[-1]


@pytest.mark.parametrize("element", [("P", 1), ("P", 3), ("DG", 1), ("DG", 2)])
@pytest.mark.parametrize("cell", DIMS)
def test_linear_functions_are_met_at_the_vertices(cell: str, element: tuple[str, int]) -> None:
    mesh = make_mesh(cell, 2)
    u = fem.interpolate(linear, fem.FunctionSpace(mesh, element))
    found = fem.on_mesh(u)
    assert found.dataset.set is mesh.vertices
    x = mesh.coordinates.data_ro.reshape(mesh.vertices.size, -1)
    np.testing.assert_allclose(found.data_ro, linear(x.T), rtol=1e-12, atol=1e-12)


def test_vectors_keep_their_components_and_single_precision_stays() -> None:
    mesh = make_mesh("triangle", 3)
    V = fem.FunctionSpace(mesh, ("P", 2, (2,)))
    u = fem.interpolate(lambda x: (x[0], -x[1]), fem.Function(V, np.float32, "v"))
    found = fem.on_mesh(u)
    assert (found.name, found.dtype, found.dim) == ("v", np.float32, (2,))
    np.testing.assert_allclose(found.data_ro, mesh.coordinates.data_ro * [1, -1], atol=1e-6)


def test_flows_of_raviart_thomas_elements_are_vectors() -> None:
    mesh = make_mesh("triangle", 3)
    V = fem.FunctionSpace(mesh, ("RT", 1))
    u = fem.interpolate(lambda x: (0 * x[0] + 2, 0 * x[0] - 1), V)
    np.testing.assert_allclose(
        fem.on_mesh(u).data_ro, np.tile([2.0, -1.0], (mesh.vertices.size, 1)), atol=1e-12
    )


def test_what_is_constant_in_cells_stays_there() -> None:
    mesh = make_mesh("quadrilateral", 3)
    u = fem.Function(fem.FunctionSpace(mesh, ("DG", 0)))
    u.dat.data[u.space.cell_dofs.values[:, 0]] = np.arange(mesh.cells.size)
    found = fem.on_mesh(u)
    assert found.dataset.set is mesh.cells
    np.testing.assert_array_equal(found.data_ro, np.arange(mesh.cells.size))


def test_it_is_a_copy() -> None:
    mesh = make_mesh("interval", 4)
    u = fem.Function(fem.FunctionSpace(mesh, ("P", 1)))
    fem.on_mesh(u).data[:] = 7.0
    assert u.values.max() == 0.0


def test_it_can_be_drawn_and_written(tmp_path: Any) -> None:
    pytest.importorskip("matplotlib")
    mesh = square_mesh(4)
    u = fem.interpolate(linear, fem.FunctionSpace(mesh, ("P", 2)))
    plot_values(mesh, fem.on_mesh(u), tmp_path / "u.png")
    write_vtu(tmp_path / "u.vtu", mesh, fem.on_mesh(u))
    assert (tmp_path / "u.png").stat().st_size > 1000
    assert b'Name="u"' in (tmp_path / "u.vtu").read_bytes()


def test_other_things_are_refused() -> None:
    mesh = make_mesh("triangle", 2)
    linear_ = basix.element("P", "triangle", 1)
    mixed = fem.Function(fem.FunctionSpace(mesh, basix.mixed_element([linear_, linear_])))
    with pytest.raises(UsageError, match="take one of u"):
        fem.on_mesh(mixed)
    assert fem.on_mesh(mixed.split()[1]).dataset.set is mesh.vertices
    with pytest.raises(UsageError, match="expected a Function, got Dat"):
        fem.on_mesh(op2.Dat(mesh.vertices))  # type: ignore[arg-type]
