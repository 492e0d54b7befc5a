# SPDX-License-Identifier: BSD-3-Clause
"""Stores into the memory of neighbours: GPUs of a node, connected by NVLink or PCIe.

A kernel of our own writes rows of Dats into memory that the neighbour has opened to this process
(CUDA IPC), sets a flag there, waits for the flags of all neighbours, and writes the received rows
into ghosts. No host takes part, so the whole exchange is a single node of a graph.
"""

from __future__ import annotations

import ctypes
import socket
import struct
from collections import defaultdict
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pyop2cxx import _core
from pyop2cxx.exceptions import ExecutionError, Op2Error, UnsupportedError
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.frames import render

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyop2cxx.backends._devices import OpenDevice
    from pyop2cxx.base.arrays import Array
    from pyop2cxx.ranks.on_device import OnDevice

_MOST_DATS = 16
_LANES = 256
_MOST_BLOCKS = 64
"""Blocks for a neighbour."""
_SHIFT = 40
"""Bits of a word's number within a Dat."""
_ALIGN = 256
_FLAG_BYTES = 8
_HANDLE_BYTES = 64
_BLOCK_BYTES = 1 << 21
"""Memory for others is allocated in whole blocks of the driver: a handle stands for a block."""
_WORDS = {8: "unsigned long long", 4: "unsigned int", 2: "unsigned short", 1: "unsigned char"}
_WORD_BYTES = 8
_LAZY_PEERS = 1
"""CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS."""


Result = TypeVar("Result")


class _Handle(ctypes.Structure):
    _fields_ = (("reserved", ctypes.c_char * _HANDLE_BYTES),)


class _Driver:
    """The functions of CUDA's driver, with errors as exceptions."""

    def __init__(self) -> None:
        try:
            self._cuda: Any = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise UnsupportedError(f"CUDA's driver: {error}") from None

    def call(self, name: str, *args: Any) -> None:
        """Call a function.

        Raises:
            UnsupportedError: The function fails.
        """
        code = getattr(self._cuda, name)(*args)
        if code:
            said = ctypes.c_char_p()
            self._cuda.cuGetErrorString(code, ctypes.byref(said))
            raise UnsupportedError(f"{name}: {(said.value or b'unknown error').decode()}")

    def memory(self, n_bytes: int) -> int:
        """Return the address of zeros on the device."""
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(n_bytes))
        self.call("cuMemsetD8_v2", address, ctypes.c_ubyte(0), ctypes.c_size_t(n_bytes))
        return address.value

    def written(self, values: bytes) -> int:
        """Return the address of bytes on the device."""
        address = self.memory(max(len(values), 1))
        if values:
            self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), values, len(values))
        return address

    def shown(self, address: int) -> bytes:
        """Return the handle by which other processes open memory."""
        handle = _Handle()
        self.call("cuIpcGetMemHandle", ctypes.byref(handle), ctypes.c_uint64(address))
        return bytes(handle)

    def opened(self, handle: bytes) -> int:
        """Return the address of another process's memory here."""
        address, given = ctypes.c_uint64(), _Handle.from_buffer_copy(handle)
        self.call("cuIpcOpenMemHandle_v2", ctypes.byref(address), given, _LAZY_PEERS)
        return address.value


class Stores:
    """The transport by stores into the neighbours' memory.

    Args:
        comm: The communicator of MPI; all processes must make the object.
        opened: The device.

    Raises:
        UnsupportedError: The processes are on several nodes, or the device is not CUDA's.
    """

    name = "stores"

    def __init__(self, comm: Any, opened: OpenDevice) -> None:
        self._comm, self._opened = comm, opened
        self._driver = _Driver()
        self._functions: dict[int, ctypes.c_void_p] = {}
        self._lines: dict[tuple[Any, ...], _Line] = {}
        if len({*comm.allgather(socket.gethostname())}) > 1:
            raise UnsupportedError("the processes are on several nodes")

    def tasks(self, exchange: OnDevice) -> list[_core.GraphTask] | None:
        """Return the task of the whole exchange; None for too many Dats. All must call."""
        if len(exchange.dats) > _MOST_DATS:
            return None
        key = exchange, *(dat.buffer.is_soa for dat in exchange.dats)
        if key not in self._lines:
            self._lines[key] = self._line(exchange)
        line = self._lines[key]

        def move(queue: int | None, addresses: Sequence[int]) -> None:
            try:
                line.launch(queue, addresses)
            except UnsupportedError as error:
                raise ExecutionError(f"{exchange.text}: {error}") from None

        values = [(dat.buffer, True) for dat in exchange.dats]
        return [_core.graph.QueueTask(self._opened.mirror, exchange.text, values, move)]

    def _line(self, exchange: OnDevice) -> _Line:
        """Open the memory of the neighbours for an exchange."""
        driver, comm = self._driver, self._comm
        word = min(_WORD_BYTES, *(dat.dtype.itemsize for dat in exchange.dats))
        out, into = (_places(lists, exchange.dats, word) for lists in exchange.lists)
        most = max(comm.allgather(max([0, *(len(one) for one in (*out.values(), *into.values()))])))
        n_turns = -(-max(most, 1) // (_LANES * _MOST_BLOCKS))
        part = n_turns * _LANES
        peers = sorted({*out, *into})
        n_blocks = [-(-max(map(len, (out[rank], into[rank]))) // part) for rank in peers]
        first = dict(zip(peers, np.cumsum([0, *n_blocks]).tolist(), strict=False))
        total = sum(n_blocks)
        flags = -(-2 * total * part * word // _ALIGN) * _ALIGN

        def allocated() -> tuple[int, bytes]:
            wanted = flags + total * _FLAG_BYTES
            inbox = driver.memory(-(-max(wanted, 1) // _BLOCK_BYTES) * _BLOCK_BYTES)
            return inbox, driver.shown(inbox)

        inbox, handle = self._agreed(allocated)
        told = comm.allgather((handle, first, total, flags))

        def connected() -> _Line:
            blocks = []
            for rank, n in zip(peers, n_blocks, strict=True):
                opened, (_, places, far, their_flags) = driver.opened(told[rank][0]), told[rank]
                for i in range(n):
                    here, there = first[rank] + i, places[comm.rank] + i
                    blocks.append(
                        struct.pack(
                            "=4Q2q",
                            opened + there * part * word,
                            inbox + here * part * word,
                            opened + their_flags + there * _FLAG_BYTES,
                            inbox + flags + here * _FLAG_BYTES,
                            far * part,
                            total * part,
                        )
                    )
            tables = [b"".join(blocks)]
            tables += [_padded(side, peers, n_blocks, part).tobytes() for side in (out, into)]
            return _Line(
                driver,
                self._function(word),
                [driver.written(table) for table in tables],
                n_turns,
                driver.memory(max(total, 1) * _FLAG_BYTES),
                total,
            )

        return self._agreed(connected)

    def _agreed(self, call: Callable[[], Result]) -> Result:
        """Return the result of a function called with the device current.

        Raises:
            UnsupportedError: The function fails on a process; all raise.
        """
        found: list[Result] = []
        why = ""

        def called(queue: int | None, addresses: Sequence[int]) -> None:
            found.append(call())

        try:
            _core.TaskRow([_core.graph.QueueTask(self._opened.mirror, "stores", [], called)]).run()
        except Op2Error as error:
            why = str(error)
        for reason in self._comm.allgather(why):
            if reason:
                raise UnsupportedError(reason)
        return found[0]

    def _function(self, word: int) -> ctypes.c_void_p:
        """Return the kernel for words of some bytes."""
        if word not in self._functions:
            about = {"word": _WORDS[word], "most": _MOST_DATS, "shift": _SHIFT, "lanes": _LANES}
            text = render("kernels/swap_rows.cu.j2", about)
            service, compiler = runtime.engine.device_service, self._opened.compiler
            binary = service.compile(compiler, text, [], "").bytes
            module, function = ctypes.c_void_p(), ctypes.c_void_p()
            self._driver.call("cuModuleLoadData", ctypes.byref(module), binary)
            name = b"op2_swap_rows"
            self._driver.call("cuModuleGetFunction", ctypes.byref(function), module, name)
            self._functions[word] = function
        return self._functions[word]


class _Line:
    """All that a launch needs, on the device.

    Args:
        driver: Of CUDA.
        function: The kernel.
        tables: Addresses of the tables of blocks, of places given, and of places taken.
        n_turns: Places of a thread.
        runs: Address of the blocks' counters.
        n_blocks: Number of blocks; 0: no neighbours.
    """

    def __init__(
        self,
        driver: _Driver,
        function: ctypes.c_void_p,
        tables: Sequence[int],
        n_turns: int,
        runs: int,
        n_blocks: int,
    ) -> None:
        self._driver, self._function, self._n_blocks = driver, function, n_blocks
        patience = 1_000_000_000 * int(runtime.configuration["patience"])
        self._rest = [
            *map(ctypes.c_uint64, tables),
            ctypes.c_int(n_turns),
            *map(ctypes.c_uint64, (runs, patience)),
        ]

    def launch(self, queue: int | None, addresses: Sequence[int]) -> None:
        """Enqueue the kernel."""
        if not self._n_blocks:
            return
        bases = (ctypes.c_uint64 * _MOST_DATS)(*addresses)
        values: list[Any] = [bases, *self._rest]
        given = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        shape = (self._n_blocks, 1, 1, _LANES, 1, 1, 0)
        self._driver.call(
            "cuLaunchKernel",
            self._function,
            *map(ctypes.c_uint, shape),
            ctypes.c_void_p(queue),
            given,
            None,
        )


def _places(
    lists: Sequence[dict[int, Array]], dats: Sequence[Any], word: int
) -> defaultdict[int, Array]:
    """Return for each neighbour the places of all words: the Dat's number, and the word in it.

    Args:
        lists: For each Dat the rows by neighbour.
        dats: The Dats, each in the layout that it has on the device.
        word: Bytes of a word.
    """
    found: defaultdict[int, Array] = defaultdict(lambda: np.zeros(0, np.int64))
    for i, (of_dat, dat) in enumerate(zip(lists, dats, strict=True)):
        value, total = dat.dtype.itemsize // word, dat.set.total_size
        words = np.arange(dat.cdim * value)
        if dat.buffer.is_soa:
            words, row = words // value * total * value + words % value, value
        else:
            row = dat.cdim * value
        for rank, rows in of_dat.items():
            places = (np.asarray(rows, np.int64)[:, None] * row + words).reshape(-1)
            found[rank] = np.concatenate([found[rank], (i << _SHIFT) + places])
    return defaultdict(found.default_factory, {r: one for r, one in found.items() if len(one)})


def _padded(
    places: Mapping[int, Array], peers: Sequence[int], n_blocks: Sequence[int], part: int
) -> Array:
    """Return the places of all blocks end to end, with -1 behind the last of each neighbour."""
    found = [np.full(n * part, -1, np.int64) for n in n_blocks]
    for rank, row in zip(peers, found, strict=True):
        row[: len(places[rank])] = places[rank]
    return np.concatenate([np.zeros(0, np.int64), *found])
