# SPDX-License-Identifier: BSD-3-Clause
"""Dats on Sets of the library's own, with the memory of an object of the program."""

from __future__ import annotations

import ctypes
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.moves import seen_flat
from pyop2cxx.data.dats import Dat
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.data.carrier import DataCarrier
    from pyop2cxx.sets.sets import Set


class Flat(Dat):
    """The scalars of a Dat, Global or Mat, as a Dat on a Set of their own: the same memory.

    Args:
        carrier: The Dat, Global or Mat.
        scalars: A Set of as many entities as scalars are used.
        cdim: Scalars of an entity.
    """

    kind = "Flat"

    def __init__(self, carrier: DataCarrier, scalars: Set, cdim: int = 1) -> None:
        self.uid = runtime.next_uid()
        self._name = carrier.name
        self._dtype = carrier.dtype
        seen = seen_flat(carrier.dtype)
        self._compute = None if seen == carrier.dtype else seen
        self._cdim = cdim
        self._dataset = scalars**cdim
        self.set = scalars
        self._layout = "aos"
        self.host_values = None  # allocated by the carrier, which is not kept alive
        self._whose = weakref.ref(carrier)
        self.buffer = carrier.buffer
        self.lent_out = carrier.lent_out
        self._checked = {}
        self.frozen = None
        self.halo_valid = True

    def __del__(self) -> None:
        """Leave the carrier's memory alone."""

    def allocated(self, member: str) -> Array:
        """Return the whole array on the host, zeros if not yet allocated."""
        return np.empty(0, self._dtype)

    def host_array(self, member: str) -> Array:
        """Return all scalars of the memory on the host, up to date or not."""
        if (carrier := self._whose()) is not None:
            carrier.host_array(member)  # allocates
        memory = (ctypes.c_ubyte * self.buffer.n_bytes).from_address(self.buffer.address)
        return np.ctypeslib.as_array(memory).view(self._dtype)


class View(Flat):
    """Rows of a Dat, or places of a Mat, on another Set; keeps the Dat alive, with `compute`."""

    def __init__(self, carrier: Any, rows: Set, cdim: int) -> None:
        super().__init__(carrier, rows, cdim)
        self._carrier = carrier
        self._compute = None if carrier.compute == carrier.dtype else carrier.compute
