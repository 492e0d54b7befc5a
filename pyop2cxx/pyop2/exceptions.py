# SPDX-License-Identifier: BSD-3-Clause
"""Names imported from ``pyop2.exceptions``: all exceptions of the package."""

from pyop2cxx.exceptions import *  # noqa: F403
