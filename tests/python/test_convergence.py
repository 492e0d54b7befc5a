# SPDX-License-Identifier: BSD-3-Clause
"""Solvers look at what they return: residuals, singular matrices, NaN, zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.base import extras
from pyop2cxx.exceptions import ConvergenceError, DataTypeError, DataValueError

pytest.importorskip("scipy")

N = 40
LU = {"ksp_type": "preonly", "pc_type": "lu"}
PACKAGES = ("own", "scipy")
ITERATIVE = [
    {"ksp_type": ksp_type, "pc_type": pc_type, "package": package}
    for package in PACKAGES
    for ksp_type in ("cg", "gmres", "bicgstab")
    for pc_type in ("none", "jacobi", "ilu")
]


class Path:
    """The Laplacian of a path plus a multiple of the identity: singular where that is zero.

    Or of a grid of 6 x 6 points, with weights, so that elimination ends with a pivot of rounding.
    """

    def __init__(
        self,
        shift: float = 0.0,
        dtype: str = "float64",
        dim: int = 1,
        n: int = N,
        *,
        is_grid: bool = False,
    ) -> None:
        ends = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
        if is_grid:
            n, at = 36, np.arange(36).reshape(6, 6)
            pairs = [(at[:-1], at[1:]), (at[:, :-1], at[:, 1:])]
            ends = np.concatenate([np.stack([a, b], axis=-1).reshape(-1, 2) for a, b in pairs])
        weights = 1 + is_grid * np.random.default_rng(2).random(len(ends))
        edges, self.nodes = op2.Set(len(ends), "edges"), op2.Set(n, "nodes")
        self.e2n = op2.Map(edges, self.nodes, 2, ends)
        dset = self.nodes**dim
        self.mat = op2.Mat(op2.Sparsity((dset, dset), [(self.e2n, self.e2n, None)]), dtype)
        for end, weight in zip(ends, weights, strict=True):
            block = weight * np.kron([[1.0, -1], [-1, 1]], np.eye(dim))
            self.mat.addto_values(end, end, block)
        self.mat.inc_local_diagonal_entries(range(n), shift)
        self.mat.assemble()
        self.x, self.b = op2.Dat(dset, dtype=dtype), op2.Dat(dset, dtype=dtype)
        rng = np.random.default_rng(3)
        values = rng.random(self.b.data.shape) + (1j * rng.random(self.b.data.shape))
        self.b.data[...] = values if np.dtype(dtype).kind == "c" else values.real

    def solve(self, **options: Any) -> Any:
        return op2.solve(self.mat, self.x, self.b, **options)

    @property
    def residual(self) -> float:
        left = self.mat.to_scipy() @ self.x.data_ro.reshape(-1)
        return float(np.linalg.norm(left - self.b.data_ro.reshape(-1)))


@pytest.mark.parametrize("is_grid", [False, True])
@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_a_neumann_problem_by_lu_is_an_error(dtype: str, dim: int, is_grid: bool) -> None:
    path = Path(0.0, dtype, dim, is_grid=is_grid)
    path.x.data[...] = 3
    with pytest.raises(ConvergenceError, match=r"did not converge|could not factorise") as caught:
        path.solve(**LU)
    assert caught.value.reason == "DIVERGED_PC_FAILED"
    assert (path.x.data_ro == 3).all()


@pytest.mark.parametrize("is_grid", [False, True])
def test_it_is_told_of_the_null_space(is_grid: bool) -> None:
    path = Path(is_grid=is_grid)
    for options in (LU, {"ksp_type": "cg", "ksp_max_it": 50}):
        with pytest.raises(
            ConvergenceError, match=r"constants are a null space.*Neumann.*Lagrange"
        ):
            path.solve(**options)
    if not is_grid:
        return  # nothing was found
    with pytest.warns(RuntimeWarning, match="did not converge: DIVERGED_PC_FAILED"):
        went = path.solve(error_on_nonconvergence=False, **LU)
    assert not went.converged
    assert went.is_singular


def test_a_singular_system_with_a_solution_is_told_of() -> None:
    path = Path(is_grid=True)
    path.b.data[:] -= path.b.data_ro.mean()
    with pytest.warns(RuntimeWarning, match="x is one of many solutions"):
        went = path.solve(**LU)
    assert went.converged
    assert path.residual < 1e-8
    path.x.zero()
    assert path.solve(ksp_type="cg").converged  # no null space enters


@pytest.mark.parametrize("shift", [1e-17, 1e-19, 1e-300])
def test_nearly_singular_matrices(shift: float) -> None:
    path = Path(shift, is_grid=True)
    with pytest.raises(ConvergenceError):
        path.solve(**LU)


def test_a_mixed_matrix_with_a_singular_block() -> None:
    path = Path(is_grid=True)
    cells = op2.Set(36)
    n2c = op2.Map(path.e2n.iterset, cells, 2, path.e2n.values)
    dset, both = op2.MixedDataSet((path.nodes, cells)), op2.MixedMap((path.e2n, n2c))
    for nest in (True, False):
        mat = op2.Mat(op2.Sparsity((dset, dset), [(both, both, None)], nest=nest))
        mat[0, 0].set_local_diagonal_entries(range(36), 2.0)
        mat[1, 1].array[:] = path.mat.array
        mat[1, 1].assemble() if nest else mat.assemble()
        x, b = op2.MixedDat(dset), op2.MixedDat(dset)
        for part in b:
            part.data[:] = 1
        with pytest.raises(ConvergenceError) as caught:
            op2.solve(mat, x, b, **LU)
        assert caught.value.reason == "DIVERGED_PC_FAILED"
        assert not x[0].data_ro.any()
        mat[1, 1].inc_local_diagonal_entries(range(36), 1.0)
        assert op2.solve(mat, x, b, **LU).converged
        np.testing.assert_allclose(x[0].data_ro, 0.5)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_regular_matrices_pass_however_they_are_scaled(dtype: str) -> None:
    path = Path(0.1, dtype)
    reference = None
    for scale in (1.0, 1e-12, 1e12):
        path.mat.array[:] *= np.asarray(scale, dtype)
        path.b.data[:] *= np.asarray(scale, dtype)
        assert path.solve(**LU).reason == "CONVERGED_ITS"
        found = path.x.data_ro.copy()
        reference = found if reference is None else reference
        np.testing.assert_allclose(found, reference, rtol=2e-4 if dtype == "float32" else 1e-8)
    path.mat.zero_rows([0, N - 1], 1.0)  # rows of one beside rows of 1e12
    path.mat.array[:] *= np.asarray(1e-12, dtype)
    path.b.data[:] *= np.asarray(1e-12, dtype)
    went = path.solve(**LU)
    assert (went.reason, went.is_singular) == ("CONVERGED_ITS", False)


def test_an_ill_conditioned_matrix_passes() -> None:
    """Condition 1e12: residuals are far above 1e-6 of b, yet nothing but rounding."""
    sparse = pytest.importorskip("scipy.sparse")
    n = 3000
    second = sparse.diags_array(
        [np.ones(n - 1), -2 * np.ones(n), np.ones(n - 1)], offsets=[-1, 0, 1]
    )
    fourth = (second @ second).tocsr()
    nodes, windows = op2.Set(n), op2.Set(n - 2)
    near = op2.Map(windows, nodes, 3, np.arange(n - 2)[:, None] + np.arange(3))
    mat = op2.Mat(op2.Sparsity((nodes, nodes), [(near, near, None)]))
    fourth.sort_indices()
    mat.array[:] = fourth.data
    x, b = op2.Dat(nodes), op2.Dat(nodes, np.ones(n))
    went = op2.solve(mat, x, b, **LU)
    assert (went.reason, went.is_singular) == ("CONVERGED_ITS", False)


@pytest.mark.parametrize("options", [LU, *ITERATIVE], ids=str)
def test_x_is_not_read_where_it_is_no_guess(options: dict[str, Any]) -> None:
    path = Path(0.5)
    path.x.data[...] = np.nan
    unread = {} if options is LU else {"ksp_initial_guess_nonzero": False}
    assert path.solve(**options, **unread, ksp_rtol=1e-10).converged
    assert path.residual < 1e-7
    if options is not LU:
        path.x.data[3] = np.inf
        with pytest.raises(DataValueError, match="x, the initial guess, has values that are not"):
            path.solve(**options)


@pytest.mark.parametrize("options", [LU, *ITERATIVE], ids=str)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_are_refused(options: dict[str, Any], bad: float) -> None:
    path = Path(0.5)
    path.b.data[2] = bad
    with pytest.raises(DataValueError, match="b has values that are not finite"):
        path.solve(**options)
    path = Path(0.5)
    path.mat.array[2] = bad
    with pytest.raises(DataValueError, match=r"Mat 'mat_.*' has values that are not finite"):
        path.solve(**options)


@pytest.mark.parametrize("options", [LU, *ITERATIVE], ids=str)
def test_a_right_hand_side_of_zeros(options: dict[str, Any]) -> None:
    path = Path(0.5)
    path.b.zero()
    path.x.data[...] = 4
    went = path.solve(**options)
    assert (went.reason, went.n_iterations) == ("CONVERGED_ATOL", 0)
    assert not path.x.data_ro.any()


@pytest.mark.parametrize("options", ITERATIVE, ids=str)
def test_the_last_residual_is_that_of_x(options: dict[str, Any]) -> None:
    path = Path(1e-3)
    went = path.solve(**options, ksp_rtol=1e-11)
    assert went.converged
    assert went.history[-1] == pytest.approx(path.residual, rel=1e-3, abs=1e-13)
    norm = float(np.linalg.norm(path.b.data_ro))
    assert path.residual <= 1e-10 * norm


@pytest.mark.parametrize("options", [*ITERATIVE], ids=str)
def test_a_few_steps_are_not_enough(options: dict[str, Any]) -> None:
    path = Path(1e-4, n=400)
    if options["pc_type"] == "ilu":
        pytest.skip("factors of a path are exact")
    with pytest.raises(ConvergenceError, match="DIVERGED_MAX_IT after 5 iterations") as caught:
        path.solve(**options, ksp_max_it=5, ksp_rtol=1e-10)
    assert caught.value.reason == "DIVERGED_MAX_IT"
    assert not path.x.data_ro.any()


def test_more_digits_than_there_are() -> None:
    path = Path(1e-6)
    for ksp_type in ("cg", "gmres", "bicgstab"):
        path.x.zero()
        went = path.solve(ksp_type=ksp_type, ksp_rtol=1e-18, ksp_max_it=5000, pc_type="ilu")
        assert went.converged
        assert path.residual < 1e-7 * float(np.linalg.norm(path.b.data_ro))


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_single_precision_reaches_what_rounding_lets_it(dtype: str) -> None:
    path = Path(1e-2, dtype, is_grid=True)
    for ksp_type in ("cg", "gmres", "bicgstab"):
        for pc_type in ("none", "jacobi", "lu"):
            path.x.zero()
            assert path.solve(ksp_type=ksp_type, pc_type=pc_type).n_iterations < 500
            assert path.residual < 1e-4 * float(np.linalg.norm(path.b.data_ro))


def test_dtypes_that_differ() -> None:
    path, real = Path(0.5, "complex128"), Path(0.5)
    with pytest.raises(DataTypeError, match=r"x, '.*', has dtype float64, but .* complex128"):
        op2.solve(path.mat, op2.Dat(path.nodes), path.b, **LU)
    with pytest.raises(DataTypeError, match="has dtype int32, but the solution has dtype float64"):
        op2.solve(real.mat, op2.Dat(real.nodes, dtype="int32"), real.b, **LU)
    with pytest.raises(DataTypeError, match="has dtype float64, but"):
        op2.solve(real.mat, real.x, op2.Dat(real.nodes, dtype="complex128"))
    assert not real.x.data_ro.any()
    for options in (LU, {}, {"ksp_type": "gmres"}):
        path.x.zero()
        op2.solve(path.mat, path.x, op2.Dat(path.nodes, np.ones(N)), ksp_rtol=1e-10, **options)
        np.testing.assert_allclose(path.mat.values @ path.x.data_ro, 1, atol=1e-7)
        whole = op2.Dat(real.nodes, np.arange(N), dtype="int32")
        real.x.zero()
        op2.solve(real.mat, real.x, whole, ksp_rtol=1e-10, **options)
        np.testing.assert_allclose(real.mat.values @ real.x.data_ro, np.arange(N), atol=1e-6)
        single = op2.Dat(real.nodes, dtype="float32")
        op2.solve(real.mat, single, whole, ksp_rtol=1e-5, **options)
        np.testing.assert_allclose(real.mat.values @ single.data_ro, np.arange(N), atol=1e-3)


def test_cg_of_a_matrix_that_is_not_definite() -> None:
    path = Path(0.0)
    path.mat.array[:] = 0
    path.mat.set_local_diagonal_entries(range(N), 1.0)
    path.mat.set_local_diagonal_entries([0], -1.0)
    path.b.data[:] = 1
    path.b.data[0] = np.sqrt(N - 1)  # the first direction has no curvature
    with pytest.raises(ConvergenceError, match=r"INDEFINITE_MAT .*take 'gmres' or 'bicgstab'"):
        path.solve(ksp_type="cg", pc_type="none")
    assert path.solve(ksp_type="gmres", pc_type="none").converged


def test_bicgstab_begins_anew_where_the_first_residual_is_on_given_rows() -> None:
    path = Path(0.5)
    path.mat.zero_rows([0, N - 1], 1.0)
    path.b.data[:] = 0
    path.b.data[[0, N - 1]] = 1, 2
    assert path.solve(ksp_type="bicgstab", ksp_rtol=1e-10).converged
    assert path.residual < 1e-9


@pytest.mark.parametrize("package", PACKAGES)
def test_ilu_and_cg_solve_poissons_problem(package: str) -> None:
    for needed in ("basix", "ffcx", "ufl"):
        pytest.importorskip(needed)
    import ufl

    from pyop2cxx import fem
    from pyop2cxx.mesh import cube_mesh

    V = fem.FunctionSpace(cube_mesh(8), ("P", 1))
    f = fem.interpolate(lambda x: np.sin(13 * x[0]) + x[1] * np.cos(7 * x[2]), V)
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    x, bcs = fem.Function(V), [fem.DirichletBC(V, 0.0)]
    a, L = ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx, f * v * ufl.dx
    ilu = fem.solve(a == L, x, bcs, ksp_type="cg", pc_type="ilu", package=package)
    x.dat.zero()
    assert ilu.n_iterations < fem.solve(a == L, x, bcs, ksp_type="cg", pc_type="none").n_iterations


def test_forms_without_conditions() -> None:
    for needed in ("basix", "ffcx", "ufl"):
        pytest.importorskip(needed)
    import ufl

    from pyop2cxx import fem
    from pyop2cxx.mesh import square_mesh

    V = fem.FunctionSpace(square_mesh(10), ("P", 1))
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    one, x = fem.Constant(V.mesh, 1.0), fem.Function(V, name="x")
    a = ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx
    with pytest.raises(ConvergenceError, match="constants are a null space"):
        fem.solve(a == one * v * ufl.dx, x)
    residual = (ufl.inner((1 + x**2) * ufl.grad(x), ufl.grad(v)) - one * v) * ufl.dx
    with pytest.raises(ConvergenceError, match="constants are a null space"):
        fem.solve(residual == 0, x)
    x.dat.data[:] = np.nan
    assert fem.solve(a == one * v * ufl.dx, x, [fem.DirichletBC(V, 0.0)]).converged
    assert np.isfinite(x.values).all()


@pytest.mark.skipif(not extras.installed()["petsc4py"], reason="petsc4py is not installed")
@pytest.mark.parametrize(
    "options",
    [LU, {}, {"ksp_type": "gmres"}, {"ksp_type": "bicgstab"}, {"pc_type": "ilu"}],
    ids=str,
)
def test_petsc_is_looked_at_too(options: dict[str, Any]) -> None:
    path = Path(0.5)
    path.x.data[...] = 3
    went = path.solve(package="petsc", ksp_rtol=1e-9, **options)
    assert went.converged
    assert went.history[-1] == pytest.approx(path.residual, rel=1e-3, abs=1e-13)
    path = Path(is_grid=True)
    with pytest.raises(ConvergenceError, match="constants are a null space"):
        path.solve(package="petsc", ksp_max_it=300, **options)
