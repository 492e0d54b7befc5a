# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of PyOP2's older conventions."""
