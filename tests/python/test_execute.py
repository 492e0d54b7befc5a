# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.base.access import INC, READ, RW, WRITE
from pyop2cxx.exceptions import HaloFrozenError
from pyop2cxx.loop.execute import Effects, Run, effects_of
from pyop2cxx.loop.parts import Part, parts_of
from pyop2cxx.sets.items import items_of

ADD = op2.Kernel("void add(const double *x, double *y) { y[0] += x[0]; y[1] += x[0]; }", "add")


class Telling(op2.Halo):
    """A Halo that says when it is asked."""

    def __init__(self, told: list[str]) -> None:
        self.told = told

    comm = None
    local_to_global_numbering = np.arange(4, dtype=np.int32)

    def global_to_local_begin(self, dat: Any, insert_mode: Any) -> None:
        self.told.append(f"bring {dat.name}")

    def global_to_local_end(self, dat: Any, insert_mode: Any) -> None:
        self.told.append(f"brought {dat.name}")

    def local_to_global_begin(self, dat: Any, insert_mode: Any) -> None:
        self.told.append(f"gather {dat.name}")

    def local_to_global_end(self, dat: Any, insert_mode: Any) -> None:
        self.told.append(f"gathered {dat.name}")


class TellingWatch:
    def __init__(self, told: list[str]) -> None:
        self.told = told

    def before(self) -> None:
        self.told.append("before")

    def after(self) -> None:
        self.told.append("after")


def parts(args: Any, over: op2.Set) -> tuple[Part, ...]:
    return parts_of(args, items_of(over, None, False, "loop"))


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def world(told: list[str]) -> tuple[op2.Set, op2.Map, op2.Dat, op2.Dat]:
    """Two links between three nodes, one of them a ghost."""
    nodes = op2.Set((2, 2, 3), "nodes", halo=Telling(told))
    links = op2.Set(2, "links")
    ends = op2.Map(links, nodes, 2, [[0, 1], [1, 2]])
    return links, ends, op2.Dat(nodes, [1.0, 2.0, 0.0], name="x"), op2.Dat(nodes, name="y")


def test_a_run_is_checked_brought_computed_noted_and_gathered(told: list[str], world: Any) -> None:
    links, ends, x, y = world
    args = (x(READ, ends), y(INC, ends))
    x.halo_valid = False

    def launch() -> bool:
        told.append(f"launch {x.halo_valid}")
        return False

    run = Run("loop", effects_of(parts(args, links), links), launch, TellingWatch(told))
    assert run.is_watched
    assert not run.unwatched().is_watched
    run.once(args)
    order = "before, bring x, brought x, launch True, gather y, gathered y, after"
    assert told == order.split(", ")
    assert not y.halo_valid


def test_effects_are_numbers_of_arguments(world: Any) -> None:
    links, ends, x, y = world
    here, total = op2.Dat(links), op2.Global(1, 0.0)
    mixed = op2.MixedDat((y, total))
    path = op2.MixedMap((ends, None))
    args = (total(INC), here(WRITE), mixed(INC, path), x(READ, ends), x(READ, ends))
    ghosts = ((2, 0, INC), (4, 0, READ))  # of what comes twice, once
    wanted = Effects(dats=(1, 2, 3, 4), written=(1, 2), assembled=(), ghosts=ghosts)
    assert effects_of(parts(args, links), links) == wanted


def test_a_remembered_loop_exchanges_as_before(told: list[str], world: Any) -> None:
    links, ends, x, y = world
    for times in (1, 2):
        x.halo_valid = False
        with op2.backend("sequential"):
            op2.par_loop(ADD, links, x(READ, ends), y(INC, ends))
        assert told == times * ["bring x", "brought x", "gather y", "gathered y"]


def test_matrices_know_what_loops_did() -> None:
    cells, nodes = op2.Set(1), op2.Set(2)
    ends = op2.Map(cells, nodes, 2, [0, 1])
    mat = op2.Mat(op2.Sparsity((nodes**1, nodes**1), [(ends, ends)]))
    for access, sign, state in ((WRITE, "=", mat.INSERT_VALUES), (INC, "+=", mat.ADD_VALUES)) * 2:
        loop = f"for (int i = 0; i < 4; ++i) A[i] {sign} 1;"
        fill = op2.Kernel(f"void fill(double *A) {{ {loop} }}", "fill")
        with op2.backend("sequential"):
            op2.par_loop(fill, cells, mat(access, (ends, ends)))
        assert mat.assembly_state == state


def test_a_frozen_field_is_named_by_its_argument(world: Any) -> None:
    links, ends, x, y = world
    mixed, here = op2.MixedDat((x, y)), op2.Dat(links)
    give = op2.Kernel("void give(double *a, double *b) { b[0] = a[0]; }", "give")
    args = (mixed(READ, op2.MixedMap((ends, ends))), here(WRITE))
    with op2.backend("sequential"):
        op2.par_loop(give, links, *args)
        with y.frozen_halo(INC), pytest.raises(HaloFrozenError, match=r"give': arg 0: .* 'y'"):
            op2.par_loop(give, links, *args)


def test_what_runs_a_loop_outlives_it() -> None:
    """Remembered loops have nothing else; it is a function of CPython, which knows its loop."""
    cells = op2.Set(3)
    x = op2.Dat(cells, [1.0, 2.0, 3.0])
    twice = op2.Kernel("void twice(double *x) { *x *= 2; }", "twice")
    with op2.backend("sequential"):
        loop = op2.ParLoop(twice, cells, x(RW))
        loop.compute()
        launch, version = loop.bound_run.launch, x.dat_version
        del loop
        gc.collect()
        assert launch() is False  # nothing was copied to a device or from one
    assert x.dat_version == version + 1
    assert x.data_ro.tolist() == [4.0, 8.0, 12.0]
    with pytest.raises(TypeError, match="takes no arguments"):
        launch(1)  # type: ignore[call-arg]
