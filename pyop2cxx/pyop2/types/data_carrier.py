# SPDX-License-Identifier: BSD-3-Clause
"""Names imported from ``pyop2.types.data_carrier`` by programs for PyOP2."""

from pyop2cxx.data.carrier import DataCarrier

__all__ = ["DataCarrier"]
