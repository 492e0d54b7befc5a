# SPDX-License-Identifier: BSD-3-Clause
"""Names imported from ``pyop2.types.access`` by programs for PyOP2."""

from pyop2cxx.base.access import INC, MAX, MIN, READ, RW, WRITE, Access

__all__ = ["INC", "MAX", "MIN", "READ", "RW", "WRITE", "Access"]
