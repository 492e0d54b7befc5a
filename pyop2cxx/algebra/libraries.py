# SPDX-License-Identifier: BSD-3-Clause
"""Libraries that solve linear systems: SciPy, and CuPy, which has the same interface."""

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
    """A library that solves linear systems.

    Attributes:
        name: SciPy or CuPy, for messages.
        arrays: NumPy, or what stands for it.
        methods: Its module of Krylov methods.
    """

    name: str
    arrays: Any
    methods: Any

    @property
    def on_host(self) -> bool:
        """Whether its arrays are NumPy's."""
        return self.arrays is np

    def norm(self, vector: Any) -> float:
        """Return the norm of a vector."""
        return float(self.arrays.linalg.norm(vector))


def scipy(needed_for: str) -> Library:
    """Return SciPy.

    Raises:
        MissingExtraError: It is not installed.
    """
    methods = extras.load("scipy.sparse.linalg", needed_for)
    return Library(name="SciPy", arrays=np, methods=methods)


def cupy(needed_for: str) -> Library:
    """Return CuPy.

    Raises:
        MissingExtraError: It is not installed.
    """
    arrays = extras.load("cupy", needed_for)
    methods = extras.load("cupyx.scipy.sparse.linalg", needed_for)
    return Library(name="CuPy", arrays=arrays, methods=methods)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS use one thread meanwhile, if threadpoolctl is installed.

    SciPy's solvers call BLAS for short vectors. OpenBLAS wakes a thread for each processor then,
    and these spin: ten times the processor time, and no sooner.
    """
    pools = _pools()
    if pools is None:
        yield
        return
    with pools.limit(limits=1, user_api="blas"):
        yield


@lru_cache(maxsize=1)
def _pools() -> Any:
    """Return what limits the BLAS libraries of this process; to find them takes milliseconds."""
    if not extras.is_installed("threadpoolctl"):
        return None
    return extras.load("threadpoolctl", "op2.solve()").ThreadpoolController()
