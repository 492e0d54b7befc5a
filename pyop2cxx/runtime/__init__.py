# SPDX-License-Identifier: BSD-3-Clause
"""The state of a running program."""

from pyop2cxx.runtime.state import Runtime, runtime

__all__ = ["Runtime", "runtime"]
