# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import gc
import pickle
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.base import extras
from pyop2cxx.exceptions import (
    AssemblyStateError,
    DataTypeError,
    DataValueError,
    DatTypeError,
    IndexValueError,
    MapTypeError,
    MapValueError,
    MissingExtraError,
    ModeValueError,
    NameTypeError,
    SparsityFormatError,
    SparsityTypeError,
    UsageError,
)
from pyop2cxx.op2 import INC, MAX, MIN, READ, RW, WRITE
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Iterator

CELLS = [[0, 1, 3], [2, 3, 1]]


@pytest.fixture(autouse=True)
def options() -> Iterator[None]:
    yield
    op2.exit()


class World:
    """Two triangles that share an edge; each node has `dim` values."""

    def __init__(self, dim: int = 1) -> None:
        self.dim = dim
        self.cells, self.nodes = op2.Set(2, "cells"), op2.Set(4, "nodes")
        self.c2n = op2.Map(self.cells, self.nodes, 3, CELLS, "c2n")
        self.dset = self.nodes**dim
        self.sparsity = op2.Sparsity((self.dset, self.dset), [(self.c2n, self.c2n, None)], "s")
        self.mat = op2.Mat(self.sparsity, name="mat")

    def assemble(self, access: op2.Access = INC, **options: Any) -> op2.ParLoop:
        """Entry (a, b) of an element's tensor gets 100 a + b + 1."""
        n = 3 * self.dim
        text = f"""void k(double *A) {{
          for (int a = 0; a < {n}; ++a)
            for (int b = 0; b < {n}; ++b) A[{n} * a + b] += 100 * a + b + 1;
        }}"""
        arg = self.mat(access, (self.c2n, self.c2n), **options)
        loop = op2.ParLoop(op2.Kernel(text, "k"), self.cells, arg)
        loop.compute()
        return loop

    def expected(self, drop_rows: tuple[int, ...] = (), drop_cols: tuple[int, ...] = ()) -> Any:
        """What `assemble` adds; scalar rows and columns are left out."""
        n = 3 * self.dim
        tensor = 100 * np.arange(n)[:, None] + np.arange(n) + 1.0
        dense = np.zeros((4 * self.dim, 4 * self.dim))
        for cell in CELLS:
            dofs = [self.dim * node + c for node in cell for c in range(self.dim)]
            dense[np.ix_(dofs, dofs)] += tensor
        dense[list(drop_rows)] = 0
        dense[:, list(drop_cols)] = 0
        return dense


@pytest.mark.parametrize("dim", [1, 2])
def test_loops_add(dim: int) -> None:
    world = World(dim)
    loop = world.assemble()
    np.testing.assert_array_equal(world.mat.values, world.expected())
    loop.compute()
    np.testing.assert_array_equal(world.mat.values, 2 * world.expected())
    assert world.mat.nbytes == 14 * dim**2 * 8
    assert loop.useful_bytes == 2 * world.mat.nbytes + 2 * 3 * 4 + 2 * 9


def test_loops_set() -> None:
    nodes, cells = op2.Set(4), op2.Set(2)
    apart = op2.Map(cells, nodes, 2, [0, 1, 2, 3])
    mat = op2.Mat(op2.Sparsity((nodes, nodes), [(apart, apart)]))
    mat.set_values([0, 1], [0, 1], np.full((2, 2), 7.0))
    kernel = op2.Kernel("void k(double *A) { A[0] = 1; A[3] = 2; }", "k")
    op2.par_loop(kernel, cells, mat(WRITE, (apart, apart)))
    np.testing.assert_array_equal(mat.values, np.diag([1.0, 2, 1, 2]))


def test_a_second_assembly_builds_no_plan() -> None:
    world = World()
    world.assemble()
    before = runtime.engine.plans.statistics()
    world.mat.zero()
    world.assemble()
    after = runtime.engine.plans.statistics()
    assert after.misses == before.misses
    np.testing.assert_array_equal(world.mat.values, world.expected())


DEVICES = [b.name for b in op2.backends() if b.available and b.name in ("cuda", "opencl")]


@pytest.mark.parametrize("backend", DEVICES)
@pytest.mark.parametrize("strategy", [None, "owner", "scratch", "colour"])
def test_a_second_assembly_on_a_device_moves_nothing(backend: str, strategy: str | None) -> None:
    world = World(2)
    kernel = op2.Kernel("void k(double *A) { A[7] += 3; }", "k")
    with op2.backend(backend):
        arg = world.mat(INC, (world.c2n, world.c2n))
        loop = op2.ParLoop(kernel, world.cells, arg, strategy=strategy)
        loop.compute()
        assert world.mat.residence == "device"
        before = runtime.engine.plans.statistics()
        op2.transfers.clear()
        world.mat.zero()
        loop.compute()
        loop.compute()
        assert op2.transfers.report() == ()
        assert runtime.engine.plans.statistics().misses == before.misses
        assert world.mat.residence == "device"
    assert world.mat.array.sum() == 12
    with op2.backend("sequential"):
        world.mat.to_device()  # loops run on the host again
        assert world.mat.residence == "host"


@pytest.mark.parametrize("backend", DEVICES)
def test_values_move_where_they_are_wanted(backend: str) -> None:
    world = World()
    with op2.backend(backend):
        world.mat.to_device()
        assert world.mat.residence == "both"
        world.assemble()
        assert world.mat.array.any()
        assert world.mat.residence == "host"  # it may be written to
        world.assemble()
        world.mat.to_host()
        assert world.mat.residence == "both"
    np.testing.assert_array_equal(world.mat.values, 2 * world.expected())
    with op2.backend("sequential"):
        np.testing.assert_array_equal(np.from_dlpack(world.mat).ravel(), world.mat.array)


def test_par_loop_remembers_the_loop_and_the_state() -> None:
    world = World()
    kernel = op2.Kernel("void k(double *A) { A[0] += 1; }", "k")
    for n in (1, 2):
        op2.par_loop(kernel, world.cells, world.mat(INC, (world.c2n, world.c2n)))
        assert world.mat.assembly_state is op2.Mat.ADD_VALUES
        world.mat.assemble()
        np.testing.assert_array_equal(world.mat.values, np.diag([n, 0.0, n, 0]))


def test_rectangular_blocks_and_a_load_vector() -> None:
    cells, rows, cols = op2.Set(3), op2.Set(4), op2.Set(3)
    c2r = op2.Map(cells, rows, 2, [0, 1, 1, 2, 2, 3])
    c2c = op2.Map(cells, cols, 1, [2, 1, 0])
    mat = op2.Mat(op2.Sparsity((rows**2, cols**3), [(c2r, c2c, None)]), np.float32)
    load = op2.Dat(rows**2, dtype=np.float32)
    text = """void k(float *A, float *b) {
      for (int a = 0; a < 4; ++a) {
        b[a] += a;
        for (int j = 0; j < 3; ++j) A[3 * a + j] += a + 10 * j;
      }
    }"""
    for strategy in (None, "owner", "scratch"):
        mat.zero()
        load.zero()
        arguments = (mat(INC, (c2r, c2c)), load(INC, c2r))
        op2.par_loop(op2.Kernel(text, "k"), cells, *arguments, strategy=strategy)
        dense, vector = np.zeros((4, 2, 3, 3)), np.zeros((4, 2))
        for e in range(3):
            block = np.arange(4)[:, None] + 10.0 * np.arange(3)
            dense[[e, e + 1], :, 2 - e] += block.reshape(2, 2, 3)
            vector[[e, e + 1]] += np.arange(4).reshape(2, 2)
        np.testing.assert_array_equal(mat.values, dense.reshape(8, 9))
        np.testing.assert_array_equal(load.data_ro, vector)
    assert mat.dims == (((2, 3),),)
    assert (mat.nrows, mat.ncols, mat.nblock_rows, mat.nblock_cols, mat.nblocks) == (8, 9, 4, 3, 1)


def test_lgmaps_drop_rows_and_columns() -> None:
    world = World()
    keep, drop = np.arange(4), np.array([0, -1, 2, 3])
    world.assemble(lgmaps=[(drop, keep)])
    np.testing.assert_array_equal(world.mat.values, world.expected(drop_rows=(1,)))
    world.mat.zero()
    world.assemble(lgmaps=(drop, drop))
    np.testing.assert_array_equal(world.mat.values, world.expected((1,), (1,)))
    world.mat.zero()
    world.assemble(lgmaps=(keep, None))  # nothing is dropped
    np.testing.assert_array_equal(world.mat.values, world.expected())


def test_unrolled_lgmaps_drop_components() -> None:
    world = World(2)
    drop = np.array([0, 1, 2, -1, 4, 5, 6, 7])
    world.assemble(lgmaps=(drop, None), unroll_map=True)
    np.testing.assert_array_equal(world.mat.values, world.expected(drop_rows=(3,)))
    world.mat.zero()
    blocks = np.array([0, -1, 2, 3])
    world.assemble(lgmaps=(None, blocks))
    np.testing.assert_array_equal(world.mat.values, world.expected(drop_cols=(2, 3)))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([0, 1, 2], r"shape \(4,\)"),
        ([0.0, 1.0, 2.0, 3.0], "integers"),
        ([0, 2, 2, 3], "entry 1 of the rows is 2"),
    ],
)
def test_bad_lgmaps(rows: Any, message: str) -> None:
    world = World()
    with pytest.raises(DataValueError, match=message):
        world.mat(INC, (world.c2n, world.c2n), lgmaps=(np.array(rows), None))
    with pytest.raises(DataValueError, match="a pair"):
        world.mat(INC, (world.c2n, world.c2n), lgmaps=3)


@pytest.mark.parametrize("dim", [1, 2])
def test_rows_are_zeroed(dim: int) -> None:
    world = World(dim)
    world.assemble()
    expected = world.expected()
    world.mat.zero_rows([1, 3], 12.0)
    rows = [dim * node + c for node in (1, 3) for c in range(dim)]
    expected[rows] = 0
    expected[rows, rows] = 12
    np.testing.assert_array_equal(world.mat.values, expected)
    world.mat.zero_rows(np.array([0]), idx=dim - 1)
    expected[dim - 1] = 0
    expected[dim - 1, dim - 1] = 1
    np.testing.assert_array_equal(world.mat.values, expected)
    world.mat.zero_rows([])
    np.testing.assert_array_equal(world.mat.values, expected)


def test_diagonal_entries() -> None:
    world = World(2)
    world.mat.set_local_diagonal_entries([0, 2], 5.0)
    assert world.mat.assembly_state is op2.Mat.INSERT_VALUES
    world.mat.inc_local_diagonal_entries([2, 3], 1.0, idx=1)
    assert world.mat.assembly_state is op2.Mat.ADD_VALUES
    np.testing.assert_array_equal(world.mat.values, np.diag([5.0, 5, 0, 0, 5, 6, 0, 1]))


def test_values_by_row_and_column() -> None:
    world = World()
    world.mat.set_values([0, 1], [3, 1], [[1, 2], [3, 4]])
    world.mat.addto_values(1, 1, [10])
    world.mat.addto_values([0, -1], [0, 1, -1], np.arange(6).reshape(2, 3))  # negative: left out
    dense = np.zeros((4, 4))
    dense[0, 3], dense[0, 1], dense[1, 3], dense[1, 1] = 1, 2, 3, 14
    dense[0, 1] += 1
    np.testing.assert_array_equal(world.mat.values, dense)
    blocks = World(2)
    blocks.mat.addto_values([1], [1, 2], np.arange(8.0).reshape(2, 4))
    np.testing.assert_array_equal(blocks.mat.values[2:4, 2:6], np.arange(8.0).reshape(2, 4))


def test_what_has_no_place_changes_nothing() -> None:
    world = World()
    world.assemble()
    before = world.mat.values
    calls = [
        lambda: world.mat.set_values([1, 0], [1, 2], np.ones((2, 2))),
        lambda: world.mat.addto_values([4], [0], [1.0]),
        lambda: world.mat.set_values([0], [9], [1.0]),
        lambda: world.mat.zero_rows([1, 4]),
        lambda: world.mat.zero_rows([-1]),
        lambda: world.mat.zero_rows([0], idx=1),
    ]
    for call in calls:
        with pytest.raises(IndexValueError, match=r"Mat 'mat'.*(no place|there is no)"):
            call()
    with pytest.raises(DataValueError, match="expected 1 x 1 values"):
        world.mat.set_values([0], [0], [1.0, 2.0])
    with pytest.raises(DataValueError, match="dtype complex128"):
        world.mat.set_values([0], [0], [1j])
    with pytest.raises(DataTypeError, match="row numbers must be integers"):
        world.mat.zero_rows([0.5])
    np.testing.assert_array_equal(world.mat.values, before)


def test_rows_of_a_bare_sparsity_have_no_diagonal() -> None:
    world = World()
    one = op2.Map(world.cells, world.nodes, 1, [0, 1])
    bare = op2.Sparsity((world.dset, world.dset), [(one, one)], diagonal_block=False)
    with pytest.raises(IndexValueError, match="row 2 has no place for its diagonal"):
        op2.Mat(bare).zero_rows([0, 2])


def test_the_matrix_that_replaced_another_is_the_one_not_yet_assembled() -> None:
    world = World()
    loop = world.assemble()
    world.mat.assemble()
    other = op2.Mat(world.sparsity, name="other")
    loop.replace_data(0, other)
    loop.compute()
    assert other.assembly_state is op2.Mat.ADD_VALUES
    assert world.mat.assembly_state is op2.Mat.ASSEMBLED
    other.assemble()
    np.testing.assert_array_equal(other.values, world.mat.values)


def test_assembly_state() -> None:
    mat = World().mat
    flushed = []
    mat._flush_assembly = lambda: flushed.append(mat.assembly_state)  # type: ignore[method-assign]
    assert mat.assembly_state is op2.Mat.ASSEMBLED
    mat.addto_values(0, 0, [1])
    mat.addto_values(0, 0, [1])
    assert (mat.assembly_state, flushed) == (op2.Mat.ADD_VALUES, [])
    mat.set_values(0, 0, [1])
    assert (mat.assembly_state, flushed) == (op2.Mat.INSERT_VALUES, [op2.Mat.ADD_VALUES])
    with pytest.raises(AssemblyStateError, match=r"call assemble\(\)") as caught:
        _ = mat.dat_version
    assert isinstance(caught.value, RuntimeError)
    mat.assemble()
    assert mat.assembly_state is op2.Mat.ASSEMBLED
    version = mat.dat_version
    mat.zero()
    assert mat.dat_version == version + 1


def test_duplicate() -> None:
    world = World()
    world.assemble()
    twin, empty = world.mat.duplicate(), world.mat.duplicate(copy=False)
    np.testing.assert_array_equal(twin.values, world.expected())
    assert not empty.values.any()
    twin.zero()
    np.testing.assert_array_equal(world.mat.values, world.expected())


@pytest.mark.parametrize("dim", [1, 2])
def test_scipy_shares_the_values(dim: int) -> None:
    pytest.importorskip("scipy")
    world = World(dim)
    found = world.mat.to_scipy()
    assert found.format == ("csr" if dim == 1 else "bsr")
    assert np.shares_memory(found.data, world.mat.array)
    assert world.mat.to_scipy() is found
    with op2.backend("sequential"):
        world.assemble()
    np.testing.assert_array_equal(found.toarray(), world.expected())


@pytest.mark.parametrize("dim", [1, 2])
def test_products(dim: int) -> None:
    pytest.importorskip("scipy")
    world = World(dim)
    world.assemble()
    x = op2.Dat(world.dset, np.arange(4.0 * dim))
    y = world.mat * x
    np.testing.assert_allclose(y.data_ro.reshape(-1), world.expected() @ np.arange(4.0 * dim))
    assert y.dataset == world.dset
    with pytest.raises(DatTypeError, match="expected a Dat"):
        world.mat.mult(3, y)  # type: ignore[arg-type]
    with pytest.raises(DataValueError, match="the columns are on Set 'nodes'"):
        world.mat.mult(op2.Dat(world.cells), y)


def test_petsc_or_the_name_of_the_extra() -> None:
    world = World()
    world.assemble()
    if not extras.installed()["petsc4py"]:
        with pytest.raises(MissingExtraError, match=r"pyop2cxx\[petsc\]"):
            _ = world.mat.handle
        return
    handle = world.mat.handle
    np.testing.assert_array_equal(handle[:, :], world.expected())


def test_text_and_sizes() -> None:
    world = World()
    mat = op2.Mat(world.sparsity, "float32", "m")
    assert (mat.name, mat.dtype, mat.sparsity) == ("m", np.float32, world.sparsity)
    assert repr(mat) == f"Mat({world.sparsity!r}, dtype('float32'), 'm')"
    assert str(mat) == f"OP2 Mat: m, {world.sparsity.places}, float32"
    assert len(str(mat)) < 80
    assert list(mat) == [mat] == [mat[0, 0]]
    assert mat.blocks == ((mat,),)
    assert mat.array.shape == (14,)
    with pytest.raises(IndexValueError, match="1 x 1 blocks"):
        mat[0, 1]
    with pytest.raises(UsageError, match="cannot be pickled"):
        pickle.dumps(mat)


def test_a_large_matrix_has_no_dense_values() -> None:
    nodes = op2.Set(1001)
    identity = op2.Map(nodes, nodes, 1, np.arange(1001))
    with pytest.raises(SparsityFormatError, match="more than a million") as caught:
        _ = op2.Mat(op2.Sparsity((nodes, nodes), identity)).values
    assert isinstance(caught.value, ValueError)


def test_bad_arguments() -> None:
    world = World()
    with pytest.raises(SparsityTypeError, match="expected a Sparsity"):
        op2.Mat("illegal")  # type: ignore[arg-type]
    with pytest.raises(NameTypeError, match="name must be a string"):
        op2.Mat(world.sparsity, name=2)  # type: ignore[arg-type]
    with pytest.raises(DataTypeError, match="is not a dtype"):
        op2.Mat(world.sparsity, "illegal")
    for mode in (READ, RW, MIN, MAX):
        with pytest.raises(ModeValueError, match="takes: WRITE, INC"):
            world.mat(mode, (world.c2n, world.c2n))
    with pytest.raises(MapTypeError, match="pair of Maps"):
        world.mat(INC, world.c2n)  # type: ignore[arg-type]
    foreign = op2.Map(op2.Set(2), op2.Set(3), 2, [0, 0, 0, 0])
    with pytest.raises(MapValueError, match="no pair that Sparsity 's'"):
        world.mat(INC, (foreign, foreign))


def test_a_loop_over_another_set() -> None:
    world = World()
    kernel = op2.Kernel("void k(double *A) {}", "k")
    with pytest.raises(MapValueError, match="the loop runs over 'other'"):
        op2.ParLoop(kernel, op2.Set(2, "other"), world.mat(INC, (world.c2n, world.c2n)))


def test_a_map_changed_after_the_sparsity_was_built() -> None:
    world = World()
    world.c2n.update_values([[0, 1, 2], [2, 3, 1]])
    with pytest.raises(UsageError, match="element 0 couples row 0 with column 2"):
        world.assemble()
    assert not world.mat.values.any()


def test_numbers_that_are_none_are_found() -> None:
    op2.init(debug=True)
    world = World()
    kernel = op2.Kernel("void k(double *A) { A[4] += 0.0 / 0.0; }", "k")
    with pytest.raises(RuntimeError, match=r"Mat 'mat', place 4 became NaN"):
        op2.par_loop(kernel, world.cells, world.mat(INC, (world.c2n, world.c2n)), check=False)


@pytest.mark.usefixtures("static")
def test_signature_in_the_order_of_the_convention() -> None:
    """Source document 003: a matrix is its values, its row map and its column map; Consts last."""
    cells, rows, cols = op2.Set(), op2.Set(), op2.Set()
    c2r, c2c = op2.Map(cells, rows, 3), op2.Map(cells, cols, 2)
    mat = op2.Mat(op2.Sparsity((rows, cols), [(c2r, c2c, None)]))
    direct, indirect, total = op2.Dat(cells), op2.Dat(rows), op2.Global(1, 0.0)
    constants = [op2.Const(1, 1.0, name) for name in ("c_last", "b_middle", "a_first")]
    text = """void k(const double *d, const double *x, double *A, double *s) {
      A[0] += a_first * b_middle * c_last * d[0] * x[0]; s[0] += 1;
    }"""
    args = (direct(READ), indirect(READ, c2r), mat(INC, (c2r, c2c)), total(INC))
    with op2.backend("sequential"):
        code = op2.ParLoop(op2.Kernel(text, "k"), cells, *args).generate()
    for constant in constants:
        constant.remove_from_namespace()
    assert code.signature == (
        "static __attribute__((noinline)) void wrap_k(long begin, long end,\n"
        "    const double *__restrict__ d,\n"
        "    const double *__restrict__ x,\n"
        "    const int *__restrict__ x_map,\n"
        "    double *__restrict__ A,\n"
        "    const int *__restrict__ A_row_map,\n"
        "    const int *__restrict__ A_col_map,\n"
        "    double *__restrict__ s,\n"
        "    const double *__restrict__ a_first,\n"
        "    const double *__restrict__ b_middle,\n"
        "    const double *__restrict__ c_last,\n"
        "    const long *__restrict__ A_row_start,\n"
        "    const unsigned char *__restrict__ A_position)"
    )


def test_elements_without_rows_are_counted_on_gpus() -> None:
    """Owners would not see them; the rule takes owners wherever an element has two targets."""
    edges, nodes = op2.Set(4), op2.Set(4)
    whole = op2.Map(edges, nodes, 2, [[0, 1], [1, 2], [2, 3], [3, 0]])
    partial = op2.Map(edges, nodes, 2, [[0, 1], [1, 2], [-1, 3], [-1, -1]])
    total = op2.Global(1, 0.0)
    kernel = op2.Kernel("void k(double *A, double *sum) { A[0] += 1; sum[0] += 1; }", "k")
    chosen = []
    for rows in (whole, partial):
        mat = op2.Mat(op2.Sparsity((nodes, nodes), [(rows, whole, None)]))
        with op2.backend("cuda"):
            loop = op2.ParLoop(kernel, edges, mat(INC, (rows, whole)), total(INC))
            chosen.append(loop.generate().strategy)
    assert chosen == ["owner", "atomic"]


def test_matrices_go_with_their_last_reference() -> None:
    world = World()
    seen = [weakref.ref(thing) for thing in (world.mat, world.sparsity)]
    world.assemble()
    gc.disable()
    try:
        del world.mat, world.sparsity
        assert [ref() for ref in seen] == [None, None]
    finally:
        gc.enable()


@pytest.mark.parametrize("nest", [True, False])
def test_blocks_share_their_values(nest: bool) -> None:
    """A block is a matrix of its own, with memory of its own, nested or not."""
    pytest.importorskip("scipy")
    op2.init(backend="sequential")  # NumPy takes memory of the host only
    cells, nodes, other = op2.Set(2), op2.Set(3), op2.Set(2)
    both = op2.MixedDataSet((nodes**1, other**2))
    c2n, c2o = op2.Map(cells, nodes, 2, [0, 1, 1, 2]), op2.Map(cells, other, 1, [0, 1])
    maps = op2.MixedMap((c2n, c2o))
    mat = op2.Mat(op2.Sparsity((both, both), [(maps, maps, None)], nest=nest))
    for i, j in np.ndindex(2, 2):
        block = mat[i, j]
        shown = block.to_scipy()
        assert np.shares_memory(shown.data, block.array)
        assert np.shares_memory(np.from_dlpack(block), block.array)
        block.array[:] = 1 + i + 2 * j
        assert set(shown.data.ravel()) == {1.0 + i + 2 * j}
    assert mat.values[0, 0] == mat.to_scipy().toarray()[0, 0] == 1


@pytest.mark.parametrize("backend", [b.name for b in op2.backends() if b.available])
def test_complex_values_are_assembled_everywhere(backend: str) -> None:
    """With Globals, a Const and Dats of both widths, and conversions between them."""
    cells, nodes = op2.Set(5), op2.Set(6)
    c2n = op2.Map(cells, nodes, 2, [[i, i + 1] for i in range(5)])
    factor = op2.Const(2, [1j, 2.0], "complex_factor_of_mats", np.complex64)
    z = np.arange(6) * (1 + 1j)
    source, load = op2.Dat(nodes, z.copy()), op2.Dat(nodes**2, dtype=complex, layout="soa")
    weight, total = op2.Global(2, [1j, 2], complex), op2.Global(1, 0, np.complex64)
    mat = op2.Mat(op2.Sparsity((nodes**1, nodes**1), [(c2n, c2n, None)]), complex)
    text = """
    #include <complex.h>
    void f(double complex A[2][2], const double complex *z, double complex *y,
           const double complex *g, float complex *total) {
      for (int i = 0; i < 2; ++i) {
        y[2 * i] += z[i] * g[0];
        y[2 * i + 1] += complex_factor_of_mats[i] / (g[1] + z[i]);
        for (int j = 0; j < 2; ++j) A[i][j] += z[i] * conj(z[j]) * complex_factor_of_mats[j];
      }
      *total += z[0] * I;
    }
    """
    args = (mat(INC, (c2n, c2n)), source(READ, c2n), load(INC, c2n), weight(READ), total(INC))
    with op2.backend(backend):
        try:
            op2.par_loop(op2.Kernel(text, "f"), cells, *args)
        finally:
            factor.remove_from_namespace()
        dense, loads = np.zeros((6, 6), complex), np.zeros((6, 2), complex)
        for ends in c2n.values:
            here = z[ends]
            dense[np.ix_(ends, ends)] += np.outer(here, here.conj() * [1j, 2])
            loads[ends] += np.stack([here * 1j, [1j, 2] / (2 + here)], axis=1)
        np.testing.assert_allclose(mat.values, dense)
        np.testing.assert_allclose(load.data_ro, loads)
        np.testing.assert_allclose(total.data_ro, z[:5].sum() * 1j)
