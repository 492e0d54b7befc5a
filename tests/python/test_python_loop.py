# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyop2cxx import _core, op2
from pyop2cxx.exceptions import MapValueError, SetTypeError, UsageError
from pyop2cxx.loop.python_loop import PythonLoop

sys.path.insert(0, str(Path(__file__).parents[1]))

from corpus import CASES

if TYPE_CHECKING:
    from collections.abc import Callable

CELLS, NODES = op2.Set(3, "cells"), op2.Set(4, "nodes")
C2N = op2.Map(CELLS, NODES, 2, [0, 1, 1, 2, 2, 2])


def test_it_does_what_a_c_kernel_does() -> None:
    x = op2.Dat(NODES**2, np.arange(8.0))
    results = []
    kernel = op2.Kernel(
        """
        void f(const double *x, double *y, double *low, double *w, double *s, double *m) {
          for (int i = 0; i < 2; ++i) {
            y[i] += x[2 * i + 1];
            if (x[2 * i] < low[i]) low[i] = x[2 * i];
          }
          w[0] = x[0]; s[0] += x[0]; if (x[3] > m[0]) m[0] = x[3];
        }
        """,
        "f",
    )

    def function(x: Any, y: Any, low: Any, w: Any, s: Any, m: Any) -> None:
        assert (x.shape, y.shape, w.shape, s.shape) == ((2, 2), (2,), (1,), (1,))
        assert not x.flags.writeable
        y += x[:, 1]
        low[:] = np.minimum(low, x[:, 0])
        w[...] = x[0, 0]
        s += x[0, 0]
        m[0] = max(m[0], x[1, 1])

    for loop in (kernel, function):
        y, low, w = op2.Dat(NODES), op2.Dat(NODES, np.full(4, 3.0)), op2.Dat(CELLS)
        s, m = op2.Global(1, 10.0), op2.Global(1, 0.0)
        args = (x(op2.READ, C2N), y(op2.INC, C2N), low(op2.MIN, C2N), w(op2.WRITE))
        op2.par_loop(loop, CELLS, *args, s(op2.INC), m(op2.MAX))
        results.append([carrier.data_ro.tolist() for carrier in (y, low, w, s, m)])
    assert results[0] == results[1]


def test_it_updates_values_that_a_device_had(device: _core.Device) -> None:
    given, kernel = np.ones(3), op2.Kernel("void twice(double *x) { *x *= 2; }", "twice")
    x = op2.Dat(CELLS, given)

    def more(x: Any) -> None:
        x += 1

    for k in range(3):
        op2.par_loop(kernel, CELLS, x(op2.RW))
        op2.par_loop(more, CELLS, x(op2.RW))
        assert x.data_ro.tolist() == [2.0 ** (k + 1) + 2 ** (k + 1) - 1] * 3
    assert given.tolist() == x.data_ro.tolist()


def test_written_rows_start_at_zero() -> None:
    x = op2.Dat(NODES, np.ones(4))

    def function(x: Any) -> None:
        x[0] = 5

    op2.par_loop(function, CELLS(0), x(op2.WRITE, C2N))
    assert x.data_ro.tolist() == [5, 0, 1, 1]


def test_read_arrays_cannot_be_written() -> None:
    def function(x: Any) -> None:
        x[...] = 0

    for arg in (op2.Dat(CELLS)(op2.READ), op2.Dat(NODES)(op2.READ, C2N), op2.Global(1)(op2.READ)):
        with pytest.raises(ValueError, match="read-only"):
            op2.par_loop(function, CELLS, arg)


def test_wrong_loops() -> None:
    def function(x: Any) -> None: ...

    with pytest.raises(SetTypeError):
        op2.par_loop(function, "cells", op2.Dat(CELLS)(op2.READ))  # type: ignore[arg-type]
    with pytest.raises(MapValueError, match="lives on Set 'nodes', but the loop runs over"):
        op2.par_loop(function, CELLS, op2.Dat(NODES)(op2.READ))
    with pytest.raises(UsageError, match="must be made by calling"):
        op2.par_loop(function, CELLS, 3)  # type: ignore[arg-type]


def test_layers_and_addresses() -> None:
    columns = op2.ExtrudedSet(CELLS, [[0, 3], [1, 3], [2, 5]])
    seen: list[tuple[int, int]] = []

    def function(address: int, layer: int) -> None:
        seen.append((address, layer))

    handle = op2.PassthroughArg(op2.OpaqueType("Handle"), 4096)
    op2.par_loop(function, columns, handle, iteration_region=op2.ON_TOP, pass_layer_arg=True)
    assert seen == [(4096, 1), (4096, 1), (4096, 3)]


def test_a_matrix_keeps_its_state_and_refuses_rows_without_a_place() -> None:
    mat = op2.Mat(op2.Sparsity((NODES**1, NODES**1), [(C2N, C2N, None)]))

    def function(tensor: Any) -> None:
        assert tensor.shape == (2, 2)
        tensor += [[1, 2], [3, 4]]

    op2.par_loop(function, CELLS, mat(op2.INC, (C2N, C2N)))
    assert mat.assembly_state == op2.Mat.ADD_VALUES
    expected = np.zeros((4, 4))
    for cell in C2N.values:
        np.add.at(expected, np.ix_(cell, cell), [[1, 2], [3, 4]])
    np.testing.assert_array_equal(mat.values, expected)


@pytest.mark.usefixtures("device")
def test_values_come_from_a_device_and_go_back_there() -> None:
    x, total = op2.Dat(CELLS, [1.0, 2.0, 3.0]), op2.Global(1, 0.0)
    twice = op2.Kernel("void twice(double *x, double *s) { *x *= 2; *s += *x; }", "twice")
    op2.par_loop(twice, CELLS, x(op2.RW), total(op2.INC))

    def function(x: Any, total: Any) -> None:
        x += 1
        total += x

    op2.par_loop(function, CELLS, x(op2.RW), total(op2.INC))
    op2.par_loop(twice, CELLS, x(op2.RW), total(op2.INC))
    assert x.residence == "device"
    assert (x.data_ro.tolist(), total.data_ro.tolist()) == ([6, 10, 14], [57])


# Loops of every kind, with the same kernels: compiled, and called from Python

# functions of dense algebra are part of kernels, and unknown to a C compiler
UNKNOWN = ("consts", "dense")
COMPILED = {
    case.name: case
    for case in CASES
    if not case.needs and not any(word in case.name for word in UNKNOWN)
}
INCLUDES = "#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n#include <string.h>\n"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """All kernels as one library, each found by the name of its case."""
    folder: Path = tmp_path_factory.mktemp("kernels")
    lines = [INCLUDES]
    for name, case in COMPILED.items():
        if name.startswith("narrow_"):
            continue
        kernel = case.problem().kernel
        inside = f"{name}_{kernel.name}"
        lines += [f"#define {kernel.name} {inside}", kernel.code]
        lines += [f"#undef {kernel.name}", f"void *const {name} = (void *){inside};"]
    source, target = folder / "kernels.c", folder / "kernels.so"
    source.write_text("\n".join(lines))
    command = [
        "cc",
        "-O0",
        "-w",
        "-std=gnu11",
        "-shared",
        "-fPIC",
        "-o",
        str(target),
        str(source),
        "-lm",
    ]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(target))


def called(address: int) -> Callable[..., None]:
    """The kernel at an address as a Python function of arrays, and of the layer."""
    kernel = ctypes.CFUNCTYPE(None)(address)

    def function(*packs: Any) -> None:
        dense = [pack if isinstance(pack, int) else np.ascontiguousarray(pack) for pack in packs]
        given = [d if isinstance(d, int) else ctypes.c_void_p(d.ctypes.data) for d in dense]
        kernel(*given)
        for pack, values in zip(packs, dense, strict=True):
            if values is not pack and pack.flags.writeable:
                pack[...] = values

    return function


@pytest.mark.parametrize("name", COMPILED)
def test_loops_of_every_kind(name: str, library: ctypes.CDLL) -> None:
    case = COMPILED[name]
    problem = case.problem()
    address = ctypes.c_void_p.in_dll(library, name.removeprefix("narrow_")).value
    assert address is not None
    PythonLoop(called(address), problem.iterset, *problem.args, **problem.options).compute()
    if problem.check is not None:
        problem.check()
    for carrier, expected in problem.expected:
        found: Any = carrier.array if isinstance(carrier, op2.Mat) else carrier.data_ro_with_halos
        bound = max(case.tolerance, 1e-6 if found.dtype == np.float32 else 1e-12)
        largest = np.abs(expected).max(initial=0)
        np.testing.assert_allclose(found, expected, rtol=0, atol=bound * largest)
