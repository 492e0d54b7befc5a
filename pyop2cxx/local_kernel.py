# SPDX-License-Identifier: BSD-3-Clause
"""The names that programs for PyOP2 import from ``pyop2.local_kernel``."""

from pyop2cxx.global_kernel import CStringLocalKernel, LocalKernel
from pyop2cxx.kernel import Kernel, LocalKernelArg
from pyop2cxx.loopy_kernels import LoopyLocalKernel

__all__ = ["CStringLocalKernel", "Kernel", "LocalKernel", "LocalKernelArg", "LoopyLocalKernel"]
