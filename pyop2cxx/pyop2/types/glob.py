# SPDX-License-Identifier: BSD-3-Clause
"""The names that programs for PyOP2 import from ``pyop2.types.glob``."""

from pyop2cxx.data.constants import Constant
from pyop2cxx.data.globals import Global

__all__ = ["Constant", "Global"]
