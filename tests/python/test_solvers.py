# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.algebra import libraries
from pyop2cxx.algebra.solvers import DEFAULTS
from pyop2cxx.base import extras
from pyop2cxx.exceptions import (
    ConvergenceError,
    DataValueError,
    DatTypeError,
    MatTypeError,
    MissingExtraError,
    SolverOptionError,
)
from pyop2cxx.op2 import INC, READ

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytest.importorskip("scipy")

N = 40


@pytest.fixture(autouse=True)
def options() -> Iterator[None]:
    yield
    op2.exit()


class System:
    """The Laplacian of a path, both ends held; its solution is known."""

    def __init__(self, dim: int = 1) -> None:
        self.edges, self.nodes = op2.Set(N - 1, "edges"), op2.Set(N, "nodes")
        ends = np.stack([np.arange(N - 1), np.arange(1, N)], axis=1)
        self.e2n = op2.Map(self.edges, self.nodes, 2, ends)
        self.dset = self.nodes**dim
        sparsity = op2.Sparsity((self.dset, self.dset), [(self.e2n, self.e2n, None)])
        self.mat = op2.Mat(sparsity, name="A")
        block = np.kron([[1.0, -1], [-1, 1]], np.eye(dim))
        for edge in ends:
            self.mat.addto_values(edge, edge, block)
        for end in (0, N - 1):  # rows and columns, so that it stays symmetric
            self.mat.set_values([end], [abs(end - 1)], np.zeros((dim, dim)))
            self.mat.set_values([abs(end - 1)], [end], np.zeros((dim, dim)))
        self.mat.assemble()
        self.exact = np.sin(np.arange(float(N * dim))).reshape(self.dset_shape(dim))
        dense = self.mat.values @ self.exact.reshape(-1)
        self.b = op2.Dat(self.dset, dense.reshape(self.exact.shape))
        self.x = op2.Dat(self.dset)

    @staticmethod
    def dset_shape(dim: int) -> tuple[int, ...]:
        return (N,) if dim == 1 else (N, dim)


@pytest.mark.parametrize(
    ("ksp_type", "pc_type"),
    [
        *(("cg", pc) for pc in ("none", "jacobi", "ilu", "lu")),
        *(("gmres", pc) for pc in ("none", "jacobi", "ilu")),
        *(("bcgs", pc) for pc in ("jacobi", "ilu")),
        ("preonly", "lu"),
    ],
)
@pytest.mark.parametrize("dim", [1, 2])
def test_solves(ksp_type: str, pc_type: str, dim: int) -> None:
    system = System(dim)
    solver = op2.Solver(ksp_type=ksp_type, pc_type=pc_type, ksp_rtol=1e-12)
    solver.solve(system.mat, system.x, system.b)
    np.testing.assert_allclose(system.x.data_ro, system.exact, atol=1e-8)
    assert solver.convergence is not None
    assert solver.convergence.converged
    assert solver.history[-1] <= 1e-9 * max(solver.history[0], 1)
    assert len(solver.history) >= 2


def test_old_names_and_defaults() -> None:
    solver = op2.Solver({"linear_solver": "gmres", "relative_tolerance": 1e-3, "gmres_restart": 7})
    parameters = solver.parameters
    assert (parameters["ksp_type"], parameters["ksp_rtol"]) == ("gmres", 1e-3)
    assert parameters["ksp_gmres_restart"] == 7
    assert op2.Solver().parameters == dict(DEFAULTS)
    solver.update_parameters({"ksp_type": "bcgs", "pc_type": "ilu"})
    assert solver.parameters["ksp_type"] == "bicgstab"
    parameters["ksp_type"] = "changed"
    assert solver.parameters["ksp_type"] == "bicgstab"
    assert (solver.convergence, solver.history) == (None, ())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"no_such": 1}, "there is no option 'no_such'"),
        ({"ksp_type": "magic"}, "'ksp_type' must be one of: cg, gmres"),
        ({"pc_type": 3}, "'pc_type' must be one of"),
        ({"ksp_rtol": -1.0}, "'ksp_rtol' must be a number, not negative"),
        ({"ksp_max_it": 0}, "'ksp_max_it' must be a positive integer"),
        ({"error_on_nonconvergence": 1}, "must be True or False"),
        ({"ksp_type": "preonly", "pc_type": "none"}, "pass pc_type='lu'"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SolverOptionError, match=message) as caught:
        op2.Solver(options)
    assert isinstance(caught.value, RuntimeError)
    solver = op2.Solver()
    with pytest.raises(SolverOptionError):
        solver.update_parameters({"ksp_atol": 1e-3, **options})
    assert solver.parameters == dict(DEFAULTS)


def test_parameters_and_keywords_exclude_each_other() -> None:
    with pytest.raises(RuntimeError, match="not both"):
        op2.Solver({"ksp_type": "cg"}, ksp_rtol=1e-3)
    mat = System().mat
    for options in ({}, {"ksp_type": "cg"}):
        with pytest.raises(SolverOptionError, match=r"got Mat .*the matrix is passed to solve"):
            op2.Solver(mat, **options)  # type: ignore[arg-type]


def test_what_does_not_converge_is_an_error_and_changes_nothing() -> None:
    system = System()
    system.x.data[:] = 3
    with pytest.raises(ConvergenceError, match="DIVERGED_MAX_IT after 4 iterations") as caught:
        op2.solve(system.mat, system.x, system.b, pc_type="none", ksp_max_it=4)
    assert caught.value.reason == "DIVERGED_MAX_IT"
    assert len(caught.value.history) == 5
    assert isinstance(caught.value, RuntimeError)
    np.testing.assert_array_equal(system.x.data_ro, 3)
    with pytest.warns(RuntimeWarning, match="did not converge"):
        went = op2.solve(
            system.mat, system.x, system.b, ksp_max_it=4, error_on_nonconvergence=False
        )
    assert not went.converged
    assert not (system.x.data_ro == 3).all()


def test_a_residual_that_grows_is_an_error() -> None:
    system = System()
    turned = system.mat.duplicate()
    turned.array[1::3] *= -50  # far from definite, so cg goes astray
    with pytest.raises(ConvergenceError, match="DIVERGED_"):
        op2.solve(turned, system.x, system.b, pc_type="none", ksp_divtol=1.5, ksp_max_it=500)
    assert not system.x.data_ro.any()


def test_a_singular_matrix() -> None:
    system = System()
    system.mat.zero()
    with pytest.raises(ConvergenceError, match="could not factorise"):
        op2.solve(system.mat, system.x, system.b, ksp_type="preonly", pc_type="lu")


def test_bad_systems() -> None:
    system = System()
    other = op2.Dat(op2.Set(N))
    with pytest.raises(MatTypeError, match="must be a Mat"):
        op2.solve(3, system.x, system.b)  # type: ignore[arg-type]
    with pytest.raises(DatTypeError, match="b must be a Dat"):
        op2.solve(system.mat, system.x, 3)  # type: ignore[arg-type]
    with pytest.raises(
        DataValueError,
        match=r"is on Set 'set_#\w+' with dim \(1,\), but the rows are on Set 'nodes'",
    ):
        op2.solve(system.mat, system.x, other)
    system.b.data[3] = np.nan
    with pytest.raises(DataValueError, match="not finite"):
        op2.solve(system.mat, system.x, system.b)


def test_a_loop_as_operator() -> None:
    system = System()
    kernel = op2.Kernel(
        "void k(const double *x, double *y) { double d = x[0] - x[1]; y[0] += d; y[1] -= d; }", "k"
    )

    def apply(x: op2.Dat, y: op2.Dat) -> None:
        y.zero()
        op2.par_loop(kernel, system.edges, x(READ, system.e2n), y(INC, system.e2n))
        y.data[:] += 0.5 * x.data_ro

    dense = 2 * np.eye(N) - np.eye(N, k=1) - np.eye(N, k=-1) + 0.5 * np.eye(N)
    dense[0, 0] -= 1
    dense[-1, -1] -= 1
    system.b.data[:] = dense @ system.exact
    op2.solve(apply, system.x, system.b, pc_type="none", ksp_rtol=1e-12)
    np.testing.assert_allclose(system.x.data_ro, system.exact, atol=1e-9)
    with pytest.raises(SolverOptionError, match="needs a matrix"):
        op2.solve(apply, system.x, system.b)


def test_monitor_and_picture(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    system = System()
    caplog.set_level(logging.WARNING)
    options: dict[str, Any] = {"ksp_monitor": True}
    if extras.installed()["matplotlib"]:
        options |= {"plot_convergence": True, "plot_prefix": f"{tmp_path}/"}
    went = op2.solve(system.mat, system.x, system.b, **options)
    lines = [r.getMessage() for r in caplog.records if "KSP Residual norm" in r.getMessage()]
    assert len(lines) == len(went.history)
    if extras.installed()["matplotlib"]:
        assert (tmp_path / "convergence.png").stat().st_size > 0


@pytest.mark.parametrize("package", ["auto", "scipy"])
def test_ghosts_are_left_alone(package: str) -> None:
    nodes = op2.Set((3, 3, 5), "nodes")
    identity = op2.Map(nodes, nodes, 1, np.arange(5))
    mat = op2.Mat(op2.Sparsity((nodes, nodes), identity))
    mat.set_local_diagonal_entries(range(5), 2.0)
    x, b = op2.Dat(nodes), op2.Dat(nodes, np.arange(5.0))
    op2.solve(mat, x, b, package=package, ksp_rtol=1e-12)
    np.testing.assert_allclose(x.data_ro, [0, 0.5, 1])


@pytest.mark.parametrize("pc_type", ["jacobi", "lu"])
def test_a_mixed_system(pc_type: str) -> None:
    system = System()
    cells = op2.Set(N, "cells")
    n2c = op2.Map(system.edges, cells, 2, system.e2n.values)
    dset = op2.MixedDataSet((system.nodes, cells), (1, 2))
    both = op2.MixedMap((system.e2n, n2c))
    mat = op2.Mat(op2.Sparsity((dset, dset), [(both, both, None)]))
    for i in range(2):
        block = mat[i, i]
        numbers = range(N)
        block.set_local_diagonal_entries(numbers, 4.0)
        block.addto_values([1], [2], -np.eye(i + 1))
    mat[0, 1].addto_values([3], [4], [[1.0, 0.5]])
    x, b, found = (op2.MixedDat(dset) for _ in range(3))
    for k, part in enumerate(b):
        part.data[...] = k + np.arange(part.data.size).reshape(part.data.shape)
    ksp = "preonly" if pc_type == "lu" else "gmres"
    op2.solve(mat, x, b, ksp_type=ksp, pc_type=pc_type, ksp_rtol=1e-12)
    mat.mult(x, found)
    for got, want, again in zip(found, b, mat * x, strict=True):
        np.testing.assert_allclose(got.data_ro, want.data_ro, atol=1e-9)
        np.testing.assert_array_equal(again.data_ro, got.data_ro)
    with pytest.raises(DatTypeError, match="expected a MixedDat for the columns"):
        op2.solve(mat, system.x, b)

    def apply(u: op2.MixedDat, v: op2.MixedDat) -> None:
        mat.mult(u, v)

    x.zero()
    op2.solve(apply, x, b, ksp_type="gmres", pc_type="none", ksp_rtol=1e-12)
    mat.mult(x, found)
    np.testing.assert_allclose(found[1].data_ro, b[1].data_ro, atol=1e-9)


def test_cupy_solves_where_loops_run() -> None:
    system = System()
    with op2.backend("sequential"), pytest.raises(SolverOptionError, match="backend 'cuda'"):
        op2.solve(system.mat, system.x, system.b, package="cupy")


@pytest.mark.parametrize(
    ("package", "options"), [("pyamg", {"pc_type": "amg"}), ("petsc4py", {"package": "petsc"})]
)
def test_packages_that_may_be_missing(package: str, options: dict[str, str]) -> None:
    system = System()
    if not extras.installed()[package]:
        with pytest.raises(MissingExtraError, match=package):
            op2.solve(system.mat, system.x, system.b, **options)
        return
    op2.solve(system.mat, system.x, system.b, ksp_rtol=1e-12, **options)
    np.testing.assert_allclose(system.x.data_ro, system.exact, atol=1e-7)


def test_rows_and_columns_of_globals() -> None:
    """A Lagrange multiplier for the mean: fields on nodes beside a Global, as a MixedDat."""
    world = System()
    edges, nodes, e2n = world.edges, world.nodes, world.e2n
    g = op2.Global(1)
    both = op2.MixedDataSet((nodes**1, op2.GlobalDataSet(g)))
    maps = op2.MixedMap((e2n, None))
    mat = op2.Mat(op2.Sparsity((both, both), [(maps, maps, None)]))
    text = """
    void k(double *A) {
      const double a[9] = {3, -1, 0.5, -1, 3, 0.5, 0.5, 0.5, 0};
      for (int i = 0; i < 9; ++i) A[i] += a[i];
    }
    """
    op2.par_loop(op2.Kernel(text, "k"), edges, mat(op2.INC, (maps, maps)))
    n = nodes.size
    x = op2.MixedDat((op2.Dat(nodes, np.arange(n) + 1.0), op2.Global(1, 2.0)))
    y = mat * x
    flat = np.concatenate([part.data_ro.reshape(-1) for part in x])
    expected = mat.values @ flat
    np.testing.assert_allclose(np.concatenate([p.data_ro.reshape(-1) for p in y]), expected)
    found = op2.MixedDat((op2.Dat(nodes), op2.Global(1)))
    op2.solve(mat, found, y, ksp_type="preonly", pc_type="lu")
    np.testing.assert_allclose(found[0].data_ro, flat[:-1])
    np.testing.assert_allclose(found[1].data_ro, [2.0])

    row, column, corner = mat[1, 0], mat[0, 1], mat[1, 1]
    np.testing.assert_allclose((row * x[0]).data_ro, row.values @ flat[:-1])
    total = op2.Dat(nodes)
    column.mult(x[1], total)
    np.testing.assert_allclose(total.data_ro, 2 * column.values[:, 0])
    corner.array[:] = 4
    one = op2.Global(1)
    op2.solve(corner, one, op2.Global(1, 2.0), ksp_type="preonly", pc_type="lu")
    np.testing.assert_allclose(one.data_ro, [0.5])
    with pytest.raises(DatTypeError, match="expected a Global for the columns"):
        column.mult(total, total)
    with pytest.raises(DataValueError):
        column.mult(op2.Global(2), total)


def test_a_function_over_a_global() -> None:
    def twice(x: op2.Global, y: op2.Global) -> None:
        y.data = 2 * x.data_ro

    x = op2.Global(3)
    op2.solve(twice, x, op2.Global(3, [2.0, 4.0, 6.0]), pc_type="none")
    np.testing.assert_allclose(x.data_ro, [1, 2, 3])


def test_blas_has_one_thread_while_scipy_solves() -> None:
    pools = pytest.importorskip("threadpoolctl")
    system = System()
    found: list[int] = []

    def threads() -> list[int]:
        return [one["num_threads"] for one in pools.threadpool_info() if one["user_api"] == "blas"]

    def apply(x: op2.Dat, y: op2.Dat) -> None:
        found.extend(threads())
        system.mat.mult(x, y)

    with pools.threadpool_limits(2, "blas"):
        before = threads()
        op2.solve(apply, system.x, system.b, ksp_type="gmres", pc_type="none")
        assert threads() == before
        assert set(found) <= {1}
        found.clear()
        with pytest.raises(ConvergenceError):
            op2.solve(apply, system.x, system.b, pc_type="none", ksp_max_it=1, ksp_rtol=1e-15)
        assert threads() == before


def test_scipy_solves_without_threadpoolctl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "_pools", lambda: None)
    system = System()
    assert op2.solve(system.mat, system.x, system.b, package="scipy").converged


def test_what_stands_for_another_preconditioner_is_said(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    assert op2.Solver(pc_type="hypre").parameters["pc_type"] == "amg"
    assert "'hypre' is not offered; 'amg' is taken" in caplog.text


@pytest.mark.parametrize("ksp_type", ["cg", "gmres", "bicgstab"])
def test_products_of_a_function_are_not_doubled(ksp_type: str) -> None:
    system = System()
    n_products = 0

    def apply(x: op2.Dat, y: op2.Dat) -> None:
        nonlocal n_products
        n_products += 1
        system.mat.mult(x, y)

    went = op2.solve(apply, system.x, system.b, ksp_type=ksp_type, pc_type="none", ksp_rtol=1e-6)
    per_step = 2 if ksp_type == "bicgstab" else 1
    looks = len(went.history)
    assert n_products <= per_step * went.n_iterations + 2 * looks + 1
    assert looks <= went.n_iterations // 16 + 3
    n_products = 0
    system.x.zero()
    shown = op2.solve(
        apply, system.x, system.b, ksp_type=ksp_type, pc_type="none", ksp_monitor=True
    )
    assert len(shown.history) >= (3 if ksp_type == "gmres" else shown.n_iterations)
