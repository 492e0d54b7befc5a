# SPDX-License-Identifier: BSD-3-Clause
"""The names that programs for PyOP2 import from ``pyop2.types.data_carrier``."""

from pyop2cxx.data.carrier import DataCarrier

__all__ = ["DataCarrier"]
