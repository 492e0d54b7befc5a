# SPDX-License-Identifier: BSD-3-Clause
"""Persistent messages of MPI with rows of arrays on the host.

Each message begins with a text about the exchange, so that ranks at different places are found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.access import WRITE
from pyop2cxx.base.arrays import address_of, core_dtype
from pyop2cxx.exceptions import ExecutionError, RanksError, user_line
from pyop2cxx.runtime import communicators, runtime

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyop2cxx.base.access import Access
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.ranks.owners import Numbers

_HEAD = 128
"""Bytes of the text that a message begins with."""
_ALIGN = 16
_MOST_TAGS = 30_000
_POLLS_BEFORE_LOOK = 2000
"""Tests of unfinished messages before looking for messages of another exchange."""


class RowMessages:
    """Persistent messages with rows of some arrays, one for each neighbour.

    Args:
        comm: The communicator.
        text: The exchange, for messages, equal on all ranks.
        rows: Dtype and number of the values of a row, for each array.
        given: The rows to be sent, for each array by rank.
        taken: The rows to be received, likewise.

    Attributes:
        n_bytes: Bytes sent by the rank.
    """

    def __init__(
        self,
        comm: Any,
        text: str,
        rows: Sequence[tuple[Any, int]],
        given: Sequence[dict[int, Numbers]],
        taken: Sequence[dict[int, Numbers]],
    ) -> None:
        self._comm, self._text = comm, text
        tag = crc32(text.encode()) % _MOST_TAGS
        self._out, self._in = (_buffers(lists, rows) for lists in (given, taken))
        here = f"{text} at {user_line()}"  # of the first time: others are rarely elsewhere
        for message in self._out.values():
            message.bytes[:_HEAD] = np.frombuffer(here.encode()[:_HEAD].ljust(_HEAD), np.uint8)
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
        self.n_bytes = sum(len(message.bytes) for message in self._out.values())

    def begin(self, arrays: Sequence[Array]) -> None:
        """Pack the rows of arrays, and send them."""
        self._native.begin([address_of(array) for array in arrays])

    def end(self, arrays: Sequence[Array], mode: Access) -> None:
        """Wait, and unpack in the order of ranks."""
        self._wait()
        addresses = [address_of(array) for array in arrays]
        if mode is WRITE:
            self._native.unpack(addresses)
        else:
            self._native.combine(addresses, mode.name)

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


def _buffers(
    lists: Sequence[dict[int, Numbers]], rows: Sequence[tuple[Any, int]]
) -> dict[int, _Message]:
    """Return the memory of the message to or from each neighbour, by rank."""
    ranks = sorted({rank for one in lists for rank, numbers in one.items() if len(numbers)})
    none = np.zeros(0, np.int64)
    return {rank: _Message([one.get(rank, none) for one in lists], rows) for rank in ranks}


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
