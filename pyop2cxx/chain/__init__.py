# SPDX-License-Identifier: BSD-3-Clause
"""Chains: loops that are recorded, understood together, and run as fewer functions."""
