# SPDX-License-Identifier: BSD-3-Clause
"""Second buffers: targets of a function with elements still reading the old values."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, ref

from pyop2cxx.data.dats import Dat

if TYPE_CHECKING:
    from collections.abc import Callable


class Spares:
    """Second buffers of Dats, made on first use and dropped with their Dats."""

    def __init__(self) -> None:
        self._of: WeakKeyDictionary[Dat, Dat] = WeakKeyDictionary()

    def of(self, dat: Dat) -> Dat:
        """Return the second buffer of a Dat, as a similar Dat."""
        found = self._of.get(dat)
        if found is None:
            layout = "soa" if dat.buffer.is_soa else "aos"
            name = f"second buffer of {dat.name}"
            found = Dat(dat.dataset, None, dat.dtype, name, layout, compute=dat.stored_apart)
            self._of[dat] = found
            found.allocated("chain")
        return found


def can_trade(dat: Dat) -> bool:
    """Return whether a Dat may change the memory on the host.

    The present memory may be held elsewhere, and device memory may belong to another library.
    """
    return type(dat) is Dat and not dat.is_shared and not dat.buffer.has_copies


def trader(dat: Dat, spare: Dat) -> Callable[[], None]:
    """Return a function exchanging the host memory of a Dat with the second buffer.

    The second buffer gets the old values. The function keeps neither alive.
    """
    own, second = ref(dat), ref(spare)

    def trade() -> None:
        mine, theirs = own(), second()
        assert mine is not None, "a loop of a Dat that is gone"
        assert theirs is not None, "a second buffer lives as long as its Dat"
        mine.trade(theirs)

    return trade
