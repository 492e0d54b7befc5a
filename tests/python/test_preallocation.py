# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest

from pyop2cxx.exceptions import UsageError
from pyop2cxx.pyop2.sparsity import get_preallocation

pytestmark = pytest.mark.pyop2
PETSc = pytest.importorskip("petsc4py.PETSc")


def test_entries_of_a_preallocator_are_counted() -> None:
    mat = PETSc.Mat().create(comm=PETSc.COMM_SELF)
    mat.setType("preallocator")
    mat.setSizes(((3, None), (4, None)))
    mat.setUp()
    for row, col in ((0, 0), (0, 3), (2, 1), (0, 3)):
        mat.setValue(row, col, 0.0)
    mat.assemble()
    own, other = get_preallocation(mat, 3)
    assert (own.tolist(), other.tolist()) == ([2, 0, 1], [0, 0, 0])
    with pytest.raises(UsageError, match="of type 'preallocator', got 'seqaij'"):
        get_preallocation(PETSc.Mat().createAIJ((2, 2), comm=PETSc.COMM_SELF), 2)
