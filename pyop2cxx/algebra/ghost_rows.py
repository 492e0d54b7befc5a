# SPDX-License-Identifier: BSD-3-Clause
"""Rows of Dats on their way to other processes, packed and unpacked where loops run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.algebra.flat import View
from pyop2cxx.base.access import READ, WRITE
from pyop2cxx.base.arrays import c_name
from pyop2cxx.data.dats import Dat, DatArg
from pyop2cxx.kernel.kernel import Kernel
from pyop2cxx.loop.execute import ready
from pyop2cxx.loop.parloop import ParLoop
from pyop2cxx.runtime.frames import render
from pyop2cxx.runtime.memo import until_exit
from pyop2cxx.sets.maps import Map
from pyop2cxx.sets.sets import Set

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyop2cxx import _core
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.data.lent import Lent


class GhostRows:
    """Two packed copies of some Dats' rows: one to be sent, one to be received.

    Only the packed rows ever leave a device. Loops do the packing, so any backend, dtype and layout
    is served.

    Args:
        dats: The Dats, each once.
        given: For each Dat the rows to be sent, in the order of neighbours.
        taken: For each Dat the rows to be received, likewise.

    Attributes:
        sent: For each Dat the packed rows of `given`.
        received: For each Dat the packed rows of `taken`.
    """

    def __init__(self, dats: Sequence[Dat], given: Sequence[Array], taken: Sequence[Array]) -> None:
        for dat in dats:
            dat.allocated("halo exchange")
        self.sent, pack = _packed(dats, given)
        self.received, unpack = _packed(dats, taken)
        self._pack = [_loop(on, both, WRITE) for on, both in pack]
        self._unpack = [_loop(on, both, READ) for on, both in unpack]

    def pack(self) -> list[_core.GraphTask]:
        """Return the tasks that fill `sent`."""
        return [ready(loop).prepared for loop in self._pack]

    def unpack(self) -> list[_core.GraphTask]:
        """Return the tasks that write the rows of `received` into the Dats."""
        return [ready(loop).prepared for loop in self._unpack]

    def lent(self) -> Iterator[Lent]:
        """Lent memory of the Dats and of the packed rows."""
        for loop in (*self._pack, *self._unpack):
            yield from loop.lent


def _packed(
    dats: Sequence[Dat], numbers: Sequence[Array]
) -> tuple[list[Dat], list[tuple[Set, list[tuple[Dat, DatArg]]]]]:
    """Return memory for some rows of each Dat, and by Set the memory with the rows' argument."""
    found: list[Dat] = []
    by_set: dict[int, tuple[Set, Map, Set, list[tuple[Dat, DatArg]]]] = {}
    for dat, some in zip(dats, numbers, strict=True):
        if dat.set.uid not in by_set:
            rows, on = Set(dat.set.total_size, "rows"), Set(len(some), "travelling rows")
            by_set[dat.set.uid] = on, Map(on, rows, 1, np.asarray(some), "places"), rows, []
        on, places, rows, both = by_set[dat.set.uid]
        packed = Dat(on**dat.cdim, None, dat.dtype, f"rows of {dat.name}", compute=dat.compute)
        packed.allocated("halo exchange")
        both.append((packed, DatArg(View(dat, rows, dat.cdim), places, READ)))
        found.append(packed)
    return found, [(on, both) for on, _, _, both in by_set.values()]


def _loop(on: Set, both: Sequence[tuple[Dat, DatArg]], access: Any) -> ParLoop:
    """Return the loop that writes packed rows (WRITE), or the rows of the Dats (READ)."""
    args: list[DatArg] = []
    for packed, place in both:
        here, there = DatArg(packed, None, access), place
        if access is READ:
            args += [DatArg(place.data, place.map_, WRITE), here]
        else:
            args += [here, there]
    kernel = _kernel(tuple((c_name(packed.compute.name), packed.cdim) for packed, _ in both))
    return ParLoop(kernel, on, *args, equal_writes=True)


@until_exit(256)
def _kernel(rows: tuple[tuple[str, int], ...]) -> Kernel:
    text = render("kernels/ghost_rows.c.j2", {"rows": rows})
    return Kernel(text, "ghost_rows", abi="2026").written_here()
