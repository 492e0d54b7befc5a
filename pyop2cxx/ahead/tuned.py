# SPDX-License-Identifier: BSD-3-Clause
"""Measuring the fastest way of a loop, for tables: ``pyop2cxx build --tuned``."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.chain.group_loop import GroupLoop
from pyop2cxx.exceptions import Op2Error
from pyop2cxx.loop.execute import prepared
from pyop2cxx.loop.parts import Kind
from pyop2cxx.pipeline import flow
from pyop2cxx.pipeline.request import Measured
from pyop2cxx.pipeline.tuning import tuning_of
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from pyop2cxx.pipeline.request import Request
    from pyop2cxx.pipeline.tuning import Overrides

_ROUNDS = 5
_SECONDS = 0.004  # of a measurement with several short runs
_MOST_RUNS = 50
_GAIN = 0.95  # largest share of the rules' time for a change of the way
_LANES = (0, 4, 8)
_BLOCKS = (1024, 16384)


@dataclass(frozen=True, slots=True)
class Way:
    """A way to run a loop."""

    strategy: str
    lanes: int
    tuning: Overrides = ()

    def __str__(self) -> str:
        numbers = "".join(f", {name} {value}" for name, value in self.tuning)
        return f"{self.strategy}, {self.lanes} lanes{numbers}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The measurements of a loop on a backend.

    Attributes:
        key: Key of loop and backend, see `flow.measured_key`.
        loop: Name of the loop.
        backend: The backend.
        way: The fastest way, or the rules' choice.
        usual: The rules' choice.
        seconds: Seconds of a run, for each way.
        threads: Of the host.
        elements: Number of visited elements.
    """

    key: str
    loop: str
    backend: str
    way: Way
    usual: Way
    seconds: Mapping[Way, float]
    threads: int
    elements: int

    @property
    def measured(self) -> Measured:
        """The way, for `flow.choose`."""
        own, rules = (1e6 * self.seconds[one] for one in (self.way, self.usual))
        why = f"measured when the table was built, on {self.elements} elements and "
        why += f"{self.threads} threads: {own:.1f} us"
        if self.way != self.usual:
            why += f", and {rules:.1f} us by what the rules choose ({self.usual})"
        return Measured(
            strategy=self.way.strategy, lanes=self.way.lanes, tuning=self.way.tuning, why=why
        )

    def described(self) -> dict[str, Any]:
        """Return the entry of the manifest."""
        return {
            "key": self.key,
            "kernel": self.loop,
            "backend": self.backend,
            "strategy": self.way.strategy,
            "lanes": self.way.lanes,
            "tuning": dict(self.way.tuning),
            "why": self.measured.why,
            "microseconds": {str(way): 1e6 * took for way, took in self.seconds.items()},
        }


def decide(loop: Any, backend: str) -> Decision | str:
    """Measure a loop already made ready, and return the fastest way; or a reason for none.

    Data are restored. A way must be faster than the rules' choice by a twentieth.

    Args:
        loop: The `ParLoop`.
        backend: Backend to measure; the device must be present.
    """
    if isinstance(loop, GroupLoop):
        return "it is several loops of a chain"
    if runtime.static:
        return "the program ran in static mode"
    if any(part.kind is Kind.HANDLE for part in loop.parts) or loop.kernel.calls_petsc:
        return "it is handed an address, and what is there could not be put back"
    if loop.kernel.core.body is None:
        return "its kernel is passed on as it is written, and may keep values of its own"
    request = loop.request(loop.symbolic(), {"backend": backend})
    if not flow.is_free(request):
        return "its strategy, its lanes or its tuning were asked for"
    try:
        return _Measurement(loop, request).decision()
    except Op2Error as error:
        return str(error).partition("\n")[0]


class _Measurement:
    """The measurement of a loop.

    Args:
        loop: The `ParLoop`.
        request: The request of the loop, with all choices left to the rules.
    """

    def __init__(self, loop: Any, request: Request) -> None:
        self._loop = loop
        self._device = runtime.engine.chosen_device(request.backend)
        if self._device is not None:
            request = flow.suited_to(request, self._device)
        self._request = request
        self._runs: dict[Way, _core.PreparedLoop] = {}
        self._seconds: dict[Way, float] = {}

    def decision(self) -> Decision:
        """Find the fastest strategy, then the fastest lanes, then the fastest block sizes."""
        key = flow.measured_key(self._request)
        runtime.engine.measured.pop(key, None)
        choice = flow.choose(self._request)
        usual = Way(choice.strategy, choice.options.lanes)
        self._bind(usual)
        self._measure([usual, *self._strategies(usual)])
        for others in (self._lanes, self._blocks):
            best = self._best(usual)
            self._measure([best, *others(best)])
        best = self._best(usual)
        self._seconds |= self._times([usual, best])  # again: the fastest of many was lucky
        if self._seconds[best] > _GAIN * self._seconds[usual]:
            best = usual
        return Decision(
            key=key,
            loop=self._request.name,
            backend=self._request.backend.name,
            way=best,
            usual=usual,
            seconds=dict(self._seconds),
            threads=runtime.engine.n_threads if self._request.backend.facts.threads else 1,
            elements=self._loop.items.n,
        )

    def _best(self, usual: Way) -> Way:
        """Return the fastest way so far; among equals the rules' choice."""
        return min(self._seconds, key=lambda way: (self._seconds[way], way != usual))

    def _strategies(self, usual: Way) -> Iterator[Way]:
        if usual.strategy == "direct":  # no races
            return
        for strategy in _core.STRATEGIES:
            if strategy != usual.strategy and not flow.why_not(strategy, self._request):
                chosen = flow.choose(replace(self._request, strategy=strategy))
                yield Way(strategy, chosen.options.lanes)

    def _lanes(self, best: Way) -> Iterator[Way]:
        return (replace(best, lanes=lanes) for lanes in _LANES if lanes != best.lanes)

    def _blocks(self, best: Way) -> Iterator[Way]:
        if best.strategy == "block" and not self._loop.options.block_size and self._device is None:
            for size in _BLOCKS:
                yield replace(best, tuning=(("block_elements", size),))

    def _measure(self, ways: Iterable[Way]) -> None:
        """Note the times of the possible ways."""
        for way, took in self._times([way for way in ways if self._is_possible(way)]).items():
            self._seconds[way] = min(took, self._seconds.get(way, took))

    def _times(self, ways: Iterable[Way]) -> dict[Way, float]:
        """Return the times of ways, run by turns: a slow moment of the machine affects all."""
        taken = list(dict.fromkeys(ways))
        trial = _core.Trial(n_arms=len(taken), n_each=_ROUNDS)
        while not trial.is_decided:
            trial.note(trial.next, self._timed(self._runs[taken[trial.next]]))
        return {way: trial.shortest(i) or 0.0 for i, way in enumerate(taken)}

    def _is_possible(self, way: Way) -> bool:
        try:
            self._bind(way)
        except Op2Error:
            return False
        return True

    def _bind(self, way: Way) -> None:
        """Compile a way and bind the function to the data."""
        if way in self._runs:
            return
        facts = self._request.backend.facts
        request = replace(
            self._request,
            strategy=way.strategy,
            lanes=way.lanes,
            tuning=way.tuning,
            options=self._request.options.tuned(tuning_of(facts, way.tuning)),
        )
        executable = flow.executable(request)
        built = self._loop.symbolic()
        self._runs[way] = prepared(self._loop, built, request, executable, self._device)

    def _timed(self, run: _core.PreparedLoop) -> float:
        """Return the seconds of a run, averaged over several short runs; data are restored."""
        run.run_saving([])  # makes the plan, and transfers data
        try:
            once = self._seconds_of(run.run, 1)
            n = min(max(1, round(_SECONDS / max(once, 1e-7))), _MOST_RUNS)
            return min(once, self._seconds_of(run.run, n))
        finally:
            run.restore()

    def _seconds_of(self, run: Callable[[], object], n: int) -> float:
        self._wait()
        start = time.perf_counter()
        for _ in range(n):
            run()
        self._wait()
        return (time.perf_counter() - start) / n

    def _wait(self) -> None:
        if self._device is not None:
            self._device.device.finish()
