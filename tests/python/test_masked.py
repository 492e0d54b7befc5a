# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import MapValueError
from pyop2cxx.sets.derived_maps import MaskedMap

CELLS, NODES = op2.Set(2, "cells"), op2.Set(3, "nodes")


def test_what_is_left_out_leads_past_the_last_entity() -> None:
    map_ = op2.Map(CELLS, NODES, 2, [0, 1, 1, 2], "c2n")
    masked = MaskedMap(map_, np.array([False, True, False]))
    assert masked.toset.total_size == 4
    assert masked.values_with_halo.tolist() == [[0, 3], [3, 2]]
    assert (masked.arity, masked.iterset, masked.map_) == (2, CELLS, map_)
    table = masked._current_table()
    assert table is not None
    version = table.version
    map_.update_values([1, 2, 0, -1])
    assert masked.values.tolist() == [[3, 2], [0, -1]]
    assert table.version == version + 1
    assert masked._is_partial
    with pytest.raises(MapValueError, match="update the values of Map 'c2n'"):
        masked.update_values([0, 1, 1, 2])


def test_without_values() -> None:
    masked = MaskedMap(op2.Map(CELLS, NODES, 2), np.zeros(3, bool))
    assert not masked.has_values
    assert masked._current_table() is None
