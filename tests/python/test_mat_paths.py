# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.data.mat_args import MatPath, MixedMatPath
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
    mat.zero()
    kernel = op2.Kernel("void k(double *A) { for (int i = 0; i < 6; ++i) A[i] = i; }", "k")
    op2.par_loop(kernel, op2.Set(5), mat(WRITE, (None, None)))
    np.testing.assert_array_equal(mat.values, np.arange(6.0).reshape(2, 3))


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


def added(dofs: Any, n: int, blocks: Any) -> Any:
    """What elements add that give entry k of their tensor k + 1, but for rows and columns < 0.

    Args:
        dofs: The scalar rows, and columns, of each element.
        n: How many there are.
        blocks: For each block, by rows, which scalars of its rows and columns are kept.
    """
    dense, kept = np.zeros((n, n)), np.ones((0, n), bool)
    for row in blocks:
        parts = [np.logical_and.outer(np.asarray(r) >= 0, np.asarray(c) >= 0) for r, c in row]
        kept = np.vstack([kept, np.hstack(parts)])
    for of_element in dofs:
        m = len(of_element)
        np.add.at(dense, np.ix_(of_element, of_element), 1 + np.arange(m * m).reshape(m, m))
    return np.where(kept, dense, 0) if len(kept) else dense


def counting(extent: int) -> op2.Kernel:
    """Give entry k of a tensor k + 1."""
    text = f"void k(double *A) {{ for (int i = 0; i < {extent}; ++i) A[i] += i + 1; }}"
    return op2.Kernel(text, "k")


@pytest.mark.parametrize("backend", BACKENDS)
def test_components_are_left_out_beside_a_global(backend: str) -> None:
    cells, nodes = op2.Set(3), op2.Set(4)
    c2n = op2.Map(cells, nodes, 2, [0, 1, 1, 2, 2, 3])
    both = op2.MixedDataSet((nodes**2, op2.GlobalDataSet(op2.Global(2))))
    maps = op2.MixedMap((c2n, None))
    mat = op2.Mat(op2.Sparsity((both, both), [(maps, maps, None)]))
    some, one, whole = np.arange(8), np.array([-1, 1]), np.arange(2)
    some[[0, 3, 6]] = -1
    lgmaps = [(some, some), (some, one), (whole, some), (one, whole)]
    blocks = [lgmaps[:2], lgmaps[2:]]
    dofs = [[2 * a, 2 * a + 1, 2 * b, 2 * b + 1, 8, 9] for a, b in c2n.values]
    argument = mat(INC, (maps, maps), lgmaps=lgmaps, unroll_map=True)
    expected = added(dofs, 10, blocks)

    def function(tensor: Any) -> None:
        tensor += 1 + np.arange(36.0).reshape(6, 6)

    with op2.backend(backend):
        op2.par_loop(counting(36), cells, argument)
        np.testing.assert_array_equal(mat.values, expected)
        mat.zero()
        op2.par_loop(function, cells, argument)
        np.testing.assert_array_equal(mat.values, expected)
        mat.zero()
        loop = op2.ParLoop(counting(36), cells, argument)
        other = op2.Mat(mat.sparsity)
        loop.replace_data(0, other)
        loop.compute()
        np.testing.assert_array_equal(other.values, expected)
        np.testing.assert_array_equal(mat.values, 0)
        whole[:] = -1  # a pair of arrays is what it was when it was given
        loop.compute()
        np.testing.assert_array_equal(other.values, 2 * expected)
        op2.par_loop(counting(36), cells, mat(INC, (maps, maps)))
        np.testing.assert_array_equal(mat.values[8:, 8:], added(dofs, 10, [])[8:, 8:])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("region", [op2.ALL, op2.ON_INTERIOR_FACETS], ids=lambda r: r.name)
def test_entities_of_columns_are_left_out_beside_a_global(backend: str, region: Any) -> None:
    base = op2.Set(3, "base")
    columns, nodes = op2.ExtrudedSet(base, 4), op2.Set(16, "nodes")
    ends = op2.Map(columns, nodes, 4, [[4 * i, 4 * i + 1, 4 * i + 4, 4 * i + 5] for i in range(3)])
    up = op2.Map(columns, nodes, 4, ends.values, "up", offset=[1, 1, 1, 1])
    both = op2.MixedDataSet((nodes**1, op2.GlobalDataSet(op2.Global(2))))
    maps = op2.MixedMap((up, None))
    mat = op2.Mat(op2.Sparsity((both, both), [(maps, maps, (region,))]))
    kept, two = np.arange(16), np.arange(2)
    kept[[0, 5, 6, 15]] = -1
    lgmaps = [(kept, kept), (kept, None), (None, kept), (None, np.array([0]))]
    blocks = [[(kept, kept), (kept, two)], [(two, kept), (two, two)]]
    cells = [[ends.values[i] + level for level in range(3)] for i in range(3)]
    if region == op2.ALL:
        dofs = [[*cell, 16, 17] for column in cells for cell in column]
    else:
        dofs = [[*c[k], *c[k + 1], 16, 17] for c in cells for k in range(2)]
    argument = mat(INC, (maps, maps), lgmaps=lgmaps)
    expected = added(dofs, 18, blocks)
    with op2.backend(backend):
        kernel = counting(len(dofs[0]) ** 2)
        for strategy in (None, "colour"):
            mat.zero()
            op2.par_loop(kernel, columns, argument, iteration_region=region, strategy=strategy)
            np.testing.assert_array_equal(mat.values, expected)


@pytest.mark.parametrize("backend", BACKENDS)
def test_one_row_and_one_entry(backend: str) -> None:
    cells, nodes = op2.Set(40), op2.Set(41)
    c2n = op2.Map(cells, nodes, 2, [[i, i + 1] for i in range(40)])
    globals_ = op2.GlobalDataSet(op2.Global(1))
    row = op2.Mat(op2.Sparsity((globals_, nodes**2), [(None, c2n, None)]))
    kept = np.arange(82)
    kept[::3] = -1
    argument = row(INC, (None, c2n), lgmaps=(None, kept), unroll_map=True)
    corner = op2.Mat(op2.Sparsity((globals_, globals_), [(None, None, None)]))
    expected = np.zeros(82)
    for cell in range(40):
        expected[2 * cell : 2 * cell + 4] += np.arange(1.0, 5)
    with op2.backend(backend):
        for strategy in (None, "block", "colour", "atomic"):
            row.zero()
            op2.par_loop(counting(4), cells, argument, strategy=strategy)
            np.testing.assert_array_equal(row.values, [np.where(kept < 0, 0, expected)])
        with pytest.raises(UnsupportedError, match="has one row"):
            op2.par_loop(counting(4), cells, argument, strategy="owner")
        op2.par_loop(counting(1), cells, corner(INC, (None, None), lgmaps=([-1], None)))
        np.testing.assert_array_equal(corner.values, 0)
        corner.array[:] = 5
        op2.par_loop(counting(1), cells, corner(WRITE, (None, None), lgmaps=(None, [0])))
        np.testing.assert_array_equal(corner.values, 1)


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_leads_nowhere_is_left_out_beside_a_global(backend: str) -> None:
    cells, nodes = op2.Set(3), op2.Set(4)
    c2n = op2.Map(cells, nodes, 2, [0, 1, -1, 2, 2, 3])
    maps = op2.MixedMap((c2n, None))
    both = op2.MixedDataSet((nodes**1, op2.GlobalDataSet(op2.Global(1))))
    mat = op2.Mat(op2.Sparsity((both, both), [(maps, maps, None)]))
    with op2.backend(backend):
        op2.par_loop(counting(9), cells, mat(INC, (maps, maps)))
    expected = added([[*cell, 4] for cell in c2n.values[[0, 2]]], 5, [])
    expected[np.ix_([2, 4], [2, 4])] += [[5, 6], [8, 9]]
    np.testing.assert_array_equal(mat.values, expected)
