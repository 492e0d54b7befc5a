# SPDX-License-Identifier: BSD-3-Clause
"""Loops with their order, written down once and run many times."""
