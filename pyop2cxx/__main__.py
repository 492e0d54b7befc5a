# SPDX-License-Identifier: BSD-3-Clause
"""``python -m pyop2cxx``."""

import sys

from pyop2cxx.reports.cli import main

sys.exit(main())
