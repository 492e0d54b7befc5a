# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import ContractError, DatTypeError, IndexTypeError, IndexValueError


def dat(dim: Any = 3) -> op2.Dat:
    cells = op2.Set((2, 3, 4), "cells")
    n = 4 * int(np.prod(dim))
    return op2.Dat(cells**dim, np.arange(n, dtype=np.float64), name="q")


def test_a_view_is_a_component() -> None:
    whole = dat()
    view = op2.DatView(whole, 1)
    assert view.data_ro.tolist() == [1, 4, 7]
    assert view.data_ro_with_halos.tolist() == [1, 4, 7, 10]
    assert (view.dim, view.cdim, view.shape, view.nbytes) == ((1,), 1, (4,), 32)
    assert (view.parent, view.index, view.dtype) == (whole, (1,), whole.dtype)
    assert not view.data_ro.flags.writeable
    view.data[:] = -1
    assert whole.data_ro[:, 1].tolist() == [-1, -1, -1]
    assert whole.data_ro[:, 0].tolist() == [0, 3, 6]


def test_a_view_of_nothing_is_an_argument_like_any_other(device: object) -> None:
    nothing, nodes = op2.Set(0), op2.Set(3)
    q = op2.Dat(nothing**3)
    x = op2.Dat(nodes)
    there = op2.Map(nothing, nodes, 1, [])
    kernel = op2.Kernel("void add(double *x, double *q) { *x += *q; *q = 1; }", "add")
    view = op2.DatView(q, 1)
    op2.par_loop(kernel, nothing, x(op2.INC, there), view(op2.RW))
    assert (view.data_ro.shape, view.shape) == ((0,), (0,))
    assert x.data_ro.tolist() == [0, 0, 0]


def test_versions_and_halos_are_the_parents() -> None:
    whole = dat()
    view = op2.DatView(whole, 2)
    version = whole.dat_version
    view.data_wo[:] = 0
    assert view.dat_version == whole.dat_version == version + 1
    assert not whole.halo_valid
    assert not view.halo_valid
    with view.frozen_halo(op2.READ), pytest.raises(RuntimeError):
        whole.freeze_halo(op2.READ)


def test_components_of_a_tensor() -> None:
    assert op2.DatView(dat((2, 2)), (1, 0)).data_ro.tolist() == [2, 6, 10]


@pytest.mark.parametrize(
    ("dim", "index", "error"),
    [
        (3, "x", IndexTypeError),
        (3, 1.5, IndexTypeError),
        (3, None, IndexTypeError),
        (3, (0, 1), ContractError),
        ((2, 2), 1, ContractError),
        (3, 3, IndexValueError),
        (3, -1, IndexValueError),
        ((2, 2), (0, 2), IndexValueError),
    ],
)
def test_wrong_indices(dim: Any, index: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="DatView of Dat 'q'"):
        op2.DatView(dat(dim), index)


def test_views_are_of_dats() -> None:
    with pytest.raises(DatTypeError, match="expected a Dat"):
        op2.DatView("q", 0)  # type: ignore[arg-type]
    with pytest.raises(DatTypeError, match="is a view of one value already"):
        op2.DatView(op2.DatView(dat(), 0), 0)


def test_zero_and_copy_leave_other_components_alone() -> None:
    whole = dat()
    op2.DatView(whole, 0).copy(op2.DatView(whole, 2))
    op2.DatView(whole, 0).zero()
    assert whole.data_ro.tolist() == [[0, 1, 0], [0, 4, 3], [0, 7, 6]]


def test_algebra() -> None:
    whole = dat()
    first, second = op2.DatView(whole, 0), op2.DatView(whole, 1)
    assert (first + second).data_ro.tolist() == [1, 7, 13]
    first += second
    assert whole.data_ro.tolist() == [[1, 1, 2], [7, 4, 5], [13, 7, 8]]
    assert first.inner(second) == 1 + 28 + 91


def test_pickling_and_text() -> None:
    view = op2.DatView(dat(), 1)
    assert pickle.loads(pickle.dumps(view)).data_ro.tolist() == [1, 4, 7]
    assert "component [1]" in str(view)
    assert repr(view).startswith("DatView(Dat(")
