# SPDX-License-Identifier: BSD-3-Clause
"""Quadrature ahead of time: where it is done, where not, and that the numbers stay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

ufl = pytest.importorskip("ufl")
pytest.importorskip("ffcx")

from ufl import curl, dot, ds, dx, grad, inner, sym  # noqa: E402

from pyop2cxx import fem, op2  # noqa: E402
from pyop2cxx.kernel import ufcx, ufcx_tables  # noqa: E402
from pyop2cxx.kernel.ufcx_tables import with_tables  # noqa: E402
from pyop2cxx.mesh import Mesh, cube_mesh, square_mesh  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path) -> Any:
    """FFCx writes each form anew."""
    op2.init(cache_dir=str(tmp_path / "cache"))
    yield
    op2.exit()


def bent(mesh: Mesh) -> Mesh:
    x = mesh.coordinates.data_ro
    points = x + 0.1 * np.sin(2 + 3 * x[:, ::-1])
    return Mesh.from_arrays(mesh.cell_type, points, mesh.cell_vertices.values)


TABULATED: dict[str, tuple[int, Any, Callable[[Any, Any], Any]]] = {
    "mass": (2, ("P", 2), lambda u, v: inner(u, v) * dx),
    "stiffness": (3, ("P", 2), lambda u, v: inner(grad(u), grad(v)) * dx),
    "both": (3, ("P", 2), lambda u, v: (inner(u, v) + inner(grad(u), grad(v))) * dx),
    "elasticity": (3, ("P", 2, (3,)), lambda u, v: inner(sym(grad(u)), sym(grad(v))) * dx),
    "advection": (2, ("P", 3), lambda u, v: inner(u.dx(0) + 2 * u.dx(1), v) * dx),
    "edges": (3, ("N1curl", 1), lambda u, v: (inner(curl(u), curl(v)) + inner(u, v)) * dx),
}


def arguments(dim: int, element: Any) -> tuple[Any, Any, Any]:
    mesh = bent(square_mesh(3) if dim == 2 else cube_mesh(2))
    V = fem.FunctionSpace(mesh, element)
    return V, ufl.TrialFunction(V), ufl.TestFunction(V)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("name", TABULATED)
def test_matrices_are_the_same(
    name: str, dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dim, element, written = TABULATED[name]
    V, u, v = arguments(dim, element)
    k = fem.Constant(V.mesh, 1.5 + (2j if dtype == "complex128" else 0), dtype)
    form = fem.Form(k * written(u, v))
    (integral,) = form.integrals
    if (name, dtype) != ("edges", "complex128"):  # too many different factors there to gain
        assert "quadrature_0[" in integral.body
        assert "iq" not in integral.body
    found = fem.assemble(form).to_scipy()
    monkeypatch.setattr(ufcx, "simplified", ufcx.with_products)
    op2.init(cache_dir=str(tmp_path / "other"), cflags="-O0")  # optimised, it takes seconds
    plain = fem.Form(k * written(u, v))
    assert "quadrature_" not in plain.integrals[0].body
    expected = fem.assemble(plain).to_scipy()
    assert abs(expected).max() > 0
    tolerance = 1e-5 if dtype == "float32" else 1e-14
    assert abs(found - expected).max() <= tolerance * abs(expected).max()


def unlike(V: Any, u: Any, v: Any) -> dict[str, Any]:
    """Forms in which something differs from point to point, or nothing is to be gained."""
    f, x = fem.Function(V), fem.SpatialCoordinate(V.mesh)
    return {
        "a coefficient": f * inner(u, v) * dx,
        "a coordinate": x[0] * inner(u, v) * dx,
        "a facet": inner(u, v) * ds,
        "a gradient": (1 + dot(grad(f), grad(f))) * inner(u, v) * dx,
        "a vector": inner(f, v) * dx,
        "a number": f * f * dx,
    }


@pytest.mark.parametrize("name", unlike(*arguments(2, ("P", 2))))
def test_other_forms_stay(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ufcx, "simplified", ufcx.with_products)
    (integral,) = fem.Form(unlike(*arguments(2, ("P", 2)))[name]).integrals
    assert with_tables(integral.body) == integral.body


def test_cells_that_are_not_affine_stay() -> None:
    V = fem.FunctionSpace(square_mesh(2, cell="quadrilateral"), ("P", 2))
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    (integral,) = fem.Form(inner(grad(u), grad(v)) * dx).integrals
    assert "quadrature_" not in integral.body


def test_tables_that_would_fill_a_cache_are_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ufcx, "simplified", ufcx.with_products)
    _, u, v = arguments(3, ("P", 2))
    (integral,) = fem.Form(inner(grad(u), grad(v)) * dx).integrals
    assert with_tables(integral.body) != integral.body
    monkeypatch.setattr(ufcx_tables, "MOST_VALUES", 599)  # six tables of 10 x 10
    assert with_tables(integral.body) == integral.body


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("A[", "B["),
        (" += FE", " -= FE"),
        ("* weights", "/ weights"),
        ("temp_0[j] = ", "temp_0[j] = 2 * "),
        ("[0][0][iq][i]", "[0][1][iq][i]"),
        ("static const double FE", "static const double GE"),
    ],
)
def test_a_text_that_looks_different_stays(
    right: str, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ufcx, "simplified", ufcx.with_products)
    _, u, v = arguments(2, ("P", 2))
    (integral,) = fem.Form(inner(grad(u), grad(v)) * dx).integrals
    assert right in integral.body
    changed = integral.body.replace(right, wrong)
    assert with_tables(integral.body) != integral.body
    assert with_tables(changed) == changed
