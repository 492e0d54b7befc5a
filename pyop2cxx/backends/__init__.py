# SPDX-License-Identifier: BSD-3-Clause
"""Backends, a file each, with data only; found by listing the folder."""
