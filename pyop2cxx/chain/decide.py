# SPDX-License-Identifier: BSD-3-Clause
"""Decides whether a block is recorded or run eagerly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyop2cxx import _core
from pyop2cxx.chain.compile import PASSES
from pyop2cxx.chain.tasks import machine
from pyop2cxx.chain.trial import LEAST_GAIN, Stopwatch, Trial, key_of, known_times, why_at_once
from pyop2cxx.runtime import runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from types import CodeType, FrameType

    from pyop2cxx.chain.compile import Compiled

_SHARE = 0.01
"""Of the time of the loops: losing less is no loss."""
_N_TRIES = 8
_N_AT_ONCE = 31
_MOST_AT_ONCE = (1 << 14) - 1
_N_BEFORE_TRIAL = 64
_SECONDS_BEFORE_TRIAL = 0.05
"""Slow blocks are measured after so many seconds, but not before `_N_TRIES` runs."""
_MOST_TRIALS = 4
_REST = 64
"""Factor between the blocks of a measurement and the blocks until the next measurement."""
_MOST_PLACES = 256
_BITS = {name: 1 << i for i, name in enumerate(PASSES)}
_N_PATIENT = 1 << 12
_KIND = "chain"
_MOST_LETTERS = 60


def number_of(passes: frozenset[str]) -> int:
    """Return a number for a set of passes: 0 for all of them."""
    number = (1 << len(PASSES)) - 1
    for name in passes:
        number -= _BITS[name]
    return number


def shown_names(names: Iterable[str]) -> str:
    """Return names of loops, each once, not too long; for entries of the store."""
    return " + ".join(dict.fromkeys(names))[:_MOST_LETTERS]


def modelled(chains: Iterable[Compiled]) -> tuple[float, float, float]:
    """Return modelled seconds: cost of recording, saving by recording, and eager time.

    Args:
        chains: Chains of the block.
    """
    block, loops, saved, eager = None, 0.0, 0.0, 0.0
    for chain in chains:
        block = chain.block_seconds
        loops += chain.record_seconds
        saved += chain.saved_seconds
        eager += chain.eager_seconds
    if block is None:
        block = 1e-9 * machine()["recorded_block_nanoseconds"]
    return block + loops, saved, eager


def pays(cost: float, saved: float, eager: float) -> bool:
    """Say whether recording pays by the model, or loses next to nothing."""
    return cost - saved <= _SHARE * eager


@dataclass(slots=True)
class Place:
    """A program line with a block.

    A block is recorded until the recorded and eager times are known. Both are measured where the
    model predicts a loss, and where the same chains came many times, unless results must not depend
    on time.

    Attributes:
        code: The function of the line.
        line: Key of the line: code, offset in the code, passes.
        places: All of them.
        n_lost: Number of blocks in a row with a loss, by the model.
        n_same: How often in a row the same chains ran.
        since: When they ran first.
        n_next_at_once: Number of blocks to run at once after the next loss.
        epoch: Epoch of the options for the numbers.
        chains: Chains of the last recorded block.
        why: The reason to run blocks at once.
        trial: The present or last measurement; None: none was made.
        n_trials: Number of measurements begun.
        is_settled: Whether the chains are recorded for good.
        known: Microseconds of the chains recorded and at once, by an earlier process; or None.
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
    known: tuple[float, float] | None = None

    @property
    def n_at_once(self) -> int:
        """How many of the next blocks run at once, without asking here."""
        return self.places.at_once.left(*self.line)

    def is_turn_at_once(self) -> bool:
        """Return whether the block runs at once because of a measurement."""
        if self.epoch != runtime.epoch or self.trial is None or self.trial.is_over:
            return False
        at_once = self.trial.begin_block()
        if self.trial.is_over:
            self._end_trial(self.trial)
        return at_once

    def judge(self, chains: Sequence[Compiled]) -> None:
        """Decide by the chains of a recorded block.

        Args:
            chains: Chains run, in the order of their ends.
        """
        if self.is_settled and chains == self.chains and self.epoch == runtime.epoch:
            return
        if any(chain.is_checked for chain in chains):
            return  # these loops must be recorded, to be compared
        if self.epoch != runtime.epoch:
            self._forget()
        if chains != self.chains:
            self.n_same, self.chains, self.trial, self.is_settled = 0, chains, None, False
        if self.n_same == 0:
            self.since, self.known = self.places.clock(), None
        elif self.n_same == 1:  # not for chains that take turns: the digest has a cost
            self.known = known_times(_KIND, self._key(chains))
        self.n_same += 1
        if self.trial is None and self.known is not None:
            self._follow(*self.known)
        elif self.trial is None:
            self._judge_by_model(chains)
        elif self.trial.is_over and not self._try():
            self._run_at_once()  # measured already, with the same chains

    def _follow(self, recorded: float, at_once: float) -> None:
        """Decide by the microseconds that an earlier process has measured."""
        self.is_settled = recorded < LEAST_GAIN * at_once
        if not self.is_settled:
            self.why = why_at_once("measured before, a block", recorded, at_once, 1)
            self._run_at_once()

    def _key(self, chains: Sequence[Compiled]) -> tuple[str, int]:
        return key_of(chains, self.line[2])

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
        """Whether the same chains came often enough for a measurement."""
        if self.n_same >= _N_BEFORE_TRIAL:
            return True
        is_often = self.n_same >= _N_TRIES
        return is_often and self.places.clock() - self.since >= _SECONDS_BEFORE_TRIAL

    def _forget(self) -> None:
        self.n_lost, self.n_same, self.epoch = 0, 0, runtime.epoch
        self.n_next_at_once, self.trial, self.n_trials = _N_AT_ONCE, None, 0
        self.is_settled = False

    def _run_at_once(self) -> None:
        """Run the next blocks at once, each time more of them, since each check has a cost."""
        n = self.n_next_at_once
        self.places.at_once.set(*self.line, n, self.epoch)
        self.n_next_at_once = max(n, min(2 * n + 1, _MOST_AT_ONCE))

    @property
    def _may_measure(self) -> bool:
        """Whether results may depend on time, and few measurements were made."""
        return not runtime.configuration["deterministic"] and self.n_trials < _MOST_TRIALS

    def _try(self) -> bool:
        """Begin a measurement with the next block, if allowed; return whether."""
        if not self._may_measure or not self.places.may_try(self):
            return False
        self.n_trials += 1
        self.trial = Trial(self.places.clock)
        return True

    def _end_trial(self, trial: Trial) -> None:
        self.is_settled = trial.is_recorded_faster
        name = shown_names(name for chain in self.chains for name in chain.names)
        entry = trial.entry(_KIND, self._key(self.chains), name)
        runtime.engine.tuned.note(runtime.backend, entry)
        if self.is_settled:
            return
        self.why = why_at_once("measured here, a block", *trial.microseconds, 1)
        self.n_next_at_once = max(self.n_next_at_once, _REST * trial.n_all_blocks)
        self._run_at_once()


class Places:
    """Where blocks are opened.

    Args:
        clock: Seconds; None: a `Stopwatch`.

    Attributes:
        known: Places by key; see `Place.line`.
        at_once: Blocks still to run at once, by place.
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
            frame: Frame of the `with` statement.
            passes: Number of the block's passes.
        """
        line = id(frame.f_code), frame.f_lasti, passes
        found = self.known.get(line)
        if found is None:  # a place keeps the code object alive, so ids stay unique
            if len(self.known) >= _MOST_PLACES:
                self.known.clear()
                self.at_once.clear()
            found = self.known[line] = Place(frame.f_code, line, self)
        return found

    def may_try(self, place: Place) -> bool:
        """Return whether a place may measure: single turns only, since turns would mix.

        Args:
            place: The asking block. A measuring block no longer executed gives up the turn after a
                while.
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
