# SPDX-License-Identifier: BSD-3-Clause
"""Measurement of a chain as a whole, and without each of the passes; data are put back."""

from __future__ import annotations

import json
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from pyop2cxx import _core
from pyop2cxx.chain.compare import difference, each_once, largest, read_all, restore
from pyop2cxx.chain.compile import PASSES, compiled
from pyop2cxx.chain.costs import ALONE, CHAIN, IN_A_ROW, WITHOUT, identity
from pyop2cxx.chain.decide import number_of, shown_names
from pyop2cxx.chain.rename import Spares
from pyop2cxx.chain.trial import Stopwatch
from pyop2cxx.exceptions import Op2Error
from pyop2cxx.runtime import runtime
from pyop2cxx.runtime.tuned_file import Entry, now
from pyop2cxx.tune.timing import ROUNDS, seconds_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pyop2cxx.base.arrays import Array
    from pyop2cxx.chain.compile import Compiled
    from pyop2cxx.chain.entries import Entry as Recorded


def before_first_chain(
    chain: Compiled, entries: Sequence[Recorded], passes: frozenset[str], spares: Spares
) -> Compiled:
    """Measure a chain under ``tune="online"``, unless known; return the chain to run.

    The loops are measured first, since their choices decide passes, and the chain is compiled anew.

    Args:
        chain: The chain, compiled.
        entries: The recorded entries.
        passes: Passes of the chain.
        spares: Second buffers.
    """
    tuned, backend = runtime.engine.tuned, runtime.backend
    if not tuned.is_on or chain.is_checked:
        return chain
    n_known = tuned.n_new
    for entry in entries:
        if entry.recorded is not None:
            entry.made().prepare()
    if tuned.n_new != n_known:
        chain = compiled(entries, passes, spares)
    made = ChainMeasurement(chain, entries, passes)
    found = made.known or made.entry()
    if isinstance(found, Entry) and found is not made.known:
        tuned.note(backend, found)
    return chain


class ChainMeasurement:
    """A chain, timed with all passes, without each, and loop by loop.

    Args:
        chain: The chain, compiled with all of its passes.
        entries: The recorded entries.
        passes: Passes of the chain.
        journal: File with the way under trial, for the process that learns of a crash.
        deadline: Nothing is compiled later, by `time.time`.
        clock: Seconds; None: a `Stopwatch`.

    Attributes:
        name: Names of the loops.
        subject: Identity of the measurement in the store.
        known: The measurement of an earlier process, if complete; else None.
    """

    def __init__(
        self,
        chain: Compiled,
        entries: Sequence[Recorded],
        passes: frozenset[str],
        journal: Path | None = None,
        deadline: float | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._chain, self._entries, self._passes = chain, entries, passes
        self._journal, self._deadline = journal, deadline
        self._clock = clock or Stopwatch()
        self.name = shown_names(
            one.name if one.recorded is None else one.recorded.name for one in entries
        )
        self.subject = kind, key, facts, size = identity(chain, number_of(passes))
        self._about: dict[str, Any] = {"kind": kind, "key": key, "facts": facts, "size": size}
        self._about["name"] = self.name
        entries_known = runtime.engine.tuned.entries(runtime.backend, kind)
        old = [one for one in entries_known if one.identity == self.subject]
        self._refused = dict(old[-1].refused) if old else {}
        self.known = old[-1] if old and old[-1].n else None
        self._spares = Spares()
        self._written = each_once(d for e in entries for d, writes in e.touched() if writes)
        self._arms: dict[str, Callable[[], object]] = {}
        self._runs: list[Callable[[], object]] = []

    def why_not(self) -> str:
        """Return the reason why the chain cannot be measured; empty: possible."""
        if self._chain.is_checked:
            return "its loops run in check mode or under debug"
        if any(e.recorded is not None and e.recorded.ghosted for e in self._entries):
            return "its Dats have ghosts, whose values other processes would need meanwhile"
        return ""

    def entry(self) -> Entry | str:
        """Measure, and return the costs; or a reason for none. All values are as before."""
        if why := self.why_not():
            return why
        before = [read_all(data).copy() for data in self._written]
        watching, runtime.on_loop = runtime.on_loop, None
        try:
            with runtime.at_once():
                return self._measured(before)
        except Op2Error as error:
            return str(error).partition("\n")[0]
        finally:
            runtime.on_loop = watching
            self._put_back(before)
            if self._journal is not None:
                self._journal.unlink(missing_ok=True)

    def _measured(self, before: list[Array]) -> Entry | str:
        self._runs = [
            entry.run if entry.recorded is None else entry.made().compute for entry in self._entries
        ]
        touched = each_once(d for e in self._entries for d, _ in e.touched())
        magnitude = largest(touched)
        expected = self._results(self._in_a_row, before)
        exact = runtime.configuration["deterministic"]

        def take(way: str, run: Callable[[], object], wanted: list[Array], *, bits: bool) -> bool:
            """Add a way with the right results."""
            self._begin(way)
            why = self._difference(self._results(run, before), wanted, before, magnitude, bits=bits)
            if why:
                self._refused[way] = why
            else:
                self._arms[way] = run
            return not why

        def run_chain() -> None:
            self._chain.run(self._entries)

        if not take(CHAIN, run_chain, expected, bits=False):
            return f"as a chain {self._refused[CHAIN]}"
        of_chain = self._results(run_chain, before) if exact else expected
        own = _functions(self._chain)
        for name in PASSES:
            way = WITHOUT + name
            if name not in self._passes or way in self._refused:
                continue
            if self._deadline is not None and time.time() > self._deadline:
                return "no time was left"
            self._begin(way)
            try:
                other = compiled(self._entries, self._passes - {name}, self._spares)
            except Op2Error as error:
                self._refused[way] = str(error).partition("\n")[0]
                continue
            if _functions(other) != own:
                take(way, partial(other.run, self._entries), of_chain, bits=exact)
        self._arms[IN_A_ROW] = self._in_a_row
        keys = [entry.key for entry in self._entries]
        singles = {
            f"{ALONE} {keys.index(key)}": run for key, run in zip(keys, self._runs, strict=True)
        }
        times = self._times({**self._arms, **singles}, before)
        alone = sum(times[f"{ALONE} {keys.index(key)}"] for key in keys)
        way_us = {way: 1e6 * times[way] for way in self._arms} | {ALONE: 1e6 * alone}
        return Entry(
            **self._about,
            way=way_us,
            us=way_us[CHAIN],
            rule_us=way_us[IN_A_ROW],
            n=len(self._arms),
            when=now(),
            refused=self._refused,
        )

    def _in_a_row(self) -> None:
        for run in self._runs:
            run()

    def _begin(self, way: str) -> None:
        """Write down the way under trial, in case the process does not survive."""
        if self._journal is None:
            return
        tuned, backend = runtime.engine.tuned, runtime.backend
        about = {**self._about, "backend": backend, "way": way, "usual": {}}
        about |= {"place": tuned.place(backend), "folder": str(tuned.folder)}
        self._journal.write_text(json.dumps({**about, "refused": self._refused}))

    def _put_back(self, before: list[Array]) -> None:
        for data, values in zip(self._written, before, strict=True):
            restore(data, values)

    def _results(self, run: Callable[[], object], before: list[Array]) -> list[Array]:
        """Run a way once from the same values, and return the written values."""
        self._put_back(before)
        run()
        return [read_all(data).copy() for data in self._written]

    def _difference(
        self,
        found: list[Array],
        wanted: list[Array],
        before: list[Array],
        magnitude: float,
        *,
        bits: bool,
    ) -> str:
        """Return how results differ; empty if they agree."""
        for data, values, right, old in zip(self._written, found, wanted, before, strict=True):
            if bits and values.tobytes() != right.tobytes():
                return f"{data.label} has other bits than with the pass"
            where = difference(values, right, old, magnitude)
            if where is not None:
                return (
                    f"{data.label} has {values[where.place]} at {list(where.place)}, by the loops "
                    f"one after the other {right[where.place]} ({where.n} of {right.size} values "
                    "differ)"
                )
        return ""

    def _times(
        self, arms: dict[str, Callable[[], object]], before: list[Array]
    ) -> dict[str, float]:
        """Return the least seconds of each way; they run by turns."""
        names = list(arms)
        trial = _core.Trial(n_arms=len(names), n_each=ROUNDS)
        found: dict[str, float] = {}
        while not trial.is_decided:
            name = names[trial.next]
            self._put_back(before)
            arms[name]()  # transfers data
            seconds = seconds_of(arms[name], self._clock, _wait)
            trial.note(trial.next, seconds)
            found[name] = min(seconds, found.get(name, seconds))
        return found


def _functions(chain: Compiled) -> list[tuple[Any, ...]]:
    """Return the functions of a chain, without bytes and reasons."""
    order = chain.order
    return [
        (
            tuple(order[i] for i in one.loops),
            tuple(order[i] for i in one.inverted),
            *(one.renamed, one.dropped, one.zeroed, one.redirected, one.corners, one.lanes),
        )
        for one in chain.reports
    ]


def _wait() -> None:
    if runtime.device is not None:
        runtime.device.finish()
