# SPDX-License-Identifier: BSD-3-Clause
"""Names imported from ``pyop2.types.dataset`` by programs for PyOP2."""

from pyop2cxx.sets.datasets import DataSet
from pyop2cxx.sets.global_sets import GlobalDataSet
from pyop2cxx.sets.mixed_sets import MixedDataSet

__all__ = ["DataSet", "GlobalDataSet", "MixedDataSet"]
