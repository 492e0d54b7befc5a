# SPDX-License-Identifier: BSD-3-Clause
"""Loops for devices are called by hand: by the vendor's functions, and nothing but the manifest."""

from __future__ import annotations

import ctypes
import json
import re
import subprocess
from ctypes import byref, c_char_p, c_int, c_long, c_size_t, c_uint, c_uint64, c_void_p
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from programs import needs_program

from pyop2cxx import op2
from pyop2cxx.ahead.manifest import MANIFEST
from pyop2cxx.reports.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PROGRAM = """
from pyop2cxx import op2

cells, edges = op2.Set(6, "cells"), op2.Set(5, "edges")
ends = op2.Map(edges, cells, 2, [[i, i + 1] for i in range(5)], "ends")
heat, flow = op2.Dat(cells, name="heat"), op2.Dat(cells, name="flow")
text = "void flux(double *f, const double *h) { double d = h[1] - h[0]; f[0] += d; f[1] -= d; }"
op2.par_loop(op2.Kernel(text, "flux"), edges, flow(op2.INC, ends), heat(op2.READ, ends))
"""
N = 6
WANTED = [1.0, 2.0, 2.0, 2.0, 2.0, -9.0]


def arrays() -> dict[str, Any]:
    """What the manifest asks for: data and Maps by their objects, plans by their arrays."""
    ends = [[i, i + 1] for i in range(N - 1)]
    # of each cell the places among the values of the Map that lead to it
    places = [[p for p in range(2 * (N - 1)) if ends[p // 2][p % 2] == cell] for cell in range(N)]
    return {
        "Dat 'flow'": np.zeros(N),
        "Dat 'heat'": np.arange(N) ** 2,
        "Map 'ends'": np.array(ends),
        "incidence_offset": np.cumsum([0, *map(len, places)]),
        "incidence": np.concatenate(places),
        "touched": None,  # absent: all in order
    }


def parameters(loop: dict[str, Any]) -> list[Any]:
    """Return the values of a kernel's parameters, in their order."""
    given = arrays()
    found: dict[str, Any] = {"begin": 0, "end": N}  # rows, of which there is one for each target
    for one in loop["arguments"]:
        values = given[one.get("object") or one["array"]]
        found[one["name"]] = None if values is None else np.ascontiguousarray(values, one["dtype"])
    inside = loop["prototype"].partition("(")[2]
    return [found[name] for name in re.findall(r"(\w+)(?=,\n|\)$)", inside, re.MULTILINE)]


def by_targets(folder: Path, backend: str, *more: str) -> tuple[Path, dict[str, Any]]:
    """Write the loop for a backend; return the folder, and the entry for any mesh."""
    (folder / "heat.py").write_text(PROGRAM)
    out = folder / "lib"
    command = ["generate", "--backend", backend, *more, "-o", str(out), str(folder / "heat.py")]
    assert main(command) == 0
    op2.exit()
    loops = json.loads((out / MANIFEST).read_text())["loops"]
    found = [
        one
        for one in loops
        if one["strategy"] == "owner"
        and any(argument.get("array") == "incidence_offset" for argument in one["arguments"])
    ]
    return out, found[0]


# OpenCL


def opencl(text: str, options: str, name: str, values: list[Any]) -> None:
    """Run a kernel on the first device; arrays come back."""
    library = ctypes.CDLL("libOpenCL.so.1")
    for function in ("Context", "CommandQueue", "ProgramWithSource", "Kernel", "Buffer"):
        getattr(library, f"clCreate{function}").restype = c_void_p
    platform, device, status = c_void_p(), c_void_p(), c_int()
    done(library.clGetPlatformIDs(1, byref(platform), None))
    done(library.clGetDeviceIDs(platform, c_uint64(0xFFFFFFFF), 1, byref(device), None))
    context = c_void_p(library.clCreateContext(None, 1, byref(device), None, None, byref(status)))
    queue = c_void_p(library.clCreateCommandQueue(context, device, c_uint64(0), byref(status)))
    source = c_char_p(text.encode())
    program = c_void_p(
        library.clCreateProgramWithSource(context, 1, byref(source), None, byref(status))
    )
    done(library.clBuildProgram(program, 1, byref(device), options.encode(), None, None))
    kernel = c_void_p(library.clCreateKernel(program, name.encode(), byref(status)))
    done(status.value)
    buffers = []
    for number, value in enumerate(values):
        if isinstance(value, int):
            done(library.clSetKernelArg(kernel, number, c_size_t(8), byref(c_long(value))))
        elif value is None:
            done(library.clSetKernelArg(kernel, number, c_size_t(8), None))
        else:
            flags, n_bytes = c_uint64(1 | 1 << 5), c_size_t(value.nbytes)  # copied there
            made = library.clCreateBuffer(
                context, flags, n_bytes, c_void_p(value.ctypes.data), byref(status)
            )
            buffers.append((c_void_p(made), value))
            done(library.clSetKernelArg(kernel, number, c_size_t(8), byref(buffers[-1][0])))
    sizes = (c_size_t * 1)(64), (c_size_t * 1)(64)
    done(library.clEnqueueNDRangeKernel(queue, kernel, 1, None, *sizes, 0, None, None))
    for buffer, value in buffers:
        address, n_bytes = c_void_p(value.ctypes.data), c_size_t(value.nbytes)
        done(
            library.clEnqueueReadBuffer(
                queue, buffer, 1, c_size_t(0), n_bytes, address, 0, None, None
            )
        )


def done(status: int) -> None:
    assert status == 0, f"the driver says {status}"


def needs_device(backend: str) -> None:
    (found,) = [one for one in op2.backends() if one.name == backend]
    if not found.available:
        pytest.skip(found.reason)


def run_and_compare(loop: dict[str, Any], run: Callable[[str, list[Any]], None]) -> None:
    values = parameters(loop)
    kernel = re.findall(r"(\w+)\(\n", loop["prototype"])[0]
    run(kernel, values)
    assert values[0].tolist() == WANTED


def test_opencl(tmp_path: Path) -> None:
    needs_device("opencl")
    folder, loop = by_targets(tmp_path, "opencl")
    text = (folder / loop["file"]).read_text()
    run_and_compare(loop, lambda name, values: opencl(text, loop["options"], name, values))


# CUDA


def cuda(image: bytes, name: str, values: list[Any]) -> None:
    """Run a kernel on the first GPU; arrays come back."""
    library = ctypes.CDLL("libcuda.so.1")
    context, module, kernel = c_void_p(), c_void_p(), c_void_p()
    done(library.cuInit(0))
    done(library.cuDevicePrimaryCtxRetain(byref(context), 0))
    done(library.cuCtxPushCurrent_v2(context))
    try:
        done(library.cuModuleLoadData(byref(module), c_char_p(image)))
        done(library.cuModuleGetFunction(byref(kernel), module, name.encode()))
        held, arrays_there = [], []
        for value in values:
            if isinstance(value, np.ndarray):
                there = c_uint64()
                done(library.cuMemAlloc_v2(byref(there), c_size_t(value.nbytes)))
                at, n_bytes = c_void_p(value.ctypes.data), c_size_t(value.nbytes)
                done(library.cuMemcpyHtoD_v2(there, at, n_bytes))
                arrays_there.append((there, value))
                held.append(there)
            else:
                held.append(c_uint64(value or 0))
        addresses = (c_void_p * len(held))(*[ctypes.addressof(one) for one in held])
        one, lanes = c_uint(1), c_uint(64)
        grid = (one, one, one, lanes, one, one, c_uint(0))
        done(library.cuLaunchKernel(kernel, *grid, None, addresses, None))
        for there, value in arrays_there:
            at, n_bytes = c_void_p(value.ctypes.data), c_size_t(value.nbytes)
            done(library.cuMemcpyDtoH_v2(at, there, n_bytes))
            done(library.cuMemFree_v2(there))
        done(library.cuModuleUnload(module))
    finally:
        library.cuCtxPopCurrent_v2(byref(context))
        library.cuDevicePrimaryCtxRelease_v2(0)


@needs_program("nvcc")
def test_cuda_compiled_by_nvcc(tmp_path: Path) -> None:
    folder, loop = by_targets(tmp_path, "cuda")
    assert parameters(loop)  # all that the kernel takes is in the manifest
    image = tmp_path / "flux.cubin"
    command = ["nvcc", "-arch=sm_90", "-cubin", "-o", str(image), str(folder / loop["file"])]
    compiled = subprocess.run(command, capture_output=True, text=True, check=False)
    assert compiled.returncode == 0, compiled.stderr
    needs_device("cuda")
    run_and_compare(loop, lambda name, values: cuda(image.read_bytes(), name, values))
