# SPDX-License-Identifier: BSD-3-Clause
"""The public names: ``from pyop2cxx import op2``."""

import importlib.util
from typing import TYPE_CHECKING, Any

from pyop2cxx.base.collector import paused

with paused():
    from pyop2cxx.base.access import INC, MAX, MIN, READ, RW, WRITE, Access
    from pyop2cxx.base.regions import ALL, ON_BOTTOM, ON_INTERIOR_FACETS, ON_TOP, IterationRegion
    from pyop2cxx.data.constants import Const, Constant
    from pyop2cxx.data.dats import Dat
    from pyop2cxx.data.globals import Global
    from pyop2cxx.data.handles import OpaqueType, PassthroughArg
    from pyop2cxx.data.mats import Mat
    from pyop2cxx.data.mixed_dats import MixedDat
    from pyop2cxx.data.views import DatView
    from pyop2cxx.exceptions import ChainError, CheckError
    from pyop2cxx.kernel.kernel import CStringLocalKernel, Kernel, LocalKernel, LoopyLocalKernel
    from pyop2cxx.loop.parloop import ParLoop
    from pyop2cxx.loop.run import par_loop
    from pyop2cxx.runtime import communicators, runtime
    from pyop2cxx.sets.datasets import DataSet
    from pyop2cxx.sets.derived_maps import ComposedMap, PermutedMap
    from pyop2cxx.sets.extruded import ExtrudedSet
    from pyop2cxx.sets.global_sets import GlobalDataSet
    from pyop2cxx.sets.halo import Halo
    from pyop2cxx.sets.maps import Map
    from pyop2cxx.sets.mixed_sets import MixedDataSet, MixedMap, MixedSet
    from pyop2cxx.sets.sets import LocalSet, Set, Subset
    from pyop2cxx.sets.sparsities import Sparsity

if TYPE_CHECKING:
    from pyop2cxx.ahead.saved_graphs import load_graph
    from pyop2cxx.algebra import dense
    from pyop2cxx.algebra.solvers import Solver, solve
    from pyop2cxx.chain.recorder import Chain as chain
    from pyop2cxx.data.ragged import RaggedMap
    from pyop2cxx.data.renumber import renumber
    from pyop2cxx.graph.builder import GraphBuilder as graph
    from pyop2cxx.graph.builder import create_graph
    from pyop2cxx.graph.capture import record
    from pyop2cxx.graph.graph import Graph
    from pyop2cxx.ranks.distribute import distribute
    from pyop2cxx.reports import dispatch, transfers, tune
    from pyop2cxx.reports.backends import backends
    from pyop2cxx.reports.profile import Profile as profile
    from pyop2cxx.reports.profile import wait
    from pyop2cxx.reports.progress import progress
    from pyop2cxx.reports.timings import timings

_LATE = {
    "ahead.saved_graphs": ("load_graph",),
    "algebra.solvers": ("Solver", "solve"),
    "chain.recorder": ("Chain as chain",),
    "data.ragged": ("RaggedMap",),
    "data.renumber": ("renumber",),
    "graph.builder": ("GraphBuilder as graph", "create_graph"),
    "graph.capture": ("record",),
    "graph.graph": ("Graph",),
    "ranks.distribute": ("distribute",),
    "reports.backends": ("backends",),
    "reports.profile": ("Profile as profile", "wait"),
    "reports.progress": ("progress",),
    "reports.timings": ("timings",),
}
"""Names that few programs use, by their modules: imported when they are first asked for."""
_OLDER = {
    "data.constants": ("GlobalArg", "GlobalArg as GlobalLegacyArg"),
    "data.dats": ("DatArg", "DatArg as DatLegacyArg"),
    "data.mat_args": (
        "MatArg",
        "MatArg as MatLegacyArg",
        "MixedMatArg",
        "MixedMatArg as MixedMatLegacyArg",
    ),
    "data.mixed_dats": ("MixedDatArg", "MixedDatArg as MixedDatLegacyArg"),
    "loop.parloop": ("ParLoop as LegacyParloop",),
    "loop.run": ("par_loop as parloop",),
    "pyop2._indices": ("IterationIndex", "i"),
    "pyop2._kernel_args": (
        "ComposedMapKernelArg",
        "DatKernelArg",
        "DatParloopArg",
        "GlobalKernelArg",
        "GlobalParloopArg",
        "MapKernelArg",
        "MatKernelArg",
        "MatParloopArg",
        "MixedDatKernelArg",
        "MixedDatParloopArg",
        "MixedMatKernelArg",
        "MixedMatParloopArg",
        "ParloopArg",
        "PassthroughKernelArg",
        "PassthroughParloopArg",
        "PermutedMapKernelArg",
    ),
    "pyop2.global_kernel": ("GlobalKernel", "Parloop"),
    "pyop2.mpi": ("collective",),
}
"""Names of PyOP2's programs, resolved on access: not in `__all__`, and not in `dir()`."""
_PLACES = {
    name.rpartition(" ")[2]: (f"pyop2cxx.{module}", name.partition(" ")[0])
    for module, names in (*_LATE.items(), *_OLDER.items())
    for name in names
} | {
    name: (f"pyop2cxx.{room}.{name}", "")
    for room, names in (("algebra", ("dense",)), ("reports", ("dispatch", "transfers", "tune")))
    for name in names
}

configuration = runtime.configuration
init = runtime.init
exit = runtime.exit
initialised = runtime.initialised
backend = runtime.use_backend

runtime.follow_lazy()  # the environment may ask for lazy loops

debug = runtime.logger.debug
info = runtime.logger.info
warning = runtime.logger.warning
error = runtime.logger.error
critical = runtime.logger.critical
set_log_level = runtime.set_log_level


MPI: Any
"""mpi4py's ``MPI`` if installed; else a replacement for programs of a single process."""
COMM_WORLD: Any
"""The communicator of all processes, ``MPI.COMM_WORLD``."""


def __getattr__(name: str) -> Any:
    """Find `MPI`, `COMM_WORLD` and lazily imported names on first use."""
    if name in ("MPI", "COMM_WORLD"):
        return getattr(communicators, name)
    module, attribute = _PLACES.get(name, ("", ""))
    room = ".".join(module.split(".")[:2])
    if not module or importlib.util.find_spec(room) is None:  # PyOP2's may be missing
        raise AttributeError(f"module 'pyop2cxx.op2' has no attribute '{name}'")
    found: Any = importlib.import_module(module)
    if attribute:
        found = getattr(found, attribute)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """List the public names, including lazily imported names."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


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
    "ChainError",
    "CheckError",
    "ComposedMap",
    "Const",
    "Constant",
    "Dat",
    "DatView",
    "DataSet",
    "ExtrudedSet",
    "Global",
    "GlobalDataSet",
    "Graph",
    "Halo",
    "IterationRegion",
    "Kernel",
    "LocalKernel",
    "LocalSet",
    "LoopyLocalKernel",
    "Map",
    "Mat",
    "MixedDat",
    "MixedDataSet",
    "MixedMap",
    "MixedSet",
    "OpaqueType",
    "ParLoop",
    "PassthroughArg",
    "PermutedMap",
    "RaggedMap",
    "Set",
    "Solver",
    "Sparsity",
    "Subset",
    "backend",
    "backends",
    "chain",
    "configuration",
    "create_graph",
    "critical",
    "debug",
    "dense",
    "dispatch",
    "distribute",
    "error",
    "exit",
    "graph",
    "info",
    "init",
    "initialised",
    "load_graph",
    "par_loop",
    "profile",
    "progress",
    "record",
    "renumber",
    "set_log_level",
    "solve",
    "timings",
    "transfers",
    "tune",
    "wait",
    "warning",
]
