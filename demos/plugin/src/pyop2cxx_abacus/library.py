# SPDX-License-Identifier: BSD-3-Clause
"""The library: scalar products on the host, by NumPy."""

from typing import Any

import numpy as np


class Library:
    """Scalar products of values without gaps; pyop2cxx does all others."""

    name = "abacus"
    operations = ("dot",)

    def why_not(self, operation: str, *given: Any) -> str:
        """Return the reason why the library cannot handle the values; empty: none."""
        x, y, *_ = given
        return "" if x.stride == y.stride == 1 else "stride: the values do not follow each other"

    def perform(self, operation: str, *given: Any) -> Any:
        """Return the scalar product; the first operands have an address, a length and a dtype."""
        x, y, conjugate, _ = given
        mine, other = _values(x), _values(y)
        return np.dot(mine, other.conj() if conjugate else other)


def _values(operand: Any) -> np.ndarray:
    """Return the values of an operand, shape (n,), without a copy."""
    interface = {
        "data": (operand.address, False),
        "shape": (operand.n,),
        "typestr": np.dtype(operand.dtype.name).str,
        "version": 3,
    }
    return np.asarray(type("Memory", (), {"__array_interface__": interface})())


LIBRARY = Library()
