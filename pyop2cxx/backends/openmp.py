# SPDX-License-Identifier: BSD-3-Clause
"""All cores of the host, by OpenMP."""

from pyop2cxx import _core
from pyop2cxx.backends._backend import Backend, HostToolchain

BACKEND = Backend(
    name="openmp",
    summary="all cores of this machine",
    facts=_core.Facts(
        lanes=_core.Lanes.threads,
        atomics=True,
        warp=0,
        one_address_space=True,
        complex_arithmetic=True,
        float64=True,
        fences=False,
        any_kernel=True,
        rows_in_place=True,
        const_optional=True,
    ),
    dialect=_core.cg.c_dialect(),
    suffix=(".c", ".cpp"),
    template="host/translation_unit.j2",
    toolchain=HostToolchain(flags=("-fopenmp",), install="apt-get install gcc (it brings libgomp)"),
)
