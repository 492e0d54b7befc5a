# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest

from pyop2cxx import op2
from pyop2cxx.sets.derived_maps import GlobalMap
from pyop2cxx.sets.items import items_of, path_of


def test_all_elements_lead_to_the_one_entity() -> None:
    columns = op2.ExtrudedSet(op2.Set(3), 4)
    rows = op2.GlobalDataSet(op2.Global(2)).set
    map_ = GlobalMap(columns, rows)
    assert map_.values.tolist() == [[0], [0], [0]]
    assert (map_.iterset, map_.toset, map_.arity) == (columns, rows, 1)
    facets = items_of(columns, op2.ON_INTERIOR_FACETS, False, "test")
    assert path_of(map_, facets, 0).arity == 1  # not once for each cell


@pytest.mark.usefixtures("static")
def test_without_sizes() -> None:
    assert not GlobalMap(op2.Set(), op2.GlobalDataSet(op2.Global(1)).set).has_values
