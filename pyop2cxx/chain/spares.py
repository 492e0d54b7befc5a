# SPDX-License-Identifier: BSD-3-Clause
"""Second buffers: where a function writes what its own items still read."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from pyop2cxx.data.dats import Dat


class Spares:
    """The second buffers of Dats, each made when it is first needed and gone with its Dat."""

    def __init__(self) -> None:
        self._of: WeakKeyDictionary[Dat, Dat] = WeakKeyDictionary()

    def of(self, dat: Dat) -> Dat:
        """Return the second buffer of a Dat, as a Dat like it."""
        found = self._of.get(dat)
        if found is None:
            layout = "soa" if dat._buffer.is_soa else "aos"
            name = f"second buffer of {dat.name}"
            found = self._of[dat] = Dat(dat.dataset, None, dat.dtype, name, layout)
            found._allocated("chain")
        return found
