# SPDX-License-Identifier: BSD-3-Clause
"""Names imported from ``pyop2.types.set`` by programs for PyOP2."""

from pyop2cxx.sets.extruded import ExtrudedSet
from pyop2cxx.sets.global_sets import GlobalSet
from pyop2cxx.sets.mixed_sets import MixedSet
from pyop2cxx.sets.sets import Set, Subset

__all__ = ["ExtrudedSet", "GlobalSet", "MixedSet", "Set", "Subset"]
