# SPDX-License-Identifier: BSD-3-Clause
"""The public names: ``from pyop2cxx import op2``."""

from typing import Any

from pyop2cxx import dispatch, mpi, transfers
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
    MatKernelArg,
    MatParloopArg,
    MixedDatKernelArg,
    MixedDatParloopArg,
    MixedMatKernelArg,
    MixedMatParloopArg,
    Parloop,
    PassthroughKernelArg,
    PassthroughParloopArg,
    PermutedMapKernelArg,
)
from pyop2cxx.kernel import Kernel
from pyop2cxx.linalg import Solver, solve
from pyop2cxx.loopy_kernels import LoopyLocalKernel
from pyop2cxx.mpi import collective
from pyop2cxx.parloop import LegacyParloop, ParLoop, par_loop
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
    DatArg,
    DataSet,
    DatView,
    ExtrudedSet,
    Global,
    GlobalArg,
    GlobalDataSet,
    Halo,
    IterationIndex,
    IterationRegion,
    LocalSet,
    Map,
    Mat,
    MatArg,
    MixedDat,
    MixedDatArg,
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
from pyop2cxx.types.args import MixedMatArg

parloop = par_loop
DatLegacyArg = DatArg
GlobalLegacyArg = GlobalArg
MatLegacyArg = MatArg
MixedDatLegacyArg = MixedDatArg
MixedMatLegacyArg = MixedMatArg
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


MPI: Any
COMM_WORLD: Any


def __getattr__(name: str) -> Any:
    """Find `MPI` and `COMM_WORLD` when they are first asked for."""
    if name in ("MPI", "COMM_WORLD"):
        return getattr(mpi, name)
    raise AttributeError(f"module 'pyop2cxx.op2' has no attribute '{name}'")


__all__ = [
    "ALL",
    "COMM_WORLD",
    "INC",
    "MAX",
    "MIN",
    "MPI",
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
    "DatLegacyArg",
    "DatParloopArg",
    "DatView",
    "DataSet",
    "ExtrudedSet",
    "Global",
    "GlobalDataSet",
    "GlobalKernel",
    "GlobalKernelArg",
    "GlobalLegacyArg",
    "GlobalParloopArg",
    "Halo",
    "IterationIndex",
    "IterationRegion",
    "Kernel",
    "LegacyParloop",
    "LocalKernel",
    "LocalSet",
    "LoopyLocalKernel",
    "Map",
    "MapKernelArg",
    "Mat",
    "MatKernelArg",
    "MatLegacyArg",
    "MatParloopArg",
    "MixedDat",
    "MixedDatKernelArg",
    "MixedDatLegacyArg",
    "MixedDatParloopArg",
    "MixedDataSet",
    "MixedMap",
    "MixedMatKernelArg",
    "MixedMatLegacyArg",
    "MixedMatParloopArg",
    "MixedSet",
    "OpaqueType",
    "ParLoop",
    "Parloop",
    "PassthroughArg",
    "PassthroughKernelArg",
    "PassthroughParloopArg",
    "PermutedMap",
    "PermutedMapKernelArg",
    "Set",
    "Solver",
    "Sparsity",
    "Subset",
    "backend",
    "backends",
    "collective",
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
