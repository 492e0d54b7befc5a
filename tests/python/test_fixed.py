# SPDX-License-Identifier: BSD-3-Clause
"""What objects were made with cannot be assigned as if something followed it."""

from __future__ import annotations

import copy
import inspect
from typing import Any

import pytest

from pyop2cxx import op2
from pyop2cxx.base.fixed import Fixed
from pyop2cxx.exceptions import UsageError

CELLS, NODES = op2.Set(2, "cells"), op2.Set(3, "nodes")
C2N = op2.Map(CELLS, NODES, 2, [0, 1, 1, 2], "c2n")
Q = op2.Dat(CELLS**2, name="q")
MIXED = op2.MixedDat([op2.Dat(CELLS), op2.Dat(NODES)])
SPARSITY = op2.Sparsity((NODES, NODES), [(C2N, C2N, None)])
KERNEL = op2.Kernel("void k(double *q) { q[0] = 1; }", "k")
OBJECTS: list[Any] = [
    *(CELLS, op2.Subset(CELLS, [0]), op2.ExtrudedSet(CELLS, 3), op2.MixedSet([CELLS, NODES])),
    *(CELLS**2, op2.MixedDataSet([CELLS, NODES]), C2N, op2.MixedMap([C2N, C2N])),
    *(op2.PermutedMap(C2N, [1, 0]), op2.ComposedMap(C2N), Q, op2.DatView(Q, 0), MIXED),
    *(op2.Global(1, 0.0), op2.Constant(1, 1.0), SPARSITY, op2.Mat(SPARSITY), KERNEL),
    op2.ParLoop(KERNEL, CELLS, Q(op2.WRITE)),
]
FOLLOWED = {"data", "accesses", "dtypes", "copy"}
"""What may be assigned: `data` is copied into the values, others only say what is known; `copy` is
a method, too."""


@pytest.mark.parametrize("thing", OBJECTS, ids=lambda thing: type(thing).__name__)
def test_what_it_was_made_with_cannot_be_assigned(thing: Any) -> None:
    before = repr(thing)
    makers = [one for one in (type(thing).__init__, type(thing).__new__) if inspect.isfunction(one)]
    names = {name for maker in makers for name in inspect.signature(maker).parameters}
    properties = {name for name in dir(thing) if not name.startswith("_")}
    for name in sorted(names & properties if not isinstance(thing, Fixed) else names):
        if name in FOLLOWED | {"self", "cls", "options"}:
            continue
        with pytest.raises((AttributeError, UsageError)):
            setattr(thing, name, 3)
    assert repr(thing) == before


def test_the_message_says_what_to_do() -> None:
    kernel = copy.copy(KERNEL)
    with pytest.raises(UsageError, match=r"^Kernel 'k': 'code' cannot be assigned: .* another one"):
        kernel.code = "void k(double *q) { q[0] = 2; }"
    loop = op2.ParLoop(kernel, CELLS, Q(op2.WRITE))
    for name in ("kernel", "iterset", "args", "strategy", "lanes", "check", "tuning"):
        with pytest.raises(UsageError, match=rf"^par_loop 'k': '{name}' cannot be assigned"):
            setattr(loop, name, None)
    with pytest.raises(UsageError, match="'nest' cannot be assigned"):
        SPARSITY.nest = False  # type: ignore[attr-defined]


def test_a_program_may_note_something_of_its_own() -> None:
    kernel = copy.copy(KERNEL)
    kernel.colour = "red"  # type: ignore[attr-defined]
    assert kernel.colour == "red"  # type: ignore[attr-defined]
