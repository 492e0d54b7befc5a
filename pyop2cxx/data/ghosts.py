# SPDX-License-Identifier: BSD-3-Clause
"""Halo exchanges: updates of ghosts, and sums of ghost contributions at their owners."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.access import (
    DAT_ACCESSES,
    INC,
    MAX,
    MIN,
    READ,
    RW,
    WRITE,
    Access,
    checked_access,
)
from pyop2cxx.base.moves import kind_of
from pyop2cxx.exceptions import HaloFrozenError
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.sets.sets import Set

REDUCED = frozenset({INC, MIN, MAX})
"""Accesses with contributions gathered in ghosts, and sent to the owners afterwards."""

READING = frozenset({READ, RW})
"""Accesses that need ghosts to be up to date."""


class OlderNames:
    """PyOP2's names of exchanges from 2013 and 2016."""

    @property
    def needs_halo_update(self: Any) -> bool:
        """PyOP2's older name for the opposite of `halo_valid`."""
        return not bool(self.halo_valid)

    @needs_halo_update.setter
    def needs_halo_update(self: Any, needed: bool) -> None:
        self.halo_valid = not needed

    def halo_exchange_begin(self: Any, reverse: bool = False) -> None:
        """Begin to bring values to ghosts, or to add theirs to the owners': PyOP2's older name."""
        if reverse:
            self.local_to_global_begin(Access.INC)
        else:
            self.global_to_local_begin(Access.READ)

    def halo_exchange_end(self: Any, reverse: bool = False) -> None:
        """End `halo_exchange_begin`."""
        if reverse:
            self.local_to_global_end(Access.INC)
        else:
            self.global_to_local_end(Access.READ)


class HaloExchange(OlderNames):
    """Exchanges of a Dat through the Halo of the Set. Without a Halo nothing is exchanged.

    Loops over Dats with Halos call the methods automatically.
    """

    set: Set
    frozen: Access | None
    halo_valid: bool
    """Whether the ghosts' values are their owners'."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of a value."""
        raise NotImplementedError

    @property
    def label(self) -> str:
        """Kind and name, for messages."""
        raise NotImplementedError

    @property
    def exchanged(self) -> Any:
        """The Dat passed to the Halo: for a view the parent."""
        return self

    @property
    def cdim(self) -> int:
        """The number of values of an entity."""
        raise NotImplementedError

    def _brought(self, use: _core.Use, member: str, *, is_explicit: bool = False) -> Array:
        raise NotImplementedError

    is_exchanging = False
    """Whether the Halo is at work: its uses of the Dat must not start another exchange."""

    def all_rows(self: Any, use: _core.Use = _core.Use.read_write) -> Array:
        """Return all values on the host, of shape (set.total_size, cdim).

        Args:
            use: What they are to be used for.
        """
        if runtime.coherence.is_active or runtime.recorders or runtime.here.resting is not None:
            values = self._brought(use, "a halo exchange", is_explicit=True)
        else:  # nothing waits, and there is no other memory
            values = self.allocated("a halo exchange")
        found: Array = values.reshape(len(values), self.cdim)
        return found

    def note_exchange(self: Any, *, valid: bool) -> None:
        """Note that values have come from other processes; `valid`: ghosts are their owners'."""
        if self.zero_version == self.buffer.version:
            self.buffer.increment_version()  # the owner's may be others
        self.halo_valid = valid

    @property
    def has_exchange(self) -> bool:
        """Whether ghosts are exchanged now."""
        is_frozen = self.frozen is not None and not self._is_summed_by_loops(self.frozen)
        return self.set.halo is not None and not is_frozen and not self.exchanged.is_exchanging

    def _is_summed_by_loops(self, mode: Access) -> bool:
        """Whether each loop leaves all contributions with owners: freezing saves nothing."""
        return mode in REDUCED and self.set.is_distributed

    def _exchange(self, operation: str, mode: Access) -> None:
        dat = self.exchanged
        dat.is_exchanging = True
        try:
            getattr(self.set.halo, operation)(dat, mode)
        finally:
            dat.is_exchanging = False

    def global_to_local_begin(self, access_mode: Access) -> None:
        """Begin to make the ghosts ready for a loop.

        Args:
            access_mode: The loop's access to the Dat. For READ and RW ghosts get their owners'
                values, unless up to date; for INC, MIN and MAX they get the neutral value. Other
                accesses need nothing.
        """
        mode = checked_access(access_mode, DAT_ACCESSES, self.dtype.kind == "c", self.label)
        if not self.has_exchange:
            return
        if mode in READING and not self.halo_valid:
            self._exchange("global_to_local_begin", WRITE)
        elif mode in REDUCED:
            whole: HaloExchange = self.exchanged  # sums of all components are sent
            values = whole._brought(_core.Use.read_write, "global_to_local_begin")
            values[self.set.size :] = _identity(self.dtype, mode)

    def global_to_local_end(self, access_mode: Access) -> None:
        """End `global_to_local_begin`."""
        mode = checked_access(access_mode, DAT_ACCESSES, self.dtype.kind == "c", self.label)
        if not self.has_exchange:
            return
        if mode in READING and not self.halo_valid:
            self._exchange("global_to_local_end", WRITE)
            self.halo_valid = True
        elif mode in REDUCED:
            self.halo_valid = False

    def local_to_global_begin(self, insert_mode: Access) -> None:
        """Begin to send the ghosts' contributions in a loop to the owners.

        Args:
            insert_mode: INC, MIN or MAX, the loop's access to the Dat; owners combine contributions
                by the same access.
        """
        mode = checked_access(insert_mode, DAT_ACCESSES, self.dtype.kind == "c", self.label)
        if self.has_exchange:
            self._exchange("local_to_global_begin", mode)

    def local_to_global_end(self, insert_mode: Access) -> None:
        """End `local_to_global_begin`."""
        mode = checked_access(insert_mode, DAT_ACCESSES, self.dtype.kind == "c", self.label)
        if self.has_exchange:
            self._exchange("local_to_global_end", mode)
            self.halo_valid = False

    @contextmanager
    def frozen_halo(self, access_mode: Access) -> Iterator[None]:
        """Promise a single access to the Dat for all loops of a `with` block.

        Ghosts are exchanged once, before and after the block, and not by the loops inside.

        Example:
            >>> from pyop2cxx import op2
            >>> q = op2.Dat(op2.Set(3))
            >>> with q.frozen_halo(op2.INC):
            ...     pass
        """
        self.freeze_halo(access_mode)
        try:
            yield
        finally:
            self.unfreeze_halo()

    def freeze_halo(self, access_mode: Access) -> None:
        """Promise a single access to the Dat for all loops until `unfreeze_halo`.

        Raises:
            HaloFrozenError: The halo is frozen already.
        """
        mode = checked_access(access_mode, DAT_ACCESSES, self.dtype.kind == "c", self.label)
        self.refuse_frozen()
        if not self._is_summed_by_loops(mode):
            self.global_to_local_begin(mode)
            self.global_to_local_end(mode)
        self.frozen = mode
        runtime.n_frozen += 1

    def refuse_frozen(self) -> None:
        """Raise an error while the halo is frozen."""
        if self.frozen is not None:
            raise HaloFrozenError(
                f"{self.label}: the halo is already frozen with {self.frozen.name}; "
                "unfreeze it first"
            )

    def unfreeze_halo(self) -> None:
        """End `freeze_halo`.

        Raises:
            HaloFrozenError: The halo is not frozen.
        """
        if self.frozen is None:
            raise HaloFrozenError(f"{self.label}: the halo is not frozen")
        mode, self.frozen = self.frozen, None
        runtime.n_frozen -= 1
        if mode in REDUCED and not self._is_summed_by_loops(mode):
            self.local_to_global_begin(mode)
            self.local_to_global_end(mode)


def _identity(dtype: np.dtype[Any], mode: Access) -> Any:
    """Return the neutral value of a sum or comparison."""
    if mode == INC:
        return 0
    if kind_of(dtype) == "f":
        return np.inf if mode == MIN else -np.inf
    if dtype.kind == "b":
        return mode == MIN
    limits = np.iinfo(dtype)
    return limits.max if mode == MIN else limits.min
