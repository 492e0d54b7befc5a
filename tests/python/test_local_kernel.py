# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from pyop2cxx import local_kernel, op2


def test_the_names_are_those_of_op2() -> None:
    for name in ("CStringLocalKernel", "Kernel", "LocalKernel"):
        assert getattr(local_kernel, name) is getattr(op2, name)
