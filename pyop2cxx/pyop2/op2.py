# SPDX-License-Identifier: BSD-3-Clause
"""``pyop2.op2`` is pyop2cxx's own `op2`, imported by name because `op2` is a higher layer."""

import importlib
import sys

sys.modules[__name__] = importlib.import_module("pyop2cxx.op2")
