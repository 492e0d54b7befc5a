# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import Any

import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import UsageError
from pyop2cxx.runtime.communicators import OneProcess


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


def test_a_process_without_ghosts_asks_no_halo() -> None:
    asked: list[str] = []
    members = {
        name: lambda *_, name=name: asked.append(name) for name in op2.Halo.__abstractmethods__
    }
    members |= {"comm": OneProcess(), "local_to_global_numbering": None}
    kind = type("Counting", (op2.Halo,), members)
    add = op2.Kernel("void add(double *x, const double *y) { x[0] += y[0]; }", "add")
    for sizes, wanted in (((3, 3, 3), False), ((2, 2, 3), True)):
        nodes = op2.Set(sizes, halo=kind())
        ends = op2.Map(op2.Set(2), nodes, 1, [0, 1])
        x, y = op2.Dat(nodes), op2.Dat(nodes, [1.0, 2.0, 0.0][: sizes[2]])
        y.halo_valid = False
        op2.par_loop(add, ends.iterset, x(op2.INC, ends), y(op2.READ, ends))
        assert x.data_ro.tolist()[:2] == [1, 2]
        assert bool(asked) is wanted
