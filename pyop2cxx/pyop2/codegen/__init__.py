# SPDX-License-Identifier: BSD-3-Clause
"""Names imported from ``pyop2.codegen``: functions for loopy kernels."""
