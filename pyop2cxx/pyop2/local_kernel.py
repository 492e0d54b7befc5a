# SPDX-License-Identifier: BSD-3-Clause
"""The names that programs for PyOP2 import from ``pyop2.local_kernel``."""

from pyop2cxx.kernel.kernel import (
    CStringLocalKernel,
    Kernel,
    LocalKernel,
    LocalKernelArg,
    LoopyLocalKernel,
)

__all__ = ["CStringLocalKernel", "Kernel", "LocalKernel", "LocalKernelArg", "LoopyLocalKernel"]
