# SPDX-License-Identifier: BSD-3-Clause
"""External libraries for algebra."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np

from pyop2cxx import _core
from pyop2cxx.backends import _toolkit as toolkit
from pyop2cxx.exceptions import ToolchainError

T = TypeVar("T")


def host_vectors(wanted: str, resolver: _core.Operations) -> _core.Vectors | None:
    """Open the library of the option `blas`; None if 'auto' finds none.

    Args:
        wanted: The option's value, not empty.
        resolver: Decides between the library and the core.

    Raises:
        ToolchainError: The named file is no BLAS library.
    """
    if wanted != "auto":
        return _core.Vectors([wanted], resolver)
    own = Path(np.__file__).parent.parent / "numpy.libs"
    bundled = sorted(str(file) for file in own.glob("libscipy_openblas*.so*"))
    try:
        return _core.Vectors([*bundled, *_core.cblas_names()], resolver)
    except ToolchainError:
        return None


class DeviceLibraries:
    """cuBLAS and cuSPARSE for a GPU, each opened on first use.

    Args:
        device: The GPU.

    Attributes:
        device: The GPU.
    """

    def __init__(self, device: _core.RuntimeDevice) -> None:
        self.device = device

    @cached_property
    def cublas(self) -> _core.cuda.Cublas | None:
        """For vectors; None if there is none."""
        return _opened(_core.cuda.Cublas, "cublas", self.device)

    @cached_property
    def cusparse(self) -> _core.cuda.Cusparse | None:
        """For products of matrices; None if there is none."""
        return _opened(_core.cuda.Cusparse, "cusparse", self.device)


def _opened(kind: type[T], part: str, device: _core.RuntimeDevice) -> T | None:
    try:
        return kind(toolkit.folders(part), device)  # type: ignore[call-arg]  # as both are made
    except ToolchainError:
        return None
