# SPDX-License-Identifier: BSD-3-Clause
"""Forms, spaces, conditions, solvers; the numbers themselves: see test_fem_reference."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

basix = pytest.importorskip("basix.ufl")
ufl = pytest.importorskip("ufl")
pytest.importorskip("ffcx")

from fem_meshes import DIMS, from_arrays, make_mesh  # noqa: E402

from pyop2cxx import fem, op2  # noqa: E402
from pyop2cxx.exceptions import (  # noqa: E402
    ConvergenceError,
    DataTypeError,
    DataValueError,
    DatTypeError,
    IndexValueError,
    MapValueError,
    UnsupportedError,
    UsageError,
)
from pyop2cxx.fem import compiler  # noqa: E402
from pyop2cxx.fem.cells import topology as basix_topology  # noqa: E402
from pyop2cxx.fem.spaces import node_points  # noqa: E402
from pyop2cxx.mesh import Mesh, cube_mesh, square_mesh  # noqa: E402

BACKENDS = [b.name for b in op2.backends() if b.available]
CELLS = tuple(DIMS)


@pytest.fixture(autouse=True)
def _leave_no_options():
    yield
    op2.exit()


@pytest.fixture
def mesh():
    return make_mesh("triangle", 4)


def random_function(space: fem.FunctionSpace) -> fem.Function:
    u = fem.Function(space)
    u.dat.data[:] = np.random.default_rng(0).random(u.dat.data.shape)
    return u


# The text of kernels


def change_what_ffcx_writes(monkeypatch, old, new):
    module = importlib.import_module("ffcx.codegeneration.C.formatter")
    formatter = module.Formatter

    def changed(scalar):
        written = formatter(scalar)
        return lambda parts: written(parts).replace(old, new)

    monkeypatch.setattr(module, "Formatter", changed)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("c[0]", "*c", r"FFCx uses c otherwise than by c\[index\]"),
        ("w[ic]", "pick(w, ic)", r"FFCx uses w otherwise than by w\[index\]"),
        ("w[ic]", "w[perm[ic]]", r"FFCx reads w at an index that is not known: perm\[ic\]"),
        ("coordinate_dofs[", "1[coordinate_dofs + ", r"FFCx uses coordinate_dofs otherwise"),
    ],
)
def test_ffcx_that_writes_otherwise_is_an_error(mesh, monkeypatch, tmp_path, old, new, message):
    """Not a kernel that reads something else; see also the tests of `ufcx`."""
    op2.init(cache_dir=str(tmp_path))
    V = fem.FunctionSpace(mesh, ("P", 2))
    form = fem.Constant(mesh, 2.0) * fem.Function(V) * ufl.TestFunction(V) * ufl.dx
    change_what_ffcx_writes(monkeypatch, old, new)
    wanted = r"compile_form: .*is not understood\. pyop2cxx is written for FFCx 0\.11: pip install"
    with pytest.raises(UnsupportedError, match=wanted) as error:
        fem.compile_form(form)
    assert re.search(message, str(error.value))
    monkeypatch.undo()
    assert len(fem.compile_form(form)) == 1


def test_text_around_the_statements_does_not_matter(mesh, monkeypatch, tmp_path):
    op2.init(cache_dir=str(tmp_path))
    v = ufl.TestFunction(fem.FunctionSpace(mesh, ("P", 1)))
    templates = importlib.import_module("ffcx.codegeneration.C.integral_template")
    monkeypatch.setattr(templates, "factory", "// written anew {factory_name}\n")
    (integral,) = fem.compile_form(v * ufl.dx)
    assert "A[" in integral.body


def test_another_version_of_ffcx_is_named_where_it_fails(mesh, monkeypatch, tmp_path):
    op2.init(cache_dir=str(tmp_path))
    v = ufl.TestFunction(fem.FunctionSpace(mesh, ("P", 1)))
    moved = importlib.import_module("ffcx.codegeneration.integral_generator")
    monkeypatch.delattr(moved, "IntegralGenerator")
    monkeypatch.setattr(compiler, "version", lambda _: "0.13.1")
    with pytest.raises(
        UsageError, match=r"This is FFCx 0\.13\.1\. pyop2cxx is written for FFCx 0\.11"
    ):
        fem.compile_form(v * ufl.dx)


def test_the_extra_installs_the_version_that_is_called():
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    assert f'"fenics-ffcx>={compiler.FFCX},<' in project


def test_each_coefficient_and_constant_is_an_argument(mesh):
    V, Q = fem.FunctionSpace(mesh, ("P", 1)), fem.FunctionSpace(mesh, ("P", 2, (2,)))
    f, g = fem.Function(V), fem.Function(Q)
    k, m = fem.Constant(mesh, 2.0), fem.Constant(mesh, [1.0, 2.0])
    v = ufl.TestFunction(V)
    (cell,) = fem.compile_form(k * f * ufl.dot(g, m) * v * ufl.dx, name="load")
    assert cell.kernel.name == "load_cell"
    roles = [(p.role, p.size, p.number) for p in cell.parameters]
    assert roles == [
        *(("tensor", 3, -1), ("coefficient", 3, 0), ("coefficient", 12, 1)),
        *(("constant", 1, 0), ("constant", 2, 1), ("coordinates", 6, -1)),
    ]
    assert [a.access for a in cell.kernel.arguments] == [op2.INC, *[op2.READ] * 5]
    assert not cell.kernel.opaque_reason


def test_integrals_come_by_kind_and_subdomain(mesh):
    V = fem.FunctionSpace(mesh, ("P", 1))
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    form = ufl.jump(u) * ufl.jump(v) * ufl.dS + u * v * ufl.ds((3, 4)) + 2 * u * v * ufl.ds
    form += u * v * ufl.dx
    found = [(i.kind, i.subdomains, i.shape) for i in fem.compile_form(form)]
    assert found[0] == ("cell", (-1,), (3, 3))
    assert found[-1] == ("interior_facet", (-1,), (6, 6))
    assert sorted(found[1:-1]) == [
        ("exterior_facet", (-1,), (3, 3)),
        ("exterior_facet", (3, 4), (3, 3)),
    ]


def test_a_form_is_written_once_for_all_processes(tmp_path):
    program = """
import sys, ufl
from pyop2cxx import fem
from pyop2cxx.mesh import square_mesh
space = fem.FunctionSpace(square_mesh(2), ("P", 1))
u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
form = fem.Form(u * v * ufl.dx)
assert abs(fem.assemble(form).to_scipy().sum() - 1) < 1e-12
loaded = {"ffcx.compiler", "ffcx.analysis"} & {*sys.modules}
print(form.integrals[0].kernel.name, bool(loaded), "jinja2" in sys.modules)
"""
    environment = {"XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    environment["PATH"] = os.environ["PATH"]  # of the C compiler
    ran = [
        subprocess.run(
            [sys.executable, "-c", program],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for _ in range(2)
    ]
    assert [r[1] for r in ran] == ["True", "False"]
    assert ran[1][2] == "False"  # there was nothing to generate
    assert ran[0][0] == ran[1][0]


def test_importing_the_package_loads_no_ufl():
    program = "import sys; from pyop2cxx import op2; print('ufl' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "False\n"


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_square_of_zero_is_zero(mesh, backend):
    x = fem.SpatialCoordinate(mesh)
    with op2.backend(backend):
        found = fem.interpolate(x[0] ** 2, fem.FunctionSpace(mesh, ("P", 2)))
    np.testing.assert_allclose(found.values, found.space.dof_coordinates[:, 0] ** 2, atol=1e-14)


def test_what_cannot_be_compiled_is_refused(mesh):
    V = fem.FunctionSpace(mesh, ("P", 1))
    v = ufl.TestFunction(V)
    with pytest.raises(UsageError, match=r"expected a ufl\.Form"):
        fem.compile_form(v)
    with pytest.raises(DataTypeError, match="float32, float64, complex64, complex128"):
        fem.compile_form(v * ufl.dx, "int32")
    with pytest.raises(UsageError, match="no name in C"):
        fem.compile_form(v * ufl.dx, name="a b")
    with pytest.raises(UnsupportedError, match="'vertex'"):
        fem.compile_form(v * ufl.dP)
    with pytest.raises(UsageError, match="do not compile this form"):
        fem.compile_form(v * v * ufl.dx)


@pytest.mark.parametrize("number", [np.nan, -np.inf, complex(1, np.nan)])
def test_numbers_without_a_text_in_c_are_refused(mesh, number):
    v = ufl.TestFunction(fem.FunctionSpace(mesh, ("P", 1)))
    form = ufl.conj(v) * ufl.dx + (1 + number) * ufl.conj(v) * ufl.ds(3)
    with pytest.raises(
        UsageError, match=r"exterior_facet integral over subdomain \(?3.* number .*(nan|inf)"
    ):
        fem.compile_form(form, "complex128")
    assert fem.compile_form(ufl.conj(v) * ufl.ds(3), "complex128")


# Tangled cells


def _box(cell: str) -> np.ndarray:
    dim = DIMS[cell]
    return np.array([[n >> d & 1 for d in range(dim)] for n in range(2**dim)], float)


@pytest.mark.parametrize("gdim", [2, 3])
@pytest.mark.parametrize("cell", ["quadrilateral", "hexahedron"])
def test_vertices_that_go_around_a_cell_are_named(cell, gdim):
    x = _box(cell)
    if x.shape[1] < gdim:
        x = np.column_stack([x, x[:, 0] * x[:, 1]])
    tensor = np.arange(len(x))
    order = [0, 1, 3, 2, 4, 5, 7, 6][: len(x)]
    twice = np.concatenate([x, x + 5.0])
    rows = np.array([tensor, tensor[order] + len(x)])
    with pytest.raises(DataValueError, match=r"cell 1 of .* tensor order, cells\[:, \[0, 1, 3, 2"):
        fem.FunctionSpace(Mesh.from_arrays(cell, twice, rows), ("Q", 1))
    fem.FunctionSpace(Mesh.from_arrays(cell, twice, [tensor, tensor + len(x)]), ("Q", 1))


@pytest.mark.parametrize("cell", ["quadrilateral", "hexahedron"])
def test_cells_are_mirrored_or_collapsed_but_not_tangled(cell):
    x = _box(cell)
    rows = np.arange(len(x))[None]
    fem.FunctionSpace(Mesh.from_arrays(cell, x * [-1, *[1] * (x.shape[1] - 1)], rows), ("Q", 1))
    collapsed = x.copy()
    collapsed[1] = collapsed[0]
    fem.FunctionSpace(Mesh.from_arrays(cell, collapsed, rows), ("Q", 1))
    tangled = x.copy()
    tangled[-1] = -0.5
    with pytest.raises(DataValueError, match="inside out at some of its vertices: move"):
        fem.FunctionSpace(Mesh.from_arrays(cell, tangled, rows), ("Q", 1))


# Spaces


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("cell", CELLS)
def test_cells_agree_on_where_dofs_are(cell, degree):
    V = fem.FunctionSpace(make_mesh(cell, 2), ("P", degree))
    where = V.domain.at(node_points(V.element))
    np.testing.assert_allclose(V.dof_coordinates[V.cell_dofs.values], where, atol=1e-13)
    assert len(np.unique(V.dof_coordinates.round(9), axis=0)) == V.dof_set.size


def test_dofs_of_degree_one_are_vertices(mesh):
    V = fem.FunctionSpace(mesh, ("P", 1))
    np.testing.assert_array_equal(V.dof_coordinates, mesh.coordinates.data_ro)


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("family", ["RT", "N1curl"])
@pytest.mark.parametrize("cell", CELLS[1:])
def test_what_is_to_be_continuous_is(cell, family, degree):
    """Normal components of Raviart-Thomas, tangential ones of Nedelec."""
    mesh = make_mesh(cell, 2, seed=degree)
    u, n = random_function(fem.FunctionSpace(mesh, (family, degree))), fem.FacetNormal(mesh)
    across = u("+") - u("-")
    if family == "RT":
        jump = ufl.dot(across, n("+"))
    else:
        jump = ufl.dot(across, ufl.perp(n("+"))) if DIMS[cell] == 2 else ufl.cross(n("+"), across)
    rule = ufl.dS(degree=3)
    assert fem.assemble(ufl.inner(jump, jump) * rule) < 1e-24 * fem.assemble(
        ufl.inner(u("+"), u("+")) * rule
    )


@pytest.mark.parametrize("cell", CELLS[1:])
@pytest.mark.parametrize("family", ["P", "DG", "RT", "N1curl"])
def test_what_is_in_the_space_is_interpolated_exactly(cell, family):
    mesh = make_mesh(cell, 2, bend=0.0)
    dim = DIMS[cell]
    space = (family, 2, (dim,)) if family in ("P", "DG") else (family, 2)
    V = fem.FunctionSpace(mesh, space)
    x = fem.SpatialCoordinate(mesh)
    exact = ufl.as_vector([1 + x[0] - 2 * x[d] for d in range(dim)])
    by_call = fem.interpolate(lambda x: np.stack([1 + x[0] - 2 * x[d] for d in range(dim)]), V)
    by_loop = fem.interpolate(exact, V)
    np.testing.assert_allclose(by_call.values, by_loop.values, atol=1e-12)
    assert fem.error_norm(by_call, exact) < 1e-12


@pytest.mark.parametrize("family", ["P", "DG", "bubble"])
def test_symmetric_tensors_are_interpolated(mesh, family):
    degree = 3 if family == "bubble" else 2
    symmetric = basix.element(family, "triangle", degree, shape=(2, 2), symmetry=True)
    V = fem.FunctionSpace(mesh, symmetric)
    W = fem.FunctionSpace(mesh, basix.element(family, "triangle", degree, shape=(2, 2)))
    assert (V.dim, W.dim) == (3, 4)
    x = fem.SpatialCoordinate(mesh)
    given = ufl.as_matrix([[x[0] ** 2, x[0] * x[1]], [x[0] * x[1], 1 - x[1]]])
    for one in (given, lambda x: np.array([[x[0], x[1]], [x[1], 3 * x[0]]])):
        found, whole = fem.interpolate(one, V), fem.interpolate(one, W)
        assert np.abs(whole.values).max() > 0.5
        assert fem.error_norm(found, whole) < 1e-13


def test_a_list_of_elements_makes_a_mixed_space(mesh):
    W = fem.FunctionSpace(mesh, [("P", 2, (2,)), basix.element("P", "triangle", 1)])
    both = [basix.element("P", "triangle", 2, shape=(2,)), basix.element("P", "triangle", 1)]
    assert W.element == basix.mixed_element(both)
    with pytest.raises(UsageError, match="or a list of these"):
        fem.FunctionSpace(mesh, [("P", 1), "P"])


def test_parts_of_mixed_spaces(mesh):
    element = basix.mixed_element(
        [basix.element("P", "triangle", 2, shape=(2,)), basix.element("P", "triangle", 1)]
    )
    W = fem.FunctionSpace(mesh, element)
    w = fem.interpolate((lambda x: x**2, lambda x: x[0] - x[1]), W)
    x = fem.SpatialCoordinate(mesh)
    u, p = w.split()
    assert fem.error_norm(u, ufl.as_vector([x[0] ** 2, x[1] ** 2])) < 1e-14
    assert fem.error_norm(p, x[0] - x[1]) < 1e-14
    q = ufl.split(w)[1]
    assert fem.norm(q - p) < 1e-14
    assert W.sub(1).start == W.parts[0].size == 2 * W.parts[0].dof_set.size
    with pytest.raises(IndexValueError, match="no part 2"):
        W.sub(2)


def test_spaces_of_one_element_share_their_dofs(mesh):
    one, other = (fem.FunctionSpace(mesh, ("P", 2)) for _ in range(2))
    assert one.dof_set is other.dof_set
    assert one.cell_dofs is other.cell_dofs


def test_what_is_no_space_is_refused(mesh):
    with pytest.raises(UsageError, match="has no cell_type, cells"):
        fem.FunctionSpace("mesh", ("P", 1))
    with pytest.raises(UsageError, match="for a tetrahedron"):
        fem.FunctionSpace(mesh, basix.element("P", "tetrahedron", 1))
    with pytest.raises(UsageError, match="Basix has no element"):
        fem.FunctionSpace(mesh, ("nothing", 1))
    with pytest.raises(UsageError, match="expected an element"):
        fem.FunctionSpace(mesh, 1)
    cells, nodes = op2.Set((1, 1, 2), "cells"), op2.Set(4, "nodes")
    corners = op2.Map(cells, nodes, 3, [[0, 1, 2], [1, 2, 3]])
    part = SimpleNamespace(
        cell_type="triangle",
        cells=cells,
        vertices=nodes,
        cell_vertices=corners,
        coordinates=op2.Dat(nodes**2),
    )
    with pytest.raises(UnsupportedError, match="cells of other processes"):
        fem.FunctionSpace(part, ("P", 1))
    V = fem.FunctionSpace(mesh, ("P", 1))
    with pytest.raises(DatTypeError, match="expected a Dat of dim 1"):
        fem.Function(V, dat=op2.Dat(mesh.cells))
    with pytest.raises(UsageError, match=r"fem\.FunctionSpace"):
        fem.Function(mesh)


# Assembly and solving


def poisson(space: fem.FunctionSpace):
    x = fem.SpatialCoordinate(space.mesh)
    exact = ufl.sin(x[0]) * ufl.exp(x[len(x) - 1] / 2)
    u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
    a = ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx
    return exact, a, -ufl.div(ufl.grad(exact)) * v * ufl.dx


@pytest.mark.parametrize("backend", BACKENDS)
def test_poisson_converges(backend):
    errors = []
    with op2.backend(backend):
        for n in (4, 8):
            V = fem.FunctionSpace(make_mesh("triangle", n), ("P", 2))
            exact, a, L = poisson(V)
            u = fem.Function(V)
            fem.solve(a == L, u, [fem.DirichletBC(V, exact)])
            errors.append(fem.error_norm(u, exact))
    assert np.log2(errors[0] / errors[1]) > 2.7


@pytest.mark.parametrize("cell", CELLS)
def test_three_ways_to_hold_dofs_agree(cell):
    V = fem.FunctionSpace(make_mesh(cell, 3), ("P", 2))
    exact, a, L = poisson(V)
    bcs = [fem.DirichletBC(V, exact)]
    lifted, replaced, free = (fem.Function(V) for _ in range(3))
    A, b = fem.assemble_system(a, L, bcs)
    dense = A.to_scipy().toarray()
    np.testing.assert_allclose(dense, dense.T, atol=1e-13)
    op2.solve(A, lifted.dat, b.dat, ksp_type="preonly", pc_type="lu")
    rows = fem.assemble(a, bcs, keep_columns=True)
    held = fem.assemble(L, bcs)
    op2.solve(rows, replaced.dat, held.dat, ksp_type="preonly", pc_type="lu")
    op2.solve(fem.action(a, bcs), free.dat, b.dat, pc_type="none", ksp_rtol=1e-13)
    np.testing.assert_allclose(replaced.values, lifted.values, atol=1e-11)
    np.testing.assert_allclose(free.values, lifted.values, atol=1e-9)
    np.testing.assert_allclose(fem.action(a, bcs) @ b.values, dense @ b.values, atol=1e-11)
    assert fem.action(a, bcs).to_scipy().shape == A.to_scipy().shape


def test_one_component_is_held(mesh):
    V = fem.FunctionSpace(mesh, ("P", 1, (2,)))
    bc = fem.DirichletBC(V, 3.0, lambda x: x[0] == 0, component=1)
    assert (bc.dofs % 2 == 1).all()
    assert (bc.values == 3.0).all()
    assert len(bc.dofs) == 5
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    A = fem.assemble(ufl.inner(u, v) * ufl.dx, [bc]).to_scipy().toarray()
    np.testing.assert_array_equal(A[bc.dofs], np.eye(V.size)[bc.dofs])
    free = np.setdiff1d(np.arange(V.size), bc.dofs)
    assert (A[free][:, bc.dofs] == 0).all()
    bc.set(4.0)
    assert (bc.values == 4.0).all()


def test_several_tags_are_held_at_once():
    V = fem.FunctionSpace(square_mesh(3), ("P", 1))
    both = fem.DirichletBC(V, 1.0, ["left", "top"])
    each = [fem.DirichletBC(V, 1.0, where).dofs for where in ("left", "top")]
    np.testing.assert_array_equal(both.dofs, np.union1d(*each))
    with pytest.raises(IndexValueError, match="no tag 'lid'"):
        fem.DirichletBC(V, 1.0, ("left", "lid"))


def test_a_condition_that_is_not_in_a_list_is_refused(mesh):
    V = fem.FunctionSpace(mesh, ("P", 1))
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    with pytest.raises(UsageError, match=r"a sequence of DirichletBC; write \[bc\]") as caught:
        fem.assemble(u * v * ufl.dx, fem.DirichletBC(V, 0.0))
    assert len(caught.traceback) == 2  # this line, and where errors of `assemble` end


def test_conditions_that_fit_nothing_are_refused(mesh):
    V = fem.FunctionSpace(mesh, ("P", 1))
    with pytest.raises(IndexValueError, match="no component 1"):
        fem.DirichletBC(V, 0, component=1)
    with pytest.raises(IndexValueError, match="no tag 'left'"):
        fem.DirichletBC(V, 0, "left")
    with pytest.raises(DataValueError, match="mask of 25 booleans"):
        fem.DirichletBC(V, 0, np.ones(3, bool))
    with pytest.raises(UsageError, match="sequence of DirichletBC"):
        fem.assemble(ufl.TestFunction(V) * ufl.dx, [1])


def test_constants_change_without_compiling(mesh):
    V = fem.FunctionSpace(mesh, ("P", 1))
    k = fem.Constant(V, 2.0)
    form = fem.Form(k * ufl.dx(domain=V.domain.ufl))
    assert fem.assemble(form) == pytest.approx(2.0)
    k.value = 5.0
    assert fem.assemble(form) == pytest.approx(5.0)
    with pytest.raises(DataValueError, match="expected shape"):
        k.value = [1.0, 2.0]


def test_newton_converges_quadratically(mesh):
    V = fem.FunctionSpace(mesh, ("P", 2))
    x = fem.SpatialCoordinate(mesh)
    exact = 1 + x[0] * x[1]
    u, v = fem.Function(V), ufl.TestFunction(V)
    F = ufl.inner((1 + u**2) * ufl.grad(u), ufl.grad(v)) * ufl.dx
    F += ufl.div((1 + exact**2) * ufl.grad(exact)) * v * ufl.dx
    bcs = [fem.DirichletBC(V, exact)]
    went = fem.solve(F == 0, u, bcs)
    assert fem.error_norm(u, exact) < 1e-12
    assert went.n_iterations <= 6
    u.dat.zero()
    with pytest.raises(ConvergenceError, match="Newton's method made 1 steps"):
        fem.solve(F == 0, u, bcs, max_it=1)


def test_a_dtype_for_all(mesh):
    V = fem.FunctionSpace(mesh, ("P", 1))
    f, g = fem.Function(V, "float32"), fem.Function(V)
    with pytest.raises(DataTypeError, match="float32, float64"):
        fem.assemble(f * g * ufl.dx)
    fem.interpolate(2.0, f)
    assert fem.assemble(f * f * ufl.dx) == pytest.approx(4.0, rel=1e-6)


def test_large_tensors_under_opencl():
    """PoCL's threads overran their stacks with 64 items of a 20 x 20 tensor."""
    V = fem.FunctionSpace(make_mesh("tetrahedron", 2), ("N1curl", 2))
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    form = fem.Form((ufl.inner(ufl.curl(u), ufl.curl(v)) + ufl.inner(u, v)) * ufl.dx)
    here = fem.assemble(form).to_scipy().toarray()
    if "opencl" not in BACKENDS:
        pytest.skip("there is no OpenCL")
    with op2.backend("opencl"):
        there = fem.assemble(form).to_scipy().toarray()
    np.testing.assert_allclose(there, here, atol=1e-12 * abs(here).max())


# Meshes of pyop2cxx.mesh, with facets and tags of their own


@pytest.mark.parametrize("cell", CELLS[1:])
def test_facets_and_tags_of_a_mesh(cell):
    """The mesh numbers facets of cells that are turned; a linear field has known fluxes."""
    plain = make_mesh(cell, 2, bend=0.0)
    dim = DIMS[cell]
    side = np.flatnonzero(plain.coordinates.data_ro[:, 0] == 1)
    lists = basix_topology(cell)[dim - 1]
    rows = np.concatenate([plain.cell_vertices.values[:, np.array(one)] for one in lists])
    tags = {"right": rows[np.isin(rows, side).all(axis=1)]}
    mesh = Mesh.from_arrays(
        cell,
        plain.coordinates.data_ro,
        plain.cell_vertices.values,
        facet_tags=tags,
        cell_tags={"some": [0, 3]},
    )
    V = fem.FunctionSpace(mesh, ("P", 1))
    x, n = fem.SpatialCoordinate(mesh), fem.FacetNormal(mesh)
    flux = [fem.assemble(ufl.dot(x, n) * ds) for ds in (fem.ds(mesh), fem.ds(mesh, "right"))]
    assert flux == pytest.approx([dim, 1.0])
    u = fem.interpolate(lambda x: x[0], V)
    jump = ufl.jump(u * x, n)
    assert fem.assemble(jump * jump * fem.dS(mesh)) < 1e-28
    there = fem.DirichletBC(V, 2.0, "right")
    np.testing.assert_array_equal(there.dofs, side)
    same = fem.DirichletBC(V, 2.0, mesh.exterior_facets.tags["right"])
    np.testing.assert_array_equal(same.dofs, side)
    one = fem.interpolate(1.0, V)
    volume = fem.assemble(one * fem.dx(mesh, "some"))
    assert volume == pytest.approx(2 / mesh.cells.size)
    with pytest.raises(IndexValueError, match="no tag 'left'; there are: 'right'"):
        fem.ds(mesh, "left")
    with pytest.raises(IndexValueError, match="no subdomain 7"):
        fem.assemble(u * fem.ds(mesh, 7))


def test_a_tag_of_facets_inside_and_on_the_boundary_holds_all_of_them():
    plain = square_mesh(4)
    inner, outer = plain.interior_facets, plain.exterior_facets
    middle = inner.vertices.values[inner.where(lambda x: x[1] == 0.5).indices]
    top = outer.vertices.values[outer.tags["top"].indices]
    tags = {"both": np.concatenate([middle, top]), "7": middle, "top": top}
    arrays = (plain.coordinates.data_ro, plain.cell_vertices.values)
    mesh = Mesh.from_arrays("triangle", *arrays, facet_tags=tags)
    x = mesh.coordinates.data_ro
    on = {"7": np.flatnonzero(x[:, 1] == 0.5), "top": np.flatnonzero(x[:, 1] == 1)}
    on["both"] = np.sort(np.concatenate([on["7"], on["top"]]))
    V = fem.FunctionSpace(mesh, ("P", 1))
    places = [("both", "both"), ("7", "7"), ("7", 7), ("7", np.int32(7)), ("top", "top")]
    places += [("both", ["top", 7]), ("both", {"top", "7"}), ("both", ("both", "top"))]
    places += [(name, mesh.facet_tags[name]) for name in tags]
    places += [("7", mesh.interior_facets.tags[7]), ("top", mesh.exterior_facets.tags["top"])]
    for name, place in places:
        np.testing.assert_array_equal(fem.DirichletBC(V, 7, place).dofs, on[name])
    for name in tags:
        np.testing.assert_array_equal(mesh.vertices_of(name).indices, on[name])
    assert fem.DirichletBC(fem.FunctionSpace(mesh, ("P", 3)), 7, "both").dofs.size == 26
    mixed = fem.FunctionSpace(mesh, [("P", 2), ("P", 1)])
    assert fem.DirichletBC(mixed.sub(0), 7, 7).dofs.size == 9
    one = fem.Constant(mesh, 1.0)
    for name, outside, inside in (("both", 1.0, 1.0), ("top", 1.0, None), (7, None, 1.0)):
        for measure, length in ((fem.ds, outside), (fem.dS, inside)):
            if length is None:
                with pytest.raises(IndexValueError, match=rf"All facets of tag '?{name}'? are"):
                    measure(mesh, name)
            else:
                assert fem.assemble(one * measure(mesh, name)) == pytest.approx(length)
    with pytest.raises(
        UsageError, match=r"'7' is in mesh.interior_facets.tags and mesh.facet_tags"
    ):
        mesh.exterior_facets.vertices_of(7)
    with pytest.raises(IndexValueError, match="there is no tag 99; there are: 'both', 'top' or"):
        fem.DirichletBC(V, 0, 99)
    with pytest.raises(MapValueError, match="of exterior, interior or all facets"):
        fem.DirichletBC(V, 0, op2.Subset(mesh.cells, [0]))


@pytest.mark.parametrize("kind", [0, 1])
def test_a_number_of_a_tag_of_cells_finds_it(kind):
    """A name may stand for a part of the cells and for one of the facets."""
    plain = square_mesh(2)
    arrays = (plain.coordinates.data_ro, plain.cell_vertices.values)
    mesh = Mesh.from_arrays(
        "triangle", *arrays, cell_tags={"3": [0, 1]}, facet_tags={"3": [[0, 1]]}
    )
    tag = (3, "3")[kind]
    one = fem.Constant(mesh, 1.0)
    assert fem.assemble(one * fem.dx(mesh, tag)) == pytest.approx(0.25)
    assert fem.assemble(one * fem.ds(mesh, tag)) == pytest.approx(0.5)
    assert (mesh.cell_tags[tag].size, mesh.facet_tags[tag].size) == (2, 1)
    assert fem.DirichletBC(fem.FunctionSpace(mesh, ("P", 1)), 0.0, tag).dofs.tolist() == [0, 1]
    with pytest.raises(IndexValueError, match="there is no subdomain 4; there are: '3'"):
        fem.dx(mesh, 4)


def test_foreign_functions_are_refused(mesh):
    V = fem.FunctionSpace(mesh, ("P", 1))
    with pytest.raises(UsageError, match=r"expected a fem\.Function in the form"):
        fem.assemble(ufl.Coefficient(V) * ufl.dx)
    with pytest.raises(UsageError, match="expected a form"):
        fem.assemble(3)


def test_a_single_cell_of_each_kind_has_its_volume():
    """Jacobians of both orientations."""
    for flip in (False, True):
        rows = np.array([[1, 0, 2, 3]] if flip else [[0, 1, 2, 3]])
        points = np.concatenate([np.zeros((1, 3)), np.eye(3)])
        V = fem.FunctionSpace(from_arrays("tetrahedron", points, rows), ("P", 1))
        one = fem.interpolate(1.0, V)
        assert fem.assemble(one * ufl.dx) == pytest.approx(1 / 6)
        assert fem.assemble(one * ufl.ds) == pytest.approx(1.5 + np.sqrt(3) / 2)


@pytest.mark.parametrize("cell", ["quadrilateral", "hexahedron"])
def test_conditions_hold_on_a_mesh_of_a_single_cell(cell):
    mesh = square_mesh(1, cell=cell) if cell == "quadrilateral" else cube_mesh(1, cell=cell)
    V = fem.FunctionSpace(mesh, ("Q", 2))
    assert fem.DirichletBC(V, 1.0, "left").dofs.size == 3 ** (mesh.coordinates.cdim - 1)


@pytest.mark.parametrize("backend", ["sequential", "openmp"])
def test_bessel_functions_of_forms_are_those_of_c(backend, mesh):
    u = fem.Function(fem.FunctionSpace(mesh, ("P", 1)))
    u.dat.data[:] = 0.5
    expected = [0.2422684576748739, 0.002563729994587244, -0.4445187335067066]
    with op2.backend(backend):
        for f, right in zip(
            (ufl.bessel_J(1, u), ufl.bessel_J(3, u), ufl.bessel_Y(0, u)), expected, strict=True
        ):
            assert fem.assemble(f * ufl.dx) == pytest.approx(right, rel=1e-13)
