# SPDX-License-Identifier: BSD-3-Clause
"""Host reads during recording of values changed by the graph.

A read happens once, during the recording; nodes depending on the value are the same at each submit.
A value read by the host must therefore not be written by the graph, before or after the read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyop2cxx.base.access import READ
from pyop2cxx.chain.entries import span_of
from pyop2cxx.exceptions import UsageError, user_line

if TYPE_CHECKING:
    from pyop2cxx.graph.operations import Operation


class Looks:
    """Host reads, and writes of nodes, since the recording began.

    Args:
        what: The recording, for messages: ``record: 'step'``.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._read: dict[int, tuple[Any, str]] = {}
        self._written: dict[int, tuple[Any, str, str]] = {}

    def note_read(self, carrier: Any) -> None:
        """Remember a read of values by the host.

        Args:
            carrier: The object with the values.

        Raises:
            UsageError: An earlier node writes the values.
        """
        if carrier.uid in self._read:
            return
        line = user_line()
        for written, name, where in self._written.values():
            if _share_memory(written, carrier):
                raise self._error(carrier, line, name, where)
        self._read[carrier.uid] = carrier, line

    def note_operation(self, operation: Operation, line: str) -> None:
        """Remember the writes of a node.

        Args:
            operation: Operation of the node.
            line: Line of the program.

        Raises:
            UsageError: The host has read values written by the node.
        """
        written = [data for data, access in operation.uses() if access != READ]
        for data in written:
            for carrier, where in self._read.values():
                if _share_memory(data, carrier):
                    raise self._error(carrier, where, operation.name, line)
        for data in written:
            self._written.setdefault(data.uid, (data, operation.name, line))

    def _error(self, carrier: Any, read: str, name: str, written: str) -> UsageError:
        return UsageError(
            f"{self._what} reads {carrier.label} ({read}), which the recorded '{name}' writes "
            f"({written}): the value is read once, now, and not at each submit. Read it before the "
            "recording or after submit(); or decide within a graph of op2.graph(), by while_() or "
            "in a function of then_host()"
        )


def _share_memory(one: Any, other: Any) -> bool:
    """Return whether two objects with values are the same, or share memory."""
    if one is other:
        return True
    if not (hasattr(one, "buffer") and hasattr(other, "buffer")):
        return False
    (begin, end), (start, stop) = span_of(one), span_of(other)
    return begin < stop and start < end
