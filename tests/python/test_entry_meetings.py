# SPDX-License-Identifier: BSD-3-Clause
"""Check mode: elements that set the same entry of a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import CheckError

pytestmark = pytest.mark.usefixtures("checked")
BACKENDS = [backend.name for backend in op2.backends() if backend.available]
each_backend = pytest.mark.parametrize("backend", BACKENDS)
SET = op2.Kernel("void k(double *A, double *y) { for (int i = 0; i < 4; ++i) A[i] = *y; }", "k")
ADD = op2.Kernel("void k(double *A, double *y) { for (int i = 0; i < 4; ++i) A[i] += *y; }", "k")


class World:
    """Edges between eight nodes, and a matrix of what they connect."""

    def __init__(self, ends: Any) -> None:
        self.nodes, self.edges = op2.Set(8, "nodes"), op2.Set(len(ends), "edges")
        self.ends = op2.Map(self.edges, self.nodes, 2, ends, "ends")
        self.mat = op2.Mat(op2.Sparsity((self.nodes, self.nodes), [(self.ends, self.ends)]))
        self.y = op2.Dat(self.edges, np.arange(1.0, 1.0 + len(ends)))

    def set(self, lgmaps: Any = None, **options: Any) -> float:
        arg = self.mat(op2.WRITE, (self.ends, self.ends), lgmaps=lgmaps)
        op2.par_loop(SET, self.edges, arg, self.y(op2.READ), **options)
        return float(self.mat.values.sum())


@each_backend
def test_two_elements_set_one_entry(backend: str) -> None:
    op2.init(backend=backend)
    world = World([[0, 1], [2, 3], [1, 4], [5, 6]])
    world.mat.set_values([0], [0], [[8.0]])
    with pytest.raises(CheckError, match="entry of row 1 and column 1") as caught:
        world.set()
    error = caught.value
    assert (error.check, error.argument, error.element) == ("races", 0, 2)
    for said in ("par_loop 'k'", "elements 0 and 2", "Map 'ends'", "equal_writes=True", "INC"):
        assert said in str(error)
    assert world.mat.values.sum() == 8
    world.mat.zero()
    for _ in range(2):
        arg = world.mat(op2.INC, (world.ends, world.ends))
        op2.par_loop(ADD, world.edges, arg, world.y(op2.READ))
    assert world.mat.values.sum() == 2 * 4 * (1 + 2 + 3 + 4)
    world.y.assign(2.0)
    world.mat.zero()
    assert world.set(equal_writes=True) == 2 * 15


def test_entries_apart() -> None:
    assert World([[0, 1], [2, 3]]).set() == 4 * 3


def test_values_of_a_map_that_change() -> None:
    world = World([[0, 1], [2, 3]])
    world.mat = op2.Mat(op2.Sparsity((world.nodes, world.nodes), [(world.ends, world.ends)]))
    world.set()
    world.ends.update_values([[0, 1], [1, 0]])
    with pytest.raises(CheckError, match="elements 0 and 1"):
        world.set()


def test_one_element_may_name_an_entry_twice() -> None:
    world = World([[4, 4], [5, 6]])
    world.set()


def test_shared_rows_with_columns_of_their_own_are_no_race() -> None:
    rows, cols, edges = op2.Set(1), op2.Set(4), op2.Set(2, "edges")
    down = op2.Map(edges, rows, 1, [0, 0])
    across = op2.Map(edges, cols, 2, [0, 1, 2, 3])
    mat = op2.Mat(op2.Sparsity((rows, cols), [(down, across)]))
    kernel = op2.Kernel("void k(double *A) { A[0] = 1; A[1] = 2; }", "k")
    op2.par_loop(kernel, edges, mat(op2.WRITE, (down, across)))
    assert mat.values.tolist() == [[1, 2, 1, 2]]
    across.update_values([[0, 1], [1, 0]])
    mat = op2.Mat(op2.Sparsity((rows, cols), [(down, across)]))
    with pytest.raises(CheckError, match="row 0 and column 0"):
        op2.par_loop(kernel, edges, mat(op2.WRITE, (down, across)))


def test_entries_that_are_left_out_do_not_meet() -> None:
    world = World([[0, 1], [1, 2]])
    without = np.array([0, -1, 2, 3, 4, 5, 6, 7])
    assert world.set(lgmaps=(without, None)) == 2 * 1 + 2 * 2
    with pytest.raises(CheckError, match="row 1 and column 1"):
        world.set(lgmaps=(np.array([-1, 1, 2, 3, 4, 5, 6, 7]), None))


def test_entries_that_lead_nowhere_do_not_meet() -> None:
    assert World([[0, -1], [2, -1]]).set() == 1 + 2


def test_subsets_are_of_the_loop() -> None:
    world = World([[0, 1], [1, 2], [3, 4]])
    arg = world.mat(op2.WRITE, (world.ends, world.ends))
    op2.par_loop(SET, op2.Subset(world.edges, [0, 2]), arg, world.y(op2.READ))
    with pytest.raises(CheckError, match="elements 0 and 1"):
        op2.par_loop(SET, world.edges, arg, world.y(op2.READ))


def test_rows_of_a_global() -> None:
    nodes = op2.Set(3)
    for targets, meets in (([2, 0, 1], False), ([2, 0, 2], True)):
        across = op2.Map(nodes, nodes, 1, targets, "across")
        dsets = (op2.GlobalDataSet(op2.Global(2)), nodes**1)
        mat = op2.Mat(op2.Sparsity(dsets, [(None, across, None)]))
        loop = op2.ParLoop(
            op2.Kernel("void k(double *A) { A[1] = 4; }", "k"),
            nodes,
            mat(op2.WRITE, (None, across)),
        )
        if meets:
            with pytest.raises(CheckError, match="elements 0 and 2"):
                loop.compute()
        else:
            loop.compute()
    dsets = (op2.GlobalDataSet(op2.Global(1)), op2.GlobalDataSet(op2.Global(1)))
    mat = op2.Mat(op2.Sparsity(dsets, [(None, None, None)]))
    kernel = op2.Kernel("void k(double *A) { A[0] = 4; }", "k")
    with pytest.raises(CheckError, match="elements 0 and 2"):
        op2.par_loop(kernel, nodes, mat(op2.WRITE, (None, None)))
    op2.par_loop(kernel, nodes, mat(op2.WRITE, (None, None)), equal_writes=True)


def test_blocks_of_a_mixed_matrix() -> None:
    world = World([[0, 1], [1, 2]])
    own = op2.Map(world.edges, world.edges, 1, [0, 1], "own")
    maps = op2.MixedMap((own, world.ends))
    dset = op2.MixedDataSet((world.edges, world.nodes))
    mat = op2.Mat(op2.Sparsity((dset, dset), [(maps, maps, None)]))
    kernel = op2.Kernel("void k(double *A) { for (int i = 0; i < 9; ++i) A[i] = 1; }", "k")
    with pytest.raises(CheckError, match="Map 'ends'"):
        op2.par_loop(kernel, world.edges, mat(op2.WRITE, (maps, maps)))
    op2.par_loop(kernel, world.edges, mat(op2.WRITE, (maps, maps)), equal_writes=True)
