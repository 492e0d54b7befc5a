# SPDX-License-Identifier: BSD-3-Clause
"""Loops called with addresses do what those called with objects do."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from pyop2cxx import op2
from pyop2cxx.exceptions import UnsupportedError, UsageError
from pyop2cxx.mpi import PyOP2CommError
from pyop2cxx.op2 import INC, READ, WRITE

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
    with pytest.raises(UnsupportedError, match="a matrix has no address; make a Parloop"):
        matrix(COMM, 0, 3, y, E2N)


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
