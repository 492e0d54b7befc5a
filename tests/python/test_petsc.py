# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import numpy as np
import pytest

from pyop2cxx import extras, op2, petsc
from pyop2cxx.exceptions import ContractError, MissingExtraError

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


@pytest.mark.skipif(not HAS_PETSC, reason="petsc4py is not installed")
def test_vectors_share_memory() -> None:
    dat = op2.Dat(op2.Set(3), np.arange(3.0))
    with petsc.vector(dat, read=True, write=True) as vec:
        vec.scale(2)
    np.testing.assert_array_equal(dat.data_ro, [0, 2, 4])
    with (
        pytest.raises(ContractError, match="this PETSc computes with"),
        petsc.vector(op2.Dat(op2.Set(3), dtype=np.int32), read=True, write=False),
    ):
        pass


@pytest.mark.skipif(not HAS_PETSC, reason="petsc4py is not installed")
def test_matrices_share_memory() -> None:
    nodes = op2.Set(3)
    identity = op2.Map(nodes, nodes, 1, [0, 1, 2])
    mat = op2.Mat(op2.Sparsity((nodes, nodes), identity))
    handle = petsc.matrix(mat)
    mat.set_local_diagonal_entries([0, 1, 2], 3.0)
    handle.assemble()
    np.testing.assert_array_equal(handle[:, :], 3 * np.eye(3))
