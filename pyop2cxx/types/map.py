# SPDX-License-Identifier: BSD-3-Clause
"""The names that programs for PyOP2 import from ``pyop2.types.map``."""

from pyop2cxx.types.maps import Map
from pyop2cxx.types.mixed import MixedMap
from pyop2cxx.types.paths import ComposedMap, PermutedMap

__all__ = ["ComposedMap", "Map", "MixedMap", "PermutedMap"]
