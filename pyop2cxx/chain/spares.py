# SPDX-License-Identifier: BSD-3-Clause
"""Second buffers: where a function writes what its own items still read."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, ref

from pyop2cxx.data.dats import Dat

if TYPE_CHECKING:
    from collections.abc import Callable


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


def can_trade(dat: Dat) -> bool:
    """Say whether a Dat may change its memory on the host.

    Others may hold what it has now, and memory on a device may be another library's.
    """
    return type(dat) is Dat and not dat._is_shared and not dat._buffer.has_copies


def trader(dat: Dat, spare: Dat) -> Callable[[], None]:
    """Return what gives a Dat of the host the values that its second buffer was given.

    The second buffer gets what the Dat had before. It keeps neither alive.
    """
    own, second = ref(dat), ref(spare)

    def trade() -> None:
        mine, theirs = own(), second()
        assert mine is not None, "a loop of a Dat that is gone"
        assert theirs is not None, "a second buffer lives as long as its Dat"
        mine._trade(theirs)

    return trade
