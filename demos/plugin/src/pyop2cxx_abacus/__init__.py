# SPDX-License-Identifier: BSD-3-Clause
"""A backend and a solver for pyop2cxx."""
