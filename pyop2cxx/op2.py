# SPDX-License-Identifier: BSD-3-Clause
"""The public names: ``from pyop2cxx import op2``."""

from pyop2cxx import dispatch, transfers
from pyop2cxx.global_kernel import (
    ComposedMapKernelArg,
    CStringLocalKernel,
    DatKernelArg,
    DatParloopArg,
    GlobalKernel,
    GlobalKernelArg,
    GlobalParloopArg,
    LocalKernel,
    MapKernelArg,
    MixedDatKernelArg,
    MixedDatParloopArg,
    Parloop,
    PermutedMapKernelArg,
)
from pyop2cxx.kernel import Kernel
from pyop2cxx.linalg import Solver, solve
from pyop2cxx.parloop import ParLoop, par_loop
from pyop2cxx.renumber import renumber
from pyop2cxx.reports import backends, timings
from pyop2cxx.runtime import runtime
from pyop2cxx.types import (
    ALL,
    INC,
    MAX,
    MIN,
    ON_BOTTOM,
    ON_INTERIOR_FACETS,
    ON_TOP,
    READ,
    RW,
    WRITE,
    Access,
    ComposedMap,
    Const,
    Constant,
    Dat,
    DataSet,
    DatView,
    ExtrudedSet,
    Global,
    GlobalDataSet,
    Halo,
    IterationIndex,
    IterationRegion,
    Map,
    Mat,
    MixedDat,
    MixedDataSet,
    MixedMap,
    MixedSet,
    OpaqueType,
    PassthroughArg,
    PermutedMap,
    Set,
    Sparsity,
    Subset,
    i,
)

parloop = par_loop
configuration = runtime.configuration
init = runtime.init
exit = runtime.exit
initialised = runtime.initialised
backend = runtime.use_backend

debug = runtime.logger.debug
info = runtime.logger.info
warning = runtime.logger.warning
error = runtime.logger.error
critical = runtime.logger.critical
set_log_level = runtime.set_log_level

__all__ = [
    "ALL",
    "INC",
    "MAX",
    "MIN",
    "ON_BOTTOM",
    "ON_INTERIOR_FACETS",
    "ON_TOP",
    "READ",
    "RW",
    "WRITE",
    "Access",
    "CStringLocalKernel",
    "ComposedMap",
    "ComposedMapKernelArg",
    "Const",
    "Constant",
    "Dat",
    "DatKernelArg",
    "DatParloopArg",
    "DatView",
    "DataSet",
    "ExtrudedSet",
    "Global",
    "GlobalDataSet",
    "GlobalKernel",
    "GlobalKernelArg",
    "GlobalParloopArg",
    "Halo",
    "IterationIndex",
    "IterationRegion",
    "Kernel",
    "LocalKernel",
    "Map",
    "MapKernelArg",
    "Mat",
    "MixedDat",
    "MixedDatKernelArg",
    "MixedDatParloopArg",
    "MixedDataSet",
    "MixedMap",
    "MixedSet",
    "OpaqueType",
    "ParLoop",
    "Parloop",
    "PassthroughArg",
    "PermutedMap",
    "PermutedMapKernelArg",
    "Set",
    "Solver",
    "Sparsity",
    "Subset",
    "backend",
    "backends",
    "configuration",
    "critical",
    "debug",
    "dispatch",
    "error",
    "exit",
    "i",
    "info",
    "init",
    "initialised",
    "par_loop",
    "parloop",
    "renumber",
    "set_log_level",
    "solve",
    "timings",
    "transfers",
    "warning",
]
