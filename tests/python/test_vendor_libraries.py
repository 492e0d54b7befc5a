# SPDX-License-Identifier: BSD-3-Clause
"""Nodes that call cuSPARSE and cuBLAS as a program does that has these libraries from elsewhere."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from ring import kernel

from pyop2cxx import op2

if TYPE_CHECKING:
    from collections.abc import Iterator

N = 1000
HALVE = kernel("void halve(double *x) { x[0] *= 0.5; }")
COPY = kernel("void copy(double *y, const double *x) { y[0] = x[0]; }")
INT32, FLOAT64 = c_int(2), c_int(1)  # cuSPARSE's numbers of dtypes
FROM_ZERO = AS_IT_IS = DEFAULT_WAY = c_int(0)
ON_DEVICE = 1  # cuBLAS's factors


@pytest.fixture
def cuda() -> Iterator[None]:
    found = {one.name: one for one in op2.backends()}["cuda"]
    if not found.available:
        pytest.skip(f"cuda: {found.reason}")
    with op2.backend("cuda"):
        yield


def _opened(name: str) -> Any:
    for version in ("13", "12", "11"):
        try:
            return ctypes.CDLL(f"lib{name}.so.{version}")
        except OSError:
            continue
    pytest.skip(f"there is no lib{name}")


def _device_memory(n_bytes: int) -> int:
    address = ctypes.c_uint64()
    allocate = ctypes.CDLL("libcuda.so.1").cuMemAlloc_v2
    assert allocate(byref(address), c_size_t(max(n_bytes, 1))) == 0
    return address.value


def _kernels_of(queue: int) -> list[str]:
    """Names of the kernels that are nodes of what a stream records; none if it records nothing."""
    driver, graph, status = ctypes.CDLL("libcuda.so.1"), c_void_p(), c_int()
    assert (
        driver.cuStreamGetCaptureInfo_v2(
            c_void_p(queue), byref(status), None, byref(graph), None, None
        )
        == 0
    )
    if status.value == 0:
        return []
    n = c_size_t()
    assert driver.cuGraphGetNodes(graph, None, byref(n)) == 0
    if n.value == 0:
        return []
    nodes = (c_void_p * n.value)()
    assert driver.cuGraphGetNodes(graph, nodes, byref(n)) == 0
    names = []
    for node in nodes:
        kind, parameters, name = c_int(), (c_void_p * 16)(), c_char_p()
        assert driver.cuGraphNodeGetType(c_void_p(node), byref(kind)) == 0
        if kind.value != 0:  # no kernel
            continue
        assert driver.cuGraphKernelNodeGetParams_v2(c_void_p(node), parameters) == 0
        if parameters[0] and driver.cuFuncGetName(byref(name), c_void_p(parameters[0])) == 0:
            names.append((name.value or b"").decode())
        else:
            names.append("a kernel")
    return names


class _Call:
    """A function that a node calls, which notes what its library adds to a recording."""

    def __init__(self) -> None:
        self.n_calls = 0
        self.kernels: list[str] = []

    def __call__(self, queue: int, *addresses: int) -> None:
        self.n_calls += 1
        before = _kernels_of(queue)
        self.enqueue(queue, *addresses)
        self.kernels += _kernels_of(queue)[len(before) :]

    def enqueue(self, queue: int, *addresses: int) -> None:
        raise NotImplementedError


class _Product(_Call):
    """y = A x by cuSPARSE; a node's function. The matrix is three Dats."""

    def __init__(self) -> None:
        super().__init__()
        self._library = _opened("cusparse")
        self._handle = c_void_p()
        assert self._library.cusparseCreate(byref(self._handle)) == 0
        self._described: dict[tuple[int, ...], tuple[c_void_p, ...]] = {}

    def enqueue(self, queue: int, *addresses: int) -> None:
        library, one, zero = self._library, c_double(1.0), c_double(0.0)
        assert library.cusparseSetStream(self._handle, c_void_p(queue)) == 0
        matrix, of_x, of_y, buffer = self._descriptions(*addresses)
        status = library.cusparseSpMV(
            self._handle, AS_IT_IS, byref(one), matrix, of_x, byref(zero), of_y, FLOAT64,
            DEFAULT_WAY, buffer,
        )  # fmt: skip
        assert status == 0

    def _descriptions(self, *addresses: int) -> tuple[c_void_p, ...]:
        """Made once for each choice of addresses: memory cannot be allocated in a recording."""
        if addresses in self._described:
            return self._described[addresses]
        library, n = self._library, c_int64(N)
        offsets, columns, values, x, y = (c_void_p(one) for one in addresses)
        matrix, of_x, of_y, n_bytes = c_void_p(), c_void_p(), c_void_p(), c_size_t()
        status = library.cusparseCreateCsr(
            byref(matrix), n, n, c_int64(3 * N), offsets, columns, values, INT32, INT32,
            FROM_ZERO, FLOAT64,
        )  # fmt: skip
        assert status == 0
        assert library.cusparseCreateDnVec(byref(of_x), n, x, FLOAT64) == 0
        assert library.cusparseCreateDnVec(byref(of_y), n, y, FLOAT64) == 0
        one, zero = c_double(1.0), c_double(0.0)
        status = library.cusparseSpMV_bufferSize(
            self._handle, AS_IT_IS, byref(one), matrix, of_x, byref(zero), of_y, FLOAT64,
            DEFAULT_WAY, byref(n_bytes),
        )  # fmt: skip
        assert status == 0
        found = (matrix, of_x, of_y, c_void_p(_device_memory(n_bytes.value)))
        self._described[addresses] = found
        return found


class _Sum(_Call):
    """The inner product of two vectors by cuBLAS, into a Global."""

    def __init__(self) -> None:
        super().__init__()
        self._library = _opened("cublas")
        self._handle = c_void_p()
        assert self._library.cublasCreate_v2(byref(self._handle)) == 0
        assert self._library.cublasSetPointerMode_v2(self._handle, c_int(ON_DEVICE)) == 0

    def enqueue(self, queue: int, *addresses: int) -> None:
        x, y, result = addresses
        assert self._library.cublasSetStream_v2(self._handle, c_void_p(queue)) == 0
        one = c_int(1)
        status = self._library.cublasDdot_v2(
            self._handle, c_int(N), c_void_p(x), one, c_void_p(y), one, c_void_p(result)
        )
        assert status == 0


def _matrix() -> tuple[np.ndarray[Any, Any], ...]:
    """Three values in each row: that of the row and those of its neighbours in a ring."""
    rows = np.arange(N)
    columns = np.stack([(rows - 1) % N, rows, (rows + 1) % N], axis=1)
    columns.sort(axis=1)
    values = np.where(columns == rows[:, None], 2.0, -1.0)
    return np.arange(0, 3 * N + 1, 3), columns.reshape(-1), values.reshape(-1)


def _with_libraries() -> tuple[op2.graph, _Product, _Sum, tuple[op2.Dat, op2.Dat, op2.Global]]:
    offsets, columns, values = _matrix()
    rows = op2.Set(N, "rows")
    x = op2.Dat(rows, np.cos(np.arange(N)), name="x")
    y = op2.Dat(rows, name="y")
    total = op2.Global(1, 0.0, name="total")
    matrix = [
        op2.Dat(op2.Set(N + 1, "offsets"), offsets.astype(np.int32), dtype=np.int32, name="begin"),
        op2.Dat(op2.Set(3 * N, "places"), columns.astype(np.int32), dtype=np.int32, name="column"),
        op2.Dat(op2.Set(3 * N, "values"), values, name="value"),
    ]
    product, inner = _Product(), _Sum()
    with op2.graph("with libraries") as g:
        multiplied = g.then_library(product, reads=[*matrix, x], writes=[y])
        halved = multiplied.then(HALVE, rows, y(op2.RW))
        summed = halved.then_library(inner, reads=[x, y], writes=[total])
        summed.then(COPY, rows, x(op2.WRITE), y(op2.READ))
    return g, product, inner, (x, y, total)


@pytest.mark.usefixtures("cuda")
def test_calls_of_cusparse_and_cublas_are_replayed_with_the_loops() -> None:
    g, product, inner, (x, y, total) = _with_libraries()
    graph = g.instantiate()
    assert graph.stats().segments == 1
    begin, column, value = _matrix()
    wanted = x.data_ro.copy()
    for i in range(40):
        graph.submit()
        product_of_now = np.add.reduceat(value * wanted[column], begin[:-1])
        inner_product = wanted @ (0.5 * product_of_now)
        wanted = 0.5 * product_of_now
        assert total.data_ro[0] == pytest.approx(inner_product, rel=1e-11, abs=1e-250)
        np.testing.assert_allclose(y.data_ro, wanted, rtol=1e-10, atol=1e-14)
        np.testing.assert_array_equal(x.data_ro, y.data_ro)
        x.data[:] = wanted = y.data_ro / np.abs(y.data_ro).max()
        if i == 20:
            assert graph.stats().replays[0].kept != "undecided"
    # once for itself, and once for each way of recording; else CUDA repeats what they enqueued
    kept = graph.stats().replays[0].kept
    if kept != "loop by loop":
        assert graph.native
        assert product.n_calls < 12
        assert inner.n_calls == product.n_calls


@pytest.mark.usefixtures("cuda")
def test_what_a_library_enqueues_becomes_nodes_of_the_recording() -> None:
    g, product, inner, (x, _, _) = _with_libraries()
    graph = g.instantiate()
    graph.submit()
    assert (product.kernels, inner.kernels) == ([], []), "nothing is recorded yet"
    graph.submit()
    assert np.isfinite(x.data_ro).all()
    assert graph.native
    assert product.kernels
    assert inner.kernels
