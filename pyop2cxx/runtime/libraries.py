# SPDX-License-Identifier: BSD-3-Clause
"""Libraries of others that algebra may be left to, and who does the next call."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from time import perf_counter_ns
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from pyop2cxx import _core
from pyop2cxx.backends import _toolkit as toolkit
from pyop2cxx.exceptions import ToolchainError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")


class Row(NamedTuple):
    """How often an operation was done one way; see `pyop2cxx.reports.dispatch.Row`.

    Attributes:
        library: The library's name; empty if the core did it.
        event: What was counted.
    """

    library: str
    event: _core.ChoiceEvent


def rows(library: str, events: Iterable[_core.ChoiceEvent]) -> list[Row]:
    """Return the events of one choice with the library's name."""
    return [Row(library if event.by_library else "", event) for event in events]


def host_vectors(wanted: str) -> _core.Vectors | None:
    """Open the library that the option `blas` means; None if 'auto' finds none.

    Args:
        wanted: The option's value, not empty.

    Raises:
        ToolchainError: It names a file that is no such library.
    """
    if wanted != "auto":
        return _core.Vectors([wanted])
    own = Path(np.__file__).parent.parent / "numpy.libs"
    bundled = sorted(str(file) for file in own.glob("libscipy_openblas*.so*"))
    try:
        return _core.Vectors([*bundled, *_core.cblas_names()])
    except ToolchainError:
        return None


def chosen(
    choice: _core.Choice,
    what: tuple[str, str, int],
    veto: str,
    own: Callable[[], bool],
    theirs: Callable[[], object],
    wait: Callable[[], None] | None = None,
) -> bool:
    """Do an operation the way that was found to cost less.

    Args:
        choice: Who decides.
        what: The operation, its dtype, and the size that its cost depends on.
        veto: Why the library cannot do it; empty: it can.
        own: The core's way; returns whether it was possible.
        theirs: The library's.
        wait: Waits for what is enqueued, where calls return before they are done.

    Returns:
        Whether it was done.
    """
    by_library, is_measured = choice.decide(*what, veto)
    if is_measured and wait is not None:
        wait()
    start = perf_counter_ns()
    done = True
    if by_library:
        theirs()
    else:
        done = own()
    if not done and not veto:  # the core's way needs what there is not, such as a compiler
        theirs()
        return True
    if is_measured:
        if wait is not None:
            wait()
        choice.note(*what, by_library, perf_counter_ns() - start)
    return done


class DeviceLibraries:
    """cuBLAS and cuSPARSE for one GPU, each opened when first asked for.

    Args:
        device: The GPU.

    Attributes:
        device: The GPU.
        of_vectors: Who decides about vectors.
        of_products: Who decides about products of matrices.
    """

    def __init__(self, device: _core.RuntimeDevice) -> None:
        self.device = device
        self.of_vectors = _core.Choice("cublas")
        self.of_products = _core.Choice("cusparse")

    @cached_property
    def cublas(self) -> _core.cuda.Cublas | None:
        """For vectors; None if there is none."""
        return _opened(_core.cuda.Cublas, "cublas", self.device)

    @cached_property
    def cusparse(self) -> _core.cuda.Cusparse | None:
        """For products of matrices; None if there is none."""
        return _opened(_core.cuda.Cusparse, "cusparse", self.device)

    def rows(self) -> list[Row]:
        """Return what was done by whom."""
        return [
            *rows("cublas", self.of_vectors.events()),
            *rows("cusparse", self.of_products.events()),
        ]

    def clear_events(self) -> None:
        """Forget the events so far."""
        self.of_vectors.clear_events()
        self.of_products.clear_events()


def _opened(kind: type[T], part: str, device: _core.RuntimeDevice) -> T | None:
    try:
        return kind(toolkit.folders(part), device)  # type: ignore[call-arg]  # as both are made
    except ToolchainError:
        return None
