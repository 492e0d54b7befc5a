# SPDX-License-Identifier: BSD-3-Clause
"""Conjugate gradients of our own against SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import ConvergenceError, SolverOptionError
from pyop2cxx.mesh import square_mesh


def system(n: int, dim: int, dtype: str = "float64") -> tuple[op2.Mat, op2.Dat, op2.Dat]:
    """A graph Laplacian plus one on the diagonal, with coupled components."""
    mesh = square_mesh(n)
    c2v, nodes = mesh.cell_vertices, mesh.vertices**dim
    mat = op2.Mat(op2.Sparsity((nodes, nodes), [(c2v, c2v, None)]), dtype)
    width = 3 * dim
    c_type = {"float64": "double", "float32": "float"}[dtype]
    text = f"""
    void k({c_type} *A) {{
      for (int i = 0; i < {width}; ++i)
        for (int j = 0; j < {width}; ++j) A[i * {width} + j] += i == j ? {width} : -0.9;
    }}
    """
    op2.par_loop(op2.Kernel(text, "k"), mesh.cells, mat(op2.INC, (c2v, c2v)))
    b = op2.Dat(nodes, np.random.default_rng(5).random((mesh.vertices.size, dim)).astype(dtype))
    return mat, op2.Dat(nodes, dtype=dtype), b


@pytest.mark.parametrize("dim", [1, 2, 3, 4])
@pytest.mark.parametrize("pc_type", ["none", "jacobi"])
def test_it_finds_what_scipy_finds(dim: int, pc_type: str) -> None:
    mat, x, b = system(20, dim)
    steps: dict[str, Any] = {}
    found = {}
    for package in ("own", "scipy"):
        x.zero()
        options = {"pc_type": pc_type, "ksp_rtol": 1e-11, "ksp_monitor": True}
        steps[package] = op2.solve(mat, x, b, package=package, **options)
        found[package] = x.data_ro.copy()
    assert np.allclose(found["own"], found["scipy"], rtol=0, atol=1e-9 * abs(found["own"]).max())
    own, scipy = steps["own"], steps["scipy"]
    assert own.reason == scipy.reason == "CONVERGED_RTOL"
    assert abs(own.n_iterations - scipy.n_iterations) <= 1
    assert np.allclose(own.history[:5], scipy.history[:5])


def test_it_does_the_same_on_any_number_of_threads() -> None:
    mat, x, b = system(60, 1)
    found = []
    for threads in (1, 2, 3):
        op2.configuration["threads"] = threads
        try:
            x.zero()
            op2.solve(mat, x, b, ksp_rtol=1e-10, package="own")
            found.append(x.data_ro.copy())
        finally:
            op2.configuration["threads"] = 0
    assert all(np.array_equal(one, found[0]) for one in found)


@pytest.mark.parametrize("ksp_type", ["cg", "gmres", "bicgstab"])
@pytest.mark.parametrize("pc_type", ["none", "jacobi", "ilu"])
@pytest.mark.parametrize("dim", [1, 3])
def test_each_method_and_preconditioner(ksp_type: str, pc_type: str, dim: int) -> None:
    mat, x, b = system(40, dim)
    found = []
    for threads in (1, 3):
        op2.configuration["threads"] = threads
        try:
            x.zero()
            op2.solve(mat, x, b, ksp_type=ksp_type, pc_type=pc_type, ksp_rtol=1e-11, package="own")
            found.append(x.data_ro.copy())
        finally:
            op2.configuration["threads"] = 0
    np.testing.assert_array_equal(found[0], found[1])
    left = mat.to_scipy() @ found[0].reshape(-1)
    right = b.data_ro.reshape(-1)
    assert np.linalg.norm(left - right) <= 1.01e-11 * np.linalg.norm(right)


@pytest.mark.parametrize("pc_type", ["none", "jacobi", "ilu"])
@pytest.mark.parametrize("nest", [True, False])
def test_mixed_matrices_and_those_of_globals(pc_type: str, nest: bool) -> None:
    mesh = square_mesh(5)
    g = op2.Global(1)
    dset = op2.MixedDataSet((mesh.vertices**2, mesh.cells**1, op2.GlobalDataSet(g)))
    own = op2.Map(mesh.cells, mesh.cells, 1, range(mesh.cells.size))
    maps = op2.MixedMap((mesh.cell_vertices, own, None))
    mat = op2.Mat(op2.Sparsity((dset, dset), [(maps, maps, None)], nest=nest))
    text = "void k(double *A) { for (int i = 0; i < 64; ++i) A[i] += i % 9 ? -0.1 : 3; }"
    op2.par_loop(op2.Kernel(text, "k"), mesh.cells, mat(op2.INC, (maps, maps)))
    mat.assemble()
    x, b = op2.MixedDat(dset), op2.MixedDat(dset)
    for n, part in enumerate(b.split):
        part.data[...] = n + 1
    for ksp_type in ("cg", "gmres", "bicgstab"):
        x.zero()
        op2.solve(mat, x, b, ksp_type=ksp_type, pc_type=pc_type, ksp_rtol=1e-11, package="own")
        for left, right in zip((mat * x).split, b.split, strict=True):
            np.testing.assert_allclose(left.data_ro, right.data_ro, atol=1e-8)


def test_a_pivot_of_zero_is_named() -> None:
    nodes = op2.Set(2)
    both = op2.Map(op2.Set(1), nodes, 2, [0, 1])
    mat = op2.Mat(op2.Sparsity((nodes, nodes), [(both, both, None)]))
    mat.set_values([0, 1], [0, 1], [[0.0, 1.0], [1.0, 0.0]])
    x, b = op2.Dat(nodes), op2.Dat(nodes, [1.0, 2.0])
    with pytest.raises(ConvergenceError, match=r"the pivot of row 0 is 0 .*package='scipy'"):
        op2.solve(mat, x, b, ksp_type="gmres", pc_type="ilu")
    assert op2.solve(mat, x, b, ksp_type="gmres", pc_type="ilu", package="scipy").converged


def test_it_is_the_default_where_it_is_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    mat, x, b = system(4, 1)
    monkeypatch.setattr("pyop2cxx.algebra.libraries.scipy", lambda what: pytest.fail("SciPy"))
    assert op2.solve(mat, x, b).converged
    single, x32, b32 = system(4, 1, "float32")
    with pytest.raises(SolverOptionError, match="package 'own' solves by ksp_type 'cg'"):
        op2.solve(single, x32, b32, package="own")
    with pytest.raises(SolverOptionError, match="package 'own'"):
        op2.solve(mat, x, b, package="own", pc_type="lu")


def test_it_starts_from_the_guess_and_stops_at_limits() -> None:
    mat, x, b = system(10, 1)
    op2.solve(mat, x, b, ksp_rtol=1e-13)
    solution = x.data_ro.copy()
    assert op2.solve(mat, x, b, ksp_rtol=1e-9).n_iterations == 0
    assert np.array_equal(x.data_ro, solution)
    again = op2.solve(mat, x, b, ksp_rtol=1e-9, ksp_initial_guess_nonzero=False)
    assert again.n_iterations > 3
    x.zero()
    with pytest.raises(ConvergenceError, match="DIVERGED_MAX_IT after 2 iterations"):
        op2.solve(mat, x, b, ksp_rtol=1e-9, ksp_max_it=2)
    assert not x.data_ro.any()
    assert op2.solve(mat, x, b, ksp_atol=1e-3, ksp_rtol=0.0).reason == "CONVERGED_ATOL"
