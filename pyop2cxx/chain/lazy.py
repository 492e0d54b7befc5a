# SPDX-License-Identifier: BSD-3-Clause
"""The loops of a program under ``init(lazy=True)``: recorded, if recording is faster."""

from __future__ import annotations

from threading import get_ident
from typing import TYPE_CHECKING

from pyop2cxx.chain.decide import modelled, number_of, pays
from pyop2cxx.chain.prefixes import Prefix
from pyop2cxx.chain.recorder import Chain, ChainState
from pyop2cxx.chain.report import Report
from pyop2cxx.chain.tasks import machine
from pyop2cxx.chain.trial import LEAST_GAIN, Stopwatch, Trial, key_of, known_times, why_at_once
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyop2cxx.chain.compile import Compiled
    from pyop2cxx.chain.entries import Waiting

_N_RUNS = 64
_FEWEST_RUNS = 8
_SECONDS = 0.05
"""Runs of known chains before a measurement: so many, or so few and so many seconds."""
_MOST_RUNS = 1 << 10
"""Runs before a turn is given up, if the same chain does not come again."""
_FIRST_REST = 1.0
"""Seconds before the first repetition of the measurement; doubled each time."""
_N_LOOKS = 16
"""The time is asked for when the program has looked at values so often."""
_NOTHING = (0.0, 0.0, 0.0)
_KIND = "lazy"
_MOST_NOTED = 16
_FIRST_LOOKS = 1 << 12
"""After so many of them, and then each time after twice as many, the model is asked again."""


class LazyChain(Chain):
    """The loops of a program outside of blocks.

    Once only known chains have run for a while, turns of recorded and of eager loops alternate. A
    turn of recorded loops begins and ends with the same chain and the same waiting loops, so it
    spans whole steps of the program; a turn of eager loops has the same number of loops. If
    recording is not faster, loops run at once, unrecorded, until the program has run for a while.

    With ``init(deterministic=True)`` results must not depend on time. Then the model of blocks
    decides, and runs of chains and reads of values are counted instead of seconds.

    Args:
        clock: Seconds; None: a `Stopwatch`.

    Attributes:
        records: Whether loops wait now.
    """

    def __init__(self, clock: Callable[[], float] | None = None) -> None:
        super().__init__()
        self._clock = clock or Stopwatch()
        self.records = True
        self._why = ""
        self._epoch = -1
        self._is_settled = False
        self._trial: Trial | None = None
        self._anchor: tuple[Compiled | None, Prefix] = (None, Prefix())
        self._is_timed = False  # a turn of recorded loops has begun
        self._n_runs = self._n_new = 0
        self._since = 0.0  # start of the runs, or of a rest
        self._n_loops = 0  # of a turn
        self._n_left = 0  # loops left in a turn of eager loops
        self._n_looks = 0
        self._rest = _FIRST_REST
        self._next_trial = 0.0
        self._balance: Sequence[float] = _NOTHING  # of the chains counted so far
        self._measured: dict[str, Compiled] = {}  # chains of a measurement
        self._n_looks_of_rest = _FIRST_LOOKS
        self._begin(runtime.of(ChainState))

    def explain(self) -> Report:
        """Report the functions of the last run, or the reason why loops run at once."""
        passes = number_of(self._passes)
        return Report(self._last, self._why, dict(self._refused or {}), passes)

    def _begins_with_zeros(self) -> bool:
        """Not on the host: programs set values to zero before they look at them."""
        return self.records and (self.is_of_graph or runtime.device is not None)

    def _run(self, taken: Sequence[Waiting], prefix: Prefix, queue: Sequence[Waiting] = ()) -> None:
        super()._run(taken, prefix, queue)
        chain = prefix.compiled
        is_known = self._is_settled and self._n_new == self._known.n_new and not self._is_stale()
        if not is_known and self.records and chain is not None and not chain.is_checked:
            self._judge(chain)

    def _is_stale(self) -> bool:
        return self._epoch != runtime.epoch

    # Measurement

    def _judge(self, chain: Compiled) -> None:
        """A chain has run: begin the measurement, or continue, if only known chains run."""
        if self._is_stale():
            self._epoch, self._rest, self._next_trial = runtime.epoch, _FIRST_REST, 0.0
            self._n_looks_of_rest = _FIRST_LOOKS
            self._watch()
        elif self._n_new != self._known.n_new:
            self._watch()
        self._n_runs += 1
        if runtime.configuration["deterministic"]:
            self._judge_by_model(chain)
            return
        if self._trial is not None:
            self._go_on(self._trial, chain)
            return
        if self._n_runs == 1:
            self._since = self._clock()
        if self._is_steady() and not self._is_measured_before(chain):
            self._trial, self._anchor = Trial(self._clock), (chain, self._prefix)
            self._begin_recorded_turn(self._trial)

    def _is_measured_before(self, chain: Compiled) -> bool:
        """Decide as an earlier process has measured; return whether one has."""
        known = known_times(_KIND, key_of([chain]))
        if known is None:
            return False
        self._next_trial = self._clock() + self._rest
        self._rest *= 2
        self._is_settled = self.records = known[0] < LEAST_GAIN * known[1]
        if not self.records:  # the next loop sees the change
            self._why = why_at_once("measured before, a loop of this program", *known, 2)
            self.flush()
        return True

    def _judge_by_model(self, chain: Compiled) -> None:
        """Say after some runs whether recording them pays, without asking for the time."""
        both = zip(self._balance, modelled([chain]), strict=True)
        cost, saved, eager = self._balance = [before + now for before, now in both]
        if self._n_runs < _N_RUNS:
            return
        self._is_settled = pays(cost, saved, eager)
        if self._is_settled:
            return
        cost, saved, eager = (1e6 * total / self._n_runs for total in self._balance)
        self._why = (
            f"to record these loops costs about {cost:.1f} us each time that they run, and saves "
            f"{saved:.1f} of {eager:.1f}"
        )
        self.records = False  # the next loop sees the change
        self.flush()  # earlier entries first

    def _go_on(self, trial: Trial, chain: Compiled) -> None:
        """A known chain has run during the measurement."""
        self._n_loops += chain.n_loops
        self._measured[chain.key] = chain
        if self._anchor != (chain, self._prefix):
            if self._n_runs > _MOST_RUNS:
                self._watch()
        elif not self._is_timed:
            self._begin_recorded_turn(trial)
        elif self._n_loops and trial.is_long_enough():
            trial.end_turn(self._n_loops)
            self._begin_turn_at_once(trial)

    def _watch(self) -> None:
        """See anew whether the same chains come again."""
        self._n_runs, self._n_new = 0, self._known.n_new
        self._trial, self._is_settled, self._balance = None, False, _NOTHING
        self._measured = {}

    def _is_steady(self) -> bool:
        if self._n_runs < _FEWEST_RUNS:
            return False
        now = self._clock()
        is_long = self._n_runs >= _N_RUNS or now - self._since >= _SECONDS
        return is_long and now >= self._next_trial

    def _begin_recorded_turn(self, trial: Trial) -> None:
        self._is_timed, self._n_loops, self._n_runs = True, 0, 0
        trial.begin_turn()

    def _begin_turn_at_once(self, trial: Trial) -> None:
        self.records = self._is_timed = False
        self._n_left = self._n_loops
        self.flush()  # earlier entries, not of this turn
        self._n_new = self._known.n_new
        trial.begin_turn()

    def _is_recorded_again(self) -> bool:
        """Count a loop run at once; return whether the turn was over before."""
        if get_ident() != self._thread:
            return False
        if self._is_stale():  # options have changed
            self.records = True
            self._watch()
            return True
        if self._n_left:
            self._n_left -= 1
            return False
        trial = self._trial
        if trial is None:
            self._stand_aside()
            return False
        counting = 1e-9 * machine()["counted_loop_nanoseconds"]
        trial.end_turn(self._n_loops, self._n_loops * counting)
        if not trial.is_over:
            self.records, self._n_runs = True, 0  # a turn begins in the state of the last
            return True
        self._trial, self._next_trial = None, self._clock() + self._rest
        self._rest *= 2
        self._is_settled = self.records = trial.is_recorded_faster
        for chain in list(self._measured.values())[:_MOST_NOTED]:  # any may be the next first
            entry = trial.entry(_KIND, key_of([chain]), chain.names[0])
            runtime.engine.tuned.note(runtime.backend, entry)
        if not self.records:
            self._why = why_at_once("measured in this program, a loop", *trial.microseconds, 2)
            self._stand_aside()
        return self.records

    # While loops run at once

    def _stand_aside(self) -> None:
        runtime.logger.info("lazy: loops run at once: %s", self._why)
        self._n_looks = 0
        runtime.recorder, runtime.here.resting = None, self

    def note_look(self) -> None:
        """Somebody looks at values, or a loop gets ready to run, while nothing is recorded."""
        if get_ident() != self._thread:
            return
        self._n_looks += 1
        if self._n_looks % _N_LOOKS and not self._is_stale():
            return
        if runtime.lazy_recorder is not self:  # another thread has switched recording off
            runtime.here.resting = None
        elif runtime.recorder is None and self._is_rested():
            self.records, self._why = True, ""
            self._watch()
            runtime.recorder, runtime.here.resting = self, None

    def _is_rested(self) -> bool:
        if self._is_stale():
            return True
        if not runtime.configuration["deterministic"]:
            return self._clock() >= self._next_trial
        is_over = self._n_looks >= self._n_looks_of_rest
        if is_over:
            self._n_looks_of_rest *= 2
        return is_over


def of_program() -> LazyChain:
    """Return a chain for this thread's loops outside of blocks."""
    return LazyChain()
