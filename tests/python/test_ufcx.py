# SPDX-License-Identifier: BSD-3-Clause
"""What FFCx writes as kernels: indices are rewritten, and arguments are those that loops have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import InternalError, UnsupportedError, UsageError
from pyop2cxx.kernel import ufcx
from pyop2cxx.mesh import square_mesh

LOAD = """
void tabulate_tensor_integral_load(SCALAR* restrict A,
    const SCALAR* restrict w, const SCALAR* restrict c, const double* restrict coordinate_dofs,
    const int* restrict entity_local_index, const uint8_t* restrict quadrature_permutation,
    void* custom_data)
{
  for (int i = 0; i < 2; ++i) { A[i] += c[1] * w[(i) + 1]; }
}
"""


@pytest.fixture(autouse=True)
def clean() -> Any:
    yield
    op2.exit()


def test_indices_are_rewritten():
    body = "w[ic] * w[4 + 2 * (ic) + 1] + w[11]"
    parts = [ufcx.Part("a", 0, 4), ufcx.Part("b", 4, 7), ufcx.Part("d", 11, 1)]
    assert ufcx.split(body, "w", parts) == "a[ic] * b[2 * ic + 1] + d[0]"
    assert ufcx.narrowed("x[(ic) * 3 + 10] - x[1]", "x", 2) == "x[2 * ic + 7] - x[1]"
    assert (
        ufcx.narrowed("x[t[f][0] * 3 + 1]", "x", 2)
        == "x[(t[f][0] * 3 + 1) / 3 * 2 + (t[f][0] * 3 + 1) % 3]"
    )
    with pytest.raises(InternalError, match="belongs to no argument"):
        ufcx.split("w[12]", "w", parts)
    with pytest.raises(InternalError, match="not linear"):
        ufcx.split("w[i * i]", "w", parts)


@pytest.mark.parametrize("use", ["*(w + 1)", "f(w)", "w[0] + *w", "1 [w]"])
def test_an_array_used_in_another_way_is_refused(use: str) -> None:
    """It would be left as it is, and name nothing in the kernel."""
    with pytest.raises(InternalError, match=r"uses w otherwise than by w\[index\]: double x ="):
        ufcx.split(f"int i;\ndouble x = {use};\n", "w", [ufcx.Part("a", 0, 4)])
    with pytest.raises(InternalError, match=r"uses w otherwise"):
        ufcx.narrowed(f"double x = {use};", "w", 3)
    other = f"A[i] += {use};".replace("w", "coordinate_dofs")
    text = LOAD.replace("A[i] +=", other + " A[i] +=")
    with pytest.raises(UsageError, match=r"integral 'integral_load': FFCx uses coordinate_dofs"):
        load(text, coefficients=[3], constants=[2])


def test_what_stands_in_comments_is_not_read() -> None:
    text = "a[0]; // w, w[7] }\n/* w[x] */ w [1];"
    assert ufcx.split(text, "w", [ufcx.Part("b", 1, 1)]) == text.replace("w [1]", "b[0]")
    kernel = load(
        LOAD.replace("{\n", "{ // }\n /* } */ ", 1).replace("};", "}; // {"),
        coefficients=[3],
        constants=[2],
    )
    assert "A[i] += constant0[1] * coefficient0[i + 1]" in kernel.code


def test_functions_of_older_ffcx_lack_the_last_parameter() -> None:
    older = LOAD.replace(",\n    void* custom_data", "")
    assert load(older, coefficients=[3], constants=[2]).code == load(
        LOAD, coefficients=[3], constants=[2]
    ).code.replace("{ // }", "{")


def test_small_powers_are_products():
    """PoCL's vectors of pow make a NaN of the square of zero."""
    assert ufcx.with_products("pow(x_1, 2) + pow(x, 2.0)") == "(x_1 * x_1) + (x * x)"
    assert ufcx.with_products("cpow(x, 3) pow(x, -1)") == "(x * x * x) pow(x, -1)"
    assert ufcx.with_products("pow(x, 2.5) pow(x, 12)") == "pow(x, 2.5) pow(x, 12)"


def test_what_ffcx_writes_runs_as_it_is_described() -> None:
    ufl, compiler = pytest.importorskip("ufl"), pytest.importorskip("ffcx.compiler")
    from ffcx.options import get_options

    from pyop2cxx import fem

    mesh = square_mesh(3)
    V, W = (fem.FunctionSpace(mesh, ("P", degree)) for degree in (1, 2))
    f, g = fem.interpolate(lambda x: x[0], V), fem.interpolate(lambda x: 1 + x[1] ** 2, W)
    k, b = fem.Constant(mesh, 2.0), fem.Constant(mesh, [0.5, 3.0])
    v, x = ufl.TestFunction(V), fem.SpatialCoordinate(mesh)
    domain = V.domain
    vertices = mesh.coordinates, domain.cell_vertices
    for kind, form, data, constants in (
        ("cell", k * b[1] * f * g * v * ufl.dx, (f, g), (k, b)),
        ("exterior_facet", b[1] * x[0] * g * v * ufl.ds, (g,), (b,)),
        ("interior_facet", k("+") * g("-") * ufl.avg(v) * x[0] * ufl.dS, (g,), (k,)),
    ):
        (_, source), _ = compiler.compile_ufl_objects([form], get_options())
        n_cells = 2 if kind == "interior_facet" else 1
        kernel = op2.Kernel.from_ufcx(
            source,
            coefficients=[n_cells * one.space.cell_dofs.arity for one in data],
            constants=[one.data.cdim for one in constants],
            gdim=2,
            name="load",
        )
        facets = None if kind == "cell" else domain.facets(kind)

        def path(map_: op2.Map, kind: str = kind) -> op2.Map:
            return map_ if kind == "cell" else domain.facet_map(kind, map_)

        found = op2.Dat(V.dof_set)
        arguments = [found(op2.INC, path(V.cell_dofs))]
        arguments += [one.dat(op2.READ, path(one.space.cell_dofs)) for one in data]
        arguments += [one.data(op2.READ) for one in constants]
        arguments.append(vertices[0](op2.READ, path(vertices[1])))
        named = {p.name: p for p in kernel.parameters}
        if "entity_local_index" in named:
            arguments.append(facets.local_numbers(op2.READ))
        if "quadrature_permutation" in named:
            arguments.append(facets.permutations(op2.READ))
        assert [one.access for one in kernel.arguments] == [arg.access for arg in arguments]
        assert [one.dtype for one in kernel.arguments] == [arg.data.dtype for arg in arguments]
        op2.par_loop(kernel, mesh.cells if facets is None else facets.set, *arguments)
        np.testing.assert_allclose(found.data_ro, fem.assemble(form).values, rtol=1e-13)


def load(text: str = LOAD, scalar: str = "double", **given: Any) -> op2.Kernel:
    return op2.Kernel.from_ufcx(text.replace("SCALAR", scalar), **given)


def test_arguments_are_what_is_described() -> None:
    kernel = load(coefficients=[1, 2], constants=[1, 1], name="mine")
    assert kernel.name == "mine"
    assert "A[i] += constant1[0] * coefficient1[i]" in kernel.code
    names = ["A", "coefficient0", "coefficient1", "constant0", "constant1", "coordinate_dofs"]
    assert [parameter.name for parameter in kernel.parameters] == names
    kernel = load(
        LOAD + LOAD.replace("load", "other"),
        "double _Complex",
        integral="integral_load",
        coefficients=[3],
        constants=[2],
    )
    assert kernel.name == "integral_load"
    assert [one.dtype.name for one in kernel.arguments] == ["complex128"] * 3 + ["float64"]
    assert not kernel.opaque_reason


@pytest.mark.parametrize(
    ("text", "given", "message"),
    [
        (LOAD, {"constants": [2]}, r"'coefficients' says how many values .*, got \[\]"),
        (LOAD, {"coefficients": [3], "constants": [1]}, r"reads c\[1\].* got \[1\]"),
        (LOAD, {"integral": "mass"}, "with integral 'mass'; it has: integral_load"),
        (LOAD + LOAD.replace("load", "b"), {}, "one integral only; it has: integral_load, integ"),
        ("int x;", {}, "it has: none"),
        (LOAD.replace("const SCALAR* restrict c, ", ""), {}, r"it has: none\. .* A, w, c, coord"),
        (LOAD.rstrip().rstrip("}"), {}, "ends within integral 'integral_load'"),
        (LOAD, {"gdim": 4}, "gdim must be 1, 2 or 3, got 4"),
    ],
)
def test_what_is_not_described_is_refused(text: str, given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load(text, **given)


def test_complex_numbers_of_single_precision_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="no loops over values of 'float _Complex'"):
        load(scalar="float _Complex", coefficients=[3], constants=[2])
