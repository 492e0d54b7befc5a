# SPDX-License-Identifier: BSD-3-Clause
"""Products of FFCx's that share a factor become one, and nothing else changes."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.kernel.ufcx_sums import with_joined_sums


def vector(name: str, value: str, size: int = 4) -> str:
    return (
        f"    double {name}[{size}] = {{0}};\n    for (int j = 0; j < {size}; ++j)\n    {{\n"
        f"      {name}[j] = {value};\n    }}\n"
    )


def section(vectors: list[str], terms: list[str]) -> str:
    nest = "    for (int j = 0; j < 4; ++j)\n    {\n      for (int i = 0; i < 4; ++i)\n      {\n"
    added = "".join(f"        {term}\n" for term in terms)
    return (
        "  // Section: Tensor Computation\n  // Outputs: A\n  {\n"
        f"{''.join(vectors)}{nest}{added}      }}\n    }}\n  }}\n  // ------------------------ \n"
    )


DX, DY = "fw0 * F0[iq][j]", "fw1 * F1[iq][j]"
TWO = [vector("temp_0", DX), vector("temp_1", DY)]


def test_products_of_one_row_are_one_product() -> None:
    terms = [f"A[4 * (i) + (j)] += F0[iq][i] * temp_{n}[j];" for n in (0, 1)]
    expected = section([vector("temp_0", f"{DX} + {DY}")], terms[:1])
    assert with_joined_sums(section(TWO, terms)) == expected


@pytest.mark.parametrize(
    "terms",
    [
        [
            "A[4 * (i) + (j)] += F0[iq][i] * temp_0[j];",
            "A[4 * (i) + (j)] += F1[iq][i] * temp_1[j];",
        ],
        [
            "A[4 * (i) + (j)] += F0[iq][i] * temp_0[j];",
            "A[8 * (i) + (j)] += F0[iq][i] * temp_1[j];",
        ],
        [
            "A[4 * (i) + (j)] += F0[iq][i] * temp_0[j];",
            "B[4 * (i) + (j)] += F0[iq][i] * temp_1[j];",
        ],
        [
            "A[4 * (i) + (j)] += F0[iq][i] * temp_0[j];",
            "A[4 * (i) + (j)] -= F0[iq][i] * temp_1[j];",
        ],
        [  # a vector is read twice
            "A[4 * (i) + (j)] += F0[iq][i] * temp_0[j];",
            "A[4 * (i) + (j)] += F0[iq][i] * temp_1[j];",
            "A[4 * (i) + (j)] += F1[iq][i] * temp_1[j];",
        ],
    ],
)
def test_other_products_stay(terms: list[str]) -> None:
    text = section(TWO, terms)
    assert with_joined_sums(text) == text


@pytest.mark.parametrize(
    "vectors",
    [
        [vector("temp_0", DX), vector("temp_1", DY, size=3)],
        [vector("temp_0", DX), vector("temp_1", DY).replace("double temp", "float temp")],
        [vector("temp_0", DX), vector("temp_1", "fw1 * temp_2[j]")],
        [vector("temp_0", DX), "    double temp_1[4] = {0};\n    fill(temp_1);\n"],
    ],
)
def test_vectors_of_other_kinds_stay(vectors: list[str]) -> None:
    terms = [f"A[4 * (i) + (j)] += F0[iq][i] * temp_{n}[j];" for n in (0, 1)]
    text = section(vectors, terms)
    assert with_joined_sums(text) == text


def test_terms_of_different_loops_stay_apart() -> None:
    term = "A[4 * (i) + (j)] += F0[iq][i] * temp_0[j];"
    text = section(
        TWO, [term, "}", "for (int i = 0; i < 2; ++i)", "{", term.replace("0[j]", "1[j]")]
    )
    assert with_joined_sums(text) == text


def test_nothing_outside_of_a_section_changes() -> None:
    terms = [f"A[4 * (i) + (j)] += F0[iq][i] * temp_{n}[j];" for n in (0, 1)]
    text = section(TWO, terms).replace("Tensor Computation", "Intermediates")
    assert with_joined_sums(text) == text


@pytest.mark.parametrize("cell", ["quadrilateral", "tetrahedron"])
def test_the_stiffness_has_as_many_products_as_dimensions(cell: str) -> None:
    ufl = pytest.importorskip("ufl")
    pytest.importorskip("ffcx")
    from pyop2cxx import fem
    from pyop2cxx.mesh import cube_mesh, square_mesh

    mesh = cube_mesh(1) if cell == "tetrahedron" else square_mesh(2, cell=cell)
    V = fem.FunctionSpace(mesh, ("P", 1 if cell == "quadrilateral" else 2))  # 2: by dimension
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    one = fem.interpolate(lambda x: 1 + 0 * x[0], V)  # with it nothing can be known ahead
    form = fem.Form(one * ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx)
    text = form.integrals[0].body
    assert len(re.findall(r"\bA\[.*\] \+=", text)) == mesh.gdim
    # x y is quadratic: its energy on the unit square or cube is known
    w = fem.interpolate(lambda x: x[0] * x[1], V).values
    energy = w @ (fem.assemble(form).to_scipy() @ w)
    assert energy == pytest.approx(2 / 3, rel=1e-13)
    np.testing.assert_allclose(fem.assemble(form).to_scipy() @ np.ones_like(w), 0, atol=1e-14)
    op2.exit()
