# SPDX-License-Identifier: BSD-3-Clause
"""Chains: recorded loops, analysed together and run as fewer functions."""
