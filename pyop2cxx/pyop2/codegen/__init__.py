# SPDX-License-Identifier: BSD-3-Clause
"""What programs import from ``pyop2.codegen``: functions for kernels that loopy writes."""
