# SPDX-License-Identifier: BSD-3-Clause
"""Matrices of PETSc with rows on several processes."""

from __future__ import annotations

import pytest
from on_ranks import outputs

from pyop2cxx.base import extras

pytestmark = pytest.mark.skipif(
    not (extras.installed()["mpi4py"] and extras.installed()["petsc4py"]),
    reason="mpi4py or petsc4py is not installed",
)

PETSC = """
from mpi4py import MPI
from petsc4py import PETSc
op2.init(comm=MPI.COMM_WORLD, backend="sequential")
n, said = MPI.COMM_WORLD.size, []
for seed, dim in enumerate((1, 2, 1, 3)):
    random = np.random.default_rng(seed)
    cells, nodes = op2.Set(14, "cells"), op2.Set(15, "nodes")
    ends = op2.Map(cells, nodes, 2, [[i, i + 1] for i in range(14)], "ends")
    A = op2.Mat(op2.Sparsity((nodes**dim, nodes**dim), [(ends, ends, None)]), name="A")
    x, b = op2.Dat(nodes**dim, name="x"), op2.Dat(nodes**dim, random.random((15, dim)), name="b")
    where = np.random.default_rng([seed, n]).integers(0, max(n - (seed == 2), 1), 14)
    op2.distribute(cells, where)
    k = 2 * dim
    text = (f"void k(double *A) {{ for (int i = 0; i < {k}; i++) for (int j = 0; j < {k}; j++)"
            f" A[i * {k} + j] += i == j ? 2 : i % {dim} == j % {dim} ? -0.9 : 0.01 * (i + j); }}")
    for turn in range(2):
        op2.par_loop(op2.Kernel(text, "k"), cells, A(op2.INC, (ends, ends)))
        A.assemble()
        M = A.handle
        assert M.getType() == ("mpiaij" if n > 1 else M.getType())
        assert M.getSize() == (15 * dim, 15 * dim), M.getSize()
        assert M.getLocalSize() == (nodes.size * dim, nodes.size * dim)
        v, w = M.createVecs()
        v.setArray(b.data_ro.reshape(-1))
        M.mult(v, w)
        y = A @ b
        assert np.allclose(w.getArray(), y.data_ro.reshape(-1), rtol=1e-12, atol=0)
        said += [M.norm(), w.norm()]
        for method, kind in (("cg", "jacobi"), ("gmres", "none"), ("cg", "ilu"), ("preonly", "lu"),
                             ("bicgstab", "amg" if dim == 1 else "none")):
            x.zero()
            went = op2.solve(A, x, b, package="petsc", ksp_type=method, pc_type=kind,
                             ksp_rtol=1e-12)
            assert went.converged
            said += [x.norm, went.n_iterations * (kind == "jacobi")]
A.zero()
x.data[...] = 1
try:
    op2.solve(A, x, b, package="petsc", ksp_type="cg", pc_type="none", ksp_max_it=3)
except Exception as error:
    said.append(type(error).__name__)
for one in said:
    print(one if isinstance(one, str) else f"{one * (1 + 1e-9):.7e}")
"""


def test_matrices_of_petsc_are_as_on_one() -> None:
    usual = outputs(PETSC, 1)
    for n in (2, 3, 4):
        assert outputs(PETSC, n) == sorted(usual * n)
