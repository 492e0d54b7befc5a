# SPDX-License-Identifier: BSD-3-Clause
"""Copies between host and devices, with their causes: ``op2.transfers.report()``."""

from __future__ import annotations

from dataclasses import dataclass

from pyop2cxx import _core
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.showing import Tabled


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """Copies of an object, in a direction, with the same cause and line.

    Attributes:
        what: The object: ``Dat 'q' on Set 'cells'``.
        to_device: True from the host to the device, False back.
        device: The device's name.
        cause: The loop or member needing the values: ``par_loop 'res'``, ``Dat.data_ro``.
        argument: The loop's argument; None for a member.
        explicit: Whether the program requested the copy, by `to_device` or `to_host`.
        line: ``file:line`` in the user's program; empty if unknown.
        count: How many copies.
        nbytes: Bytes of all of them.
        seconds: Wall time of all copies. A copy to the host also waits for earlier loops.
    """

    what: str
    to_device: bool
    device: str
    cause: str
    argument: int | None
    explicit: bool
    line: str
    count: int
    nbytes: int
    seconds: float


class Report(Tabled, tuple[Transfer, ...]):
    """Transfers printed as a table."""

    __slots__ = ()

    def _as_rows(self) -> tuple[str, list[tuple[str, ...]], str]:
        cells: list[tuple[str, ...]] = [
            ("what", "to", "count", "bytes", "seconds", "explicit", "cause", "line")
        ]
        for row in self:
            cause = row.cause if row.argument is None else f"{row.cause}, arg {row.argument}"
            to = row.device if row.to_device else "host"
            numbers = (str(row.count), str(row.nbytes), f"{row.seconds:.6f}")
            cells.append((row.what, to, *numbers, "yes" if row.explicit else "", cause, row.line))
        return "", cells, ""


def report() -> Report:
    """Return the copies between host and devices so far, in the order of their first occurrence.

    Copies of the same object for the same cause are counted together, and at most some thousand
    causes are told apart, so the ledger stays small however long the program runs.

    Example:
        >>> from pyop2cxx import op2
        >>> sum(transfer.nbytes for transfer in op2.transfers.report() if not transfer.explicit)
        0
    """
    return Report(
        Transfer(
            what=row.what,
            to_device=row.direction == _core.Direction.to_device,
            device=row.device,
            cause=row.cause,
            argument=None if row.argument < 0 else row.argument,
            explicit=row.is_explicit,
            line=row.line,
            count=row.n_copies,
            nbytes=row.n_bytes,
            seconds=row.nanoseconds * 1e-9,
        )
        for row in runtime.coherence.transfers()
    )


def clear() -> None:
    """Forget the copies so far."""
    runtime.coherence.clear_transfers()
