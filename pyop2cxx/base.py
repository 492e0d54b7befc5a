# SPDX-License-Identifier: BSD-3-Clause
"""The names that programs for PyOP2 of 2013 and 2016 import from ``pyop2.base``."""

from typing import Any

from pyop2cxx.kernel import Kernel
from pyop2cxx.linalg import DEFAULTS, Solver
from pyop2cxx.parloop import ParLoop, par_loop
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
    Const,
    Dat,
    DataSet,
    DatView,
    ExtrudedSet,
    Global,
    Halo,
    IterationIndex,
    IterationRegion,
    LocalSet,
    Map,
    Mat,
    MixedDat,
    MixedDataSet,
    MixedMap,
    MixedSet,
    Set,
    Sparsity,
    Subset,
    i,
)

DEFAULT_SOLVER_PARAMETERS = DEFAULTS
"""What `Solver` does where it is told nothing else."""


class _Trace:
    """Where PyOP2 kept loops that were yet to run: here nothing waits."""

    def evaluate_all(self) -> None:
        """Do nothing: all loops have run."""

    def evaluate(self, reads: Any = None, writes: Any = None) -> None:
        """Do nothing: all loops have run."""

    def clear(self) -> None:
        """Do nothing: there are none."""

    def in_queue(self, loop: Any) -> bool:
        """Say that a loop does not wait."""
        return False


_trace = _Trace()

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
    "Const",
    "Dat",
    "DatView",
    "DataSet",
    "ExtrudedSet",
    "Global",
    "Halo",
    "IterationIndex",
    "IterationRegion",
    "Kernel",
    "LocalSet",
    "Map",
    "Mat",
    "MixedDat",
    "MixedDataSet",
    "MixedMap",
    "MixedSet",
    "ParLoop",
    "Set",
    "Solver",
    "Sparsity",
    "Subset",
    "i",
    "par_loop",
]
