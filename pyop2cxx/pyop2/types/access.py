# SPDX-License-Identifier: BSD-3-Clause
"""The names that programs for PyOP2 import from ``pyop2.types.access``."""

from pyop2cxx.base.access import INC, MAX, MIN, READ, RW, WRITE, Access

__all__ = ["INC", "MAX", "MIN", "READ", "RW", "WRITE", "Access"]
