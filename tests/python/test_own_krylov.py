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


@pytest.mark.parametrize("dim", [1, 2, 3])
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
