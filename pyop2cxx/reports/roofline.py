# SPDX-License-Identifier: BSD-3-Clause
"""Loops below the ceilings of the machine: ``pyop2cxx roofline``, ``op2.profile().roofline()``."""

from __future__ import annotations

import math
import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from pyop2cxx.base.files import as_path, replacing
from pyop2cxx.base.quoting import in_html
from pyop2cxx.exceptions import UsageError
from pyop2cxx.runtime.showing import Tabled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyop2cxx.reports.ceilings import Ceilings

_LATENCIES = 3
"""Loops that take less than so many loops over an element are bound by latency."""
_MOST_FROM_MEMORY = 1.5
"""Rates of loops that only read, of a copy: a copy's target is read before it is overwritten."""
_HEAD = (
    *("loop", "backend", "calls", "ms", "GB/s", "/copy", "operations/byte", "GFlop/s", "/ceiling"),
    "bound",
)
_COLOURS = {"memory": "#30506e", "cache": "#4a9aa5", "compute": "#b5542c", "latency": "#888888"}
_WIDE, _HIGH, _LEFT, _TOP = 560, 300, 56, 34
_BLACK, _GREY = "stroke='black'", "stroke='#dddddd'"
_RIGHT, _MIDDLE = "text-anchor='end'", "text-anchor='middle'"
_MOST_NAMED = 24
"""Loops with a line below the picture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A loop below the ceilings.

    Attributes:
        loop: Name of the kernel, or names of kernels, as in `LoopCost`.
        backend: Where the loop ran.
        calls: How often.
        seconds: Of all calls; None if no call was measured, like all rates then.
        bytes_per_second: Bytes moved at least.
        of_copy: Share of the rate of a copy.
        intensity: Operations a byte; None if unknown, or if no bytes are moved.
        operations_per_second: None if unknown.
        of_ceiling: Share of the ceiling above the loop's intensity; None if unknown.
        bound: 'memory', 'cache', 'compute' or 'latency'; 'unknown' without operations, and
            'not measured'.
    """

    loop: str
    backend: str
    calls: int
    seconds: float | None
    bytes_per_second: float | None = None
    of_copy: float | None = None
    intensity: float | None = None
    operations_per_second: float | None = None
    of_ceiling: float | None = None
    bound: str = "not measured"


class Roofline(Tabled):
    """Loops and the ceilings of the machine; `print` shows a table, notebooks the picture, too.

    Args:
        costs: A `LoopCost` of each of the loops.
        ceilings: The ceilings of each backend of a loop.

    Attributes:
        loops: A `Placed` for each loop; the longest first.
        ceilings: The ceilings by backend.
    """

    def __init__(self, costs: Sequence[Any], ceilings: Mapping[str, Ceilings]) -> None:
        self.ceilings = dict(ceilings)
        self.loops = tuple(_placed(cost, self.ceilings[cost.backend]) for cost in costs)
        self._sizes = {cost.float_bytes for cost in costs} - {0}

    def as_dict(self) -> dict[str, Any]:
        """Return loops and ceilings, as JSON takes them."""
        return {
            "loops": [asdict(one) for one in self.loops],
            "ceilings": {name: asdict(one) for name, one in self.ceilings.items()},
        }

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the picture.

        Args:
            path: An SVG file, replaced if existing.

        Raises:
            UsageError: The name has another ending, or the file cannot be written.
        """
        check_picture(path)
        try:
            with replacing(path) as temporary:
                temporary.write_text(self.to_svg(), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"roofline: cannot write '{path}': {error.strerror}") from None

    def to_svg(self) -> str:
        """Return the picture as SVG: operations a second over operations a byte, by backend."""
        panels, height = [], 0.0
        for backend, ceilings in self.ceilings.items():
            own = [one for one in self.loops if one.backend == backend]
            inside, high = _panel(backend, ceilings, own, self._sizes or {8})
            panels.append(f"<g transform='translate(0 {height:.0f})'>{inside}</g>")
            height += high
        return (
            f"<svg xmlns='http://www.w3.org/2000/svg' width='{_WIDE}' height='{height:.0f}' "
            f"viewBox='0 0 {_WIDE} {height:.0f}' font-family='sans-serif' font-size='11'>"
            f"<rect width='100%' height='100%' fill='white'/>{''.join(panels)}</svg>"
        )

    def _as_rows(self) -> tuple[str, list[tuple[str, ...]], str]:
        rows = [_HEAD, *(_cells(one) for one in self.loops)]
        return "", rows, "; ".join(f"{name}: {one}" for name, one in self.ceilings.items())

    def __str__(self) -> str:
        below = [f"{name}: {one}" for name, one in self.ceilings.items()]
        return "\n".join([super().__str__(), *below])

    def _repr_html_(self) -> str:
        return super()._repr_html_() + self.to_svg()


def check_picture(path: str | os.PathLike[str]) -> None:
    """Raise UsageError unless a file can be written as a picture.

    Args:
        path: Name of the file.
    """
    place = as_path(path)
    why = ""
    if place.suffix.lower() != ".svg":
        why = "pictures are SVG: the name has to end with .svg"
    elif place.is_dir():
        why = "a directory has this name"
    elif not place.parent.is_dir():
        why = f"there is no directory '{place.parent}'"
    elif not os.access(place.parent, os.W_OK):
        why = f"the directory '{place.parent}' is write-protected"
    if why:
        raise UsageError(f"roofline: cannot write '{path}': {why}")


def _placed(cost: Any, ceilings: Ceilings) -> Placed:
    about: dict[str, Any] = {"loop": cost.loop, "backend": cost.backend, "calls": cost.calls}
    if not cost.seconds:
        return Placed(**about, seconds=None)
    rate = cost.bytes / cost.seconds
    is_late = cost.seconds / cost.calls < _LATENCIES * ceilings.launch
    about |= {"seconds": cost.seconds, "bytes_per_second": rate, "of_copy": rate / ceilings.copy}
    if cost.operations is None:
        return Placed(**about, bound="latency" if is_late else "unknown")
    is_cached = rate > _MOST_FROM_MEMORY * ceilings.copy
    of_memory = rate / (ceilings.cache if is_cached else ceilings.copy)
    speed = cost.operations / cost.seconds
    peak = ceilings.lanes.get(cost.float_bytes) or max(ceilings.lanes.values())
    bound = "compute" if speed / peak > of_memory else "cache" if is_cached else "memory"
    return Placed(
        **about,
        intensity=cost.operations / cost.bytes if cost.bytes else None,
        operations_per_second=speed,
        of_ceiling=max(of_memory, speed / peak),
        bound="latency" if is_late else bound,
    )


def _cells(one: Placed) -> tuple[str, ...]:
    def told(value: float | None, form: str, scale: float = 1.0) -> str:
        return "-" if value is None else format(scale * value, form)

    return (
        one.loop if len(one.loop) <= 40 else f"{one.loop[:37]}...",
        one.backend,
        str(one.calls),
        told(None if one.seconds is None else one.seconds / one.calls, ".4f", 1e3),
        told(one.bytes_per_second, ".1f", 1e-9),
        told(one.of_copy, ".0%"),
        told(one.intensity, ".3g"),
        told(one.operations_per_second, ".3g", 1e-9),
        told(one.of_ceiling, ".0%"),
        one.bound if one.bound != "unknown" else "unknown: operations not counted",
    )


class _Axes:
    """A panel of the picture: axes of logarithms, from operations a byte to operations a second.

    Args:
        xs: Operations a byte that have to be within.
        ys: Operations a second that have to be within.
    """

    def __init__(self, xs: Sequence[float], ys: Sequence[float]) -> None:
        self.x, self.y = (min(xs), max(xs)), (min(ys), max(ys))
        self.wide, self.high = _WIDE - _LEFT - 16, _HIGH - _TOP - 34
        self.parts: list[str] = []

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point is in the picture."""
        (x0, x1), (y0, y1) = self.x, self.y
        up = math.log(y / y0) / math.log(y1 / y0)
        return _LEFT + self.wide * math.log(x / x0) / math.log(x1 / x0), _TOP + self.high * (1 - up)

    def line(self, begin: tuple[float, float], end: tuple[float, float], style: str) -> None:
        (a, b), (c, d) = self.place(*begin), self.place(*end)
        self.parts.append(f"<line x1='{a:.1f}' y1='{b:.1f}' x2='{c:.1f}' y2='{d:.1f}' {style}/>")

    def text(self, x: float, y: float, words: str, style: str = "") -> None:
        self.parts.append(f"<text x='{x:.1f}' y='{y:.1f}' {style}>{in_html(words)}</text>")

    def draw_grid(self) -> None:
        (x0, x1), (y0, y1) = self.x, self.y
        for x in _tens(x0, x1):
            self.line((x, y0), (x, y1), _GREY)
            self.text(self.place(x, y0)[0], _TOP + self.high + 14, f"{x:g}", _MIDDLE)
        for y in _tens(y0, y1):
            self.line((x0, y), (x1, y), _GREY)
            self.text(_LEFT - 4, self.place(x0, y)[1] + 4, f"{1e-9 * y:g}", _RIGHT)
        self.text(4, _TOP - 6, "GFlop/s")
        self.text(_WIDE - 16, _TOP + self.high + 28, "operations/byte", _RIGHT)

    def draw_bandwidth(self, name: str, rate: float, peak: float, style: str, drop: int) -> None:
        begin = max(self.x[0], self.y[0] / rate)
        self.line((begin, begin * rate), (peak / rate, peak), style)
        (a, b), (c, d) = self.place(begin, begin * rate), self.place(peak / rate, peak)
        turn = f"rotate({math.degrees(math.atan2(d - b, c - a)):.1f} {a:.1f} {b:.1f})"
        self.text(a + 8, b + drop, f"{name} {1e-9 * rate:.4g} GB/s", f"transform='{turn}'")

    def draw_peak(self, name: str, speed: float, rate: float, style: str) -> None:
        self.line((speed / rate, speed), (self.x[1], speed), style)
        place = _WIDE - 18, self.place(1.0, speed)[1] - 4
        self.text(*place, f"{name} {1e-9 * speed:.4g} GFlop/s", _RIGHT)

    def draw_loop(self, x: float, y: float, share: float, number: int, one: Placed) -> None:
        (a, b), radius = self.place(x, y), 4 + 8 * math.sqrt(share)
        self.parts.append(
            f"<circle cx='{a:.1f}' cy='{b:.1f}' r='{radius:.1f}' fill='{_COLOURS[one.bound]}' "
            f"fill-opacity='0.7'><title>{in_html(one.loop)}</title></circle>"
        )
        self.text(a + radius + 1, b + 4, str(number))


def _tens(low: float, high: float) -> list[float]:
    return [10.0**k for k in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)]


def _panel(
    backend: str, ceilings: Ceilings, loops: Sequence[Placed], sizes: Iterable[int]
) -> tuple[str, float]:
    """Return the drawing of a backend, and the height."""
    drawn = [(one.intensity, one.operations_per_second) for one in loops]
    points = [(x, y) for x, y in drawn if x and y]
    size = 8 if 8 in sizes and 8 in ceilings.lanes else 4
    peak, scalar = ceilings.lanes[size], ceilings.scalar[size]
    xs = [0.06, 4 * peak / ceilings.copy, *(f * x for x, _ in points for f in (0.6, 1.7))]
    ys = [0.06 * ceilings.copy, 2 * peak, *(f * y for _, y in points for f in (0.5, 2.0))]
    axes = _Axes(xs, ys)
    axes.text(_LEFT, 14, f"{backend}: operations a second over operations a byte")
    axes.draw_grid()
    axes.draw_bandwidth("copy", ceilings.copy, peak, f"{_BLACK} stroke-width='1.5'", 13)
    axes.draw_bandwidth("cache", ceilings.cache, peak, f"{_BLACK} stroke-dasharray='5 3'", -5)
    axes.draw_peak("peak" if scalar == peak else "lanes", peak, ceilings.cache, _BLACK)
    if scalar < peak:
        axes.draw_peak("scalar", scalar, ceilings.copy, f"{_BLACK} stroke-dasharray='2 3'")
    longest = max((one.seconds or 0.0 for one in loops), default=0.0) or 1.0
    below = float(_HIGH)
    for number, one in enumerate(loops[:_MOST_NAMED], 1):
        (x, y), cells = drawn[number - 1], _cells(one)
        said = f"not drawn: {_why_not(one)}"
        if x and y:
            axes.draw_loop(x, y, (one.seconds or 0.0) / longest, number, one)
            said = f"{cells[-2]} of the ceiling, {one.bound}"
        words = f"{number}  {cells[0]}: {one.calls} calls, {said}"
        axes.text(_LEFT, below + 8, words, f"fill='{_COLOURS.get(one.bound, 'black')}'")
        below += 15
    if len(loops) > _MOST_NAMED:
        axes.text(_LEFT, below + 8, f"and {len(loops) - _MOST_NAMED} shorter loops")
        below += 15
    return "".join(axes.parts), below + 12


def _why_not(one: Placed) -> str:
    if one.seconds is None:
        return "no call was measured"
    if one.operations_per_second is None:
        return "operations unknown"
    return "no bytes are counted" if one.intensity is None else "no operations on real numbers"
