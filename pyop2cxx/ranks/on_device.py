# SPDX-License-Identifier: BSD-3-Clause
"""Exchanges of Dats on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import _core
from pyop2cxx.base.access import WRITE
from pyop2cxx.data.lent import recalling
from pyop2cxx.exceptions import user_line
from pyop2cxx.runtime import runtime, seams

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyop2cxx.data.dats import Dat
    from pyop2cxx.ranks.owners import Numbers
    from pyop2cxx.ranks.row_messages import RowMessages


class OnDevice:
    """An exchange of rows on a device: nothing else leaves the device.

    Args:
        transports: Move rows between devices.
        messages: Makes messages for rows through the host.
        text: The exchange, for messages.
        dats: The Dats.
        given: The rows to be sent, for each Dat by rank.
        taken: The rows to be received, likewise.

    Attributes:
        n_bytes: Bytes sent by the rank.
        text: As given.
        dats: As given.
        lists: `given` and `taken`.
        rows: The packed rows.
        places: Where rows lie among the packed rows, as `lists`.
    """

    def __init__(
        self,
        transports: Any,
        messages: Callable[..., RowMessages],
        text: str,
        dats: Sequence[Dat],
        given: Sequence[dict[int, Numbers]],
        taken: Sequence[dict[int, Numbers]],
    ) -> None:
        (out, sent), (into, received) = map(_end_to_end, (given, taken))
        self.text, self.dats, self.lists = text, tuple(dats), (given, taken)
        self.rows = seams.device_algebra().ghost_rows(dats, sent, received)
        self.places = out, into
        self._transports = transports
        self._packed = messages(out, into)
        self.n_bytes = self._packed.n_bytes
        self._epoch = -1
        self._run: Callable[[], bool] | None = None

    def begin(self, dats: Sequence[Dat]) -> None:
        """Pack the rows, and send them; a transport between devices does all."""
        if self._epoch != runtime.epoch:
            tasks = self.tasks()
            self._run = None
            if tasks is not None:
                self._run = recalling(_core.TaskRow(tasks).run, [*self.rows.lent()])
            self._epoch = runtime.epoch
        if self._run is None:
            self.send()
        elif self._run():
            runtime.coherence.attribute(user_line())

    def end(self) -> None:
        """Wait, and unpack."""
        if self._run is None:
            self.receive()
        for dat in self.dats:
            dat.halo_valid = True

    def send(self) -> None:
        """Pack the rows, and send them through the host."""
        if _core.TaskRow(self.rows.pack()).run():
            runtime.coherence.attribute(user_line())
        self._packed.begin([one.all_rows(_core.Use.read) for one in self.rows.sent])

    def receive(self) -> None:
        """Wait for the rows sent by `send`, and unpack."""
        self._packed.end([one.all_rows(_core.Use.write) for one in self.rows.received], WRITE)
        recalling(_core.TaskRow(self.rows.unpack()).run, [*self.rows.lent()])()

    def tasks(self) -> list[_core.GraphTask] | None:
        """Return the tasks of the whole exchange; None if rows go through the host."""
        tasks: list[_core.GraphTask] | None = self._transports.tasks(self)
        return tasks

    def free(self) -> None:
        """Give the requests back."""
        self._packed.free()


def _end_to_end(
    lists: Sequence[dict[int, Numbers]],
) -> tuple[list[dict[int, Numbers]], list[Numbers]]:
    """Return where rows lie if packed in the order of ranks, and the rows in this order."""
    places, rows = [], []
    for one in lists:
        ranks = sorted(one)
        ends = np.cumsum([0, *(len(one[rank]) for rank in ranks)])
        places.append(
            {rank: np.arange(*ends[i : i + 2], dtype=np.int64) for i, rank in enumerate(ranks)}
        )
        rows.append(np.concatenate([np.zeros(0, np.int64), *(one[rank] for rank in ranks)]))
    return places, rows
