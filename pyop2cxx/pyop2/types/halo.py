# SPDX-License-Identifier: BSD-3-Clause
"""The names that programs for PyOP2 import from ``pyop2.types.halo``."""

from pyop2cxx.sets.halo import Halo

__all__ = ["Halo"]
