# SPDX-License-Identifier: BSD-3-Clause
"""Wrong calls around matrices: the exceptions of PyOP2, and nothing is changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from pyop2cxx import exceptions as x
from pyop2cxx import op2

if TYPE_CHECKING:
    from collections.abc import Callable

CELLS, NODES, OTHER = op2.Set(2, "cells"), op2.Set(3, "nodes"), op2.Set(4, "other")
C2N = op2.Map(CELLS, NODES, 2, [0, 1, 1, 2], "c2n")
C2O = op2.Map(CELLS, OTHER, 1, [0, 1], "c2o")
N2N = op2.Map(NODES, NODES, 1, [0, 1, 2], "n2n")
DSET = NODES**1
MAT = op2.Mat(op2.Sparsity((DSET, DSET), [(C2N, C2N, None)]), name="A")
MAT.set_local_diagonal_entries(range(3), 2.0)
MAT.assemble()
MIXED = op2.MixedDataSet((NODES, OTHER))
BOTH = op2.MixedMap((C2N, C2O))
WHOLE = op2.Mat(op2.Sparsity((MIXED, MIXED), [(BOTH, BOTH, None)], nest=False))
X, B = op2.Dat(DSET), op2.Dat(DSET, [1.0, 2.0, 3.0])
KERNEL = op2.Kernel("void f(double *A) { A[0] += 1; }", "f")
HUGE, MANY = op2.Set(2**44, "huge"), op2.Set(1001, "many")
LARGE = op2.Mat(op2.Sparsity((MANY, MANY), op2.Map(MANY, MANY, 1, np.arange(1001))))
PENDING = MAT.duplicate()
PENDING.set_local_diagonal_entries([0], 1.0)


class Row(NamedTuple):
    """A wrong call.

    Attributes:
        call: What is wrong.
        error: PyOP2's class.
        built_in: What its users may catch.
    """

    call: Callable[[], object]
    error: type[Exception]
    built_in: type[Exception]


def illegal(value: object) -> Any:
    return value


def sparsity(pairs: Any, dsets: Any = (DSET, DSET), name: Any = None) -> op2.Sparsity:
    return op2.Sparsity(dsets, pairs, name)


def narrower() -> None:
    """The values of a Map change after the Sparsity was made from it."""
    c2n = op2.Map(CELLS, NODES, 2, [0, 1, 1, 2])
    mat = op2.Mat(op2.Sparsity((DSET, DSET), [(c2n, c2n, None)]))
    c2n.update_values([[0, 2], [1, 2]])
    try:
        op2.par_loop(KERNEL, CELLS, mat(op2.INC, (c2n, c2n)))
    finally:
        assert not mat.array.any()


def not_a_number() -> None:
    """The geometry has a NaN, and so has what was assembled from it."""
    mat = MAT.duplicate()
    mat.array[0] = np.nan
    op2.solve(mat, X, B)


def checked() -> None:
    """The same is found before the loop, where this was asked for."""
    geometry = op2.Dat(DSET, [1.0, np.nan, 3.0], name="x")
    kernel = op2.Kernel("void f(double *A, const double *x) { A[0] += x[1]; }", "f")
    op2.init(debug=True)
    try:
        op2.par_loop(kernel, CELLS, MAT(op2.INC, (C2N, C2N)), geometry(op2.READ, C2N))
    finally:
        op2.exit()


def diverging() -> None:
    mat = MAT.duplicate()
    mat.array[1] = 40.0
    op2.solve(mat, X, B, pc_type="none", ksp_divtol=1.01)


ROWS = {
    "Sparsity dset": Row(
        lambda: sparsity([(C2N, C2N, None)], illegal("illegaldset")), x.DataSetTypeError, TypeError
    ),
    "Sparsity dsets": Row(
        lambda: sparsity([(C2N, C2N, None)], (DSET, DSET, DSET)), x.SparsityShapeError, RuntimeError
    ),
    "Sparsity rows": Row(
        lambda: sparsity([(C2N, C2N, None)], (illegal(3), DSET)), x.DataSetTypeError, TypeError
    ),
    "Sparsity container": Row(lambda: sparsity(illegal("maps")), x.MapTypeError, TypeError),
    "Sparsity map": Row(lambda: sparsity([(C2N, illegal("m"), None)]), x.MapTypeError, TypeError),
    "Sparsity name": Row(
        lambda: sparsity([(C2N, C2N, None)], name=illegal(2)), x.NameTypeError, TypeError
    ),
    "Sparsity of none": Row(lambda: sparsity([]), x.MapValueError, ValueError),
    "Sparsity null map": Row(
        lambda: sparsity([(op2.Map(CELLS, NODES, 2),) * 2]), x.MapValueError, ValueError
    ),
    "Sparsity itersets": Row(lambda: sparsity([(C2N, N2N)]), x.SparsityShapeError, RuntimeError),
    "Sparsity sets": Row(lambda: sparsity([(C2N, C2O)]), x.SparsityShapeError, RuntimeError),
    "Sparsity block": Row(
        lambda: sparsity({(1, 0): [(C2N, C2N)]}), x.SparsityShapeError, RuntimeError
    ),
    "Sparsity fields": Row(lambda: sparsity([(BOTH, BOTH)]), x.SparsityShapeError, RuntimeError),
    "Sparsity index": Row(lambda: MAT.sparsity[1, 0], x.IndexValueError, ValueError),
    "Sparsity beyond memory": Row(
        lambda: sparsity([(op2.Map(CELLS, HUGE, 1, [0, 1]),) * 2], (HUGE**1, HUGE**1)),
        x.ExecutionError,
        RuntimeError,
    ),
    "Mat sparsity": Row(lambda: op2.Mat(illegal("illegal")), x.SparsityTypeError, TypeError),
    "Mat name": Row(lambda: op2.Mat(MAT.sparsity, name=illegal(2)), x.NameTypeError, TypeError),
    "Mat dtype": Row(lambda: op2.Mat(MAT.sparsity, illegal("bad")), x.DataTypeError, TypeError),
    "Mat mode": Row(lambda: MAT(op2.READ, (C2N, C2N)), x.ModeValueError, ValueError),
    "Mat path": Row(lambda: MAT(op2.INC, illegal(C2N)), x.MapTypeError, TypeError),
    "Mat foreign maps": Row(lambda: MAT(op2.INC, (C2O, C2O)), x.MapValueError, ValueError),
    "Mat lgmaps": Row(
        lambda: MAT(op2.INC, (C2N, C2N), lgmaps=([0, 1], None)), x.DataValueError, ValueError
    ),
    "Mat row": Row(lambda: MAT.zero_rows([3]), x.IndexValueError, ValueError),
    "Mat negative row": Row(lambda: MAT.zero_rows([-1]), x.IndexValueError, ValueError),
    "Mat rows of another set": Row(
        lambda: MAT.zero_rows(op2.Subset(OTHER, [1])), x.MapValueError, ValueError
    ),
    "Mat no place": Row(lambda: MAT.addto_values([0], [2], [1.0]), x.IndexValueError, ValueError),
    "Mat values": Row(lambda: MAT.set_values([0], [0], [1.0, 2]), x.DataValueError, ValueError),
    "Mat dense": Row(lambda: LARGE.values, x.SparsityFormatError, ValueError),
    "Mat version": Row(lambda: PENDING.dat_version, x.AssemblyStateError, RuntimeError),
    "MatBlock assemble": Row(lambda: WHOLE[0, 0].assemble(), x.AssemblyStateError, RuntimeError),
    "loop over another set": Row(
        lambda: op2.par_loop(KERNEL, NODES, MAT(op2.INC, (C2N, C2N))), x.MapValueError, ValueError
    ),
    "loop with a map that changed": Row(narrower, x.UsageError, ValueError),
    "loop over what is no number": Row(checked, x.ExecutionError, RuntimeError),
    "Solver parameters": Row(
        lambda: op2.Solver({"ksp_type": "cg"}, ksp_rtol=1e-3), x.SolverOptionError, RuntimeError
    ),
    "solve matrix": Row(lambda: op2.solve(illegal(3), X, B), x.MatTypeError, TypeError),
    "solve vector": Row(lambda: op2.solve(MAT, X, illegal(B.data_ro)), x.DatTypeError, TypeError),
    "solve elsewhere": Row(lambda: op2.solve(MAT, X, op2.Dat(OTHER)), x.DataValueError, ValueError),
    "solve what is no number": Row(not_a_number, x.DataValueError, ValueError),
    "solve what diverges": Row(diverging, x.ConvergenceError, RuntimeError),
}


@pytest.mark.parametrize("name", ROWS)
def test_wrong_call(name: str) -> None:
    if name.startswith("solve"):
        pytest.importorskip("scipy")
    call, error, built_in = ROWS[name]
    before = MAT.array.copy(), X.data_ro.copy(), MAT.assembly_state
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error
    assert isinstance(caught.value, built_in)
    assert len(str(caught.value)) > 20
    np.testing.assert_array_equal(MAT.array, before[0])
    np.testing.assert_array_equal(X.data_ro, before[1])
    assert MAT.assembly_state == before[2]
