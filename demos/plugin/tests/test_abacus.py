# SPDX-License-Identifier: BSD-3-Clause
"""Tests on each backend of the machine, of the solver, and of the library."""

import numpy as np

from pyop2cxx import op2

N = 6


def test_a_sum_over_edges(op2_backend: str) -> None:
    """The fixture runs the test once on each backend."""
    nodes, edges = op2.Set(N), op2.Set(N - 1)
    ends = op2.Map(edges, nodes, 2, [[i, i + 1] for i in range(N - 1)])
    degree = op2.Dat(nodes)
    count = op2.Kernel("void count(double *d) { d[0] += 1; d[1] += 1; }", "count")
    loop = op2.ParLoop(count, edges, degree(op2.INC, ends))
    assert any(f"_{op2_backend}_" in name for name in loop.generate().files)
    loop.compute()
    assert degree.data_ro.tolist() == [1, 2, 2, 2, 2, 1]


def test_the_solver_is_found_by_name() -> None:
    """The name of the entry point is the name of the package."""
    nodes, edges = op2.Set(N), op2.Set(N - 1)
    ends = op2.Map(edges, nodes, 2, [[i, i + 1] for i in range(N - 1)])
    matrix = op2.Mat(op2.Sparsity((nodes**1, nodes**1), [(ends, ends, None)]))
    kernel = op2.Kernel(
        "void add(double A[4]) { A[0] += 2; A[1] -= 1; A[2] -= 1; A[3] += 2; }", "add"
    )
    op2.par_loop(kernel, edges, matrix(op2.INC, (ends, ends)))
    exact = np.arange(1.0, N + 1)
    x, b = op2.Dat(nodes), op2.Dat(nodes, matrix.values @ exact)
    went = op2.solve(matrix, x, b, package="abacus", ksp_rtol=1e-12)
    assert went.converged
    assert went.n_iterations > 3
    assert np.allclose(x.data_ro, exact)


def test_the_library_is_added_by_name() -> None:
    """The first call asks the library; later ones take turns with pyop2cxx."""
    op2.init(backend="sequential")
    op2.dispatch.add_library("abacus")
    x = op2.Dat(op2.Set(N), np.arange(float(N)))
    assert x.dot(x) == 55.0
    z = op2.Dat(op2.Set(N), np.arange(N) * 1j)
    assert z.inner(z) == 55.0
    rows = [row for row in op2.dispatch.report() if row.provider == "library"]
    assert {(row.loop, row.strategy) for row in rows} == {
        ("dot of float64", "abacus"),
        ("dot of complex128", "abacus"),
    }
    op2.exit()
