# SPDX-License-Identifier: BSD-3-Clause
"""Whether a block is worth recording: what saves little, or takes longer, runs at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyop2cxx import _core
from pyop2cxx.chain.compiled import PASSES
from pyop2cxx.chain.trial import LEAST_GAIN, Stopwatch, Trial
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from types import CodeType, FrameType

    from pyop2cxx.chain.compiled import Compiled

_BLOCK_SECONDS = 1.5e-6
_ENTRY_SECONDS = 0.1e-6
"""What recording costs the host, beyond running loops at once; see docs/performance.md."""
_SHARE = 0.01
"""Of the time of the loops: losing less is no loss."""
_N_TRIES = 8
_N_AT_ONCE = 31
_MOST_AT_ONCE = (1 << 14) - 1
_N_BEFORE_TRIAL = 64
_SECONDS_BEFORE_TRIAL = 0.05
"""Blocks that take long are measured after so many seconds, but not before `_N_TRIES` of them."""
_MOST_TRIALS = 4
_REST = 64
"""After so many times as many blocks as a measurement took, it is made again."""
_MOST_PLACES = 256
_BITS = {name: 1 << i for i, name in enumerate(PASSES)}
_N_PATIENT = 1 << 12


def number_of(passes: frozenset[str]) -> int:
    """Return what tells passes from others: 0 for all of them."""
    number = (1 << len(PASSES)) - 1
    for name in passes:
        number -= _BITS[name]
    return number


def modelled(chains: Iterable[Compiled]) -> tuple[float, float, float]:
    """Return seconds, by the model: what recording costs, what it saves, and what loops take alone.

    Args:
        chains: What a block became.
    """
    cost, saved, eager = _BLOCK_SECONDS, 0.0, 0.0
    for chain in chains:
        cost += _ENTRY_SECONDS * len(chain.names)
        saved += chain.saved_seconds
        eager += chain.eager_seconds
    return cost, saved, eager


def pays(cost: float, saved: float, eager: float) -> bool:
    """Say whether recording pays by the model, or loses next to nothing."""
    return cost - saved <= _SHARE * eager


@dataclass(slots=True)
class Place:
    """A line of the program that opens a block.

    A block is recorded until it is known how long its loops take so, and at once. Where the model
    says that recording does not pay, and where the same chains came many times, both are measured,
    unless results must not depend on how long something takes.

    Attributes:
        code: The function in which it stands.
        line: What tells it from others: its code, the place there, the passes of its blocks.
        places: All of them.
        n_lost: How often in a row recording has cost more than it saved, by the model.
        n_same: How often in a row the same chains ran.
        since: When they ran first.
        n_next_at_once: How many that is when recording is next found not to be worth it.
        epoch: Of the options for which that holds.
        chains: What the last recorded block became.
        why: The reason to run blocks at once.
        trial: What measures here now, or has measured; None: nothing has.
        n_trials: How many were begun.
        is_settled: Whether these chains are recorded for good.
    """

    code: CodeType
    line: tuple[int, int, int]
    places: Places
    n_lost: int = 0
    n_same: int = 0
    since: float = 0.0
    n_next_at_once: int = _N_AT_ONCE
    epoch: int = -1
    chains: Sequence[Compiled] = ()
    why: str = ""
    trial: Trial | None = None
    n_trials: int = 0
    is_settled: bool = False

    @property
    def n_at_once(self) -> int:
        """How many of the next blocks run at once, without asking here."""
        return self.places.at_once.left(*self.line)

    def is_turn_at_once(self) -> bool:
        """Say whether the block that begins here now is not recorded because it is measured."""
        if self.epoch != runtime.epoch or self.trial is None or self.trial.is_over:
            return False
        at_once = self.trial.begin_block()
        if self.trial.is_over:
            self._end_trial(self.trial)
        return at_once

    def judge(self, chains: Sequence[Compiled]) -> None:
        """Look at what a recorded block became.

        Args:
            chains: What ran, in the order in which it ended.
        """
        if self.is_settled and chains == self.chains and self.epoch == runtime.epoch:
            return
        if any(chain.is_checked for chain in chains):
            return  # these loops have to be recorded, to be compared
        if self.epoch != runtime.epoch:
            self._forget()
        if chains != self.chains:
            self.n_same, self.chains, self.trial, self.is_settled = 0, chains, None, False
        if self.n_same == 0:
            self.since = self.places.clock()
        self.n_same += 1
        if self.trial is None:
            self._judge_by_model(chains)
        elif self.trial.is_over and not self._try():
            self._run_at_once()  # it was measured so, and these are the same chains

    def _judge_by_model(self, chains: Sequence[Compiled]) -> None:
        cost, saved, eager = modelled(chains)
        if pays(cost, saved, eager):
            self.n_lost = 0
            if self._is_long_enough() and not self._try() and not self._may_measure:
                self.is_settled = True
            return
        self.n_lost += 1
        if self.n_lost < _N_TRIES or (self.n_same >= _N_TRIES and self._try()):
            return
        self.why = (
            f"to record these loops costs about {1e6 * cost:.1f} us and saves "
            f"{1e6 * saved:.1f} of {1e6 * eager:.1f}, so most blocks here run at once"
        )
        self._run_at_once()

    def _is_long_enough(self) -> bool:
        """Whether the same chains came so often that a measurement is worth its time."""
        if self.n_same >= _N_BEFORE_TRIAL:
            return True
        is_often = self.n_same >= _N_TRIES
        return is_often and self.places.clock() - self.since >= _SECONDS_BEFORE_TRIAL

    def _forget(self) -> None:
        self.n_lost, self.n_same, self.epoch = 0, 0, runtime.epoch
        self.n_next_at_once, self.trial, self.n_trials = _N_AT_ONCE, None, 0
        self.is_settled = False

    def _run_at_once(self) -> None:
        """Do that a while, and longer from time to time, as looking again costs something."""
        n = self.n_next_at_once
        self.places.at_once.set(*self.line, n, self.epoch)
        self.n_next_at_once = max(n, min(2 * n + 1, _MOST_AT_ONCE))

    @property
    def _may_measure(self) -> bool:
        """Whether results may depend on how long something takes, and it was not tried often."""
        return not runtime.configuration["deterministic"] and self.n_trials < _MOST_TRIALS

    def _try(self) -> bool:
        """Measure from the next block on, if that may be; say whether."""
        if not self._may_measure or not self.places.may_try(self):
            return False
        self.n_trials += 1
        self.trial = Trial(self.places.clock)
        return True

    def _end_trial(self, trial: Trial) -> None:
        self.is_settled = trial.is_recorded_faster
        if self.is_settled:
            return
        recorded, at_once = trial.microseconds
        self.why = (
            f"measured here, a block takes {at_once:.1f} us so and {recorded:.1f} us recorded, "
            f"which must be {100 - 100 * LEAST_GAIN:.0f} per cent less"
        )
        self.n_next_at_once = max(self.n_next_at_once, _REST * trial.n_all_blocks)
        self._run_at_once()


class Places:
    """Where blocks are opened.

    Args:
        clock: Seconds; None: a `Stopwatch`.

    Attributes:
        known: By what tells them from others; see `Place.line`.
        at_once: Which of them run their next blocks at once.
    """

    def __init__(self, clock: Callable[[], float] | None = None) -> None:
        self.clock = clock or Stopwatch()
        self.known: dict[tuple[int, int, int], Place] = {}
        self.at_once = _core.chain.AtOnce()
        self._trying: Place | None = None
        self._n_refused = 0

    def of(self, frame: FrameType, passes: int) -> Place:
        """Return the place where a frame is now.

        Args:
            frame: That of the `with` statement.
            passes: The number of those of the block.
        """
        line = id(frame.f_code), frame.f_lasti, passes
        found = self.known.get(line)
        if found is None:  # the place keeps its code, so that no other gets its id
            if len(self.known) >= _MOST_PLACES:
                self.known.clear()
                self.at_once.clear()
            found = self.known[line] = Place(frame.f_code, line, self)
        return found

    def may_try(self, place: Place) -> bool:
        """Say whether a place may measure: one at a time, as their turns would mix.

        Args:
            place: Who asks. Who measures and is not met any more makes room after a while.
        """
        other = self._trying
        is_busy = other is not None and other.trial is not None and not other.trial.is_over
        if is_busy and other is not place and self._n_refused < _N_PATIENT:
            self._n_refused += 1
            return False
        if is_busy and other is not None:
            other.trial = None
        self._trying, self._n_refused = place, 0
        return True
