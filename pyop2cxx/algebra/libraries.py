# SPDX-License-Identifier: BSD-3-Clause
"""Libraries for linear systems: SciPy, and CuPy with the same interface."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base import extras

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """A library for linear systems.

    Attributes:
        name: SciPy or CuPy, for messages.
        arrays: NumPy, or a replacement.
        methods: Module of the Krylov methods.
    """

    name: str
    arrays: Any
    methods: Any

    @property
    def on_host(self) -> bool:
        """Whether the arrays are NumPy's."""
        return self.arrays is np

    def norm(self, vector: Any) -> float:
        """Return the norm of a vector."""
        return float(self.arrays.linalg.norm(vector))


def scipy(needed_for: str) -> Library:
    """Return SciPy.

    Raises:
        MissingExtraError: SciPy is not installed.
    """
    methods = extras.load("scipy.sparse.linalg", needed_for)
    return Library(name="SciPy", arrays=np, methods=methods)


def cupy(needed_for: str) -> Library:
    """Return CuPy.

    Raises:
        MissingExtraError: CuPy is not installed.
    """
    arrays = extras.load("cupy", needed_for)
    methods = extras.load("cupyx.scipy.sparse.linalg", needed_for)
    return Library(name="CuPy", arrays=arrays, methods=methods)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to a single thread in a block, if threadpoolctl is installed.

    SciPy's solvers call BLAS for short vectors. OpenBLAS then wakes a spinning thread for each
    processor: ten times the processor time, without a gain.
    """
    pools = _pools()
    if pools is None:
        yield
        return
    with pools.limit(limits=1, user_api="blas"):
        yield


@lru_cache(maxsize=1)
def _pools() -> Any:
    """Return the controller of the process's BLAS libraries; finding them takes milliseconds."""
    if not extras.is_installed("threadpoolctl"):
        return None
    return extras.load("threadpoolctl", "op2.solve()").ThreadpoolController()
