# SPDX-License-Identifier: BSD-3-Clause
"""The names that programs for PyOP2 import from ``pyop2.local_kernel``."""

from pyop2cxx.kernel.kernel import Kernel, LocalKernelArg
from pyop2cxx.kernel.loopy import LoopyLocalKernel
from pyop2cxx.pyop2.global_kernel import CStringLocalKernel, LocalKernel

__all__ = ["CStringLocalKernel", "Kernel", "LocalKernel", "LocalKernelArg", "LoopyLocalKernel"]
