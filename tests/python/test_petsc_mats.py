# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.base import extras
from pyop2cxx.exceptions import UnsupportedError

needs_petsc = pytest.mark.skipif(
    not extras.installed()["petsc4py"], reason="petsc4py is not installed"
)


@needs_petsc
@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("block_sparse", [True, False])
def test_the_matrix_is_one_and_follows_the_values(dim: int, block_sparse: bool) -> None:
    cells, nodes = op2.Set(2), op2.Set(3)
    c2n = op2.Map(cells, nodes, 2, [0, 1, 1, 2])
    dset = nodes**dim
    mat = op2.Mat(op2.Sparsity((dset, dset), c2n, block_sparse=block_sparse))
    handle = mat.handle
    assert handle.getType() == ("seqbaij" if dim == 2 and block_sparse else "seqaij")
    assert handle.getBlockSizes() == (dim, dim)
    assert [one.getBlockSize() for one in handle.getLGMap()] == [dim, dim]
    assert handle.norm() == 0
    mat.array[:] = np.arange(mat.array.size)
    assert mat.handle is handle
    np.testing.assert_array_equal(handle[:, :], mat.values)
    assert handle.norm() == pytest.approx(np.linalg.norm(mat.values))
    mat.set_local_diagonal_entries([0, 1, 2], 30.0)
    mat.assemble()  # without asking for the handle
    np.testing.assert_array_equal(handle[:, :], mat.values)
    handle.scale(2)
    mat.assemble()
    assert mat.values[0, 0] == 60
    np.testing.assert_array_equal(handle[:, :], mat.values)
    mat.zero()
    assert mat.handle.norm() == 0
    mat.set_local_diagonal_entries([1], 7.0)
    np.testing.assert_array_equal(mat.handle[:, :], mat.values)
    held = mat.array
    mat.zero()
    held[0] = 5.0
    assert mat.handle[0, 0] == mat.values[0, 0] == 5.0
    if dim == 2:  # values of scalars are shared
        mat.zero()
        handle.shift(2.0)  # of the older values, which the zeros replace
        assert mat.handle.norm() == 0


@needs_petsc
@pytest.mark.parametrize("nest", [True, False])
def test_mixed_matrices_follow_their_blocks(nest: bool) -> None:
    cells, nodes = op2.Set(2), op2.Set(3)
    c2n, c2c = op2.Map(cells, nodes, 2, [0, 1, 1, 2]), op2.Map(cells, cells, 1, [0, 1])
    both, dset = op2.MixedMap((c2n, c2c)), op2.MixedDataSet((nodes, cells), (2, 1))
    mat = op2.Mat(op2.Sparsity((dset, dset), [(both, both, None)], nest=nest))
    handle = mat.handle
    assert handle.getType() == ("nest" if nest else "seqaij")
    assert handle.copy().convert("aij").norm() == 0
    for n, block in enumerate(mat):
        block.array[:] = np.arange(block.array.size) + n
    assert mat.handle is handle
    np.testing.assert_array_equal(handle.copy().convert("aij")[:, :], mat.values)
    np.testing.assert_array_equal(mat[1, 0].handle[:, :], mat[1, 0].values)
    assert mat[1, 0].handle is mat[1, 0].handle
    if nest:
        assert mat[0, 0].local_to_global_maps == mat.local_to_global_maps == (None, None)
        rows, _ = handle.getNestISs()
        assert [one.indices.tolist() for one in rows] == [list(range(6)), [6, 7]]
        assert handle.getNestSubMatrix(0, 1).handle == mat[0, 1].handle.handle
    else:
        masks = mat[0, 1].local_to_global_maps
        assert [one.getBlockSize() for one in masks] == [2, 1]
        assert [one.block_indices.tolist() for one in masks] == [list(range(6)), [0, 1]]
        handle.scale(2)
        mat.assemble()
        np.testing.assert_array_equal(handle[:, :], mat.values)
        mat[0, 1].zero()
        np.testing.assert_array_equal(mat.handle[:, :], mat.values)
        assert mat.handle.norm() > 0
    mat.zero()
    assert mat.handle.copy().convert("aij").norm() == 0
    mat[1, 1].array[0] = 3.0
    np.testing.assert_array_equal(mat.handle.copy().convert("aij")[:, :], mat.values)


@needs_petsc
def test_another_type_of_matrix_is_refused() -> None:
    dset = op2.Set(3) ** 1
    sparsity = op2.Sparsity((dset, dset), op2.Map(dset.set, dset.set, 1, [0, 1, 2]))
    assert op2.Mat(sparsity, mat_type="aij").handle.getType() == "seqaij"
    with pytest.raises(UnsupportedError, match=r"mat_type must be one of .*, got 'sell'"):
        op2.Mat(sparsity, mat_type="sell")


@needs_petsc
@pytest.mark.parametrize("is_mixed", [False, True])
def test_dense_matrices_follow_the_values(is_mixed: bool) -> None:
    cells, nodes = op2.Set(2), op2.Set(3)
    c2n, c2c = op2.Map(cells, nodes, 2, [0, 1, 1, 2]), op2.Map(cells, cells, 1, [0, 1])
    dset: Any = nodes**2
    path: Any = c2n
    if is_mixed:
        path, dset = op2.MixedMap((c2n, c2c)), op2.MixedDataSet((nodes, cells), (2, 1))
    sparsity = op2.Sparsity((dset, dset), [(path, path, None)], nest=False)
    mat = op2.Mat(sparsity, mat_type="dense")
    assert mat.handle.getType() == "seqdense"
    for n, block in enumerate(mat):
        block.array[:] = np.arange(block.array.size) + n
    mat.assemble()
    np.testing.assert_array_equal(mat.handle[:, :], mat.values)
    before = mat.values
    mat.handle.scale(2)
    mat.assemble()
    np.testing.assert_array_equal(mat.values, 2 * before)


PAYLOADS = """
import numpy as np
import pyop2cxx.pyop2
pyop2cxx.pyop2.install(replace=True)
from pyop2 import op2
from pyop2.types.mat import _DatMatPayload, _GlobalMatPayload
cells, nodes = op2.Set(2), op2.Set(3)
c2n = op2.Map(cells, nodes, 2, [0, 1, 1, 2])
row, col = (nodes ** 1), op2.GlobalDataSet(op2.Global(1))
mat = op2.Mat(op2.Sparsity((row, col), {(0, 0): [(c2n, None, None)]}))
context = mat.handle.getPythonContext()
assert isinstance(context, _DatMatPayload) and mat.handle.getSizes() == ((3, 3), (1, 1))
text = "void f(double *x) { x[0] += 1; x[1] += 1; }"
with op2.backend("sequential"):
    op2.par_loop(op2.Kernel(text, "f"), cells, context.dat(op2.INC, c2n))
print(mat.values.tolist(), mat.handle.getPythonContext() is context)
mat.zero()
print(context.dat.data_ro.tolist())
alone = op2.Mat(op2.Sparsity((col, col), {(0, 0): [(None, None, None)]}))
print(isinstance(alone.handle.getPythonContext(), _GlobalMatPayload))
both = op2.MixedDataSet((nodes, op2.GlobalDataSet(op2.Global(1))))
nest = op2.Mat(op2.Sparsity((both, both), {(0, 0): [(c2n, c2n, None)]}, nest=True))
print([block.handle.getSizes()[0][0] for block in nest])
held = op2.Set(3, constrained_size=1)
c2h = op2.Map(cells, held, 2, [0, 1, 1, 2])
cut = op2.Mat(op2.Sparsity((held ** 2, nodes ** 1), [(c2h, c2n, None)]))
print(cut.nrows, cut.values.shape)
"""


@needs_petsc
@pytest.mark.pyop2
def test_under_pyop2_a_column_is_a_matrix_around_a_dat() -> None:
    environment = {**os.environ, "PYTHONPATH": ":".join(sys.path), "PYOP2CXX_BACKEND": "sequential"}
    done = subprocess.run(
        [sys.executable, "-c", PAYLOADS],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = ["[[1.0], [2.0], [1.0]] True", "[0.0, 0.0, 0.0]", "True", "[3, 3, 1, 1]", "4 (4, 3)"]
    assert done.stdout.splitlines() == lines, done.stderr


@needs_petsc
@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("kind", ["plain", "nest", "joined"])
def test_matrices_are_without_constrained_entities(dim: int, kind: str) -> None:
    cells, nodes = op2.Set(2), op2.Set(4, constrained_size=1)
    c2n, c2c = op2.Map(cells, nodes, 3, [0, 1, 3, 1, 2, 3]), op2.Map(cells, cells, 1, [0, 1])
    path, dset, free = (c2n, c2n), nodes**dim, [*range(3 * dim)]
    if kind != "plain":
        both, dset = op2.MixedMap((c2n, c2c)), op2.MixedDataSet((nodes, cells), (dim, 1))
        path, free = (both, both), [*free, 4 * dim, 4 * dim + 1]
    mat = op2.Mat(op2.Sparsity((dset, dset), [(*path, None)], nest=kind == "nest"))
    for n, block in enumerate(mat):
        block.array[:] = np.arange(block.array.size) + n + 1
    shown = mat.handle.copy().convert("aij")
    np.testing.assert_array_equal(shown[:, :], mat.values[np.ix_(free, free)])
    if kind != "nest":
        before = mat.values
        mat.handle.scale(2)
        mat.assemble()
        wanted = before.copy()
        wanted[np.ix_(free, free)] *= 2
        np.testing.assert_array_equal(mat.values, wanted)
