# SPDX-License-Identifier: BSD-3-Clause
"""Algebra on devices and solvers."""
