# SPDX-License-Identifier: BSD-3-Clause
"""Assembled numbers are those of FFCx's own functions, called one by one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
import pytest

basix = pytest.importorskip("basix.ufl")
ufl = pytest.importorskip("ufl")
pytest.importorskip("ffcx")

from fem_meshes import DIMS, make_mesh  # noqa: E402
from fem_reference import assembled  # noqa: E402

from pyop2cxx import fem, op2  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

CELLS = ("interval", "triangle", "quadrilateral", "tetrahedron", "hexahedron")
SCALAR_FAMILIES = ("P1", "P2", "P1 vector", "DG1", "mixed", "quadrature")
FAMILIES = (*SCALAR_FAMILIES, "RT1", "RT2", "N1curl1", "N1curl2")
EVERY = [
    (cell, family)
    for cell in CELLS
    for family in (SCALAR_FAMILIES if cell == "interval" else FAMILIES)
]
SIZES = {
    **{"hexahedron": (2, 1, 1), "tetrahedron": 1, "triangle": 2, "quadrilateral": 2},
    "interval": 3,
}
TOLERANCE = {"float32": 3e-6, "float64": 1e-13, "complex64": 3e-6, "complex128": 1e-13}


@pytest.fixture(autouse=True)
def _leave_no_options():
    yield
    op2.exit()


def element(family: str, cell: str):
    dim = DIMS[cell]
    return {
        "P1": lambda: basix.element("P", cell, 1),
        "P2": lambda: basix.element("P", cell, 2),
        "P1 vector": lambda: basix.element("P", cell, 1, shape=(dim,)),
        "DG1": lambda: basix.element("DG", cell, 1),
        "mixed": lambda: basix.mixed_element(
            [basix.element("P", cell, 2, shape=(dim,)), basix.element("P", cell, 1)]
        ),
        "RT1": lambda: basix.element("RT", cell, 1),
        "RT2": lambda: basix.element("RT", cell, 2),
        "N1curl1": lambda: basix.element("N1curl", cell, 1),
        "N1curl2": lambda: basix.element("N1curl", cell, 2),
        "quadrature": lambda: basix.quadrature_element(cell, degree=2),
    }[family]()


def forms_of(space: fem.FunctionSpace, dtype: str, family: str) -> list[fem.Form]:
    """A functional, a linear and a bilinear form, each over cells and both kinds of facets."""
    mesh = space.mesh
    random = np.random.default_rng(3)
    f, g = fem.Function(space, dtype, "f"), fem.Function(space, dtype, "g")
    for function in (f, g):
        function.dat.data[:] = random.random(function.dat.data.shape)
        if dtype.startswith("complex"):
            function.dat.data[:] += 1j * random.random(function.dat.data.shape)
    k = fem.Constant(mesh, 1.5, dtype)
    x, n = fem.SpatialCoordinate(mesh), fem.FacetNormal(mesh)
    u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
    inner, dx, ds, dS = ufl.inner, ufl.dx, ufl.ds, ufl.dS
    if mesh.cell_type == "hexahedron":  # compilers unroll long tables for minutes
        dx, ds, dS = (measure(degree=2) for measure in (dx, ds, dS))
    if family == "quadrature":
        dx = ufl.dx(metadata={"quadrature_degree": 2})
        return [
            fem.Form(k * inner(f, g) * dx),
            fem.Form(k * x[0] * inner(f, v) * dx),
            fem.Form(inner(f, g) * inner(u, v) * dx),
        ]
    weight = 1 + inner(f, f)
    number = k * weight * x[0] * dx + k * x[DIMS[mesh.cell_type] - 1] * inner(f, g) * ds
    number += inner(ufl.jump(f), ufl.avg(g)) * dS + inner(ufl.dot(x, n), k) * ds
    vector = k * x[0] * inner(f, v) * dx + inner(ufl.grad(f), ufl.grad(v)) * ds
    vector += inner(ufl.jump(f), v("+")) * dS + k("-") * inner(g("-"), ufl.avg(v)) * dS
    matrix = weight * inner(u, v) * dx + inner(ufl.grad(u), ufl.grad(v)) * dx
    matrix += k * inner(u, g) * inner(f, v) * ds
    matrix += inner(ufl.jump(u), ufl.jump(v)) * dS
    matrix += inner(ufl.dot(ufl.grad(u)("+"), n("+")), v("-")) * inner(f("-"), f("-")) * dS
    return [fem.Form(number), fem.Form(vector), fem.Form(matrix)]


@pytest.mark.parametrize("dtype", ["float32", "complex64", "complex128"])
def test_of_every_dtype(dtype: str) -> None:
    mesh = make_mesh("triangle", 2, seed=6)
    forms = forms_of(fem.FunctionSpace(mesh, element("P2", "triangle")), dtype, "P2")
    check(forms, assembled(forms), "sequential")


def check(forms: list[fem.Form], expected: list[np.ndarray], backend: str) -> None:
    with op2.backend(backend):
        for form, wanted in zip(forms, expected, strict=True):
            found = fem.assemble(form)
            if form.rank == 1:
                found = found.values
            elif form.rank == 2:
                found = found.to_scipy().toarray()
            distance = np.abs(found - wanted).max() / np.abs(wanted).max()
            assert distance <= TOLERANCE[form.dtype.name], (backend, form.rank, distance)
            assert all(not i.kernel.opaque_reason for i in form.integrals)


BACKENDS = [b.name for b in op2.backends() if b.available]
EVERYWHERE = os.environ.get("PYOP2CXX_ALL_FORMS") == "1"
"""Whether all elements are checked on all backends, optimised; half an hour on two cores."""


@pytest.mark.parametrize(("cell", "family"), EVERY)
def test_assembled_numbers_are_those_of_ffcx(cell: str, family: str) -> None:
    if not EVERYWHERE:  # the same text; optimised, the large tables of hexahedra take minutes
        op2.init(cflags="-O0")
    if DIMS[cell] == 3 and family in ("RT2", "N1curl2") and not EVERYWHERE:
        pytest.skip("PYOP2CXX_ALL_FORMS=1 has these: FFCx takes up to a quarter of a minute")
    mesh = make_mesh(cell, SIZES[cell], seed=5)
    forms = forms_of(fem.FunctionSpace(mesh, element(family, cell)), "float64", family)
    expected = assembled(forms)
    for backend in BACKENDS if EVERYWHERE else ("sequential",):
        check(forms, expected, backend)


@pytest.mark.parametrize(
    ("cell", "family", "dtype"),
    [
        ("triangle", "mixed", "float64"),
        ("hexahedron", "P1", "float64"),
        ("tetrahedron", "N1curl1", "float64"),
        ("tetrahedron", "P1 vector", "float64"),
        ("quadrilateral", "RT1", "float32"),
        ("quadrilateral", "RT1", "complex128"),
    ],
)
def test_on_all_backends_for_all_ranks(
    cell: str, family: str, dtype: str, quickly: Callable[[str], None]
) -> None:
    if not EVERYWHERE:  # loops of the corpus are optimised as users' are
        op2.init(cflags="-O1")
        quickly("opencl")
    mesh = make_mesh(cell, SIZES[cell], seed=7)
    forms = forms_of(fem.FunctionSpace(mesh, element(family, cell)), dtype, family)
    expected = assembled(forms)
    for backend in BACKENDS:
        check(forms, expected, backend)
