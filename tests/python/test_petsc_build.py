# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import UnsupportedError
from pyop2cxx.interop import petsc_build

needs_petsc = pytest.mark.skipif(
    petsc_build.build() is None, reason="PETSc's headers or petsc4py are not installed"
)

ADD = """
static void add(Mat mat, double *share) {
  PetscScalar values[] = {share[0], 2, 3, 4};
  PetscInt places[] = {0, 2};
  MatSetValues(mat, 2, places, 2, places, values, ADD_VALUES);
}
"""


def test_without_petsc_nothing_is_added() -> None:
    if petsc_build.build() is not None:
        pytest.skip("PETSc is installed")
    assert op2.Kernel(ADD, "add").core.headers == []


@needs_petsc
@pytest.mark.parametrize("backend", ["sequential", "openmp"])
def test_a_kernel_fills_a_matrix_of_petscs(backend: str) -> None:
    from petsc4py import PETSc

    mat = PETSc.Mat().create()
    mat.setSizes(3)
    mat.setUp()
    mat.setValues([0, 2], [0, 2], np.zeros((2, 2)))
    mat.assemble()
    cells = op2.Set(100_000)  # enough for several threads
    shares = op2.Dat(cells, np.ones(100_000))
    kernel = op2.Kernel(ADD, "add")
    assert kernel.opaque_reason == "the kernel calls PETSc"
    handle = op2.PassthroughArg(op2.OpaqueType("Mat"), mat.handle)
    with op2.backend(backend):
        op2.par_loop(kernel, cells, handle, shares(op2.READ))
    mat.assemble()
    expected = 100_000.0 * np.array([[1, 0, 2], [0, 0, 0], [3, 0, 4]])
    np.testing.assert_array_equal(mat[:, :], expected)


@needs_petsc
def test_devices_cannot_call_petsc() -> None:
    handle = op2.PassthroughArg(op2.OpaqueType("Mat"), 8)
    cells = op2.Set(1)
    with op2.backend("opencl"), pytest.raises(UnsupportedError, match="calls PETSc"):
        op2.par_loop(op2.Kernel(ADD, "add"), cells, handle, op2.Dat(cells)(op2.READ))
