# SPDX-License-Identifier: BSD-3-Clause
"""NVIDIA GPUs, by the CUDA driver and NVRTC."""

from pyop2cxx import _core
from pyop2cxx.backends import _nvrtc as nvrtc
from pyop2cxx.backends import _toolkit as toolkit
from pyop2cxx.backends._backend import Backend, DeviceToolchain

BACKEND = Backend(
    name="cuda",
    summary="an NVIDIA GPU, by CUDA",
    facts=_core.Facts(
        lanes=_core.Lanes.grid,
        atomics=True,
        warp=32,
        one_address_space=True,
        complex_arithmetic=True,
        float64=True,
        fences=True,
        fetches=True,
    ),
    dialect=_core.cg.cuda_dialect(),
    suffix=(".cu", ".cu"),
    template="cuda/program.j2",
    preludes=("complex", "memory", "last_block", "fetch"),
    toolchain=DeviceToolchain(
        vendor="cuda",
        make_compiler=lambda _, info: nvrtc.compiler(info.capability),
        compiler_for=nvrtc.compiler,
        kinds="sm_",
        libraries={
            "cublas": lambda device: _core.cuda.Cublas(toolkit.folders("cublas"), device),
            "cusparse": lambda device: _core.cuda.Cusparse(toolkit.folders("cusparse"), device),
        },
        deterministic_flags=("-fmad=false",),
        debug_flags=("-lineinfo",),
    ),
)
