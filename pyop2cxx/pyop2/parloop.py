# SPDX-License-Identifier: BSD-3-Clause
"""Names imported from ``pyop2.parloop`` by programs for PyOP2."""

from pyop2cxx.loop.parloop import ParLoop
from pyop2cxx.loop.run import par_loop
from pyop2cxx.pyop2._kernel_args import (
    DatParloopArg,
    GlobalParloopArg,
    MatParloopArg,
    MixedDatParloopArg,
    MixedMatParloopArg,
    PassthroughParloopArg,
)
from pyop2cxx.pyop2._single_cell import generate_single_cell_wrapper
from pyop2cxx.pyop2.global_kernel import Parloop

LegacyParloop = ParLoop
parloop = par_loop

__all__ = [
    "DatParloopArg",
    "GlobalParloopArg",
    "LegacyParloop",
    "MatParloopArg",
    "MixedDatParloopArg",
    "MixedMatParloopArg",
    "ParLoop",
    "Parloop",
    "PassthroughParloopArg",
    "generate_single_cell_wrapper",
    "par_loop",
    "parloop",
]
