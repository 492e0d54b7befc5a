# SPDX-License-Identifier: BSD-3-Clause
"""The names that programs for PyOP2 import from ``pyop2.types.mat``."""

from pyop2cxx.data.mats import Mat
from pyop2cxx.sets.sparsities import Sparsity

__all__ = ["Mat", "Sparsity"]
