# SPDX-License-Identifier: BSD-3-Clause
"""Exact sums, for equal bits on any number of processes: ``init(deterministic="ranks")``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import _core
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from pyop2cxx.base.arrays import Array


def exact_total(values: Array, ranks: Any, what: str) -> Array:
    """Return the sums of columns over all processes, rounded once.

    Args:
        values: Shape (n, width); real or complex.
        ranks: The communicator; None: this process alone.
        what: The summed object, for messages, equal on all processes.

    Returns:
        Shape (width,), of float64 or complex128.

    Raises:
        RanksError: Other processes sum something else.
    """
    if values.dtype.kind == "c":
        n, width = values.shape
        pairs = np.ascontiguousarray(values, np.complex128).view(np.float64).reshape(n, 2 * width)
        found: Array = exact_total(pairs, ranks, what).view(np.complex128)
        return found
    given = np.ascontiguousarray(values, np.float64)
    parts = _core.exact_sums(given, runtime.engine.n_threads)
    return np.asarray(_core.exact_rounded(runtime.processes.combined(ranks, parts, "sum", what)))


def exact_dot(first: Any, second: Any, conjugate: bool, ranks: Any) -> Any:
    """Return the sum of products over all processes: products are rounded, and then the sum.

    Args:
        first: A Dat or Global.
        second: Another of the same size.
        conjugate: Whether the first values are conjugated.
        ranks: The communicator; None: this process alone.
    """
    left, right = (np.asarray(one.data_ro).reshape(-1) for one in (first, second))
    if "c" not in left.dtype.kind + right.dtype.kind:
        wide = (one.astype(np.float64, copy=False) for one in (left, right))
        return exact_total(np.multiply(*wide)[:, None], ranks, "a dot product")[0].item()
    sign = -1.0 if conjugate else 1.0
    (a, b), (c, d) = (
        (one.real.astype(np.float64), one.imag.astype(np.float64)) for one in (left, right)
    )
    products = np.stack([a * c, -sign * b * d, a * d, sign * b * c], axis=1)
    flat = products.reshape(-1, 2, 2).transpose(0, 2, 1).reshape(-1, 2)  # real parts, imaginary
    return complex(*exact_total(flat, ranks, "a dot product"))
