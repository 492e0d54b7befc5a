# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pickle
from types import SimpleNamespace

from pyop2cxx import op2
from pyop2cxx.sets.global_sets import GlobalSet


def test_one_process_owns_the_values() -> None:
    assert GlobalSet().sizes == (1, 1, 1)
    assert GlobalSet(op2.COMM_WORLD).size == 1
    assert GlobalSet(SimpleNamespace(rank=1, size=2)).sizes == (1, 1, 1)
    assert pickle.loads(pickle.dumps(GlobalSet())).size == 1
    assert repr(GlobalSet()) == "GlobalSet()"


def test_a_global_stands_among_dats() -> None:
    total = op2.Global((2, 2), name="total")
    place = total.dataset
    assert (place.dim, place.cdim, place.name, place.size) == ((2, 2), 4, "total", 1)
    assert (place.comm, len(place), list(place)) == (op2.COMM_WORLD, 1, [place])
    assert place == op2.GlobalDataSet(total)
    assert place != op2.GlobalDataSet(op2.Global(1))
    assert hash(place) == hash(op2.GlobalDataSet(total))
    assert "total" in str(place)
    assert repr(place).startswith("GlobalDataSet(Global(")
