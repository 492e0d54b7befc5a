# SPDX-License-Identifier: BSD-3-Clause
"""What can be asked: the command line, timings, transfers."""
