# SPDX-License-Identifier: BSD-3-Clause
"""Names imported from ``pyop2.sequential`` by programs for PyOP2 of 2016."""

from pyop2cxx.exceptions import *  # noqa: F403
from pyop2cxx.pyop2.base import *  # noqa: F403
