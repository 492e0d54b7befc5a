# SPDX-License-Identifier: BSD-3-Clause
"""The names that programs for PyOP2 import from ``pyop2.types.set``."""

from pyop2cxx.sets.extruded import ExtrudedSet
from pyop2cxx.sets.global_sets import GlobalSet
from pyop2cxx.sets.mixed_sets import MixedSet
from pyop2cxx.sets.sets import Set, Subset

__all__ = ["ExtrudedSet", "GlobalSet", "MixedSet", "Set", "Subset"]
