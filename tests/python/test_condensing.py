# SPDX-License-Identifier: BSD-3-Clause
"""Static condensation: the same solution as of the whole system, on every backend."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("ffcx")
ufl = importlib.import_module("ufl")
hypothesis = importlib.import_module("hypothesis")

from hypothesis import strategies as st  # noqa: E402
from programs import has_nvrtc  # noqa: E402

from pyop2cxx import _core, fem, op2  # noqa: E402
from pyop2cxx.backends import _nvrtc as nvrtc  # noqa: E402
from pyop2cxx.exceptions import (  # noqa: E402
    DataValueError,
    DatTypeError,
    IndexValueError,
    UnsupportedError,
    UsageError,
)
from pyop2cxx.fem import condensing  # noqa: E402
from pyop2cxx.mesh import Mesh, cube_mesh, square_mesh  # noqa: E402
from pyop2cxx.runtime import runtime  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("exits")
BACKENDS = [b.name for b in op2.backends() if b.available]


class Problem:
    """A problem that is not symmetric, with conditions on a side and an integral over facets."""

    def __init__(self, mesh: Mesh, element: Any, dtype: Any = float) -> None:
        self.V = V = fem.FunctionSpace(mesh, element)
        self.dtype = dtype
        u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
        self.f = fem.interpolate(
            lambda x: 1 + x[0], fem.Function(fem.FunctionSpace(mesh, ("P", 1)), dtype)
        )
        wind = ufl.as_vector([1.0, 2.0, 0.5][: mesh.coordinates.cdim])
        self.a = (
            ufl.inner(ufl.grad(u), ufl.grad(v)) + ufl.inner(ufl.dot(ufl.grad(u), wind), v)
        ) * ufl.dx + self.f * ufl.inner(u, v) * ufl.ds
        load = self.f if V.dim == 1 else ufl.as_vector([self.f] * V.dim)
        self.L = ufl.inner(load, v) * ufl.dx - ufl.inner(load, v) * ufl.ds
        self.bcs = [
            fem.DirichletBC(V, lambda x: [2 + x[1] + i for i in range(V.dim)], "left"),
            fem.DirichletBC(V, -1.0, "right"),
        ]

    def difference(self, **how: Any) -> float:
        """The largest difference to the solution of the whole system."""
        whole = fem.Function(self.V, self.dtype)
        fem.solve(self.a == self.L, whole, self.bcs)
        found = fem.condense(self.a, self.L, bcs=self.bcs, dtype=self.dtype, **how).solve()
        return float(abs(found.values - whole.values).max() / abs(whole.values).max())


def _mesh(cell: str, n: int = 3) -> Mesh:
    make: Callable[..., Mesh] = cube_mesh if cell in ("tetrahedron", "hexahedron") else square_mesh
    return make(n, cell=cell)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("cell", "element"),
    [
        ("triangle", ("P", 3)),
        ("triangle", ("P", 4)),
        ("triangle", ("P", 3, (2,))),
        ("quadrilateral", ("Q", 3)),
        ("quadrilateral", ("Q", 4)),
    ],
)
def test_the_solution_is_that_of_the_whole_system(cell: str, element: Any, backend: str) -> None:
    with op2.backend(backend):
        assert Problem(_mesh(cell), element).difference() < 1e-12


@pytest.mark.parametrize(
    ("cell", "element"),
    [
        ("tetrahedron", ("P", 4)),
        ("hexahedron", ("Q", 2)),
        ("hexahedron", ("Q", 3)),
        ("quadrilateral", ("Q", 3, (2,))),
        ("quadrilateral", ("Q", 6)),  # 25 of 49 inside
    ],
)
def test_other_elements(cell: str, element: Any) -> None:
    assert Problem(_mesh(cell, 2), element).difference() < 1e-11


def test_more_than_64_dofs_outside_are_taken_in_parts() -> None:
    problem = Problem(_mesh("hexahedron", 2), ("Q", 4))  # 27 inside, 98 outside
    assert problem.difference() < 1e-11


@pytest.mark.parametrize(("dtype", "most"), [("float32", 1e-4), ("complex128", 1e-12)])
def test_dtypes(dtype: str, most: float) -> None:
    assert Problem(_mesh("triangle"), ("P", 3), dtype).difference() < most


@pytest.mark.skipif(not has_nvrtc(), reason="NVRTC is not installed")
def test_the_loops_compile_for_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[op2.ParLoop] = []

    def noted(*arguments: Any) -> None:
        made.append(op2.ParLoop(*arguments))
        op2.par_loop(*arguments)

    monkeypatch.setattr(condensing, "par_loop", noted)
    Problem(_mesh("hexahedron", 2), ("Q", 2)).difference()
    assert [loop.kernel.name for loop in made] == ["hold", "condense", "give", "recover", "copy"]
    service = _core.DeviceService(
        cache_dir="",
        use_disk=False,
        max_disk_bytes=0,
        max_memory_bytes=1 << 28,
        compile_timeout_seconds=60.0,
    )
    flags = runtime.engine.backend("cuda").toolchain.flags
    with op2.backend("cuda"):
        for loop in made:
            text = str(op2.ParLoop(loop.kernel, loop.iterset, *loop.args).generate())
            service.compile(nvrtc.compiler("sm_90"), text, flags, "")


@hypothesis.settings(max_examples=10, deadline=None)
@hypothesis.given(st.sets(st.integers(0, 15)), st.sets(st.integers(0, 168)))
def test_any_dofs_inside_may_be_kept_and_any_dofs_given(kept: set[int], given: set[int]) -> None:
    problem = Problem(_mesh("quadrilateral", 4), ("Q", 3))
    V = problem.V
    outside = set(range(16)) - set(V.element.entity_dofs[2][0])
    hypothesis.assume(len(outside | kept) < 16)
    values = fem.DirichletBC(V, 0.5, np.array(sorted(given), np.int64))
    problem.bcs.append(values)
    assert problem.difference(keep=sorted(outside | kept)) < 1e-11


def test_a_mixed_space_keeps_a_pressure_of_each_cell() -> None:
    """Stokes: with all pressures eliminated a cell's matrix would be singular."""
    mesh = square_mesh(3, cell="quadrilateral")
    elements = fem.FunctionSpace(mesh, ("Q", 2, (2,))), fem.FunctionSpace(mesh, ("DP", 1))
    W = fem.FunctionSpace(mesh, [one.element for one in elements])
    (u, p), (v, q) = ufl.TrialFunctions(W), ufl.TestFunctions(W)
    a = (
        ufl.inner(ufl.grad(u), ufl.grad(v)) - p * ufl.div(v) - q * ufl.div(u) - 1e-3 * p * q
    ) * ufl.dx
    x = fem.SpatialCoordinate(mesh)
    L = ufl.inner(ufl.as_vector([x[1], x[0] ** 2]), v) * ufl.dx
    bcs = [fem.DirichletBC(W.sub(0), 0.0)]
    whole = fem.Function(W)
    fem.solve(a == L, whole, bcs)
    keep = [*range(16), 18]  # 16 and 17 are of the velocity inside, 18 to 21 pressures
    system = fem.condense(a, L, keep, bcs)
    assert system.matrix.nrows == W.size - 5 * mesh.cells.size
    assert np.allclose(system.solve().values, whole.values, atol=1e-11)


def test_the_order_of_convergence_is_that_of_the_element() -> None:
    errors = []
    for n in (2, 4, 8):
        mesh = square_mesh(n, cell="quadrilateral")
        V = fem.FunctionSpace(mesh, ("Q", 4))
        u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
        x = fem.SpatialCoordinate(mesh)
        exact = ufl.sin(2 * x[0]) * ufl.exp(x[1])
        a = ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx
        L = 3 * exact * v * ufl.dx
        bcs = [fem.DirichletBC(V, lambda x: np.sin(2 * x[0]) * np.exp(x[1]))]
        errors.append(fem.error_norm(fem.condense(a, L, bcs=bcs).solve(), exact))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 4.8).all()


def test_a_system_is_assembled_again() -> None:
    problem = Problem(_mesh("triangle"), ("P", 3))
    system = fem.condense(problem.a, problem.L, bcs=problem.bcs)
    fem.interpolate(lambda x: 3 - x[1], problem.f)
    problem.bcs[1].set(4.0)
    system.assemble()
    whole = fem.Function(problem.V)
    fem.solve(problem.a == problem.L, whole, problem.bcs)
    u = fem.Function(problem.V)
    assert system.solve(u, ksp_type="gmres", pc_type="ilu", ksp_rtol=1e-13) is u
    assert np.allclose(u.values, whole.values, atol=1e-10)
    assert "82 of 100 values" in repr(system)


def test_without_a_load() -> None:
    problem = Problem(_mesh("quadrilateral"), ("Q", 2))
    problem.L = 0
    whole = fem.Function(problem.V)
    A, b = fem.assemble_system(problem.a, 0, problem.bcs)
    op2.solve(A, whole.dat, b.dat, ksp_type="preonly", pc_type="lu")
    found = fem.condense(problem.a, 0, bcs=problem.bcs).solve()
    assert np.allclose(found.values, whole.values, atol=1e-12)


class TestRefusals:
    @pytest.fixture
    def problem(self) -> Problem:
        return Problem(_mesh("quadrilateral"), ("Q", 3))

    def test_a_singular_cell_is_named(self, problem: Problem) -> None:
        V = problem.V
        u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
        weight = fem.Function(fem.FunctionSpace(V.mesh, ("DG", 0)))
        weight.dat.data[:] = 1.0
        weight.dat.data[[5, 7]] = 0.0
        with pytest.raises(DataValueError, match=r"inside of cell 5 is singular.*2 cells in all"):
            fem.condense(weight * u * v * ufl.dx, 0)

    @pytest.mark.parametrize("part", ["matrix", "load"])
    def test_values_that_are_not_finite(self, problem: Problem, part: str) -> None:
        V = problem.V
        u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
        weight = fem.Function(fem.FunctionSpace(V.mesh, ("DG", 0)))
        weight.dat.data[:] = 1.0
        weight.dat.data[4] = np.nan
        factors = (weight, 1) if part == "matrix" else (1, weight)
        with pytest.raises(DataValueError, match=r"cell 4 has values that are not finite"):
            fem.condense(factors[0] * u * v * ufl.dx, factors[1] * v * ufl.dx)

    @pytest.mark.parametrize(
        ("keep", "kind", "message"),
        [
            ("edges", UsageError, "'keep' is \"facets\", or numbers"),
            (2.5, UsageError, "'keep' is \"facets\", or numbers"),
            ([3, 16], IndexValueError, "0 to 15, got 3 to 16"),
            ([-1], IndexValueError, "0 to 15, got -1 to -1"),
            (range(16), UsageError, "leaves nothing inside"),
            (range(1, 15), UsageError, "dofs 0 of .* lie on facets"),
            ([], UsageError, "lie on facets"),
        ],
    )
    def test_what_is_kept(self, problem: Problem, keep: Any, kind: type, message: str) -> None:
        with pytest.raises(kind, match=message):
            fem.condense(problem.a, problem.L, keep)

    @pytest.mark.parametrize(
        ("element", "kind", "message"),
        [
            (("Q", 1), UsageError, "leaves nothing inside of the cells; .* has 0 dofs"),
            (("DQ", 2), UsageError, "nothing is kept"),
            (("Q", 10), UnsupportedError, "81 values inside of a cell, more than 64"),
        ],
    )
    def test_elements(self, element: Any, kind: type, message: str) -> None:
        V = fem.FunctionSpace(_mesh("quadrilateral", 1), element)
        a = ufl.TrialFunction(V) * ufl.TestFunction(V) * ufl.dx
        with pytest.raises(kind, match=message):
            fem.condense(a, 0)

    def test_complex_values_in_a_real_system(self, problem: Problem) -> None:
        with pytest.raises(DataValueError, match="complex"):
            fem.condense(problem.a, problem.L, bcs=[fem.DirichletBC(problem.V, 1j)])

    def test_forms(self, problem: Problem) -> None:
        V = problem.V
        u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
        jump = ufl.jump(u) * ufl.jump(v) * ufl.dS
        with pytest.raises(UnsupportedError, match="integrals over interior facets"):
            fem.condense(problem.a + jump, problem.L)
        with pytest.raises(UsageError, match="bilinear form"):
            fem.condense(problem.L, problem.L)
        with pytest.raises(UsageError, match="linear form on the right"):
            fem.condense(problem.a, problem.a)

    def test_what_a_system_is_given(self, problem: Problem) -> None:
        system = fem.condense(problem.a, problem.L)
        u = fem.Function(problem.V)
        with pytest.raises(UsageError, match="a Dat like the vector"):
            system.recover(u.dat, u)
        with pytest.raises(DatTypeError, match="recover: expected a Function"):
            system.recover(system.vector, problem.f)
        with pytest.raises(DatTypeError, match="solve: expected a Function"):
            system.solve(problem.f)
        with pytest.raises(UsageError, match="the system has dtype float64"):
            system.recover(system.vector, fem.Function(problem.V, "float32"))
