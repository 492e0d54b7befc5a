# SPDX-License-Identifier: BSD-3-Clause
"""The names that programs for PyOP2 import from ``pyop2.types.dataset``."""

from pyop2cxx.data.mixed import MixedDataSet
from pyop2cxx.sets.global_sets import GlobalDataSet
from pyop2cxx.sets.sets import DataSet

__all__ = ["DataSet", "GlobalDataSet", "MixedDataSet"]
