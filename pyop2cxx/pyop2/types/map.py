# SPDX-License-Identifier: BSD-3-Clause
"""Names imported from ``pyop2.types.map`` by programs for PyOP2."""

from pyop2cxx.sets.derived_maps import ComposedMap, PermutedMap
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.mixed_sets import MixedMap

__all__ = ["ComposedMap", "Map", "MixedMap", "PermutedMap"]
