# SPDX-License-Identifier: BSD-3-Clause
"""The public names: ``from pyop2cxx import op2``."""

from typing import Any

from pyop2cxx.algebra.solvers import Solver, solve
from pyop2cxx.base.access import INC, MAX, MIN, READ, RW, WRITE, Access
from pyop2cxx.base.regions import ALL, ON_BOTTOM, ON_INTERIOR_FACETS, ON_TOP, IterationRegion
from pyop2cxx.data.args import DatArg, GlobalArg, MatArg, MixedDatArg, MixedMatArg
from pyop2cxx.data.constants import Const, Constant
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.globals import Global
from pyop2cxx.data.handles import OpaqueType, PassthroughArg
from pyop2cxx.data.mats import Mat
from pyop2cxx.data.mixed import MixedDat, MixedDataSet, MixedMap, MixedSet
from pyop2cxx.data.renumber import renumber
from pyop2cxx.data.views import DatView
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.kernel.loopy import LoopyLocalKernel
from pyop2cxx.loop.parloop import LegacyParloop, ParLoop, par_loop
from pyop2cxx.pyop2._indices import IterationIndex, i
from pyop2cxx.pyop2.global_kernel import (
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
from pyop2cxx.reports import dispatch, transfers
from pyop2cxx.reports.profile import Profile as profile
from pyop2cxx.reports.profile import wait
from pyop2cxx.reports.timings import backends, timings
from pyop2cxx.runtime import communicators, runtime
from pyop2cxx.runtime.communicators import collective
from pyop2cxx.sets.derived_maps import ComposedMap, PermutedMap
from pyop2cxx.sets.extruded import ExtrudedSet
from pyop2cxx.sets.global_sets import GlobalDataSet
from pyop2cxx.sets.halo import Halo
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.sets import DataSet, LocalSet, Set
from pyop2cxx.sets.sparsities import Sparsity
from pyop2cxx.sets.subsets import Subset

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
        return getattr(communicators, name)
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
    "profile",
    "renumber",
    "set_log_level",
    "solve",
    "timings",
    "transfers",
    "wait",
    "warning",
]
