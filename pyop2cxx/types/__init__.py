# SPDX-License-Identifier: BSD-3-Clause
"""What users describe a mesh and its data with."""

from pyop2cxx.types.access import INC, MAX, MIN, READ, RW, WRITE, Access
from pyop2cxx.types.args import ConstantArg, DatArg, GlobalArg, MatArg
from pyop2cxx.types.constants import Const, Constant
from pyop2cxx.types.dats import Dat
from pyop2cxx.types.globals import Global
from pyop2cxx.types.maps import Map
from pyop2cxx.types.mats import Mat
from pyop2cxx.types.sets import DataSet, Set
from pyop2cxx.types.sparsities import Sparsity

__all__ = [
    "INC",
    "MAX",
    "MIN",
    "READ",
    "RW",
    "WRITE",
    "Access",
    "Const",
    "Constant",
    "ConstantArg",
    "Dat",
    "DatArg",
    "DataSet",
    "Global",
    "GlobalArg",
    "Map",
    "Mat",
    "MatArg",
    "Set",
    "Sparsity",
]
