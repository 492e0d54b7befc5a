# SPDX-License-Identifier: BSD-3-Clause
"""Functions set, drawn, written and solved for; spaces and conditions as users write them."""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("ffcx")
ufl = importlib.import_module("ufl")

from pyop2cxx import fem, io, op2, plot  # noqa: E402
from pyop2cxx.exceptions import DataValueError, IndexValueError, UsageError  # noqa: E402
from pyop2cxx.mesh import Mesh, airfoil_mesh, unit_square_mesh  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("exits")


def linear(degree: int = 1) -> Any:
    V = fem.FunctionSpace(unit_square_mesh(3, 2), ("P", degree))
    return fem.interpolate(lambda x: x[0] + 2 * x[1], V)


def test_meshes_of_the_usual_names_are_meshes() -> None:
    square, airfoil = unit_square_mesh(3), airfoil_mesh(8, 4)
    assert isinstance(square, Mesh)
    assert square.cells.size == 18
    assert unit_square_mesh(3, 2).cells.size == 12
    assert isinstance(airfoil, Mesh)
    assert airfoil.exterior_facets.tags["wall"].size == 8
    assert fem.assemble(fem.Constant(square, 1.0) * fem.dx(square)) == pytest.approx(1.0)


def test_values_are_set_at_once() -> None:
    u = linear()
    u.values = 2.5
    assert set(u.values) == {2.5}
    u.values = np.arange(u.space.size)
    assert u.values.tolist() == list(range(u.space.size))
    with pytest.raises(DataValueError, match="expected a number or 12 of them, got 3"):
        u.values = [1.0, 2.0, 3.0]


def test_functions_are_assigned() -> None:
    u = linear()
    v = fem.Function(u.space)
    assert v.assign(u) is v
    assert u.assign(u).values.max() == 3.0
    assert v.values.tolist() == u.values.tolist()
    assert set(v.assign(3.0).values) == {3.0}
    np.testing.assert_allclose(v.assign(2 * u).values, 2 * u.values)
    assert v.interpolate(lambda x: x[0]).values.max() == 1.0
    with pytest.raises(DataValueError, match="complex"):
        v.assign(fem.Function(u.space, complex))


def test_a_device_assigns_without_the_host() -> None:
    op2.init(backend="opencl")
    u = linear()
    v = fem.Function(u.space)
    for one in (u, v):
        one.dat.to_device()
    op2.transfers.clear()
    v.assign(u)
    assert [row for row in op2.transfers.report() if not row.explicit] == []
    assert v.values.tolist() == u.values.tolist()


@pytest.mark.parametrize("degree", [1, 2])
def test_functions_are_written(degree: int, tmp_path: Path) -> None:
    u = linear(degree)
    mesh = u.space.mesh
    for write, name in ((io.write_vtu, "u.vtu"), (io.write_xdmf, "u.xdmf")):
        files = []
        for given in (u, fem.on_mesh(u)):
            write(tmp_path / name, mesh, given)
            files.append((tmp_path / name).read_bytes())
            write(tmp_path / name, mesh, named=given)
            assert b"named" in (tmp_path / name).read_bytes()
        assert files[0] == files[1]


def test_functions_are_steps_of_a_series(tmp_path: Path) -> None:
    u = linear()
    series = io.TimeSeries(tmp_path / "u.pvd", u.space.mesh)
    for time in (0.0, 1.0):
        u.values = time
        series.write(time, u)
    assert len(list(tmp_path.rglob("*.vtu"))) == 2


def test_functions_are_drawn() -> None:
    pytest.importorskip("matplotlib")
    u = linear()
    drawn, wanted = (plot.plot_values(u.space.mesh, one) for one in (u, fem.on_mesh(u)))
    values = [figure.axes[0].collections[0].get_array() for figure in (drawn, wanted)]
    assert drawn.axes[0].get_title() == u.name
    assert np.array_equal(*values)


def test_functions_are_solved_for() -> None:
    u = linear()
    test, trial = ufl.TestFunction(u.space), ufl.TrialFunction(u.space)
    A, b = fem.assemble(trial * test * ufl.dx), fem.assemble(u * test * ufl.dx)
    x = fem.Function(u.space)
    op2.solve(A, x, b, ksp_type="preonly", pc_type="lu")
    np.testing.assert_allclose(x.values, u.values, atol=1e-12)


def test_a_number_is_the_shape_of_a_vector() -> None:
    mesh = unit_square_mesh(2)
    V: Any = fem.FunctionSpace(mesh, ("P", 1, 2))
    assert V.value_shape == (2,)
    assert V.element == fem.FunctionSpace(mesh, ("P", 1, (2,))).element


def test_a_measure_of_a_name_asks_for_its_mesh() -> None:
    for measure in (fem.dx, fem.ds, fem.dS):
        call = re.escape(f"fem.{measure.__name__}(mesh, 'left')")
        with pytest.raises(UsageError, match=call):
            measure("left")


def test_conditions_take_numbers_of_dofs() -> None:
    V = fem.FunctionSpace(unit_square_mesh(2), ("P", 1, 2))
    bc = fem.DirichletBC(V, (1.0, 2.0), np.array([4, 0, 4]))
    assert bc.dofs.tolist() == [0, 1, 8, 9]
    assert bc.values.tolist() == [1.0, 2.0, 1.0, 2.0]
    with pytest.raises(IndexValueError, match="dofs are 0 to 8, got -1 to 3"):
        fem.DirichletBC(V, 0.0, np.array([3, -1]))
    with pytest.raises(DataValueError, match="mask"):
        fem.DirichletBC(V, 0.0, np.array([0, 1, 0, 1, 0, 1, 0, 1, 0]))
    assert fem.DirichletBC(V, 0.0, np.array([], int)).dofs.size == 0
    with pytest.raises(DataValueError, match="mask"):
        fem.DirichletBC(V, 0.0, np.zeros(9, int))
