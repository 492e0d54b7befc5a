# SPDX-License-Identifier: BSD-3-Clause
"""GPUs and processors, by OpenCL 1.2 or newer."""

from pyop2cxx import _core
from pyop2cxx.backends._backend import Backend, DeviceToolchain

BACKEND = Backend(
    name="opencl",
    summary="a GPU or all cores, by OpenCL",
    facts=_core.Facts(
        lanes=_core.Lanes.grid,
        atomics=True,
        warp=0,
        one_address_space=False,
        complex_arithmetic=True,
        float64=True,
        fences=False,
    ),
    dialect=_core.cg.opencl_dialect(),
    suffix=(".cl", ".cl"),
    template="opencl/program.j2",
    preludes=("float64", "complex", "int64_atomics", "memory", "ranges", "no_contraction"),
    toolchain=DeviceToolchain(
        vendor="opencl",
        make_compiler=lambda index, _: _core.vendor("opencl").make_compiler(str(index), []),
        has_processors=True,
        flags=("-cl-std=CL1.2",),
    ),
)
