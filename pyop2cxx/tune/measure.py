# SPDX-License-Identifier: BSD-3-Clause
"""Measurement of the fastest way of a loop on the program's data, which are put back."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.base.access import READ
from pyop2cxx.chain.compare import difference, largest, read_all
from pyop2cxx.chain.group_loop import GroupLoop
from pyop2cxx.exceptions import ExecutionError, Op2Error
from pyop2cxx.loop.execute import prepared
from pyop2cxx.loop.parts import Kind
from pyop2cxx.pipeline import flow
from pyop2cxx.pipeline.traits import traits_of
from pyop2cxx.pipeline.tuning import tuning_of
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.tuned_file import LOOP, Entry, now, size_of
from pyop2cxx.tune.guards import run_guarded
from pyop2cxx.tune.layouts import with_soa
from pyop2cxx.tune.timing import ROUNDS, seconds_of
from pyop2cxx.tune.ways import Space, Way

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.pipeline.request import Request

_GAIN = 0.95  # largest share of the rules' time for a change of the way
_N_FINALS = 2
_N_COMPILERS = 4
_N_BEST = 2
"""Of so many strategies other lanes are tried."""


def why_not(loop: Any) -> str:
    """Return the reason why a loop cannot be measured; empty: possible."""
    if isinstance(loop, GroupLoop):
        return "it is several loops of a chain"
    if runtime.static:
        return "the program ran in static mode"
    if any(part.kind is Kind.HANDLE for part in loop.parts) or loop.kernel.calls_petsc:
        return "it is handed an address, and what is there could not be put back"
    if loop.kernel.core.body is None:
        return "its kernel is passed on as it is written, and may keep values of its own"
    return ""


def decide(
    loop: Any, backend: str, journal: Path | None = None, deadline: float | None = None
) -> Entry | str:
    """Measure a loop already made ready, and return the fastest way; or a reason for none.

    Data are restored. A way must give the results of the rules' way, and be faster by a twentieth.

    Args:
        loop: The `ParLoop`.
        backend: Backend to measure; the device must be present.
        journal: File with the way under trial, for the process that learns of a crash.
        deadline: No more ways are tried at this time of `time.time`.
    """
    if why := why_not(loop):
        return why
    request = loop.request(loop.symbolic(), {"backend": backend})
    if not flow.is_free(request):
        return "its strategy, its lanes or its tuning were asked for"
    try:
        return Measurement(loop, request, journal, deadline).entry()
    except Op2Error as error:
        return str(error).partition("\n")[0]


def before_first_call(loop: Any) -> bool:
    """Measure a loop under ``tune="online"``, unless known exactly; return whether measured.

    Args:
        loop: A `ParLoop` with all arguments ready.
    """
    tuned = runtime.engine.tuned
    backend = runtime.backend
    if why_not(loop) or not tuned.is_on:
        return False
    request = flow.here(loop.request(loop.symbolic(), {}))
    if not flow.is_free(request):
        return False
    found = flow.known(request)
    if found is not None and found.level == "exact":
        return False
    made = decide(loop, backend)
    if isinstance(made, Entry):
        tuned.note(backend, made)
    return isinstance(made, Entry)


class Measurement:
    """The measurement of a loop.

    Args:
        loop: The `ParLoop`.
        request: The request of the loop, with all choices left to the rules.
        journal: As for `decide`.
        deadline: As for `decide`.
    """

    def __init__(
        self,
        loop: Any,
        request: Request,
        journal: Path | None = None,
        deadline: float | None = None,
    ) -> None:
        self._loop, self._journal, self._deadline = loop, journal, deadline
        self._device = runtime.engine.chosen_device(request.backend)
        if self._device is not None:
            request = flow.suited_to(request, self._device)
        is_alone = self._device is None and not request.backend.facts.threads
        # other programs take no time of the thread, where only the thread computes
        self._clock = time.thread_time if is_alone else time.perf_counter
        self._request = request
        self._space = Space(loop, request, self._device)
        self._runs: dict[Way, _core.PreparedLoop] = {}
        self._seconds: dict[Way, list[float]] = {}
        self._expected: list[tuple[Any, Array, Array]] = []  # object, values before, values after
        self._magnitude = 0.0
        name = request.backend.name
        self._about: dict[str, Any] = {
            "kind": LOOP,
            "key": flow.measured_key(request),
            "facts": flow.facts_key(request),
            "size": size_of(request.n_elements),
            "name": request.name,
        }
        identity = tuple(self._about[one] for one in ("kind", "key", "facts", "size"))
        old = [one for one in runtime.engine.tuned.entries(name, LOOP) if one.identity == identity]
        self._refused = dict(old[-1].refused) if old else {}

    def entry(self) -> Entry:
        """Find the fastest strategy, then the fastest lanes, then the fastest block sizes."""
        space, usual = self._space, self._space.usual
        self._refused.pop(str(usual), None)
        self._bind(usual)
        self._expect(usual)
        self._measure([usual, *space.strategies()])
        ranked = sorted(self._seconds, key=self._rank)[:_N_BEST]
        self._measure([*ranked, *(way for one in ranked for way in space.lanes(one))])
        best = self._best()
        self._measure([best, *space.numbers(best)])
        finalists = sorted(self._seconds, key=self._rank)[: _N_BEST + 1]
        for _ in range(_N_FINALS):  # few were lucky, or unlucky: the shortest of more rounds counts
            self._measure(dict.fromkeys([usual, *finalists]))
        best = self._best()
        if min(self._seconds[best]) > _GAIN * min(self._seconds[usual]):
            best = usual
        own = self._seconds[best]
        return Entry(
            **self._about,
            way=best.described(),
            us=1e6 * min(own),
            rule_us=1e6 * min(self._seconds[usual]),
            spread=median(own) / min(own) - 1.0,
            n=len(self._seconds),
            when=now(),
            refused=self._refused,
            times={str(way): 1e6 * min(took) for way, took in self._seconds.items()},
            traits=traits_of(self._request).stored(),
            apart=self._apart(best),
        )

    def times_of_all(self, n_rounds: int) -> dict[Way, float]:
        """Return the least seconds of all ways, the rules' way first, for comparisons.

        Args:
            n_rounds: All ways take turns so often, five times each.
        """
        space, usual = self._space, self._space.usual
        self._bind(usual)
        self._expect(usual)
        strategies = [usual, *space.strategies()]
        ways = [way for one in strategies for way in (one, *space.lanes(one))]
        ways += [way for one in strategies for way in space.numbers(one)]
        for _ in range(n_rounds):
            self._measure(ways)
        return {way: min(took) for way, took in self._seconds.items()}

    def _rank(self, way: Way) -> tuple[float, bool]:
        return min(self._seconds[way]), way != self._space.usual

    def _best(self) -> Way:
        """Return the fastest way so far; among equals the rules' choice."""
        return min(self._seconds, key=self._rank)

    def _measure(self, ways: Iterable[Way]) -> None:
        """Note the times of the possible ways."""
        is_late = self._deadline is not None and time.time() > self._deadline
        wanted = list(dict.fromkeys(ways))
        if is_late and len(self._seconds) > 0:
            return
        self._compile([way for way in wanted if way not in self._runs])
        for way, took in self._times([way for way in wanted if self._is_possible(way)]).items():
            self._seconds[way] = [*took, *self._seconds.get(way, ())]

    def _compile(self, ways: Iterable[Way]) -> None:
        """Compile ways in parallel; failures come again, one by one."""
        if self._device is not None:
            return

        def attempt(way: Way) -> None:
            try:
                flow.executable(self._in(way))
            except Op2Error:
                return

        with ThreadPoolExecutor(_N_COMPILERS) as pool:
            list(pool.map(attempt, ways))

    def _times(self, ways: list[Way]) -> dict[Way, list[float]]:
        """Return the times of ways, run by turns: a slow moment of the machine affects all."""
        trial = _core.Trial(n_arms=max(len(ways), 1), n_each=ROUNDS)
        taken: dict[Way, list[float]] = {way: [] for way in ways}
        while ways and not trial.is_decided:
            way = ways[trial.next]
            took = self._timed(self._runs[way])
            taken[way].append(took)
            trial.note(trial.next, took)
        return taken

    def _is_possible(self, way: Way) -> bool:
        """Return whether a way compiles, runs, and gives the rules' results."""
        if way in self._runs:
            return True
        if str(way) in self._refused:
            return False
        try:
            self._bind(way)
        except Op2Error:
            return False
        self._begin(way)
        why = self._difference(way)
        if why:
            del self._runs[way]
            self._refused[str(way)] = why
        return not why

    def _in(self, way: Way, request: Request | None = None) -> Request:
        request = self._request if request is None else request
        numbers = tuning_of(request.backend.facts, way.tuning)
        return replace(
            request,
            strategy=way.strategy,
            lanes=way.lanes,
            tuning=way.tuning,
            options=request.options.tuned(numbers),
        )

    def _bind(self, way: Way) -> None:
        """Compile a way and bind the function to the data."""
        request = self._in(way)
        executable = flow.executable(request)
        built = self._loop.symbolic()
        self._runs[way] = prepared(self._loop, built, request, executable, self._device)

    def _begin(self, way: Way) -> None:
        """Write down the way under trial, in case the process does not survive."""
        if self._journal is not None:
            about = {**self._about, "backend": self._request.backend.name, "way": str(way)}
            tuned = runtime.engine.tuned
            about |= {"place": tuned.place(about["backend"]), "folder": str(tuned.folder)}
            about |= {"usual": self._space.usual.described(), "refused": self._refused}
            self._journal.write_text(json.dumps(about))

    def _apart(self, best: Way) -> dict[str, Any]:
        """Measure the way on copies of wide Dats with ``layout="soa"``; nothing on the host."""
        found = with_soa(self._loop) if self._device is not None else None
        if found is None or best.strategy != "direct" or self._device is None:
            return {}
        symbolic = found.symbolic()
        asked = found.request(symbolic, {"backend": self._request.backend.name})
        asked = flow.suited_to(asked, self._device)
        if best.lanes and flow.why_not_on_lanes(best.lanes, best.strategy, asked):
            best = replace(best, lanes=0)
        request = self._in(best, asked)
        run = prepared(found, symbolic, request, flow.executable(request), self._device)
        values = run_guarded(run, found.parts, self._device.device)
        written = dict.fromkeys(part.owner.uid for part in found.parts if part.access != READ)
        if self._unequal([values[uid] for uid in written]):
            return {}
        return {"us": 1e6 * min(self._timed(run) for _ in range(ROUNDS))}

    # Results

    def _written(self) -> list[Any]:
        parts = self._loop.parts
        written = {part.owner.uid: part.owner for part in parts if part.access != READ}
        return list(written.values())

    def _expect(self, usual: Way) -> None:
        """Remember the results of the rules' way."""
        written = self._written()
        before = [read_all(data).copy() for data in written]
        self._magnitude = largest(
            {part.owner.uid: part.owner for part in self._loop.parts}.values()
        )
        after = self._results(usual, written)
        self._expected = list(zip(written, before, after, strict=True))

    def _results(self, way: Way, written: Iterable[Any]) -> list[Array]:
        """Run a way once on copies of the data, and return the written values."""
        device = None if self._device is None else self._device.device
        found = run_guarded(self._runs[way], self._loop.parts, device)
        return [found[data.uid] for data in written]

    def _difference(self, way: Way) -> str:
        """Return how the results of a way differ from the rules' results; empty if they agree."""
        try:
            found = self._results(way, [data for data, _, _ in self._expected])
        except ExecutionError as error:
            return str(error)
        return self._unequal(found)

    def _unequal(self, found: Iterable[Array]) -> str:
        """Return how written values differ from the rules' results; empty if they agree."""
        exact = self._request.options.semantics.deterministic
        for (data, before, wanted), values in zip(self._expected, found, strict=True):
            if exact and values.tobytes() != wanted.tobytes():
                return f"{data.label} has other bits than by {self._space.usual}"
            where = difference(values, wanted, before, self._magnitude)
            if where is not None:
                return (
                    f"{data.label} has {values[where.place]} at {list(where.place)}, by "
                    f"{self._space.usual} {wanted[where.place]} ({where.n} of {wanted.size} values "
                    "differ)"
                )
        return ""

    # Times

    def _timed(self, run: _core.PreparedLoop) -> float:
        """Return the seconds of a run, averaged over several short runs; data are restored."""
        run.run_saving([])  # makes the plan, and transfers data
        try:
            return seconds_of(run.run, self._clock, self._wait)
        finally:
            run.restore()

    def _wait(self) -> None:
        if self._device is not None:
            self._device.device.finish()


def crashed(journal: Mapping[str, Any], how: str) -> Entry:
    """Return an entry that keeps a way from being tried again.

    Args:
        journal: Contents of the file written by `decide`.
        how: The end of the process.
    """
    about = {name: journal[name] for name in ("kind", "key", "facts", "size", "name")}
    refused = {**journal["refused"], journal["way"]: how}
    return Entry(**about, way=journal["usual"], us=0.0, rule_us=0.0, when=now(), refused=refused)
