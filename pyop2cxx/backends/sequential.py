# SPDX-License-Identifier: BSD-3-Clause
"""A single core, element by element."""

from pyop2cxx import _core
from pyop2cxx.backends._backend import Backend, HostToolchain

BACKEND = Backend(
    name="sequential",
    summary="one core, elements in order: the reference of every other backend",
    facts=_core.Facts(
        lanes=_core.Lanes.one,
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
    toolchain=HostToolchain(install="apt-get install gcc"),
)
