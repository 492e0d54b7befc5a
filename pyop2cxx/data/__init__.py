# SPDX-License-Identifier: BSD-3-Clause
"""Objects with values: Dats, Globals, Constants, Mats."""
