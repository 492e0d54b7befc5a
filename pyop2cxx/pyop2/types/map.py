# SPDX-License-Identifier: BSD-3-Clause
"""The names that programs for PyOP2 import from ``pyop2.types.map``."""

from pyop2cxx.data.mixed import MixedMap
from pyop2cxx.sets.derived_maps import ComposedMap, PermutedMap
from pyop2cxx.sets.maps import Map

__all__ = ["ComposedMap", "Map", "MixedMap", "PermutedMap"]
