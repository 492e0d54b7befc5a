# SPDX-License-Identifier: BSD-3-Clause
"""Check mode: watched runs of loops, with races, wrong subscripts and wrong values found."""

from pyop2cxx.check.check_mode import CheckedRun
from pyop2cxx.check.value_checks import WatchedArguments

__all__ = ["CheckedRun", "WatchedArguments"]
