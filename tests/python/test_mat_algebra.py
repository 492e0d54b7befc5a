# SPDX-License-Identifier: BSD-3-Clause
"""Sums and multiples of matrices, on the host and on a device."""

from __future__ import annotations

import doctest
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import pyop2cxx.data.mat_algebra
from pyop2cxx import op2
from pyop2cxx.exceptions import DataTypeError, DataValueError, MatTypeError, SparsityShapeError

if TYPE_CHECKING:
    from pyop2cxx import _core


def small_matrix(values: Any, dtype: str = "float64", dim: int = 1) -> op2.Mat:
    mat = op2.Mat(SPARSITIES[dim], dtype)
    n = 3 * dim
    mat.set_values(range(3), range(3), np.broadcast_to(values, (n, n)))
    mat.assemble()
    return mat


def _sparsities() -> dict[int, op2.Sparsity]:
    cells, nodes = op2.Set(1), op2.Set(3)
    c2n = op2.Map(cells, nodes, 3, [0, 1, 2])
    return {dim: op2.Sparsity((nodes**dim, nodes**dim), [(c2n, c2n, None)]) for dim in (1, 2)}


SPARSITIES = _sparsities()


@pytest.mark.parametrize("dim", [1, 2])
def test_matrices_are_added(backend: str, dim: int) -> None:
    n = 3 * dim
    a, b = np.arange(n * n, dtype=float).reshape(n, n), np.ones((n, n)) * 3
    mass, stiffness = small_matrix(a, dim=dim), small_matrix(b, dim=dim)
    if backend != "sequential":
        mass.to_device()
        stiffness.to_device()
    assert (mass + 0.5 * stiffness).values.tolist() == (a + 0.5 * b).tolist()
    assert (mass - stiffness * 2 / 4 + -mass).values.tolist() == (-0.5 * b).tolist()
    mass += stiffness
    mass *= 0.1
    mass -= stiffness
    assert mass.values.tolist() == ((a + b) * 0.1 - b).tolist()
    mass.axpy(2, mass)
    assert np.allclose(mass.values, 3 * ((a + b) * 0.1 - b))
    assert stiffness.values.tolist() == b.tolist()


def test_a_copy_of_a_matrix_has_its_values_on_a_device(device: _core.Device) -> None:
    values = np.arange(9.0).reshape(3, 3)
    mat = small_matrix(values)
    mat.to_device()
    copied = mat.duplicate()
    copied.to_device()
    copied *= 1  # by a loop there, which the host's values do not survive
    assert copied.values.tolist() == values.tolist()


def test_matrices_that_cannot_be_added() -> None:
    a = small_matrix(1.0)
    with pytest.raises(SparsityShapeError, match="one Sparsity object"):
        a + op2.Mat(SPARSITIES[2])
    with pytest.raises(MatTypeError, match="expected a Mat"):
        a.axpy(1, 3)
    with pytest.raises(TypeError):
        a + 3
    with pytest.raises(TypeError):
        a * "x"
    with pytest.raises(DataTypeError, match="takes a number"):
        a.axpy("x", a)  # type: ignore[arg-type]
    with pytest.raises(DataTypeError, match="is real"):
        a * 1j
    assert (small_matrix(1.0, "complex128") + 1j * small_matrix(2.0, "complex128")).dtype == complex
    product = a * op2.Dat(SPARSITIES[1].dsets[0], 1.0)
    assert product.data_ro.tolist() == [3, 3, 3]


def test_the_example_of_the_docstring_holds() -> None:
    found = doctest.testmod(pyop2cxx.data.mat_algebra)
    assert (found.failed, found.attempted > 0) == (0, True)


@pytest.mark.parametrize("divisor", [0.0, -0.0, 0, np.float64(0.0)])
def test_matrices_divided_by_zero(divisor: Any) -> None:
    mat = small_matrix([1.0, -2.0, 0.0])
    with np.errstate(invalid="ignore"):
        found = (mat / divisor).values[0]
    sign = np.copysign(1.0, divisor)
    np.testing.assert_array_equal(found, [sign * np.inf, -sign * np.inf, np.nan])
    with pytest.raises(DataValueError, match="an integer would be divided by zero"):
        small_matrix(2, "int64") / divisor
    with np.errstate(invalid="ignore"):
        assert np.isnan((small_matrix(1, "complex128") / 0j).values).all()
