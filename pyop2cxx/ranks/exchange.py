# SPDX-License-Identifier: BSD-3-Clause
"""Messages between ranks: values of owners for ghosts, and sums of ghosts for owners.

All Dats of a loop travel in one message for each neighbour. Each message begins with a text about
the exchange, so that ranks at different places are found at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.access import WRITE
from pyop2cxx.base.arrays import address_of, core_dtype
from pyop2cxx.exceptions import ExecutionError, RanksError, user_line
from pyop2cxx.runtime import communicators, runtime
from pyop2cxx.runtime.processes import plain
from pyop2cxx.sets.halo import Halo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyop2cxx.base.access import Access
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.data.dats import Dat
    from pyop2cxx.ranks.owners import Numbers

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

    def on_each(self, n: int) -> RanksHalo:
        """Return the Halo of a Set with as many entities on each entity."""

        def several(numbers: Numbers) -> Numbers:
            return (numbers[:, None] * n + np.arange(n)).reshape(-1)

        owned, ghosts = (
            {rank: several(numbers) for rank, numbers in side.items()}
            for side in (self.lists.owned, self.lists.ghosts)
        )
        return RanksHalo(self.messages, Lists(owned, ghosts), several(self._numbers))

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
    """

    def __init__(self, comm: Any) -> None:
        self.comm = comm
        self.counts = [0, 0]
        self._known: dict[tuple[Any, ...], _Exchange] = {}
        self._begun: list[_Exchange] = []

    def begin(self, dats: Sequence[Dat], what: str, mode: Access = WRITE) -> None:
        """Begin an exchange.

        Args:
            dats: Dats, each once, in an order equal on all ranks.
            what: The loop, for messages.
            mode: WRITE: ghosts get the values of owners. INC, MIN or MAX: owners get the values
                of ghosts.
        """
        key = (mode, *(dat.uid for dat in dats))
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _MOST_EXCHANGES:
                self._forget()
            found = self._known[key] = _Exchange(self.comm, dats, what, mode)
        self._begun.append(found)
        self.counts[0] += 1
        self.counts[1] += found.begin(dats)

    def end(self) -> None:
        """End the exchange begun first, and let Dats know."""
        if self._begun:
            self._begun.pop(0).end()

    def _forget(self) -> None:
        for exchange in self._known.values():
            if exchange not in self._begun:
                exchange.free()
        self._known = {k: one for k, one in self._known.items() if one in self._begun}


class _Exchange:
    """Persistent messages for some Dats, one for each neighbour."""

    def __init__(self, comm: Any, dats: Sequence[Dat], what: str, mode: Access) -> None:
        self._comm, self._mode = comm, mode
        names = ", ".join(dat.name for dat in dats)
        verb = "brings" if mode is WRITE else f"adds up ({mode.name})"
        sizes = ", ".join(f"{dat.cdim} x {dat.dtype}" for dat in dats)
        self._text = plain(f"{what}, which {verb} {names} ({sizes})")
        tag = crc32(self._text.encode()) % _MOST_TAGS
        lists = [dat.set.halo.lists for dat in dats]
        is_back = mode is not WRITE
        given = [one.ghosts if is_back else one.owned for one in lists]
        taken = [one.owned if is_back else one.ghosts for one in lists]
        self._rows = [(dat.dtype, dat.cdim) for dat in dats]
        self._out = self._buffers(given)
        self._in = self._buffers(taken)
        here = f"{self._text} at {user_line()}"  # of the first time: others are rarely elsewhere
        for message in self._out.values():
            message.bytes[:_HEAD] = np.frombuffer(here.encode()[:_HEAD].ljust(_HEAD), np.uint8)
        self._arrays: list[Array] = []
        self._dats: Sequence[Dat] = ()
        self._requests = [
            *(comm.Recv_init(one.bytes, source=r, tag=tag) for r, one in self._in.items()),
            *(comm.Send_init(one.bytes, dest=r, tag=tag) for r, one in self._out.items()),
        ]
        requests, handle_bytes, status_bytes = communicators.handles_of(self._requests)
        self._native = _core.Messages(
            functions=communicators.persistent_functions(),
            requests=requests,
            handle_bytes=handle_bytes,
            status_bytes=status_bytes,
            sent=[piece for one in self._out.values() for piece in one.pieces()],
            received=[piece for one in self._in.values() for piece in one.pieces()],
        )
        self._addresses: list[int] = []
        self._n_bytes = sum(len(message.bytes) for message in self._out.values())

    def _buffers(self, lists: list[dict[int, Numbers]]) -> dict[int, _Message]:
        ranks = sorted({rank for one in lists for rank, numbers in one.items() if len(numbers)})
        none = np.zeros(0, np.int64)
        return {
            rank: _Message([one.get(rank, none) for one in lists], self._rows) for rank in ranks
        }

    def begin(self, dats: Sequence[Dat]) -> int:
        """Pack and send, and return the bytes."""
        self._dats = dats
        self._arrays = [dat.all_rows() for dat in dats]
        self._addresses = [address_of(array) for array in self._arrays]
        self._native.begin(self._addresses)
        return self._n_bytes

    def end(self) -> None:
        """Wait, and unpack in the order of ranks."""
        self._wait()
        if self._mode is WRITE:
            self._native.unpack(self._addresses)
        else:
            self._native.combine(self._addresses, self._mode.name)
        for dat in self._dats:
            dat.note_exchange(valid=self._mode is WRITE)
        self._arrays, self._dats = [], ()

    def _wait(self) -> None:
        try:
            if self._native.poll(_POLLS_BEFORE_LOOK):
                return
            self._look_for_others()
            requests, look = self._requests, self._look_for_others
            runtime.processes.wait(self._comm, requests, self._text, look)
        except (communicators.MPI.Exception, ExecutionError) as error:
            raise RanksError(f"{self._text}: another rank sends something else: {error}") from None

    def _look_for_others(self) -> None:
        """Raise if a neighbour has sent a message of another exchange before the awaited one."""
        mpi = communicators.MPI
        waiting = zip(self._in, self._requests, strict=False)
        for rank in [rank for rank, request in waiting if not request.Get_status()]:
            status = mpi.Status()
            if not self._comm.iprobe(rank, mpi.ANY_TAG, status) or status.Get_tag() > _MOST_TAGS:
                continue
            found = np.empty(max(status.Get_count(mpi.BYTE), _HEAD), np.uint8)
            self._comm.Recv(found, source=rank, tag=status.Get_tag())
            other = bytes(found[:_HEAD]).decode(errors="replace").strip()
            raise RanksError(
                f"ranks disagree: rank {self._comm.rank} is in {self._text} at {user_line()}, but "
                f"rank {rank} is in {other}. All ranks must run the same loops in the same order"
            )

    def free(self) -> None:
        """Give the requests back."""
        for request in self._requests:
            request.Free()


class _Message:
    """The memory of a message: a text, and for each Dat the rows of some entities."""

    def __init__(self, numbers: Sequence[Numbers], rows: Sequence[tuple[Any, int]]) -> None:
        self._numbers = numbers
        begins = [_HEAD]
        for some, (dtype, width) in zip(numbers, rows, strict=True):
            n_bytes = len(some) * width * dtype.itemsize
            begins.append(begins[-1] + -(-n_bytes // _ALIGN) * _ALIGN)
        self.bytes = np.zeros(begins[-1], np.uint8)
        self._views = [
            self.bytes[begin : begin + len(some) * width * dtype.itemsize]
            .view(dtype)
            .reshape(len(some), width)
            for begin, some, (dtype, width) in zip(begins[:-1], numbers, rows, strict=True)
        ]

    def pieces(self) -> list[tuple[int, int, int, list[int], _core.DType]]:
        """Return for each Dat index, bytes of a row, address in the message, rows and dtype."""
        return [
            (
                i,
                view.shape[1] * view.itemsize,
                address_of(view),
                some.tolist(),
                core_dtype(view.dtype),
            )
            for i, (some, view) in enumerate(zip(self._numbers, self._views, strict=True))
        ]


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
