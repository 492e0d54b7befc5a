# SPDX-License-Identifier: BSD-3-Clause
"""Names imported from ``pyop2.types.halo`` by programs for PyOP2."""

from pyop2cxx.sets.halo import Halo

__all__ = ["Halo"]
