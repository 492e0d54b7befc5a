# SPDX-License-Identifier: BSD-3-Clause
"""Computation: kernels and their parser."""
