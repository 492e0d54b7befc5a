# SPDX-License-Identifier: BSD-3-Clause
"""AMD GPUs, by HIP and hipRTC. Texts compile; the backend has never run."""

from pyop2cxx import _core
from pyop2cxx.backends._backend import Backend, DeviceToolchain

BACKEND = Backend(
    name="hip",
    summary="an AMD GPU, by HIP (its code compiles, but has never run)",
    facts=_core.Facts(
        lanes=_core.Lanes.grid,
        atomics=True,
        warp=64,
        one_address_space=True,
        complex_arithmetic=True,
        float64=True,
        fences=True,
    ),
    dialect=_core.cg.cuda_dialect().but(
        {
            "name": "HIP C++",
            "warp_barrier": "",
            "shuffle": "__shfl(",
            "arrive": (
                "__threadfence();\n{0} = atomicInc({1}, {2} - 1) == {2} - 1;\n__threadfence();"
            ),
            "fetch": "",
            "kernel_start": "",
            "bounds": "__launch_bounds__({}) ",
        }
    ),
    suffix=(".hip", ".hip"),
    template="hip/program.j2",
    preludes=("complex", "memory"),
    toolchain=DeviceToolchain(
        vendor="hip",
        make_compiler=lambda _, info: _core.vendor("hip").make_compiler(
            f"{info.name} {info.capability}", []
        ),
        compiler_for=lambda kind: _core.vendor("hip").make_compiler(kind, []),
        kinds="gfx",
        deterministic_flags=("-ffp-contract=off",),
    ),
)
