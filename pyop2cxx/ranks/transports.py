# SPDX-License-Identifier: BSD-3-Clause
"""Ways of rows from device to device: the fastest that moves the same bytes."""

from __future__ import annotations

import logging
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import _core
from pyop2cxx.exceptions import Op2Error, RanksError
from pyop2cxx.ranks.nccl import Nccl
from pyop2cxx.ranks.stores import Stores
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyop2cxx.backends._devices import OpenDevice
    from pyop2cxx.data.dats import Dat
    from pyop2cxx.ranks.on_device import OnDevice

STAGED = "staged"
_MADE: dict[str, Any] = {"stores": Stores, "nccl": Nccl}
_TIMES = 10


class Transports:
    """The ways of packed rows between the devices of a communicator.

    ``staged`` is always there: through the host and MPI. Others are made at the first exchange of a
    device, move random bytes along the lists of the exchange, and must deliver what ``staged``
    delivers, bit for bit. The fastest on the slowest process is kept. All processes decide alike.

    Args:
        comm: The communicator.

    Attributes:
        chosen: Name of the transport; empty before the first exchange on a device.
        micros: Measured microseconds of an exchange, by transport.
        ways: The transports between devices that are there, by name.
    """

    def __init__(self, comm: Any) -> None:
        self.comm = comm
        self.chosen = ""
        self.micros: dict[str, float] = {}
        self.ways: dict[str, Any] = {}
        self._device: Any = None

    def __str__(self) -> str:
        times = ", ".join(f"{name} {us:.1f} us" for name, us in self.micros.items())
        return f"{self.chosen or 'mpi'}{f' ({times})' if times else ''}"

    def tasks(self, exchange: OnDevice) -> list[_core.GraphTask] | None:
        """Return the tasks of an exchange; None: rows go through the host. All must call.

        Raises:
            RanksError: The wanted transport cannot be used.
        """
        if self._device is not runtime.device:
            self._choose(exchange)
            self._device = runtime.device
        way = self.ways.get(self.chosen)
        found: list[_core.GraphTask] | None = None if way is None else way.tasks(exchange)
        return found

    def total(self, carrier: Any) -> _core.GraphTask | None:
        """Return the task that adds a Global up over processes; None: by the host."""
        way = self.ways.get("nccl") if self._device is runtime.device else None
        found: _core.GraphTask | None = None if way is None else way.total(carrier)
        return found

    def _choose(self, exchange: OnDevice) -> None:
        wanted = str(runtime.configuration["transport"])
        self.ways, self.micros = {}, {}
        opened = runtime.engine.chosen_device(runtime.engine.backend(runtime.backend))
        assert opened is not None, "rows are packed on a device"
        names = [*_MADE] if wanted == "auto" else [wanted] if wanted in _MADE else []
        can_enqueue = all(self.comm.allgather(_core.graph.QueueTask.is_possible(opened.mirror)))
        if not can_enqueue:
            self._refuse(names, wanted, "the device has no queue that libraries know")
            names = []
        for name in names:
            way, why = self._made(name, opened)
            why = why or self._wrong(way, exchange)
            if why:
                self._refuse([name], wanted, why)
            else:
                self.ways[name] = way
        if wanted != "auto" or not self.ways:
            self.chosen = STAGED if wanted == "auto" else wanted
            return
        self.micros = {STAGED: self._measured(partial(_staged, exchange))}
        for name, way in self.ways.items():
            row = _core.TaskRow([*way.tasks(exchange)] * _TIMES)
            self.micros[name] = self._measured(row.run) / _TIMES
        self.chosen = min(self.micros, key=lambda name: self.micros[name])
        logging.getLogger("pyop2cxx").info("rows travel by %s", self)

    def _made(self, name: str, opened: OpenDevice) -> tuple[Any, str]:
        """Return a transport, and on all processes the first reason why it is not there."""
        way, why = None, ""
        try:
            way = _MADE[name](self.comm, opened)
        except Op2Error as error:
            why = str(error)
        return way, self._first(why)

    def _wrong(self, way: Any, exchange: OnDevice) -> str:
        """Return the fault of a transport, on all processes alike.

        Random bytes travel both ways in turn, and ghosts must be the same; all values are kept.
        """
        kept = [dat.all_rows().copy() for dat in exchange.dats]
        random = np.random.default_rng(self.comm.rank)
        for dat in exchange.dats:
            rows = dat.all_rows(_core.Use.write).view(np.uint8)
            rows[: dat.set.size] = random.integers(0, 256, rows[: dat.set.size].shape, np.uint8)
            _wrote(dat)
        _staged(exchange)
        wanted, why = _ghosts(exchange), ""
        for dat in exchange.dats:
            dat.all_rows()[dat.set.size :] = 0
            _wrote(dat)
        try:
            tasks = way.tasks(exchange)
            why = "there are too many Dats"
            if tasks is not None:
                _core.TaskRow(tasks).run()
                why = "" if _ghosts(exchange) == wanted else "other bytes arrive than were sent"
        except Op2Error as error:
            why = str(error)
        for dat, values in zip(exchange.dats, kept, strict=True):
            dat.all_rows(_core.Use.write)[...] = values
            _wrote(dat)
        return self._first(why)

    def _first(self, why: str) -> str:
        return next((reason for reason in self.comm.allgather(why) if reason), "")

    def _refuse(self, names: list[str], wanted: str, why: str) -> None:
        for name in names:
            if wanted != "auto":
                raise RanksError(f"transport {name!r}, asked for by an option: {why}")
            logging.getLogger("pyop2cxx").info("transport %s is not used: %s", name, why)

    def _measured(self, move: Callable[[], object]) -> float:
        """Return the least microseconds of a few calls, on the slowest process."""
        least = float("inf")
        for _ in range(_TIMES):
            self.comm.barrier()
            start = time.perf_counter()
            move()
            for opened in runtime.engine.devices:
                opened.device.finish()
            took = time.perf_counter() - start
            least = min(least, max(self.comm.allgather(took)))
        return 1e6 * least


def _staged(exchange: OnDevice) -> None:
    exchange.send()
    exchange.receive()


def _ghosts(exchange: OnDevice) -> list[bytes]:
    return [dat.all_rows(_core.Use.read)[dat.set.size :].tobytes() for dat in exchange.dats]


def _wrote(dat: Dat) -> None:
    dat.buffer.increment_version()
