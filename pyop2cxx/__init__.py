# SPDX-License-Identifier: BSD-3-Clause
"""Parallel loops over unstructured meshes: record once in Python, run on any backend.

Start with ``from pyop2cxx import op2``.
"""

from pyop2cxx._core import __version__

__all__ = ["__version__"]
