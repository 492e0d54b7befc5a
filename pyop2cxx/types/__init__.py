# SPDX-License-Identifier: BSD-3-Clause
"""What users describe a mesh and its data with."""

from pyop2cxx.types.access import INC, MAX, MIN, READ, RW, WRITE, Access
from pyop2cxx.types.args import ConstantArg, DatArg, GlobalArg, MatArg, MixedDatArg
from pyop2cxx.types.constants import Const, Constant
from pyop2cxx.types.dats import Dat
from pyop2cxx.types.extruded import ExtrudedSet
from pyop2cxx.types.global_sets import GlobalDataSet, GlobalSet
from pyop2cxx.types.globals import Global
from pyop2cxx.types.halo import Halo
from pyop2cxx.types.indices import IterationIndex, i
from pyop2cxx.types.maps import Map
from pyop2cxx.types.mats import Mat
from pyop2cxx.types.mixed import MixedDat, MixedDataSet, MixedMap, MixedSet
from pyop2cxx.types.passthrough import OpaqueType, PassthroughArg
from pyop2cxx.types.paths import ComposedMap, PermutedMap
from pyop2cxx.types.regions import ALL, ON_BOTTOM, ON_INTERIOR_FACETS, ON_TOP, IterationRegion
from pyop2cxx.types.sets import DataSet, LocalSet, Set
from pyop2cxx.types.sparsities import Sparsity
from pyop2cxx.types.subsets import Subset
from pyop2cxx.types.views import DatView

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
    "ConstantArg",
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
