# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from pyop2cxx import op2
from pyop2cxx.pyop2 import local_kernel


def test_the_names_are_those_of_op2() -> None:
    for name in ("CStringLocalKernel", "Kernel", "LocalKernel"):
        assert getattr(local_kernel, name) is getattr(op2, name)
