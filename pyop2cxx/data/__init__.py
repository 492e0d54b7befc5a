# SPDX-License-Identifier: BSD-3-Clause
"""What has values: Dats, Globals, Constants, Mats."""
