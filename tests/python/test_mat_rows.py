# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.data.mat_rows import places_of_rows
from pyop2cxx.op2 import INC

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BACKENDS = [found.name for found in op2.backends() if found.available]
DEVICES = [name for name in BACKENDS if name in ("cuda", "opencl")]


@pytest.fixture(autouse=True)
def options() -> Iterator[None]:
    yield
    op2.exit()


def assembled(dim: int, dtype: str = "float64") -> op2.Mat:
    """A matrix of a chain of four nodes, with values everywhere."""
    cells, nodes = op2.Set(3), op2.Set(4)
    c2n = op2.Map(cells, nodes, 2, [0, 1, 1, 2, 2, 3])
    mat = op2.Mat(op2.Sparsity((nodes**dim, nodes**dim), [(c2n, c2n, None)]), dtype)
    n = 4 * dim * dim
    text = f"void k({mat.ctype} *A) {{ for (int i = 0; i < {n}; ++i) A[i] += i + 1; }}"
    op2.par_loop(op2.Kernel(text, "k"), cells, mat(INC, (c2n, c2n)))
    return mat


CHANGES: dict[str, Callable[[op2.Mat], None]] = {
    "zero": lambda mat: mat.zero_rows([3, 1], 2.5),
    "zero one component": lambda mat: mat.zero_rows([1, 2], 2.5, idx=0),
    "set": lambda mat: mat.set_local_diagonal_entries(range(4), 7.0),
    "add": lambda mat: mat.inc_local_diagonal_entries([0, 3], 7.0, idx=0),
    "none": lambda mat: mat.zero_rows([]),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("dim", [1, 2])
def test_rows_change_where_the_values_are(dim: int, change: str, backend: str) -> None:
    with op2.backend("sequential"):
        expected = assembled(dim)
        dense = expected.values
        CHANGES[change](expected)
        assert (expected.values != dense).any() == (change != "none")
    with op2.backend(backend):
        mat = assembled(dim)
        before = mat.residence
        op2.transfers.clear()
        CHANGES[change](mat)
        assert mat.residence == before
        assert not [row for row in op2.transfers.report() if row.what.startswith("Mat")]
        assert mat.assembly_state == expected.assembly_state
    np.testing.assert_array_equal(mat.values, expected.values)


@pytest.mark.parametrize("backend", DEVICES)
def test_rows_that_are_changed_again_move_nothing_but_the_value(backend: str) -> None:
    with op2.backend(backend):
        mat = assembled(1)
        mat.zero_rows([1], 2.0)
        op2.transfers.clear()
        mat.zero_rows([1], 3.0)
        moved = op2.transfers.report()
        assert all(row.explicit and row.nbytes <= 16 for row in moved)
        for row in range(4):
            for idx in (None, 0):
                mat.set_local_diagonal_entries([row], 1.0, idx)
        assert len(mat.row_loops) <= 8
        copy = mat.duplicate()
        assert copy.residence == "device"
    np.testing.assert_array_equal(copy.values, mat.values)
    np.testing.assert_array_equal(mat.values[1], [0, 1, 0, 0])


@pytest.mark.parametrize("backend", DEVICES)
def test_what_is_kept_keeps_no_matrix(backend: str) -> None:
    gc.collect()
    gc.disable()
    try:
        with op2.backend(backend):
            mat = assembled(1)
            mat.zero_rows([1], 2.0)
            mat.zero_rows([1], 3.0)
            assert mat.values[1, 1] == 3
            gone = weakref.ref(mat)
            del mat
            assert gone() is None
    finally:
        gc.enable()


def test_complex_rows_change(device: Any) -> None:
    mat = assembled(1)
    complex_mat = op2.Mat(mat.sparsity, "complex128")
    complex_mat.array[:] = 1 + 2j
    complex_mat.to_device()
    complex_mat.zero_rows([0], 3j)
    assert complex_mat.residence == "device"
    np.testing.assert_array_equal(complex_mat.values[:2], [[3j, 0, 0, 0], [1 + 2j] * 3 + [0]])


def test_places_are_those_of_the_rows() -> None:
    mat = assembled(1)
    assert places_of_rows(mat, np.array([0, 2])).tolist() == [0, 1, 5, 6, 7]
    assert places_of_rows(mat, np.zeros(0, np.int64)).tolist() == []
