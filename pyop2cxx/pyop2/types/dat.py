# SPDX-License-Identifier: BSD-3-Clause
"""Names imported from ``pyop2.types.dat`` by programs for PyOP2."""

from pyop2cxx.data.dats import Dat
from pyop2cxx.data.mixed_dats import MixedDat
from pyop2cxx.data.views import DatView

__all__ = ["Dat", "DatView", "MixedDat"]
