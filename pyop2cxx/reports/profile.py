# SPDX-License-Identifier: BSD-3-Clause
"""Where the time of a part of a program went: ``with op2.profile() as p:``."""

from __future__ import annotations

import json
import os
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from pyop2cxx import _core
from pyop2cxx.backends._backend import DeviceToolchain
from pyop2cxx.base.files import as_path
from pyop2cxx.exceptions import UsageError
from pyop2cxx.reports.ceilings import ceilings
from pyop2cxx.reports.roofline import Roofline, check_picture
from pyop2cxx.reports.shadows import Precision, Shadows
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.showing import Tabled

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from typing_extensions import Self

    from pyop2cxx.runtime.engine import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopCost:
    """Cost of the loops of a kernel, on a backend by a strategy.

    Attributes:
        loop: The kernel's name; for a function of several loops of a chain, the kernels' names,
            joined by `_`.
        backend: Where they ran.
        strategy: How racing updates were resolved.
        calls: How often they ran.
        measured: Number of measured calls: all on the host, samples on a device.
        seconds: Seconds of all calls, extrapolated from the measured; on a device by the device's
            clock. None if no call was measured.
        enqueue_seconds: Seconds of the host for enqueuing; 0 for loops of the host.
        bytes: Bytes moved by all calls, at least: each Dat and Map entry once a call.
        operations: Floating-point operations of all calls: each kernel once an element. None if a
            kernel is opaque, calls unknown functions, or has loops of unknown length.
        float_bytes: Bytes of the widest operand; 0 without operations.
        plan_seconds: For building plans.
        compile_seconds: Seconds of generating and compiling text, or loading a compiled library.
    """

    loop: str
    backend: str
    strategy: str
    calls: int
    measured: int
    seconds: float | None
    enqueue_seconds: float
    bytes: int
    operations: int | None
    float_bytes: int
    plan_seconds: float
    compile_seconds: float

    @property
    def rate(self) -> float | None:
        """Bytes a second; None if no call was measured."""
        return self.bytes / self.seconds if self.seconds else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyCost:
    """Copies between host and devices, in a direction.

    Attributes:
        to_device: True from the host to a device, False back.
        count: How many.
        bytes: Of all of them.
        seconds: Wall time of all copies; a copy to the host also waits for earlier loops.
    """

    to_device: bool
    count: int
    bytes: int
    seconds: float


class _Counts(NamedTuple):
    """The counters of a Timing, at a moment."""

    calls: int = 0
    nanoseconds: int = 0
    plan: int = 0
    bytes: int = 0
    measured: int = 0
    measured_nanoseconds: int = 0
    measured_bytes: int = 0
    operations: int = 0
    unknown: int = 0
    doubles: int = 0

    @classmethod
    def of(cls, timing: _core.Timing) -> _Counts:
        return cls(
            timing.n_calls,
            timing.nanoseconds,
            timing.plan_nanoseconds,
            timing.useful_bytes,
            timing.n_measured,
            timing.measured_nanoseconds,
            timing.measured_bytes,
            timing.operations,
            timing.n_unknown,
            timing.n_double,
        )

    def and_also(self, other: _Counts) -> _Counts:
        return _Counts(*(one + more for one, more in zip(self, other, strict=True)))

    def since(self, before: _Counts) -> _Counts:
        return _Counts(*(now - then for now, then in zip(self, before, strict=True)))


class Profile(Tabled):
    """Loops run in a ``with`` block and their costs. `print` the profile for a table.

    Waiting loops, of a chain or under ``init(lazy=True)``, run at the begin and at the end of the
    block, so exactly the loops called inside are in the table.

    Loops of the host are timed by the host's clock. Loops of a device are timed by the device, with
    a wait only at the end of the block. Marks between kernels prevent overlap, so only some calls
    of a loop are measured. The very first call is excluded, since deferred work of the driver is
    included there.

    Args:
        every: The first of a loop's calls on a device is measured, and every so-many-th after; 1
            measures all calls, even the very first.
        shadow: "float64" runs each loop a second time in double precision, on copies of the data
            (shadows), and tells in `precision` where digits go; `loops` stays empty. None means no
            second run.

    Attributes:
        loops: A `LoopCost` for each kernel, backend and strategy; the longest first.
        precision: With a shadow a `pyop2cxx.reports.shadows.Precision`; else None.
        copies: A `CopyCost` for each direction with copies.
        seconds: Wall time of the block, including the wait for the devices at the end.

    Raises:
        UsageError: `every` is less than 1, or `shadow` neither None nor "float64"; or another
            profile is being made; or, with a shadow, the block begins where loops wait.

    Example:
        >>> from pyop2cxx import op2
        >>> x = op2.Dat(op2.Set(3))
        >>> one = op2.Kernel("void one(double *x) { *x = 1; }", "one")
        >>> with op2.backend("sequential"), op2.profile() as p:
        ...     op2.par_loop(one, x.dataset.set, x(op2.WRITE))
        >>> [(row.loop, row.calls, row.bytes) for row in p.loops]
        [('one', 1, 24)]
    """

    _in_background: ClassVar[Profile | None] = None

    def __init__(self, every: int = 16, *, shadow: str | None = None) -> None:
        if every < 1:
            raise UsageError(f"profile: every {every} calls: expected a number from 1 on")
        if not (shadow is None or (isinstance(shadow, str) and shadow == _SHADOW)):
            raise UsageError(
                f"profile: shadow must be {_SHADOW!r}, the dtype of the second run, or None, got "
                f"{shadow!r}"
            )
        self.precision: Precision | None = None
        self._shadows = None if shadow is None else Shadows()
        self._recording: AbstractContextManager[None] = nullcontext()
        self.loops: tuple[LoopCost, ...] = ()
        self.copies: tuple[CopyCost, ...] = ()
        self.seconds = 0.0
        self.every = every
        self._spans: list[_core.TraceSpan] = []
        self._n_dropped = 0
        self._before: dict[tuple[tuple[str, str, str], int], _Counts] = {}
        self._copied: dict[bool, tuple[int, int, int]] = {}
        self._begin = 0.0
        self._engine: Engine | None = None
        self._outer: Profile | None = None
        self._has_ended = False

    @contextmanager
    def giving_way(self) -> Iterator[Self]:
        """Profile a ``with`` block; during profiles of the program, which see all events, too."""
        with self:
            Profile._in_background = self
            try:
                yield self
            finally:
                Profile._in_background = None

    def __repr__(self) -> str:
        return f"<profile: {len(self.loops)} kinds of loops, {self.seconds:.3g} s>"

    def __enter__(self) -> Self:
        engine, trace = runtime.engine, runtime.coherence.trace
        if trace.is_on and Profile._in_background is None:
            raise UsageError("profile: another profile is being made; end its 'with' block first")
        if self._shadows is not None and runtime.recorder is not None:
            raise UsageError(
                "profile: a profile with a shadow begins where loops wait: in op2.chain(), under "
                "op2.record() or init(lazy=True); begin it outside, where loops run when called"
            )
        self._outer, Profile._in_background = Profile._in_background, None
        self._engine, self._has_ended = engine, False
        runtime.settle()  # waiting loops were called before
        if self._shadows is not None:
            self._shadows = Shadows()
            self._recording = runtime.recorded_by(self._shadows)
            self._recording.__enter__()
        for opened in engine.devices:
            opened.device.start_clock()
        self._before = {key: _Counts.of(timing) for key, timing in engine.timings.items()}
        self._copied = _copies()
        trace.start(self.every)
        self._begin = perf_counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        trace, engine = runtime.coherence.trace, self._engine or runtime.engine
        self._recording.__exit__(None, None, None)
        try:
            if error is None:  # else an error here might hide the first
                runtime.settle()
            for opened in engine.devices:
                if error is None:
                    opened.mirror.settle()
                opened.device.stop_clock()
        finally:
            trace.stop()
            self.seconds = perf_counter() - self._begin
            self._spans = trace.spans()
            self._n_dropped = trace.n_dropped
            if self._shadows is None:
                self.loops = self._loop_costs(engine)
            else:  # times would be those of both runs
                self.precision = self._shadows.result()
            self.copies = self._copy_costs()
            self._engine, self._has_ended = None, True
            outer, self._outer = self._outer, None
            if outer is not None:
                Profile._in_background = outer
                trace.start(outer.every)

    def _loop_costs(self, engine: Engine) -> tuple[LoopCost, ...]:
        compiling: dict[str, int] = {}
        for span in self._spans:
            if span.kind in ("compile", "load"):
                compiling[span.what] = compiling.get(span.what, 0) + span.nanoseconds
        kinds: dict[tuple[str, str, str], _Counts] = {}
        for key, timing in engine.timings.items():
            spent = _Counts.of(timing).since(self._before.get(key, _Counts()))
            kinds[key[0]] = spent.and_also(kinds.get(key[0], _Counts()))
        found = [
            _cost(kind, spent, compiling.pop(kind[0], 0))
            for kind, spent in kinds.items()
            if spent.calls
        ]
        return tuple(sorted(found, key=lambda row: -(row.seconds or row.enqueue_seconds)))

    def _copy_costs(self) -> tuple[CopyCost, ...]:
        costs = []
        for to_device, now in _copies().items():
            before = self._copied.get(to_device, (0, 0, 0))
            count, n_bytes, spent = (new - old for new, old in zip(now, before, strict=True))
            if count > 0:
                costs.append(
                    CopyCost(to_device=to_device, count=count, bytes=n_bytes, seconds=spent * 1e-9)
                )
        return tuple(costs)

    def roofline(self, path: str | os.PathLike[str] | None = None) -> Roofline:
        """Compare the loops with the ceilings of the machine, measured now, once a process.

        Args:
            path: An SVG file for the picture, replaced if existing; None for none.

        Returns:
            A table to `print`; notebooks show the picture, too.

        Raises:
            UsageError: The block has not ended or had no loops, or the file is no SVG file or
                cannot be written.

        Example:
            >>> from pyop2cxx import op2
            >>> op2.profile().roofline()
            Traceback (most recent call last):
                ...
            pyop2cxx.exceptions.UsageError: roofline: the profile has no loops yet; ...
        """
        if path is not None:
            check_picture(path)
        if not self._has_ended:
            raise UsageError(
                "roofline: the profile has no loops yet; ask below the block 'with op2.profile() "
                "as p:', by p.roofline()"
            )
        if not self.loops:
            raise UsageError("roofline: no loop ran in the block of the profile")
        used = {cost.backend for cost in self.loops}
        found = Roofline(self.loops, {one: ceilings(one, Profile) for one in sorted(used)})
        if path is not None:
            found.write(path)
        return found

    def trace(self, path: str | os.PathLike[str]) -> None:
        """Write a timeline for chrome://tracing and ui.perfetto.dev.

        Args:
            path: A JSON file, replaced if existing.
        """
        places = {"host": 0}
        events: list[dict[str, object]] = []
        for span in self._spans:
            row = places.setdefault(span.place, len(places))
            events.append(
                {
                    "name": span.what,
                    "cat": span.kind,
                    "ph": "X",
                    "pid": os.getpid(),
                    "tid": row,
                    "ts": span.begin * 1e-3,
                    "dur": span.nanoseconds * 1e-3,
                    "args": {"bytes": span.n_bytes} if span.n_bytes else {},
                }
            )
        events += [
            {
                "name": "thread_name",
                "ph": "M",
                "pid": os.getpid(),
                "tid": row,
                "args": {"name": place},
            }
            for place, row in places.items()
        ]
        as_path(path).write_text(json.dumps({"traceEvents": events}) + "\n", encoding="utf-8")

    def _as_rows(self) -> tuple[str, list[tuple[str, ...]], str]:
        if self.precision is not None:
            return self.precision.as_rows()
        rows = [_HEAD, *(self._cells(cost) for cost in self.loops)]
        return "", rows, "; ".join(self._below())

    def __str__(self) -> str:
        if self.precision is not None:
            return str(self.precision)
        _, rows, _ = self._as_rows()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = []
        for row in rows:
            first, *others = (c.rjust(w) for c, w in zip(row, widths, strict=True))
            lines.append("  ".join([first.strip().ljust(widths[0]), *others]).rstrip())
        return "\n".join([*lines, *self._below()])

    def _below(self) -> list[str]:
        lines = []
        for copy in self.copies:
            where = "to devices" if copy.to_device else "to the host"
            lines.append(
                f"{copy.count} copies {where}, {copy.bytes / 1e6:.1f} MB, {copy.seconds:.6f} s"
            )
        if self._n_dropped:
            lines.append(
                f"{self._n_dropped} events came after the first {len(self._spans)}, which are all "
                "that is kept: the trace ends early; profile a shorter part of the program"
            )
        return [*lines, f"{self.seconds:.6f} s in all; {self._legend()}"]

    def _cells(self, cost: LoopCost) -> tuple[str, ...]:
        copy_rate = _copy_rate(cost.backend)
        known = cost.seconds is not None and cost.rate is not None
        return (
            _shortened(cost.loop),
            cost.backend,
            str(cost.calls),
            str(cost.measured),
            f"{cost.seconds:.6f}" if cost.seconds is not None else "-",
            f"{1e3 * cost.seconds / cost.calls:.4f}" if cost.seconds is not None else "-",
            f"{cost.rate / 1e9:.1f}" if known and cost.rate else "-",
            f"{cost.rate / copy_rate:.0%}" if known and cost.rate and copy_rate else "-",
            f"{cost.enqueue_seconds:.6f}" if cost.enqueue_seconds else "-",
            f"{cost.plan_seconds:.6f}" if cost.plan_seconds else "-",
            f"{cost.compile_seconds:.6f}" if cost.compile_seconds else "-",
        )

    def _legend(self) -> str:
        rates = {cost.backend: _copy_rate(cost.backend) for cost in self.loops}
        known = [f"a copy within {b} moves {r / 1e9:.1f} GB/s" for b, r in rates.items() if r]
        return "; ".join(["times are seconds", *known])


_SHADOW = "float64"
_MOST_LETTERS = 60
_HEAD = (
    "loop",
    "backend",
    "calls",
    "measured",
    "seconds",
    "ms/call",
    "GB/s",
    "/copy",
    "enqueue",
    "plan",
    "compile",
)


def _cost(key: tuple[str, str, str], spent: _Counts, compile_nanoseconds: int) -> LoopCost:
    name, backend, strategy = key
    on_host = _is_on_host(backend)
    measured, seconds = spent.calls, spent.nanoseconds * 1e-9
    if not on_host:
        measured, seconds = spent.measured, _estimate(spent)
    return LoopCost(
        loop=name,
        backend=backend,
        strategy=strategy,
        calls=spent.calls,
        measured=measured,
        seconds=seconds if measured else None,
        enqueue_seconds=0.0 if on_host else spent.nanoseconds * 1e-9,
        bytes=spent.bytes,
        operations=None if spent.unknown else spent.operations,
        float_bytes=8 if spent.doubles or spent.unknown else 4 if spent.operations else 0,
        plan_seconds=spent.plan * 1e-9,
        compile_seconds=compile_nanoseconds * 1e-9,
    )


def _shortened(name: str) -> str:
    """Return a name shortened for the table: a chain may join the names of many loops."""
    return name if len(name) <= _MOST_LETTERS else f"{name[: _MOST_LETTERS - 3]}..."


def _estimate(spent: _Counts) -> float:
    """Return the seconds of all calls: loops of equal names may run over Sets of several sizes."""
    if spent.measured == 0:
        return 0.0
    share = spent.bytes / spent.measured_bytes if spent.measured_bytes else 0.0
    return spent.measured_nanoseconds * 1e-9 * (share or spent.calls / spent.measured)


def _is_on_host(backend: str) -> bool:
    return not isinstance(runtime.engine.backend(backend).toolchain, DeviceToolchain)


def _copies() -> dict[bool, tuple[int, int, int]]:
    """Return number, bytes and nanoseconds of the copies so far, by whether to a device."""
    found: dict[bool, tuple[int, int, int]] = {}
    for row in runtime.coherence.transfers():
        to_device = row.direction == _core.Direction.to_device
        count, n_bytes, spent = found.get(to_device, (0, 0, 0))
        found[to_device] = (
            count + row.n_copies,
            n_bytes + row.n_bytes,
            spent + row.nanoseconds,
        )
    return found


def _copy_rate(backend: str) -> float:
    """Return the bytes a second of a copy within the device; 0 for the host, or if none is open."""
    return next(
        (runtime.engine.copy_rate(o) for o in runtime.engine.devices if o.key[0] == backend), 0.0
    )


def wait() -> None:
    """Wait until all loops on all devices are done.

    Only measuring wall times needs a wait, or reporting failed loops early: reading values waits by
    itself.

    Raises:
        ExecutionError: A loop has failed; the message names the loop.

    Example:
        >>> from pyop2cxx import op2
        >>> op2.wait()
    """
    runtime.settle()
    for opened in runtime.engine.devices:
        opened.device.finish()
