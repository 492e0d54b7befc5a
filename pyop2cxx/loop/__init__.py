# SPDX-License-Identifier: BSD-3-Clause
"""Loops: kernels, Sets and data meet here."""
