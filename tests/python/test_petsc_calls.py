# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest

from pyop2cxx.kernel.petsc_calls import calls_petsc

ADD = """
static void add(Mat mat, double *share) {
  PetscScalar values[] = {share[0], 2, 3, 4};
  PetscInt places[] = {0, 2};
  MatSetValues(mat, 2, places, 2, places, values, ADD_VALUES);
}
"""


@pytest.mark.parametrize(
    ("code", "calls"),
    [
        (ADD, True),
        ("void f(Vec x, Vec y) { VecAXPY(y, 2, x); }", True),
        ("void f(double *Mat) { Mat[0] = 1; }", False),
        ("void f(PetscScalar *x) { x[0] = 1; }", False),
        ("struct Vec { double x; }; void f(struct Vec v) { VecAdd(v); }", False),
    ],
)
def test_what_calls_petsc(code: str, calls: bool) -> None:
    assert calls_petsc(code) is calls
