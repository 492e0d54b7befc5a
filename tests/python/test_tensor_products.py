# SPDX-License-Identifier: BSD-3-Clause
"""Forms on quadrilaterals and hexahedra by sums along dimensions give the same numbers."""

from __future__ import annotations

import itertools
from typing import Any

import basix.ufl
import numpy as np
import pytest
import ufl
from ufl import dx, grad, inner

from pyop2cxx import fem, op2
from pyop2cxx.fem import tensor_products
from pyop2cxx.fem.compiler import Integral, compile_form
from pyop2cxx.mesh import cube_mesh, square_mesh

PLAIN = {"sum_factorization": False}
DIM = {"quadrilateral": 2, "hexahedron": 3}


def spaces(cell: str, degree: int) -> tuple[Any, Any, Any]:
    """A scalar, a vector, and a discontinuous space."""
    dim = DIM[cell]
    domain = ufl.Mesh(basix.ufl.element("P", cell, 1, shape=(dim,)))
    made = [
        basix.ufl.element("P", cell, degree),
        basix.ufl.element("P", cell, degree, shape=(dim,)),
        basix.ufl.element("DG", cell, degree),
    ]
    return tuple(ufl.FunctionSpace(domain, one) for one in made)


def forms(cell: str, degree: int) -> dict[str, Any]:
    V, W, D = spaces(cell, degree)
    u, v, w = ufl.Coefficient(V), ufl.TestFunction(V), ufl.TrialFunction(V)
    uu, vv = ufl.Coefficient(W), ufl.TestFunction(W)
    k, f, x = ufl.Constant(V.ufl_domain()), ufl.Coefficient(D), ufl.SpatialCoordinate(V)
    return {
        "action": inner(grad(u), grad(v)) * dx,
        "number": k * f * x[0] * u**2 * dx,
        "load": (1 + u**2) * k * inner(f * x, grad(v)) * dx,
        "vector": inner(ufl.sym(grad(uu)), ufl.sym(grad(vv))) * dx + f * inner(uu, vv) * dx,
        "matrix": inner(grad(w), grad(v)) * dx + f * w * v * dx,
    }


def numbers(integral: Integral, given: dict[tuple[str, int], np.ndarray]) -> np.ndarray:
    """Run the kernel on two cells, with values by role and number."""
    cells = op2.Set(2)
    tensor, *others = integral.parameters
    found = op2.Dat(cells**tensor.size, dtype=tensor.dtype)
    args = [
        op2.Dat(cells**one.size, given[one.role, one.number], one.dtype)(op2.READ) for one in others
    ]
    with op2.backend("sequential"):
        op2.par_loop(integral.kernel, cells, found(op2.INC), *args)
    return found.data_ro.copy()


def values_of(integral: Integral, cell: str, dtype: str) -> dict[tuple[str, int], np.ndarray]:
    rng = np.random.default_rng(0)
    dim = DIM[cell]
    corners = np.array(list(itertools.product([0.0, 1.0], repeat=dim)))[:, ::-1]
    found = {}
    for one in integral.parameters[1:]:
        values = rng.random((2, one.size))
        if one.role == "coordinates":
            values = np.tile(corners.reshape(1, -1), (2, 1)) + 0.2 * values
        elif dtype == "complex128":
            values = values + 1j * rng.random((2, one.size))
        found[one.role, one.number] = values
    return found


CASES = [
    *((cell, 2, name, "float64") for cell in DIM for name in forms("quadrilateral", 1)),
    ("quadrilateral", 5, "action", "float64"),
    ("quadrilateral", 8, "action", "float64"),
    ("quadrilateral", 3, "vector", "float32"),
    ("quadrilateral", 3, "load", "complex128"),
    ("hexahedron", 3, "action", "float64"),
]


@pytest.mark.parametrize(("cell", "degree", "name", "dtype"), CASES)
def test_numbers_are_those_of_the_usual_elements(
    cell: str, degree: int, name: str, dtype: str
) -> None:
    form = forms(cell, degree)[name]
    (usual,) = compile_form(form, dtype, options=PLAIN)
    (summed,) = compile_form(form, dtype)
    given = values_of(usual, cell, dtype)
    wanted, found = numbers(usual, given), numbers(summed, given)
    bound = 1e-5 if dtype == "float32" else 1e-12
    assert np.abs(found - wanted).max() <= bound * np.abs(wanted).max()
    assert summed.kernel.core.contraction.n_sums > 0
    assert usual.kernel.core.contraction.n_sums == 0
    assert [(p.role, p.number, p.size) for p in summed.parameters] == [
        (p.role, p.number, p.size) for p in usual.parameters
    ]


def test_operations_and_text_of_high_degrees_stay_small() -> None:
    (usual,) = compile_form(forms("hexahedron", 3)["action"], options=PLAIN)
    (summed,) = compile_form(forms("hexahedron", 3)["action"])
    assert summed.kernel.num_flops * 3.5 < usual.kernel.num_flops
    (high,) = compile_form(forms("hexahedron", 6)["action"])
    assert len(high.body) < 50_000
    assert high.kernel.num_flops < 250_000


def test_integrals_over_facets_stay_as_they_are() -> None:
    V, _, _ = spaces("quadrilateral", 2)
    u, v, f = ufl.Coefficient(V), ufl.TestFunction(V), ufl.Coefficient(V)
    on_facets, on_cells = f * v * ufl.ds, u * v * dx
    cell, facet = compile_form(on_cells + on_facets)
    assert (cell.kind, facet.kind) == ("cell", "exterior_facet")
    assert cell.kernel.core.contraction.n_sums > 0
    assert facet.body == compile_form(on_facets)[0].body
    number = {p.role: p.number for p in cell.parameters}["coefficient"]
    other = {p.role: p.number for p in facet.parameters}["coefficient"]
    assert [(on_cells + on_facets).coefficients()[i] for i in (number, other)] == [u, f]


def test_elements_without_tensor_factors_are_compiled_as_before() -> None:
    V, _, _ = spaces("quadrilateral", 2)
    domain = V.ufl_domain()
    curl = ufl.FunctionSpace(domain, basix.ufl.element("RTCE", "quadrilateral", 2))
    mixed = ufl.FunctionSpace(domain, basix.ufl.mixed_element([V.ufl_element(), V.ufl_element()]))
    low, _, _ = spaces("quadrilateral", 1)
    triangle = ufl.FunctionSpace(
        ufl.Mesh(basix.ufl.element("P", "triangle", 1, shape=(2,))),
        basix.ufl.element("P", "triangle", 2),
    )
    for space in (curl, mixed, low, triangle):
        form = inner(ufl.Coefficient(space), ufl.TestFunction(space)) * dx
        assert tensor_products.factored(form) is None
    vertices = dx(metadata={"quadrature_rule": "vertex", "quadrature_degree": 1})
    assert tensor_products.factored(ufl.TestFunction(V) * vertices) is None


@pytest.mark.parametrize("cell", DIM)
def test_a_poisson_problem_converges_with_its_order(cell: str) -> None:
    errors = []
    for n in (2, 4):
        mesh = square_mesh(n, cell=cell) if cell == "quadrilateral" else cube_mesh(n, cell=cell)
        V = fem.FunctionSpace(mesh, ("P", 2))
        u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
        x = fem.SpatialCoordinate(mesh)
        exact = ufl.sin(x[0]) * ufl.exp(x[1])
        bcs = [fem.DirichletBC(V, exact)]
        w = fem.Function(V)
        with op2.backend("sequential"):
            fem.solve(inner(grad(u), grad(v)) * dx == fem.Constant(mesh, 0.0) * v * dx, w, bcs)
            errors.append(fem.error_norm(w, exact))
    assert errors[1] < errors[0] / 6  # of order 3
    assert errors[1] < 1e-3


def test_orders_are_permutations() -> None:
    for cell in DIM:
        for degree in (1, 2, 4):
            element = basix.ufl.element("P", cell, degree, shape=(2,))
            order = tensor_products.order(element)
            assert sorted(order.tolist()) == list(range(element.dim))
