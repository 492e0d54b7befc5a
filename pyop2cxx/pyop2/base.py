# SPDX-License-Identifier: BSD-3-Clause
"""Names imported from ``pyop2.base`` by programs for PyOP2 of 2013 and 2016."""

from typing import Any

from pyop2cxx.algebra.solvers import DEFAULTS, Solver
from pyop2cxx.base.access import INC, MAX, MIN, READ, RW, WRITE, Access
from pyop2cxx.base.regions import ALL, ON_BOTTOM, ON_INTERIOR_FACETS, ON_TOP, IterationRegion
from pyop2cxx.data.constants import Const
from pyop2cxx.data.dats import Dat
from pyop2cxx.data.globals import Global
from pyop2cxx.data.mats import Mat
from pyop2cxx.data.mixed_dats import MixedDat
from pyop2cxx.data.views import DatView
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.loop.parloop import ParLoop
from pyop2cxx.loop.run import par_loop
from pyop2cxx.pyop2._indices import IterationIndex, i
from pyop2cxx.pyop2.caching import CompiledLoops
from pyop2cxx.sets.datasets import DataSet
from pyop2cxx.sets.extruded import ExtrudedSet
from pyop2cxx.sets.halo import Halo
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.mixed_sets import MixedDataSet, MixedMap, MixedSet
from pyop2cxx.sets.sets import LocalSet, Set, Subset
from pyop2cxx.sets.sparsities import Sparsity

DEFAULT_SOLVER_PARAMETERS = DEFAULTS
"""Default parameters of `Solver`."""


class _Trace:
    """PyOP2's queue of waiting loops: always empty here."""

    def evaluate_all(self) -> None:
        """Do nothing: all loops have run."""

    def evaluate(self, reads: Any = None, writes: Any = None) -> None:
        """Do nothing: all loops have run."""

    def clear(self) -> None:
        """Do nothing: there are none."""

    def in_queue(self, loop: Any) -> bool:
        """Return False: no loop waits."""
        return False


_trace = _Trace()


class JITModule:
    """The class in which PyOP2 of 2016 kept compiled loops; here all of the process."""

    _cache = CompiledLoops()


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
