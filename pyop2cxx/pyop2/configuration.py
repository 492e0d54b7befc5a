# SPDX-License-Identifier: BSD-3-Clause
"""The names that programs for PyOP2 import from ``pyop2.configuration``."""

from __future__ import annotations

from typing import Any

from pyop2cxx.base import extras
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.options import Configuration

configuration = runtime.configuration

__all__ = ["Configuration", "configuration"]


def __getattr__(name: str) -> Any:
    """Find what loopy is to write when it is asked for: C."""
    if name == "target":
        return extras.load("loopy", "configuration.target").CWithGNULibcTarget()
    raise AttributeError(f"module 'pyop2cxx.pyop2.configuration' has no attribute '{name}'")
