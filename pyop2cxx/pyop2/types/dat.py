# SPDX-License-Identifier: BSD-3-Clause
"""The names that programs for PyOP2 import from ``pyop2.types.dat``."""

from pyop2cxx.data.dats import Dat
from pyop2cxx.data.mixed_dats import MixedDat
from pyop2cxx.data.views import DatView

__all__ = ["Dat", "DatView", "MixedDat"]
