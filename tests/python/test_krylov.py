# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx.algebra import krylov, libraries
from pyop2cxx.algebra.preconditioners import Kept, NotFactorised
from pyop2cxx.algebra.solvers import DEFAULTS
from pyop2cxx.base import extras
from pyop2cxx.exceptions import SolverOptionError

if TYPE_CHECKING:
    from pyop2cxx.algebra.convergence import Convergence

sparse = pytest.importorskip("scipy.sparse")

N = 30


def path() -> Any:
    return sparse.diags_array(
        [-np.ones(N - 1), 2.1 * np.ones(N), -np.ones(N - 1)], offsets=[-1, 0, 1]
    ).tocsr()


def solved(operator: Any, **options: Any) -> tuple[Any, Convergence]:
    rhs = np.linspace(1, 2, N)
    return krylov.solve(
        libraries.scipy("a test"), operator, rhs, np.zeros(N), {**DEFAULTS, **options}, Kept()
    )


@pytest.mark.parametrize("ksp_type", ["cg", "gmres", "bicgstab"])
@pytest.mark.parametrize("pc_type", ["none", "jacobi", "ilu", "lu"])
def test_residuals_fall_below_the_tolerance(ksp_type: str, pc_type: str) -> None:
    found, went = solved(path(), ksp_type=ksp_type, pc_type=pc_type, ksp_rtol=1e-9)
    assert went.converged
    norm = np.linalg.norm(np.linspace(1, 2, N))
    assert np.linalg.norm(path() @ found - np.linspace(1, 2, N)) <= 1e-8 * norm
    assert went.history[0] == pytest.approx(norm)
    assert went.n_iterations <= N


@pytest.mark.parametrize("pc_type", ["none", "jacobi"])
@pytest.mark.parametrize("n", [1, 4, 7, 13])
def test_gmres_takes_as_many_steps_as_it_may(n: int, pc_type: str) -> None:
    options = {"ksp_type": "gmres", "pc_type": pc_type, "ksp_gmres_restart": 5, "ksp_rtol": 1e-12}
    operator, rhs = path(), np.linspace(1, 2, N)
    found, went = solved(operator, ksp_max_it=n, **options)
    assert (went.reason, went.n_iterations) == ("DIVERGED_MAX_IT", n)
    # the least residual of a Krylov space of so many dimensions, begun anew after each 5
    x, scale = np.zeros(N), 1 if pc_type == "none" else operator.diagonal()
    for taken in range(0, n, 5):
        residual = (rhs - operator @ x) / scale
        space = [residual]
        for _ in range(min(5, n - taken) - 1):
            space.append((operator @ space[-1]) / scale)
        basis = np.linalg.qr(np.transpose(space))[0]
        x += basis @ np.linalg.lstsq((operator @ basis) / np.reshape(scale, (-1, 1)), residual)[0]
    np.testing.assert_allclose(found, x, rtol=1e-8)


@pytest.mark.parametrize("ksp_type", ["cg", "gmres", "bicgstab"])
def test_steps_of_an_exact_preconditioner_are_counted(ksp_type: str) -> None:
    for most in (1, 100):
        went = solved(path(), ksp_type=ksp_type, pc_type="lu", ksp_rtol=1e-9, ksp_max_it=most)[1]
        assert (went.reason, went.n_iterations) == ("CONVERGED_RTOL", 1)
        assert went.history[-1] < 1e-9


def test_gmres_looks_at_the_residual_without_the_preconditioner() -> None:
    scale = sparse.diags_array(np.logspace(0, 8, N))
    operator = (scale @ path()).tocsr()
    options = {**DEFAULTS, "ksp_type": "gmres", "pc_type": "jacobi", "ksp_rtol": 1e-10}
    rhs = scale @ np.linspace(1, 2, N)
    found, went = krylov.solve(
        libraries.scipy("a test"), operator, rhs, np.zeros(N), options, Kept()
    )
    assert went.converged
    assert went.n_iterations <= 2 * N
    assert np.linalg.norm(operator @ found - rhs) <= 1e-10 * np.linalg.norm(rhs)


def test_a_guess_that_is_good_enough_is_kept() -> None:
    exact = np.linspace(0, 1, N)
    options = {**DEFAULTS, "ksp_rtol": 1e-9}
    library = libraries.scipy("a test")
    found, went = krylov.solve(library, path(), path() @ exact, exact.copy(), options, Kept())
    assert (went.reason, went.n_iterations) == ("CONVERGED_RTOL", 0)
    np.testing.assert_array_equal(found, exact)


def test_what_cannot_be_factorised_is_said() -> None:
    empty = sparse.csr_array((N, N))
    with pytest.raises(NotFactorised, match="singular") as caught:
        solved(empty, ksp_type="preonly", pc_type="lu")
    assert caught.value.args[0] == "lu"


def test_methods_that_a_library_lacks() -> None:
    library = libraries.Library(name="another", arrays=np, methods=np)
    with pytest.raises(SolverOptionError, match="another has no 'cg'"):
        krylov.solve(
            library, path(), np.ones(N), np.zeros(N), {**DEFAULTS, "pc_type": "none"}, Kept()
        )


@pytest.mark.skipif(not extras.installed()["pyamg"], reason="PyAMG is not installed")
def test_algebraic_multigrid_takes_few_steps() -> None:
    size = 60
    line = sparse.diags_array(
        [-np.ones(size - 1), 2 * np.ones(size), -np.ones(size - 1)], offsets=[-1, 0, 1]
    )
    grid = sparse.kronsum(line, line).tocsr()
    rhs = np.ones(size * size)
    library = libraries.scipy("a test")
    steps = {
        kind: krylov.solve(library, grid, rhs, 0 * rhs, {**DEFAULTS, "pc_type": kind}, Kept())[1]
        for kind in ("jacobi", "amg")
    }
    assert steps["amg"].converged
    assert steps["amg"].n_iterations * 4 < steps["jacobi"].n_iterations
