# SPDX-License-Identifier: BSD-3-Clause
"""Names imported from ``pyop2.types.glob`` by programs for PyOP2."""

from pyop2cxx.data.constants import Constant
from pyop2cxx.data.globals import Global

__all__ = ["Constant", "Global"]
