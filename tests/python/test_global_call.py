# SPDX-License-Identifier: BSD-3-Clause
"""Loops called with addresses do what those called with objects do."""

from __future__ import annotations

import ctypes
import gc
import re
from typing import Any

import numpy as np
import pytest

from pyop2cxx import _core, op2
from pyop2cxx.exceptions import DataValueError, UsageError
from pyop2cxx.op2 import INC, READ, WRITE
from pyop2cxx.runtime.communicators import PyOP2CommError

pytestmark = pytest.mark.pyop2

BACKENDS = [backend.name for backend in op2.backends() if backend.available]
TEXT = "void f(const double *x, double *y, double *g) { y[0] += x[1]; y[1] += x[0]; g[0] += 1; }"
LOCAL = op2.LocalKernel(TEXT, "f", [READ, INC, INC])
ENDS = op2.MapKernelArg(2)
ARGUMENTS = (
    op2.DatKernelArg((1,), ENDS),
    op2.DatKernelArg((1,), ENDS),
    op2.GlobalKernelArg((1,)),
)
E2N = np.array([[0, 1], [1, 2], [2, 3]], np.int32)
COMM = op2.COMM_WORLD


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_map_and_a_global(backend: str) -> None:
    kernel = op2.GlobalKernel(LOCAL, ARGUMENTS)
    assert kernel.argtypes == (ctypes.c_int, ctypes.c_int, *[ctypes.c_void_p] * 4)
    x, y, g = np.arange(4.0), np.zeros(4), np.zeros(1)
    with op2.backend(backend):
        kernel(COMM, 0, 3, x, y.ctypes.data, g, ctypes.c_void_p(E2N.ctypes.data))
        assert (y.tolist(), g.tolist()) == ([1, 2, 4, 2], [3])
        kernel(COMM, 1, 3, x, y, np.ctypeslib.as_ctypes(g), E2N)  # a part of the elements
        assert (y.tolist(), g.tolist()) == ([1, 4, 8, 4], [5])
        kernel(COMM, 2, 2, x, y, g, E2N)
        assert g.tolist() == [5]


def test_a_subset() -> None:
    kernel = op2.GlobalKernel(LOCAL, ARGUMENTS, subset=True)
    x, y, g = np.arange(4.0), np.zeros(4), np.zeros(1)
    kernel(None, 0, 2, np.array([0, 2], np.int32), x, y, g, E2N)
    assert (y.tolist(), g.tolist()) == ([1, 0, 3, 2], [2])


def columns(layers: Any, **how: Any) -> list[list[float]]:
    """A loop over columns of nodes, with a MixedDat, a permuted Map and a direct component."""
    text = """
    void f(double *both, const double *up, const double *w, int layer) {
      both[0] += w[0]; both[1] += up[0]; both[2] += layer;
    }
    """
    local = op2.LocalKernel(text, "f", [INC, READ, READ], [float] * 3)
    path = op2.MapKernelArg(2, (1, 1))
    single = op2.MapKernelArg(1, (1,))
    fields = (op2.DatKernelArg((1,), path), op2.DatKernelArg((1,), single))
    arguments = (
        op2.MixedDatKernelArg(fields),
        op2.DatKernelArg((1,), op2.PermutedMapKernelArg(path, (1, 0))),
        op2.DatKernelArg((2,), None, (1,)),
    )
    kernel = op2.GlobalKernel(local, arguments, extruded=True, pass_layer_arg=True, **how)
    nodes, cells = np.zeros(8), np.zeros(8)
    heights, w = np.arange(8.0), np.array([[0.0, 2.0], [0.0, 3.0]])
    two, one = np.array([[0, 1], [4, 5]], np.int32), np.array([[0], [4]], np.int32)
    kernel(COMM, 0, 2, np.array(layers, np.int32), nodes, cells, heights, w, two, one)
    return [nodes.tolist(), cells.tolist()]


def test_columns() -> None:
    assert columns([[0, 4]], constant_layers=True) == [
        [2, 3, 4, 3, 3, 8, 9, 7],
        [0, 1, 2, 0, 0, 1, 2, 0],
    ]
    assert columns([[0, 4], [1, 3]]) == [[2, 3, 4, 3, 3, 5, 0, 0], [0, 1, 2, 0, 1, 0, 0, 0]]
    assert columns([[0, 4]], constant_layers=True, iteration_region=op2.ON_TOP) == [
        [0, 0, 2, 3, 0, 0, 3, 7],
        [0, 0, 2, 0, 0, 0, 2, 0],
    ]


@pytest.mark.usefixtures("host")
def test_composed_maps_and_handles() -> None:
    text = "void f(void *handle, double *y) { y[0] = *(double *)handle; }"
    first, then = op2.MapKernelArg(1), op2.MapKernelArg(1)
    path = op2.ComposedMapKernelArg(first, then)
    local = op2.LocalKernel(text, "f", [READ, WRITE])
    kernel = op2.GlobalKernel(local, [op2.PassthroughKernelArg(), op2.DatKernelArg((1,), path)])
    handle, y = np.array([5.0]), np.zeros(6)
    outer, inner = np.array([4, 5, 1], np.int32), np.array([2, 0], np.int32)
    kernel(COMM, 0, 2, handle, y, outer, inner)
    assert y.tolist() == [0, 5, 0, 0, 5, 0]


def test_wrong_calls_change_nothing() -> None:
    kernel = op2.GlobalKernel(LOCAL, ARGUMENTS)
    x, y, g = np.arange(4.0), np.zeros(4), np.zeros(1)
    for args, message in (
        ((0, 3, x, y, g), "5 arguments behind the communicator, expected 6"),
        ((0, 3, x, y, g, None), "address 3 must be an integer"),
        ((0, 3, x, 0, g, E2N), "address 1 must be an integer"),
        ((3, 1, x, y, g, E2N), "no elements from 3 to 1"),
        (("0", 1, x, y, g, E2N), "no elements from '0' to 1"),
    ):
        with pytest.raises(UsageError, match=message):
            kernel(COMM, *args)
    with pytest.raises(PyOP2CommError):
        kernel(3, 0, 3, x, y, g, E2N)
    assert not y.any()
    local = op2.LocalKernel("void f(double *A) { A[0] += 1; }", "f", [INC])
    matrix = op2.GlobalKernel(local, [op2.MatKernelArg(((1,), (1,)), (ENDS, ENDS))])
    with pytest.raises(UsageError, match="address 0: values of a matrix have no address"):
        matrix(COMM, 0, 3, y, E2N)
    nodes = op2.Set(4)
    ends = op2.Map(op2.Set(3), nodes, 2, E2N, "ends")
    mat = op2.Mat(op2.Sparsity((nodes**1, nodes**1), [(ends, ends, None)]))
    blocks = op2.Mat(op2.Sparsity((nodes**2, nodes**1), [(ends, ends, None)]))
    for args, error, message in (
        ((0, 3, mat, mat), UsageError, "address 1: there is no matrix here"),
        ((0, 3, blocks, E2N), UsageError, "has blocks of (2, 1), expected (1, 1)"),
        ((0, 3, mat, E2N + 1), DataValueError, "row 2, slot 1 is 4"),
        ((0, 2, mat, np.array([[0, 1], [1, 3]], np.int32)), UsageError, "has no place"),
    ):
        with pytest.raises(error, match=re.escape(message)):
            matrix(COMM, *args)
    block = op2.MatKernelArg(((1,), (1,)), (ENDS, ENDS))
    mixed = op2.GlobalKernel(local, [op2.MixedMatKernelArg((block,) * 2, (1, 2))])
    for given in ((mat, mat), (blocks, mat)):
        with pytest.raises(UsageError, match="expected a Mat of 1 x 2 blocks"):
            mixed(COMM, 0, 3, *given, E2N)
    assert not mat.array.any()


@pytest.mark.parametrize("backend", BACKENDS)
def test_matrices(backend: str) -> None:
    """By addresses of Maps that the Sparsity was not made from, and beside a Dat on its rows."""
    nodes, edges = op2.Set(4), op2.Set(3)
    ends = op2.Map(edges, nodes, 2, E2N, "ends")
    mat = op2.Mat(op2.Sparsity((nodes**1, nodes**2), [(ends, ends, None)]))
    text = """
    void f(double *A, double *y) {
      for (int i = 0; i < 8; ++i) A[i] += i + 1;
      y[0] += 1; y[1] += 1;
    }
    """
    local = op2.LocalKernel(text, "f", [INC, INC], [float] * 2)
    turned = op2.PermutedMapKernelArg(ENDS, (1, 0))
    for rows, order in ((ENDS, [0, 1]), (turned, [1, 0])):
        argument = op2.MatKernelArg(((1,), (2,)), (rows, ENDS))
        kernel = op2.GlobalKernel(local, [argument, op2.DatKernelArg((1,), ENDS)])
        assert len(kernel.argtypes) == 2 + 3
        y, expected = np.zeros(4), np.zeros((4, 8))
        for edge in E2N[1:]:
            columns = [2 * edge[0], 2 * edge[0] + 1, 2 * edge[1], 2 * edge[1] + 1]
            expected[np.ix_(edge[order], columns)] += 1 + np.arange(8).reshape(2, 4)
        mat.zero()
        with op2.backend(backend):
            kernel(COMM, 1, 3, mat, y, E2N)
        np.testing.assert_array_equal(mat.values, expected)
        assert y.tolist() == [0, 1, 2, 1]
        assert mat.assembly_state is op2.Mat.ADD_VALUES


@pytest.mark.parametrize("backend", BACKENDS)
def test_memory_is_the_programs_between_calls(backend: str) -> None:
    local = op2.LocalKernel("void f(double *y) { y[0] += 1; y[1] += 1; }", "f", [INC], [float])
    kernel = op2.GlobalKernel(local, [op2.DatKernelArg((1,), ENDS)])
    y = np.zeros(4)
    with op2.backend(backend):
        for n in range(3):
            y[:] = 10 * n
            kernel(COMM, 1, 3, y, E2N)
            assert y.tolist() == [10 * n, 10 * n + 1, 10 * n + 2, 10 * n + 1]


def test_memory_is_no_loops_once_a_call_is_over(device: _core.Device) -> None:
    """What is left of the call until garbage is collected must not watch it for others."""
    local = op2.LocalKernel("void f(double *y) { y[0] += 1; y[1] += 1; }", "f", [INC], [float])
    kernel = op2.GlobalKernel(local, [op2.DatKernelArg((1,), ENDS)])
    y = np.zeros(4)
    op2.configuration["check"] = True  # in which what runs a loop holds itself
    gc.disable()
    try:
        kernel(COMM, 1, 3, y, E2N)
        # not isinstance(), which asks objects of others for attributes that they warn of
        left = [one for one in gc.get_objects() if issubclass(type(one), op2.Dat)]
        assert y.ctypes.data not in {one.buffer.address for one in left}
    finally:
        gc.enable()
        op2.configuration["check"] = False


@pytest.mark.parametrize("nest", [True, False])
def test_mixed_matrices(nest: bool) -> None:
    cells, nodes = op2.Set(2), op2.Set(3)
    c2n = op2.Map(cells, nodes, 2, [0, 1, 1, 2])
    maps = op2.MixedMap((c2n, None))
    dset = op2.MixedDataSet((nodes**1, op2.GlobalDataSet(op2.Global(1))))
    mat = op2.Mat(op2.Sparsity((dset, dset), [(maps, maps, None)], nest=nest))
    text = "void f(double *A) { for (int i = 0; i < 9; ++i) A[i] += i + 1; }"
    local = op2.LocalKernel(text, "f", [INC], [float])
    blocks = [op2.MatKernelArg(((1,), (1,)), (r, c)) for r in (ENDS, None) for c in (ENDS, None)]
    kernel = op2.GlobalKernel(local, [op2.MixedMatKernelArg(tuple(blocks), (2, 2))])
    expected = np.zeros((4, 4))
    for cell in c2n.values:
        at = [*cell, 3]
        expected[np.ix_(at, at)] += 1 + np.arange(9).reshape(3, 3)
    for n, given in enumerate(((mat,), tuple(mat))):
        kernel(COMM, 0, 2, *given, c2n.values)
        np.testing.assert_array_equal(mat.values, (n + 1) * expected)
    assert "A_joined" in kernel.code_to_compile


def test_matrices_over_columns() -> None:
    columns, nodes = op2.ExtrudedSet(op2.Set(2), 3), op2.Set(6)
    up = op2.Map(columns, nodes, 2, [0, 1, 3, 4], offset=[1, 1])
    mat = op2.Mat(op2.Sparsity((nodes**1, nodes**1), [(up, up, None)]))
    local = op2.LocalKernel("void f(double *A) { A[1] = 2; }", "f", [WRITE], [float])
    path = op2.MapKernelArg(2, (1, 1))
    argument = op2.MatKernelArg(((1,), (1,)), (path, path))
    kernel = op2.GlobalKernel(local, [argument], extruded=True, constant_layers=True)
    kernel(COMM, 0, 2, np.array([[0, 3]], np.int32), mat, up.values_with_halo)
    dense = np.zeros((6, 6))
    dense[[0, 1, 3, 4], [1, 2, 4, 5]] = 2
    np.testing.assert_array_equal(mat.values, dense)


@pytest.mark.parametrize("backend", ["sequential", "openmp", "opencl", "cuda"])
def test_text(backend: str) -> None:
    """Text is that of a loop over a mesh, on backends that are not there, too."""
    block = op2.MatKernelArg(((2,), (1,)), (ENDS, ENDS))
    local = op2.LocalKernel("void f(double *A) { A[0] += 1; }", "f", [INC])
    with op2.backend(backend):
        assert "void f(" in op2.GlobalKernel(LOCAL, ARGUMENTS).code_to_compile
        single = op2.GlobalKernel(local, [block]).code_to_compile
        mixed = op2.GlobalKernel(local, [op2.MixedMatKernelArg((block, block), (1, 2))])
        assert single != mixed.code_to_compile
        assert "A_joined" in mixed.code_to_compile
    columns = op2.GlobalKernel(
        op2.LocalKernel("void g(double *x) { x[0] += 1; }", "g", [INC]),
        [op2.DatKernelArg((1,), op2.MapKernelArg(1, (1,)))],
        extruded=True,
        subset=True,
    )
    assert "columns" in columns.code_to_compile
