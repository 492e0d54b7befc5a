# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import (
    DataValueError,
    MapTypeError,
    MapValueError,
    ModeValueError,
    SparsityShapeError,
    UnsupportedError,
    UsageError,
)
from pyop2cxx.op2 import INC, WRITE
from pyop2cxx.runtime import runtime
from pyop2cxx.types.mat_paths import MatPath, MixedMatPath

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def options() -> Iterator[None]:
    yield
    op2.exit()


class Mixed:
    """Two triangles: their nodes, and themselves; in blocks of their own."""

    def __init__(self, **sparsity: Any) -> None:
        self.cells, self.nodes = op2.Set(2, "cells"), op2.Set(4, "nodes")
        self.c2n = op2.Map(self.cells, self.nodes, 3, [[0, 1, 3], [2, 3, 1]], "c2n")
        self.c2c = op2.Map(self.cells, self.cells, 1, [0, 1], "c2c")
        self.maps = op2.MixedMap((self.c2n, self.c2c))
        self.dset = op2.MixedDataSet((self.nodes, self.cells))
        pairs = [(self.maps, self.maps, None)]
        self.mat = op2.Mat(op2.Sparsity((self.dset, self.dset), pairs, "s", **sparsity))

    def loop(self, access: op2.Access = INC, **options: Any) -> op2.ParLoop:
        """Entry (a, b) of the tensor gets 10 a + b + 1."""
        text = """void k(double *A) {
          for (int a = 0; a < 4; ++a) for (int b = 0; b < 4; ++b) A[4 * a + b] += 10 * a + b + 1;
        }"""
        argument = self.mat(access, (self.maps, self.maps), **options)
        return op2.ParLoop(op2.Kernel(text, "k"), self.cells, argument)

    def dense(self) -> Any:
        """What the loop adds."""
        dense = np.zeros((6, 6))
        for cell, nodes in enumerate([[0, 1, 3], [2, 3, 1]]):
            dofs = [*nodes, 4 + cell]
            dense[np.ix_(dofs, dofs)] += np.add.outer(10 * np.arange(4), np.arange(4)) + 1
        return dense


@pytest.mark.parametrize("nest", [True, False])
def test_a_mixed_matrix_is_assembled_by_one_loop(nest: bool) -> None:
    world = Mixed(nest=nest)
    loop = world.loop()
    loop.compute()
    np.testing.assert_array_equal(world.mat.values, world.dense())
    assert world.mat.assembly_state is op2.Mat.ADD_VALUES
    assert world.mat[0, 1].assembly_state is op2.Mat.ADD_VALUES
    world.mat.assemble()
    assert world.mat[1, 1].assembly_state is op2.Mat.ASSEMBLED
    version = world.mat.dat_version
    loop.compute()
    world.mat.assemble()
    assert world.mat.dat_version == version + 4
    np.testing.assert_array_equal(world.mat.values, 2 * world.dense())
    world.mat.zero()
    np.testing.assert_array_equal(world.mat.values, 0)


def test_blocks_are_set() -> None:
    world = Mixed()
    cells, maps = world.cells, op2.MixedMap((world.c2c, world.c2c))
    dset = op2.MixedDataSet((cells, cells))
    mat = op2.Mat(op2.Sparsity((dset, dset), [(maps, maps, None)]))
    for block in mat:
        block.array[:] = 7
    kernel = op2.Kernel("void k(double *A) { A[1] = 1; A[2] = 2; }", "k")
    op2.par_loop(kernel, cells, mat(WRITE, (maps, maps)))
    np.testing.assert_array_equal(mat.values, np.kron([[0, 1], [2, 0]], np.eye(2)))


def test_a_path_is_remembered_and_the_loop_with_it() -> None:
    world = Mixed()
    args = [world.mat(INC, (world.maps, world.maps)) for _ in range(2)]
    assert args[0].map_ is args[1].map_
    assert isinstance(args[0].map_, MixedMatPath)
    assert args[0].map_.name == "c2n, c2c x c2n, c2c"
    plain = world.mat[0, 0](INC, (world.c2n, world.c2n))
    assert plain.map_ is args[0].parts[0].map_
    assert isinstance(plain.map_, MatPath)
    assert not plain.map_.is_masked
    kernel = op2.Kernel("void k(double *A) { A[0] += 1; }", "k")
    for _ in range(2):
        op2.par_loop(kernel, world.cells, world.mat(INC, (world.maps, world.maps)))
    before = runtime.engine.plans.statistics().misses
    op2.par_loop(kernel, world.cells, world.mat(INC, (world.maps, world.maps)))
    assert runtime.engine.plans.statistics().misses == before
    assert world.mat.values.sum() == 6


def test_other_matrices_of_the_sparsity_take_their_place() -> None:
    world = Mixed()
    lgmaps = [(np.array([-1, 1, 2, 3]), None), None, None, None]
    loop = world.loop(lgmaps=lgmaps)
    other = op2.Mat(world.mat.sparsity)
    loop.replace_data(0, other)
    loop.compute()
    expected = world.dense()
    expected[0, :4] = 0
    np.testing.assert_array_equal(other.values, expected)
    np.testing.assert_array_equal(world.mat.values, 0)
    block = world.mat[0, 0]
    kernel = op2.Kernel("void k(double *A) { A[4] += 1; }", "k")
    single = op2.ParLoop(kernel, world.cells, block(INC, (world.c2n, world.c2n)))
    single.replace_data(0, other[0, 0].duplicate(copy=False))
    single.compute()
    np.testing.assert_array_equal(block.values, 0)
    with pytest.raises(UsageError, match="can be replaced by one like it"):
        single.replace_data(0, op2.Mat(world.mat.sparsity[0, 0], np.float32))


def test_globals_meet() -> None:
    g, h = op2.Global(2), op2.Global(3)
    dsets = (op2.GlobalDataSet(g), op2.GlobalDataSet(h))
    mat = op2.Mat(op2.Sparsity(dsets, [(None, None, None)]))
    kernel = op2.Kernel("void k(double *A) { for (int i = 0; i < 6; ++i) A[i] += i; }", "k")
    op2.par_loop(kernel, op2.Set(5), mat(INC, (None, None)))
    np.testing.assert_array_equal(mat.values, 5 * np.arange(6.0).reshape(2, 3))
    with pytest.raises(UnsupportedError, match="elements can only add"):
        mat(WRITE, (None, None))


def test_rows_of_a_global_are_set() -> None:
    nodes = op2.Set(3)
    identity = op2.Map(nodes, nodes, 1, [2, 0, 1])
    dsets = (op2.GlobalDataSet(op2.Global(2)), nodes**1)
    mat = op2.Mat(op2.Sparsity(dsets, [(None, identity, None)]))
    mat.array[:] = 9
    kernel = op2.Kernel("void k(double *A) { A[1] = 4; }", "k")
    op2.par_loop(kernel, nodes, mat(WRITE, (None, identity)))
    np.testing.assert_array_equal(mat.values, [[0, 0, 0], [4, 4, 4]])
    assert mat(INC, (None, identity)).map_.name.startswith("a Global x")


def test_bad_paths() -> None:
    world = Mixed()
    mat, maps, c2n = world.mat, world.maps, world.c2n
    with pytest.raises(MapTypeError, match="must be a pair"):
        mat(INC, maps)
    with pytest.raises(MapTypeError, match="the rows have 2 fields"):
        mat(INC, (c2n, maps))
    with pytest.raises(MapTypeError, match="the columns have 2 fields"):
        mat(INC, (maps, (c2n, 3)))
    with pytest.raises(MapValueError, match="'c2c' and 'c2n' are no pair"):
        mat(INC, ((world.c2c, c2n), maps))
    with pytest.raises(MapValueError, match="None and 'c2n' are no pair"):
        mat(INC, ((None, c2n), maps))
    with pytest.raises(DataValueError, match=r"a pair .* for each of the 4 blocks"):
        mat(INC, (maps, maps), lgmaps=[None])
    with pytest.raises(DataValueError, match="the rows need integers of shape"):
        mat(INC, (maps, maps), lgmaps=[([1.5], None), None, None, None])
    with pytest.raises(ModeValueError):
        mat(op2.READ, (maps, maps))


def test_bad_sparsities_of_globals() -> None:
    nodes = op2.Set(3, "nodes")
    identity = op2.Map(nodes, nodes, 1, [0, 1, 2], "identity")
    dsets = (op2.GlobalDataSet(op2.Global(2)), nodes**1)
    with pytest.raises(MapTypeError, match="a Global's rows or columns have no Map"):
        op2.Sparsity(dsets, [(identity, identity, None)])
    with pytest.raises(MapTypeError, match="None for the columns"):
        op2.Sparsity(dsets, [(None, None, None)])
    with pytest.raises(SparsityShapeError, match="leads to Set"):
        op2.Sparsity((dsets[0], op2.Set(3) ** 1), [(None, identity, None)])
    mat = op2.Mat(op2.Sparsity(dsets, [(None, identity, None)]))
    for lgmaps, message in (
        (([-1, -1], None), "the rows need integers of shape"),
        ((None, [0, 1]), "the columns need integers of shape"),
        ((None, [0, 2, 1]), "entry 1 of the columns is 2"),
    ):
        with pytest.raises(DataValueError, match=message):
            mat(INC, (None, identity), lgmaps=lgmaps)


def test_extruded_pairs_couple_cells_by_region() -> None:
    base = op2.Set(1, "base")
    columns = op2.ExtrudedSet(base, 4)
    nodes = op2.Set(4, "nodes")
    ends = op2.Map(columns, nodes, 2, [0, 1], offset=[1, 1])
    everywhere = op2.Sparsity((nodes, nodes), [(ends, ends, None)])
    assert everywhere.nnz.tolist() == [2, 3, 3, 2]
    top = op2.Sparsity((nodes, nodes), [(ends, ends, (op2.ON_TOP,))], diagonal_block=False)
    assert top.nnz.tolist() == [0, 0, 2, 2]
    facets = op2.Sparsity((nodes, nodes), [(ends, ends, (op2.ON_INTERIOR_FACETS,))])
    assert facets.nnz.tolist() == [3, 4, 4, 3]
    kernel = op2.Kernel("void k(double *A) { A[0] += 1; A[3] += 1; }", "k")
    mat = op2.Mat(top)
    loop = op2.ParLoop(kernel, columns, mat(INC, (ends, ends)), iteration_region=op2.ON_TOP)
    loop.compute()
    np.testing.assert_array_equal(mat.values, np.diag([0.0, 0, 1, 1]))
    with pytest.raises(UsageError, match="has no place"):  # only tops were coupled
        op2.par_loop(kernel, columns, mat(INC, (ends, ends)))
    np.testing.assert_array_equal(mat.values, np.diag([0.0, 0, 1, 1]))


def test_a_map_that_leads_out_of_the_set_is_refused() -> None:
    columns, nodes = op2.ExtrudedSet(op2.Set(1), 4), op2.Set(3, "nodes")
    ends = op2.Map(columns, nodes, 2, [0, 1], "ends", offset=[1, 1])
    with pytest.raises(MapValueError, match="leads from column 0"):
        op2.Sparsity((nodes, nodes), [(ends, ends, None)])


@pytest.mark.usefixtures("static")
@pytest.mark.parametrize("backend", ["sequential", "openmp", "opencl", "cuda"])
def test_text_without_sizes(backend: str) -> None:
    cells, nodes = op2.Set(), op2.Set()
    c2n = op2.Map(cells, nodes, 3)
    both = op2.MixedMap((c2n, None))
    dset = op2.MixedDataSet((nodes**1, op2.GlobalDataSet(op2.Global(2))))
    mat = op2.Mat(op2.Sparsity((dset, dset), [(both, both, None)]))
    kernel = op2.Kernel("void k(double *A) { A[0] += 1; }", "k")
    with op2.backend(backend):
        text = op2.ParLoop(kernel, cells, mat(INC, (both, both))).generate()
    assert "A_joined" in text
    assert "A_0_position" in text


BACKENDS = [backend.name for backend in op2.backends() if backend.available]


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_left_out_beside_a_global(backend: str) -> None:
    """Boundary nodes of a field beside two numbers: their rows and columns stay as they are."""
    cells, nodes = op2.Set(3), op2.Set(4)
    c2n = op2.Map(cells, nodes, 2, [0, 1, 1, 2, 2, 3])
    both = op2.MixedDataSet((nodes**1, op2.GlobalDataSet(op2.Global(2))))
    maps = op2.MixedMap((c2n, None))
    mat = op2.Mat(op2.Sparsity((both, both), [(maps, maps, None)]))
    text = "void k(double *A) { for (int i = 0; i < 16; ++i) A[i] += 1 + i; }"
    kernel = op2.Kernel(text, "k")
    kept = np.array([-1, 1, 2, -1])
    lgmaps = [(kept, kept), (kept, None), (None, kept), (None, None)]

    def dense(rows: Any, columns: Any) -> Any:
        expected = np.zeros((6, 6))
        for cell in c2n.values:
            at = [*cell, 4, 5]
            expected[np.ix_(at, at)] += 1 + np.arange(16.0).reshape(4, 4)
        expected[rows, :] = expected[:, columns] = 0
        return expected

    with op2.backend(backend):
        op2.par_loop(kernel, cells, mat(INC, (maps, maps), lgmaps=lgmaps))
        np.testing.assert_array_equal(mat.values, dense([0, 3], [0, 3]))
        mat.zero()
        op2.par_loop(kernel, cells, mat(INC, (maps, maps)))
        np.testing.assert_array_equal(mat.values, dense([], []))
        mat.zero()
        lgmaps[2] = ([-1], None)
        op2.par_loop(kernel, cells, mat(INC, (maps, maps), lgmaps=lgmaps))
        expected = dense([0, 3], [0, 3])
        expected[4:, :4] = 0
        np.testing.assert_array_equal(mat.values, expected)

        mat.zero()

        def function(tensor: Any) -> None:
            tensor += 1 + np.arange(16.0).reshape(4, 4)

        op2.par_loop(function, cells, mat(INC, (maps, maps), lgmaps=lgmaps))
        np.testing.assert_array_equal(mat.values, expected)

        c2n.update_values([3, 2, 2, 1, 1, 0])
        mat.zero()
        op2.par_loop(kernel, cells, mat(INC, (maps, maps), lgmaps=lgmaps))
        expected = dense([0, 3], [0, 3])
        expected[4:, :4] = 0
        np.testing.assert_array_equal(mat.values, expected)
        row = mat[1, 0]
        row.zero()
        wide = op2.Kernel("void k(double *A) { for (int i = 0; i < 4; ++i) A[i] = 7; }", "k")
        op2.par_loop(wide, cells, row(WRITE, (None, c2n), lgmaps=(None, kept)))
        np.testing.assert_array_equal(row.values, [[0, 7, 7, 0]] * 2)


def test_what_cannot_be_left_out_beside_a_global() -> None:
    nodes, columns = op2.Set(3), op2.ExtrudedSet(op2.Set(1), 3)
    identity = op2.Map(nodes, nodes, 1, [0, 1, 2])
    up = op2.Map(columns, nodes, 1, [0], offset=[1])
    dset = op2.GlobalDataSet(op2.Global(1))
    corner = op2.Mat(op2.Sparsity((dset, dset), [(None, None, None)]))
    with pytest.raises(UnsupportedError, match="where two Globals meet cannot be left out"):
        corner(INC, (None, None), lgmaps=([-1], None))
    mat = op2.Mat(op2.Sparsity((dset, nodes**1), [(None, up, None)]))
    with pytest.raises(UnsupportedError, match="of an extruded Set cannot be left out"):
        mat(INC, (None, up), lgmaps=(None, [0, -1, 2]))
    pairs = op2.Mat(op2.Sparsity((dset, nodes**2), [(None, identity, None)]))
    with pytest.raises(UnsupportedError, match="all values of an entity are left out"):
        pairs(INC, (None, identity), lgmaps=(None, [0, -1, 2, 3, 4, 5]), unroll_map=True)
    assert pairs(INC, (None, identity), lgmaps=(None, [0, -1, 2])).parts[0].map_ is not identity
