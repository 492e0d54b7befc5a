# SPDX-License-Identifier: BSD-3-Clause
"""Loops generated and compiled before the program that uses them runs."""
