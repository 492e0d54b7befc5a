# SPDX-License-Identifier: BSD-3-Clause
"""Messages between ranks: values of owners for ghosts, and sums of ghosts for owners.

All Dats of a loop travel in one message for each neighbour. Each message begins with a text about
the exchange, so that ranks at different places are found at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx.base.access import WRITE
from pyop2cxx.ranks.on_device import OnDevice
from pyop2cxx.ranks.row_messages import RowMessages
from pyop2cxx.ranks.transports import Transports
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.processes import plain
from pyop2cxx.sets.halo import Halo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyop2cxx import _core
    from pyop2cxx.base.access import Access
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.data.dats import Dat
    from pyop2cxx.data.lent import Lent
    from pyop2cxx.ranks.owners import Numbers

_SIDES = ("owned", "ghosts")
_HEAD = 128
"""Bytes of the text that a message begins with."""
_ALIGN = 16
_MOST_TAGS = 30_000
_MOST_EXCHANGES = 256
_POLLS_BEFORE_LOOK = 2000
"""Tests of unfinished messages before looking for messages of another exchange."""


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """The travelling entities of a Set, by neighbour, in the numbers of the rank.

    Attributes:
        owned: Entities owned here, and ghosts there.
        ghosts: Ghosts here, owned there.
    """

    owned: dict[int, Numbers]
    ghosts: dict[int, Numbers]


class RanksHalo(Halo):
    """The Halo of a distributed Set.

    Args:
        messages: Sends and receives, for all Sets.
        lists: The travelling entities.
        numbers: The global number of each entity, shape (total_size,).
    """

    def __init__(self, messages: Messages, lists: Lists, numbers: Numbers) -> None:
        self.messages = messages
        self.lists = lists
        self._numbers = numbers

    @property
    def comm(self) -> Any:
        """The communicator."""
        return self.messages.comm

    @property
    def transports(self) -> Transports:
        """The ways between devices, with their measurements."""
        return self.messages.transports

    def joined(
        self, halos: Sequence[RanksHalo], places: Sequence[Numbers], numbers: Numbers
    ) -> RanksHalo:
        """Return the Halo of a Set with entities on the entities of others.

        Args:
            halos: Of the other Sets.
            places: For each the entities on each entity, shape (total_size, n); -1 for none.
            numbers: The global number of each entity.
        """

        def of(sides: Sequence[dict[int, Numbers]]) -> dict[int, Numbers]:
            found: dict[int, list[Numbers]] = {}
            for side, where in zip(sides, places, strict=True):
                for rank, some in side.items():
                    there = where[some].reshape(-1)
                    found.setdefault(rank, []).append(there[there >= 0])
            joined = {rank: np.concatenate(parts) for rank, parts in sorted(found.items())}
            return {rank: some for rank, some in joined.items() if len(some)}

        owned, ghosts = (of([getattr(one.lists, side) for one in halos]) for side in _SIDES)
        return RanksHalo(self.messages, Lists(owned, ghosts), numbers)

    @property
    def local_to_global_numbering(self) -> Numbers:
        """The global number of each entity, ghosts too; shape (total_size,), int64."""
        return self._numbers

    def global_to_local_begin(self, dat: Any, insert_mode: Access) -> None:
        """Begin to bring the owners' values to the ghosts."""
        self.messages.begin([dat], dat.label)

    def global_to_local_end(self, dat: Any, insert_mode: Access) -> None:
        """End `global_to_local_begin`."""
        self.messages.end()

    def local_to_global_begin(self, dat: Any, insert_mode: Access) -> None:
        """Begin to send the ghosts' values to their owners, for sums or comparisons."""
        self.messages.begin([dat], dat.label, insert_mode)

    def local_to_global_end(self, dat: Any, insert_mode: Access) -> None:
        """End `local_to_global_begin`."""
        self.messages.end()


class Messages:
    """The exchanges of a mesh.

    Args:
        comm: The communicator, not used by others.

    Attributes:
        comm: As given.
        counts: How many exchanges were made, and the bytes sent by the rank.
        transports: Move packed rows between devices.
    """

    def __init__(self, comm: Any) -> None:
        self.comm = comm
        self.counts = [0, 0]
        self.transports = Transports(comm)
        self._known: dict[tuple[Any, ...], OnHost | OnDevice] = {}
        self._begun: list[OnHost | OnDevice] = []

    def begin(self, dats: Sequence[Dat], what: str, mode: Access = WRITE) -> None:
        """Begin an exchange.

        Args:
            dats: Dats, each once, in an order equal on all ranks.
            what: The loop, for messages.
            mode: WRITE: ghosts get the values of owners. INC, MIN or MAX: owners get the values
                of ghosts.
        """
        found = self.exchange(dats, what, mode)
        self._begun.append(found)
        self.counts[0] += 1
        self.counts[1] += found.n_bytes
        found.begin(dats)

    def exchange(self, dats: Sequence[Dat], what: str, mode: Access = WRITE) -> OnHost | OnDevice:
        """Return the exchange of some Dats, made the first time; the arguments are as of `begin`.

        Values for ghosts are packed where loops run. All else goes through the host.
        """
        is_packed = mode is WRITE and runtime.device is not None and hasattr(dats[0], "allocated")
        key = (mode, is_packed, *(dat.uid for dat in dats))
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _MOST_EXCHANGES:
                self._forget()
            lists = [dat.set.halo.lists for dat in dats]
            is_back = mode is not WRITE
            given = [one.ghosts if is_back else one.owned for one in lists]
            taken = [one.owned if is_back else one.ghosts for one in lists]
            text = _text(dats, what, mode)
            made = partial(RowMessages, self.comm, text, [(dat.dtype, dat.cdim) for dat in dats])
            found = (
                OnDevice(self.transports, made, text, dats, given, taken)
                if is_packed
                else OnHost(made(given, taken), mode)
            )
            self._known[key] = found
        return found

    def tasks(self, dats: Sequence[Dat], what: str) -> list[_core.GraphTask] | None:
        """Return the tasks of an exchange between devices; None if the host has to take part."""
        found = self.exchange(dats, what)
        return found.tasks() if isinstance(found, OnDevice) else None

    def lent(self, dats: Sequence[Dat], what: str) -> list[Lent]:
        """Return the lent memory of an exchange between devices."""
        found = self.exchange(dats, what)
        return [*found.rows.lent()] if isinstance(found, OnDevice) else []

    def end(self) -> None:
        """End the exchange begun first, and let Dats know."""
        if self._begun:
            self._begun.pop(0).end()

    def _forget(self) -> None:
        for exchange in self._known.values():
            if exchange not in self._begun:
                exchange.free()
        self._known = {k: one for k, one in self._known.items() if one in self._begun}


class OnHost:
    """An exchange of rows that lie on the host.

    Args:
        exchange: The messages.
        mode: As of `Messages.begin`.

    Attributes:
        n_bytes: Bytes sent by the rank.
    """

    def __init__(self, exchange: RowMessages, mode: Access) -> None:
        self._exchange, self._mode = exchange, mode
        self.n_bytes = exchange.n_bytes
        self._arrays: list[Array] = []
        self._dats: Sequence[Dat] = ()

    def begin(self, dats: Sequence[Dat]) -> None:
        """Pack the rows, and send them."""
        self._dats, self._arrays = dats, [dat.all_rows() for dat in dats]
        self._exchange.begin(self._arrays)

    def end(self) -> None:
        """Wait, and put the received rows into the Dats, or combine them, in the order of ranks."""
        self._exchange.end(self._arrays, self._mode)
        for dat in self._dats:
            dat.note_exchange(valid=self._mode is WRITE)
        self._arrays, self._dats = [], ()

    def free(self) -> None:
        """Give the requests back."""
        self._exchange.free()


def _text(dats: Sequence[Dat], what: str, mode: Access) -> str:
    """Return an exchange in words, equal on all ranks."""
    names = ", ".join(dat.name for dat in dats)
    verb = "brings" if mode is WRITE else f"adds up ({mode.name})"
    sizes = ", ".join(f"{dat.cdim} x {dat.dtype}" for dat in dats)
    return plain(f"{what}, which {verb} {names} ({sizes})")


def lists_of(comm: Any, shares: Sequence[Any], owners: Sequence[Array]) -> list[Lists]:
    """Return the travelling entities, agreed upon with the neighbours.

    Args:
        comm: The communicator.
        shares: The entities of each Set on the rank.
        owners: The owner of each entity, of each Set.
    """
    wanted: list[list[Numbers]] = [[] for _ in range(comm.size)]
    ghosts: list[dict[int, Numbers]] = []
    for share, owner in zip(shares, owners, strict=True):
        first = share.sizes[1]
        numbers = share.numbers[first:]
        of = owner[numbers]
        mine = {r: np.flatnonzero(of == r) + first for r in np.unique(of).tolist()}
        ghosts.append(mine)
        for rank, some in enumerate(wanted):
            some.append(share.numbers[mine[rank]] if rank in mine else np.zeros(0, np.int64))
    asked = comm.alltoall(wanted)
    found = []
    for i, share in enumerate(shares):
        n_owned = share.sizes[1]
        order = np.argsort(share.numbers[:n_owned], kind="stable")
        ascending = share.numbers[:n_owned][order]
        owned = {
            rank: order[np.searchsorted(ascending, some[i])]
            for rank, some in enumerate(asked)
            if len(some[i])
        }
        found.append(Lists(owned, ghosts[i]))
    return found
