# SPDX-License-Identifier: BSD-3-Clause
"""Block Jacobi and patches: preconditioners by inverses of dense blocks."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy.sparse")
hypothesis = importlib.import_module("hypothesis")

from hypothesis import strategies as st  # noqa: E402

from pyop2cxx import op2  # noqa: E402
from pyop2cxx.algebra.block_inverses import Blocks  # noqa: E402
from pyop2cxx.algebra.own_krylov import rows_of  # noqa: E402
from pyop2cxx.exceptions import ConvergenceError, SolverOptionError  # noqa: E402

pytestmark = pytest.mark.usefixtures("exits")


def make_system(n_cells: int, arity: int, dim: int, seed: int = 0) -> tuple[op2.Mat, op2.Dat]:
    """A dominant matrix of cells with dofs of their own in any order, coupled by edges."""
    random = np.random.default_rng(seed)
    cells, dofs = op2.Set(n_cells), op2.Set(n_cells * arity)
    own = random.permutation(n_cells * arity).reshape(n_cells, arity)
    edges = op2.Set(n_cells - 1)
    c2d = op2.Map(cells, dofs, arity, own)
    e2d = op2.Map(edges, dofs, 2 * arity, np.concatenate([own[:-1], own[1:]], axis=1))
    dset = dofs**dim
    mat = op2.Mat(op2.Sparsity((dset, dset), [(c2d, c2d, None), (e2d, e2d, None)]), name="A")
    for rows in e2d.values:
        block = random.standard_normal((rows.size * dim,) * 2)
        mat.addto_values(rows, rows, block + block.T + 20 * np.sqrt(arity) * np.eye(len(block)))
    mat.assemble()
    return mat, op2.Dat(dset, random.standard_normal((dofs.size, dim)))


def inverse_of(A: op2.Mat, **options: Any) -> Any:
    """The sum of the inverses as a dense matrix."""
    found = Blocks(A, {"pc_dtype": "", "pc_patches": None, **options}).inverse(rows_of(A))
    dense = np.zeros((A.nrows, A.nrows))
    for row in range(A.nrows):
        for run in range(found.offsets[row], found.offsets[row + 1]):
            first = found.columns[run]
            values = found.values[run * found.width : (run + 1) * found.width]
            dense[row, first : first + found.width] += values
    return dense


@hypothesis.settings(max_examples=25, deadline=None)
@hypothesis.given(st.integers(2, 5), st.integers(1, 4), st.integers(1, 3), st.integers(0, 99))
def test_the_blocks_are_those_of_cells(n: int, arity: int, dim: int, seed: int) -> None:
    A, _ = make_system(n, arity, dim, seed)
    cell_dofs = A.sparsity.given[0, 0][0][0].values
    expected = np.zeros((A.nrows, A.nrows))
    for rows in cell_dofs:
        at = (rows[:, None] * dim + np.arange(dim)).reshape(-1)
        expected[np.ix_(at, at)] = np.linalg.inv(A.values[np.ix_(at, at)])
    assert np.allclose(inverse_of(A, pc_type="bjacobi"), expected, atol=1e-12)


def test_blocks_of_nodes_where_cells_share_dofs() -> None:
    A, _ = make_system(4, 1, 3)
    e2d = A.sparsity.given[0, 0][1][0]
    shared = op2.Mat(op2.Sparsity(A.sparsity.dsets, [(e2d, e2d, None)]))
    for rows in e2d.values:
        shared.addto_values(rows, rows, np.kron(np.eye(2), 2 * np.eye(3) + np.ones((3, 3))))
    shared.assemble()
    blocks = [np.linalg.inv(shared.values[3 * i : 3 * i + 3, 3 * i : 3 * i + 3]) for i in range(4)]
    found = inverse_of(shared, pc_type="bjacobi")
    for i, block in enumerate(blocks):
        assert np.allclose(found[3 * i : 3 * i + 3, 3 * i : 3 * i + 3], block)
    assert np.count_nonzero(found) == 36


@hypothesis.settings(max_examples=25, deadline=None)
@hypothesis.given(
    st.lists(st.sets(st.integers(0, 7), max_size=5), min_size=1, max_size=6), st.integers(1, 2)
)
def test_patches_overlap_and_others_are_apart(patches: list[set[int]], dim: int) -> None:
    A, _ = make_system(4, 2, dim)
    dofs = A.sparsity.dsets[0].set
    rows = [sorted(one) for one in patches]
    to_dofs = op2.RaggedMap(op2.Set(len(rows)), dofs, rows)
    covered = set().union(*patches)
    expected = np.zeros((A.nrows, A.nrows))
    for one in [*filter(None, rows), *([i] for i in range(8) if i not in covered)]:
        at = (np.array(one)[:, None] * dim + np.arange(dim)).reshape(-1)
        expected[np.ix_(at, at)] += np.linalg.inv(A.values[np.ix_(at, at)])
    found = inverse_of(A, pc_type="patch", pc_patches=to_dofs)
    assert np.allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("package", ["own", "scipy"])
@pytest.mark.parametrize("ksp_type", ["cg", "gmres", "bicgstab"])
@pytest.mark.parametrize("pc_dtype", ["", "float32"])
@pytest.mark.parametrize("pc_type", ["bjacobi", "patch"])
def test_solves(package: str, ksp_type: str, pc_dtype: str, pc_type: str) -> None:
    A, b = make_system(40, 4, 2)
    x = op2.Dat(b.dataset)
    patches = A.sparsity.given[0, 0][1][0] if pc_type == "patch" else None
    how = {"package": package, "ksp_type": ksp_type, "pc_dtype": pc_dtype, "ksp_rtol": 1e-10}
    went = op2.solve(A, x, b, pc_type=pc_type, pc_patches=patches, **how)
    assert went.converged
    assert np.allclose(A.values @ x.data_ro.reshape(-1), b.data_ro.reshape(-1), atol=1e-7)
    plain = op2.Dat(b.dataset)
    others = op2.solve(A, plain, b, pc_type="none", **how)
    assert went.n_iterations <= others.n_iterations


def test_the_inverses_follow_the_matrix() -> None:
    A, b = make_system(6, 3, 1)
    solver = op2.Solver(pc_type="bjacobi", ksp_rtol=1e-12)
    for factor in (1.0, 5.0):
        x = op2.Dat(b.dataset)
        A *= factor
        solver.solve(A, x, b)
        assert np.allclose(A.values @ x.data_ro.reshape(-1), b.data_ro.reshape(-1), atol=1e-9)
    assert solver.convergence is not None
    assert solver.convergence.n_iterations < 15


def test_a_matrix_of_blocks_is_solved_at_once() -> None:
    A, b = make_system(6, 3, 2)
    c2d = A.sparsity.given[0, 0][0][0]
    alone = op2.Mat(op2.Sparsity(A.sparsity.dsets, [(c2d, c2d, None)]))
    for rows in c2d.values:
        at = (rows[:, None] * 2 + np.arange(2)).reshape(-1)
        alone.addto_values(rows, rows, A.values[np.ix_(at, at)])
    alone.assemble()
    x = op2.Dat(b.dataset)
    op2.solve(alone, x, b, ksp_type="preonly", pc_type="bjacobi")
    assert np.allclose(alone.values @ x.data_ro.reshape(-1), b.data_ro.reshape(-1), atol=1e-12)


def test_another_matrix_gives_the_blocks() -> None:
    A, b = make_system(10, 3, 1)
    P = op2.Mat(A.sparsity, "float32", compute="float64")
    for rows in A.sparsity.given[0, 0][0][0].values:
        P.addto_values(rows, rows, A.values[np.ix_(rows, rows)])
    P.assemble()
    x = op2.Dat(b.dataset)
    op2.solve(A, x, b, P=P, pc_type="bjacobi", ksp_rtol=1e-12)
    assert np.allclose(A.values @ x.data_ro.reshape(-1), b.data_ro.reshape(-1), atol=1e-9)


class TestRefusals:
    def test_a_singular_block_is_named(self) -> None:
        A, b = make_system(4, 2, 1)
        rows = np.sort(A.sparsity.given[0, 0][0][0].values[2])
        A.set_values(rows, rows, np.ones((2, 2)))
        A.assemble()
        x = op2.Dat(b.dataset, 1.0)
        with pytest.raises(ConvergenceError, match=r"the block of rows \d, \d is singular"):
            op2.solve(A, x, b, pc_type="bjacobi")
        assert (x.data_ro == 1).all()

    def test_options(self) -> None:
        A, b = make_system(3, 2, 1)
        x = op2.Dat(b.dataset)
        with pytest.raises(SolverOptionError, match="pc_patches, a Map to 'set"):
            op2.solve(A, x, b, pc_type="patch")
        elsewhere = op2.Map(op2.Set(1), op2.Set(6), 2, [[0, 1]])
        with pytest.raises(SolverOptionError, match="pc_patches, a Map to"):
            op2.solve(A, x, b, pc_type="patch", pc_patches=elsewhere)
        with pytest.raises(SolverOptionError, match="must be a Map to the dofs of patches"):
            op2.solve(A, x, b, pc_type="patch", pc_patches=[[0, 1]])
        with pytest.raises(SolverOptionError, match="'pc_dtype' must be one of"):
            op2.solve(A, x, b, pc_type="bjacobi", pc_dtype="float16")
        with pytest.raises(SolverOptionError, match="for packages 'own' and 'scipy'"):
            op2.solve(A, x, b, pc_type="bjacobi", package="petsc")
        with pytest.raises(SolverOptionError, match="needs a matrix"):
            op2.solve(lambda x, y: None, x, b, pc_type="bjacobi")
        with pytest.raises(SolverOptionError, match="applies the preconditioner once"):
            op2.Solver(ksp_type="preonly", pc_type="patch")
