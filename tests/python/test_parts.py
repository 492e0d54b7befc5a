# SPDX-License-Identifier: BSD-3-Clause
"""Dats on the base Set that cells of a column update; the corpus has loops over them."""

from __future__ import annotations

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import UnsupportedError
from pyop2cxx.loop.parts import through_columns
from pyop2cxx.op2 import INC, READ, RW, WRITE
from pyop2cxx.sets.derived_maps import ColumnMap

COUNT = op2.Kernel("void count(double *x) { *x += 1; }", "count")


def test_which_arguments_are_seen_by_columns() -> None:
    base = op2.Set(3)
    x, g = op2.Dat(base), op2.Global(1, 0.0)
    assert through_columns(x(READ), base).map_ is None
    assert through_columns(g(INC), base).map_ is None
    found = [through_columns(x(access), base) for access in (INC, RW, WRITE)]
    assert [arg.access for arg in found] == [INC, RW, RW]
    assert len({id(arg.map_) for arg in found}) == 1
    mixed = op2.MixedDat((x, g))
    assert [map_ is None for map_ in through_columns(mixed(INC), base).map_] == [False, True]
    assert through_columns(op2.MixedDat((g, g))(INC), base).map_ is None


def test_a_column_leads_to_what_it_stands_on() -> None:
    assert ColumnMap(op2.Set((2, 3, 4))).values_with_halo.tolist() == [[0], [1], [2], [3]]


@pytest.mark.parametrize("backend", ["sequential", "openmp"])
def test_threads_and_lanes_do_not_race_within_a_column(backend: str) -> None:
    base = op2.Set(5)
    layers = np.array([[0, 40], [0, 3], [2, 60], [0, 2], [1, 30]])
    columns, x = op2.ExtrudedSet(base, layers), op2.Dat(base)
    expected = layers[:, 1] - layers[:, 0] - 1.0
    with op2.backend(backend):
        for options in ({}, {"lanes": 8}):
            x.zero()
            op2.par_loop(COUNT, columns, x(INC), **options)
            assert x.data_ro.tolist() == expected.tolist()
    with op2.backend("openmp"), pytest.raises(UnsupportedError, match="the same target"):
        op2.par_loop(COUNT, columns, x(INC), strategy="direct")


def test_text_alone() -> None:
    op2.init(static=True)
    base = op2.Set(3, "base")
    text = op2.ParLoop(COUNT, op2.ExtrudedSet(base, 5), op2.Dat(base)(INC)).generate()
    assert "count" in text
    op2.exit()
