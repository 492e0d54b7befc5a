# SPDX-License-Identifier: BSD-3-Clause
"""Parallel loops over unstructured meshes: record once in Python, run on any backend.

Start with ``from pyop2cxx import op2``. What `op2` has can be imported from here, too.
"""

import importlib
import importlib.util
from typing import Any

from pyop2cxx._core import __version__

__all__ = ["__version__"]


def __getattr__(name: str) -> Any:
    """Find all of `op2`, as ``pyop2`` has it; folders and modules come first."""
    is_module = importlib.util.find_spec(f"{__name__}.{name}") is not None
    if name.startswith("_") or is_module:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(importlib.import_module("pyop2cxx.op2"), name)
