# SPDX-License-Identifier: BSD-3-Clause
"""What copy.copy, copy.deepcopy and pickle make of every kind of object of the public interface.

Descriptions of data (Sets, Maps, DataSets, Kernels) and data are copied; what stands for something
that is there once (a name, a matrix, compiled loops) says what to do instead.
"""

from __future__ import annotations

import copy
import pickle
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.each_backend
KERNEL = "void k(double *x) { x[0] += 1; }"


def pickled(one: Any) -> Any:
    return pickle.loads(pickle.dumps(one))


class World:
    """One object of each kind."""

    def __init__(self) -> None:
        self.cells, self.nodes = op2.Set(3, "cells"), op2.Set(4, "nodes")
        self.map = op2.Map(self.cells, self.nodes, 2, [[0, 1], [1, 2], [2, 3]], "ends")
        self.dat = op2.Dat(self.nodes, [1.0, 2.0, 3.0, 4.0], name="x")
        self.pairs = op2.Dat(self.nodes**2, np.arange(8.0), name="pairs")
        self.total = op2.Global(1, 2.0, name="total")
        self.sparsity = op2.Sparsity((self.nodes**1, self.nodes**1), (self.map, self.map), "sp")
        self.mat = op2.Mat(self.sparsity, float, "mat")
        self.kernel = op2.Kernel(KERNEL, "k")
        self.loop = op2.ParLoop(self.kernel, self.nodes, self.dat(op2.RW))
        self.extruded = op2.ExtrudedSet(self.cells, 3)
        local = op2.LocalKernel(KERNEL, "k", accesses=[op2.RW])
        self.global_kernel = op2.GlobalKernel(local, [op2.DatKernelArg((1,))])
        self.parloop = op2.Parloop(self.global_kernel, self.nodes, [op2.DatParloopArg(self.dat)])


def made(name: str, world: World) -> Any:
    w = world
    makers: dict[str, Callable[[], Any]] = {
        "Set": lambda: w.cells,
        "Subset": lambda: op2.Subset(w.cells, [0, 2]),
        "ExtrudedSet": lambda: w.extruded,
        "MixedSet": lambda: op2.MixedSet([w.cells, w.nodes]),
        "DataSet": lambda: w.nodes**2,
        "MixedDataSet": lambda: op2.MixedDataSet([w.nodes, w.cells]),
        "GlobalDataSet": lambda: op2.GlobalDataSet(w.total),
        "Map": lambda: w.map,
        "PermutedMap": lambda: op2.PermutedMap(w.map, [1, 0]),
        "ComposedMap": lambda: op2.ComposedMap(w.map),
        "MixedMap": lambda: op2.MixedMap([w.map]),
        "Dat": lambda: w.dat,
        "DatView": lambda: op2.DatView(w.pairs, 0),
        "MixedDat": lambda: op2.MixedDat([w.dat, w.pairs]),
        "Global": lambda: w.total,
        "Constant": lambda: op2.Constant(1, 2.0),
        "Kernel": lambda: w.kernel,
        "LocalKernel": lambda: w.global_kernel.local_kernel,
        "GlobalKernel": lambda: w.global_kernel,
        "DatKernelArg": lambda: op2.DatKernelArg((1,)),
        "MapKernelArg": lambda: op2.MapKernelArg(2),
        "GlobalKernelArg": lambda: op2.GlobalKernelArg((1,)),
        "DatParloopArg": lambda: op2.DatParloopArg(w.dat),
        "GlobalParloopArg": lambda: op2.GlobalParloopArg(w.total),
        "argument": lambda: w.dat(op2.RW),
        "argument through a Map": lambda: w.dat(op2.READ, w.map),
        "argument of a Global": lambda: w.total(op2.READ),
        "OpaqueType": lambda: op2.OpaqueType("Mat"),
        "Solver": lambda: op2.Solver(),
        "Access": lambda: op2.INC,
        "IterationRegion": lambda: op2.ON_TOP,
        "IterationIndex": lambda: op2.i,
        "Sparsity": lambda: w.sparsity,
        "Mat": lambda: w.mat,
        "argument of a Mat": lambda: w.mat(op2.INC, (w.map, w.map)),
        "ParLoop": lambda: w.loop,
        "Parloop": lambda: w.parloop,
        "Const": lambda: op2.Const(1, 3.0, "not_copied"),
        "graph": lambda: op2.record(w.loop.compute, name="step"),
        "builder": lambda: op2.graph("built"),
        "node": lambda: node_of(w),
        "chain": lambda: op2.chain(),
    }
    return makers[name]()


def node_of(world: World) -> Any:
    with op2.graph("built") as graph:
        return graph.par_loop(world.kernel, world.nodes, world.dat(op2.RW))


COPIED = """
Set Subset ExtrudedSet MixedSet DataSet MixedDataSet GlobalDataSet Map PermutedMap ComposedMap
MixedMap Dat DatView MixedDat Global Constant Kernel LocalKernel GlobalKernel DatKernelArg
MapKernelArg GlobalKernelArg DatParloopArg GlobalParloopArg OpaqueType Solver Access
IterationRegion IterationIndex
""".split()  # noqa: SIM905  # a table
ARGUMENTS = ["argument", "argument through a Map", "argument of a Global"]
INSTEAD = {
    "Mat": "duplicate() is a copy, and to_scipy() can be pickled",
    "Const": "op2.Const((1,), not_copied.data_ro, 'other_name') makes another one",
    "graph": "bind() returns it with other data, and save() writes it",
    "builder": "build another one",
    "node": "add another one with then()",
    "chain": "op2.chain() makes another one",
}
"""What is never copied, and what its message says."""
ONLY_SHALLOW = {
    "Sparsity": "make it again from its DataSets and Maps",
    "ParLoop": "make it again from its kernel, Set and arguments",
    "Parloop": "make it again from its kernel, Set and arguments",
    "argument of a Mat": "duplicate() is a copy",
}
"""What is not copied with what it refers to."""


@pytest.fixture(autouse=True)
def options() -> Iterator[None]:
    yield
    op2.exit()


def shown(one: Any) -> str:
    """What an object says of itself, but for numbers that count objects and addresses."""
    return re.sub(r"0x[0-9a-f]+|#x[0-9a-f]+", "", str(one))


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, pickled])
@pytest.mark.parametrize("name", COPIED + ARGUMENTS)
def test_is_copied(name: str, how: Callable[[Any], Any]) -> None:
    one = made(name, World())
    other = how(one)
    assert type(other) is type(one)
    assert shown(other) == shown(one)
    if hasattr(one, "data_ro") and not isinstance(one, op2.MixedDat):
        np.testing.assert_array_equal(other.data_ro, one.data_ro)
    if name in ("Map", "PermutedMap", "ComposedMap"):
        np.testing.assert_array_equal(other.values_with_halo, one.values_with_halo)


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, pickled])
@pytest.mark.parametrize("name", INSTEAD)
def test_is_not_copied_but_says_what_to_do(name: str, how: Callable[[Any], Any]) -> None:
    one = made(name, World())
    try:
        with pytest.raises(UsageError, match=re.escape(INSTEAD[name])):
            how(one)
    finally:
        if isinstance(one, op2.Const):
            one.remove_from_namespace()


@pytest.mark.parametrize("name", ONLY_SHALLOW)
def test_is_copied_without_what_it_refers_to(name: str) -> None:
    one = made(name, World())
    assert type(copy.copy(one)) is type(one)
    for how in (copy.deepcopy, pickled):
        with pytest.raises(UsageError, match=re.escape(ONLY_SHALLOW[name])):
            how(one)


def test_the_advice_is_right() -> None:
    world = World()
    world.mat.values  # noqa: B018 - zeros
    assert world.mat.duplicate().values.shape == (4, 4)
    assert pickled(world.mat.to_scipy()).shape == (4, 4)
    not_copied = op2.Const(1, 3.0, "not_copied")
    other = op2.Const((1,), not_copied.data_ro, "other_name")
    assert pickled(other.data_ro).tolist() == [3.0]
    other.remove_from_namespace()
    not_copied.remove_from_namespace()


@pytest.mark.parametrize("has_values", [True, False])
def test_a_shallow_copy_has_the_same_memory_and_a_deep_one_its_own(
    backend: str, has_values: bool
) -> None:
    """Whatever happened to the values before: those of a Dat of zeros are made when needed."""
    world = World()
    dat = op2.Dat(world.nodes, [1.0] * 4 if has_values else None, name="d")
    before = 1.0 if has_values else 0.0
    shallow, deep = copy.copy(dat), copy.deepcopy(dat)
    assert shallow.dataset is dat.dataset
    op2.par_loop(world.kernel, world.nodes, shallow(op2.RW))
    assert dat.data_ro.tolist() == [before + 1] * 4
    assert deep.data_ro.tolist() == [before] * 4
    shallow, deep = copy.copy(world.total), copy.deepcopy(world.total)
    shallow.data[:] = 7
    assert (world.total.data_ro[0], deep.data_ro[0]) == (7.0, 2.0)


def test_what_is_copied_together_stays_together() -> None:
    world = World()
    cells, ends, dat = copy.deepcopy((world.cells, world.map, world.dat))
    assert ends.iterset is cells
    assert dat.dataset.set is ends.toset
    assert ends.toset is not world.nodes
