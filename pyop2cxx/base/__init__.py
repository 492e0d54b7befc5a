# SPDX-License-Identifier: BSD-3-Clause
"""The ground: access modes, regions, checks of arrays, optional packages, files."""
