# SPDX-License-Identifier: BSD-3-Clause
"""NCCL: messages between NVIDIA GPUs, enqueued behind loops and recorded in graphs.

The functions are those of NCCL's C interface, from the installed library.
"""

from __future__ import annotations

import ctypes
import importlib.util
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.exceptions import ExecutionError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyop2cxx.backends._devices import OpenDevice
    from pyop2cxx.ranks.on_device import OnDevice

_ID_BYTES = 128
_BYTES, _SUM = 0, 0
_TYPES = {"int32": 2, "uint32": 3, "int64": 4, "uint64": 5, "float32": 7, "float64": 8}
"""Numbers of dtypes in ``ncclDataType_t``; those of other dtypes are added up by the host."""


class _Id(ctypes.Structure):
    _fields_ = (("internal", ctypes.c_char * _ID_BYTES),)


@cache
def _library() -> Any:
    """Return the installed NCCL.

    Raises:
        UnsupportedError: There is none.
    """
    spec = importlib.util.find_spec("nvidia")
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    paths = [str(Path(folder) / "nccl" / "lib" / "libnccl.so.2") for folder in folders]
    for path in [*(path for path in paths if Path(path).exists()), "libnccl.so.2"]:
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        library.ncclGetErrorString.restype = ctypes.c_char_p
        return library
    raise UnsupportedError("libnccl.so.2 is not installed: pip install nvidia-nccl-cu13")


class Nccl:
    """A communicator of NCCL.

    Args:
        comm: The communicator of MPI; all processes must make the object.
        opened: The device.

    Raises:
        UnsupportedError: There is no NCCL, or NCCL refuses the devices.
    """

    name = "nccl"

    def __init__(self, comm: Any, opened: OpenDevice) -> None:
        self._mirror = opened.mirror
        self._handle = ctypes.c_void_p()
        wrong, given = "", b""
        try:
            self._nccl = _library()
            if comm.rank == 0:
                made = _Id()
                self._check(self._nccl.ncclGetUniqueId(ctypes.byref(made)), "ncclGetUniqueId")
                given = bytes(made)
        except UnsupportedError as error:
            wrong = str(error)
        reasons = [reason for reason in comm.allgather(wrong) if reason]
        if reasons:
            raise UnsupportedError(reasons[0])
        identity = _Id.from_buffer_copy(comm.bcast(given))

        def join(queue: int | None, addresses: Sequence[int]) -> None:
            handle, n, rank = ctypes.byref(self._handle), comm.size, comm.rank
            self._check(self._nccl.ncclCommInitRank(handle, n, identity, rank), "ncclCommInitRank")

        _core.TaskRow([_core.graph.QueueTask(self._mirror, "NCCL", [], join)]).run()

    def _check(self, code: int, what: str) -> None:
        if code:
            said = self._nccl.ncclGetErrorString(code).decode()
            raise UnsupportedError(f"{what}: {said}")

    def tasks(self, exchange: OnDevice) -> list[_core.GraphTask]:
        """Return the tasks of the whole exchange: rows are packed, moved and unpacked."""
        nccl, calls = self._nccl, []
        n_sent = len(exchange.rows.sent)
        for function, first, places, dats in (
            (nccl.ncclSend, 0, exchange.places[0], exchange.rows.sent),
            (nccl.ncclRecv, n_sent, exchange.places[1], exchange.rows.received),
        ):
            for i, (of_dat, dat) in enumerate(zip(places, dats, strict=True)):
                row = dat.cdim * dat.dtype.itemsize
                calls += [
                    (function, first + i, int(rows[0]) * row, len(rows) * row, rank)
                    for rank, rows in of_dat.items()
                    if len(rows)
                ]

        def move(queue: int | None, addresses: Sequence[int]) -> None:
            self._check(nccl.ncclGroupStart(), "ncclGroupStart")
            for function, place, offset, n_bytes, rank in calls:
                memory = ctypes.c_void_p(addresses[place] + offset)
                code = function(
                    memory,
                    ctypes.c_size_t(n_bytes),
                    _BYTES,
                    rank,
                    self._handle,
                    ctypes.c_void_p(queue),
                )
                self._check(code, "NCCL")
            self._check(nccl.ncclGroupEnd(), "ncclGroupEnd")

        values = [
            *((dat.buffer, False) for dat in exchange.rows.sent),
            *((dat.buffer, True) for dat in exchange.rows.received),
        ]
        moved = self._task(exchange.text, values, move)
        return [*exchange.rows.pack(), moved, *exchange.rows.unpack()]

    def total(self, carrier: Any) -> _core.GraphTask | None:
        """Return the task that adds a Global up over processes; None for other dtypes."""
        kind = _TYPES.get(carrier.dtype.name)
        if kind is None:
            return None
        n = carrier.host_values.size

        def add(queue: int | None, addresses: Sequence[int]) -> None:
            memory = ctypes.c_void_p(addresses[0])
            code = self._nccl.ncclAllReduce(
                memory, memory, ctypes.c_size_t(n), kind, _SUM, self._handle, ctypes.c_void_p(queue)
            )
            self._check(code, "ncclAllReduce")

        return self._task(f"total of {carrier.name}", [(carrier.buffer, True)], add)

    def _task(
        self,
        what: str,
        values: Sequence[tuple[_core.Buffer, bool]],
        call: Callable[[int | None, Sequence[int]], None],
    ) -> _core.GraphTask:
        def checked(queue: int | None, addresses: Sequence[int]) -> None:
            try:
                call(queue, addresses)
            except UnsupportedError as error:
                raise ExecutionError(f"{what}: {error}") from None

        return _core.graph.QueueTask(self._mirror, what, values, checked)
