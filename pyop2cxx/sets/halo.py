# SPDX-License-Identifier: BSD-3-Clause
"""Halos: how ghosts are kept up to date between processes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from pyop2cxx.exceptions import UsageError

if TYPE_CHECKING:
    from pyop2cxx.base.access import Access


_METHODS = tuple(
    f"{way}_{end}" for way in ("global_to_local", "local_to_global") for end in ("begin", "end")
)


def checked_halo(halo: Any, what: str) -> Any:
    """Return an object given as a Halo if usable, whether or not it is a `Halo`.

    Raises:
        UsageError: Methods of a `Halo` are missing.
    """
    missing = [name for name in _METHODS if not callable(getattr(halo, name, None))]
    if halo is not None and missing:
        raise UsageError(
            f"{what}: a halo must be None or have the methods of op2.Halo, got {halo!r} of type "
            f"{type(halo).__name__}, which lacks {', '.join(missing)}"
        )
    return halo


class Halo(ABC):
    """Base class of objects for exchanging the ghosts of a Set between processes.

    A Set without a Halo belongs to the process alone.

    Example:
        >>> class Nothing(Halo):
        ...     comm = None
        ...     local_to_global_numbering = ()
        ...     def global_to_local_begin(self, dat, insert_mode): ...
        ...     def global_to_local_end(self, dat, insert_mode): ...
        ...     def local_to_global_begin(self, dat, insert_mode): ...
        ...     def local_to_global_end(self, dat, insert_mode): ...
        >>> from pyop2cxx import op2
        >>> op2.Set((1, 2, 3), halo=Nothing()).halo.comm is None
        True
    """

    @property
    @abstractmethod
    def comm(self) -> Any:
        """The communicator."""

    @property
    @abstractmethod
    def local_to_global_numbering(self) -> Any:
        """The global number of each entity, ghosts too; shape (total_size,)."""

    @abstractmethod
    def global_to_local_begin(self, dat: Any, insert_mode: Access) -> None:
        """Begin to bring the owners' values to the ghosts."""

    @abstractmethod
    def global_to_local_end(self, dat: Any, insert_mode: Access) -> None:
        """End `global_to_local_begin`."""

    @abstractmethod
    def local_to_global_begin(self, dat: Any, insert_mode: Access) -> None:
        """Begin to send the ghosts' values to their owners, for sums or comparisons."""

    @abstractmethod
    def local_to_global_end(self, dat: Any, insert_mode: Access) -> None:
        """End `local_to_global_begin`."""
