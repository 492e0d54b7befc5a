# SPDX-License-Identifier: BSD-3-Clause
"""Runs of a loop on copies of the arguments, with watched memory before and behind each copy."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from pyop2cxx import _core
from pyop2cxx.chain.compare import read_all
from pyop2cxx.exceptions import ExecutionError
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.loop.parts import Part

_GUARD_BYTES = 4096
_PATTERN = 0xA5


class _Copy:
    """The values of a Buffer between two guards.

    Args:
        part: An argument with the Buffer, valid on the host.
        device: Device of the run; None for the host. On a device the guards are there.
    """

    def __init__(self, part: Part, device: _core.Device | None) -> None:
        self.owner = part.owner
        buffer = part.buffer
        self._values = read_all(self.owner)
        n_bytes = buffer.n_bytes
        self._memory = np.full(2 * _GUARD_BYTES + n_bytes + 64, _PATTERN, np.uint8)
        begin = -self._memory.ctypes.data % 64 + _GUARD_BYTES  # vectors need aligned rows
        self._inside = slice(begin, begin + n_bytes)
        self._guards = (slice(0, begin), slice(begin + n_bytes, None))
        if n_bytes:
            ctypes.memmove(self._memory.ctypes.data + begin, buffer.address, n_bytes)
        self.buffer = _core.Buffer(
            coherence=runtime.coherence,
            what=part.data.label,
            is_soa=buffer.is_soa,
            dim=self.owner.cdim if part.home is not None else 1,
            item_bytes=part.dtype.itemsize,
        )
        self.buffer.reset(self._memory.ctypes.data + begin, n_bytes, is_zero=False)
        self._there = None if device is None else _core.Guard(self.buffer, device)

    def values(self) -> Array:
        """Return the values after a run, brought to the host."""
        self.buffer.on_host(_core.Use.read, "tune", is_explicit=True)
        found = self._memory[self._inside].view(self._values.dtype)
        return found.reshape(self._values.shape)

    def n_outside(self) -> int:
        """Return the number of changed bytes outside of the values."""
        found = sum(int(np.count_nonzero(self._memory[one] != _PATTERN)) for one in self._guards)
        return found + (0 if self._there is None else self._there.n_changed())

    def release(self) -> None:
        """Forget the memory, also on a device."""
        self.buffer.release(is_kept=False)
        self._there = None


def run_guarded(
    run: _core.PreparedLoop, parts: Iterable[Part], device: _core.Device | None
) -> dict[int, Array]:
    """Run a loop once on copies of the arguments, and return the values of the copies.

    Args:
        run: The loop, bound to the arguments.
        parts: The arguments.
        device: Device of the run; None for the host.

    Returns:
        Values by `uid` of the object; the objects themselves are not changed.

    Raises:
        ExecutionError: The loop wrote before or behind the values of an object.
    """
    copies: dict[int, _Copy] = {}
    owners: dict[int, _Copy] = {}
    given: list[_core.Buffer] = []
    for part in parts:
        read_all(part.owner)  # the address is known from now on
        copy = copies.get(part.buffer.address)
        if copy is None:
            copy = copies[part.buffer.address] = _Copy(part, device)
        given.append(copy.buffer)
        owners[part.owner.uid] = copy  # several objects may have one memory
    try:
        run.run_with(given)
        found: dict[int, Any] = {uid: one.values() for uid, one in owners.items()}
        outside = {one.owner.label: n for one in copies.values() if (n := one.n_outside())}
    finally:
        for one in copies.values():
            one.release()
    if outside:
        where = ", ".join(f"{n} bytes outside of {label}" for label, n in outside.items())
        raise ExecutionError(f"it writes {where}")
    return found
