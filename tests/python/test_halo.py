# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import UsageError


def test_the_base_class_does_nothing_by_itself() -> None:
    with pytest.raises(TypeError, match="abstract"):
        op2.Halo()  # type: ignore[abstract]


@pytest.mark.parametrize("halo", [5, "halo", (), object(), op2.Halo])
def test_what_cannot_exchange_values_is_no_halo(halo: Any) -> None:
    if halo is op2.Halo:
        halo = type("Half", (), {"global_to_local_begin": lambda *_: None})()
    with pytest.raises(UsageError, match=r"Set 'cells': a halo must be None .*local_to_global_end"):
        op2.Set((1, 2, 3), "cells", halo=halo)


def test_a_set_keeps_its_halo() -> None:
    class Mine(op2.Halo):
        comm = None
        local_to_global_numbering = (0, 1, 2)

        def global_to_local_begin(self, dat: Any, insert_mode: Any) -> None: ...
        def global_to_local_end(self, dat: Any, insert_mode: Any) -> None: ...
        def local_to_global_begin(self, dat: Any, insert_mode: Any) -> None: ...
        def local_to_global_end(self, dat: Any, insert_mode: Any) -> None: ...

    halo = Mine()
    cells = op2.Set((1, 2, 3), halo=halo)
    assert cells.halo is halo
    assert op2.MixedSet((cells, op2.Set(2))).halo == (halo, None)
    assert op2.ExtrudedSet(cells, 2).halo is halo
