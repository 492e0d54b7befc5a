# SPDX-License-Identifier: BSD-3-Clause
"""Names imported from ``pyop2.types.mat`` by programs for PyOP2."""

from pyop2cxx.data.mats import Mat
from pyop2cxx.interop.petsc_payloads import DatMatPayload, GlobalMatPayload
from pyop2cxx.sets.sparsities import Sparsity

_DatMatPayload = DatMatPayload
_GlobalMatPayload = GlobalMatPayload

__all__ = ["Mat", "Sparsity"]
