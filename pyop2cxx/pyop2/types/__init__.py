# SPDX-License-Identifier: BSD-3-Clause
"""Types that describe a mesh and data."""

from pyop2cxx.base.access import INC, MAX, MIN, READ, RW, WRITE, Access
from pyop2cxx.base.regions import ALL, ON_BOTTOM, ON_INTERIOR_FACETS, ON_TOP, IterationRegion
from pyop2cxx.data.constants import Const, Constant, GlobalArg
from pyop2cxx.data.dats import Dat, DatArg
from pyop2cxx.data.globals import Global
from pyop2cxx.data.handles import OpaqueType, PassthroughArg
from pyop2cxx.data.mat_args import MatArg
from pyop2cxx.data.mats import Mat
from pyop2cxx.data.mixed_dats import MixedDat, MixedDatArg
from pyop2cxx.data.views import DatView
from pyop2cxx.pyop2._indices import IterationIndex, i
from pyop2cxx.sets.datasets import DataSet
from pyop2cxx.sets.derived_maps import ComposedMap, PermutedMap
from pyop2cxx.sets.extruded import ExtrudedSet
from pyop2cxx.sets.global_sets import GlobalDataSet, GlobalSet
from pyop2cxx.sets.halo import Halo
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.mixed_sets import MixedDataSet, MixedMap, MixedSet
from pyop2cxx.sets.sets import LocalSet, Set, Subset
from pyop2cxx.sets.sparsities import Sparsity

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
    "ComposedMap",
    "Const",
    "Constant",
    "Dat",
    "DatArg",
    "DatView",
    "DataSet",
    "ExtrudedSet",
    "Global",
    "GlobalArg",
    "GlobalDataSet",
    "GlobalSet",
    "Halo",
    "IterationIndex",
    "IterationRegion",
    "LocalSet",
    "Map",
    "Mat",
    "MatArg",
    "MixedDat",
    "MixedDatArg",
    "MixedDataSet",
    "MixedMap",
    "MixedSet",
    "OpaqueType",
    "PassthroughArg",
    "PermutedMap",
    "Set",
    "Sparsity",
    "Subset",
    "i",
]
