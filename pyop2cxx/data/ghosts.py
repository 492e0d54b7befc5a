# SPDX-License-Identifier: BSD-3-Clause
"""When ghosts are brought up to date, and when what they gathered goes to their owners."""

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
from pyop2cxx.exceptions import HaloFrozenError
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.sets.sets import Set

REDUCED = frozenset({INC, MIN, MAX})
"""Ghosts gather with these accesses; their owners get it afterwards."""

READING = frozenset({READ, RW})
"""Ghosts must be up to date before these."""


class OlderNames:
    """What PyOP2 called exchanges in 2013 and 2016."""

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
        """End what `halo_exchange_begin` began."""
        if reverse:
            self.local_to_global_end(Access.INC)
        else:
            self.global_to_local_end(Access.READ)


class HaloExchange(OlderNames):
    """What a Dat does with the Halo of its Set. Without a Halo nothing is exchanged.

    Loops over a Set whose Dats' Sets have Halos call these by themselves.
    """

    _set: Set
    _frozen: Access | None
    halo_valid: bool
    """Whether the ghosts' values are their owners'."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of a value."""
        raise NotImplementedError

    @property
    def _what(self) -> str:
        raise NotImplementedError

    @property
    def _exchanged(self) -> Any:
        """The Dat that the Halo is given: this one, or of a view its parent."""
        return self

    def _brought(self, use: _core.Use, member: str) -> Array:
        raise NotImplementedError

    _is_exchanging = False
    """Whether the Halo is at work: what it takes from the Dat must not ask it again."""

    @property
    def _has_exchange(self) -> bool:
        return (
            self._set.halo is not None
            and self._frozen is None
            and not self._exchanged._is_exchanging
        )

    def _exchange(self, operation: str, mode: Access) -> None:
        dat = self._exchanged
        dat._is_exchanging = True
        try:
            getattr(self._set.halo, operation)(dat, mode)
        finally:
            dat._is_exchanging = False

    def global_to_local_begin(self, access_mode: Access) -> None:
        """Begin to make the ghosts ready for a loop.

        Args:
            access_mode: How the loop uses this Dat. For READ and RW ghosts get their owners'
                values, if they have not got them yet; for INC, MIN and MAX they get what changes
                nothing. Other accesses need nothing.
        """
        mode = checked_access(access_mode, DAT_ACCESSES, self.dtype.kind == "c", self._what)
        if not self._has_exchange:
            return
        if mode in READING and not self.halo_valid:
            self._exchange("global_to_local_begin", WRITE)
        elif mode in REDUCED:
            values = self._brought(_core.Use.read_write, "global_to_local_begin")
            values[self._set.size :] = _identity(self.dtype, mode)

    def global_to_local_end(self, access_mode: Access) -> None:
        """End what `global_to_local_begin` began."""
        mode = checked_access(access_mode, DAT_ACCESSES, self.dtype.kind == "c", self._what)
        if not self._has_exchange:
            return
        if mode in READING and not self.halo_valid:
            self._exchange("global_to_local_end", WRITE)
            self.halo_valid = True
        elif mode in REDUCED:
            self.halo_valid = False

    def local_to_global_begin(self, insert_mode: Access) -> None:
        """Begin to give the owners what the ghosts gathered in a loop.

        Args:
            insert_mode: INC, MIN or MAX, how the loop used this Dat; the owners do the same with
                what they get.
        """
        mode = checked_access(insert_mode, DAT_ACCESSES, self.dtype.kind == "c", self._what)
        if self._has_exchange:
            self._exchange("local_to_global_begin", mode)

    def local_to_global_end(self, insert_mode: Access) -> None:
        """End what `local_to_global_begin` began."""
        mode = checked_access(insert_mode, DAT_ACCESSES, self.dtype.kind == "c", self._what)
        if self._has_exchange:
            self._exchange("local_to_global_end", mode)
            self.halo_valid = False

    @contextmanager
    def frozen_halo(self, access_mode: Access) -> Iterator[None]:
        """Promise that all loops of a `with` block use this Dat with one access.

        Ghosts are exchanged once, before and after the block, and not by its loops.

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
        """Promise that loops use this Dat with one access until `unfreeze_halo`.

        Raises:
            HaloFrozenError: That was promised already.
        """
        mode = checked_access(access_mode, DAT_ACCESSES, self.dtype.kind == "c", self._what)
        self._refuse_frozen()
        self.global_to_local_begin(mode)
        self.global_to_local_end(mode)
        self._frozen = mode
        runtime.n_frozen += 1

    def _refuse_frozen(self) -> None:
        if self._frozen is not None:
            raise HaloFrozenError(
                f"{self._what}: the halo is already frozen with {self._frozen.name}; "
                "unfreeze it first"
            )

    def unfreeze_halo(self) -> None:
        """End what `freeze_halo` began.

        Raises:
            HaloFrozenError: It was not frozen.
        """
        if self._frozen is None:
            raise HaloFrozenError(f"{self._what}: the halo is not frozen")
        mode, self._frozen = self._frozen, None
        runtime.n_frozen -= 1
        if mode in REDUCED:
            self.local_to_global_begin(mode)
            self.local_to_global_end(mode)


def _identity(dtype: np.dtype[Any], mode: Access) -> Any:
    """Return the value that changes nothing when it is added or compared."""
    if mode == INC:
        return 0
    if dtype.kind == "f":
        return np.inf if mode == MIN else -np.inf
    if dtype.kind == "b":
        return mode == MIN
    limits = np.iinfo(dtype)
    return limits.max if mode == MIN else limits.min
