# SPDX-License-Identifier: BSD-3-Clause
"""The loops of a program under ``init(lazy=True)``: they wait, unless that takes longer."""

from __future__ import annotations

from threading import get_ident
from typing import TYPE_CHECKING

from pyop2cxx.chain.known import Prefix
from pyop2cxx.chain.recorder import Chain, ChainState
from pyop2cxx.chain.report import Report
from pyop2cxx.chain.trial import LEAST_GAIN, Stopwatch, Trial
from pyop2cxx.chain.worth import modelled, pays
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyop2cxx.chain.compiled import Compiled
    from pyop2cxx.chain.entries import Waiting

_N_RUNS = 64
_FEWEST_RUNS = 8
_SECONDS = 0.05
"""It is measured after so many runs of chains that are known, or so many and so many seconds."""
_MOST_RUNS = 1 << 10
"""A turn of the measurement in which the same chain does not come again by then is none."""
_FIRST_REST = 1.0
"""After so many seconds, and then each time after twice as many, it is measured again."""
_COUNTING_SECONDS = 6e-7
"""What counting a loop costs that runs at once while it is measured: loops of 2.7 us took 3.4."""
_N_LOOKS = 16
"""The time is asked for when the program has looked at values so often."""
_NOTHING = (0.0, 0.0, 0.0)
_FIRST_LOOKS = 1 << 12
"""After so many of them, and then each time after twice as many, the model is asked again."""


class LazyChain(Chain):
    """The loops that a program runs outside of blocks.

    Once nothing but known chains has run for a while, loops are by turns recorded and run at once.
    A turn of recorded loops begins and ends where the same chain has run and the same loops wait,
    so that it is whole steps of the program; one of loops that run at once is as many loops. If
    recording does not take less, loops run at once from then on, and nothing is recorded, until
    the program has run for a while.

    With ``init(deterministic=True)`` results must not depend on how long something takes, so the
    model of blocks decides, and what counts is how many chains have run, and how often the program
    looks at values.

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
        self._since = 0.0  # the first of these runs, or the beginning of a rest
        self._n_loops = 0  # of a turn
        self._n_left = 0  # of a turn of loops that run at once, those still to come
        self._n_looks = 0
        self._rest = _FIRST_REST
        self._next_trial = 0.0
        self._balance: Sequence[float] = _NOTHING  # of chains since it was watched
        self._n_looks_of_rest = _FIRST_LOOKS
        self._begin(runtime.of(ChainState))

    def explain(self) -> Report:
        """Say what the loops became when they ran last, or why they run when they are called."""
        return Report(self._last, self._why, dict(self._refused or {}))

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

    # How long it takes

    def _judge(self, chain: Compiled) -> None:
        """A chain has run: begin to measure, or go on, if it is one of many that are known."""
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
        if self._is_steady():
            self._trial, self._anchor = Trial(self._clock), (chain, self._prefix)
            self._begin_recorded_turn(self._trial)

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
        self.records = False  # the next loop finds that out
        self.flush()  # what has to come before it

    def _go_on(self, trial: Trial, chain: Compiled) -> None:
        """A known chain has run while it is measured."""
        self._n_loops += chain.n_loops
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
        self.flush()  # what has to come before, which is not of this turn
        self._n_new = self._known.n_new
        trial.begin_turn()

    def _is_recorded_again(self) -> bool:
        """Count a loop that runs at once; True: the turn was over before it."""
        if get_ident() != self._thread:
            return False
        if self._is_stale():  # the options have changed
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
        trial.end_turn(self._n_loops, self._n_loops * _COUNTING_SECONDS)
        if not trial.is_over:
            self.records, self._n_runs = True, 0  # a turn begins when all is as it was before
            return True
        self._trial, self._next_trial = None, self._clock() + self._rest
        self._rest *= 2
        self._is_settled = self.records = trial.is_recorded_faster
        if not self.records:
            recorded, at_once = trial.microseconds
            self._why = (
                f"measured in this program, a loop takes {at_once:.2f} us so and {recorded:.2f} us "
                f"recorded, which must be {100 - 100 * LEAST_GAIN:.0f} per cent less"
            )
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
        if runtime.lazy_recorder is not self:  # another thread has switched it off
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
    """Return a chain for the loops that this thread runs outside of blocks."""
    return LazyChain()
