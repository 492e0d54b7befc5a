# SPDX-License-Identifier: BSD-3-Clause
"""Explanation of a loop's strategy and lanes, with the figures used by the rules."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.backends._backend import DeviceToolchain
from pyop2cxx.pipeline import flow
from pyop2cxx.pipeline.tuning import changed
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.showing import Tabled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyop2cxx.kernel.kernel import Kernel
    from pyop2cxx.pipeline.request import Choice, Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation(Tabled):
    """The decisions about a loop, with the figures. `str` gives a readable form.

    Attributes:
        loop: The kernel's name.
        iterset: The Set's name.
        line: Line of the user's loop; empty if unknown.
        backend: Backend of the run.
        elements: Number of visited elements; 0 if the Set has no size.
        strategy: How racing updates are resolved.
        why: Why so.
        possible: Bytes moved and operations computed for an element, under each possible strategy,
            by a model without caches. The rules' choice comes first, followed by the next choices.
        refused: Reasons for each impossible strategy.
        lanes: Elements computed side by side in vectors; 0 for no vectors.
        why_lanes: Reason for the number of lanes; names the kernel's line if a line forbids lanes.
        kernel_line: Text of the line; empty if there is none.
        operations: Floating-point operations of a call of the kernel; None if the kernel could not
            be parsed.
        operations_as_written: Operations of the text, if sums are computed dimension by dimension;
            else None.
        scalars: Values gathered and scattered by a call; INC and RW count twice.
        bytes: Bytes moved by the whole loop, at least; None if sizes are unknown.
        least_operations: Kernels with fewer operations get no lanes by default.
        least_operations_a_scalar: The same, for each of `scalars`.
        vector_bytes: Width of the machine's widest vector registers, in bytes; 0 if unknown.
        gather_bytes: Width of the gather instructions used; 0 if rows are loaded and transposed.
        slow_operations: Divisions and roots among the operations.
        functions: Source of each elementary function that the kernel calls.
        operations_in_rows: Operations in inner loops vectorised by the C compiler.
        tuning: Numbers other than the backend's defaults, by name.
        level: Source of the choice: ``"rule"``, or the level of a measurement, see `op2.tune`.
        layout: Advice on the layout of Dats on a device; empty for none.
        ghosts: Dats with ghosts brought from other processes, and the way; empty for none.
        calls: Number of runs so far of loops of the kind over as many elements, with the same
            backend and strategy; on a device the number of runs measured by `pyop2cxx.op2.profile`.
            After 32 sizes, other sizes within a factor of two share the counters.
        seconds_per_call: How long they took on average, plans and compilation apart; None if none
            has run, or been looked at.
        bytes_per_second: Bytes moved per second of the average run; None as before.
        colours: Colours of the plan of the last run; 0 for none, or before the first run.
        plan_bytes: Size of the plan in bytes; 0 as before. Equality of explanations ignores runs.
        n_items: Work items: elements, blocks, or targets; 0 as before.
        n_core_items: Work items with core elements only, placed first: the work of
            ``compute(part=iterset.core_part)``.
    """

    loop: str
    iterset: str
    line: str
    backend: str
    elements: int
    strategy: str
    why: str
    possible: dict[str, tuple[int, int]]
    refused: dict[str, str]
    lanes: int
    why_lanes: str
    kernel_line: str
    operations: int | None
    scalars: int
    bytes: int | None
    least_operations: int
    least_operations_a_scalar: int
    vector_bytes: int
    gather_bytes: int
    slow_operations: int
    operations_in_rows: int
    functions: dict[str, str]
    operations_as_written: int | None
    tuning: dict[str, bool | int | float]
    level: str = "rule"
    layout: str = ""
    ghosts: str = field(default="", compare=False)
    calls: int = field(default=0, compare=False)
    seconds_per_call: float | None = field(default=None, compare=False)
    bytes_per_second: float | None = field(default=None, compare=False)
    colours: int = field(default=0, compare=False)
    plan_bytes: int = field(default=0, compare=False)
    n_items: int = field(default=0, compare=False)
    n_core_items: int = field(default=0, compare=False)

    def timed(self) -> Explanation:
        """Return the same explanation with the measured costs so far."""
        engine, kind = runtime.engine, (self.loop, self.backend, self.strategy)
        timing = engine.timings.get(engine.timing_key(kind, self.elements))
        if timing is None:
            return self
        is_on_device = isinstance(runtime.engine.backend(self.backend).toolchain, DeviceToolchain)
        calls = timing.n_measured if is_on_device else timing.n_calls
        spent = timing.measured_nanoseconds if is_on_device else timing.nanoseconds
        moved = timing.measured_bytes if is_on_device else timing.useful_bytes
        if calls == 0 or spent == 0:
            return self
        return replace(
            self,
            calls=calls,
            seconds_per_call=1e-9 * spent / calls,
            bytes_per_second=1e9 * moved / spent,
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes by name, as JSON takes them."""
        return asdict(self)

    def _as_rows(self) -> tuple[str, list[tuple[str, ...]], str]:
        made_at = f", made at {self.line}" if self.line else ""
        by_gathers = ", by gather instructions" if self.gather_bytes else ""
        vectors = f"{self.vector_bytes} bytes" if self.vector_bytes else "unknown"
        numbers = ", ".join(f"{name} = {value}" for name, value in self.tuning.items())
        rows = [("backend", self.backend), ("strategy", f"{self.strategy}: {self.why}")]
        others = [name for name in self.possible if name != self.strategy]
        rows += [("", f"or {name}: {self._cost(name)}") for name in others]
        rows += [("", f"not {name}: {why}") for name, why in self.refused.items()]
        rows += [
            ("lanes", f"{self.lanes or 'none'}: {self.why_lanes}{by_gathers}"),
            ("", self.kernel_line),
            ("functions", self._functions()),
            ("work per element", self._work()),
            ("in total", self._total()),
            (
                "lanes are used from",
                f"{self.least_operations} operations per element and "
                f"{self.least_operations_a_scalar} per value moved; vector registers: {vectors}",
            ),
            ("tuning", numbers),
            ("layout", self.layout),
            ("ghosts", self.ghosts),
            ("plan", self._plan()),
            ("time per call", self._time()),
        ]
        head = f"par_loop '{self.loop}' over Set '{self.iterset}'{made_at}"
        return head, [("", ""), *(row for row in rows if row[1])], ""

    def __str__(self) -> str:
        head, (_, *rows), _ = self._as_rows()
        return "\n".join([head, *(f"  {name:<21}{text}" for name, text in rows)])

    def _functions(self) -> str:
        """Name functions of one source together."""
        sources = dict.fromkeys(self.functions.values())
        return "; ".join(
            f"{', '.join(name for name, of in self.functions.items() if of == source)}: {source}"
            for source in sources
        )

    def _total(self) -> str:
        if self.bytes is None:
            return ""
        return f"{self.elements} elements, {_readable(self.bytes)} to be moved"

    def planned(self, prepared: _core.PreparedLoop) -> Explanation:
        """Return the same explanation with the plan of a prepared loop."""
        return replace(
            self,
            colours=prepared.n_colours,
            plan_bytes=prepared.plan_bytes,
            n_items=prepared.n_items,
            n_core_items=prepared.n_core_items,
        )

    def _plan(self) -> str:
        said = [
            (self.colours > 1, f"{self.colours} colours"),
            (self.plan_bytes > 0, _readable(self.plan_bytes)),
            (
                self.n_core_items < self.n_items,
                f"{self.n_core_items} of {self.n_items} work items are core",
            ),
        ]
        return ", ".join(text for is_so, text in said if is_so)

    def _time(self) -> str:
        if self.seconds_per_call is None or self.bytes_per_second is None:
            return ""
        spent = self.seconds_per_call
        readable = f"{1e6 * spent:.1f} µs" if spent < 1e-3 else f"{1e3 * spent:.2f} ms"
        calls = "one call" if self.calls == 1 else f"{self.calls} calls"
        return f"{readable}, mean of {calls}; {1e-9 * self.bytes_per_second:.1f} GB/s"

    def _cost(self, name: str) -> str:
        """Return the cost of a strategy relative to the chosen strategy."""
        return ", ".join(
            f"{theirs / ours:.2f} times the {what}"
            for what, theirs, ours in zip(
                ("bytes", "operations"),
                self.possible[name],
                self.possible[self.strategy],
                strict=True,
            )
            if ours and theirs
        )

    def _work(self) -> str:
        if self.operations is None:
            return f"{self.scalars} values moved; unknown operations: the kernel was not parsed"
        ratio = self.operations / self.scalars if self.scalars else float(self.operations)
        slow = f", {self.slow_operations} divisions and roots" if self.slow_operations else ""
        moved = f"{self.scalars} values moved ({ratio:.1f} for each)"
        written = self.operations_as_written
        saved = "" if written is None else f" ({written} as written: sums by dimension)"
        return f"{self.operations} operations{saved}{slow}, {moved}"


def _as_written(kernel: Kernel) -> int | None:
    """Return the operations of a kernel's text, if the body has fewer."""
    done = kernel.core.contraction
    return done.before if done.n_sums else None


def explain(
    request: Request, iterset: str, n_elements: int, n_bytes: int | None, wide: Sequence[str] = ()
) -> Explanation:
    """Say how a loop would run now, and why. Nothing is compiled or run.

    Args:
        request: The loop.
        iterset: Name of the Set.
        n_elements: How often the kernel is called.
        n_bytes: Bytes moved, at least; None if unknown.
        wide: Names of Dats with wide rows, used without a Map, with all values of a row together.

    Raises:
        UnsupportedError: The requested strategy, or number of lanes, is not possible.
    """
    asked_for, choice = flow.as_it_runs(request)
    facts = asked_for.backend.facts
    about = (asked_for.loop, facts, list(asked_for.map_facts), asked_for.options)
    ways = _core.candidates(*about)
    work = _core.lane_work(request.loop, choice.options.tuning)
    rule = _core.lane_rule(choice.strategy, *about[:2], choice.options)
    return Explanation(
        loop=request.name,
        iterset=iterset,
        line=request.line,
        backend=request.backend.name,
        elements=n_elements,
        strategy=choice.strategy,
        why=choice.why,
        possible={one.strategy: (one.bytes, one.operations) for one in ways if one.is_possible},
        refused={one.strategy: one.why for one in ways if not one.is_possible},
        lanes=choice.options.lanes,
        why_lanes=choice.why_lanes,
        kernel_line=_quoted(request.kernel, choice.why_lanes),
        operations=None if request.kernel.core.body is None else work.n_operations,
        scalars=work.n_scalars,
        bytes=n_bytes,
        least_operations=rule.least_operations,
        least_operations_a_scalar=rule.least_operations_a_scalar,
        vector_bytes=runtime.engine.vector_bytes,
        gather_bytes=choice.options.gather_bytes,
        slow_operations=work.n_slow,
        operations_in_rows=work.n_in_rows,
        functions=_functions_of(request, choice),
        operations_as_written=_as_written(request.kernel),
        tuning=changed(facts, choice.options.tuning),
        level=choice.level,
        layout=_layout(asked_for, choice, wide),
    ).timed()


def _layout(request: Request, choice: Choice, wide: Sequence[str]) -> str:
    """Advise on the layout of wide Dats: by a measurement, or where lanes of a GPU read them."""
    found = flow.known(request) if wide else None
    apart = found.entry.apart if found is not None and choice.level != "alike" else {}
    names = ", ".join(f"'{name}'" for name in wide)
    if found is not None and apart:
        us = f"{apart['us']:.1f} us"
        return f'measured: {us} with layout="soa" of {names}, {found.entry.us:.1f} us without'
    is_gpu = request.backend.facts.device_class == "gpu"
    if not wide or not is_gpu or choice.strategy != "direct":
        return ""
    return f'layout="soa" of {names} may be up to 5 times as fast: "pyop2cxx tune" measures both'


def _functions_of(request: Request, choice: Choice) -> dict[str, str]:
    """Say where each elementary function comes from, by the C library and vectors found here."""
    found = {}
    is_on_device = isinstance(request.backend.toolchain, DeviceToolchain)
    for name, symbol, minor, n_bytes, has_text in _core.elementary_sources(
        request.kernel.core, choice.options
    ):
        own = "vectors, by a text of this package" if has_text else "scalar calls"
        has_symbol = 0 < n_bytes <= runtime.engine.vector_bytes and _glibc_minor() >= minor
        if choice.options.lanes == 0:
            found[name] = "scalar calls"
        elif is_on_device and symbol:
            found[name] = "vectors, by the device's compiler"
        else:
            found[name] = f"vectors, by libmvec ({symbol})" if symbol and has_symbol else own
    return found


def _glibc_minor() -> int:
    """Return 36 for glibc 2.36; 0 for other C libraries, and without vectors for x86-64."""
    try:
        version = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (AttributeError, OSError, ValueError):
        return 0
    is_known = version.startswith("glibc 2.") and platform.machine() == "x86_64"
    return int(version.split(".")[1]) if is_known else 0


def _quoted(kernel: Kernel, why: str) -> str:
    """Return the kernel's line named in a reason."""
    found = re.search(r"\(line (\d+) of the kernel\)", why)
    lines = kernel.text.splitlines()
    if found is None or not 0 < int(found[1]) <= len(lines):
        return ""
    return f"line {found[1]}: {lines[int(found[1]) - 1].strip()}"


def _readable(n_bytes: int) -> str:
    if n_bytes < 10_000:
        return f"{n_bytes} bytes"
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 100_000 else f"{n_bytes / 1e3:.1f} kB"
