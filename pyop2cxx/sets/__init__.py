# SPDX-License-Identifier: BSD-3-Clause
"""Topology: Sets, Maps, Sparsities."""
