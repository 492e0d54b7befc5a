# SPDX-License-Identifier: BSD-3-Clause
"""The backend: facts for the compiler, a language, a template, and flags of the C compiler."""

from pathlib import Path

from pyop2cxx import _core
from pyop2cxx.backends._backend import Backend, HostToolchain

BACKEND = Backend(
    name="abacus",
    summary="one core, as if it had no atomics",
    facts=_core.Facts(
        lanes=_core.Lanes.one,
        atomics=False,
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
    template="abacus/unit.j2",
    toolchain=HostToolchain(flags=("-DABACUS=1", "-O0"), install="apt-get install gcc"),
    templates=Path(__file__).parent / "frames",
)
