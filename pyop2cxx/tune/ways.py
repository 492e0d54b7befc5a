# SPDX-License-Identifier: BSD-3-Clause
"""Ways to run a loop, worth a measurement."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.loop.parts import Kind
from pyop2cxx.pipeline import flow
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.tuned_file import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyop2cxx.backends._devices import OpenDevice
    from pyop2cxx.pipeline.request import Request
    from pyop2cxx.pipeline.tuning import Overrides

_Numbers = tuple[tuple[str, tuple[int, ...]], ...]
_LANES = (0, 2, 4, 8, 16)
_MOST_BYTES = 3.0
"""Strategies are tried if their modelled bytes are at most so many times the least."""
_NUMBERS: dict[str, _Numbers] = {
    "block": (("block_elements", (1024, 16384)), ("blocks_a_thread", (1, 16))),
}
"""Numbers of `Tuning` that a strategy reads, with the values to try, on hosts."""
_DEVICE_NUMBERS: dict[str, _Numbers] = {
    "direct": (("streaming_lanes", (64, 128, 256, 512)), ("block_lanes", (64, 128, 256, 512))),
    "": (("block_lanes", (64, 128, 256)),),
}
"""The same on devices; the empty name stands for all other strategies."""
_VECTOR_BYTES = 64
_SUMS = ("INC", "MIN", "MAX")


@dataclass(frozen=True, slots=True)
class Way:
    """A way to run a loop.

    Attributes:
        strategy: How racing updates are resolved.
        lanes: Elements side by side; 0 for no vectors.
        tuning: Numbers other than the defaults.
    """

    strategy: str
    lanes: int
    tuning: Overrides = ()

    def __str__(self) -> str:
        return text_of(self.described())

    def described(self) -> dict[str, Any]:
        """Return the way, for an entry of the store."""
        return {"strategy": self.strategy, "lanes": self.lanes, "tuning": dict(self.tuning)}


class Space:
    """The ways to try for a loop.

    Args:
        loop: A `ParLoop`.
        request: The request, with all choices left to the rules.
        device: Device of the run; None for the host.

    Attributes:
        usual: The rules' choice.
    """

    def __init__(self, loop: Any, request: Request, device: OpenDevice | None) -> None:
        self._loop, self._request, self._device = loop, request, device
        choice = flow.choose(request, asks_store=False)
        self.usual = Way(choice.strategy, choice.options.lanes)
        self._is_deterministic = request.options.semantics.deterministic

    def strategies(self) -> Iterator[Way]:
        """Yield other strategies with the rules' lanes; none under `deterministic`."""
        if self.usual.strategy == "direct" or self._is_deterministic:  # no races; other bits
            return
        request = self._request
        about = (request.loop, request.backend.facts, list(request.map_facts), request.options)
        ways = [one for one in _core.candidates(*about) if one.is_possible]
        most = _MOST_BYTES * min((one.bytes for one in ways), default=0)
        for one in ways:
            if one.strategy != self.usual.strategy and (one.bytes <= most or not one.bytes):
                asked = replace(request, strategy=one.strategy)
                chosen = flow.choose(asked, asks_store=False)
                yield Way(one.strategy, chosen.options.lanes)

    def lanes(self, best: Way) -> Iterator[Way]:
        """Yield other numbers of lanes for a strategy; none that may change the bits of sums."""
        if self._is_deterministic and any(
            part.access.name in _SUMS or part.kind is Kind.TOTAL for part in self._loop.parts
        ):
            return
        widest = runtime.engine.vector_bytes or _VECTOR_BYTES
        items = [part.dtype.itemsize for part in self._loop.parts if part.dtype.kind in "fc"]
        most = widest // min(items, default=8)  # more take the compiler minutes and are slower
        for lanes in _LANES:
            if lanes == best.lanes or lanes > most:
                continue
            if not lanes or not flow.why_not_on_lanes(lanes, best.strategy, self._request):
                yield replace(best, lanes=lanes)

    def numbers(self, best: Way) -> Iterator[Way]:
        """Yield other sizes and numbers of blocks, where the way reads them."""
        if self._is_deterministic or self._loop.options.block_size:
            return
        tried = _DEVICE_NUMBERS if self._device is not None else _NUMBERS
        usual = dict(self._request.options.tuning.values())
        for name, sizes in tried.get(best.strategy, tried.get("", ())):
            for size in sizes:
                if size != usual[name]:
                    yield replace(best, tuning=((name, size),))
