# SPDX-License-Identifier: BSD-3-Clause
"""Measurements of the fastest way of a loop, and of chains, with results compared."""

from pyop2cxx.tune.chains import before_first_chain
from pyop2cxx.tune.measure import before_first_call

__all__ = ["before_first_call", "before_first_chain"]
