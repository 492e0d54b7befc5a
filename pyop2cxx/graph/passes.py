# SPDX-License-Identifier: BSD-3-Clause
"""Nodes repeated as long as a condition holds, by the host or by the device."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.data.globals import Global
from pyop2cxx.exceptions import UnsupportedError
from pyop2cxx.graph.pieces import BY_DEVICE, BY_HOST, UNDECIDED, Repeats
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.tuned_file import of_trial

if TYPE_CHECKING:
    import numpy as np

    from pyop2cxx.data.conditions import Condition
    from pyop2cxx.graph.pieces import Piece, Program


_KIND = "while"
_ARMS = ("by_device", "by_host")


class Passes:
    """The segment of a ``while_``.

    Args:
        condition: Asked before each pass.
        body: The body of a pass.
        most: So many passes at most.
    """

    def __init__(self, condition: Condition, body: Program, most: int) -> None:
        self._condition = condition
        self._body = body
        self._most = most
        self._has_run = False
        self._piece = body.only_piece
        self._device, self._why = _by_device(condition, self._piece)
        self._is_noted = self._learn()

    def _learn(self) -> bool:
        """Take measurements of an earlier process; return whether there is nothing to measure."""
        if self._device is None or self._piece is None:
            return True
        key, size = self._key()
        known = runtime.engine.tuned.trial(runtime.backend, _KIND, key, size) or {}
        for way, us in known.items():
            if way in _ARMS:
                self._device.learn(getattr(self._device, way), 1e3 * us)
        return known.keys() >= set(_ARMS)

    def _note(self) -> None:
        """Note the measurements, once decided."""
        device = self._device
        if device is None or self._piece is None or not device.trial.is_decided:
            return
        self._is_noted = True
        found = {way: device.trial.shortest(getattr(device, way)) for way in _ARMS}
        us = {way: 1e-3 * took for way, took in found.items() if took}
        if us:
            name = f"while {self._condition}"
            entry = of_trial(_KIND, *self._key(), name, us, us.get("by_host", min(us.values())))
            runtime.engine.tuned.note(runtime.backend, entry)

    def _key(self) -> tuple[str, int]:
        assert self._piece is not None
        return str(_core.digest(f"{self._condition.sign} {self._piece.key}")), self._piece.size

    @property
    def native(self) -> tuple[int, ...]:
        """Addresses of replayed graphs: all passes as a unit, or a pass's pieces; tuple of int."""
        address = self._device.native if self._device is not None else 0
        return (address,) if address else self._body.native

    @property
    def trials(self) -> tuple[_core.graph.ReplayTrial, ...]:
        """Measurements of the pieces of a pass."""
        return self._body.trials

    @property
    def not_replayed(self) -> tuple[str, ...]:
        """Reasons why pieces of a pass repeated by the host were not replayed; tuple of str."""
        return () if self._device is not None and self._device.native else self._body.not_replayed

    @property
    def repeats(self) -> tuple[Repeats, ...]:
        """Repetitions by host or device, of the body and of every inner ``while_``."""
        device = _core.graph.DeviceWhile
        why = self._device.why_not if self._device is not None else self._why
        trial = self._device.trial if self._device is not None else None
        kept = BY_HOST if why or trial is None else UNDECIDED
        if kept == UNDECIDED and trial is not None and trial.is_decided:
            kept = BY_DEVICE if trial.best == device.by_device else BY_HOST
        own = Repeats(
            condition=str(self._condition),
            host_ms=_milliseconds(trial.shortest(device.by_host)) if trial else None,
            device_ms=_milliseconds(trial.shortest(device.by_device)) if trial else None,
            kept=kept,
            why=why,
        )
        return (own, *self._body.repeats)

    def __call__(self, n: int) -> None:
        """Run n times."""
        for _ in range(n):
            self._once()

    def _once(self) -> None:
        device = self._device
        if device is None or device.why_not:
            self._by_host(self._most)
            return
        n_done = 0
        if not self._has_run:  # the first pass makes plans, and transfers values
            n_done = self._by_host(1)
            self._has_run = n_done > 0
            if not n_done or self._most == 1:
                return
        if not (device.is_next and self._by_device(device, n_done)):
            self._by_host_measured(device, self._most - n_done)
        if not self._is_noted:
            self._note()

    def _by_host(self, most: int) -> int:
        """Run passes as long as the condition holds on the host, and return their number."""
        for i in range(most):
            if not self._condition:
                return i
            self._body.run(1)
        return most

    def _by_host_measured(self, device: _core.graph.DeviceWhile, most: int) -> None:
        if device.why_not or device.trial.is_decided:
            self._by_host(most)
            return
        _wait()
        start = time.perf_counter_ns()
        n_passes = self._by_host(most)
        _wait()
        device.note_host(time.perf_counter_ns() - start, n_passes)

    def _by_device(self, device: _core.graph.DeviceWhile, n_done: int) -> bool:
        """Let the device run the remaining passes, and return whether possible."""
        has_copied = device.run(n_done, self._most)
        if has_copied is None:
            return False
        assert self._piece is not None
        self._piece.finish(has_copied)
        for data in self._condition.data:
            data.lent_out.recall()
        return True


def _by_device(
    condition: Condition, piece: Piece | None
) -> tuple[_core.graph.DeviceWhile | None, str]:
    """Return the device's repetition of a piece, or a reason for none."""
    if piece is None:
        return None, "something in it needs Python"
    is_less = condition.sign in ("<", "<=")
    sides = [(condition.left, condition.right), (condition.right, condition.left)]
    try:
        left, right = (_side(*both) for both in (reversed(sides) if is_less else sides))
    except UnsupportedError as error:
        return None, str(error)
    made = _core.graph.DeviceWhile(
        steps=piece.steps, left=left, right=right, or_equal="=" in condition.sign
    )
    return made, ""


def _side(side: Any, other: Any) -> _core.graph.ConditionSide:
    """Return a side of a condition for a device, in the dtype compared on the host."""
    if isinstance(side, Global):
        return _core.graph.ConditionSide(side.buffer, side.dtype.name)
    return _core.graph.ConditionSide(_number(side, other.dtype))


def _number(number: Any, dtype: np.dtype[Any]) -> float:
    """Return a number in the form compared by NumPy with values of a dtype.

    Raises:
        UnsupportedError: The number is not representable in float64, used by devices for
            comparisons.
    """
    if dtype.kind == "f":
        return float(dtype.type(0) + number)
    if float(number) != number:
        raise UnsupportedError(f"float64 has no number {number}")
    return float(number)


def _wait() -> None:
    for opened in runtime.engine.devices:
        opened.device.finish()


def _milliseconds(nanoseconds: float | None) -> float | None:
    return nanoseconds / 1e6 if nanoseconds else None
