# SPDX-License-Identifier: BSD-3-Clause
"""The names that programs for PyOP2 import from ``pyop2.exceptions``: all of ours."""

from pyop2cxx.exceptions import *  # noqa: F403
