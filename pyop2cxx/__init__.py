# SPDX-License-Identifier: BSD-3-Clause
"""Parallel loops over unstructured meshes: record once in Python, run on any backend.

Start with ``from pyop2cxx import op2``. All names of `op2` can be imported from here, too.
"""

import importlib
import importlib.util
from typing import Any


def _refuse_subinterpreters() -> None:
    """Raise in an interpreter other than the process' first, where the import would hang."""
    for name in ("_interpreters", "_xxsubinterpreters"):  # since Python 3.13, and before
        if importlib.util.find_spec(name) is not None:
            interpreters = importlib.import_module(name)
            if interpreters.get_current() != interpreters.get_main():
                raise ImportError(
                    "pyop2cxx cannot be imported in a subinterpreter: its C++ core and NumPy "
                    "belong to the main interpreter of a process; import it there, or start a "
                    "process (multiprocessing) instead of the subinterpreter"
                )
            return


_refuse_subinterpreters()

from pyop2cxx._core import __version__  # noqa: E402 # hangs where it is refused

__all__ = ["__version__"]


def __getattr__(name: str) -> Any:
    """Find all names of `op2`, as in ``pyop2``; folders and modules come first."""
    is_module = importlib.util.find_spec(f"{__name__}.{name}") is not None
    if name.startswith("_") or is_module:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(importlib.import_module("pyop2cxx.op2"), name)
