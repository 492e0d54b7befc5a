# SPDX-License-Identifier: BSD-3-Clause
"""A backend, a solver and a library for pyop2cxx."""
