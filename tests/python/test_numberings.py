# SPDX-License-Identifier: BSD-3-Clause
"""Check mode: a loop that mixes what was renumbered with what was left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import CheckError, UsageError

if TYPE_CHECKING:
    from pyop2cxx.data.renumber import Renumbering

pytestmark = pytest.mark.usefixtures("checked")
BACKENDS = [backend.name for backend in op2.backends() if backend.available]
each_backend = pytest.mark.parametrize("backend", BACKENDS)
PLACES = [3.0, 0.0, 2.0, 4.0, 1.0]
ENDS = [[1, 4], [4, 2], [2, 0], [0, 3]]

SUM = op2.Kernel("void sum(double *s, double *a) { s[0] += a[0] + 2 * a[1]; }", "sum")
ADD = op2.Kernel("void add(double *a, double *b) { a[0] += b[0]; }", "add")
SPREAD = op2.Kernel("void spread(double *a, double *b) { a[0] += b[0]; a[1] += b[1]; }", "spread")
ONES = op2.Kernel("void ones(double *a) { a[0] = 1; }", "ones")
BOTH = op2.Kernel("void both(double *a, double *b) { a[0] = b[0]; a[1] = b[1]; }", "both")


class World:
    """Five nodes in a row, numbered at random; `left` is left out by `renumber`."""

    def __init__(self) -> None:
        self.nodes, self.edges = op2.Set(5, "nodes"), op2.Set(4, "edges")
        self.ends = op2.Map(self.edges, self.nodes, 2, ENDS, "ends")
        self.ways = op2.Map(self.edges, self.nodes, 2, ENDS, "ways")
        self.x = op2.Dat(self.nodes, PLACES, name="x")
        self.left = op2.Dat(self.nodes, PLACES, name="left")
        self.zeros = op2.Dat(self.nodes, name="zeros")
        self.some = op2.Subset(self.nodes, [0, 1])
        self.s = op2.Global(1, 0.0, name="s")

    def renumber(self) -> Renumbering:
        return op2.renumber([self.ends], [self.x], coordinates=self.x, method="hilbert")

    def sum(self, dat: op2.Dat, path: op2.Map) -> float:
        self.s.data = 0.0
        op2.par_loop(SUM, self.edges, self.s(op2.INC), dat(op2.READ, path))
        return float(self.s.data_ro[0])


def refused(message: str) -> pytest.RaisesExc[CheckError]:
    return pytest.raises(CheckError, match=message)


@each_backend
def test_a_dat_that_was_left_out(backend: str) -> None:
    op2.init(backend=backend)
    world = World()
    want = world.sum(world.left, world.ends)
    world.renumber()
    assert world.sum(world.x, world.ends) == want
    with refused("par_loop 'sum'.*argument 1.*Dat 'left'.*left out.*'nodes'.*Map 'ends'") as caught:
        world.sum(world.left, world.ends)
    error = caught.value
    assert isinstance(error, CheckError)
    assert (error.check, error.argument, error.element) == ("numberings", 1, -1)
    for said in ("op2.renumber", "to_new", "on=nodes", "Nothing was written"):
        assert said in str(error)


def test_a_loop_that_is_kept_is_looked_at_again() -> None:
    world = World()
    loop = op2.ParLoop(ADD, world.nodes, world.x(op2.INC), world.left(op2.READ))
    loop.compute()
    world.renumber()
    values = world.x.data_ro.copy()
    with refused("Dat 'left'.*Dat 'x'"):
        loop.compute()
    assert world.x.data_ro.tolist() == values.tolist()
    world.left.data = world.x.data_ro
    loop.compute()
    assert world.x.data_ro.tolist() == (2 * values).tolist()


def test_without_a_map_nothing_is_remembered_either() -> None:
    world = World()
    args = (world.x(op2.INC), world.left(op2.READ))
    op2.par_loop(ADD, world.nodes, *args)
    op2.renumber([], [world.x], coordinates=world.x, method="hilbert")
    with refused("Dat 'left'"):
        op2.par_loop(ADD, world.nodes, *args)


def test_a_map_that_was_left_out() -> None:
    world = World()
    world.renumber()
    with refused("Map 'ways'.*left out.*make it anew"):
        world.sum(world.x, world.ways)
    permuted = op2.PermutedMap(world.ways, [1, 0])
    with refused("Map 'ways'"):
        world.sum(world.x, permuted)
    world.ways.update_values(world.ends.values)
    world.sum(world.x, permuted)


def test_the_set_that_a_map_starts_on_counts_too() -> None:
    world = World()
    length = op2.Dat(world.edges, [1.0, 2.0, 3.0, 4.0], name="length")
    kernel = op2.Kernel("void k(double *l, double *a) { l[0] += a[1] - a[0]; }", "k")
    world.renumber()
    with refused("Dat 'length'.*Set 'edges'"):
        op2.par_loop(kernel, world.edges, length(op2.RW), world.x(op2.READ, world.ends))


def test_a_subset_that_was_left_out() -> None:
    world = World()
    mask = np.isin(np.arange(5), world.some.indices)
    way = world.renumber()
    with refused("Subset of Set 'nodes'.*left out.*op2.Subset"):
        op2.par_loop(ADD, world.some, world.x(op2.INC), world.zeros(op2.READ))
    with refused("Subset of Set 'nodes'"):
        op2.par_loop(
            ADD, world.nodes.difference(world.some), world.x(op2.INC), world.zeros(op2.READ)
        )
    anew = op2.Subset(world.nodes, way.to_new(mask, on=world.nodes))
    op2.par_loop(ADD, anew, world.x(op2.INC), world.zeros(op2.READ))


def test_undo_brings_together_what_was_left_out() -> None:
    world = World()
    want = world.sum(world.x, world.ends)
    way = world.renumber()
    made = op2.Dat(world.nodes, world.x.data_ro, name="made")
    world.sum(made, world.ends)
    way.undo()
    for dat, path in ((world.left, world.ends), (world.x, world.ways), (world.left, world.ways)):
        assert world.sum(dat, path) == want
    with refused("Dat 'made'"):
        world.sum(made, world.ends)


def test_what_was_left_out_together_fits_together() -> None:
    world = World()
    want = world.sum(world.left, world.ways)
    world.renumber()
    assert world.sum(world.left, world.ways) == want


def test_a_dat_left_out_once_stays_so() -> None:
    world = World()
    world.renumber()
    op2.renumber([world.ends], [world.x, world.left], coordinates=world.left, method="hilbert")
    with refused("Dat 'left'"):
        world.sum(world.left, world.ends)


@pytest.mark.parametrize("way", ["zero", "number", "array", "setter", "data_wo", "copy", "fresh"])
def test_values_that_are_given_anew(way: str) -> None:
    world = World()
    world.renumber()
    left = world.left
    if way == "zero":
        left.zero()
    elif way == "number":
        left.assign(2.0)
    elif way == "array":
        left.assign(world.x.data_ro)
    elif way == "setter":
        left.data = world.x
    elif way == "data_wo":
        left.data_wo[:] = 1
    elif way == "copy":
        world.x.copy(left)
    else:
        left = op2.Dat(world.nodes, world.x.data_ro)
    world.sum(left, world.ends)


def test_a_copy_is_numbered_as_what_it_is_made_from() -> None:
    world = World()
    world.renumber()
    with refused("copy_of_left"):
        world.sum(op2.Dat(world.left), world.ends)
    world.left.copy(world.x)
    with refused("Dat 'x'"):
        world.sum(world.x, world.ends)


def test_a_part_given_anew_is_not_enough() -> None:
    world = World()
    world.renumber()
    world.left.assign(1.0, subset=op2.Subset(world.nodes, [0]))
    world.left.data[0] = 1
    with refused("Dat 'left'"):
        world.sum(world.left, world.ends)


def test_zeros_fit_everywhere() -> None:
    world = World()
    world.renumber()
    op2.par_loop(ADD, world.nodes, world.zeros(op2.INC), world.left(op2.READ))
    with refused("Dat 'zeros'|Map 'ends'"):
        world.sum(world.zeros, world.ends)


@pytest.mark.parametrize("check", [True, False])
def test_a_loop_that_writes_all_values(check: bool) -> None:
    world = World()
    world.renumber()
    op2.par_loop(ONES, world.nodes, world.left(op2.WRITE), check=check)
    world.sum(world.left, world.ends)
    other = op2.Dat(world.nodes, PLACES)
    op2.renumber([world.ends], [world.x], coordinates=world.x, method="lines")
    args = (other(op2.WRITE, world.ends), world.x(op2.READ, world.ends))
    op2.par_loop(BOTH, world.edges, *args, check=check, equal_writes=True)
    world.sum(other, world.ends)


def test_a_loop_that_writes_some_values() -> None:
    world = World()
    world.renumber()
    with refused("Dat 'left'.*Subset of Set 'nodes'"):
        op2.par_loop(ONES, op2.Subset(world.nodes, [1]), world.left(op2.WRITE))
    with refused("Dat 'left'"):
        op2.par_loop(
            SPREAD, world.edges, world.left(op2.INC, world.ends), world.x(op2.READ, world.ends)
        )


def test_components_and_fields() -> None:
    world = World()
    two = op2.Dat(world.nodes**2, np.ones((5, 2)), name="two")
    mixed = op2.MixedDat([two, world.x])
    world.renumber()
    with refused("DatView"):
        world.sum(op2.DatView(two, 1), world.ends)
    kernel = op2.Kernel("void k(double *s, double *m) { s[0] += m[0] + m[2]; }", "k")
    with refused("Dat 'two'"):
        op2.par_loop(kernel, world.nodes, world.s(op2.INC), mixed(op2.READ))


def test_python_kernels() -> None:
    world = World()
    world.renumber()

    def ones(a: np.ndarray) -> None:
        a[0] = 1

    def add(a: np.ndarray, b: np.ndarray) -> None:
        a[0] += b[0]

    with refused("par_loop 'add'.*Dat 'left'"):
        op2.par_loop(add, world.nodes, world.x(op2.INC), world.left(op2.READ))
    op2.par_loop(ones, world.nodes, world.left(op2.WRITE))
    world.sum(world.left, world.ends)


def test_without_check_mode_all_is_as_before() -> None:
    op2.init(check=False)
    world = World()
    world.renumber()
    world.sum(world.left, world.ends)


def test_columns() -> None:
    world = World()
    columns = op2.ExtrudedSet(world.edges, 3)
    cells = op2.Set(8, "cells")
    up = op2.Map(columns, cells, 1, np.arange(0, 8, 2), "up", offset=[1])
    length = op2.Dat(world.edges, np.ones(4), name="length")
    y = op2.Dat(cells, name="y")
    args = (y(op2.INC, up), length(op2.READ))
    op2.par_loop(ADD, columns, *args)
    with pytest.raises(UsageError, match=r"Map .up.*extruded.*before"):
        op2.renumber([up], [y], coordinates=y, method="hilbert")
    world.renumber()
    with refused("'up'|'length'"):
        op2.par_loop(
            op2.Kernel("void k(double *a, double *b) { a[0] += b[0]; }", "k"),
            columns,
            op2.Dat(world.edges, np.ones(4), name="fresh")(op2.INC),
            y(op2.READ, up),
        )
