# SPDX-License-Identifier: BSD-3-Clause
"""Products of matrices with Dats: on the host by the core or SciPy, on a device by a loop."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.base import extras
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.libraries import DeviceLibraries

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyop2cxx import _core

pytestmark = pytest.mark.usefixtures("exits")

TURNS = 10  # until both ways were measured
N = 60


class Graph:
    """Rows of different lengths, one of them empty; not symmetric."""

    def __init__(self, rows: int = 1, columns: int = 1, dtype: str = "float64") -> None:
        random = np.random.default_rng(5)
        self.nodes, self.links, self.ends = op2.Set(N), op2.Set(3 * N), op2.Set(N // 2)
        start = op2.Map(self.links, self.nodes, 1, random.integers(0, N - 1, (3 * N, 1)))
        end = op2.Map(self.links, self.ends, 1, random.integers(0, N // 2, (3 * N, 1)))
        spaces = (self.nodes**rows, self.ends**columns)
        self.pair = start, end
        self.mat = op2.Mat(op2.Sparsity(spaces, [(start, end, None)]), dtype)
        values = random.integers(-9, 9, self.mat.array.size)
        if np.dtype(dtype).kind == "c":
            values = values + 1j * random.integers(-9, 9, values.size)
        self.mat.array[:] = values
        self.x = op2.Dat(spaces[1], self.numbers(spaces[1], dtype), dtype, "x")
        self.y = op2.Dat(spaces[0], np.full((N, rows), 7).squeeze(), dtype, "y")
        self.wanted = self.mat.values @ self.x.data_ro.reshape(-1)

    @staticmethod
    def numbers(space: Any, dtype: str) -> Any:
        found = np.arange(space.set.size * space.cdim) % 13 - 6
        shape = (space.set.size, space.cdim) if space.cdim > 1 else (space.set.size,)
        return found.reshape(shape).astype(dtype)

    def there(self) -> None:
        """Move all values to the device."""
        for one in (self.mat, self.x, self.y):
            one.to_device()
        op2.transfers.clear()


def rows() -> list[tuple[str, str, str, str, int]]:
    found = op2.dispatch.report()
    return [
        (r.loop, r.provider, r.strategy, r.rejected, r.count)
        for r in found
        if r.loop.startswith("mult of")
    ]


SINGLE = ["float64", "float32", "complex128", "complex64", "int32", "uint8", "uint64"]
BLOCKS = [
    ((2, 2), "float64"),
    ((3, 3), "complex128"),
    ((4, 4), "float64"),
    ((3, 1), "complex64"),
    ((1, 2), "float64"),
    ((2, 3), "uint8"),
]


@pytest.mark.parametrize(("block", "dtype"), [*(((1, 1), dtype) for dtype in SINGLE), *BLOCKS])
def test_products_are_those_of_dense_matrices(backend: str, block: Any, dtype: str) -> None:
    graph = Graph(*block, dtype)
    if backend in ("opencl", "cuda"):
        graph.there()
    for _ in range(2):  # what `y` had before does not matter
        graph.mat.mult(graph.x, graph.y)
        assert np.array_equal(graph.y.data_ro.reshape(-1), graph.wanted.astype(dtype))
    assert np.array_equal((graph.mat @ graph.x).data_ro, graph.y.data_ro)


def test_no_other_package_takes_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "load", None)
    graph = Graph()
    with op2.backend("sequential"):
        graph.mat.mult(graph.x, graph.y)
    assert np.array_equal(graph.y.data_ro, graph.wanted)


def test_dtypes_may_differ_and_vectors_be_one(backend: str) -> None:
    graph = Graph(dtype="float32")
    graph.mat.mult(graph.x, graph.y)
    wide = op2.Dat(graph.ends, graph.x.data_ro, "float64")
    y = graph.mat @ wide
    assert y.dtype == np.float64
    assert np.array_equal(y.data_ro, graph.wanted)
    square = op2.Map(graph.links, graph.nodes, 1, np.arange(3 * N)[:, None] % N)
    mat = op2.Mat(op2.Sparsity((graph.nodes, graph.nodes), [(square, square, None)]))
    mat.array[:] = 3
    z = op2.Dat(graph.nodes, np.arange(N) + 1.0)
    if backend in ("opencl", "cuda"):
        mat.to_device()
        z.to_device()
    mat.mult(z, z)
    assert np.array_equal(z.data_ro, 3 * (np.arange(N) + 1.0))


@pytest.mark.parametrize("nest", [True, False])
def test_rows_of_blocks_are_added_up(backend: str, nest: bool) -> None:
    nodes, cells = op2.Set(N), op2.Set(N // 2)
    to_nodes = op2.Map(cells, nodes, 2, np.arange(N).reshape(-1, 2))
    own = op2.Map(cells, cells, 1, np.arange(N // 2)[:, None])
    both = op2.MixedMap((to_nodes, own))
    space = op2.MixedDataSet((nodes, cells), (1, 2))
    mat = op2.Mat(op2.Sparsity((space, space), [(both, both, None)], nest=nest))
    for k, block in enumerate(mat):
        block.array[:] = np.arange(block.array.size) % 7 + k
    x, y = op2.MixedDat(space), op2.MixedDat(space)
    for part in x:
        part.data[...] = np.arange(part.data.size).reshape(part.data.shape) % 5
    flat = np.concatenate([part.data_ro.reshape(-1) for part in x])
    wanted = mat.values @ flat
    if backend in ("opencl", "cuda"):
        for one in (*mat, *x, *y):
            one.to_device()
        op2.transfers.clear()
    mat.mult(x, y)
    assert np.array_equal(np.concatenate([p.data_ro.reshape(-1) for p in y]), wanted)


def test_nothing_leaves_the_device(device: _core.Device) -> None:
    for block in ((1, 1), (2, 3)):
        graph = Graph(*block)
        graph.there()
        version = graph.y.dat_version
        graph.mat.mult(graph.x, graph.y)
        graph.mat.mult(graph.x, graph.y)
        lists = ("a Map", "a plan")
        found = [row for row in op2.transfers.report() if not row.explicit]
        assert [row for row in found if row.what not in lists] == []
        assert graph.y.residence == "device"
        assert graph.y.dat_version > version
        assert np.array_equal(graph.y.data_ro.reshape(-1), graph.wanted)


@pytest.mark.parametrize("block", [(1, 1), (2, 3)])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_graphs_record_products(backend: str, block: tuple[int, int], dtype: str) -> None:
    """With an assembly before and a loop behind; in a chain, too. The graph keeps the matrix."""
    op2.init(backend=backend)
    graph = Graph(*block, dtype=dtype)
    scalar = "double" if dtype == "float64" else "double _Complex"
    m = block[0] * block[1]
    grow = op2.Kernel(
        f"void grow({scalar} *a) {{ for (int i = 0; i < {m}; ++i) a[i] += i + 1; }}", "grow"
    )
    halve = op2.Kernel(
        f"void halve({scalar} *y) {{ for (int i = 0; i < {block[0]}; ++i) y[i] /= 2; }}", "halve"
    )
    start, end = graph.pair
    twin = op2.Mat(graph.mat.sparsity, dtype)

    def step(mat: Any) -> None:
        op2.par_loop(grow, graph.links, mat(op2.INC, (start, end)))
        mat.mult(graph.x, graph.y)
        op2.par_loop(halve, graph.nodes, graph.y(op2.RW))

    def chained(mat: Any) -> None:
        with op2.chain():
            step(mat)

    def recorded(function: Callable[[Any], None]) -> Any:
        mat = op2.Mat(graph.mat.sparsity, dtype)
        return op2.record(lambda: function(mat))

    with op2.backend("sequential"):
        for _ in range(3):
            step(twin)
    wanted = graph.y.data_ro.copy()
    for function in (step, chained):
        made = recorded(function)
        gc.collect()
        graph.y.data[:] = 1
        for _ in range(3):
            made.submit()
        np.testing.assert_allclose(graph.y.data_ro, wanted, rtol=1e-13)


def test_a_second_product_makes_no_loop(
    device: _core.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = Graph()
    graph.there()
    graph.mat.mult(graph.x, graph.y)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a loop was made")

    monkeypatch.setattr("pyop2cxx.loop.run.ParLoop", refuse)
    graph.mat.mult(graph.x, graph.y)
    assert np.array_equal(graph.y.data_ro, graph.wanted)


def test_loops_that_wait_come_first(device: _core.Device) -> None:
    graph = Graph()
    graph.there()
    twice = op2.Kernel("void twice_x(double *x) { x[0] *= 2; }", "twice_x")
    clear = op2.Kernel("void clear_y(double *y) { y[0] = -1; }", "clear_y")
    with op2.chain():
        op2.par_loop(twice, graph.ends, graph.x(op2.RW))
        op2.par_loop(clear, graph.nodes, graph.y(op2.WRITE))
        graph.mat.mult(graph.x, graph.y)
    assert np.array_equal(graph.y.data_ro, 2 * graph.wanted)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_bits_do_not_depend_on_threads(n_threads: int) -> None:
    op2.init(backend="openmp", threads=n_threads)
    n = 70000
    nodes = op2.Set(n)
    near = op2.Map(nodes, nodes, 3, (np.arange(n)[:, None] + [0, 1, 77]) % n)
    mat = op2.Mat(op2.Sparsity((nodes, nodes), [(near, near, None)]))
    mat.array[:] = np.random.default_rng(3).random(mat.array.size)
    x = op2.Dat(nodes, np.random.default_rng(4).random(n))
    found = (mat @ x).data_ro
    pick = np.arange(0, n, 9973)
    for row in pick:
        begin, end = mat.sparsity.rowptr[row : row + 2]
        total = 0.0
        for place in range(begin, end):
            total += mat.array[place] * x.data_ro[mat.sparsity.colidx[place]]
        assert abs(found[row] - total) <= 1e-15 * abs(total) * (end - begin)
    # one thread's bits are the measure
    op2.configuration["threads"] = 1
    assert np.array_equal((mat @ x).data_ro, found)


def test_scipy_competes_where_libraries_may_be_asked() -> None:
    pytest.importorskip("scipy")
    op2.init(backend="sequential", blas="auto")
    op2.dispatch.clear()
    graph = Graph()
    for _ in range(TURNS + 3):
        graph.mat.mult(graph.x, graph.y)
        assert np.array_equal(graph.y.data_ro, graph.wanted)
    found = rows()
    assert ("mult of float64", "builtin", "", "scipy: measured in turns", TURNS // 2) in found
    taken = [one for one in found if one[1:3] == ("library", "scipy")]
    assert taken
    assert sum(one[-1] for one in found) == TURNS + 3
    op2.dispatch.clear()
    with op2.dispatch.expect("ahead"):
        graph.mat.mult(graph.x, graph.y)
    op2.configuration["deterministic"] = True
    graph.mat.mult(graph.x, graph.y)
    assert rows() == []


class OtherWay:
    """Stands for cuSPARSE: multiplies on the host what it is given, and sends the product back."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.added = graph, []

    def multiply(self, device: Any, values: Any, x: Any, y: Any, is_added: bool) -> None:
        assert values is self.graph.mat.buffer
        assert (x, y) == (self.graph.x.buffer, self.graph.y.buffer)
        self.added.append(is_added)
        self.graph.y.data_wo[...] = self.graph.wanted
        self.graph.y.to_device()


def test_a_library_takes_turns_with_the_loop(
    device: _core.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = Graph()
    graph.there()
    libraries = DeviceLibraries(device, {}, ("a device", 0))  # type: ignore[arg-type]
    libraries.__dict__["cusparse"] = object()
    monkeypatch.setattr(runtime.engine, "device_libraries", lambda _: libraries)
    other = OtherWay(graph)
    monkeypatch.setattr("pyop2cxx.algebra.mat_products._product", lambda *_: other)
    op2.dispatch.clear()
    for _ in range(TURNS):
        graph.mat.mult(graph.x, graph.y)
        assert np.array_equal(graph.y.data_ro, graph.wanted)
        graph.y.to_device()
    turns = TURNS // 2
    assert [one[1:] for one in rows()] == [
        ("library", "cusparse", "", turns),
        ("loop", "", "cusparse: measured in turns", turns),
    ]
    assert other.added == [False] * turns
    op2.dispatch.clear()
    blocks = Graph(2, 2)
    blocks.there()
    blocks.mat.mult(blocks.x, blocks.y)
    (row,) = rows()
    assert row[3] == "cusparse: blocks: there are 4 values at each place"
    assert np.array_equal(blocks.y.data_ro.reshape(-1), blocks.wanted)
