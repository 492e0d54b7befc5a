# SPDX-License-Identifier: BSD-3-Clause
"""Names imported from ``pyop2.local_kernel`` by programs for PyOP2."""

from pyop2cxx.kernel.kernel import (
    CStringLocalKernel,
    Kernel,
    LocalKernel,
    LocalKernelArg,
    LoopyLocalKernel,
)

__all__ = ["CStringLocalKernel", "Kernel", "LocalKernel", "LocalKernelArg", "LoopyLocalKernel"]
