# SPDX-License-Identifier: BSD-3-Clause
"""``pyop2.op2`` is the face of pyop2cxx itself, found by its name because it lies above."""

import importlib
import sys

sys.modules[__name__] = importlib.import_module("pyop2cxx.op2")
