# SPDX-License-Identifier: BSD-3-Clause
"""Numbers for all values, assignment, sums and extremes of Dats; masks of Subsets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import (
    DataTypeError,
    DataValueError,
    IndexTypeError,
    MapValueError,
    SetTypeError,
)

if TYPE_CHECKING:
    from pyop2cxx import _core


def placed(dat: op2.Dat, backend: str) -> op2.Dat:
    if backend != "sequential":
        dat.to_device()
    return dat


def test_one_number_stands_for_all_values() -> None:
    nodes = op2.Set((2, 3, 4), "nodes")
    assert op2.Dat(nodes, 1.5).data_ro_with_halos.tolist() == [1.5] * 4
    assert op2.Dat(nodes**2, 1, np.float32).data_ro.tolist() == [[1, 1]] * 3
    assert op2.Dat(nodes, np.float32(2)).dtype == np.float32
    pair = op2.Global(2, 0.5)
    assert pair.data_ro.tolist() == [0.5, 0.5]
    pair.data = 3
    assert pair.data_ro.tolist() == [3, 3]
    with pytest.raises(DataValueError, match="expected 4 values"):
        op2.Dat(nodes, [1.0])
    with pytest.raises(DataValueError, match="complex"):
        op2.Dat(nodes, 1j, float)


def test_values_are_assigned(backend: str) -> None:
    nodes = op2.Set(5, "nodes")
    dat = placed(op2.Dat(nodes**2, dtype=np.float32), backend)
    version = dat.dat_version
    dat.data = 4
    assert dat.dat_version > version
    assert (dat.data_ro == 4).all()
    placed(dat, backend).assign(op2.Global(1, 7.0))
    assert (dat.data_ro == 7).all()
    other = placed(op2.Dat(nodes**2, np.arange(10.0)), backend)
    dat.data = other
    assert np.array_equal(dat.data_ro, other.data_ro)
    dat.data = np.ones((5, 2))
    assert dat.sum().tolist() == [5, 5]
    dat.data += 1
    assert dat.sum().tolist() == [10, 10]
    some = op2.Subset(nodes, [1, 4])
    dat.assign(0, subset=some)
    dat.assign([[8, 9], [6, 5]], subset=op2.Subset(nodes, [0, 2]))
    assert dat.data_ro.tolist() == [[8, 9], [0, 0], [6, 5], [2, 2], [0, 0]]
    dat.assign(other, subset=some)
    assert dat.data_ro[4].tolist() == [8, 9]


def test_ghosts_get_the_number_too() -> None:
    dat = op2.Dat(op2.Set((1, 2, 4), "nodes"))
    dat.assign(3)
    assert dat.data_ro_with_halos.tolist() == [3, 3, 3, 3]
    dat.assign([1, 2])
    assert dat.data_ro_with_halos.tolist() == [1, 2, 3, 3]


def test_a_component_is_assigned_alone() -> None:
    dat = op2.Dat(op2.Set(3) ** 2, 1.0)
    op2.DatView(dat, 1).data = 5
    assert dat.data_ro.tolist() == [[1, 5]] * 3


def test_wrong_assignments_change_nothing() -> None:
    nodes, cells = op2.Set(3, "nodes"), op2.Set(2, "cells")
    dat = op2.Dat(nodes, 1.0, name="d")
    with pytest.raises(DataValueError, match=r"'d' on Set 'nodes': assign: expected 3 values"):
        dat.data = [1, 2]
    with pytest.raises(MapValueError, match="copy"):
        dat.data = op2.Dat(cells)
    with pytest.raises(MapValueError, match="part of Set 'cells'"):
        dat.assign(2, subset=op2.Subset(cells, [0]))
    with pytest.raises(SetTypeError):
        dat.assign(2, subset=[0])  # type: ignore[arg-type]
    with pytest.raises(DataValueError, match="complex"):
        dat.assign(1j)
    with pytest.raises(DataValueError, match="expected 1 values"):
        dat.assign([1, 2], subset=op2.Subset(nodes, [0]))
    assert dat.data_ro.tolist() == [1, 1, 1]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "uint8", "int64"])
def test_sums_and_extremes(backend: str, dtype: str) -> None:
    values = np.random.default_rng(2).integers(0, 100, (1000, 3)).astype(dtype)
    dat = placed(op2.Dat(op2.Set(1000) ** 3, values.copy()), backend)
    assert dat.sum().tolist() == values.sum(axis=0, dtype=float).tolist()
    assert dat.min().tolist() == values.min(axis=0).tolist()
    assert dat.max().tolist() == values.max(axis=0).tolist()
    single = placed(op2.Dat(op2.Set(1000), values[:, 0].copy()), backend)
    assert (single.sum(), single.min(), single.max()) == (
        values[:, 0].sum(dtype=float),
        values[:, 0].min(),
        values[:, 0].max(),
    )
    assert np.ndim(single.sum()) == 0


def test_sums_stay_on_the_device(device: _core.Device, strictly: None) -> None:
    dat = op2.Dat(op2.Set(50), np.arange(50.0))
    dat.to_device()
    dat.assign(op2.Global(1, 2.0))
    assert (dat.sum(), dat.max()) == (100, 2)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_extremes_of_nan_are_nan_as_sums_are(backend: str, dtype: str, at: int) -> None:
    values = np.array([[1.0, 5.0], [0.5, 6.0], [-2.0, 7.0]], dtype)
    values[at, 0] = np.nan
    dat = placed(op2.Dat(op2.Set(3) ** 2, values.copy()), backend)
    for found, wanted in ((dat.min(), values.min(axis=0)), (dat.max(), values.max(axis=0))):
        np.testing.assert_array_equal(found, wanted)
    first = op2.DatView(dat, 0)
    assert np.isnan([first.min(), first.max(), first.sum(), first.norm]).all()
    assert (op2.DatView(dat, 1).min(), op2.DatView(dat, 1).max()) == (5, 7)
    infinite = placed(op2.Dat(op2.Set(2), np.array([np.inf, -np.inf], dtype)), backend)
    assert (infinite.min(), infinite.max()) == (-np.inf, np.inf)


def test_extremes_that_do_not_exist() -> None:
    with pytest.raises(DataTypeError, match="complex"):
        op2.Dat(op2.Set(2), 1j).min()
    assert op2.Dat(op2.Set(2), 1j).sum() == 2j
    with pytest.raises(DataValueError, match="no values"):
        op2.Dat(op2.Set(0)).max()
    assert op2.Dat(op2.Set(0)).sum() == 0


def test_a_mask_chooses_entities() -> None:
    nodes = op2.Set((2, 3, 4), "nodes")
    x = np.array([0.1, 0.9, 0.2])
    assert op2.Subset(nodes, x < 0.5).indices.tolist() == [0, 2]
    assert nodes(np.array([False, True, False, True])).indices.tolist() == [1, 3]
    with pytest.raises(IndexTypeError, match=r"truth value for each of its 3 entities.*\(2,\)"):
        op2.Subset(nodes, np.array([True, False]))


def test_a_set_shared_with_nobody_gathers_its_own_values() -> None:
    cells = op2.Set(3, "cells")
    cells.become_shared((3, 3, 3, 3), None, None)
    assert op2.Dat(cells, [1.0, 2.0, 3.0]).gathered().tolist() == [1.0, 2.0, 3.0]
