# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.base import extras
from pyop2cxx.exceptions import ContractError, MissingExtraError
from pyop2cxx.interop import petsc

HAS_PETSC = extras.installed()["petsc4py"]


def test_a_missing_petsc_is_named() -> None:
    if HAS_PETSC:
        pytest.skip("petsc4py is installed")
    dat = op2.Dat(op2.Set(3))
    with (
        pytest.raises(MissingExtraError, match=r"needs petsc4py.*pyop2cxx\[petsc\]"),
        petsc.vector(dat, read=True, write=True),
    ):
        pass


needs_petsc = pytest.mark.skipif(not HAS_PETSC, reason="petsc4py is not installed")


@needs_petsc
def test_vectors_share_memory() -> None:
    dat = op2.Dat(op2.Set(3) ** 2, np.arange(6.0).reshape(3, 2))
    version = dat.dat_version
    with petsc.vector(dat, read=True, write=True) as vec:
        assert vec.getBlockSize() == 2
        vec.scale(2)
    assert dat.dat_version == version + 1
    np.testing.assert_array_equal(dat.data_ro, 2 * np.arange(6.0).reshape(3, 2))
    with (
        pytest.raises(ContractError, match="this PETSc computes with"),
        petsc.vector(op2.Dat(op2.Set(3), dtype=np.int32), read=True, write=False),
    ):
        pass


@needs_petsc
def test_only_what_changes_counts_as_a_write() -> None:
    cells = op2.Set(3)
    dat = op2.Dat(cells, [1.0, 2.0, 3.0])
    version = dat.dat_version
    with dat.vec_wo, dat.vec:
        pass
    assert dat.dat_version == version
    with dat.vec as vec:
        vec.array[0] = 5
    assert (dat.dat_version, dat.data_ro[0]) == (version + 1, 5)
    zeros = op2.Dat(cells)  # loops know that these are zeros, so they must be told
    with zeros.vec as vec:
        shown = vec.array
    shown[:] = 7
    assert zeros.dat_version == 1
    assert zeros.data_ro.tolist() == [7, 7, 7]


@needs_petsc
def test_a_mixed_vector_to_be_overwritten_shows_what_the_last_one_held() -> None:
    both = op2.MixedDat((op2.Dat(op2.Set(1), [1.0]), op2.Dat(op2.Set(2), [2.0, 3.0])))
    with both.vec_ro as vec:
        assert vec.array_r.tolist() == [1, 2, 3]
    both[0].data[:] = 0
    with both.vec_wo as vec:
        assert vec.array_r.tolist() == [1, 2, 3]
        vec.array[:] = [4, 5, 6]
    assert [field.data_ro.tolist() for field in both] == [[4], [5, 6]]


@needs_petsc
@pytest.mark.parametrize("dim", [1, 2])
def test_matrices_share_memory_or_copy_blocks(dim: int) -> None:
    nodes = op2.Set(3)
    identity = op2.Map(nodes, nodes, 1, [0, 1, 2])
    mat = op2.Mat(op2.Sparsity((nodes**dim, nodes**dim), identity))
    handle = mat.handle
    mat.set_local_diagonal_entries([0, 1, 2], 3.0)
    if dim == 2:
        mat.array[1] = 5
        handle = mat.handle
    handle.assemble()
    np.testing.assert_array_equal(handle[:, :], mat.values)


@needs_petsc
def test_mixed_matrices_are_nests_and_rectangular_blocks_are_copied() -> None:
    cells, nodes = op2.Set(2), op2.Set(3)
    c2n, c2c = op2.Map(cells, nodes, 2, [0, 1, 1, 2]), op2.Map(cells, cells, 1, [0, 1])
    both, dset = op2.MixedMap((c2n, c2c)), op2.MixedDataSet((nodes, cells), (2, 1))
    mat = op2.Mat(op2.Sparsity((dset, dset), [(both, both, None)]))
    for n, block in enumerate(mat):
        block.array[:] = np.arange(block.array.size) + n
    handle = mat.handle
    assert handle.getType() == "nest"
    handle.convert("aij")
    np.testing.assert_array_equal(handle[:, :], mat.values)
    whole = op2.Mat(op2.Sparsity((dset, dset), [(both, both, None)], nest=False))
    whole[1, 0].array[:] = 3
    assert whole.handle.getType() == "seqaij"
    np.testing.assert_array_equal(whole.handle[:, :], whole.values)
