# SPDX-License-Identifier: BSD-3-Clause
"""External libraries for algebra."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import _core
from pyop2cxx.exceptions import ToolchainError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def host_vectors(wanted: str, resolver: _core.Operations) -> _core.Vectors | None:
    """Open the libraries of the option `blas`; None if 'auto' finds none.

    Args:
        wanted: The option's value, not empty: 'auto', the name of a library, or a file.
        resolver: Decides between the libraries and the core.

    Raises:
        ToolchainError: The named file is no BLAS library.
    """
    if wanted != "auto":
        return _core.Vectors(wanted, [], resolver)
    own = Path(np.__file__).parent.parent / "numpy.libs"
    bundled = sorted(str(file) for file in own.glob("libscipy_openblas*.so*"))
    try:
        return _core.Vectors(wanted, bundled, resolver)
    except ToolchainError:
        return None


class DeviceLibraries:
    """The libraries of a backend for one GPU, each opened on first use.

    Args:
        device: The GPU.
        openers: What opens each, by its name.
        key: Name of the backend, and index among the backend's devices.

    Attributes:
        device: The GPU.
        key: As given.
    """

    def __init__(
        self,
        device: _core.RuntimeDevice,
        openers: Mapping[str, Callable[[_core.RuntimeDevice], Any]],
        key: tuple[str, int],
    ) -> None:
        self.device = device
        self.key = key
        self._openers = openers

    @cached_property
    def cublas(self) -> _core.cuda.Cublas | None:
        """For vectors; None if there is none."""
        found: _core.cuda.Cublas | None = self._opened("cublas")
        return found

    @cached_property
    def cusparse(self) -> _core.cuda.Cusparse | None:
        """For products of matrices; None if there is none."""
        found: _core.cuda.Cusparse | None = self._opened("cusparse")
        return found

    def _opened(self, name: str) -> Any:
        try:
            return self._openers[name](self.device) if name in self._openers else None
        except ToolchainError:
            return None
