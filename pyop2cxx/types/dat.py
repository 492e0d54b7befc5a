# SPDX-License-Identifier: BSD-3-Clause
"""The names that programs for PyOP2 import from ``pyop2.types.dat``."""

from pyop2cxx.types.dats import Dat
from pyop2cxx.types.mixed import MixedDat
from pyop2cxx.types.views import DatView

__all__ = ["Dat", "DatView", "MixedDat"]
