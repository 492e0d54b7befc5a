# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.interop.petsc_payloads import DatMatPayload, GlobalMatPayload

PETSc = pytest.importorskip("petsc4py.PETSc")


def shell(payload: object, n: int, m: int) -> object:
    made = PETSc.Mat().createPython(((n, None), (m, None)), payload, comm=PETSc.COMM_SELF)
    made.setUp()
    return made


@pytest.mark.parametrize("is_row", [True, False])
def test_a_dat_is_a_row_or_a_column(is_row: bool) -> None:
    dat = op2.Dat(op2.Set(3), [1.0, 2.0, 3.0])
    n, m = (1, 3) if is_row else (3, 1)
    payload = DatMatPayload(dat, is_row)
    mat = shell(payload, n, m)
    dense = np.array(payload[:, :])
    assert dense.shape == (n, m)
    for transposed in (False, True):
        wanted = dense.T if transposed else dense
        x, y = PETSc.Vec().createSeq(wanted.shape[1]), PETSc.Vec().createSeq(wanted.shape[0])
        x.setArray(np.arange(1.0, wanted.shape[1] + 1))
        (mat.multTranspose if transposed else mat.mult)(x, y)
        np.testing.assert_allclose(y.array_r, wanted @ x.array_r)
        z = y.duplicate()
        (mat.multTransposeAdd if transposed else mat.multAdd)(x, y, z)
        np.testing.assert_allclose(z.array_r, 2 * (wanted @ x.array_r))
    mat.zeroEntries()
    assert dat.data_ro.tolist() == [0, 0, 0]


def test_a_global_is_a_single_entry() -> None:
    value = op2.Global(1, 3.0)
    payload = GlobalMatPayload(value)
    mat = shell(payload, 1, 1)
    x, y = PETSc.Vec().createSeq(1), PETSc.Vec().createSeq(1)
    x.set(2)
    mat.mult(x, y)
    assert (y.sum(), payload[0, 0]) == (6, 3)
    mat.multTransposeAdd(x, y, y)
    assert y.sum() == 12
    assert mat.getDiagonal().sum() == 3
    mat.zeroEntries()
    assert value.data_ro[0] == 0
