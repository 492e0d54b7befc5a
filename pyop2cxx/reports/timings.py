# SPDX-License-Identifier: BSD-3-Clause
"""Costs of loops."""

from __future__ import annotations

from typing import TypedDict

from pyop2cxx.backends._backend import DeviceToolchain
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.showing import Tabled


class LoopTiming(TypedDict):
    """Cost of the loops of a kernel.

    Attributes:
        calls: How often they ran.
        seconds: Wall time inside loops on the host, without plans and compilation.
        enqueue_seconds: Wall time of enqueuing loops on devices. `op2.profile` measures their run
            time.
        plan_seconds: Wall time spent on plans.
        useful_bytes: Bytes moved by all calls, at least: each Dat and Map entry once a call.
    """

    calls: int
    seconds: float
    enqueue_seconds: float
    plan_seconds: float
    useful_bytes: int


class Timings(Tabled, dict[str, LoopTiming]):
    """Costs by the kernel's name, printed as a table."""

    __slots__ = ()

    def _as_rows(self) -> tuple[str, list[tuple[str, ...]], str]:
        titles = [name.replace("_", " ") for name in LoopTiming.__annotations__]
        rows = [(name, *(f"{value:.4g}" for value in row.values())) for name, row in self.items()]
        return "", [("kernel", *titles), *rows], ""


def timings() -> Timings:
    """Return the costs of the loops of each kernel so far, by the kernel's name.

    Loops fused by a chain have a row together, named by the kernels' names, joined by `_`.

    Example:
        >>> from pyop2cxx import op2
        >>> all(timing["calls"] > 0 for timing in op2.timings().values())
        True
    """
    rows = Timings()
    engine = runtime.engine
    for ((name, backend, _), _), timing in engine.timings.items():
        if timing.n_calls == 0:
            continue
        empty = LoopTiming(
            calls=0, seconds=0.0, enqueue_seconds=0.0, plan_seconds=0.0, useful_bytes=0
        )
        row = rows.setdefault(name, empty)
        row["calls"] += timing.n_calls
        if isinstance(engine.backend(backend).toolchain, DeviceToolchain):
            row["enqueue_seconds"] += timing.nanoseconds * 1e-9
        else:
            row["seconds"] += timing.nanoseconds * 1e-9
        row["plan_seconds"] += timing.plan_nanoseconds * 1e-9
        row["useful_bytes"] += timing.useful_bytes
    return rows
