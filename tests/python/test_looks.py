# SPDX-License-Identifier: BSD-3-Clause
"""What the host reads while a graph is written down must not be what the graph changes."""

from __future__ import annotations

import contextlib
import copy
import pickle
import re
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import UsageError
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable

MORE = op2.Kernel("void more(double *x) { x[0] += 1; }", "more")
ADD = op2.Kernel("void add(double *s, const double *x) { s[0] += x[0]; }", "add")
TO_MAT = op2.Kernel("void to_mat(double *A) { A[0] += 1; }", "to_mat")


class World:
    """A Dat, a Global and a matrix, and loops that change them."""

    def __init__(self) -> None:
        self.cells = op2.Set(3, "cells")
        self.same = op2.Map(self.cells, self.cells, 1, [0, 1, 2])
        self.x = op2.Dat(self.cells, np.zeros(3), name="x")
        self.wide = op2.Dat(self.cells**2, np.zeros((3, 2)), name="wide")
        self.total = op2.Global(1, 0.0, name="total")
        sparsity = op2.Sparsity((self.cells**1, self.cells**1), [(self.same, self.same, None)])
        self.mat = op2.Mat(sparsity, name="mat")

    def change_x(self) -> None:
        op2.par_loop(MORE, self.cells, self.x(op2.RW))

    def change_total(self) -> None:
        op2.par_loop(ADD, self.cells, self.total(op2.INC), self.x(op2.READ))

    def change_mat(self) -> None:
        op2.par_loop(TO_MAT, self.cells, self.mat(op2.INC, (self.same, self.same)))

    def change_component(self) -> None:
        op2.par_loop(MORE, self.cells, op2.DatView(self.wide, 1)(op2.RW))


LOOKS_AT_X: dict[str, Callable[[World], Any]] = {
    "max": lambda w: w.x.max(),
    "min": lambda w: w.x.min(),
    "sum": lambda w: w.x.sum(),
    "norm": lambda w: w.x.norm,
    "dot": lambda w: w.x.dot(w.x),
    "inner": lambda w: w.x.inner(w.x),
    "data_ro": lambda w: w.x.data_ro[0],
    "data_ro_with_halos": lambda w: w.x.data_ro_with_halos,
    "global_data": lambda w: w.x.global_data,
    "asarray": lambda w: np.asarray(w.x),
    "ufunc": lambda w: np.sum(w.x.data_ro),
    "copy": lambda w: op2.Dat(w.x),
    "copy.copy": lambda w: copy.copy(w.x),
    "deepcopy": lambda w: copy.deepcopy(w.x),
    "pickle": lambda w: pickle.dumps(w.x),
    "view": lambda w: op2.DatView(w.x, 0).data_ro,
    "to_host": lambda w: w.x.to_host(),
    "dat_version": lambda w: w.x.dat_version,
    "contains": lambda w: 0.0 in w.x.data_ro,
}
LOOKS_AT_TOTAL: dict[str, Callable[[World], Any]] = {
    "float": lambda w: float(w.total),
    "int": lambda w: int(w.total),
    "complex": lambda w: complex(w.total),
    "compare": lambda w: bool(w.total < 2),
    "data_ro": lambda w: w.total.data_ro[0],
    "asarray": lambda w: np.asarray(w.total),
    "str": lambda w: str(w.total),
    "duplicate": lambda w: w.total.duplicate(),
    "copy": lambda w: op2.Global(w.total),
    "pickle": lambda w: pickle.dumps(w.total),
}
LOOKS_AT_MAT: dict[str, Callable[[World], Any]] = {
    "values": lambda w: w.mat.values,
    "to_scipy": lambda w: w.mat.to_scipy(),
}


def _doors() -> list[Any]:
    rows = [(f"x {name}", look, World.change_x, "Dat 'x'") for name, look in LOOKS_AT_X.items()]
    rows += [
        (f"total {name}", look, World.change_total, "Global 'total'")
        for name, look in LOOKS_AT_TOTAL.items()
    ]
    rows += [
        (f"mat {name}", look, World.change_mat, "Mat 'mat'") for name, look in LOOKS_AT_MAT.items()
    ]
    rows.append(
        (
            "a Dat whose component is written",
            lambda w: w.wide.data_ro,
            World.change_component,
            "Dat 'wide'",
        )
    )
    return [pytest.param(*row[1:], id=row[0]) for row in rows]


@pytest.mark.parametrize("in_chain", [False, True])
@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize(("look", "change", "what"), _doors())
def test_what_is_read_is_not_changed_by_what_is_recorded(
    look: Any, change: Any, what: str, is_first: bool, in_chain: bool
) -> None:
    world = World()

    def step() -> None:
        with op2.chain() if in_chain else contextlib.nullcontext():
            if is_first:
                look(world)
                change(world)
            else:
                change(world)
                look(world)

    with pytest.raises(UsageError) as caught:
        op2.record(step)
    message = str(caught.value)
    assert f"record: 'step' reads {what}" in message
    assert "is read once, now, and not at each submit" in message
    assert len(re.findall(r"\.py:\d+\)", message)) == 2
    assert __file__ in message
    assert runtime.recorder is None


def test_a_decision_that_a_graph_would_freeze_is_refused(backend: str) -> None:
    world = World()

    def step() -> None:
        if world.x.max() < 2:
            world.change_x()

    with pytest.raises(UsageError, match=r"'step' reads Dat 'x'.*'more' writes"):
        op2.record(step)
    np.testing.assert_array_equal(world.x.data_ro, 0)


@pytest.mark.parametrize("how", ["zero", "copy", "assign"])
def test_what_the_library_does_to_values_changes_them_too(how: str) -> None:
    world = World()
    y = op2.Dat(world.cells, np.ones(3), name="y")

    def step() -> None:
        if world.x.max() < 2:
            {"zero": world.x.zero, "copy": lambda: y.copy(world.x)}.get(
                how, lambda: world.x.assign(y)
            )()

    with pytest.raises(UsageError, match="'step' reads Dat 'x'"):
        op2.record(step)


def test_an_array_of_two_dats_is_one_memory() -> None:
    world = World()
    values = np.zeros(3)
    one, other = op2.Dat(world.cells, values, name="one"), op2.Dat(world.cells, values, name="two")

    def step() -> None:
        if one.max() < 2:
            op2.par_loop(MORE, world.cells, other(op2.RW))

    with pytest.raises(UsageError, match="reads Dat 'one'"):
        op2.record(step)


def test_what_no_loop_changes_may_be_read_and_what_another_thread_reads() -> None:
    world = World()
    y = op2.Dat(world.cells, np.full(3, 7.0), name="y")

    def step() -> None:
        thread = threading.Thread(target=world.x.max)
        thread.start()
        thread.join()
        for _ in range(int(y.max())):
            world.change_x()
        assert y.max() == 7

    graph = op2.record(step)
    graph.submit(2)
    np.testing.assert_array_equal(world.x.data_ro, 14)
    assert world.x.max() == 14  # forgotten when the recording has ended


def test_what_was_read_before_the_recording_is_the_programs_decision() -> None:
    world = World()
    small = world.x.max() < 2
    graph = op2.record(lambda: world.change_x() if small else None)
    graph.submit(3)
    np.testing.assert_array_equal(world.x.data_ro, 3)


def test_to_bring_values_to_the_device_decides_nothing(backend: str) -> None:
    world = World()

    def step() -> None:
        world.x.to_device()
        world.change_x()

    op2.record(step).submit(2)
    np.testing.assert_array_equal(world.x.data_ro, 2)


def _single(g: Any, w: World) -> None:
    g.then_single(ADD, w.total(op2.INC), op2.Global(1, 1.0)(op2.READ))


def _while(g: Any, w: World) -> None:
    with g.while_(w.total < 9, most=5) as again:
        again.then(ADD, w.cells, w.total(op2.INC), w.x(op2.READ))


def _inner(g: Any, w: World) -> None:
    g.then_graph(op2.record(w.change_total))


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("closure", [True, False])
@pytest.mark.parametrize("add", [_single, _while, _inner], ids=["single", "while", "nested"])
def test_graphs_that_are_built_freeze_nothing_either(
    add: Any, closure: bool, is_first: bool
) -> None:
    world = World()

    def build(g: Any) -> None:
        if is_first:
            assert float(world.total) < 2
            add(g, world)
        else:
            add(g, world)
            assert float(world.total) < 2

    def in_a_block() -> None:
        with op2.graph("steps") as g:
            build(g)

    with pytest.raises(UsageError, match=r"graph '.*reads Global 'total'"):
        op2.create_graph(build) if closure else in_a_block()
    assert runtime.here.looks is None
    assert float(world.total) == 0


def test_a_look_within_a_while_counts_for_the_whole_graph() -> None:
    world = World()

    def build(g: Any) -> None:
        with g.while_(world.total < 9, most=5) as again:
            world.x.data_ro  # noqa: B018
            again.then(ADD, world.cells, world.total(op2.INC), world.x(op2.READ))
        g.then(MORE, world.cells, world.x(op2.RW))

    with pytest.raises(UsageError, match="reads Dat 'x'"):
        op2.create_graph(build)
    assert runtime.here.looks is None


def test_a_graph_that_is_saved_freezes_nothing() -> None:
    world = World()

    def step() -> None:
        if world.x.max() < 2:
            world.change_x()

    with pytest.raises(UsageError, match="'step' reads Dat 'x'"):
        op2.record(step, to_save=True)


@pytest.mark.parametrize("in_chain", [False, True])
def test_zeros_are_recorded_while_the_program_holds_the_array(backend: str, in_chain: bool) -> None:
    values = np.ones(3)
    world = World()
    x = op2.Dat(world.cells, values, name="x")
    held = x.data

    def step() -> None:
        with op2.chain() if in_chain else contextlib.nullcontext():
            x.zero()
            op2.par_loop(MORE, world.cells, x(op2.RW))

    graph = op2.record(step)
    np.testing.assert_array_equal(held, 1)
    for _ in range(2):
        graph.submit()
        np.testing.assert_array_equal(x.data_ro, 1)
        x.data[:] = 5


def test_copies_are_recorded_while_the_program_holds_the_arrays(backend: str) -> None:
    world = World()
    y = op2.Dat(world.cells, np.full(3, 2.0), name="y")
    held = world.x.data, y.data

    def step() -> None:
        y.copy(world.x)
        world.change_x()

    graph = op2.record(step)
    graph.submit()
    np.testing.assert_array_equal(world.x.data_ro, 3)
    y.data[:] = 7
    graph.submit()
    np.testing.assert_array_equal(world.x.data_ro, 8)
    del held
