# SPDX-License-Identifier: BSD-3-Clause
"""Loops that are generated and compiled before the program runs that uses them."""
