# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.base import extras

needs_petsc = pytest.mark.skipif(
    not extras.installed()["petsc4py"], reason="petsc4py is not installed"
)


@needs_petsc
def test_layouts_of_datasets() -> None:
    cells, nodes = op2.Set(2), op2.Set(3)
    both = op2.MixedDataSet((nodes, cells), (2, 1))
    assert both.layout_vec.getSizes() == (8, 8)
    assert (nodes**2).layout_vec.getBlockSize() == 2
    assert (nodes**2).dm.createGlobalVector().getSize() == 6
    assert both.dm.createGlobalVector().getSize() == 8
    assert (nodes**2).lgmap.indices.tolist() == list(range(6))
    assert (nodes**2).lgmap.block_indices.tolist() == [0, 1, 2]
    assert (nodes**2).scalar_lgmap.indices.tolist() == [0, 1, 2]
    assert (nodes**2).unblocked_lgmap.getBlockSize() == 1
    assert both.lgmap.indices.tolist() == list(range(8))
    for ises in (both.field_ises, both.local_ises):
        assert [one.indices.tolist() for one in ises] == [list(range(6)), [6, 7]]
        assert [one.getBlockSize() for one in ises] == [2, 1]
    assert nodes**2 is nodes**2
    assert (nodes**2).layout_vec is (nodes**2).layout_vec
    assert op2.Global(3).dataset.layout_vec.getSize() == 3


@needs_petsc
def test_a_halo_gives_the_numbers() -> None:
    members = dict.fromkeys(op2.Halo.__abstractmethods__, lambda *_: None)
    numbers = {"comm": op2.COMM_WORLD, "local_to_global_numbering": np.array([2, -1, 0])}
    nodes = op2.Set(3, halo=type("Numbered", (op2.Halo,), {**members, **numbers})())
    assert (nodes**1).lgmap.indices.tolist() == [2, -1, 0]
    both = op2.MixedDataSet((nodes, op2.Set(1)), (1, 1))
    assert both.lgmap.indices.tolist() == [2, -1, 0, 3]


@needs_petsc
def test_vectors_are_without_constrained_entities() -> None:
    nodes = op2.Set(4, constrained_size=1)
    x, y = op2.Dat(nodes**2, np.arange(8.0)), op2.Dat(op2.Set(2), [8.0, 9.0])
    with x.vec as vector:
        assert vector.array_r.tolist() == [0, 1, 2, 3, 4, 5]
        assert vector.getSizes() == (nodes**2).layout_vec.getSizes()
        vector.set(-1)
    assert x.data_ro.tolist() == [[-1, -1]] * 3 + [[6, 7]]
    with op2.MixedDat([x, y]).vec as vector:
        assert vector.array_r.tolist() == [-1] * 6 + [8, 9]
        vector.shift(1)
    assert x.data_ro.tolist() == [[0, 0]] * 3 + [[6, 7]]
    assert y.data_ro.tolist() == [9, 10]
