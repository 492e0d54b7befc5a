# SPDX-License-Identifier: BSD-3-Clause
"""Reports: the command line, timings, transfers."""
